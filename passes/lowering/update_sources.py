"""What is computed to be inserted into a tensor, and who reads that tensor meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects.generic import GENERIC, is_parallel, maps_of
from ...dialects.mlir import (
    AffineMap,
    DenseI64ArrayAttr,
    Operation,
    Value,
    address_of,
    defining_op,
)
from ...dialects.tensor import DYNAMIC, VIEWS
from .later_readers import LaterReaders, Use, all_operands, computed_by

# Their results are where they are, or come by a copy: no dispatch writes them.
_NOT_DISPATCHED = (
    *("arith.constant", "tensor.empty", "tensor.insert_slice"),
    *("flow.tensor.alloca", "flow.tensor.transfer", "util.global.load"),
)
# What IREE may put into one dispatch with what uses it.
_ELEMENTWISE = ("arith.", "math.")
_FUSED = (*_ELEMENTWISE, "linalg.", "iree_linalg_ext.", "tensor.")


@dataclass(frozen=True)
class Window:
    """A part of a tensor, as ``extract_slice`` and ``insert_slice`` name it.

    Offsets, sizes and strides, a number or a value each.
    """

    offsets: tuple[int | Value, ...]
    sizes: tuple[int | Value, ...]
    strides: tuple[int | Value, ...]

    @classmethod
    def of(cls, op: Operation) -> Window:
        names = ("offsets", "sizes", "strides")
        static = [list(DenseI64ArrayAttr(op.attributes[f"static_{n}"])) for n in names]
        count = sum(values.count(DYNAMIC) for values in static)
        dynamic = iter(list(op.operands)[len(op.operands) - count :])
        found = [tuple(next(dynamic) if v == DYNAMIC else v for v in values) for values in static]
        return cls(*found)

    def is_same(self, other: Window) -> bool:
        mine = (*self.offsets, *self.sizes, *self.strides)
        others = (*other.offsets, *other.sizes, *other.strides)
        return all(_is_same(a, b) for a, b in zip(mine, others, strict=True))

    def is_apart(self, other: Window) -> bool:
        """Whether the two are known to have no element in common."""
        dims = zip(
            *(self.offsets, self.sizes, self.strides),
            *(other.offsets, other.sizes, other.strides),
            strict=True,
        )
        for dim in dims:
            if any(isinstance(number, Value) for number in dim):
                continue
            a, count, step, b, other_count, other_step = (int(n) for n in dim if isinstance(n, int))
            if a + (count - 1) * step < b or b + (other_count - 1) * other_step < a:
                return True
        return False


def _is_same(a: int | Value, b: int | Value) -> bool:
    if isinstance(a, Value) or isinstance(b, Value):
        return isinstance(a, Value) and isinstance(b, Value) and a == b
    return a == b


class UpdateSource:
    """What a ``tensor.insert_slice`` inserts, and how it was made."""

    def __init__(self, update: Operation, readers: LaterReaders) -> None:
        self._update = update
        self._readers = readers
        self._window = Window.of(update)

    def clashing_reader(self) -> Operation | None:
        """An op that may read, of the tensor that is updated, elements that
        have been written; None where there is none."""
        maker = self._maker()
        target = Use(self._update, 1)
        root = self._readers.written_root(target.value)
        if maker is None or root is None:
            return None
        readers = [use for use in self._readers.readers(root) if not use.same_as(target)]
        readers = [use for use in readers if not self._is_apart(use)]
        if not readers:
            return None
        fused = _fused(maker)
        done, _ = computed_by(all_operands(maker))
        for use in readers:
            reader = self._readers.top(use.op)
            if use.op == self._update or address_of(reader) in fused:
                pointwise = use.op != self._update and fused[address_of(reader)]
                if not (pointwise and self._is_read_where_written(use)):
                    return reader
            elif address_of(reader) not in done and self._may_be_between(maker, reader):
                return reader
        return None

    def _may_be_between(self, maker: Operation, reader: Operation) -> bool:
        """Whether a reader may run after ``maker`` and before the update."""
        if maker.block != self._update.block:
            return True
        return reader.block == self._update.block and reader.is_before_in_block(self._update)

    def _maker(self) -> Operation | None:
        """The op, in a dispatch, that makes what is inserted."""
        value = self._update.operands[0]
        op = defining_op(value)
        while op is not None and op.name in VIEWS:
            op = defining_op(op.operands[0])
        return None if op is None or op.name in _NOT_DISPATCHED else op

    def _part(self, use: Use) -> tuple[Value, Window] | None:
        """The tensor, and which part of it, that a reader reads; None where it reads all."""
        op = defining_op(use.value)
        while op is not None and op.name in VIEWS:
            op = defining_op(op.operands[0])
        if op is None or op.name != "tensor.extract_slice":
            return None
        return op.operands[0], Window.of(op)

    def _is_apart(self, use: Use) -> bool:
        part = self._part(use)
        return (
            part is not None
            and part[0] == self._update.operands[1]
            and part[1].is_apart(self._window)
        )

    def _is_read_where_written(self, use: Use) -> bool:
        """Whether a reader's element i is the one that element i of what is inserted goes to."""
        op = defining_op(use.value)
        return (
            op is not None
            and op.name == "tensor.extract_slice"
            and op.operands[0] == self._update.operands[1]
            and Window.of(op).is_same(self._window)
            and _is_identity(use.op, use.index)
        )


def _fused(maker: Operation) -> dict[int, bool]:
    """Addresses of the ops that may be in one dispatch with ``maker``, each with
    whether element i of what ``maker`` makes is computed of its element i alone.

    A part of what has other users too is taken from memory.
    """
    found: dict[int, bool] = {}
    pending = [(maker, True)]
    while pending:
        op, pointwise = pending.pop()
        pointwise = pointwise and _is_pointwise(op)
        known = found.get(address_of(op))
        if known is not None and (known == pointwise or not known):
            continue
        found[address_of(op)] = pointwise
        if not op.name.startswith(_FUSED) or _is_part_of_shared(op):
            continue
        for index, operand in enumerate(op.operands):
            source = defining_op(operand)
            if source is None or source.name in _NOT_DISPATCHED:
                continue
            if source.name.startswith(_FUSED):
                pending.append((source, pointwise and _is_identity(op, index)))
    return found


def _is_part_of_shared(op: Operation) -> bool:
    return op.name == "tensor.extract_slice" and len(list(op.operands[0].uses)) > 1


def _is_pointwise(op: Operation) -> bool:
    """Whether an op makes element i of its result in its step i."""
    if op.name == GENERIC:
        return is_parallel(op) and _is_identity(op, len(op.operands) - 1)
    return op.name.startswith(_ELEMENTWISE)


def _is_identity(op: Operation, index: int) -> bool:
    """Whether an op reads, or writes, element i of an operand in its step i."""
    if op.name != GENERIC:
        return op.name.startswith(_ELEMENTWISE)
    map_ = maps_of(op)[index]
    with op.context:
        return map_ == AffineMap.get_identity(map_.n_dims)
