"""Which dimensions an op computes tile by tile, and which it must see whole.

An op on a global tensor may run on one device's tile alone when the tied
dimensions of its operands and results are tiled the same way and all others
are whole. That is what Shardy and GSPMD call an op's sharding rule, without
the rules that need communication.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ....dialects import ir
from ....dialects.op_traits import STABLEHLO_ELEMENTWISE
from ....dialects.upstream.stablehlo import i64_array, integer

Dim = tuple[ir.Value, int]
# Dimensions tied to each other; a single one must be whole.
Tie = tuple[Dim, ...]


def shape_of(value: ir.Value) -> list[int] | None:
    """None for what is no ranked tensor (a token, say)."""
    if not isinstance(value.type, ir.RankedTensorType):
        return None
    return list(value.type.shape)


def dims_of(value: ir.Value) -> list[Dim]:
    return [(value, d) for d in range(len(shape_of(value) or []))]


def ties(op: ir.Operation) -> Iterator[Tie]:
    """The ties of one op. An op that is not known must see everything whole.

    Region arguments and terminators belong to the op that holds the region.
    """
    if op.name in STABLEHLO_ELEMENTWISE or op.name.startswith("chlo."):
        yield from _elementwise(op)
    elif op.name in _RULES:
        yield from _RULES[op.name](op)
    elif op.name != "stablehlo.return":
        yield from _whole([*op.operands, *op.results])


def _whole(values: Sequence[ir.Value]) -> Iterator[Tie]:
    for value in values:
        for dim in dims_of(value):
            yield (dim,)


def _same(values: Sequence[ir.Value]) -> Iterator[Tie]:
    """Ties equal dimensions of values of one shape."""
    for d in range(len(dims_of(values[0]))):
        yield tuple((value, d) for value in values)


def _elementwise(op: ir.Operation) -> Iterator[Tie]:
    if op.name.endswith("optimization_barrier"):
        for operand, result in zip(op.operands, op.results, strict=True):
            yield from _same([operand, result])
        return
    values = [*op.operands, *op.results]
    shape = shape_of(op.results[0])
    same = [value for value in values if shape_of(value) == shape]
    # What has another shape is a scalar (of clamp, select), or the op is not
    # elementwise after all, as chlo.top_k and bitcasts between widths.
    others = [value for value in values if shape_of(value) not in (shape, [])]
    if others:
        yield from _whole(values)
    else:
        yield from _same(same)


def _broadcast(op: ir.Operation) -> Iterator[Tie]:
    operand, result = op.operands[0], op.results[0]
    shape = shape_of(operand) or []
    for d, to in enumerate(i64_array(op, "broadcast_dimensions")):
        if shape[d] == 1:
            yield ((operand, d),)
        else:
            yield ((operand, d), (result, to))


def _transpose(op: ir.Operation) -> Iterator[Tie]:
    for to, d in enumerate(i64_array(op, "permutation")):
        yield ((op.operands[0], d), (op.results[0], to))


def _reshape(op: ir.Operation) -> Iterator[Tie]:
    """Ties the leading and trailing dimensions that the reshape leaves alone,
    whatever dimensions of size 1 come and go between them."""
    operand, result = op.operands[0], op.results[0]
    old = [d for d, size in enumerate(shape_of(operand) or []) if size != 1]
    new = [d for d, size in enumerate(shape_of(result) or []) if size != 1]
    old_sizes = [(shape_of(operand) or [])[d] for d in old]
    new_sizes = [(shape_of(result) or [])[d] for d in new]
    front = _common(old_sizes, new_sizes)
    back = _common(old_sizes[front:][::-1], new_sizes[front:][::-1])
    pairs = list(zip(old[:front], new[:front], strict=True))
    pairs += zip(old[len(old) - back :], new[len(new) - back :], strict=True)
    for d, to in pairs:
        yield ((operand, d), (result, to))
    tied = {dim for d, to in pairs for dim in ((operand, d), (result, to))}
    for dim in [*dims_of(operand), *dims_of(result)]:
        if dim not in tied:
            yield (dim,)


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    """The length of the common prefix."""
    for n, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return n
    return min(len(a), len(b))


def _kept_dims(op: ir.Operation, count: int) -> Iterator[Tie]:
    """Dimensions of equal size in the first ``count`` operands and the result
    are tied; the others are cut or joined, and so must be whole."""
    values = [*list(op.operands)[:count], op.results[0]]
    yield from _whole(list(op.operands)[count:])
    for dims in _same(values):
        if len({(shape_of(value) or [])[d] for value, d in dims}) == 1:
            yield dims
        else:
            yield from ((dim,) for dim in dims)


def _concatenate(op: ir.Operation) -> Iterator[Tie]:
    axis = integer(op, "dimension")
    for d, dims in enumerate(_same([*op.operands, *op.results])):
        if d == axis:
            yield from ((dim,) for dim in dims)
        else:
            yield dims


def _iota(op: ir.Operation) -> Iterator[Tie]:
    yield ((op.results[0], integer(op, "iota_dimension")),)


def _reduce(op: ir.Operation) -> Iterator[Tie]:
    dims = i64_array(op, "dimensions")
    inputs = list(op.operands)[: len(op.results)]
    kept = [d for d in range(len(shape_of(inputs[0]) or [])) if d not in dims]
    for value in inputs:
        for d in dims:
            yield ((value, d),)
    for to, d in enumerate(kept):
        yield (*((v, d) for v in inputs), *((r, to) for r in op.results))


def _while(op: ir.Operation) -> Iterator[Tie]:
    cond, body = (region.blocks[0] for region in op.regions)
    ends = ir.operations_of(body)[-1].operands
    for number, result in enumerate(op.results):
        yield from _same(
            [
                op.operands[number],
                cond.arguments[number],
                body.arguments[number],
                ends[number],
                result,
            ]
        )


def _branches(op: ir.Operation) -> Iterator[Tie]:
    ends = [ir.operations_of(region.blocks[0])[-1].operands for region in op.regions]
    for number, result in enumerate(op.results):
        yield from _same([result, *(end[number] for end in ends)])


_RULES: dict[str, Callable[[ir.Operation], Iterator[Tie]]] = {
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.case": _branches,
    "stablehlo.concatenate": _concatenate,
    # Each device can take its own tile of one.
    "stablehlo.constant": lambda _: iter(()),
    "stablehlo.dynamic_slice": lambda op: _kept_dims(op, 1),
    "stablehlo.dynamic_update_slice": lambda op: _kept_dims(op, 2),
    "stablehlo.if": _branches,
    "stablehlo.iota": _iota,
    "stablehlo.reduce": _reduce,
    "stablehlo.reshape": _reshape,
    "stablehlo.slice": lambda op: _kept_dims(op, 1),
    "stablehlo.transpose": _transpose,
    "stablehlo.while": _while,
}
