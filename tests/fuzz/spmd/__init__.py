"""Random SPMD programs, judged by JAX: ``python -m tests.fuzz --seconds=60``.

``programs``: a program as data, and its text. ``lattice``: what arithmetic is
exact. ``generator`` and ``operations``: what programs are made of. ``reference`` and
``noise``: JAX's numbers, and how far rounding may take others from them. ``judge``: a
program's outcome. ``shrink``: a failing program made small. ``snippet``: it as a script.
``worker`` and ``supervisor``: programs run in a process that may die. ``selftest``: whether
a planted fault is found.
"""
