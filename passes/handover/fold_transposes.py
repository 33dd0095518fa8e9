"""The pass ``fold-transposes``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.dispatch import DISPATCH_REGION
from ...dialects.op_traits import INITS
from ...dialects.upstream.generic import GENERIC, iterators_of, maps_of
from ...dialects.upstream.linalg import TensorBuilder, dims_map, tensor_type
from ...dialects.upstream.tensor import with_shape
from ..base import Pass
from ..rewriting import Pattern, Rewriter, apply_patterns

_REDUCE = "linalg.reduce"


@dataclass(frozen=True)
class FoldTransposes(Pass):
    """Let an op with several results give one of them transposed, where that is all it is for.

    IREE means to do so itself, and makes an op that has lost its other results, which
    is an error (quirks.TRANSPOSE_OF_ONE_RESULT). A largest value beside its index,
    transposed, is such a program.
    """

    name: ClassVar[str] = "fold-transposes"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, [FoldTransposeIntoProducer()])


@dataclass(frozen=True)
class _Transposed:
    """Result ``number`` of ``producer``, whose dimension ``order[i]`` becomes dimension ``i``."""

    producer: ir.Operation
    number: int
    order: list[int]


class FoldTransposeIntoProducer(Pattern[_Transposed]):
    """A transpose that is the only use of one of several results.

    %r:2 = linalg.generic outs(%a by (i, j), %b by (i, j))
    %t = linalg.transpose ins(%r#1) permutation = [1, 0]
    // =>
    %r:2 = linalg.generic outs(%a by (i, j), %c by (j, i))

    ``%c`` is ``%b`` transposed: where the body does not read it, only of that shape.
    """

    roots = ("linalg.transpose", GENERIC)

    def match(self, op: ir.Operation) -> _Transposed | None:
        order = _order(op)
        if order is None:
            return None
        value = op.operands[0]
        producer = ir.defining_op(value)
        if producer is None or producer.name not in (GENERIC, _REDUCE):
            return None
        if len(producer.results) == 1:
            return None  # the only result, which IREE can do
        if len(list(value.uses)) != 1:
            return None  # with other users, which IREE leaves alone
        if any(around.name == DISPATCH_REGION for around in ir.ancestors(op)):
            return None  # which IREE leaves alone
        return _Transposed(producer, ir.result_number(value), order)

    def rewrite(self, op: ir.Operation, match: _Transposed, rewriter: Rewriter) -> None:
        old, number = match.producer, match.number
        inputs = len(old.operands) - len(old.results)
        maps, iterators = _loops(old)
        operands, types = list(old.operands), [result.type for result in old.results]
        body = old.regions[0].blocks[0]
        b = TensorBuilder(rewriter.before(old), old.location)
        is_read = next(iter(body.arguments[inputs + number].uses), None) is not None
        unused = [ir.defining_op(v) for v in (op.operands[-1], operands[inputs + number])]
        init = _transposed(b, operands[inputs + number], match.order, with_values=is_read)
        operands[inputs + number], types[number] = init, init.type
        way = maps[inputs + number]
        with old.location:
            ways = [way.results[d] for d in match.order]
            maps[inputs + number] = ir.AffineMap.get(way.n_dims, way.n_symbols, ways)
            kept = dict(old.attributes.items()) if old.name == GENERIC else {}
            made = ir.Operation.create(
                GENERIC,
                results=types,
                operands=operands,
                attributes={
                    **kept,
                    "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps]),
                    "iterator_types": iterators,
                    "operandSegmentSizes": ir.DenseI32ArrayAttr.get([inputs, len(types)]),
                },
                regions=1,
                ip=rewriter.before(old),
            )
        body.append_to(made.regions[0])
        rewriter.replace(op, [made.results[number]])
        for index, result in enumerate(old.results):
            if index != number:
                rewriter.replace_uses(result, made.results[index])
        rewriter.erase(old)
        for producer in unused:
            if producer is not None and producer.name in INITS:
                rewriter.erase_if_dead(producer)
        rewriter.created(made)


def _order(op: ir.Operation) -> list[int] | None:
    """The permutation of an op that does nothing but transpose."""
    if op.name == "linalg.transpose":
        return list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
    if len(op.operands) != 2 or len(op.results) != 1 or "reduction" in iterators_of(op):
        return None
    body = op.regions[0].blocks[0]
    if ir.operations_of(body)[0].name != "linalg.yield":
        return None
    source, target = maps_of(op)
    if not (source.is_permutation and target.is_permutation):
        return None
    (yielded,) = ir.operations_of(body)[0].operands
    if yielded != body.arguments[0]:
        return None
    loops = [ir.affine_position(e) for e in source.results]
    return [loops.index(ir.affine_position(e)) for e in target.results]


def _loops(op: ir.Operation) -> tuple[list[ir.AffineMap], ir.Attribute]:
    """Indexing maps and iterator types of a ``linalg.generic`` or ``linalg.reduce``."""
    if op.name == GENERIC:
        return maps_of(op), op.attributes["iterator_types"]
    reduced = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    rank = len(tensor_type(op.operands[0]).shape)
    with op.location:
        whole = dims_map(rank, range(rank))
        kept = dims_map(rank, [d for d in range(rank) if d not in reduced])
        kinds = ["reduction" if d in reduced else "parallel" for d in range(rank)]
        iterators = ir.ArrayAttr.get(
            [ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds]
        )
    count = len(op.results)
    return [whole] * count + [kept] * count, iterators


def _transposed(
    b: TensorBuilder, init: ir.Value, order: list[int], *, with_values: bool
) -> ir.Value:
    """A tensor of the shape of ``init`` transposed, and with its elements if asked for."""
    type_ = tensor_type(init)
    rank = len(order)
    empty = b.empty(with_shape(type_, [type_.shape[d] for d in order]), [(init, d) for d in order])
    if not with_values:
        return empty
    producer = ir.defining_op(init)
    if producer is not None and producer.name == "linalg.fill":
        return b.fill(producer.operands[0], empty)
    with b.loc:
        into = dims_map(rank, range(rank))
        source = dims_map(rank, [order.index(d) for d in range(rank)])
    return b.generic([(init, source)], (empty, into), lambda _, arguments: arguments[0])
