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
    takes neither, and crashes.
    """

    name: ClassVar[str] = "keep-sorts"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, [KeepSort(), HoldTopKOperand()])


class KeepSort(Pattern[ir.Operation]):
    """A sort that IREE might take for a top-k, and is none, compares the other way round.

    %s:2 = "stablehlo.sort"(%x, %iota) {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
      %before = stablehlo.compare GT, %i, %j
    }
    // =>
    %s:2 = "stablehlo.sort"(%x, %iota) {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
      %before = stablehlo.compare LT, %j, %i
    }
    """

    roots = ("stablehlo.sort",)

    def match(self, op: ir.Operation) -> ir.Operation | None:
        """The comparison to turn round."""
        if len(op.operands) != 2:
            return None
        first = ir.operations_of(op.regions[0].blocks[0])[0]
        if first.name != "stablehlo.compare" or _direction(first) not in _TURNED:
            return None
        return None if _is_top_k(op) else first

    def rewrite(self, op: ir.Operation, match: ir.Operation, rewriter: Rewriter) -> None:
        attributes = {
            name: match.attributes[name] for name in ("compare_type",) if name in match.attributes
        }
        attributes["comparison_direction"] = ir.Attribute.parse(
            f"#stablehlo<comparison_direction {_TURNED[_direction(match)]}>", op.context
        )
        turned = build(
            "compare",
            [match.operands[1], match.operands[0]],
            match.results[0].type,
            loc=match.location,
            ip=rewriter.before(match),
            attributes=attributes,
        )
        rewriter.replace(match, [turned])


class HoldTopKOperand(Pattern[ir.Value]):
    """What a top-k of positions reads is not seen to be positions.

    %x = stablehlo.iota dim = 0 : tensor<8xi32>
    %v, %i = chlo.top_k(%x, k = 3)
    // =>
    %x = stablehlo.iota dim = 0 : tensor<8xi32>
    %b = stablehlo.optimization_barrier %x : tensor<8xi32>
    %v, %i = chlo.top_k(%b, k = 3)
    """

    roots = ("chlo.top_k",)

    def match(self, op: ir.Operation) -> ir.Value | None:
        """The operand, where it may fold to an iota before IREE looks."""
        operand = op.operands[0]
        return operand if _is_made_of_iotas(operand) else None

    def rewrite(self, op: ir.Operation, match: ir.Value, rewriter: Rewriter) -> None:
        ip = rewriter.before(op)
        held = build("optimization_barrier", [match], match.type, loc=op.location, ip=ip)
        rewriter.set_operand(op, 0, held)


_TURNED = {"GT": "LT", "GE": "LE"}


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


def _is_made_of_iotas(value: ir.Value) -> bool:
    """Whether ``value`` depends on iotas, on no argument, and is not held yet."""
    found, seen, pending = False, set[int](), [value]
    while pending:
        op = ir.defining_op(pending.pop())
        if op is None or op.regions or op.name == "stablehlo.optimization_barrier":
            return False
        if ir.address_of(op) not in seen:
            seen.add(ir.address_of(op))
            found = found or op.name == "stablehlo.iota"
            pending.extend(op.operands)
    return found
