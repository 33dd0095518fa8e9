"""Replication analysis: which devices hold the same bits in a value.

Demand-driven: a query solves the backward slice of its value as an
optimistic fixed point (start from "all equal", refine), so that loop-carried
values are seen as equal unless something makes them differ. Each value is
solved once. The rules follow XLA's HloReplicationAnalysis in spirit: anything
that is not known to be pure arithmetic is taken to differ everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from ...dialects import ir
from ...dialects.device_counts import DeviceCounts
from ...dialects.headrace import DEVICE_IDS, ReplicaIdOp, as_collective, is_collective
from ...dialects.op_traits import BRANCHES, CARRYING_LOOPS, is_pure_itself
from ...dialects.ops.device_tables import highest_device_id
from .device_classes import (
    Classes,
    agree,
    all_different,
    all_equal,
    classes_of_keys,
    meet,
    sharding_classes,
)

# Each device has its own.
_DEVICE_IDS = ("stablehlo.partition_id", "stablehlo.replica_id")
# Equal of equal operands, though they are not to be merged or left out.
_DETERMINED = ("stablehlo.optimization_barrier", "stablehlo.rng_bit_generator")


@dataclass(frozen=True)
class _Rule:
    """How a value's classes follow from those of the values it depends on."""

    sources: tuple[ir.Value, ...]
    # From the meet of all sources to the result.
    transfer: Callable[[Classes], Classes]
    origin: str = ""  # what to blame when this is where devices part


