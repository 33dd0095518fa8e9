"""lower-dynamic-shapes: StableHLO's reshapes and broadcasts into computed shapes."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ...dialects.upstream.linalg import TensorBuilder, dims_map, tensor_type
from ...dialects.upstream.stablehlo import i64_array
from ..base import Pass
from ..rewriting import Pattern, Rewriter, apply_patterns

_KNOWN = ("known_expanding_dimensions", "known_nonexpanding_dimensions")


@dataclass(frozen=True)
class LowerDynamicShapes(Pass):
    """Lowers ``stablehlo.dynamic_reshape`` and ``stablehlo.dynamic_broadcast_in_dim``.

    See quirks.DYNAMIC_RESHAPE and quirks.DYNAMIC_BROADCAST_MERGED. Broadcasts of
    which it is not known what they expand are left alone, as are those into a
    static shape.

    Before:
        %y = stablehlo.dynamic_reshape %x, %shape
        %z = stablehlo.dynamic_broadcast_in_dim %v, %shape, dims = [0]
               {known_nonexpanding_dimensions = array<i64: 0>}
    After:
        %y = tensor.reshape %x(%shape)
        %z = linalg.generic ins(%v) outs(%empty of the sizes in %shape) { yield }
    """

    name = "lower-dynamic-shapes"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, [LowerReshape(), LowerBroadcast()])


class LowerReshape(Pattern[ir.RankedTensorType]):
    """%y = stablehlo.dynamic_reshape %x, %shape
    // =>
    %y = tensor.reshape %x(%shape)
    """

    roots = ("stablehlo.dynamic_reshape",)

    def match(self, op: ir.Operation) -> ir.RankedTensorType:
        return tensor_type(op.results[0])

    def rewrite(self, op: ir.Operation, match: ir.RankedTensorType, rewriter: Rewriter) -> None:
        b = TensorBuilder(rewriter.before(op), op.location)
        rewriter.replace(op, [b.op("tensor.reshape", list(op.operands), match)])


class LowerBroadcast(Pattern[list[int]]):
    """%z = stablehlo.dynamic_broadcast_in_dim %v, %shape, dims = [0]
    // =>
    %z = linalg.generic ins(%v : (i, j) -> (i)) outs(%empty) { yield }
    """

    roots = ("stablehlo.dynamic_broadcast_in_dim",)

    def match(self, op: ir.Operation) -> list[int] | None:
        """The operand's dimensions that are expanded."""
        source, result = tensor_type(op.operands[0]), tensor_type(op.results[0])
        expanding, kept = (
            i64_array(op, name) if name in op.attributes else list[int]() for name in _KNOWN
        )
        dims = i64_array(op, "broadcast_dimensions")
        found: list[int] = []
        for dim, target in enumerate(dims):
            size = None if source.is_dynamic_dim(dim) else source.shape[dim]
            same = not result.is_dynamic_dim(target) and result.shape[target] == size
            if dim in kept or same or size not in (None, 1):
                continue
            if dim not in expanding and size is None:
                return None  # a dynamic size may or may not be expanded
            found.append(dim)
        return found

    def rewrite(self, op: ir.Operation, match: list[int], rewriter: Rewriter) -> None:
        b = TensorBuilder(rewriter.before(op), op.location)
        value, shape = op.operands
        result = tensor_type(op.results[0])
        dims = i64_array(op, "broadcast_dimensions")
        if match:
            kept = [dim for dim in range(len(dims)) if dim not in match]
            value, dims = _drop(b, value, match), [dims[dim] for dim in kept]
        init = _empty(b, result, shape)
        with op.context:
            maps = dims_map(result.rank, dims), ir.AffineMap.get_identity(result.rank)
        made = b.generic([(value, maps[0])], (init, maps[1]), lambda s, arguments: arguments[0])
        rewriter.replace(op, [made])


def _drop(b: TensorBuilder, value: ir.Value, dims: list[int]) -> ir.Value:
    """Without dimensions of size 1; a dynamic one is known to be 1."""
    type_ = tensor_type(value)
    if any(type_.is_dynamic_dim(dim) for dim in dims):
        shape = [1 if dim in dims else size for dim, size in enumerate(type_.shape)]
        static = ir.RankedTensorType.get(shape, type_.element_type, loc=b.loc)
        value = b.op("tensor.cast", [value], static)
    return b.drop_unit_dims(value, dims)


def _empty(b: TensorBuilder, type_: ir.RankedTensorType, shape: ir.Value) -> ir.Value:
    index = ir.IndexType.get(b.loc.context)
    sizes: list[ir.Value] = []
    for dim in range(type_.rank):
        if type_.is_dynamic_dim(dim):
            element = tensor_type(shape).element_type
            size = b.op("tensor.extract", [shape, b.index(dim)], element)
            sizes.append(size if element == index else b.op("arith.index_cast", [size], index))
    return b.op("tensor.empty", sizes, type_)
