"""Collectives on flow channels.

Channels work along dimension 0 alone; other dimensions are brought there,
with one transpose before or after, none for dimension 0 itself.

An all_gather is an all_to_all of repeated shards, which receives the same
bytes: flow.collective.all_gather writes past its buffer (quirks.ALL_GATHER_COUNT),
and IREE's HIP driver passes a host address as its source.
"""

from __future__ import annotations

from collections.abc import Callable

from ....dialects import ir
from ....dialects.headrace import CollectiveOp
from ....dialects.iree.flow import collective
from ....dialects.ops.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectivePermuteOp,
    ReduceScatterOp,
)
from ....dialects.upstream.linalg import TensorBuilder, tensor_type
from ....dialects.upstream.tensor import (
    DYNAMIC,
    merge_dims,
    prepend_unit_dim,
    repeat,
    slice_along,
    split_dim,
    transpose,
    with_sizes,
)
from .channel_elements import Wire, movement_wire, reduction_wire
from .channels import Channels, Groups, lookup
from .reductions import check_reducible, reduce_elementwise


def lower_on_channel(op: CollectiveOp, function: ir.Operation, channels: Channels) -> ir.Value:
    """The result of ``op``, made by collectives of the flow dialect.

    What is done to the operand and the collective come before ``op``; what is
    done to what arrives (rounding, transposing) comes before its first user:
    IREE schedules by order, and right behind the collective it would keep that
    from running beside the matmul that follows.

    Raises HeadraceError for dynamic shapes, fp8 reductions, and element types
    that no channel carries.
    """
    element = tensor_type(op.operands[0]).element_type
    if DYNAMIC in tensor_type(op.operands[0]).shape:
        raise ir.error_at(op, f"'{op.name}' of a dynamic shape: channels need static ones")
    check_reducible(op)
    wire = movement_wire(element)
    if wire is None:
        raise ir.error_at(op, f"'{op.name}' of {element}: no channel carries this element type")
    lowering = _Lowering(op, function, channels, wire)
    # A group of one has it all. That of a permute may still give zeros.
    if lowering.n == 1 and op.names_every_device:
        return op.operands[0]
    return CHANNEL_LOWERINGS[type(op)](lowering)


