"""The pass ``bound-indices``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.ops.constraints import DYNAMIC, element_type_of, shape_of
from ..base import Pass
from ..rewriting import Pattern, Rewriter, apply_patterns
from .indices.index_arithmetic import IndexBuilder, representable
from .indices.index_ranges import component_ranges
from .indices.scatters import Scatter, gather_limits, neutral_element, read_scatter, vector_dim

_WIDEST = 64


@dataclass(frozen=True)
class BoundIndices(Pass):
    """Keep the indices of gathers and scatters inside of what they index.

    StableHLO clamps the start of a gather's slice, and drops a scattered window
    that does not fit. IREE does neither (quirks.GATHER_UNCLAMPED,
    quirks.SCATTER_UNCLAMPED), makes invalid ops of other scatters
    (quirks.SCATTER_WINDOW), and takes unsigned indices for signed ones
    (quirks.UNSIGNED_INDEX). Indices that are known to be inside stay as they are.
    """

    name: ClassVar[str] = "bound-indices"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, [SignIndices()])
        apply_patterns(module, [ClampGather(), UpdateOneWindow(), AddNothing(), WriteBeside()])


class SignIndices(Pattern[list[int]]):
    """Unsigned indices in a signed type that holds them.

    %r = stablehlo.gather(%x, %i) : (tensor<300x2xf32>, tensor<5x1xui8>)
    // =>
    %c = stablehlo.convert %i : (tensor<5x1xui8>) -> tensor<5x1xi32>
    %r = stablehlo.gather(%x, %c)

    What an i64 does not hold is past the end of any tensor, as 2^62 is.
    """

    roots = (
        *("stablehlo.gather", "stablehlo.scatter"),
        *("stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice"),
    )

    def match(self, op: ir.Operation) -> list[int] | None:
        """The positions of the operands."""
        found = [index for index in _index_operands(op) if _is_unsigned(op.operands[index])]
        return found or None

    def rewrite(self, op: ir.Operation, match: list[int], rewriter: Rewriter) -> None:
        b = IndexBuilder(rewriter.before(op), op.location)
        for index in match:
            rewriter.set_operand(op, index, _signed(b, op.operands[index]))


def _index_operands(op: ir.Operation) -> list[int]:
    if op.name in ("stablehlo.gather", "stablehlo.scatter"):
        return [len(op.operands) // 2]  # n operands, the indices, n updates
    first = 1 if op.name == "stablehlo.dynamic_slice" else 2
    return list(range(first, len(op.operands)))


def _is_unsigned(value: ir.Value) -> bool:
    element = element_type_of(value)
    return isinstance(element, ir.IntegerType) and element.is_unsigned


def _signed(b: IndexBuilder, value: ir.Value) -> ir.Value:
    width = ir.IntegerType(element_type_of(value)).width
    if width == _WIDEST:
        shape = shape_of(value)
        most = b.op(
            "broadcast_in_dim",
            [b.constant(1 << 62, value, [])],
            shape,
            element_type_of(value),
            {"broadcast_dimensions": b.array()},
        )
        value = b.op("minimum", [value, most], shape, element_type_of(value))
    signed = ir.IntegerType.get_signless(32 if width < 32 else 64, b.loc.context)
    return b.op("convert", [value], shape_of(value), signed)


class ClampGather(Pattern[list[int]]):
    """The start of each slice, clamped.

    %r = stablehlo.gather(%x, %i) {slice_sizes = [1, 2]} : (tensor<4x2xf32>, tensor<5x1xi32>)
    // =>
    %c = stablehlo.clamp 0, %i, 3
    %r = stablehlo.gather(%x, %c)
    """

    roots = ("stablehlo.gather",)

    def match(self, op: ir.Operation) -> list[int] | None:
        """The last start in each indexed dim."""
        most = gather_limits(op)
        if most is None:
            return None
        if _are_inside(op.operands[1], most, vector_dim(op, "dimension_numbers")):
            return None
        if DYNAMIC in shape_of(op.operands[1]) and len(set(most)) > 1:
            return None
        return most

    def rewrite(self, op: ir.Operation, match: list[int], rewriter: Rewriter) -> None:
        b = IndexBuilder(rewriter.before(op), op.location)
        indices, dim = op.operands[1], vector_dim(op, "dimension_numbers")
        if len(set(match)) == 1:
            rewriter.set_operand(op, 1, b.clamped(indices, match[0]))
            return
        parts = [b.clamped(b.component(indices, dim, c), most) for c, most in enumerate(match)]
        rewriter.set_operand(op, 1, b.vectors(parts, dim, indices))


class UpdateOneWindow(Pattern[Scatter]):
    """A scatter of one window: an update in place, of what is there if it does not fit.

    %r = stablehlo.scatter(%x, %i, %u) { add } : (tensor<8x4xf32>, tensor<1xi32>, tensor<2x4xf32>)
    // =>
    %s = stablehlo.clamp 0, %i, 6
    %old = stablehlo.dynamic_slice %x, %s, 0, sizes = [2, 4]
    %new = stablehlo.select (%s == %i), %old + %u, %old
    %r = stablehlo.dynamic_update_slice %x, %new, %s, 0
    """

    roots = ("stablehlo.scatter",)

    def match(self, op: ir.Operation) -> Scatter | None:
        found = read_scatter(op)
        if found is None:
            return None
        if not found.is_single:
            return None
        if found.combiner is None:
            return None  # combines in a way of its own
        return found

    def rewrite(self, op: ir.Operation, match: Scatter, rewriter: Rewriter) -> None:
        b = IndexBuilder(rewriter.before(op), op.location)
        operand, window, element = match.operand, match.window, element_type_of(match.operand)
        starts = [b.constant(0, match.indices, []) for _ in window]
        fits: ir.Value | None = None
        for number, (dim, most) in enumerate(zip(match.dims, match.most, strict=True)):
            part = b.component(match.indices, match.vector_dim, number)
            scalar = b.reshape(part, [])
            starts[dim] = b.clamped(scalar, most)
            if not _are_inside(match.indices, match.most, match.vector_dim):
                fits = b.both(fits, b.compare("EQ", starts[dim], scalar))
        new = b.reshape(match.updates, window)
        if match.combiner or fits is not None:
            sizes: dict[str, ir.Attribute] = {"slice_sizes": b.array(*window)}
            old = b.op("dynamic_slice", [operand, *starts], window, element, sizes)
            if match.combiner:
                new = b.op(match.combiner, [old, new], window, element)
            if fits is not None:
                new = b.select(b.broadcast(fits, window, []), new, old)
        shape = shape_of(operand)
        updated = b.op("dynamic_update_slice", [operand, new, *starts], shape, element)
        rewriter.replace(op, [updated])


class AddNothing(Pattern[Scatter]):
    """A window that does not fit goes where one fits, and changes nothing there.

    %r = stablehlo.scatter(%x, %i, %u) { add }
    // =>
    %c = stablehlo.clamp 0, %i, 3
    %n = stablehlo.select (%c == %i), %u, -0.0
    %r = stablehlo.scatter(%x, %c, %n) { add }
    """

    roots = ("stablehlo.scatter",)

    def match(self, op: ir.Operation) -> Scatter | None:
        found = read_scatter(op)
        if found is None:
            return None
        if _are_inside(found.indices, found.most, found.vector_dim):
            return None
        if not found.combiner or _neutral(found) is None:
            return None  # no update leaves everything as it is
        return found

    def rewrite(self, op: ir.Operation, match: Scatter, rewriter: Rewriter) -> None:
        b = IndexBuilder(rewriter.before(op), op.location)
        neutral = _neutral(match)
        assert neutral is not None
        clamped, fits = _clamped_components(b, match)
        updates = shape_of(match.updates)
        batch = [updates[d] for d in match.batch_dims]
        where = b.broadcast(b.reshape(fits, batch), updates, match.batch_dims)
        nothing = b.constant(neutral, match.updates, updates)
        rewriter.set_operand(op, 1, b.vectors(clamped, match.vector_dim, match.indices))
        rewriter.set_operand(op, 2, b.select(where, match.updates, nothing))


class WriteBeside(Pattern[Scatter]):
    """A window that does not fit is written beside the operand, which is cut off after.

    %r = stablehlo.scatter(%x, %i, %u) { replace } : (tensor<4x2xf32>, ...)
    // =>
    %p = stablehlo.pad %x, high = [1, 0] : tensor<5x2xf32>
    %c = stablehlo.clamp 0, %i, 3
    %s = stablehlo.scatter(%p, select(%c == %i, %i, 4), %u) { replace }
    %r = stablehlo.slice %s [0:4, 0:2]
    """

    roots = ("stablehlo.scatter",)

    def match(self, op: ir.Operation) -> Scatter | None:
        found = read_scatter(op)
        if found is None:
            return None
        if _are_inside(found.indices, found.most, found.vector_dim):
            return None
        beside = shape_of(found.operand)[found.dims[0]]
        if representable(found.indices, beside) != beside:
            return None  # its indices are of a type too narrow for one more
        return found

    def rewrite(self, op: ir.Operation, match: Scatter, rewriter: Rewriter) -> None:
        b = IndexBuilder(rewriter.before(op), op.location)
        shape, element = shape_of(match.operand), element_type_of(match.operand)
        first = match.dims[0]
        clamped, fits = _clamped_components(b, match)
        beside = b.constant(shape[first], clamped[0], shape_of(clamped[0]))
        clamped[0] = b.select(fits, clamped[0], beside)

        margin = [match.window[d] if d == first else 0 for d in range(len(shape))]
        large = [size + more for size, more in zip(shape, margin, strict=True)]
        attributes: dict[str, ir.Attribute] = {
            "edge_padding_low": b.array(*(0 for _ in shape)),
            "edge_padding_high": b.array(*margin),
            "interior_padding": b.array(*(0 for _ in shape)),
        }
        zero = b.constant(0, match.operand, [])
        padded = b.op("pad", [match.operand, zero], large, element, attributes)
        indices = b.vectors(clamped, match.vector_dim, match.indices)
        made = op.clone(rewriter.before(op)).operation
        made.operands[0], made.operands[1] = padded, indices
        # A row that several are written to is none that its indices name once.
        if "unique_indices" in made.attributes:
            del made.attributes["unique_indices"]
        made.results[0].set_type(padded.type)
        inner = b.slice(made.results[0], [0 for _ in shape], shape)
        rewriter.replace(op, [inner])


def _neutral(scatter: Scatter) -> float | None:
    return neutral_element(scatter.combiner or "", element_type_of(scatter.operand))


def _clamped_components(b: IndexBuilder, scatter: Scatter) -> tuple[list[ir.Value], ir.Value]:
    """The components of a scatter's index vectors, clamped, and where none was changed by that."""
    found: list[ir.Value] = []
    fits: ir.Value | None = None
    for number, most in enumerate(scatter.most):
        part = b.component(scatter.indices, scatter.vector_dim, number)
        found.append(b.clamped(part, most))
        fits = b.both(fits, b.compare("EQ", part, found[-1]))
    assert fits is not None
    return found, fits


def _are_inside(indices: ir.Value, most: Sequence[int], dim: int) -> bool:
    """Whether all index vectors, which lie along ``dim``, are known to be."""
    ranges = component_ranges(indices, dim, len(most))
    return all(
        found is not None and found[0] >= 0 and found[1] <= limit
        for found, limit in zip(ranges, most, strict=True)
    )
