"""Where in a tensor's memory a part of it lies, in numbers that may be known at run time only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.upstream.linalg import tensor_type
from ....dialects.upstream.tensor import DYNAMIC

# A tensor and a dimension of it, whose size is meant; or a value, and _ITSELF.
_Atom = tuple[int, int]
_ITSELF = -1
# Products of atoms, each with how often it is counted.
_Sum = dict[tuple[_Atom, ...], int]
Number = int | ir.Value | _Sum


@dataclass(frozen=True)
class PartRange:
    """Elements ``[start, end)`` of a tensor, in the order in which they lie."""

    start: _Sum
    end: _Sum

    def touches(self, other: PartRange) -> bool:
        """Whether one begins where the other ends."""
        return self.end == other.start or other.end == self.start

    def is_apart(self, other: PartRange) -> bool:
        """Whether the two are known to have no element in common."""
        return _is_at_most(self.end, other.start) or _is_at_most(other.end, self.start)


def part_range(
    tensor: ir.Value, offsets: Sequence[Number], sizes: Sequence[Number]
) -> PartRange | None:
    """That of a part with strides of one; None where its elements do not lie side by side.

    They do where it has all of the inner dimensions, some of one, and one
    index of each outer one.
    """
    step, start, count = (_sum_of(number) for number in (1, 0, 1))
    has_all_inner = True
    dims = list(enumerate(zip(tensor_type(tensor).shape, offsets, sizes, strict=True)))
    for dim, (whole, offset, size) in reversed(dims):
        first, some = _sum_of(offset), _sum_of(size)
        if not has_all_inner and some != _sum_of(1):
            return None
        has_all_inner = has_all_inner and whole != DYNAMIC and (first, some) == ({}, _sum_of(whole))
        start = _add([start, _multiply(first, step)])
        count = _multiply(count, some)
        step = _multiply(step, _size_of(tensor, dim))
    return PartRange(start, _add([start, count]))


def parts_of_concat(op: ir.Operation) -> list[PartRange | None]:
    """Those of the operands in the result."""
    along = ir.IntegerAttr(op.attributes["dim"]).value
    found: list[PartRange | None] = []
    start = _sum_of(0)
    for part in op.operands:
        sizes = [_size_of(part, dim) for dim in range(tensor_type(part).rank)]
        offsets = [start if dim == along else 0 for dim in range(len(sizes))]
        found.append(part_range(op.results[0], offsets, sizes))
        start = _add([start, sizes[along]])
    return found


def _sum_of(number: Number) -> _Sum:
    """As far as an index is made of sizes and constants."""
    if isinstance(number, dict):
        return number
    if not isinstance(number, ir.Value):
        return {(): number} if number else {}
    op = ir.defining_op(number)
    if op is not None and op.name == "arith.constant":
        return _sum_of(ir.IntegerAttr(op.attributes["value"]).value)
    if op is not None and op.name in ("arith.addi", "arith.muli"):
        a, b = (_sum_of(operand) for operand in op.operands)
        return _add([a, b]) if op.name == "arith.addi" else _multiply(a, b)
    if op is not None and op.name == "tensor.dim":
        dim = _sum_of(op.operands[1])
        if all(not atoms for atoms in dim):
            return _size_of(op.operands[0], sum(dim.values()))
    return {((hash(number), _ITSELF),): 1}


def _size_of(tensor: ir.Value, dim: int) -> _Sum:
    """A tensor's size, by that of the tensor that it is made like."""
    shape = tensor_type(tensor).shape
    if shape[dim] != DYNAMIC:
        return _sum_of(shape[dim])
    op = ir.defining_op(tensor)
    if op is not None and op.name in ("tensor.empty", "flow.tensor.alloca"):
        return _sum_of(op.operands[list(shape[:dim]).count(DYNAMIC)])
    if op is not None and op.name == "tensor.insert_slice":
        return _size_of(op.operands[1], dim)
    if op is not None and op.name == "tensor.concat":
        along = ir.IntegerAttr(op.attributes["dim"]).value == dim
        return _add(_size_of(part, dim) for part in list(op.operands)[: None if along else 1])
    if op is not None and op.name.startswith("linalg."):
        init = len(op.operands) - len(op.results) + ir.result_number(tensor)
        return _size_of(op.operands[init], dim)
    return {((hash(tensor), dim),): 1}


def _add(numbers: Iterable[_Sum]) -> _Sum:
    found: _Sum = {}
    for number in numbers:
        for atoms, count in number.items():
            found[atoms] = found.get(atoms, 0) + count
    return {atoms: count for atoms, count in found.items() if count}


def _multiply(a: _Sum, b: _Sum) -> _Sum:
    if not a or not b:
        return {}
    return _add({tuple(sorted(x + y)): m * n} for x, m in a.items() for y, n in b.items())


def _is_at_most(a: _Sum, b: _Sum) -> bool:
    """Whether that is so whatever the sizes are; other values may be negative."""
    left = _add([b, _multiply(a, {(): -1})])
    return all(
        count > 0 and all(dim != _ITSELF for _, dim in atoms) for atoms, count in left.items()
    )
