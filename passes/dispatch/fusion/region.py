"""Rewrites a dispatch region so that it yields packed values."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.iree.dispatch import DispatchRegion, Output
from ....dialects.ops.constraints import tensor_bytes
from ....dialects.upstream.linalg import DYNAMIC, tensor_type
from .encoding_sources import Source
from .hoisting import Hoister
from .known_sizes import Size, sizes_after, sizes_of
from .region_yields import encoding_key, value_key

FUSED = "headrace.fused_encodings"


@dataclass(frozen=True)
class Fusion:
    """An encoding that goes into the region of its source."""

    encode: ir.Operation
    source: Source


@dataclass(frozen=True)
class FusedValue:
    """What the fusion of one value's encodings brought, per run of its region.

    ``bytes_added``: what the region stores more than before, None where a
    size is dynamic.
    """

    value: str
    launches_saved: int
    bytes_added: int | None


def fused_values(region: ir.Operation) -> list[FusedValue]:
    """What ``fuse-encodings`` noted on a region; none where it did nothing."""
    if FUSED not in region.attributes:
        return []
    found: list[FusedValue] = []
    for attribute in ir.ArrayAttr(region.attributes[FUSED]):
        entry = ir.DictAttr(attribute)
        added = ir.IntegerAttr(entry["bytes_added"]).value if "bytes_added" in entry else None
        launches = ir.IntegerAttr(entry["launches_saved"]).value
        found.append(FusedValue(str(ir.TypeAttr(entry["value"]).value), launches, added))
    return found


def fuse(fusions: Sequence[Fusion], hoister: Hoister) -> DispatchRegion:
    """Fuses encodings of one region's results; what they need stands before it.

    The new region's results are those old ones that still have users, then
    the packed ones, each in their order. An encoding that the region yields
    already is not yielded again.
    """
    region = fusions[0].source.region
    dead = _dead_ops(fusions)
    going = {ir.address_of(op) for op in dead}
    kept: dict[int, int] = {}
    outputs: list[Output] = []
    for index, output in enumerate(region.outputs()):
        if _is_used_outside(region.op.results[index], going):
            kept[index] = len(outputs)
            outputs.append(output)
    known: dict[Hashable, int] = {value_key(o.yielded): i for i, o in enumerate(outputs)}
    body = _Body(region, hoister)
    places: list[int] = []
    added: list[int] = []
    for index, fusion in enumerate(fusions):
        source = body.reshaped(fusion.source)
        place = known.setdefault(encoding_key(fusion.encode, source), len(outputs))
        if place == len(outputs):
            outputs.append(body.encoded(fusion.encode, source))
            added.append(index)
        places.append(place)
    record = _record(region, fusions, kept, added)
    new = region.with_outputs(outputs, kept, {FUSED: record})
    for fusion, place in zip(fusions, places, strict=True):
        fusion.encode.results[0].replace_all_uses_with(new.op.results[place])
    for op in dead:
        op.erase()
    hoister.replace(region.op, new.op)
    region.op.erase()
    return new


def _dead_ops(fusions: Sequence[Fusion]) -> list[ir.Operation]:
    """The encodings, then the reshapes that nothing else uses, users first."""
    dead = [fusion.encode for fusion in fusions]
    found = {ir.address_of(op) for op in dead}
    for fusion in fusions:
        for step in reversed(fusion.source.steps):
            if ir.address_of(step) not in found and not _is_used_outside(step.results[0], found):
                found.add(ir.address_of(step))
                dead.append(step)
    return dead


def _is_used_outside(value: ir.Value, dead: Collection[int]) -> bool:
    return any(ir.address_of(use.owner) not in dead for use in value.uses)


class _Body:
    """Clones what is outside of a region into it, each op once."""

    def __init__(self, region: DispatchRegion, hoister: Hoister) -> None:
        self._ip = ir.InsertionPoint(region.terminator)
        self._sizes: dict[ir.Value, list[Size]] = {}
        self._inside: dict[ir.Value, ir.Value] = {}
        self._builder = hoister.builder_before(region.op)
        for result, output in zip(region.op.results, region.outputs(), strict=True):
            self._inside[result] = output.yielded
            self._sizes[output.yielded] = sizes_of(output.type, output.sizes)

    def reshaped(self, source: Source) -> ir.Value:
        """The value that an encoding of ``source`` packs, as the body sees it."""
        for step in source.steps:
            outer, result = step.operands[0], step.results[0]
            if result in self._inside:
                continue
            clone = self._clone(step, self._inside[outer])
            sizes = self._sizes[self._inside[outer]]
            self._inside[result] = clone
            self._sizes[clone] = sizes_after(step, sizes, self._builder)
        return self._inside[source.steps[-1].results[0] if source.steps else source.output]

    def encoded(self, encode: ir.Operation, source: ir.Value) -> Output:
        """A clone of an encoding, as an output."""
        clone = self._clone(encode, source)
        shape = tensor_type(clone).shape
        dynamic = (
            self._builder.index(size) if isinstance(size, int) else size
            for size, dim in zip(self._sizes[source], shape, strict=True)
            if dim == DYNAMIC
        )
        return Output(clone, clone.type, tuple(dynamic))

    def _clone(self, op: ir.Operation, source: ir.Value) -> ir.Value:
        clone = op.clone(ip=self._ip).operation
        clone.operands[0] = source
        return clone.results[0]


def _record(
    region: DispatchRegion, fusions: Sequence[Fusion], kept: Collection[int], added: Collection[int]
) -> ir.ArrayAttr:
    """One entry per packed value; ``added``: which fusions give a new result."""
    launches: dict[int, int] = {}
    stored: dict[int, list[int | None]] = {}
    for index, fusion in enumerate(fusions):
        result = fusion.source.result
        launches[result] = launches.get(result, 0) + 1
        sizes = stored.setdefault(result, [])
        if index in added:
            sizes.append(tensor_bytes(fusion.encode.results[0].type))
    entries: list[ir.Attribute] = []
    if FUSED in region.op.attributes:
        before = region.op.attributes[FUSED]
        entries += list(before) if isinstance(before, ir.ArrayAttr) else []
    with region.op.context:
        i64 = ir.IntegerType.get_signless(64)
        for result, sizes in stored.items():
            type_ = region.op.results[result].type
            entry: dict[str, ir.Attribute] = {
                "launches_saved": ir.IntegerAttr.get(i64, launches[result]),
                "value": ir.TypeAttr.get(type_),
            }
            plain = tensor_bytes(type_)
            known = [size for size in sizes if size is not None]
            if plain is not None and len(known) == len(sizes):
                total = sum(known) - (0 if result in kept else plain)
                entry["bytes_added"] = ir.IntegerAttr.get(i64, total)
            entries.append(ir.DictAttr.get(entry))
        return ir.ArrayAttr.get(entries)
