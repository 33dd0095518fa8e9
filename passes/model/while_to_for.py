"""Counted ``scf.while`` loops as ``scf.for``."""

from __future__ import annotations

import operator
from dataclasses import dataclass

from ...dialects.arith import Scalars
from ...dialects.cloning import Mapping, clone_ops
from ...dialects.mlir import (
    Block,
    BlockArgument,
    IndexType,
    InsertionPoint,
    IntegerAttr,
    IntegerType,
    Operation,
    RankedTensorType,
    Type,
    Value,
    defining_op,
    operations_of,
)
from ...dialects.purity import is_pure
from ...dialects.scf import build_for
from ..remarks import remark
from ..rewriting import Miss, Pattern, Rewriter
from .linear import linear

# The arith dialect's numbers of its integer predicates.
_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


@dataclass(frozen=True)
class CountedWhile:
    """What ``while (counter <relation> bound) counter += step`` was found."""

    counter: int  # position among the loop's operands
    relation: str  # eq, ne, lt, le, gt, ge
    signed: bool
    bound: Value | int  # a value from outside the loop, or a constant
    step: int
    width: int
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

    A dynamic count is computed in i64. A loop whose counter would wrap around
    its type before it ends is left alone where that is known; for a dynamic
    bound it is assumed not to, as LLVM's loop passes do for signed counters.
    """

    roots = ("scf.while",)

    def match(self, op: Operation) -> CountedWhile | Miss:
        before = op.regions[0].blocks[0]
        *condition_ops, condition = operations_of(before)
        if not all(is_pure(o) for o in condition_ops):
            return Miss("the loop's condition has side effects")
        forwarded = list(condition.operands)[1:]
        if forwarded != list(before.arguments):
            return Miss("the loop's condition region computes values that the body reads")
        compare = defining_op(condition.operands[0])
        if compare is None or compare.name != "arith.cmpi":
            return Miss("the loop's condition is not a comparison of integers")
        predicate = _PREDICATES[IntegerAttr(compare.attributes["predicate"]).value]
        relation, signed = predicate.lstrip("su"), not predicate.startswith("u")
        return self._counter(op, compare, relation, signed)

    def _counter(
        self, op: Operation, compare: Operation, relation: str, signed: bool
    ) -> CountedWhile | Miss:
        before, after = (region.blocks[0] for region in op.regions)
        yields = list(operations_of(after)[-1].operands)
        sides = [linear(compare.operands[0]), linear(compare.operands[1])]
        for counter_side, bound_side, seen in (
            (sides[0], sides[1], relation),
            (sides[1], sides[0], _MIRRORED[relation]),
        ):
            base = counter_side.base
            if base is None or (counter_side.scale, counter_side.offset) != (1, 0):
                continue
            if not isinstance(base.owner, Block) or base.owner != before:
                continue
            position = BlockArgument(base).arg_number
            update = linear(yields[position])
            if update.base != after.arguments[position] or update.scale != 1 or not update.offset:
                return Miss("the loop's counter does not advance by a constant")
            bound = _bound(op, bound_side.base, bound_side.scale, bound_side.offset)
            if bound is None:
                return Miss("the loop's bound changes in the loop")
            return self._counted(op, position, seen, signed, bound, update.offset)
        return Miss("no side of the loop's condition is a counter")

    def _counted(
        self,
        op: Operation,
        position: int,
        relation: str,
        signed: bool,
        bound: Value | int,
        step: int,
    ) -> CountedWhile | Miss:
        width = _width(op.operands[position])
        step = _wrap(step, width, signed=True)
        start = linear(op.operands[position])
        trips: int | None = None
        if isinstance(bound, int) and start.base is None:
            trips = static_trips(start.offset, bound, step, relation, signed, width)
            if trips is None:
                return Miss("the loop's counter wraps around its type before the loop ends")
        elif not _ends(relation, step):
            return Miss("the loop's counter moves away from its bound")
        return CountedWhile(position, relation, signed, bound, step, width, trips)

    def rewrite(self, op: Operation, match: CountedWhile, rewriter: Rewriter) -> None:
        ip = rewriter.before(op)
        scalars = Scalars(ip, op.location)
        index = IndexType.get(op.context)
        start = as_scalar(op.operands[match.counter], scalars)
        if match.trips is not None:
            trips = scalars.constant(match.trips, index)
        else:
            trips = dynamic_trips(match, start, scalars, index)
        after = op.regions[1].blocks[0]
        *ops, terminator = operations_of(after)
        others = [i for i in range(len(op.operands)) if i != match.counter]

        def count(k: Value, where: InsertionPoint) -> Value:
            return as_type_of(
                op.operands[match.counter],
                count_from(start, k, match.step, Scalars(where, op.location)),
                Scalars(where, op.location),
            )

        def body(k: Value, carried: list[Value], inside: InsertionPoint) -> list[Value]:
            values: Mapping = {after.arguments[match.counter]: count(k, inside)}
            for position, value in zip(others, carried, strict=True):
                values[after.arguments[position]] = value
            for clone in clone_ops(ops, values, inside):
                rewriter.created(clone)
            return [values.get(terminator.operands[i], terminator.operands[i]) for i in others]

        zero, one = scalars.constant(0, index), scalars.constant(1, index)
        inits = [op.operands[i] for i in others]
        loop = build_for(zero, trips, one, inits, body, loc=op.location, ip=ip)
        rewriter.created(loop.op)
        results: list[Value] = list(loop.op.results)
        results.insert(match.counter, count(trips, ip))
        rewriter.replace(op, results)

    def missed(self, op: Operation, miss: Miss) -> None:
        remark(op, f"loop not counted: {miss.reason}")


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
        count = len(range(start, end, step))
    last = start + count * step
    return count if _wrap(last, width, signed) == last else None


def _ends(relation: str, step: int) -> bool:
    if relation in ("lt", "le"):
        return step > 0
    if relation in ("gt", "ge"):
        return step < 0
    return relation == "ne" and abs(step) == 1


def dynamic_trips(match: CountedWhile, start: Value, scalars: Scalars, index: IndexType) -> Value:
    """The trip count as an index, computed in i64 so that it cannot wrap."""
    i64 = scalars.integer_type(64)
    bound = match.bound
    if isinstance(bound, int):
        bound = scalars.constant(bound, start.type)
    else:
        bound = as_scalar(bound, scalars)
    if match.relation == "ne":
        # Exact even where the counter wraps: the difference modulo the width.
        pair = (bound, start) if match.step > 0 else (start, bound)
        span = _widen(scalars.binary("subi", *pair), i64, False, scalars)
        return scalars.convert("index_cast", span, index)
    wide = [_widen(v, i64, match.signed, scalars) for v in (start, bound)]
    low, high = wide if match.step > 0 else reversed(wide)
    span = scalars.binary("subi", high, low)
    if match.relation in ("le", "ge"):
        span = scalars.binary("addi", span, 1)
    count = scalars.binary("ceildivsi", span, abs(match.step))
    return scalars.convert("index_cast", scalars.binary("maxsi", count, 0), index)


def _widen(value: Value, i64: IntegerType, signed: bool, scalars: Scalars) -> Value:
    if isinstance(value.type, IndexType):
        return scalars.convert("index_cast", value, i64)
    return scalars.convert("extsi" if signed else "extui", value, i64)


def count_from(start: Value, trips: Value, step: int, scalars: Scalars) -> Value:
    """``start + step * trips`` in the type of ``start``, modulo its width."""
    count = _to_type(trips, start.type, scalars)
    if step != 1:
        count = scalars.binary("muli", count, step)
    return scalars.binary("addi", start, count)


def _to_type(value: Value, type_: Type, scalars: Scalars) -> Value:
    """An integer as index or in another width; wraps where that is narrower."""
    if value.type == type_:
        return value
    if isinstance(value.type, IndexType) or isinstance(type_, IndexType):
        return scalars.convert("index_cast", value, type_)
    widens = IntegerType(value.type).width < IntegerType(type_).width
    return scalars.convert("extsi" if widens else "trunci", value, type_)


def as_scalar(value: Value, scalars: Scalars) -> Value:
    """The scalar in a rank-0 tensor; a scalar is itself."""
    if not isinstance(value.type, RankedTensorType):
        return value
    return scalars.op("tensor.extract", [value], value.type.element_type)


def as_type_of(like: Value, scalar: Value, scalars: Scalars) -> Value:
    """A scalar as rank-0 tensor where ``like`` is one."""
    if not isinstance(like.type, RankedTensorType):
        return scalar
    return scalars.op("tensor.from_elements", [scalar], like.type)


def _bound(op: Operation, base: Value | None, scale: int, offset: int) -> Value | int | None:
    """A loop-invariant bound as a value from outside; None if it changes."""
    if base is None:
        return offset
    if (scale, offset) != (1, 0):
        return None
    before, after = (region.blocks[0] for region in op.regions)
    if isinstance(base.owner, Block) and base.owner == before:
        position = BlockArgument(base).arg_number
        yielded = operations_of(after)[-1].operands[position]
        return op.operands[position] if yielded == after.arguments[position] else None
    owner = base.owner
    if not isinstance(owner, Block) and owner.operation.block == before:
        return None
    return base


def _width(value: Value) -> int:
    type_ = value.type
    if isinstance(type_, RankedTensorType):
        type_ = type_.element_type
    return type_.width if isinstance(type_, IntegerType) else 64


def _wrap(value: int, width: int, signed: bool) -> int:
    value %= 1 << width
    return value - (1 << width) if signed and value >> (width - 1) else value
