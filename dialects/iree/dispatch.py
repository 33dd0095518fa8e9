"""Reads and rebuilds ``flow.dispatch.region``.

A region has no arguments: it reads values from outside as they are. Its
results are what its ``flow.return`` yields. Its operands are the sizes of
dynamic results, in result order, then the workload. A second region, empty as
a rule, computes the workgroup count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .. import ir

DISPATCH_REGION = "flow.dispatch.region"
RETURN = "flow.return"
_SEGMENTS = "operandSegmentSizes"


@dataclass(frozen=True)
class Output:
    """One result: what is yielded for it, its type, its dynamic sizes in order."""

    yielded: ir.Value
    type: ir.Type
    sizes: tuple[ir.Value, ...] = ()


def create_region(
    types: Sequence[ir.Type],
    sizes: Sequence[ir.Value] = (),
    workload: Sequence[ir.Value] = (),
    attributes: Mapping[str, ir.Attribute] | None = None,
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> ir.Operation:
    """A region with results of these types, ``sizes`` those of their dynamic
    dimensions; both its bodies are still without blocks."""
    with loc.context:
        segments = ir.DenseI32ArrayAttr.get([len(sizes), len(workload)])
    return ir.Operation.create(
        DISPATCH_REGION,
        results=list(types),
        operands=[*sizes, *workload],
        attributes={**(attributes or {}), _SEGMENTS: segments},
        regions=2,
        loc=loc,
        ip=ip,
    )


@dataclass(frozen=True)
class DispatchRegion:
    """A view on a ``flow.dispatch.region`` whose body is one block."""

    op: ir.Operation

    @classmethod
    def of(cls, op: ir.Operation) -> DispatchRegion | None:
        """The view; None for other ops and for a body with several blocks."""
        if op.name != DISPATCH_REGION or len(op.regions[0].blocks) != 1:
            return None
        return cls(op)

    @property
    def body(self) -> ir.Block:
        return self.op.regions[0].blocks[0]

    @property
    def terminator(self) -> ir.Operation:
        return self.body.operations[-1].operation

    @property
    def has_count(self) -> bool:
        """Whether the region computes a workgroup count of its own."""
        return len(self.op.regions[1].blocks) > 0

    def outputs(self) -> list[Output]:
        """The results, in order."""
        sizes = iter(list(self.op.operands)[: self._size_count()])
        return [
            Output(yielded, result.type, tuple(next(sizes) for _ in range(_dynamic(result.type))))
            for yielded, result in zip(self.terminator.operands, self.op.results, strict=True)
        ]

    def with_outputs(
        self,
        outputs: Sequence[Output],
        kept: Mapping[int, int],
        attributes: Mapping[str, ir.Attribute],
    ) -> DispatchRegion:
        """Moves the body to a new op with other results, right before the old one.

        ``kept`` maps indices of old results to those of the new results that
        take their place. ``attributes`` are set besides the old ones. The old
        op is left without a body: the caller erases it once nothing uses it.
        """
        old, terminator = self.op, self.terminator
        sizes = [size for output in outputs for size in output.sizes]
        workload = list(old.operands)[self._size_count() :]
        new = create_region(
            [output.type for output in outputs],
            sizes,
            workload,
            {**{n: old.attributes[n] for n in old.attributes}, **attributes},
            loc=old.location,
            ip=ir.InsertionPoint(old),
        )
        ir.Operation.create(
            RETURN,
            operands=[output.yielded for output in outputs],
            loc=terminator.location,
            ip=ir.InsertionPoint(terminator),
        )
        terminator.erase()
        for source, target in zip(old.regions, new.regions, strict=True):
            for block in list(source.blocks):
                block.append_to(target)
        for index, place in kept.items():
            old.results[index].replace_all_uses_with(new.results[place])
        return DispatchRegion(new)

    def _size_count(self) -> int:
        return ir.DenseI32ArrayAttr(self.op.attributes[_SEGMENTS])[0]


def _dynamic(type_: ir.Type) -> int:
    if not isinstance(type_, ir.RankedTensorType):
        return 0
    return sum(size == ir.ShapedType.get_dynamic_size() for size in type_.shape)
