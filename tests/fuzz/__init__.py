"""Programs and inputs that nobody wrote: generated, mutated, and judged.

Random SPMD programs, judged by JAX: ``python -m tests.fuzz --seconds=60``.
``programs``: a program as data, and its text. ``lattice``: what arithmetic is
exact. ``generator``, ``operations`` and the files that it lists: what programs
are made of. ``reference``: JAX's numbers, and how far rounding may take others
from them. ``judge``: a program's outcome. ``shrink``: a failing program made
small. ``worker`` and ``supervisor``: programs run in a process that may die.

``graphs``: linalg and torch programs, judged by numpy. ``mutations`` and the
files beside it: inputs that are broken, judged by what the tools say.
"""
