"""How what an op makes of a part of a value lies in what it makes of the whole.

A collective joins, splits or exchanges a value along the dimensions that its
attributes name; a ``Place`` says which ones those are in another value. An op
commutes with the collective where each of these dimensions of its result runs
along one of each operand, or the operand is the same all along it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ....dialects import ir
from ....dialects.headrace import DequantizeOp, MovingCollectiveOp, QuantizeOp
from ....dialects.op_traits import CONSTANTS, REARRANGEMENTS, STABLEHLO_ELEMENTWISE
from ....dialects.ops.constraints import (
    DYNAMIC,
    PlainTensor,
    element_type_of,
    is_per_tensor,
    shape_of,
)
from ....dialects.upstream.linalg import TensorBuilder, with_element_type
from ....dialects.upstream.stablehlo import i64_array, integer, splat_element
from ...analysis.elementwise import element_bits
from ...analysis.replication import ReplicationAnalysis
from ...analysis.stablehlo_reductions import find_reduction
from ...rewriting import Miss

# Dimensions of a value, by the names of a collective's attributes.
Place: TypeAlias = Mapping[str, int]
# For a dimension of the result that of the operand; None where the operand does not
# vary along it. What is missing is mixed up with others.
Dims: TypeAlias = Mapping[int, int | None]

_QUANTIZATION = (QuantizeOp.OPERATION_NAME, DequantizeOp.OPERATION_NAME)
# How many ops are looked at from one: no quantization takes more.
MOST_OPS = 200
# In another order they give the same bits.
_EXACT = ("max", "min", "umax", "umin", "and", "or", "xor")


def operand_dims(op: ir.Operation, number: int, *, grows: bool = False) -> Dims | None:
    """Where the dimensions of the op's one result lie in an operand; None if nowhere
    known. ``grows``: of dimensions that would do, one of size 1 is taken, which the
    parts of a whole have where that has several. Source of the rules: the StableHLO
    specification of each op."""
    if len(op.results) != 1 or not _is_static(op.results[0]) or not _is_static(op.operands[number]):
        return None
    name = op.name
    result, operand = shape_of(op.results[0]), shape_of(op.operands[number])
    fixed: Dims = dict.fromkeys(range(len(result)))
    if name in STABLEHLO_ELEMENTWISE and name != "stablehlo.optimization_barrier":
        if operand == result:
            return {d: d for d in range(len(result))}
        # The predicate of a select, the bounds of a clamp.
        return fixed if not operand and name != "stablehlo.bitcast_convert" else None
    if name in _QUANTIZATION:
        if number == 0:
            return {d: d for d in range(len(result))}
        if is_per_tensor(operand):
            return fixed
        return {
            d: d if operand[d] == size or operand[d] > 1 else None for d, size in enumerate(result)
        }
    if name == "stablehlo.transpose":
        return dict(enumerate(i64_array(op, "permutation")))
    if name == "stablehlo.broadcast_in_dim":
        places = {r: o for o, r in enumerate(i64_array(op, "broadcast_dimensions"))}
        return {
            r: o if (o := places.get(r)) is not None and operand[o] == size else None
            for r, size in enumerate(result)
        }
    if name == "stablehlo.reduce" and len(op.operands) == 2 and _is_exact(op):
        if number == 1:
            return fixed
        reduced = i64_array(op, "dimensions")
        return dict(enumerate(d for d in range(len(operand)) if d not in reduced))
    if name == "stablehlo.reshape":
        return _leading(operand, result, grows)
    if name == "stablehlo.concatenate":
        joined = integer(op, "dimension")
        return {d: d for d in range(len(result)) if d != joined}
    if name == "stablehlo.reverse":
        turned = i64_array(op, "dimensions")
        return {d: d for d in range(len(result)) if d not in turned}
    return None


def _is_static(value: ir.Value) -> bool:
    """Whether it is such a tensor as can be sent."""
    return PlainTensor.accepts(value.type) and DYNAMIC not in shape_of(value)


def _is_exact(reduce: ir.Operation) -> bool:
    found = find_reduction(reduce)
    if isinstance(found, Miss):
        return False
    return found[0] in _EXACT or isinstance(found[1], ir.IntegerType)


def _leading(before: Sequence[int], after: Sequence[int], grows: bool) -> Dims:
    """For the first dimension of each run that a reshape splits or merges the first
    of the run before: parts along it are parts of both. So they are along
    dimensions of size 1 in front of it."""
    found: dict[int, int | None] = {}
    i = j = 0
    while 0 not in before:
        first, leads = i, [j]
        while i < len(before) and before[i] == 1:
            i += 1
        while j < len(after) and after[j] == 1:
            j += 1
            leads.append(j)
        if i == len(before) or j == len(after):
            break
        found |= dict.fromkeys(leads, first if grows else i)
        left, right = before[i], after[j]
        while left != right:
            if left < right:
                i += 1
                left *= before[i]
            else:
                j += 1
                right *= after[j]
        i, j = i + 1, j + 1
    return found


def place_in_operand(place: Place, dims: Dims) -> Place:
    """What of ``place`` in an op's result an operand with those ``dims`` varies along."""
    return {name: o for name, d in place.items() if (o := dims[d]) is not None}


def place_in_result(place: Place, dims: Dims) -> Place | None:
    """The place in an op's result of what has ``place`` in an operand with those ``dims``."""
    results = {o: d for d, o in dims.items() if o is not None}
    found = {name: results[o] for name, o in place.items() if o in results}
    return found if len(found) == len(place) else None


