"""The pass ``collapse-contractions``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.encoding import encoding_of
from ...dialects.upstream.contraction import contraction_loops
from ...dialects.upstream.linalg import DYNAMIC, TensorBuilder, dims_map, tensor_type
from ..analysis.matmul_loops import init_fill, refilled
from ..base import Pass
from ..rewriting import Pattern, Rewriter, apply_patterns


@dataclass(frozen=True)
class CollapseContractions(Pass):
    """Makes one loop of several of a kind, in contractions of static sizes.

    Data-tiling resolvers take one loop for rows, columns, depth and batch
    each. IREE collapses loops, too, but after encodings are set.
    """

    name: ClassVar[str] = "collapse-contractions"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, [CollapseContraction()])


@dataclass(frozen=True)
class Collapse:
    """``groups``: the loops that become one, in the order of the new loops;
    ``dims``: the same for the dimensions of lhs, rhs and out."""

    groups: tuple[tuple[int, ...], ...]
    dims: tuple[tuple[tuple[int, ...], ...], ...]


class CollapseContraction(Pattern[Collapse]):
    """A contraction over collapsed operands.

    %y = linalg.generic ins(%x, %w : tensor<32x64x2xf32>, tensor<64x2x48xf32>)
        outs(%zero : tensor<32x48xf32>)    // depth 64 x 2
    // =>
    %cx = tensor.collapse_shape %x [[0], [1, 2]]
    %cw = tensor.collapse_shape %w [[0, 1], [2]]
    %y = linalg.generic ins(%cx, %cw : tensor<32x128xf32>, tensor<128x48xf32>)
    """

    roots = ("linalg.generic", "linalg.contract")

    def match(self, op: ir.Operation) -> Collapse | None:
        maps = contraction_loops(op)
        if maps is None or len(op.results) != 1:
            return None
        if any(encoding_of(o.type) is not None for o in op.operands):
            return None
        if any(DYNAMIC in tensor_type(o).shape for o in op.operands):
            return None
        kinds: dict[tuple[bool, ...], list[int]] = {}
        for loop in sorted({loop for loops in maps for loop in loops}):
            kinds.setdefault(tuple(loop in loops for loops in maps), []).append(loop)
        if all(len(loops) == 1 for loops in kinds.values()):
            return None
        ordered: list[tuple[int, ...]] = []
        for kind, loops in kinds.items():
            orders = [
                tuple(loop for loop in map_ if loop in loops)
                for map_, has in zip(maps, kind, strict=True)
                if has
            ]
            if any(order != orders[0] for order in orders):
                return None  # its operands have loops of one kind in different orders
            ordered.append(orders[0])
        dims = [_grouped(map_, ordered) for map_ in maps]
        if any(d is None for d in dims):
            return None  # loops of one kind lie apart in an operand
        groups = sorted(ordered)
        return Collapse(tuple(groups), tuple(d for d in dims if d is not None))

    def rewrite(self, op: ir.Operation, match: Collapse, rewriter: Rewriter) -> None:
        b = TensorBuilder(rewriter.before(op), op.location)
        fill = init_fill(op)
        operands = [_collapsed(b, v, dims) for v, dims in zip(op.operands, match.dims, strict=True)]
        if fill is not None:
            empty = b.op("tensor.empty", [], operands[2].type)
            operands[2] = refilled(b, fill, empty)
        made = ir.Operation.create(
            "linalg.generic",
            results=[operands[2].type],
            operands=operands,
            attributes=_attributes(op, match),
            regions=1,
            loc=op.location,
            ip=ir.InsertionPoint(op),
        ).operation
        op.regions[0].blocks[0].append_to(made.regions[0])
        result: ir.Value = made.results[0]
        out = tensor_type(op.results[0])
        if result.type != out:
            result = b.expand_shape(result, match.dims[2], out)
        rewriter.replace(op, [result])


def _grouped(
    map_: Sequence[int], groups: Sequence[tuple[int, ...]]
) -> tuple[tuple[int, ...], ...] | None:
    """The dimensions of an operand by group of loops; None if one is torn."""
    found: list[tuple[int, ...]] = []
    dim = 0
    while dim < len(map_):
        group = next(g for g in groups if map_[dim] in g)
        if tuple(map_[dim : dim + len(group)]) != group:
            return None
        found.append(tuple(range(dim, dim + len(group))))
        dim += len(group)
    return tuple(found)


def _collapsed(b: TensorBuilder, value: ir.Value, dims: Sequence[Sequence[int]]) -> ir.Value:
    type_ = tensor_type(value)
    if len(dims) == type_.rank:
        return value
    shape = [prod(type_.shape[d] for d in group) for group in dims]
    return b.collapse_shape(
        value, dims, ir.RankedTensorType.get(shape, type_.element_type, loc=b.loc)
    )


def _attributes(op: ir.Operation, match: Collapse) -> dict[str, ir.Attribute]:
    """Of the contraction over the new loops."""
    maps = contraction_loops(op) or []
    place = {loop: number for number, group in enumerate(match.groups) for loop in group}
    with op.context:
        affine = [
            dims_map(len(match.groups), [place[map_[group[0]]] for group in dims])
            for map_, dims in zip(maps, match.dims, strict=True)
        ]
        reduced = {loop for map_ in maps for loop in map_} - set(maps[2])
        kinds = ["reduction" if group[0] in reduced else "parallel" for group in match.groups]
        return {
            "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in affine]),
            "iterator_types": ir.ArrayAttr.get(
                [ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds]
            ),
            "operandSegmentSizes": op.attributes["operandSegmentSizes"],
        }
