"""Reads and builds ``scf.for``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .arith import Scalars
from .mlir import (
    Block,
    InsertionPoint,
    IntegerAttr,
    Location,
    Operation,
    Value,
    defining_op,
    operations_of,
)


@dataclass(frozen=True)
class ForLoop:
    """A view of one ``scf.for`` op; the bounds are of an integer type or index."""

    op: Operation

    @property
    def lower(self) -> Value:
        return self.op.operands[0]

    @property
    def upper(self) -> Value:
        return self.op.operands[1]

    @property
    def step(self) -> Value:
        return self.op.operands[2]

    @property
    def inits(self) -> list[Value]:
        return list(self.op.operands)[3:]

    @property
    def body(self) -> Block:
        return self.op.regions[0].blocks[0]

    @property
    def index(self) -> Value:
        return self.body.arguments[0]

    @property
    def carried(self) -> list[Value]:
        """The block arguments that carry values from trip to trip."""
        arguments: list[Value] = [*self.body.arguments]
        return arguments[1:]

    @property
    def terminator(self) -> Operation:
        return operations_of(self.body)[-1]

    @property
    def yields(self) -> list[Value]:
        return list(self.terminator.operands)

    def body_ops(self) -> list[Operation]:
        """The ops of the body without its terminator."""
        return operations_of(self.body)[:-1]

    def trips(self) -> int | None:
        """How often the body runs; None where a bound is no constant."""
        bounds = [constant_value(v) for v in (self.lower, self.upper, self.step)]
        if None in bounds:
            return None
        lower, upper, step = (b or 0 for b in bounds)
        return len(range(lower, upper, step)) if step > 0 else None

    def is_inside(self, value: Value) -> bool:
        """Whether ``value`` is made in the loop, nested ops included."""
        owner = value.owner
        block: Block | None = owner if isinstance(owner, Block) else owner.operation.block
        while block is not None:
            if block == self.body:
                return True
            parent = block.owner.operation
            block = parent.block if parent.parent is not None else None
        return False


def constant_value(value: Value) -> int | None:
    """The integer of an ``arith.constant``; None for any other value."""
    op = defining_op(value)
    if op is None or op.name != "arith.constant":
        return None
    attribute = op.attributes["value"]
    return attribute.value if isinstance(attribute, IntegerAttr) else None


def build_for(
    lower: Value,
    upper: Value,
    step: Value,
    inits: Sequence[Value],
    body: Callable[[Value, list[Value], InsertionPoint], list[Value]],
    *,
    loc: Location,
    ip: InsertionPoint,
) -> ForLoop:
    """Builds an ``scf.for``.

    ``body`` gets the index, the carried values and the place to write to, and
    returns what is yielded.
    """
    loop = Operation.create(
        "scf.for",
        results=[v.type for v in inits],
        operands=[lower, upper, step, *inits],
        regions=1,
        loc=loc,
        ip=ip,
    )
    types = [lower.type, *(v.type for v in inits)]
    block = Block.create_at_start(loop.regions[0], types, [loc] * len(types))
    arguments: list[Value] = [*block.arguments]
    inside = InsertionPoint(block)
    yielded = body(arguments[0], arguments[1:], inside)
    Operation.create("scf.yield", operands=yielded, loc=loc, ip=inside)
    return ForLoop(loop)


def build_if(
    condition: Value,
    results_of: Sequence[Value],
    then: Callable[[InsertionPoint], list[Value]],
    otherwise: Callable[[InsertionPoint], list[Value]],
    *,
    loc: Location,
    ip: InsertionPoint,
) -> Operation:
    """Builds an ``scf.if`` whose results have the types of ``results_of``."""
    op = Operation.create(
        "scf.if",
        results=[v.type for v in results_of],
        operands=[condition],
        regions=2,
        loc=loc,
        ip=ip,
    )
    for region, build in zip(op.regions, (then, otherwise), strict=True):
        block = Block.create_at_start(region, [], [])
        inside = InsertionPoint(block)
        Operation.create("scf.yield", operands=build(inside), loc=loc, ip=inside)
    return op


def trip_count(loop: ForLoop, ip: InsertionPoint) -> Value:
    """The number of trips as a value of the index's type, at ``ip``.

    ``max(0, ceil((upper - lower) / step))``; the step of an ``scf.for`` is
    positive.
    """
    scalars = Scalars(ip, loop.op.location)
    span = scalars.binary("subi", loop.upper, loop.lower)
    count = scalars.binary("ceildivsi", span, loop.step)
    return scalars.binary("maxsi", count, 0)
