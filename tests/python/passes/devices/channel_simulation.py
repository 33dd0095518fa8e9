"""Turns a program on channels back into one with headrace collectives.

No CPU device has channels. So what ``collectives-to-channels`` makes of a
program is run with each flow collective replaced by the headrace collective
along dimension 0 that it stands for; groups and peers are found by running
the index arithmetic on the rank, for each rank.
"""

from __future__ import annotations

from headrace.dialects import ir
from headrace.dialects.headrace import PartitionIdOp, device_id
from headrace.dialects.iree.flow import ELEMENTS, REDUCTIONS
from headrace.dialects.ops.collectives import (
    AllReduceOp,
    AllToAllOp,
    CollectivePermuteOp,
    ReduceScatterOp,
    build_collective,
)
from headrace.dialects.upstream.linalg import TensorBuilder

Groups = list[list[int]]

_NAMES = {"sum": "add", "product": "mul", "maximum": "max", "minimum": "min"}
_EQUAL = 0  # arith.cmpi eq


def evaluate(value: ir.Value, rank: int) -> int:
    """An index computed from the rank by constants, comparisons and selects."""
    op = ir.defining_op(value)
    assert op is not None
    if op.name == "flow.channel.rank":
        return rank
    if op.name == "arith.constant":
        return ir.IntegerAttr(op.attributes["value"]).value
    operands = [evaluate(operand, rank) for operand in op.operands]
    if op.name == "arith.cmpi":
        assert ir.IntegerAttr(op.attributes["predicate"]).value == _EQUAL
        return int(operands[0] == operands[1])
    assert op.name == "arith.select"
    return operands[1] if operands[0] else operands[2]


def groups_by_name(module: ir.Operation, devices: int) -> dict[str, Groups]:
    """The groups of each channel that the initializer makes."""
    found: dict[str, Groups] = {}
    for op in ir.walk(module):
        if op.name != "util.global.store":
            continue
        name = ir.FlatSymbolRefAttr(op.attributes["global"]).value
        producer = ir.defining_op(op.operands[0])
        assert producer is not None
        if producer.name == "flow.channel.default":
            found[name] = [list(range(devices))]
            continue
        assert producer.name == "flow.channel.split"
        members: dict[int, list[tuple[int, int]]] = {}
        for rank in range(devices):
            color, key = (evaluate(operand, rank) for operand in producer.operands[1:])
            members.setdefault(color, []).append((key, rank))
        found[name] = [[rank for _, rank in sorted(group)] for group in members.values()]
    return found


def from_channels(module: ir.Operation, devices: int) -> None:
    """Replaces all flow ops of a module; each function is one SPMD program."""
    groups = groups_by_name(module, devices)
    for op in ir.walk(module):
        if op.name.startswith("flow.collective."):
            new = _collective(op, groups, devices)
            op.results[0].replace_all_uses_with(new)
            op.erase()
    ranks = [op for op in ir.walk(module) if op.name == "flow.channel.rank"]
    for op in ranks:
        if op.parent is not None and op.parent.operation.name == "func.func":
            op.results[0].replace_all_uses_with(_rank(op))
            op.erase()
    for op in reversed(ir.walk(module)):
        if op.name in ("util.initializer", "util.global", "util.global.load"):
            op.erase()


def _rank(op: ir.Operation) -> ir.Value:
    b = TensorBuilder(ir.InsertionPoint(op), op.location)
    value = device_id(PartitionIdOp, loc=b.loc, ip=b.ip).result
    i32 = ir.IntegerType.get_signless(32, op.context)
    number = b.op("tensor.extract", [value], i32)
    return b.op("arith.index_cast", [number], ir.IndexType.get(op.context))


def _collective(op: ir.Operation, by_name: dict[str, Groups], devices: int) -> ir.Value:
    source, channel = op.operands[1], ir.defining_op(op.operands[2])
    assert channel is not None
    groups = by_name[ir.FlatSymbolRefAttr(channel.attributes["global"]).value]
    loc, ip = op.location, ir.InsertionPoint(op)
    kind = op.name.rpartition(".")[2]
    if kind == "all_to_all":
        dims = {"split_dim": 0, "concat_dim": 0}
        return build_collective(AllToAllOp, source, groups, loc=loc, ip=ip, dims=dims).result
    if kind == "send_recv":
        pairs: Groups = []
        for rank in range(devices):
            target = evaluate(op.operands[3], rank)
            if target >= 0:
                # Both ends must say the same, or the program hangs.
                assert evaluate(op.operands[4], target) == rank
                pairs.append([rank, target])
        received = [rank for rank in range(devices) if evaluate(op.operands[4], rank) >= 0]
        assert sorted(target for _, target in pairs) == received
        return build_collective(CollectivePermuteOp, source, pairs, loc=loc, ip=ip).result
    name = _NAMES[REDUCTIONS[ir.IntegerAttr(op.attributes["reduction_op"]).value]]
    unsigned = ELEMENTS[ir.IntegerAttr(op.attributes["element_type"]).value].startswith("ui")
    if unsigned and name in ("max", "min"):
        name = f"u{name}"
    if kind == "all_reduce":
        return build_collective(AllReduceOp, source, groups, loc=loc, ip=ip, reduction=name).result
    assert kind == "reduce_scatter"
    return build_collective(
        ReduceScatterOp, source, groups, loc=loc, ip=ip, dims={"dim": 0}, reduction=name
    ).result
