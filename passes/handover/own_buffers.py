"""Gives each tensor that is written piece by piece a buffer of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.flow import allocate
from ...dialects.upstream.linalg import TensorBuilder, tensor_type
from ...dialects.upstream.tensor import DYNAMIC
from ..base import Pass
from .buffers.branches import forwarded_operand
from .buffers.device_of_values import devices_of_values
from .buffers.kept_copies import insert_along, kept_copy
from .buffers.later_readers import LaterReaders, Use


@dataclass(frozen=True)
class OwnBuffers(Pass):
    """Give each tensor that is written piece by piece a buffer of its own.

    Once loops are branches. Two tensors must not be written where one value lies:

    - Equal ``tensor.empty`` ops become one in any common-subexpression
      elimination, and IREE keeps one that several devices use as a
      constant. A tensor that is put together from parts starts at an
      allocation instead, which has a side effect: two never become one.
      That is for programs for ``several`` devices.
    - What is updated in place may be read elsewhere, at a time that only the
      devices know, or on one device after the update (quirks.UPDATE_BEFORE_READER).
      See ``later_readers``: where that can happen the update gets a copy, into
      an allocation too. IREE takes its own copies away where the update stands
      last in program order.

    Before::

        %x = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
        %y = tensor.insert_slice %a into %z[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
        %s = flow.tensor.transfer %z : tensor<4xf32> to #hal.device.promise<@dev1>

    After::

        %e = flow.tensor.alloca : tensor<4xf32> {stream.affinity = #hal.device.promise<@dev0>}
        %0 = tensor.insert_slice %a into %e[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
        %x = tensor.insert_slice %b into %0[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
        %f = flow.tensor.alloca : tensor<4xf32> {stream.affinity = #hal.device.promise<@dev0>}
        %1 = tensor.extract_slice %z[0] [1] [1] : tensor<4xf32> to tensor<1xf32>
        %2 = tensor.insert_slice %1 into %f[0] [1] [1] : tensor<1xf32> into tensor<4xf32>
        %3 = tensor.extract_slice %z[1] [3] [1] : tensor<4xf32> to tensor<3xf32>
        %c = tensor.insert_slice %3 into %2[1] [3] [1] : tensor<3xf32> into tensor<4xf32>
        %y = tensor.insert_slice %a into %c[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
        %s = flow.tensor.transfer %z : tensor<4xf32> to #hal.device.promise<@dev1>
    """

    name: ClassVar[str] = "own-buffers"

    several: bool = field(default=True, metadata={"help": "the program is for several devices"})

    def run(self, module: ir.Operation) -> None:
        for function in ir.functions_of(module):
            if len(function.regions[0].blocks):
                _Function(module, function, self.several).rewrite()


class _Function:
    def __init__(self, module: ir.Operation, function: ir.Operation, several: bool) -> None:
        self._ops = [op for block in function.regions[0].blocks for op in ir.operations_of(block)]
        # On one device they only tell which transfers are none.
        transfers = several or any(op.name == "flow.tensor.transfer" for op in self._ops)
        self._devices = devices_of_values(module, function) if transfers else {}
        self._several = several
        self._readers = LaterReaders(function, self._devices)

    def rewrite(self) -> None:
        concats = [op for op in self._ops if op.name == "tensor.concat"]
        others = [op for op in self._ops if op.name != "tensor.concat"]
        if self._several:
            for concat in concats:
                self._put_together(concat)
            for op in others:
                self._start_apart(op)
        for op in others:
            for use in self._readers.exposed(op):
                self._copy(use)

    def _start_apart(self, op: ir.Operation) -> None:
        """An allocation for each empty tensor that ``op`` writes into or hands on."""
        if op.name == "tensor.insert_slice":
            self._start(Use(op, 1), self._devices.get(op.results[0]))
        elif op.name.startswith("cf."):
            for index in range(len(op.operands)):
                self._start(Use(op, index), _device_behind(op, index, self._devices))

    def _start(self, use: Use, device: ir.Attribute | None) -> None:
        """An allocation for ``use`` where it is of an empty tensor."""
        empty = _empty_behind(use.value)
        if empty is not None and device is not None:
            b = TensorBuilder(ir.InsertionPoint(use.op), use.op.location)
            made = allocate(b, use.value.type, list(empty.operands), device)
            use.op.operands[use.index] = made

    def _put_together(self, concat: ir.Operation) -> None:
        device = self._devices.get(concat.results[0])
        if device is None:
            return
        b = TensorBuilder(ir.InsertionPoint(concat), concat.location)
        parts = list(concat.operands)
        dim = ir.IntegerAttr(concat.attributes["dim"]).value
        starts: list[int | ir.Value] = [0]
        for part in parts:
            starts.append(_sum(b, starts[-1], part, dim))
        type_ = tensor_type(concat.results[0])
        sizes = [
            _as_index(b, starts[-1]) if d == dim else b.dim(parts[0], d)
            for d, size in enumerate(type_.shape)
            if size == DYNAMIC
        ]
        whole = allocate(b, type_, sizes, device)
        for part, start in zip(parts, starts, strict=False):
            whole = insert_along(b, part, whole, dim, start)
        self._devices[whole] = device
        concat.results[0].replace_all_uses_with(whole)
        concat.erase()

    def _copy(self, use: Use) -> None:
        """A copy for ``use``, made before the op that it is an operand of or that is around it."""
        value, top = use.value, self._readers.top(use.op)
        device = self._devices.get(value)
        if device is None:
            device = self._device_of_user(use, top)
        if device is not None or not self._several:
            b = TensorBuilder(ir.InsertionPoint(top), top.location)
            use.op.operands[use.index] = kept_copy(b, value, device)

    def _device_of_user(self, use: Use, top: ir.Operation) -> ir.Attribute | None:
        """Where what is on no certain device, an iota say, is written."""
        if top.name.startswith("cf."):
            return _device_behind(top, use.index, self._devices)
        return next((self._devices[r] for r in top.results if r in self._devices), None)


def _empty_behind(value: ir.Value) -> ir.Operation | None:
    """The ``tensor.empty`` that ``value`` is, or is a transfer of."""
    op = ir.producer_behind(value, ("flow.tensor.transfer",))
    return op if op is not None and op.name == "tensor.empty" else None


def _device_behind(
    branch: ir.Operation, index: int, devices: dict[ir.Value, ir.Attribute]
) -> ir.Attribute | None:
    """The device of the block argument that an operand of a branch becomes."""
    for block in branch.successors:
        for argument in block.arguments:
            if index in forwarded_operand(branch, block, argument.arg_number):
                return devices.get(argument)
    return None


def _as_index(b: TensorBuilder, number: int | ir.Value) -> ir.Value:
    return b.index(number) if isinstance(number, int) else number


def _sum(b: TensorBuilder, start: int | ir.Value, part: ir.Value, dim: int) -> int | ir.Value:
    size = tensor_type(part).shape[dim]
    if isinstance(start, int) and size != DYNAMIC:
        return start + size
    first = _as_index(b, start)
    return b.op("arith.addi", [first, b.dim(part, dim)], first.type)
