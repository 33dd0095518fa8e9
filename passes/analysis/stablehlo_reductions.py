"""What the region of a StableHLO reduction computes."""

from __future__ import annotations

from ...dialects import ir
from ...dialects.ops.constraints import element_type_of
from ..rewriting import Miss

_REDUCTIONS = {
    "stablehlo.add": "add",
    "stablehlo.multiply": "mul",
    "stablehlo.maximum": "max",
    "stablehlo.minimum": "min",
    "stablehlo.and": "and",
    "stablehlo.or": "or",
    "stablehlo.xor": "xor",
}
# StableHLO's arithmetic on booleans is logic: add is or, multiply is and.
_ON_BOOLEANS = {"add": "or", "mul": "and", "max": "or", "min": "and"}
_UNSIGNED = {"max": "umax", "min": "umin"}


def find_reduction(op: ir.Operation) -> tuple[str, ir.Type] | Miss:
    """The reduction of headrace's that the region is, and its element type."""
    blocks = list(op.regions[0].blocks)
    body = ir.operations_of(blocks[0]) if len(blocks) == 1 else []
    names = [inner.name for inner in body]
    if len(body) != 2 or body[0].name not in _REDUCTIONS:
        return Miss(f"its region is not one of the known reductions, it holds {_listed(names)}")
    step, end = body
    arguments, operands = list(blocks[0].arguments), list(step.operands)
    if arguments not in (operands, operands[::-1]):
        return Miss("its reduction is not of the region's two arguments")
    if end.operands[0] != step.results[0]:
        return Miss("its region does not return the reduction")
    element = element_type_of(step.results[0])
    name = _REDUCTIONS[step.name]
    if isinstance(element, ir.IntegerType):
        if element.width == 1:
            name = _ON_BOOLEANS.get(name, name)
        elif element.is_unsigned:
            name = _UNSIGNED.get(name, name)
    return name, element


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1][:4]) or "nothing"
