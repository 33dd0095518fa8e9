"""Counted ``scf.while`` loops as ``scf.for``."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace

from ....dialects import ir
from ....dialects.op_traits import is_pure
from ....dialects.upstream.arith import INTEGER_PREDICATES, Scalars
from ....dialects.upstream.scf import build_for
from ...remarks import remark
from ...rewriting import Miss, Pattern, Rewriter
from ..pipelining.stages import values_read
from .linear import Linear, linear

_WIDEST = 64
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


@dataclass(frozen=True)
class CountedWhile:
    """What ``while (counter + offset <relation> bound) counter += step`` was found."""

    counter: int  # position among the loop's operands
    offset: int
    relation: str  # eq, ne, lt, le, gt, ge
    signed: bool
    bound: ir.Value | int  # a value of the condition region or from outside, or a constant
    step: int
    trips: int | None


class WhileToFor(Pattern[CountedWhile]):
    """A ``scf.while`` that counts becomes a ``scf.for`` from 0 by 1.

    Before::

        %0:2 = scf.while (%i = %c10, %a = %x) : (i32, tensor<4xf32>) -> ... {
          %c = arith.cmpi sge, %i, %c1 : i32
          scf.condition(%c) %i, %a
        } do { ^bb0(%i, %a): ... %n = arith.addi %i, %c-2 : i32 ; scf.yield %n, %b }

    After::

        %0 = scf.for %k = %c0 to %c5 step %c1 iter_args(%a = %x) {
          %i = 10 - 2 * %k ... scf.yield %b
        }

    A dynamic bound is computed once, before the loop, and the count in i64.
    A loop whose counter would wrap around its type before it ends is left
    alone where that is known; for a dynamic bound it is assumed not to, as
    LLVM's loop passes do for signed counters.
    """

    roots = ("scf.while",)

    def match(self, op: ir.Operation) -> CountedWhile | Miss:
        before = op.regions[0].blocks[0]
        *condition_ops, condition = ir.operations_of(before)
        if not all(is_pure(o) for o in condition_ops):
            return Miss("the loop's condition has side effects")
        forwarded = list(condition.operands)[1:]
        if forwarded != list(before.arguments):
            return Miss("the loop's condition region computes values that the body reads")
        compare = ir.defining_op(condition.operands[0])
        if compare is None or compare.name != "arith.cmpi":
            return Miss("the loop's condition is not a comparison of integers")
        predicate = INTEGER_PREDICATES[ir.IntegerAttr(compare.attributes["predicate"]).value]
        relation, signed = predicate.lstrip("su"), not predicate.startswith("u")
        return self._counter(op, compare, relation, signed)

    def _counter(
        self, op: ir.Operation, compare: ir.Operation, relation: str, signed: bool
    ) -> CountedWhile | Miss:
        before, after = (region.blocks[0] for region in op.regions)
        yields = list(ir.operations_of(after)[-1].operands)
        left, right = compare.operands
        for counter_side, bound_side, compare_operand, seen in (
            (linear(left), linear(right), right, relation),
            (linear(right), linear(left), left, _MIRRORED[relation]),
        ):
            base = counter_side.base
            if base is None or counter_side.scale != 1:
                continue
            if not isinstance(base.owner, ir.Block) or base.owner != before:
                continue
            position = ir.BlockArgument(base).arg_number
            update = linear(yields[position])
            width = _width(base)
            step = _wrap(update.offset, width, signed=True)
            # The bindings cannot compare a value with None.
            own = update.base is not None and update.base == after.arguments[position]
            if not own or update.scale != 1 or not step:
                return Miss("the loop's counter does not advance by a constant")
            if width > _WIDEST:
                return Miss(f"the loop's counter has more than {_WIDEST} bits")
            constant = _constant_bound(op, bound_side)
            bound = compare_operand if constant is None else constant
            if isinstance(bound, ir.Value) and _bound_ops(op, bound) is None:
                return Miss("the loop's bound changes in the loop")
            found = CountedWhile(position, counter_side.offset, seen, signed, bound, step, None)
            return _with_trips(op, found, width)
        return Miss("no side of the loop's condition is a counter")

    def rewrite(self, op: ir.Operation, match: CountedWhile, rewriter: Rewriter) -> None:
        ip = rewriter.before(op)
        scalars = Scalars(ip, op.location)
        index = ir.IndexType.get(op.context)
        start = as_scalar(op.operands[match.counter], scalars)
        if match.trips is not None:
            trips = scalars.constant(match.trips, index)
        else:
            bound = _bound_before(op, match.bound, start, ip)
            trips = dynamic_trips(match, start, bound, scalars, index)
        after = op.regions[1].blocks[0]
        *ops, terminator = ir.operations_of(after)
        others = [i for i in range(len(op.operands)) if i != match.counter]

        def count(k: ir.Value, where: ir.InsertionPoint) -> ir.Value:
            return as_type_of(
                op.operands[match.counter],
                count_from(start, k, match.step, Scalars(where, op.location)),
                Scalars(where, op.location),
            )

        def body(k: ir.Value, carried: list[ir.Value], inside: ir.InsertionPoint) -> list[ir.Value]:
            values: ir.ValueMap = {after.arguments[match.counter]: count(k, inside)}
            for position, value in zip(others, carried, strict=True):
                values[after.arguments[position]] = value
            ir.clone_ops(ops, values, inside)
            return [values.get(terminator.operands[i], terminator.operands[i]) for i in others]

        zero, one = scalars.constant(0, index), scalars.constant(1, index)
        inits = [op.operands[i] for i in others]
        attributes = dict(op.attributes.items())
        loop = build_for(
            zero, trips, one, inits, body, loc=op.location, ip=ip, attributes=attributes
        )
        rewriter.created(loop.op)
        results: list[ir.Value] = list(loop.op.results)
        results.insert(match.counter, count(trips, ip))
        rewriter.replace(op, results)

    def missed(self, op: ir.Operation, miss: Miss) -> None:
        remark(op, f"loop not counted: {miss.reason}")


def _with_trips(op: ir.Operation, found: CountedWhile, width: int) -> CountedWhile | Miss:
    """The same with the trip count where that is known, or why it cannot be counted."""
    start = linear(op.operands[found.counter])
    if isinstance(found.bound, int) and start.base is None:
        first = start.offset + found.offset
        trips = static_trips(first, found.bound, found.step, found.relation, found.signed, width)
        if trips is None:
            return Miss("the loop's counter wraps around its type before the loop ends")
        return replace(found, trips=trips)
    if found.relation == "eq":
        return Miss("the loop runs while its counter equals a bound that is not known")
    if found.relation == "ne" and abs(found.step) != 1:
        return Miss("the loop's counter may step over its bound")
    if not _ends(found.relation, found.step):
        return Miss("the loop's counter moves away from its bound")
    return found


def static_trips(
    start: int, bound: int, step: int, relation: str, signed: bool, width: int
) -> int | None:
    """How often a loop with constant bounds runs; None if it wraps or never ends."""
    start, bound = _wrap(start, width, signed), _wrap(bound, width, signed)
    if relation == "eq":
        return int(start == bound)
    if relation == "ne":
        count, rest = divmod((bound - start) if step > 0 else (start - bound), abs(step))
        if rest or count < 0:
            return None
    else:
        holds = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}
        if not holds[relation](start, bound):
            return 0
        if not _ends(relation, step):
            return None
        end = bound + {"lt": 0, "le": 1, "gt": 0, "ge": -1}[relation]
        # Not len(range(...)), which cannot count so far.
        count = max(0, -((start - end) // step))
    last = start + count * step
    fits = _wrap(last, width, signed) == last and count < 1 << (_WIDEST - 1)
    return count if fits else None


def _ends(relation: str, step: int) -> bool:
    if relation in ("lt", "le"):
        return step > 0
    if relation in ("gt", "ge"):
        return step < 0
    return relation == "ne" and abs(step) == 1


def dynamic_trips(
    match: CountedWhile, start: ir.Value, bound: ir.Value, scalars: Scalars, index: ir.IndexType
) -> ir.Value:
    """The trip count as an index, computed in i64 so that it cannot wrap."""
    i64 = scalars.integer_type(64)
    if match.offset:
        start = scalars.binary("addi", start, match.offset)
    low, high = (start, bound) if match.step > 0 else (bound, start)
    if match.relation == "ne":
        # Exact even where the counter wraps: the difference modulo the width.
        span = _widen(scalars.binary("subi", high, low), i64, False, scalars)
        return scalars.convert("index_cast", span, index)
    predicate = ("s" if match.signed else "u") + match.relation
    runs = scalars.compare(predicate, start, bound)
    low, high = (_widen(v, i64, match.signed, scalars) for v in (low, high))
    span = scalars.binary("subi", high, low)
    if match.relation in ("lt", "gt"):
        count = _divide("ceildivui", span, abs(match.step), scalars)
    else:
        count = _divide("divui", span, abs(match.step), scalars)
        count = scalars.binary("addi", count, 1)
    count = scalars.select(runs, count, scalars.constant(0, i64))
    return scalars.convert("index_cast", count, index)


def _divide(name: str, value: ir.Value, by: int, scalars: Scalars) -> ir.Value:
    return value if by == 1 else scalars.binary(name, value, by)


def _widen(value: ir.Value, i64: ir.IntegerType, signed: bool, scalars: Scalars) -> ir.Value:
    if isinstance(value.type, ir.IndexType):
        return scalars.convert("index_cast", value, i64)
    return scalars.convert("extsi" if signed else "extui", value, i64)


def count_from(start: ir.Value, trips: ir.Value, step: int, scalars: Scalars) -> ir.Value:
    """``start + step * trips`` in the type of ``start``, modulo its width.

    ``trips`` is unsigned.
    """
    if step == 0:
        return start
    count = _to_type(trips, start.type, scalars)
    if step != 1:
        count = scalars.binary("muli", count, step)
    return scalars.binary("addi", start, count)


def _to_type(value: ir.Value, type_: ir.Type, scalars: Scalars) -> ir.Value:
    """An unsigned integer as index or in another width; wraps where that is narrower."""
    if value.type == type_:
        return value
    if isinstance(value.type, ir.IndexType) or isinstance(type_, ir.IndexType):
        return scalars.convert("index_castui", value, type_)
    widens = ir.IntegerType(value.type).width < ir.IntegerType(type_).width
    return scalars.convert("extui" if widens else "trunci", value, type_)


def as_scalar(value: ir.Value, scalars: Scalars) -> ir.Value:
    """The scalar in a rank-0 tensor; a scalar is itself."""
    if not isinstance(value.type, ir.RankedTensorType):
        return value
    return scalars.op("tensor.extract", [value], value.type.element_type)


def as_type_of(like: ir.Value, scalar: ir.Value, scalars: Scalars) -> ir.Value:
    """A scalar as rank-0 tensor where ``like`` is one."""
    if not isinstance(like.type, ir.RankedTensorType):
        return scalar
    return scalars.op("tensor.from_elements", [scalar], like.type)


def _constant_bound(op: ir.Operation, bound: Linear) -> int | None:
    """A bound that is a constant, or is computed from one that the loop carries along."""
    base = bound.base
    if base is None:
        return bound.offset
    before, after = (region.blocks[0] for region in op.regions)
    if not isinstance(base.owner, ir.Block) or base.owner != before:
        return None
    slot = ir.BlockArgument(base).arg_number
    start = linear(op.operands[slot])
    stays = ir.operations_of(after)[-1].operands[slot] == after.arguments[slot]
    if not stays or start.base is not None:
        return None
    return bound.scale * start.offset + bound.offset


def _bound_ops(op: ir.Operation, bound: ir.Value) -> list[ir.Operation] | None:
    """The ops of the condition region that compute a bound, in order.

    None where it is not the same in each iteration.
    """
    before, after = (region.blocks[0] for region in op.regions)
    yields = ir.operations_of(after)[-1].operands
    ops = ir.operations_of(before)
    position: dict[ir.Value, int] = {
        result: p for p, inner in enumerate(ops) for result in inner.results
    }
    found: set[int] = set()
    work = [bound]
    while work:
        value = work.pop()
        producer = position.get(value)
        if producer is not None and producer not in found:
            found.add(producer)
            work += values_read(ops[producer])
        elif isinstance(value.owner, ir.Block) and value.owner == before:
            slot = ir.BlockArgument(value).arg_number
            if yields[slot] != after.arguments[slot]:
                return None
    return [ops[p] for p in sorted(found)]


def _bound_before(
    op: ir.Operation, bound: ir.Value | int, start: ir.Value, ip: ir.InsertionPoint
) -> ir.Value:
    """A bound that stays the same, as a value before the loop."""
    if isinstance(bound, int):
        return Scalars(ip, op.location).constant(bound, start.type)
    before = op.regions[0].blocks[0]
    values: ir.ValueMap = dict(zip(before.arguments, op.operands, strict=True))
    ir.clone_ops(_bound_ops(op, bound) or [], values, ip)
    return values.get(bound, bound)


def _width(value: ir.Value) -> int:
    type_ = value.type
    if isinstance(type_, ir.RankedTensorType):
        type_ = type_.element_type
    return type_.width if isinstance(type_, ir.IntegerType) else 64


def _wrap(value: int, width: int, signed: bool) -> int:
    value %= 1 << width
    return value - (1 << width) if signed and value >> (width - 1) else value
