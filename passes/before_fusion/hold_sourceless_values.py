"""Keeps IREE from misreading dispatches that read no tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.barriers import hold
from ...dialects.iree.dispatch import DISPATCH_REGION
from ...dialects.op_traits import LINALG_PARALLEL
from ...dialects.ops.constraints import tensor_bytes
from ...dialects.upstream.generic import GENERIC, is_parallel, maps_of
from ...dialects.upstream.linalg import DYNAMIC, TensorBuilder, dims_map, element_of, tensor_type
from ...dialects.upstream.tensor import dynamic_sizes
from ..analysis.elementwise import inputs_of
from ..base import Pass

_DISPATCHED = ("linalg.", DISPATCH_REGION)
# IREE takes a constant of that size into each dispatch that reads it (RegionOpUtils.cpp).
_INLINED_BYTES = 256


@dataclass(frozen=True)
class HoldSourcelessValues(Pass):
    """Put barriers around what is made of constants and indices alone.

    Constants that are small or splats, fills, and what is made of them go into
    the dispatch that reads them, which then reads no tensor. IREE gets two kinds
    of those wrong, silently: one with several results (quirks.SOURCELESS_CLONE), and
    a reduction whose term is one number, ``%out + 5`` (quirks.SUM_OF_ONE_NUMBER).

    %v:2 = linalg.generic outs(%e, %f) { linalg.index ... }
    %s = linalg.reduce { arith.addf } ins(%fill)
    %n = linalg.generic ins(%x) outs(%z) { %out + 1 }
    // =>
    %v:2 = linalg.generic outs(%e, %f) { linalg.index ... }
    %h = util.optimization_barrier %v#0
    %i = util.optimization_barrier %v#1
    %b = util.optimization_barrier %fill
    %s = linalg.reduce { arith.addf } ins(%b)
    %c = util.optimization_barrier dense<1>
    %n = linalg.generic ins(%x, %c) outs(%z) { %out + %in_1 }
    """

    name: ClassVar[str] = "hold-sourceless-values"

    def run(self, module: ir.Operation) -> None:
        # Each with whether it is made of splats and indices alone.
        sourceless: dict[ir.Value, bool] = {}
        for op in ir.walk(module):
            read = _read(op, sourceless) if _adds_no_source(op) else None
            if read is not None and all(v in sourceless for v in read):
                is_uniform = not _is_sized(op) and all(sourceless[v] for v in read)
                sourceless |= dict.fromkeys(op.results, is_uniform)
                if len(op.results) > 1 and op.name.startswith(_DISPATCHED):
                    _hold_results(op)
            if _reduces(op):
                _hold_inputs(op, sourceless)
        for op in [op for op in ir.walk(module) if op.name == GENERIC]:
            if terms := _uniform_terms(op):
                _read_terms(op, terms)


def _adds_no_source(op: ir.Operation) -> bool:
    """Whether an op, or a constant, is made in its user's dispatch, or may be, if
    all that it reads is."""
    if op.name == "arith.constant":
        if not _is_sized(op):
            return _is_ranked(op.results[0])
        size = tensor_bytes(op.results[0].type)
        return size is not None and size <= _INLINED_BYTES
    return len(op.results) > 0 and op.name.startswith(("tensor.", *_DISPATCHED))


def _is_sized(op: ir.Operation) -> bool:
    """Whether it is a constant with an element for each place, and no splat."""
    if op.name != "arith.constant" or not _is_ranked(op.results[0]):
        return False
    value: ir.Attribute = op.attributes["value"]
    return not (isinstance(value, ir.DenseElementsAttr) and value.is_splat)


def _read(op: ir.Operation, sourceless: dict[ir.Value, bool]) -> list[ir.Value]:
    """The tensors that an op reads from outside; in its regions too, if its
    operands are sourceless."""
    found = [v for v in op.operands if _is_ranked(v)]
    if len(op.regions) and all(v in sourceless for v in found):
        inner = ir.walk(op)
        own = dict.fromkeys(r for i in inner for r in i.results)
        read = [v for i in inner if i != op for v in i.operands if v not in own]
        found += [v for v in read if _is_ranked(v)]
    return found


def _is_ranked(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType)


def _hold_results(op: ir.Operation) -> None:
    """One barrier for each: a barrier's operands are all of one type."""
    b = TensorBuilder(ir.InsertionPoint.after(op), op.location)
    inits = list(op.operands)[len(op.operands) - len(op.results) :]
    stated = list(op.operands)  # of a region: the dynamic sizes of its results, in order
    for index, result in enumerate(list(op.results)):
        count = list(tensor_type(result).shape).count(DYNAMIC)
        sizes, stated = stated[:count], stated[count:]
        if not list(result.uses):
            continue
        if op.name != DISPATCH_REGION:
            sizes = dynamic_sizes(b, inits[index])
        held, barrier = hold(b, result, sizes)
        result.replace_all_uses_except(held, barrier)


