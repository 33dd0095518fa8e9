"""One function of an SPMD program, written out for each device."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import ir
from ....dialects.headrace import DEVICE_IDS, CollectiveOp, ReplicaIdOp
from ....dialects.iree.flow import AFFINITY, device_affinity, transfer
from ....dialects.op_traits import SCF_BRANCHES, SCF_CONTROL
from ....dialects.upstream.linalg import TensorBuilder
from ....dialects.upstream.tensor import splat
from ...analysis.replication import ReplicationAnalysis
from .device_collectives import lower_on_devices

# Which buffers results may share: positions in lists that are longer now.
_DROPPED = ("iree.abi.output", "tf.aliasing_output", "jax.buffer_donor")
_PINNED = ("scf.for", "scf.while", "scf.yield", "scf.condition")
# Sorts, scatters: each writes into an operand, which devices may not share.
_IN_PLACE = "iree_linalg_ext."


class Replicator:
    """Writes the program of ``devices`` devices from one SPMD function.

    ``copies`` gives for each value of the SPMD function its value on each
    device; scalars that are the same on all devices are one value.
    """

    def __init__(
        self,
        function: ir.Operation,
        devices: int,
        partitions: int,
        replication: ReplicationAnalysis,
    ) -> None:
        self._function = function
        self._devices = range(devices)
        self._partitions = partitions
        self._replication = replication
        self._merged = _around_collectives(function)
        self._placed = _placed_values(function)
        self._copies: dict[ir.Value, list[ir.Value]] = {}

    def replace(self) -> None:
        """Replaces the function. Raises HeadraceError as the pass says."""
        old = self._function
        if len(old.regions[0].blocks) != 1:
            raise ir.error_at(old, "unstructured control flow in a program for several devices")
        new = self._new_function()
        source, target = old.regions[0].blocks[0], new.regions[0].blocks[0]
        arguments = list(target.arguments)
        count = len(source.arguments)
        for index, argument in enumerate(source.arguments):
            self._copies[argument] = [arguments[d * count + index] for d in self._devices]
        self._block(source, target)
        old.erase()

    def _new_function(self) -> ir.Operation:
        old = self._function
        type_ = ir.function_type(old)
        attributes = dict(old.attributes.items())
        with old.context:
            inputs = list(type_.inputs) * len(self._devices)
            results = list(type_.results) * len(self._devices)
            attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
            given = ir.argument_attributes(old), ir.result_attributes(old)
            attributes["arg_attrs"] = self._placed_attributes(given[0], type_.inputs)
            attributes["res_attrs"] = self._placed_attributes(given[1], type_.results)
        new = ir.Operation.create(
            "func.func",
            attributes=attributes,
            regions=1,
            loc=old.location,
            ip=ir.InsertionPoint(old),
        )
        arguments = old.regions[0].blocks[0].arguments
        locations = [a.location for a in arguments] * len(self._devices)
        ir.Block.create_at_start(new.regions[0], inputs, locations)
        return new

    def _placed_attributes(
        self, given: Sequence[ir.Attributes], types: Sequence[ir.Type]
    ) -> ir.ArrayAttr:
        """Argument or result attributes per device, tensors with their device."""
        placed: list[ir.Attribute] = []
        for device in self._devices:
            affinity = device_affinity(device, self._function.context)
            for type_, attributes in zip(types, given, strict=True):
                kept = {a: value for a, value in attributes.items() if a not in _DROPPED}
                if isinstance(type_, ir.RankedTensorType):
                    kept[AFFINITY] = affinity
                placed.append(ir.DictAttr.get(kept))
        return ir.ArrayAttr.get(placed)

    def _block(self, source: ir.Block, target: ir.Block) -> None:
        """Appends what ``source`` does on all devices, terminator included."""
        ip = ir.InsertionPoint(target)
        for op in ir.operations_of(source):
            view = op.opview
            if isinstance(view, CollectiveOp):
                results = lower_on_devices(view, list(self._copies[op.operands[0]]), ip)
                self._copies[op.results[0]] = results
            elif op.name in DEVICE_IDS:
                self._copies[op.results[0]] = [self._id(op, d, ip) for d in self._devices]
            elif ir.address_of(op) in self._merged:
                self._merge(op, ip)
            elif op.name in ("func.return", "scf.yield", "scf.condition"):
                self._terminator(op, ip)
            elif self._is_shared(op):
                clone = self._clone(op, 0, ip)
                for old, new in zip(op.results, clone.results, strict=True):
                    self._copies[old] = [new for _ in self._devices]
            else:
                clones = [self._clone(op, device, ip) for device in self._devices]
                for index, old in enumerate(op.results):
                    self._copies[old] = [clone.results[index] for clone in clones]

    def _is_shared(self, op: ir.Operation) -> bool:
        """Whether one copy serves all devices: it only makes uniform scalars."""
        return len(op.results) > 0 and all(self._is_single(r) for r in op.results)

    def _is_single(self, value: ir.Value) -> bool:
        is_tensor = isinstance(value.type, ir.RankedTensorType)
        return not is_tensor and self._is_uniform(value)

    def _is_uniform(self, value: ir.Value) -> bool:
        return self._replication.equal_over(value, [self._devices])

    def _clone(self, op: ir.Operation, device: int, ip: ir.InsertionPoint) -> ir.Operation:
        clone = op.clone(ip=ip).operation
        for inner in ir.walk(clone):
            for index, operand in enumerate(inner.operands):
                copies = self._copies.get(operand)
                if copies is not None:
                    inner.operands[index] = copies[device]
        if clone.name.startswith(("scf.", _IN_PLACE)):
            self._settle(op, clone, device)
        return clone

    def _settle(self, op: ir.Operation, clone: ir.Operation, device: int) -> None:
        """In an op that was cloned for a device: puts constants for ids, and
        pins what goes around or out of loops and branches or is written to."""
        for old, new in list(zip(ir.walk(op), ir.walk(clone), strict=True)):
            ip = ir.InsertionPoint(new)
            if old.name in DEVICE_IDS:
                new.results[0].replace_all_uses_with(self._id(old, device, ip))
                new.erase()
            elif old.name in _PINNED or old.name.startswith(_IN_PLACE):
                for index, operand in enumerate(old.operands):
                    new.operands[index] = self._pin(operand, new.operands[index], device, ip)

    def _pin(self, old: ir.Value, new: ir.Value, device: int, ip: ir.InsertionPoint) -> ir.Value:
        """``new``, the device's copy of ``old``, said to be on its device.

        Equal constants of several devices are one constant after CSE; where a
        loop carries it, IREE would not know on which device the loop's value is.
        """
        if old in self._placed or not isinstance(new.type, ir.RankedTensorType):
            return new
        return transfer(TensorBuilder(ip, old.location), new, device)

    def _id(self, op: ir.Operation, device: int, ip: ir.InsertionPoint) -> ir.Value:
        """The constant that a partition_id or replica_id is on a device."""
        replica, partition = divmod(device, self._partitions)
        value = replica if op.name == ReplicaIdOp.OPERATION_NAME else partition
        return splat(TensorBuilder(ip, op.location), ir.RankedTensorType(op.results[0].type), value)

    def _carried(
        self, values: Sequence[ir.Value], singles: Sequence[bool], ip: ir.InsertionPoint
    ) -> list[ir.Value]:
        """All devices' copies, value by value; one where a single one is carried."""
        carried: list[ir.Value] = []
        for value, single in zip(values, singles, strict=True):
            copies = self._copies[value]
            if single:
                carried.append(copies[0])
            else:
                carried.extend(self._pin(value, copies[d], d, ip) for d in self._devices)
        return carried

    def _bind(
        self, values: Sequence[ir.Value], singles: Sequence[bool], new: Sequence[ir.Value]
    ) -> None:
        """The inverse of ``_carried``: ``new`` are the copies of ``values``."""
        position = 0
        for value, single in zip(values, singles, strict=True):
            width = 1 if single else len(self._devices)
            copies = list(new[position : position + width])
            self._copies[value] = copies * len(self._devices) if single else copies
            position += width

    def _singles(self, values: Sequence[ir.Value]) -> list[bool]:
        return [self._is_single(value) for value in values]

    def _terminator(self, op: ir.Operation, ip: ir.InsertionPoint) -> None:
        operands = list(op.operands)
        parent = op.parent
        assert parent is not None
        if op.name == "func.return":
            values = [
                self._pin(value, self._copies[value][device], device, ip)
                for device in self._devices
                for value in operands
            ]
        elif op.name == "scf.condition":
            after = list(parent.regions[1].blocks[0].arguments)
            values = [self._copies[operands[0]][0]]
            values += self._carried(operands[1:], self._singles(after), ip)
        elif parent.operation.name == "scf.while":
            before = list(parent.regions[0].blocks[0].arguments)
            values = self._carried(operands, self._singles(before), ip)
        else:
            values = self._carried(operands, self._singles(list(parent.results)), ip)
        ir.Operation.create(op.name, operands=values, loc=op.location, ip=ip)

    def _merge(self, op: ir.Operation, ip: ir.InsertionPoint) -> None:
        """One loop or branch for all devices."""
        operands = list(op.operands)
        results = list(op.results)
        if op.name == "scf.for":
            self._require_uniform(op, operands[:3])
            heads, carried, like = operands[:3], operands[3:], results
        elif op.name in SCF_BRANCHES:
            self._require_uniform(op, operands)
            heads, carried, like = operands, [], []
        else:
            condition = ir.operations_of(op.regions[0].blocks[0])[-1].operands[0]
            self._require_uniform(op, [condition])
            heads, carried, like = [], operands, list(op.regions[0].blocks[0].arguments)
        inputs = [self._copies[v][0] for v in heads]
        inputs += self._carried(carried, self._singles(like), ip)
        types = self._types(results, self._singles(results))
        merged = ir.Operation.create(
            op.name,
            results=types,
            operands=inputs,
            attributes=dict(op.attributes.items()),
            regions=len(op.regions),
            loc=op.location,
            ip=ip,
        )
        for source, target in zip(op.regions, merged.regions, strict=True):
            for block in source.blocks:
                self._region_block(op, block, target)
        self._bind(results, self._singles(results), list(merged.results))

    def _region_block(self, op: ir.Operation, source: ir.Block, target: ir.Region) -> None:
        arguments = list(source.arguments)
        # A loop's arguments follow its results: both are single, or neither.
        like = list(op.results) if op.name == "scf.for" else arguments
        if op.name == "scf.for":
            like = [arguments[0], *like]
        singles = self._singles(like)
        types = self._types(arguments, singles)
        block = ir.Block.create_at_start(target, types, [op.location] * len(types))
        self._bind(arguments, singles, list(block.arguments))
        self._block(source, block)

    def _types(self, values: Sequence[ir.Value], singles: Sequence[bool]) -> list[ir.Type]:
        return [
            type_
            for value, single in zip(values, singles, strict=True)
            for type_ in [value.type] * (1 if single else len(self._devices))
        ]

    def _require_uniform(self, op: ir.Operation, values: Sequence[ir.Value]) -> None:
        for value in values:
            if not self._is_uniform(value):
                what = "bounds" if op.name == "scf.for" else "condition"
                why = self._replication.why_unequal(value, [self._devices])
                raise ir.error_at(
                    op,
                    f"the {what} of '{op.name}' around a collective may differ between devices: "
                    f"it comes from {why}; mark that as replicated "
                    '(mhlo.sharding = "{replicated}") or all-reduce it first',
                )


def _around_collectives(function: ir.Operation) -> set[int]:
    """Addresses of the ops, at any depth, that have a collective in them."""
    found: set[int] = set()
    for op in ir.walk(function):
        if not isinstance(op.opview, CollectiveOp):
            continue
        for around in ir.ancestors(op):
            if around.name == "func.func" or ir.address_of(around) in found:
                break
            if around.name not in SCF_CONTROL:
                raise ir.error_at(op, f"'{op.name}' inside '{around.name}'")
            found.add(ir.address_of(around))
    return found


def _placed_values(function: ir.Operation) -> set[ir.Value]:
    """The values of a function that IREE can tell the device of.

    Those are the arguments, what loops and branches yield (the caller says
    where), and all that is computed from them; not constants and fills. The
    set is for membership only.
    """
    placed: set[ir.Value] = set(function.regions[0].blocks[0].arguments)
    for op in ir.walk(function):
        if op.name in SCF_CONTROL:
            placed.update(op.results)
            for block in ir.blocks_of(op):
                placed.update(block.arguments)
        elif any(value in placed for value in op.operands):
            placed.update(op.results)
            for around in ir.ancestors(op):
                if around.name.startswith(("scf.", "func.")):
                    break
                placed.update(around.results)
    return placed
