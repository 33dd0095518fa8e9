"""The part of the report that is read from IREE's own phases.

Static counts of one device's program, initialisers excluded. In a program
for several devices each dispatch counts for the device that its operands
live on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ...dialects import ir
from ...dialects.ir.parsing import parse_module
from ...dialects.ops.constraints import tensor_bytes
from ...passes.analysis.trip_counts import ControlFlow, constant, stated_device
from .overlap import LoopOverlap, read_overlap

PHASES = ("flow", "stream")

_LAUNCHES = ("flow.dispatch", "flow.tensor.encode")


Count = int | None  # None where it is not known


@dataclass(frozen=True)
class Phases:
    """All of it None where nobody asked IREE for its phases."""

    dispatches: Annotated[Count, "dispatches of one device's program, initialisers excluded"] = None
    dispatches_per_run: Annotated[Count, "the same, loop trips counted"] = None
    encodes: Annotated[Count, "packings of a whole tensor that are no dispatch of their own"] = None
    encodes_per_run: Annotated[Count, "the same, loop trips counted"] = None
    launches: Annotated[Count, "the sum of both"] = None
    launches_per_run: Annotated[Count, "the same, loop trips counted"] = None
    bytes_written: Annotated[Count, "what these write, padding of an encoding not counted"] = None
    bytes_written_per_run: Annotated[Count, "the same, loop trips counted"] = None
    transient_bytes: Annotated[Count, "largest sum of transient buffers alive at once"] = None
    overlap: Annotated[
        list[LoopOverlap] | None,
        "per loop what runs at once, see [pipelining.md](pipelining.md)",
    ] = None


def read_phases(phases: dict[str, str]) -> Phases:
    """Dispatch counts and bytes from ``flow``, transients and overlap from ``stream``."""
    context = ir.make_context()
    flow = parse_module(phases["flow"], "flow", context)
    stream = parse_module(phases["stream"], "stream", context)
    return Phases(
        **_read_flow(flow),
        transient_bytes=_read_transients(stream),
        overlap=read_overlap(stream, _functions(stream)),
    )


_FLOW_KEYS = ("dispatches", "encodes", "launches", "bytes_written")


def _functions(module: ir.Operation) -> list[ir.Operation]:
    return [
        op
        for op in ir.operations_of(module.regions[0].blocks[0])
        if op.name in ("util.func", "func.func") and len(op.regions[0].blocks)
    ]


def _read_flow(module: ir.Operation) -> dict[str, int | None]:
    static: dict[str, int | None] = dict.fromkeys(_FLOW_KEYS, 0)
    per_run: dict[str, int | None] = dict.fromkeys(_FLOW_KEYS, 0)
    for function in _functions(module):
        blocks = list(function.regions[0].blocks)
        flow = ControlFlow(blocks)
        devices = _Devices(blocks)
        for index, block in enumerate(blocks):
            for op in ir.operations_of(block):
                if op.name not in _LAUNCHES or devices.of(op) not in (None, 0):
                    continue
                kind = "dispatches" if op.name == "flow.dispatch" else "encodes"
                written = _result_bytes(op)
                for name, amount in ((kind, 1), ("launches", 1), ("bytes_written", written)):
                    static[name] = _add(static[name], amount, 1)
                    per_run[name] = _add(per_run[name], amount, flow.trips(index))
    return {**static, **{f"{key}_per_run": value for key, value in per_run.items()}}


def _add(total: int | None, amount: int | None, times: int | None) -> int | None:
    if total is None or amount is None or times is None:
        return None
    return total + amount * times


def _result_bytes(op: ir.Operation) -> int | None:
    """Logical size of what the op writes; padding of an encoding not counted."""
    total: int | None = 0
    for result in op.results:
        if isinstance(result.type, ir.RankedTensorType):
            total = _add(total, tensor_bytes(result.type), 1)
    return total


class _Devices:
    """Which device each tensor lives on, as imports and transfers say.

    Facts flow along operands to results and into block arguments, until
    nothing changes; then back from users to what only constants feed.
    """

    def __init__(self, blocks: list[ir.Block]) -> None:
        self._known: dict[ir.Value, int] = {}
        self._ops = [op for block in blocks for op in ir.operations_of(block)]
        while self._forward():
            pass
        self._backward()

    def of(self, op: ir.Operation) -> int | None:
        """The device an op runs on; None if all devices share it."""
        for value in (*op.results, *op.operands):
            if value in self._known:
                return self._known[value]
        return None

    def _learn(self, value: ir.Value, device: int) -> bool:
        if value in self._known or not isinstance(value.type, ir.RankedTensorType):
            return False
        self._known[value] = device
        return True

    def _forward(self) -> bool:
        changed = False
        for op in self._ops:
            if len(op.successors):
                changed |= self._into_blocks(op)
                continue
            device = stated_device(op)
            if device is None:
                device = next((self._known[v] for v in op.operands if v in self._known), None)
            if device is not None:
                for result in op.results:
                    changed |= self._learn(result, device)
        return changed

    def _into_blocks(self, terminator: ir.Operation) -> bool:
        changed = False
        arguments = [a for block in terminator.successors for a in block.arguments]
        operands = list(terminator.operands)[-len(arguments) :] if arguments else []
        for operand, argument in zip(operands, arguments, strict=True):
            if operand in self._known:
                changed |= self._learn(argument, self._known[operand])
        return changed

    def _backward(self) -> None:
        for op in reversed(self._ops):
            if op.name == "flow.tensor.transfer" or len(op.successors):
                continue
            device = stated_device(op)
            if device is None:
                device = next((self._known[v] for v in op.results if v in self._known), None)
            if device is not None:
                for operand in op.operands:
                    self._learn(operand, device)


def _read_transients(module: ir.Operation) -> int | None:
    """The largest sum of transients alive at once, in program order."""
    largest = 0
    for function in _functions(module):
        alive = 0
        for block in function.regions[0].blocks:
            for op in ir.operations_of(block):
                sign = {"stream.resource.alloca": 1, "stream.resource.dealloca": -1}.get(op.name)
                if sign is None or stated_device(op) not in (None, 0):
                    continue
                resource = op.results[0] if sign == 1 else op.operands[0]
                if str(resource.type) != "!stream.resource<transient>":
                    continue
                size = constant(_size_operand(op))
                if size is None:
                    return None
                alive += sign * size
                largest = max(largest, alive)
    return largest


def _size_operand(op: ir.Operation) -> ir.Value:
    return next(v for v in op.operands if str(v.type) == "index")