def _reduces(op: ir.Operation) -> bool:
    """Whether a linalg op has loops that its results have not."""
    if not op.name.startswith("linalg.") or op.name in LINALG_PARALLEL or not len(op.results):
        return False
    return op.name != GENERIC or not is_parallel(op)


def _hold_inputs(op: ir.Operation, sourceless: dict[ir.Value, bool]) -> None:
    """Where all inputs are made of splats and indices; or one that IREE sums up on its own, to
    correct a product for the other's zero point."""
    tensors = [(i, v) for i, v in enumerate(inputs_of(op)) if _is_ranked(v)]
    made = [(i, v) for i, v in tensors if sourceless.get(v)]
    if len(made) < len(tensors) and "quantized" not in op.name:
        return
    for index, value in made:
        producer = ir.defining_op(value)
        # The empty tensor of a pooling: only its shape is read.
        if producer is None or producer.name != "tensor.empty":
            b = TensorBuilder(ir.InsertionPoint(op), op.location)
            op.operands[index], _ = hold(b, value, dynamic_sizes(b, value))


def _uniform_terms(op: ir.Operation) -> list[tuple[ir.Operation, int]]:
    """The ops of a reduction's body that combine a result so far with one number,
    and which operand that is."""
    if is_parallel(op):
        return []
    (block,) = ir.blocks_of(op)
    inputs = len(inputs_of(op))
    sums = list(block.arguments)[inputs:]
    found: list[tuple[ir.Operation, int]] = []
    for total, yielded in zip(sums, [*block.operations][-1].operands, strict=True):
        combiner = ir.defining_op(yielded)
        if combiner is None or len(combiner.operands) != 2 or combiner.parent != op:
            continue
        for position in range(2):
            other = combiner.operands[1 - position]
            if other == total and _is_uniform(combiner.operands[position], op):
                found.append((combiner, position))
    return found


def _is_uniform(value: ir.Value, op: ir.Operation) -> bool:
    """Whether a value of ``op``'s body is the same in all of its iterations."""
    producer = ir.defining_op(value)
    if producer is None:
        return value.owner not in list(ir.blocks_of(op))
    return producer.parent != op or producer.name == "arith.constant"


def _read_terms(op: ir.Operation, terms: list[tuple[ir.Operation, int]]) -> None:
    """Makes each number an input without dimensions, which IREE reads as it does tensors."""
    b = TensorBuilder(ir.InsertionPoint(op), op.location)
    inputs = inputs_of(op)
    added: list[ir.Value] = []
    for combiner, position in terms:
        value = combiner.operands[position]
        producer = ir.defining_op(value)
        if producer is not None and producer.parent == op:
            value = producer.clone(ip=b.ip).operation.results[0]
        with op.location:
            type_ = ir.RankedTensorType.get([], value.type)
        tensor = b.op("tensor.from_elements", [value], type_)
        added.append(hold(b, tensor, [])[0])
    operands = [*inputs, *added, *list(op.operands)[len(inputs) :]]
    attributes = {name: op.attributes[name] for name in op.attributes.keys()}  # noqa: SIM118
    with op.location:
        maps = maps_of(op)
        none = dims_map(maps[0].n_dims, [])
        maps[len(inputs) : len(inputs)] = [none] * len(added)
        attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps])
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(
            [len(inputs) + len(added), len(op.results)]
        )
    made = ir.Operation.create(
        op.name,
        results=[r.type for r in op.results],
        operands=operands,
        attributes=attributes,
        regions=1,
        loc=op.location,
        ip=b.ip,
    ).operation
    (old,) = ir.blocks_of(op)
    elements = [element_of(v.type) for v in operands]
    block = ir.Block.create_at_start(made.regions[0], elements, [op.location] * len(elements))
    arguments = list(block.arguments)
    given = arguments[: len(inputs)] + arguments[len(inputs) + len(added) :]
    for (combiner, position), argument in zip(
        terms, arguments[len(inputs) : len(inputs) + len(added)], strict=True
    ):
        combiner.operands[position] = argument
    ir.clone_ops(
        [o.operation for o in old.operations],
        dict(zip(old.arguments, given, strict=True)),
        ir.InsertionPoint(block),
    )
    for before, after in zip(op.results, made.results, strict=True):
        before.replace_all_uses_with(after)
    op.erase()
