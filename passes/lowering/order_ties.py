"""The pass ``order-ties``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.upstream.arith import FLOAT_PREDICATES, INTEGER_PREDICATES, Scalars, float_width
from ...dialects.upstream.linalg import tensor_type
from ...dialects.upstream.tensor import is_slice
from ..base import Pass


@dataclass(frozen=True)
class OrderTies(Pass):
    """Say of equal elements which comes first, where sort and top-k leave it open.

    IREE's sort is not stable (quirks.UNSTABLE_SORT), as StableHLO's and torch's
    are, and its top-k follows neither in ties (quirks.TOPK_TIES) and NaN
    (quirks.TOPK_NAN). So:

        sort: before(a, b)      =>  before(a, b) or not before(b, a)
        topk: before(a, b)      =>  before(a, b) and not before(b, a)
        topk of floats: a >= b  =>  key(a) > key(b)

    with the integer key of IEEE 754's total order, all NaN the greatest: what
    ``jax.lax.top_k`` and ``torch.topk`` give.

    A sort along a dim of one element is its operand. A value that is sorted with
    itself is sorted once, and a slice is made before: quirks.SORT_OF_SLICE.
    """

    name: ClassVar[str] = "order-ties"

    def run(self, module: ir.Operation) -> None:
        for op in ir.walk(module):
            if op.name == "iree_linalg_ext.sort":
                _order_sort(op)
            elif op.name == "iree_linalg_ext.topk":
                _order_topk(op)


def _order_sort(op: ir.Operation) -> None:
    dim = ir.IntegerAttr(op.attributes["dimension"]).value
    shape = tensor_type(op.operands[0]).shape
    if shape[dim] == 1:
        for result, operand in zip(op.results, op.operands, strict=True):
            result.replace_all_uses_with(operand)
        op.erase()
        return
    body = op.regions[0].blocks[0]
    if _predicate(body) not in ("sle", "sge", "ule", "uge"):
        # A pair of arguments, the two compared, per operand.
        swapped = [body.arguments[n ^ 1] for n in range(len(body.arguments))]
        s, before, after = _both_ways(body, swapped)
        either = s.binary("ori", before, s.binary("xori", after, 1))
        _yield_of(body).operands[0] = either
    op = _merge_equal(op)
    for index, operand in enumerate(op.operands):
        if is_slice(operand):
            s = Scalars(ir.InsertionPoint(op), op.location)
            op.operands[index] = s.op("util.optimization_barrier", [operand], operand.type)


def _merge_equal(op: ir.Operation) -> ir.Operation:
    """The sort with each operand once."""
    operands = list(op.operands)
    first = [operands.index(operand) for operand in operands]
    kept = sorted(set(first))
    if len(kept) == len(operands):
        return op
    small = ir.Operation.create(
        op.name,
        results=[operands[n].type for n in kept],
        operands=[operands[n] for n in kept],
        attributes={
            "dimension": op.attributes["dimension"],
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, len(kept)], op.context),
        },
        regions=1,
        loc=op.location,
        ip=ir.InsertionPoint(op),
    ).operation
    body = op.regions[0].blocks[0]
    body.append_to(small.regions[0])
    for number in reversed(range(len(operands))):
        if first[number] == number:
            continue
        for side in (1, 0):
            argument = body.arguments[2 * number + side]
            argument.replace_all_uses_with(body.arguments[2 * first[number] + side])
            body.erase_argument(2 * number + side)
    for number, result in enumerate(op.results):
        result.replace_all_uses_with(small.results[kept.index(first[number])])
    op.erase()
    return small


def _order_topk(op: ir.Operation) -> None:
    body = op.regions[0].blocks[0]
    found = _predicate(body)
    if found in ("sgt", "slt", "ugt", "ult"):
        return
    a, b = body.arguments
    if found in ("ogt", "oge", "ugt", "uge") and isinstance(a.type, ir.FloatType):
        s = Scalars(ir.InsertionPoint(_yield_of(body)), op.location)
        _yield_of(body).operands[0] = s.compare("sgt", _order_key(s, a), _order_key(s, b))
        return
    s, before, after = _both_ways(body, [b, a])
    _yield_of(body).operands[0] = s.binary("andi", before, s.binary("xori", after, 1))


def _order_key(s: Scalars, value: ir.Value) -> ir.Value:
    """A signed integer that orders floats of all signs as IEEE 754's totalOrder does,
    but for NaN: those are all equal, and the greatest."""
    width = float_width(value.type)
    integer = s.integer_type(width)
    most = (1 << (width - 1)) - 1
    bits = s.convert("bitcast", value, integer)
    # Where the sign is set, a larger magnitude is a smaller number.
    mirrored = s.binary("xori", bits, s.binary("andi", s.binary("shrsi", bits, width - 1), most))
    is_nan = s.compare_floats("uno", value, value)
    return s.select(is_nan, s.constant(most, integer), mirrored)


def _both_ways(body: ir.Block, swapped: Sequence[ir.Value]) -> tuple[Scalars, ir.Value, ir.Value]:
    """What the comparator says, and what it says of its arguments swapped."""
    end = _yield_of(body)
    ip = ir.InsertionPoint(end)
    arguments: list[ir.Value] = [*body.arguments]
    values = dict(zip(arguments, swapped, strict=True))
    ir.clone_ops(ir.operations_of(body)[:-1], values, ip)
    before = end.operands[0]
    # A comparator may also give a value from around it, as where it is constant.
    return Scalars(ip, end.location), before, values.get(before, before)


def _predicate(body: ir.Block) -> str:
    """The predicate, where all that the body does is to compare its first two arguments."""
    compare = ir.defining_op(_yield_of(body).operands[0])
    if compare is None or compare.name not in ("arith.cmpi", "arith.cmpf"):
        return ""
    if list(compare.operands) != list(body.arguments)[:2]:
        return ""
    names = INTEGER_PREDICATES if compare.name == "arith.cmpi" else FLOAT_PREDICATES
    return names[ir.IntegerAttr(compare.attributes["predicate"]).value]


def _yield_of(body: ir.Block) -> ir.Operation:
    return ir.operations_of(body)[-1]