class ReplicationAnalysis:
    """Answers for the module as it is, and for ops added to it later.

    Whoever erases an op tells it with ``forget``: another op may get its
    address.
    """

    def __init__(self, module: ir.Operation) -> None:
        counts = DeviceCounts.of(module, "headrace")
        self._partitions, self._replicas = _device_counts(module, counts)
        self.devices = self._partitions * self._replicas
        # Else there may be more devices than any collective names.
        self.states_devices = counts.are_stated
        self._equal = all_equal(self.devices)
        self._different = all_different(self.devices)
        self._solved: dict[ir.Value, Classes] = {}
        self._functions: dict[str, ir.Operation] = {}
        self._calls: dict[str, list[ir.Operation]] = {}
        self._returns: dict[str, list[ir.Operation]] = {}
        self._index_functions(module)

    def equal_over(self, value: ir.Value, groups: Sequence[Sequence[int]]) -> bool:
        """Whether ``value`` is proved equal, bit for bit, inside each group."""
        return agree(self.classes(value), groups)

    def classes(self, value: ir.Value) -> Classes:
        """For each device id its class; devices in one class hold the same."""
        if value not in self._solved:
            self._solve(value)
        return self._solved[value]

    def why_unequal(self, value: ir.Value, groups: Sequence[Sequence[int]]) -> str:
        """Where the devices of a group part, for a value that is not equal."""
        seen = {value}
        while True:
            rule = self._rule(value)
            if rule.origin and ir.defining_op(value) is not None:
                return rule.origin  # a collective, whose groups are to blame
            unequal = [s for s in rule.sources if s not in seen and not self.equal_over(s, groups)]
            if not unequal:
                return rule.origin or _name_of(value)
            value = unequal[0]
            seen.add(value)

    def forget(self, op: ir.Operation) -> None:
        """Call before ``op`` is erased."""
        for nested in ir.walk(op):
            arguments = [a for block in ir.blocks_of(nested) for a in block.arguments]
            for value in (*nested.results, *arguments):
                self._solved.pop(value, None)

    def _index_functions(self, module: ir.Operation) -> None:
        for op in ir.walk(module, bodies=False):
            if op.name == "func.func":
                self._functions[ir.StringAttr(op.attributes["sym_name"]).value] = op
            elif op.name == "func.call":
                self._calls.setdefault(_callee(op), []).append(op)
            elif op.name == "func.return":
                parent = op.parent
                if parent is not None and parent.operation.name == "func.func":
                    name = ir.StringAttr(parent.attributes["sym_name"]).value
                    self._returns.setdefault(name, []).append(op)

    def _solve(self, value: ir.Value) -> None:
        rules: dict[ir.Value, _Rule] = {}
        pending = [value]
        while pending:
            current = pending.pop()
            if current in rules or current in self._solved:
                continue
            rules[current] = self._rule(current)
            pending.extend(rules[current].sources)
        users: dict[ir.Value, list[ir.Value]] = {}
        for user, rule in rules.items():
            for source in rule.sources:
                users.setdefault(source, []).append(user)
        state = dict.fromkeys(rules, self._equal)
        # Deepest first, so that straight-line code is visited once.
        work = dict.fromkeys(reversed(rules))
        while work:
            current = next(iter(work))
            del work[current]
            rule = rules[current]
            found = (state[s] if s in state else self._solved[s] for s in rule.sources)
            new = meet(state[current], rule.transfer(reduce(meet, found, self._equal)))
            if new != state[current]:
                state[current] = new
                work.update(dict.fromkeys(users.get(current, ())))
        self._solved.update(state)

    # Rules: one per kind of value.

    def _rule(self, value: ir.Value) -> _Rule:
        if isinstance(value.owner, ir.Block):
            return self._argument_rule(ir.BlockArgument(value))
        result = ir.OpResult(value)
        op = result.owner.operation
        name, number = op.name, result.result_number
        if name.startswith("headrace."):
            return self._headrace_rule(op)
        if name == "func.call":
            return self._call_rule(op, number)
        if name in CARRYING_LOOPS:
            return self._same(*_carried(op, number), *_loop_controls(op))
        if name == "scf.while":
            condition = _terminator(op.regions[0].blocks[0])
            return self._same(condition.operands[number + 1], condition.operands[0])
        if name in BRANCHES:
            ends = [_terminator(block) for block in ir.blocks_of(op)]
            return self._same(op.operands[0], *(end.operands[number] for end in ends))
        if _is_determined(op):
            ends = [_terminator(block) for block in ir.blocks_of(op)]
            return self._same(*op.operands, *(v for end in ends for v in end.operands))
        return self._unknown(f"the result of {name}")

    def _same(self, *sources: ir.Value) -> _Rule:
        return _Rule(sources, lambda classes: classes)

    def _unknown(self, origin: str) -> _Rule:
        return _Rule((), lambda _: self._different, origin)

    def _headrace_rule(self, op: ir.Operation) -> _Rule:
        origin = f"the result of {op.name}"
        if op.name in DEVICE_IDS:
            is_replica = op.name == ReplicaIdOp.OPERATION_NAME
            ids = (divmod(d, self._partitions)[0 if is_replica else 1] for d in range(self.devices))
            classes = classes_of_keys(ids)
            return _Rule((), lambda _: classes, origin)
        if is_collective(op):
            contents = as_collective(op).contents
            return _Rule((op.operands[0],), lambda found: classes_of_keys(contents(found)), origin)
        return self._same(*op.operands)

    def _call_rule(self, op: ir.Operation, number: int) -> _Rule:
        ends = self._returns.get(_callee(op))
        if not ends:
            return self._unknown(f"the result of a call of @{_callee(op)}")
        return self._same(*(end.operands[number] for end in ends))

    def _argument_rule(self, argument: ir.BlockArgument) -> _Rule:
        block, number = argument.owner, argument.arg_number
        parent = block.owner.operation
        name = parent.name
        if name == "func.func" and block == parent.regions[0].blocks[0]:
            return self._parameter_rule(parent, number)
        if name == "stablehlo.while":
            return self._same(*_carried(parent, number), *_loop_controls(parent))
        if name == "scf.for":
            carried = _carried(parent, number - 1) if number else ()
            return self._same(*carried, *_loop_controls(parent))
        if name == "scf.while":
            before, after = (region.blocks[0] for region in parent.regions)
            condition = _terminator(before)
            if block == after:
                return self._same(condition.operands[number + 1], condition.operands[0])
            carried = _terminator(after).operands[number]
            return self._same(parent.operands[number], carried, condition.operands[0])
        if _is_determined(parent):
            return self._same(*parent.operands)
        return self._unknown(f"a block argument of {name}")

    def _parameter_rule(self, function: ir.Operation, number: int) -> _Rule:
        name = ir.StringAttr(function.attributes["sym_name"]).value
        calls = self._calls.get(name, [])
        sources = [call.operands[number] for call in calls]
        if calls and not ir.is_public(function):
            return self._same(*sources)
        sharding = _sharding(function, number)
        type_ = function.regions[0].blocks[0].arguments[number].type
        rank = len(type_.shape) if isinstance(type_, ir.RankedTensorType) else 0
        if sharding is None:
            return self._unknown(f"argument {number} of @{name}, which has no sharding")
        own = sharding_classes(sharding, rank, self._partitions)
        # A sharding speaks of partitions; each replica has its own data.
        classes = classes_of_keys(
            (d // self._partitions, own[d % self._partitions]) for d in range(self.devices)
        )
        origin = f"argument {number} of @{name}, whose sharding is {sharding}"
        return _Rule(tuple(sources), lambda found: meet(found, classes), origin)


def _is_determined(op: ir.Operation) -> bool:
    """Whether its results follow from its operands, and from what its regions capture."""
    return op.name in _DETERMINED or (is_pure_itself(op) and op.name not in _DEVICE_IDS)


def _device_counts(module: ir.Operation, stated: DeviceCounts) -> tuple[int, int]:
    """Partitions and replicas; where none are stated, as many partitions as the
    collectives and shardings speak of."""
    partitions, replicas = stated.partitions or 0, stated.replicas or 0
    if partitions < 1 and replicas > 1:
        # Then each replica is one device, and holds its own data.
        partitions = 1
    if partitions < 1:
        partitions = highest_device_id(filter(is_collective, ir.walk(module, bodies=False))) + 1
    return partitions, max(1, replicas)


def _carried(op: ir.Operation, number: int) -> tuple[ir.Value, ir.Value]:
    """The initial and the yielded value of a loop's carried value."""
    skip, body = (3, 0) if op.name == "scf.for" else (0, 1)
    end = _terminator(op.regions[body].blocks[0])
    return op.operands[number + skip], end.operands[number]


def _loop_controls(op: ir.Operation) -> list[ir.Value]:
    """What decides the trip count: if devices differ there, the values they
    carry do not correspond either."""
    if op.name == "scf.for":
        return list(op.operands)[:3]
    return [_terminator(op.regions[0].blocks[0]).operands[0]]


def _terminator(block: ir.Block) -> ir.Operation:
    return block.operations[-1].operation


def _callee(call: ir.Operation) -> str:
    return ir.FlatSymbolRefAttr(call.attributes["callee"]).value


def _sharding(function: ir.Operation, number: int) -> str | None:
    if "arg_attrs" not in function.attributes:
        return None
    attributes = ir.DictAttr(ir.ArrayAttr(function.attributes["arg_attrs"])[number])
    if "headrace.sharding" not in attributes:
        return None
    return ir.StringAttr(attributes["headrace.sharding"]).value


def _name_of(value: ir.Value) -> str:
    owner = value.owner
    if isinstance(owner, ir.Block):
        return "a block argument"
    return f"the result of {owner.operation.name}"
