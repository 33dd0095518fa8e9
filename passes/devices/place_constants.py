"""Gives each device its own constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.flow import AFFINITY, declare_constant, load_global, transfer_to
from ...dialects.op_traits import MADE_OF_SCALARS, SCF_BRANCHES, VIEWS
from ...dialects.upstream.linalg import TensorBuilder
from ..base import Pass

# Written part by part in one buffer, which has to be some device's (quirks.UPDATE_ON_NO_DEVICE).
_IN_PLACE = ("tensor.insert_slice", "tensor.concat")


@dataclass(frozen=True)
class PlaceConstants(Pass):
    """Give each device its own constants.

    For programs for several devices. IREE runs an op on the devices of
    its operands, a constant's included: one constant for all devices makes each
    of its users an op of all devices (quirks.CONSTANT_OF_ALL_DEVICES), which runs
    on the first one.

    Constants become globals, one for each device, which takes no copies at
    run time. What is computed of no constant but numbers alone (an iota, say)
    and not within its one user is sent to each device. What is put together of
    several such parts is put together on each device, as IREE fails otherwise.

    Before::

        %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
        %0 = linalg.add ins(%a, %c) ...  // %a is on @dev0
        %1 = linalg.add ins(%b, %c) ...  // %b is on @dev1

    After::

        %c0 = util.global.load @constant_0_dev0 : tensor<2xf32>
        %c1 = util.global.load @constant_1_dev1 : tensor<2xf32>
        %0 = linalg.add ins(%a, %c0) ...
        %1 = linalg.add ins(%b, %c1) ...
    """

    name: ClassVar[str] = "place-constants"

    def run(self, module: ir.Operation) -> None:
        placer = _Placer(module)
        for function in ir.functions_of(module):
            placer.place(function)


class _Placer:
    """``_devices`` holds the device of each tensor that is on a certain one."""

    def __init__(self, module: ir.Operation) -> None:
        top = ir.operations_of(module.regions[0].blocks[0])
        self._first = top[0] if top else module
        self._taken = {str(op.attributes["sym_name"]) for op in top if "sym_name" in op.attributes}
        self._globals: dict[tuple[ir.Attribute, ir.Attribute], str] = {}
        self._devices: dict[ir.Value, ir.Attribute] = {}
        self._copies: dict[tuple[ir.Value, ir.Attribute], ir.Value] = {}
        self._anywhere: set[ir.Value] = set()
        self._of_constants: set[ir.Value] = set()

    def place(self, function: ir.Operation) -> None:
        if not len(function.regions[0].blocks):
            return
        for op in ir.walk(function):
            self._classify(op)
        arguments = function.regions[0].blocks[0].arguments
        for argument, given in zip(arguments, ir.argument_attributes(function), strict=True):
            if AFFINITY in given:
                self._devices[argument] = given[AFFINITY]
        for block in function.regions[0].blocks:
            self._block(block)

    def _classify(self, op: ir.Operation) -> None:
        """Notes what IREE makes anew for each user, and what comes from a
        constant that it does not."""
        if op.name == "arith.constant":
            values = op.attributes["value"]
            of_constants = not isinstance(values, ir.DenseElementsAttr) or not values.is_splat
            anywhere = not of_constants
        else:
            of_constants = op.name in _IN_PLACE or any(v in self._of_constants for v in op.operands)
            anywhere = op.name in MADE_OF_SCALARS or (
                op.name in VIEWS and op.operands[0] in self._anywhere
            )
        for result in op.results:
            if anywhere:
                self._anywhere.add(result)
            if of_constants and isinstance(result.type, ir.RankedTensorType):
                self._of_constants.add(result)

    def _block(self, block: ir.Block) -> None:
        for op in ir.operations_of(block):
            if op.name == "flow.tensor.transfer":
                device = op.attributes["target"]
                if op.operands[0] in self._of_constants:
                    self._read_on(op, device)
                self._note(op, device)
            elif op.name.startswith("scf."):
                self._control_flow(op)
            elif op.name != "func.return":
                self._compute(op)

    def _control_flow(self, op: ir.Operation) -> None:
        """What is carried stays on the device that it starts on."""
        carried = list(op.operands)[3:] if op.name == "scf.for" else list(op.operands)
        for region in op.regions:
            for block in region.blocks:
                arguments = list(block.arguments)
                if op.name == "scf.for":
                    self._same_devices(carried, arguments[1:])
                elif op.name == "scf.while":
                    self._same_devices(carried, arguments)
                self._block(block)
                last = ir.operations_of(block)[-1]
                if last.name == "scf.condition":
                    carried = list(last.operands)[1:]
                elif op.name in SCF_BRANCHES:
                    carried = list(last.operands)
        if len(op.results):
            self._same_devices(carried, list(op.results))

    def _same_devices(self, sources: Sequence[ir.Value], targets: Sequence[ir.Value]) -> None:
        for source, target in zip(sources, targets, strict=True):
            if source in self._devices:
                self._devices[target] = self._devices[source]

    def _compute(self, op: ir.Operation) -> None:
        ops = ir.walk(op)
        inputs = [v for each in ops for v in each.operands if v in self._devices]
        if not inputs:
            return
        device = self._devices[inputs[0]]
        self._read_all_on(ops, device)
        self._note(op, device)

    def _read_all_on(self, ops: Sequence[ir.Operation], device: ir.Attribute) -> None:
        """For an op and those in it: what is made in it is there already."""
        for inner in ops[1:]:
            self._note(inner, device)
        for each in ops:
            self._read_on(each, device)

    def _read_on(self, op: ir.Operation, device: ir.Attribute) -> None:
        for index, operand in enumerate(op.operands):
            if self._is_shared(operand, op):
                op.operands[index] = self._on(operand, device)

    def _is_shared(self, value: ir.Value, user: ir.Operation) -> bool:
        """Whether devices need copies of it for a user."""
        if not isinstance(value.type, ir.RankedTensorType) or value in self._devices:
            return False
        op = ir.defining_op(value)
        return not (
            op is None
            or value in self._anywhere
            or (op.name.startswith("linalg.") and not _read(op) and _is_elementwise(user))
        )

    def _note(self, op: ir.Operation, device: ir.Attribute) -> None:
        for result in op.results:
            if isinstance(result.type, ir.RankedTensorType):
                self._devices[result] = device

    def _on(self, value: ir.Value, device: ir.Attribute) -> ir.Value:
        """The device's copy of ``value``; what it is cloned from comes first."""
        pending = [value]
        while pending:
            last = pending[-1]
            needed = self._sources(last) if (last, device) not in self._copies else []
            missing = [v for v in needed if (v, device) not in self._copies]
            pending.extend(missing)
            if not missing:
                pending.pop()
                if (last, device) not in self._copies:
                    self._copy(last, device)
        return self._copies[value, device]

    def _sources(self, value: ir.Value) -> list[ir.Value]:
        """What must be on the device for a clone of the op that gives ``value``."""
        op = ir.defining_op(value)
        assert op is not None
        if not self._is_cloned(op):
            return []
        ops = ir.walk(op)
        made = {result for inner in ops[1:] for result in inner.results}
        return [
            v for each in ops for v in each.operands if v not in made and self._is_shared(v, each)
        ]

    def _is_cloned(self, op: ir.Operation) -> bool:
        if op.name == "arith.constant" or op.name.startswith("scf."):
            return False
        return op.name in VIEWS or _is_broadcast(op) or op.results[0] in self._of_constants

    def _copy(self, value: ir.Value, device: ir.Attribute) -> None:
        op = ir.defining_op(value)
        assert op is not None
        b = TensorBuilder(ir.InsertionPoint.after(op), op.location)
        if op.name == "arith.constant":
            name = self._global(op.attributes["value"], device)
            self._copies[value, device] = load_global(b, name, value.type)
        elif self._is_cloned(op):
            clone = op.clone(ip=b.ip).operation
            self._read_all_on(ir.walk(clone), device)
            for old, new in zip(op.results, clone.results, strict=True):
                self._copies[old, device] = new
        else:
            self._copies[value, device] = _transfer(b, value, device)
        self._devices[self._copies[value, device]] = device

    def _global(self, values: ir.Attribute, device: ir.Attribute) -> str:
        if (values, device) not in self._globals:
            name = f"constant_{len(self._globals)}_{_device_name(device)}"
            while f'"{name}"' in self._taken:
                name += "_"
            self._taken.add(f'"{name}"')
            ip, loc = ir.InsertionPoint(self._first), self._first.location
            declare_constant(name, values, device, loc=loc, ip=ip)
            self._globals[values, device] = name
        return self._globals[values, device]