def shape_across(
    collective: MovingCollectiveOp, value: ir.Value, place: Place, *, to_part: bool
) -> list[int] | None:
    """The shape of what the collective makes of ``value``, or, ``to_part``, would make it
    of; None where that is no whole number of elements."""
    sizes, n = shape_of(value), collective.group_size
    for dim, (times, by) in collective.factors(n, **place).items():
        if to_part:
            times, by = by, times
        if sizes[dim] * times % by:
            return None
        sizes[dim] = sizes[dim] * times // by
    sent = sizes if to_part else shape_of(value)
    split = place.get("split_dim")
    return None if split is not None and sent[split] % n else sizes


def is_uniform(
    analysis: ReplicationAnalysis,
    value: ir.Value,
    dims: Sequence[int],
    groups: Sequence[Sequence[int]],
) -> bool:
    """Whether all devices of a group have the same value, which does not vary along
    ``dims``, and can be made with other sizes there: a broadcast, or a constant."""
    # What is made of equal values is equal, so that one such question is enough.
    if not analysis.equal_over(value, groups):
        return False
    pending = [(value, tuple(dims))] if dims else []
    seen = dict.fromkeys(pending)
    for current, fixed in pending:
        inner = _inner(current, fixed) if len(pending) < MOST_OPS else None
        if inner is None:
            return False
        pending += [item for item in inner if item not in seen and item[1]]
        seen |= dict.fromkeys(inner)
    return True


def _inner(value: ir.Value, dims: Sequence[int]) -> list[tuple[ir.Value, tuple[int, ...]]] | None:
    """What of its producer's operands must not vary for ``value`` not to vary along ``dims``;
    None if it may, or cannot be made with other sizes there."""
    op = ir.defining_op(value)
    if op is None or len(op.results) != 1:
        return None
    if op.name == "stablehlo.constant":
        return None if splat_element(value) is None else []
    if op.name == "stablehlo.iota":
        return None if integer(op, "iota_dimension") in dims else []
    found: dict[tuple[ir.Value, tuple[int, ...]], None] = {}
    for number, operand in enumerate(op.operands):
        of = operand_dims(op, number)
        if of is None or any(d not in of for d in dims):
            return None
        inner = {d: o for d in dims if (o := of[d]) is not None}
        if any(shape_of(operand)[o] != shape_of(value)[d] for d, o in inner.items()):
            return None
        found[operand, tuple(inner.values())] = None
    return list(found) or None


def other_sizes(
    operand: ir.Value, dims: Dims, place: Place, shape: Sequence[int], other: Sequence[int]
) -> dict[int, int] | None:
    """The sizes of a uniform operand where the result has those of ``other`` along its
    ``place``, and not of ``shape``; None where blocks would be cut."""
    found: dict[int, int] = {}
    for d in place.values():
        if (o := dims[d]) is not None:
            size, rest = divmod(shape_of(operand)[o] * other[d], shape[d] or 1)
            if rest:
                return None
            found[o] = size
    return found


def resized(value: ir.Value, sizes: Mapping[int, int], done: dict[object, ir.Value]) -> ir.Value:
    """A uniform value with other sizes along dimensions that it does not vary along, made
    where it is made. ``done``: those there are already."""
    op, key = ir.defining_op(value), (value, *sizes.items())
    if not sizes or op is None:
        return value
    if key not in done:
        operands: list[ir.Value] = []
        for number, operand in enumerate(op.operands):
            of = operand_dims(op, number) or {}
            inner = {o: size for d, size in sizes.items() if (o := of[d]) is not None}
            operands.append(resized(operand, inner, done))
        shape = [sizes.get(d, size) for d, size in enumerate(shape_of(value))]
        done[key] = with_shape(op, operands, shape, ir.InsertionPoint(op))
    return done[key]


def with_shape(
    op: ir.Operation, operands: Sequence[ir.Value], shape: Sequence[int], ip: ir.InsertionPoint
) -> ir.Value:
    """The same op of other operands, with a result of another shape."""
    type_ = ir.RankedTensorType(op.results[0].type)
    new_type = ir.RankedTensorType.get(shape, type_.element_type, type_.encoding, loc=op.location)
    new = op.clone(ip).operation
    for number, operand in enumerate(operands):
        new.operands[number] = operand
    new.results[0].set_type(new_type)
    if op.name == "stablehlo.constant":
        splat = splat_element(op.results[0])
        assert splat is not None
        new.attributes["value"] = ir.DenseElementsAttr.get_splat(new_type, splat)
    return new.results[0]


def held(value: ir.Value, ip: ir.InsertionPoint) -> ir.Value:
    """A bf16 value rounded as on a wire, also if ops that compute it and ops that use it come
    to stand in one dispatch: quirks.BF16_ROUNDINGS_DROPPED."""
    # Past what only moves data; what is in memory, or was, is rounded.
    op = ir.producer_behind(value, REARRANGEMENTS)
    if op is None or not isinstance(element_type_of(value), ir.BF16Type) or not _rounds(op):
        return value
    b = TensorBuilder(ip, op.location)
    f32 = with_element_type(value.type, ir.F32Type.get(value.context))
    i32 = ir.IntegerType.get_signless(32, value.context)
    bits: dict[str, ir.Attribute] = {
        "exponent_bits": ir.IntegerAttr.get(i32, 8),
        "mantissa_bits": ir.IntegerAttr.get(i32, 7),
    }
    wide = b.op("stablehlo.convert", [value], f32)
    rounded = b.op("stablehlo.reduce_precision", [wide], f32, bits)
    return b.op("stablehlo.convert", [rounded], value.type)


def _rounds(op: ir.Operation) -> bool:
    if op.name.startswith("headrace.") or op.name in CONSTANTS:
        return False
    return op.name != "stablehlo.convert" or element_bits(op.operands[0]) > 8
