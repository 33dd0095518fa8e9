"""Which device each tensor of a program for several devices is on."""

from __future__ import annotations

from ....dialects import ir
from ....dialects.iree.flow import AFFINITY
from .branches import forwarded_operand


def devices_of_values(module: ir.Operation, function: ir.Operation) -> dict[ir.Value, ir.Attribute]:
    """The affinities of a function's tensors, as ``flow.tensor.transfer`` has them.

    An op is where its first operand is that is anywhere in particular, a block
    argument where what branches bring is. Constants are on no certain device,
    and missing, and so is what is made of them alone. The function's loops are
    branches.
    """
    globals_ = {
        ir.StringAttr(op.attributes["sym_name"]).value: op.attributes["stream.affinity"]
        for op in ir.operations_of(module.regions[0].blocks[0])
        if op.name == "util.global" and "stream.affinity" in op.attributes
    }
    found: dict[ir.Value, ir.Attribute] = {}
    blocks = list(function.regions[0].blocks)
    for argument, given in zip(blocks[0].arguments, ir.argument_attributes(function), strict=True):
        if AFFINITY in given:
            found[argument] = given[AFFINITY]
    known = -1
    while known != len(found):  # once more where a value comes by a branch back
        known = len(found)
        for block in blocks:
            if block != blocks[0]:
                _arguments(block, found)
            for op in ir.operations_of(block):
                _results(op, globals_, found)
    return found


def _arguments(block: ir.Block, found: dict[ir.Value, ir.Attribute]) -> None:
    branches = [ir.operations_of(predecessor)[-1] for predecessor in block.predecessors]
    for argument in block.arguments:
        if argument in found or not isinstance(argument.type, ir.RankedTensorType):
            continue
        for branch in branches:
            for index in forwarded_operand(branch, block, argument.arg_number):
                if branch.operands[index] in found:
                    found[argument] = found[branch.operands[index]]


def _results(
    op: ir.Operation, globals_: dict[str, ir.Attribute], found: dict[ir.Value, ir.Attribute]
) -> None:
    tensors = [result for result in op.results if isinstance(result.type, ir.RankedTensorType)]
    if not tensors or tensors[0] in found:
        return
    device: ir.Attribute | None
    if op.name == "flow.tensor.transfer":
        device = op.attributes["target"]
    elif op.name == "util.global.load":
        device = globals_.get(ir.FlatSymbolRefAttr(op.attributes["global"]).value)
    elif "stream.affinity" in op.attributes:
        device = op.attributes["stream.affinity"]
    else:
        device = next((found[v] for v in ir.all_operands(op) if v in found), None)
    if device is not None:
        found.update(dict.fromkeys(tensors, device))
