"""Random linalg and torch programs, judged by numpy: ``python -m tests.fuzz.graphs``.

``graph``: a program as data, and its text. ``numerics``: what a value must be,
and how far rounding may take it. ``writer``: grows a graph; ``scalars``,
``linalg``, ``control_flow`` and ``torch``: what it is made of; ``profiles``: kinds of graphs. ``judge``: a graph's outcome;
``refusals``: what is refused, by reason. ``shrink``: a failing graph made small.
"""
