"""Contractions as linalg ops: the form IREE compiles best, and the body of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.upstream.arith import Scalars
from ....dialects.upstream.linalg import TensorBuilder, dims_map, tensor_type


@dataclass(frozen=True)
class Dims:
    """Dimension numbers as in ``headrace.matmul``; batch and contracting dims come in pairs."""

    lhs_batch: tuple[int, ...]
    rhs_batch: tuple[int, ...]
    lhs_free: tuple[int, ...]
    rhs_free: tuple[int, ...]
    lhs_contracting: tuple[int, ...]
    rhs_contracting: tuple[int, ...]

    @property
    def parallel(self) -> int:
        """The rank of the result: batch dims, then lhs's, then rhs's free dims."""
        return len(self.lhs_batch) + len(self.lhs_free) + len(self.rhs_free)

    def lhs_loops(self) -> list[int]:
        """Which loop each dimension of lhs runs along; reductions are the last loops."""
        free = len(self.lhs_batch)
        return self._loops(self.lhs_batch, self.lhs_free, free, self.lhs_contracting)

    def rhs_loops(self) -> list[int]:
        free = len(self.lhs_batch) + len(self.lhs_free)
        return self._loops(self.rhs_batch, self.rhs_free, free, self.rhs_contracting)

    def _loops(
        self, batch: Sequence[int], free: Sequence[int], first_free: int, contracting: Sequence[int]
    ) -> list[int]:
        loops = dict(zip(batch, range(len(batch)), strict=True))
        loops.update({d: first_free + i for i, d in enumerate(free)})
        loops.update({d: self.parallel + i for i, d in enumerate(contracting)})
        return [loops[d] for d in range(len(loops))]

    def named_form(self) -> str | None:
        """linalg's name for these dims, None where it takes a ``linalg.generic``."""
        forms = {
            Dims((), (), (0,), (1,), (1,), (0,)): "matmul",
            Dims((0,), (0,), (1,), (2,), (2,), (1,)): "batch_matmul",
        }
        return forms.get(self)


def multiply_add(s: Scalars, arguments: list[ir.Value]) -> ir.Value:
    """The body of a contraction: out + lhs * rhs in the type of out."""
    lhs, rhs, out = arguments
    product = s.binary("mulf", s.convert_float(lhs, out.type), s.convert_float(rhs, out.type))
    return s.binary("addf", out, product)


def contract(
    b: TensorBuilder, lhs: ir.Value, rhs: ir.Value, dims: Dims, element: ir.Type
) -> ir.Value:
    """The product, accumulated from zero in ``element``.

    Its shape is batch dims, free dims of lhs, free dims of rhs.
    """
    sources = [(lhs, d) for d in (*dims.lhs_batch, *dims.lhs_free)]
    sources += [(rhs, d) for d in dims.rhs_free]
    shape = [tensor_type(value).shape[d] for value, d in sources]
    type_ = ir.RankedTensorType.get(shape, element, loc=b.loc)
    zero = b.fill(0.0, b.empty(type_, sources))
    if any(tensor_type(lhs).shape[d] == 0 for d in dims.lhs_contracting):
        return zero  # quirks.EMPTY_SUM_ON_CUDA
    if all(tensor_type(lhs).shape[d] == 1 for d in dims.lhs_contracting):
        return _outer_product(b, lhs, rhs, dims, zero)
    loops = dims.parallel + len(dims.lhs_contracting)
    with b.loc:
        lhs_map = dims_map(loops, dims.lhs_loops())
        rhs_map = dims_map(loops, dims.rhs_loops())
        out_map = dims_map(loops, range(dims.parallel))
        # quirks.MATMUL_WITHOUT_MAPS
        maps = ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in (lhs_map, rhs_map, out_map)])
    name = dims.named_form()
    if name is not None:
        return b.named(name, [lhs, rhs], zero, multiply_add, maps)
    reductions = range(dims.parallel, loops)
    return b.generic([(lhs, lhs_map), (rhs, rhs_map)], (zero, out_map), multiply_add, reductions)


def _outer_product(
    b: TensorBuilder, lhs: ir.Value, rhs: ir.Value, dims: Dims, zero: ir.Value
) -> ir.Value:
    """Sums of one product each: elementwise, as IREE fails to pack a 1x1 by 1xN matmul."""
    maps: list[ir.AffineMap] = []
    for contracting, loops in (
        (dims.lhs_contracting, dims.lhs_loops()),
        (dims.rhs_contracting, dims.rhs_loops()),
    ):
        with b.loc:
            kept = [loop for d, loop in enumerate(loops) if d not in contracting]
            maps.append(dims_map(dims.parallel, kept))
    with b.loc:
        identity = ir.AffineMap.get_identity(dims.parallel)
    lhs = b.drop_unit_dims(lhs, dims.lhs_contracting)
    rhs = b.drop_unit_dims(rhs, dims.rhs_contracting)
    return b.generic([(lhs, maps[0]), (rhs, maps[1])], (zero, identity), multiply_add)


def same_contraction(
    b: TensorBuilder, op: ir.Operation, lhs: ir.Value, rhs: ir.Value, init: ir.Value
) -> ir.Value:
    """The same contraction on values of other element types."""
    if op.name != "linalg.generic":
        maps = op.attributes.get("indexing_maps", None)
        return b.named(op.name.removeprefix("linalg."), [lhs, rhs], init, multiply_add, maps)
    maps = ir.ArrayAttr(op.attributes["indexing_maps"])
    lhs_map, rhs_map, out_map = (ir.AffineMapAttr(m).value for m in maps)
    kinds = ir.ArrayAttr(op.attributes["iterator_types"])
    reductions = [i for i, kind in enumerate(kinds) if "reduction" in str(kind)]
    return b.generic([(lhs, lhs_map), (rhs, rhs_map)], (init, out_map), multiply_add, reductions)
