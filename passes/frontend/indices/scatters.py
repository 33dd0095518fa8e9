"""What a ``stablehlo.scatter`` or ``gather`` indexes, and how a scatter combines."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.ops.constraints import DYNAMIC, shape_of
from ....dialects.upstream.stablehlo import i64_array


def dimension_list(op: ir.Operation, attribute: str, name: str) -> list[int]:
    """A list in the dimension numbers of a gather or scatter; empty where it is left out."""
    found = re.search(rf"\b{name} = \[([\d, ]*)\]", str(op.attributes[attribute]))
    return [int(n) for n in found[1].split(",") if n.strip()] if found else []


def vector_dim(op: ir.Operation, attribute: str) -> int:
    """The dim of the indices along which index vectors lie; 0 where it is left out."""
    found = re.search(r"index_vector_dim = (\d+)", str(op.attributes[attribute]))
    return int(found[1]) if found else 0


@dataclass(frozen=True)
class Scatter:
    """``window`` and ``most`` are per dim of the operand, and per component of an
    index vector: the size of what is updated, and the last start at which it fits."""

    operand: ir.Value
    indices: ir.Value
    updates: ir.Value
    vector_dim: int
    dims: tuple[int, ...]
    update_window_dims: tuple[int, ...]
    window: tuple[int, ...]
    most: tuple[int, ...]
    # The op that combines an element with its update; "" if the update replaces it.
    combiner: str | None

    @property
    def is_single(self) -> bool:
        """There is one index vector."""
        shape = shape_of(self.indices)
        return math.prod(n for d, n in enumerate(shape) if d != self.vector_dim) == 1

    @property
    def batch_dims(self) -> list[int]:
        """The dims of the updates that come from those of the indices, in order."""
        rank = len(shape_of(self.updates))
        return [d for d in range(rank) if d not in self.update_window_dims]


def read_scatter(op: ir.Operation) -> Scatter | None:
    """None for a scatter of several operands or of dynamic shape."""
    if len(op.operands) != 3:
        return None
    name = "scatter_dimension_numbers"
    operand, indices, updates = op.operands
    shape = shape_of(operand)
    if any(DYNAMIC in shape_of(v) for v in op.operands):
        return None
    windows = dimension_list(op, name, "update_window_dims")
    gone = dimension_list(op, name, "inserted_window_dims")
    gone += dimension_list(op, name, "input_batching_dims")
    sizes = iter([shape_of(updates)[d] for d in windows])
    window = [1 if d in gone else next(sizes) for d in range(len(shape))]
    dims = dimension_list(op, name, "scatter_dims_to_operand_dims")
    return Scatter(
        operand,
        indices,
        updates,
        vector_dim(op, name),
        tuple(dims),
        tuple(windows),
        tuple(window),
        tuple(shape[d] - window[d] for d in dims),
        _combiner(op),
    )


def gather_limits(op: ir.Operation) -> list[int] | None:
    """The last start of a slice that fits, per component of an index vector."""
    shape, sizes = shape_of(op.operands[0]), i64_array(op, "slice_sizes")
    dims = dimension_list(op, "dimension_numbers", "start_index_map")
    if any(shape[d] == DYNAMIC for d in dims):
        return None
    return [shape[d] - sizes[d] for d in dims]


_COMBINERS = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")


def _combiner(op: ir.Operation) -> str | None:
    """None where the body is none of those known."""
    block = op.regions[0].blocks[0]
    *body, end = ir.operations_of(block)
    old, new = block.arguments
    if not body:
        return "" if end.operands[0] == new else None
    name = body[0].name.removeprefix("stablehlo.")
    ends = len(body) == 1 and end.operands[0] == body[0].results[0]
    if not ends or name not in _COMBINERS or {*body[0].operands} != {old, new}:
        return None
    return name


def neutral_element(combiner: str, type_: ir.Type) -> float | None:
    """What changes no element that it is combined with; None where there is none."""
    if isinstance(type_, ir.FloatType):
        # 0.0 would make 0.0 of -0.0.
        floats = {"add": -0.0, "multiply": 1.0}
        if isinstance(type_, ir.BF16Type | ir.F16Type | ir.F32Type | ir.F64Type):
            floats |= {"maximum": -math.inf, "minimum": math.inf}
        return floats.get(combiner)
    if not isinstance(type_, ir.IntegerType):
        return None
    low, high = _integer_limits(type_)
    every = high if type_.is_unsigned else -1
    if type_.width == 1:
        low, high, every = 0, 1, 1
    integers = {"add": 0, "multiply": 1, "maximum": low, "minimum": high}
    return {**integers, "and": every, "or": 0, "xor": 0}.get(combiner)


def _integer_limits(type_: ir.IntegerType) -> tuple[int, int]:
    if type_.is_unsigned:
        return 0, 2**type_.width - 1
    return -(2 ** (type_.width - 1)), 2 ** (type_.width - 1) - 1
