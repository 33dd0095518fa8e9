"""Which operand of a ``cf`` branch becomes which argument of a block."""

from __future__ import annotations

from ....dialects import ir


def forwarded_operand(branch: ir.Operation, target: ir.Block, argument: int) -> list[int]:
    """Positions of the operands that ``target`` gets as that argument.

    One per edge to the block: a conditional branch may have two. Raises
    HeadraceError for a terminator that is no ``cf`` branch.
    """
    found: list[int] = []
    for successor, start in zip(branch.successors, _starts(branch), strict=True):
        if successor == target:
            found.append(start + argument)
    return found


def _starts(branch: ir.Operation) -> list[int]:
    """Where the operands of each successor begin."""
    if branch.name == "cf.br":
        return [0]
    if branch.name == "cf.cond_br":
        sizes = list(ir.DenseI32ArrayAttr(branch.attributes["operandSegmentSizes"]))
        return [sizes[0], sizes[0] + sizes[1]]
    if branch.name == "cf.switch":
        sizes = list(ir.DenseI32ArrayAttr(branch.attributes["case_operand_segments"]))
        default = list(ir.DenseI32ArrayAttr(branch.attributes["operandSegmentSizes"]))[1]
        starts = [1]
        position = 1 + default
        for size in sizes:
            starts.append(position)
            position += size
        return starts
    raise ir.error_at(branch, f"'{branch.name}' is not a branch of the cf dialect")
