"""Programs and inputs that nobody wrote: generated, mutated, and judged.

``spmd``: random SPMD programs, judged by JAX: ``python -m tests.fuzz --seconds=60``.
``graphs``: random linalg and torch programs, judged by numpy: ``python -m tests.fuzz.graphs``.
``mutations``: inputs that are broken, judged by what the tools say: ``python -m tests.fuzz.campaign``.
"""
