"""Moves encodings up through decodes and broadcasts, to the narrow tensor."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.iree.encoding import encoding_of
from ....dialects.iree.encoding_ops import SET_ENCODING, OperandEncoding, set_encoding
from ....dialects.upstream.generic import maps_of
from ....dialects.upstream.linalg import DYNAMIC, TensorBuilder, dims_map, tensor_type
from ....dialects.upstream.scf import constant_value
from ...analysis.elementwise import (
    element_bits,
    input_count,
    is_bit_extend,
    is_broadcast,
    made_by_empty,
    positions,
)
from ...rewriting import Pattern, Rewriter, apply_patterns
from ...targets.tiling import Tiling


def bubble_encodings(module: ir.Operation, tiling: Tiling) -> None:
    """Wherever the target can decode or broadcast within the matmul."""
    apply_patterns(module, [BubbleSetEncoding(tiling)])


@dataclass(frozen=True)
class Source:
    """The op that makes what is packed, and per input the way to it."""

    producer: ir.Operation
    encodings: tuple[ir.Attribute | None, ...]  # None: read as it is


class BubbleSetEncoding(Pattern[Source]):
    """Packs what an elementwise op reads instead of what it makes.

    %w = linalg.generic ins(%q : tensor<8x4xi8>) -> tensor<8x4xf32>   // a decode
    %p = iree_encoding.set_encoding %w : tensor<8x4xf32> -> tensor<8x4xf32, #rhs>
    // =>
    %pq = iree_encoding.set_encoding %q : tensor<8x4xi8> -> tensor<8x4xi8, #rhs'>
    %p = linalg.generic ins(%pq) -> tensor<8x4xf32, #rhs>

    ``#rhs'`` is ``#rhs`` with one more map: from the dimensions of ``%w`` to
    those of ``%q``.
    """

    roots = (SET_ENCODING,)

    def __init__(self, tiling: Tiling) -> None:
        self.tiling = tiling

    def match(self, op: ir.Operation) -> Source | None:
        source = op.operands[0]
        producer = ir.defining_op(source)
        if producer is None or not (is_bit_extend(producer) or is_broadcast(producer)):
            return None
        packed = encoding_of(op.results[0].type)
        encoding = None if packed is None else OperandEncoding.parse(packed)
        if encoding is None or encoding.is_result:
            return None  # quirks.PACKED_INIT
        if not made_by_empty(producer.operands[-1]):
            return None  # the decode starts from values of its own
        if not _only_packed(source):
            return None  # others read the decoded tensor, too
        if any(element_bits(v) < 8 for v in list(producer.operands)[:-1] if tensor_type(v).rank):
            return None  # parts of bytes cannot be packed
        bits = element_bits(source)
        if not self.tiling.fuses(encoding, bits):
            return None  # the target's kernel would repeat the decode
        return Source(producer, tuple(_input_encodings(producer, encoding)))

    def rewrite(self, op: ir.Operation, match: Source, rewriter: Rewriter) -> None:
        producer = match.producer
        for user in ir.users_of(producer.results[0]):
            if user.name == "tensor.dim":
                b = TensorBuilder(rewriter.before(user), user.location)
                rewriter.replace(user, [_size(b, producer, constant_value(user.operands[1]) or 0)])
        b = TensorBuilder(rewriter.before(op), op.location)
        dims = list(op.operands)[1:]
        operands = list(producer.operands)
        for index, encoding in enumerate(match.encodings):
            if encoding is not None:
                operands[index] = set_encoding(b, operands[index], encoding, dims)
                rewriter.created(ir.OpResult(operands[index]).owner)
        type_ = tensor_type(op.results[0])
        sizes = [_size(b, producer, i) for i, size in enumerate(type_.shape) if size == DYNAMIC]
        operands[-1] = b.op("tensor.empty", sizes, type_)
        made = producer.clone(ip=b.ip).operation
        for index, operand in enumerate(operands):
            made.operands[index] = operand
        made.results[0].set_type(type_)
        rewriter.replace(op, [made.results[0]])
        rewriter.erase_if_dead(producer)


def _only_packed(value: ir.Value) -> bool:
    """Whether nobody but encodings reads a value; its size may be asked for."""
    for use in value.uses:
        user = use.owner.operation
        if user.name == "tensor.dim" and constant_value(user.operands[1]) is not None:
            continue
        if user.name != SET_ENCODING:
            return False
    return True


def _input_encodings(
    producer: ir.Operation, encoding: OperandEncoding
) -> list[ir.Attribute | None]:
    """For each input; None for scalars, which have no layout."""
    maps = maps_of(producer)
    loops = positions(maps[-1])  # which loop each result dimension runs along
    found: list[ir.Attribute | None] = []
    for map_ in maps[: input_count(producer)]:
        if not map_.results:
            found.append(None)
            continue
        with producer.context:
            source = dims_map(len(loops), [loops.index(loop) for loop in positions(map_)])
        found.append(encoding.through(source).attribute(producer.context))
    return found


def _size(b: TensorBuilder, producer: ir.Operation, dim: int) -> ir.Value:
    """The size of a dimension of what ``producer`` makes, from what it reads."""
    maps = maps_of(producer)
    loop = positions(maps[-1])[dim]
    for operand, map_ in enumerate(maps[:-1]):
        loops = positions(map_)
        if loop in loops:
            return b.dim(producer.operands[operand], loops.index(loop))
    return b.dim(producer.operands[-1], dim)
