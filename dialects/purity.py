"""Which ops are pure: no side effects, so that unused ones can go and equal
ones merge.

The bindings do not tell; MLIR itself takes our unregistered ops to have
effects. So this is a list. An op that is not on it is a wall.
"""

from __future__ import annotations

from .mlir import Operation, RankedTensorType, walk

_PURE_DIALECTS = frozenset(
    ("arith", "chlo", "complex", "headrace", "index", "linalg", "math", "stablehlo", "tensor")
)

# Structured control flow and terminators: as pure as what is nested in them.
_TRANSPARENT = frozenset(
    (
        "linalg.yield",
        "scf.condition",
        "scf.for",
        "scf.if",
        "scf.while",
        "scf.yield",
        "stablehlo.return",
        "tensor.yield",
    )
)

# Effects, or an order that must be kept. A barrier is there to be one.
_EFFECTS = frozenset(
    f"stablehlo.{name}"
    for name in (
        "after_all",
        "create_token",
        "custom_call",
        "infeed",
        "optimization_barrier",
        "outfeed",
        "recv",
        "rng",
        "send",
    )
)


def is_pure(op: Operation) -> bool:
    """Whether ``op`` and everything nested in it is free of side effects.

    A linalg or tensor op counts only in its form on tensors.
    """
    return _is_pure_alone(op) and (not len(op.regions) or all(_is_pure_alone(o) for o in walk(op)))


def _is_pure_alone(op: Operation) -> bool:
    name = op.name
    if name in _TRANSPARENT:
        return True
    dialect = name.partition(".")[0]
    if dialect not in _PURE_DIALECTS or name in _EFFECTS:
        return False
    if dialect == "linalg":
        return len(op.results) > 0 and all(isinstance(r.type, RankedTensorType) for r in op.results)
    return True
