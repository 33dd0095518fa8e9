"""Reads and builds ``scf.for``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .. import ir
from .arith import Scalars

_UNSIGNED = "unsignedCmp"


@dataclass(frozen=True)
class ForLoop:
    """A view of one ``scf.for`` op; the bounds are of an integer type or index."""

    op: ir.Operation

    @property
    def lower(self) -> ir.Value:
        return self.op.operands[0]

    @property
    def upper(self) -> ir.Value:
        return self.op.operands[1]

    @property
    def step(self) -> ir.Value:
        return self.op.operands[2]

    @property
    def inits(self) -> list[ir.Value]:
        return list(self.op.operands)[3:]

    @property
    def body(self) -> ir.Block:
        return self.op.regions[0].blocks[0]

    @property
    def index(self) -> ir.Value:
        return self.body.arguments[0]

    @property
    def carried(self) -> list[ir.Value]:
        """The block arguments that carry values from trip to trip."""
        arguments: list[ir.Value] = [*self.body.arguments]
        return arguments[1:]

    @property
    def terminator(self) -> ir.Operation:
        return ir.operations_of(self.body)[-1]

    @property
    def yields(self) -> list[ir.Value]:
        return list(self.terminator.operands)

    def body_ops(self) -> list[ir.Operation]:
        """The ops of the body without its terminator."""
        return ir.operations_of(self.body)[:-1]

    @property
    def unsigned(self) -> bool:
        """Whether the index is compared with the upper bound as unsigned."""
        return _UNSIGNED in self.op.attributes

    @property
    def attributes(self) -> dict[str, ir.Attribute]:
        """All attributes, for a loop that takes the place of this one."""
        return dict(self.op.attributes.items())

    @property
    def index_width(self) -> int:
        """Bits of the index; 64 for the type ``index``."""
        type_ = self.index.type
        return type_.width if isinstance(type_, ir.IntegerType) else 64

    def trips(self) -> int | None:
        """How often the body runs; None where a bound is no constant.

        None, too, for a constant step that is not positive: what such a loop
        does is undefined.
        """
        lower, upper, step = (constant_value(v) for v in (self.lower, self.upper, self.step))
        if lower is None or upper is None or step is None:
            return None
        if self.unsigned:
            size = 1 << self.index_width
            lower, upper, step = lower % size, upper % size, step % size
        # Not len(range(...)), which cannot count so far.
        return max(0, -((lower - upper) // step)) if step > 0 else None


def constant_value(value: ir.Value) -> int | None:
    """The integer of an ``arith.constant``; None for any other value."""
    op = ir.defining_op(value)
    if op is None or op.name != "arith.constant":
        return None
    attribute = op.attributes["value"]
    return attribute.value if isinstance(attribute, ir.IntegerAttr) else None


def index_at(loop: ForLoop, trip: int | ir.Value, ip: ir.InsertionPoint) -> ir.Value:
    """The index of a trip counted from 0, ``lower + trip * step``, at ``ip``.

    The iteration as a value is of the index's type. A constant where all of it is.
    """
    scalars = Scalars(ip, loop.op.location)
    lower, step = constant_value(loop.lower), constant_value(loop.step)
    if isinstance(trip, int):
        if lower is not None and step is not None:
            return scalars.constant(lower + trip * step, loop.lower.type)
        trip = scalars.constant(trip, loop.lower.type)
    if step != 1:
        trip = scalars.binary("muli", trip, loop.step)
    return scalars.binary("addi", loop.lower, trip)


def last_index(loop: ForLoop, trips: int | ir.Value, ip: ir.InsertionPoint) -> ir.Value:
    """The index of the last of at least one iteration."""
    if isinstance(trips, int):
        return index_at(loop, trips - 1, ip)
    return index_at(loop, Scalars(ip, loop.op.location).binary("subi", trips, 1), ip)


def trips_before(loop: ForLoop, index: ir.Value, scalars: Scalars) -> ir.Value:
    """How many iterations came before the one of ``index``, in the index's type.

    Exact when read as unsigned: a loop may span more than a signed number can
    hold.
    """
    done = index
    if constant_value(loop.lower) != 0:
        done = scalars.binary("subi", done, loop.lower)
    if constant_value(loop.step) != 1:
        done = scalars.binary("divui", done, loop.step)
    return done


def build_for(
    lower: ir.Value,
    upper: ir.Value,
    step: ir.Value,
    inits: Sequence[ir.Value],
    body: Callable[[ir.Value, list[ir.Value], ir.InsertionPoint], list[ir.Value]],
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
    attributes: dict[str, ir.Attribute] | None = None,
) -> ForLoop:
    """Builds an ``scf.for``.

    ``body`` gets the index, the carried values and the place to write to, and
    returns what is yielded.
    """
    loop = ir.Operation.create(
        "scf.for",
        results=[v.type for v in inits],
        operands=[lower, upper, step, *inits],
        attributes=attributes,
        regions=1,
        loc=loc,
        ip=ip,
    )
    types = [lower.type, *(v.type for v in inits)]
    block = ir.Block.create_at_start(loop.regions[0], types, [loc] * len(types))
    arguments: list[ir.Value] = [*block.arguments]
    inside = ir.InsertionPoint(block)
    yielded = body(arguments[0], arguments[1:], inside)
    ir.Operation.create("scf.yield", operands=yielded, loc=loc, ip=inside)
    return ForLoop(loop)


def build_if(
    condition: ir.Value,
    results_of: Sequence[ir.Value],
    then: Callable[[ir.InsertionPoint], list[ir.Value]],
    otherwise: Callable[[ir.InsertionPoint], list[ir.Value]],
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> ir.Operation:
    """Builds an ``scf.if`` whose results have the types of ``results_of``."""
    op = ir.Operation.create(
        "scf.if",
        results=[v.type for v in results_of],
        operands=[condition],
        regions=2,
        loc=loc,
        ip=ip,
    )
    for region, build in zip(op.regions, (then, otherwise), strict=True):
        block = ir.Block.create_at_start(region, [], [])
        inside = ir.InsertionPoint(block)
        ir.Operation.create("scf.yield", operands=build(inside), loc=loc, ip=inside)
    return op


def trip_count(loop: ForLoop, ip: ir.InsertionPoint) -> ir.Value:
    """The number of iterations as a value of the index's type, unsigned, at ``ip``.

    ``ceil((upper - lower) / step)``, or 0 where the bounds are the other way
    round. The difference of two numbers of any sign fits when it is unsigned.
    """
    scalars = Scalars(ip, loop.op.location)
    trips = loop.trips()
    if trips is not None:
        return scalars.constant(trips, loop.lower.type)
    runs = scalars.compare("ult" if loop.unsigned else "slt", loop.lower, loop.upper)
    span = scalars.binary("subi", loop.upper, loop.lower)
    count = scalars.binary("ceildivui", span, loop.step)
    return scalars.select(runs, count, scalars.constant(0, count.type))