def _device_name(device: ir.Attribute) -> str:
    """``dev0`` of ``#hal.device.promise<@dev0>``."""
    return str(device).partition("@")[2].partition(">")[0]


def _transfer(b: TensorBuilder, value: ir.Value, device: ir.Attribute) -> ir.Value:
    """``value`` on a device. IREE cannot transfer i1, which it keeps in bytes."""
    type_ = ir.RankedTensorType(value.type).element_type
    if str(type_) != "i1":
        return transfer_to(b, value, device)
    i8 = ir.IntegerType.get_signless(8, type_.context)
    wide = b.elementwise(value, [], i8, lambda s, values: s.convert("extui", values[0], i8))
    sent = transfer_to(b, wide, device)
    return b.elementwise(sent, [], type_, lambda s, values: s.convert("trunci", values[0], type_))


def _read(op: ir.Operation) -> list[ir.Value]:
    """The tensors that an op reads, not those it only writes over."""
    operands = list(op.operands)
    if op.name.startswith("linalg.") and "operandSegmentSizes" in op.attributes:
        operands = operands[: ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]]
    return [v for v in operands if isinstance(v.type, ir.RankedTensorType)]


def _is_elementwise(op: ir.Operation) -> bool:
    """Whether IREE puts what makes an operand out of nothing into the op."""
    kinds = op.attributes.get("iterator_types", None)
    return kinds is not None and "reduction" not in str(kinds)


def _is_broadcast(op: ir.Operation) -> bool:
    """Whether all that a linalg op reads has fewer elements than what it makes."""
    if not op.name.startswith("linalg."):
        return False
    read = [_elements(v) for v in _read(op)]
    return len(read) > 0 and max(read) < _elements(op.results[0])


def _elements(value: ir.Value) -> int:
    """Number of elements, a dynamic size taken as one."""
    return prod(max(size, 1) for size in ir.RankedTensorType(value.type).shape)
