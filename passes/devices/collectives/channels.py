"""The channels of a program: made once, when it is loaded."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import ir
from ....dialects.iree.flow import (
    build_initializer,
    channel_rank,
    channel_type,
    declare_global,
    default_channel,
    load_global,
    split_channel,
    store_global,
)
from ....dialects.upstream.linalg import TensorBuilder

Groups = tuple[tuple[int, ...], ...]

_PREFIX = "__headrace_channel"


def lookup(b: TensorBuilder, table: Sequence[int], index: ir.Value) -> ir.Value:
    """``table[index]`` as an index, by comparing with each position."""
    scalars = b.scalars()
    # The most frequent value needs no comparison; the first of them, to be deterministic.
    common = max(dict.fromkeys(table), key=list(table).count)
    found = b.index(common)
    for position, value in enumerate(table):
        if value != common:
            here = scalars.compare("eq", index, position)
            found = scalars.select(here, b.index(value), found)
    return found


class Channels:
    """Hands out channels at the entry of functions, and declares them at last.

    Rank r of the default channel is device r. A channel of a sub-group is the
    default one split by a colour and a key that are looked up by rank.
    """

    def __init__(self, module: ir.Operation, devices: int) -> None:
        self._module = module
        self._devices = devices
        self._names: dict[Groups, str] = {}
        self._loaded: dict[tuple[int, Groups], ir.Value] = {}
        self._ranks: dict[int, ir.Value] = {}

    @property
    def world(self) -> Groups:
        """The one group of all devices."""
        return (tuple(range(self._devices)),)

    def entry(self, function: ir.Operation) -> TensorBuilder:
        """The place before everything in a function."""
        block = function.regions[0].blocks[0]
        return TensorBuilder(ir.InsertionPoint.at_block_begin(block), function.location)

    def channel(self, function: ir.Operation, groups: Groups) -> ir.Value:
        """The channel of this device's group among ``groups``."""
        key = (ir.address_of(function), groups)
        if key not in self._loaded:
            names = self._names
            number = len(names)
            names.setdefault(groups, _PREFIX if groups == self.world else f"{_PREFIX}_{number}")
            b = self.entry(function)
            self._loaded[key] = load_global(b, names[groups], channel_type(b.loc.context))
        return self._loaded[key]

    def rank(self, function: ir.Operation) -> ir.Value:
        """This device's id, as an index."""
        key = ir.address_of(function)
        if key not in self._ranks:
            channel = self.channel(function, self.world)
            self._ranks[key] = channel_rank(self.after(channel), channel)
        return self._ranks[key]

    @staticmethod
    def after(value: ir.Value) -> TensorBuilder:
        """The place right after the op that makes ``value``."""
        op = ir.defining_op(value)
        assert op is not None
        return TensorBuilder(ir.InsertionPoint.after(op), op.location)

    def declare(self) -> None:
        """Adds the globals and the initializer, if any channel was asked for."""
        if not self._names:
            return
        ip = ir.InsertionPoint.at_block_begin(self._module.regions[0].blocks[0])
        loc = self._module.location
        for name in self._names.values():
            declare_global(name, channel_type(self._module.context), loc=loc, ip=ip)
        build_initializer(self._initialize, loc=loc, ip=ip)

    def _initialize(self, b: TensorBuilder) -> None:
        default = default_channel(b)
        rank: ir.Value | None = None
        for groups, name in self._names.items():
            channel = default
            if groups != self.world:
                rank = channel_rank(b, default) if rank is None else rank
                colors, keys = [0] * self._devices, [0] * self._devices
                for color, group in enumerate(groups):
                    for key, device in enumerate(group):
                        colors[device], keys[device] = color, key
                channel = split_channel(b, default, lookup(b, colors, rank), lookup(b, keys, rank))
            store_global(b, channel, name)