class _Lowering:
    def __init__(
        self, op: CollectiveOp, function: ir.Operation, channels: Channels, wire: Wire
    ) -> None:
        self.op = op
        self.input = op.operands[0]
        self.element: ir.Type = tensor_type(self.input).element_type
        self.function = function
        self.channels = channels
        self.wire = wire
        self.b = TensorBuilder(ir.InsertionPoint(op), op.location)
        self.after = TensorBuilder(ir.InsertionPoint(_first_user(op.operation)), op.location)
        self.groups: Groups = tuple(tuple(group) for group in op.groups)
        self.n = op.group_size

    def moved(self, value: ir.Value, move: Callable[[ir.Value], ir.Value]) -> ir.Value:
        """What ``move`` makes of ``value`` in the type that travels."""
        moved = move(self.wire.wrap(self.b, value))
        return self.wire.unwrap(self.after, moved, self.element)

    def run(
        self, kind: str, value: ir.Value, rows: int, wire: Wire, reduction: str | None = None
    ) -> ir.Value:
        """One collective; its result has ``rows`` in dimension 0."""
        return collective(
            self.b,
            kind,
            value,
            with_sizes(value.type, {0: rows}),
            self.channels.channel(self.function, self.groups),
            element=wire.element,
            reduction=reduction,
        )

    def all_gather(self) -> ir.Value:
        dim = self.op.dims["dim"]
        return self.moved(self.input, lambda value: self.joined(self.gathered(value), dim))

    def gathered(self, value: ir.Value) -> ir.Value:
        """The values of the group along dimension 0."""
        parts = merge_dims(self.b, repeat(self.b, value, self.n), 0)
        return self.run("all_to_all", parts, self.n * _rows(value), self.wire)

    def all_to_all(self) -> ir.Value:
        dims = self.op.dims

        def exchange(value: ir.Value) -> ir.Value:
            parted = self.parted(value, dims["split_dim"])
            received = self.run("all_to_all", parted, _rows(parted), self.wire)
            return self.joined(received, dims["concat_dim"])

        return self.moved(self.input, exchange)

    def joined(self, parts: ir.Value, dim: int) -> ir.Value:
        """The n parts that lie along dimension 0 joined along ``dim`` instead."""
        if dim == 0:
            return parts
        parts = split_dim(self.after, parts, 0, self.n)
        rank = tensor_type(parts).rank
        order = [*range(1, dim + 1), 0, *range(dim + 1, rank)]
        return merge_dims(self.after, transpose(self.after, parts, order), dim)

    def parted(self, value: ir.Value, dim: int) -> ir.Value:
        """The n parts of a value along ``dim``, laid along dimension 0 instead."""
        if dim == 0:
            return value
        parts = split_dim(self.b, value, dim, self.n)
        order = [dim, *(d for d in range(tensor_type(parts).rank) if d != dim)]
        return merge_dims(self.b, transpose(self.b, parts, order), 0)

    def all_reduce(self) -> ir.Value:
        reduction = AllReduceOp(self.op.operation).reduction.value
        found = reduction_wire(self.element, reduction)
        if found is not None:
            wire, name = found
            value = wire.wrap(self.b, self.input)
            # Rank 0 has no dimension 0.
            shape = tensor_type(value).shape
            rows = shape[0] if shape else 1
            reduced = self.run("all_reduce", value, rows, wire, name)
            return wire.unwrap(self.after, reduced, self.element)
        # No channel does it: gather, then reduce here.
        value = prepend_unit_dim(self.b, self.input)
        gathered = self.moved(value, self.gathered)
        rows = [slice_along(self.after, gathered, 0, i, 1) for i in range(self.n)]
        return self.after.drop_unit_dims(reduce_elementwise(self.after, rows, reduction), [0])

    def reduce_scatter(self) -> ir.Value:
        view = ReduceScatterOp(self.op.operation)
        reduction = view.reduction.value
        found = reduction_wire(self.element, reduction)
        value = self.parted(self.input, view.dim.value)
        rows = _rows(value) // self.n
        if found is not None:
            wire, name = found
            reduced = self.run("reduce_scatter", wire.wrap(self.b, value), rows, wire, name)
            return wire.unwrap(self.after, reduced, self.element)
        value = self.moved(
            value, lambda parts: self.run("all_to_all", parts, self.n * rows, self.wire)
        )
        parts = [slice_along(self.after, value, 0, i * rows, rows) for i in range(self.n)]
        return reduce_elementwise(self.after, parts, reduction)

    def permute(self) -> ir.Value:
        return self.moved(self.input, self.sent)

    def sent(self, value: ir.Value) -> ir.Value:
        """What a device receives by the pairs of a permute."""
        pairs = CollectivePermuteOp(self.op.operation).pairs
        source_of = {pair[1]: pair[0] for pair in pairs}
        target_of = {pair[0]: pair[1] for pair in pairs}
        devices = self.channels.world[0]
        if all(source_of.get(device) == device for device in devices):
            return value
        rank = self.channels.rank(self.function)
        entry = self.channels.after(rank)
        send = lookup(entry, [target_of.get(device, -1) for device in devices], rank)
        receive = lookup(entry, [source_of.get(device, -1) for device in devices], rank)
        # Who receives nothing gets zeros: the runtime's rule, and StableHLO's.
        return collective(
            self.b,
            "send_recv",
            value,
            tensor_type(value),
            self.channels.channel(self.function, self.channels.world),
            element=self.wire.element,
            ranks=(send, receive),
        )


CHANNEL_LOWERINGS: dict[type[CollectiveOp], Callable[[_Lowering], ir.Value]] = {
    AllGatherOp: _Lowering.all_gather,
    AllReduceOp: _Lowering.all_reduce,
    ReduceScatterOp: _Lowering.reduce_scatter,
    AllToAllOp: _Lowering.all_to_all,
    CollectivePermuteOp: _Lowering.permute,
}


def _rows(value: ir.Value) -> int:
    return tensor_type(value).shape[0]


def _first_user(op: ir.Operation) -> ir.Operation:
    """The first op in the block of ``op`` that reads its result; ``op`` if none does."""
    first: ir.Operation | None = None
    for use in op.results[0].uses:
        user: ir.Operation = use.owner.operation
        while user.block != op.block:
            parent = user.parent
            assert parent is not None, "the result of a collective crosses blocks"
            user = parent.operation
        if first is None or user.is_before_in_block(first):
            first = user
    return first or op
