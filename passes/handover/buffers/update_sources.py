"""What is computed to be inserted into a tensor, and who reads that tensor meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ....dialects import ir
from ....dialects.op_traits import VIEWS
from ....dialects.upstream.generic import GENERIC, is_parallel, maps_of
from ....dialects.upstream.tensor import DYNAMIC
from .later_readers import LaterReaders, Use, computed_by

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

    offsets: tuple[int | ir.Value, ...]
    sizes: tuple[int | ir.Value, ...]
    strides: tuple[int | ir.Value, ...]

    @classmethod
    def of(cls, op: ir.Operation) -> Window:
        names = ("offsets", "sizes", "strides")
        static = [list(ir.DenseI64ArrayAttr(op.attributes[f"static_{n}"])) for n in names]
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
            if any(isinstance(number, ir.Value) for number in dim):
                continue
            a, count, step, b, other_count, other_step = (int(n) for n in dim if isinstance(n, int))
            if a + (count - 1) * step < b or b + (other_count - 1) * other_step < a:
                return True
        return False


def _is_same(a: int | ir.Value, b: int | ir.Value) -> bool:
    if isinstance(a, ir.Value) or isinstance(b, ir.Value):
        return isinstance(a, ir.Value) and isinstance(b, ir.Value) and a == b
    return a == b


@dataclass(frozen=True)
class _Read:
    """A use of a tensor in a buffer, and which windows of the buffer were written since.

    ``tensor`` is what they are windows of; None for one of a tensor of another shape.
    """

    use: Use
    tensor: ir.Value
    written: tuple[Window | None, ...]


class UpdateSources:
    """What the ``tensor.insert_slice`` ops of one function insert, and who reads meanwhile.

    The function must not change between two questions.
    """

    def __init__(self, readers: LaterReaders) -> None:
        self._readers = readers
        self._reads: dict[ir.Value, list[_Read]] = {}

    def clashing_reader(self, update: ir.Operation) -> ir.Operation | None:
        """An op that may read, of the tensor that is updated, elements that
        have been written; None where there is none.

        IREE computes what is inserted right in the tensor where it can. All
        that was inserted before comes before that then.
        """
        producer = _producer(update)
        if producer is None:
            return None
        window = Window.of(update)
        reads = [r for r in self._reads_of(update) if not _is_apart(r, (*r.written, window))]
        if not reads:
            return None
        fused = _fused(producer)
        done, _ = computed_by(ir.all_operands(producer))
        for read in reads:
            reader = self._readers.top(read.use.op)
            if read.use.op == update:
                return reader
            if ir.address_of(reader) in fused:
                in_place = _is_read_where_written(read, window) and _is_apart(read, read.written)
                if not (in_place and fused[ir.address_of(reader)]):
                    return reader
            elif ir.address_of(reader) not in done and _may_be_between(reader, producer, update):
                return reader
        return None

    def _reads_of(self, update: ir.Operation) -> list[_Read]:
        """The reads of what the target of ``update`` is, or was before other updates."""
        chain: list[ir.Operation] = []
        before: ir.Operation | None = update
        while before is not None and before.operands[1] not in self._reads:
            chain.append(before)
            before = self._update_before(before)
        for each in reversed(chain):
            self._reads[each.operands[1]] = self._all_reads(each)
        target = Use(update, 1)
        return [read for read in self._reads[update.operands[1]] if not read.use.same_as(target)]

    def _all_reads(self, update: ir.Operation) -> list[_Read]:
        target = update.operands[1]
        root = self._readers.written_root(target)
        if root is None:
            return []
        found = [_Read(use, target, ()) for use in self._readers.readers(root)]
        before = self._update_before(update)
        if before is None:
            return found
        # A view has windows of its own.
        window = Window.of(before) if root == target else None
        return found + [
            replace(read, written=(*read.written, window))
            for read in self._reads[before.operands[1]]
            if not read.use.same_as(Use(before, 1))
        ]

    def _update_before(self, update: ir.Operation) -> ir.Operation | None:
        """The update whose result ``update`` goes on from."""
        root = self._readers.written_root(update.operands[1])
        op = None if root is None else ir.defining_op(root)
        return op if op is not None and op.name == "tensor.insert_slice" else None


def _producer(update: ir.Operation) -> ir.Operation | None:
    """The op, in a dispatch, that makes what is inserted."""
    op = ir.producer_behind(update.operands[0], VIEWS)
    return None if op is None or op.name in _NOT_DISPATCHED else op


def _may_be_between(reader: ir.Operation, producer: ir.Operation, update: ir.Operation) -> bool:
    """Whether a reader may run after ``producer`` and before the update."""
    if producer.block != update.block:
        return True
    return reader.block == update.block and reader.is_before_in_block(update)


def _is_apart(read: _Read, windows: Sequence[Window | None]) -> bool:
    """Whether nothing that is read is in one of the windows."""
    op = ir.producer_behind(read.use.value, VIEWS)
    if op is None or op.name != "tensor.extract_slice" or op.operands[0] != read.tensor:
        return not windows
    part = Window.of(op)
    return all(window is not None and part.is_apart(window) for window in windows)


def _is_read_where_written(read: _Read, window: Window) -> bool:
    """Whether a reader's element i is the one that element i of what is inserted goes to."""
    op = ir.defining_op(read.use.value)
    return (
        op is not None
        and op.name == "tensor.extract_slice"
        and op.operands[0] == read.tensor
        and None not in read.written
        and Window.of(op).is_same(window)
        and _is_identity(read.use.op, read.use.index)
    )


def _fused(producer: ir.Operation) -> dict[int, bool]:
    """Addresses of the ops that may be in one dispatch with ``producer``, each with
    whether element i of what ``producer`` makes is computed of its element i alone.

    A part of what has other users too is taken from memory.
    """
    found: dict[int, bool] = {}
    pending = [(producer, True)]
    while pending:
        op, pointwise = pending.pop()
        pointwise = pointwise and _is_pointwise(op)
        known = found.get(ir.address_of(op))
        if known is not None and (known == pointwise or not known):
            continue
        found[ir.address_of(op)] = pointwise
        if not op.name.startswith(_FUSED) or _is_part_of_shared(op):
            continue
        for index, operand in enumerate(op.operands):
            source = ir.defining_op(operand)
            if source is None or source.name in _NOT_DISPATCHED:
                continue
            if source.name.startswith(_FUSED):
                pending.append((source, pointwise and _is_identity(op, index)))
    return found


def _is_part_of_shared(op: ir.Operation) -> bool:
    return op.name == "tensor.extract_slice" and len(list(op.operands[0].uses)) > 1


def _is_pointwise(op: ir.Operation) -> bool:
    """Whether an op makes element i of its result in its step i."""
    if op.name == GENERIC:
        return is_parallel(op) and _is_identity(op, len(op.operands) - 1)
    return op.name.startswith(_ELEMENTWISE)


def _is_identity(op: ir.Operation, index: int) -> bool:
    """Whether an op reads, or writes, element i of an operand in its step i."""
    if op.name != GENERIC:
        return op.name.startswith(_ELEMENTWISE)
    map_ = maps_of(op)[index]
    with op.context:
        return map_ == ir.AffineMap.get_identity(map_.n_dims)
