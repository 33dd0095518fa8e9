"""Makes a ``flow.dispatch.region`` of a group of ops."""

from __future__ import annotations

from ....dialects import ir
from ....dialects.iree.dispatch import RETURN, create_region
from ....dialects.iree.encoding_ops import UNSET_ENCODING
from ....dialects.op_traits import INITS, is_pure
from ....dialects.upstream.linalg import DYNAMIC, TensorBuilder, tensor_type
from .block_graph import BlockGraph
from .group import Group


def build_region(graph: BlockGraph, group: Group) -> None:
    """Moves a group's members into a region where its anchor stands.

    The values that others read become results. Clones, fills and empty tensors
    are copied in; the originals stay for whoever else reads them. What is
    postponed moves to below the region.
    """
    members = sorted(group.members)
    anchor = graph.ops[group.anchor]
    outputs = _outputs(graph, group, members)
    b = TensorBuilder(ir.InsertionPoint(anchor), anchor.location)
    sizes = [size for output in outputs for size in _sizes(b, output)]
    region = create_region([output.type for output in outputs], sizes, loc=anchor.location, ip=b.ip)
    body = ir.Block.create_at_start(region.regions[0], [], [])
    for output, result in zip(outputs, region.results, strict=True):
        output.replace_all_uses_with(result)
    inner: ir.ValueMap = dict(zip(region.results, outputs, strict=True))
    for position in sorted({*group.members, *group.clones}):
        op = graph.ops[position]
        end = ir.InsertionPoint(body)
        _copy_inits(graph, op, inner, end)
        if position in group.clones:
            ir.clone_op(op, inner, end)
            continue
        op.detach_from_parent()
        body.append(op)
        for nested in ir.walk(op):
            for index, operand in enumerate(nested.operands):
                if operand in inner:
                    nested.operands[index] = inner[operand]
    ir.Operation.create(RETURN, operands=outputs, loc=anchor.location, ip=ir.InsertionPoint(body))
    for position in sorted(group.postponed, reverse=True):
        graph.ops[position].move_after(region)


def _outputs(graph: BlockGraph, group: Group, members: list[int]) -> list[ir.Value]:
    """What is read by ops outside, in program order; each value once."""
    return [
        result
        for member in members
        for result in graph.ops[member].results
        if any(user not in group.members for user in graph.users(result))
    ]


def _copy_inits(
    graph: BlockGraph, op: ir.Operation, inner: ir.ValueMap, end: ir.InsertionPoint
) -> None:
    """Copies of the fills and empty tensors that ``op`` starts from."""
    for operand in op.operands:
        producer = ir.defining_op(operand)
        if operand in inner or producer is None or producer.name not in INITS:
            continue
        if graph.producer(operand) is None:
            continue
        _copy_inits(graph, producer, inner, end)
        ir.clone_op(producer, inner, end)


def _sizes(b: TensorBuilder, value: ir.Value) -> list[ir.Value]:
    """The dynamic sizes of a member's result, from values outside the group."""
    shape = tensor_type(value).shape
    dynamic = [dim for dim, size in enumerate(shape) if size == DYNAMIC]
    if not dynamic:
        return []
    op = ir.OpResult(value).owner.operation
    if op.name == UNSET_ENCODING:
        count = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[1]
        return list(op.operands)[1 : 1 + count]
    if op.name.startswith("linalg."):
        init = op.operands[len(op.operands) - len(op.results) + ir.result_number(value)]
        producer = ir.defining_op(init)
        while producer is not None and producer.name == "linalg.fill":
            init = producer.operands[1]
            producer = ir.defining_op(init)
        if producer is not None and producer.name == "tensor.empty":
            return list(producer.operands)
        return [b.dim(init, dim) for dim in dynamic]
    source = op.operands[0]
    return [b.dim(source, dim) for dim in dynamic]


def erase_unused(graph: BlockGraph) -> None:
    """Erases originals of which only copies are used, and what fed only them."""
    for op in reversed(graph.ops):
        if _is_original(op) and not ir.is_used(op):
            op.erase()


def _is_original(op: ir.Operation) -> bool:
    return op.name in INITS or (op.name.startswith(("linalg.", "headrace.")) and is_pure(op))
