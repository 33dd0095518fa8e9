"""The pass ``keep-sorts``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.ops.constraints import element_type_of
from ...dialects.upstream.linalg import tensor_type
from ...dialects.upstream.stablehlo import build, i64_array, integer
from ..base import Pass
from ..rewriting import Pattern, Rewriter, apply_patterns


@dataclass(frozen=True)
class KeepSorts(Pass):
    """Keeps sorts from being taken for a top-k that they are not.

    IREE makes one of each descending sort of a value and an iota whose results are
    sliced (quirks.SORT_AS_TOP_K), without a look at what is compared, which operand is
    which, and where the slices begin; of two iotas, as of ``lax.top_k`` of an iota, it
    takes neither, and crashes. It also crashes where it follows an operand to the
    broadcast of a scalar (quirks.SORT_OF_BROADCAST). What an operand folds to on the way
    cannot be told before, so that no operand is shown but the positions of a top-k, until
    ``release-sorts``.
    """

    name: ClassVar[str] = "keep-sorts"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, [HoldSortOperands()])


class HoldSortOperands(Pattern[list[int]]):
    """IREE does not see what a sort of two operands, or a top-k, is of.

    %s:2 = "stablehlo.sort"(%x, %iota) { stablehlo.compare LT }
    // =>
    %a = stablehlo.optimization_barrier %x : tensor<8xi32>
    %b = stablehlo.optimization_barrier %iota : tensor<8xi32>
    %s:2 = "stablehlo.sort"(%a, %b) { stablehlo.compare LT }
    """

    roots = ("stablehlo.sort", "chlo.top_k")

    def match(self, op: ir.Operation) -> list[int] | None:
        """Which operands to hold."""
        is_sort = op.name == "stablehlo.sort"
        if is_sort and len(op.operands) != 2:
            return None
        count = 1 if not is_sort or _is_top_k(op) else 2
        operands = list(op.operands)[:count]
        return [i for i, operand in enumerate(operands) if not _is_held(operand)] or None

    def rewrite(self, op: ir.Operation, match: list[int], rewriter: Rewriter) -> None:
        ip = rewriter.before(op)
        held: dict[ir.Value, ir.Value] = {}
        for index in match:
            value = op.operands[index]
            if value not in held:  # sorted with itself, it stays one value
                held[value] = build(
                    "optimization_barrier", [value], value.type, loc=op.location, ip=ip
                )
            rewriter.set_operand(op, index, held[value])


def _is_held(value: ir.Value) -> bool:
    op = ir.defining_op(value)
    return op is not None and op.name == "stablehlo.optimization_barrier"


def _direction(compare: ir.Operation) -> str:
    text = str(compare.attributes["comparison_direction"])
    return text.removeprefix("#stablehlo<comparison_direction ").removesuffix(">")


def _is_top_k(op: ir.Operation) -> bool:
    """Whether the slices of a sort are ``lax.top_k``'s values and positions, in the order of
    IEEE 754: -0 after 0, and NaN first."""
    values, positions = op.operands
    shape = tensor_type(values).shape
    last = len(shape) - 1
    if integer(op, "dimension") != last or not _counts_along(positions, last):
        return False
    block = op.regions[0].blocks[0]
    body = ir.operations_of(block)
    first = body[0]
    if len(body) != 2 or _direction(first) != "GT":
        return False
    if list(first.operands) != list(block.arguments)[:2]:
        return False
    if not isinstance(element_type_of(values), ir.IntegerType) and "TOTALORDER" not in str(
        first.attributes.get("compare_type", "")
    ):
        return False
    users = [ir.users_of(result) for result in op.results]
    if any(len(each) != 1 or each[0].name != "stablehlo.slice" for each in users):
        return False
    slices = [each[0] for each in users]
    limits = [i64_array(each, "limit_indices") for each in slices]
    return (
        limits[0] == limits[1]
        and limits[0][:last] == list(shape)[:last]
        and not any(any(i64_array(each, "start_indices")) for each in slices)
        and all(set(i64_array(each, "strides")) == {1} for each in slices)
    )


def _counts_along(value: ir.Value, dim: int) -> bool:
    """Whether ``value`` is its own position along ``dim``, as i32."""
    op = ir.defining_op(value)
    if op is not None and op.name == "stablehlo.broadcast_in_dim":
        dims = i64_array(op, "broadcast_dimensions")
        if dim not in dims:
            return False
        return _counts_along(op.operands[0], dims.index(dim))
    if op is None or op.name != "stablehlo.iota":
        return False
    element = element_type_of(value)
    is_i32 = isinstance(element, ir.IntegerType) and element.is_signless and element.width == 32
    return is_i32 and integer(op, "iota_dimension") == dim
