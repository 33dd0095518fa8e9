"""Byte ranges of a buffer whose bounds are sums of constants and unknown numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf

from headrace.dialects import ir
from headrace.dialects.upstream.tensor import DYNAMIC
from headrace.passes.handover.buffers.branches import forwarded_operand

_CASTS = (
    *("arith.index_cast", "arith.index_castui", "arith.extui", "arith.extsi", "arith.trunci"),
    *("iree_tensor_ext.dispatch.workload.ordinal", "util.optimization_barrier"),
)
_HALF = 32


@dataclass(frozen=True)
class Sum:
    """``constant + sum(factor * product of atoms)``; equal sums are equal numbers."""

    constant: int = 0
    terms: tuple[tuple[tuple[str, ...], int], ...] = ()

    def __add__(self, other: Sum) -> Sum:
        factors = dict(self.terms)
        for atoms, factor in other.terms:
            factors[atoms] = factors.get(atoms, 0) + factor
        terms = sorted((a, f) for a, f in factors.items() if f)
        return Sum(self.constant + other.constant, tuple(terms))

    def __mul__(self, other: Sum) -> Sum:
        found = self.times(other.constant) + other.times(self.constant)
        found += Sum(-self.constant * other.constant)
        for a, m in self.terms:
            for b, n in other.terms:
                found += Sum(0, ((tuple(sorted(a + b)), m * n),))
        return found

    def times(self, factor: int) -> Sum:
        terms = tuple((atoms, f * factor) for atoms, f in self.terms) if factor else ()
        return Sum(self.constant * factor, terms)

    def __sub__(self, other: Sum) -> Sum:
        return self + other.times(-1)

    def has(self, atom: str) -> bool:
        return any(atom in atoms for atoms, _ in self.terms)


Bounds = tuple[float, float]


@dataclass
class Atoms:
    """Unknown numbers: a short name for each thing that computes one, and its bounds.

    Sizes and offsets are no less than zero. ``guards`` are bounds that hold in one place.
    """

    names: dict[Hashable, str] = field(default_factory=dict[Hashable, str])
    bounds: dict[str, Bounds] = field(default_factory=dict[str, Bounds])
    guards: dict[str, Bounds] = field(default_factory=dict[str, Bounds])

    def name(self, what: Hashable) -> str:
        return self.names.setdefault(what, f"n{len(self.names)}")

    def bounds_of(self, atoms: Sequence[str]) -> Bounds:
        """Those of a product."""
        low, high = 1.0, 1.0
        for atom in atoms:
            a, b = _both(self.bounds.get(atom, (0, inf)), self.guards.get(atom, (-inf, inf)))
            ends = [x * y if x and y else 0.0 for x in (low, high) for y in (a, b)]
            low, high = min(ends), max(ends)
        return low, high


def _both(a: Bounds, b: Bounds) -> Bounds:
    return max(a[0], b[0]), min(a[1], b[1])


@dataclass(frozen=True)
class ByteRange:
    """``[start, end)`` of one resource; ``end`` None: to its end."""

    resource: Hashable
    start: Sum
    end: Sum | None

    def __str__(self) -> str:
        end = "end" if self.end is None else _show(self.end)
        return f"{self.resource}[{_show(self.start)} to {end}]"


def _show(number: Sum) -> str:
    terms = ["*".join([str(f), *atoms]) for atoms, f in number.terms]
    return " + ".join([*terms, str(number.constant)])


def disjoint(a: ByteRange, b: ByteRange, atoms: Atoms) -> bool:
    """Whether no byte is in both, whatever the atoms are within their bounds."""
    if a.resource != b.resource:
        return True
    return _before(a, b, atoms) or _before(b, a, atoms)


def comparable(a: ByteRange, b: ByteRange, atoms: Atoms) -> bool:
    """Whether it is known how far apart the two can be: nothing without bounds is
    between them."""
    between = b.start - a.start
    return all(atoms.bounds_of(product)[1] < inf for product, _ in between.terms)


def _before(a: ByteRange, b: ByteRange, atoms: Atoms) -> bool:
    return a.end is not None and _least(b.start - a.end, atoms) >= 0


def _least(number: Sum, atoms: Atoms) -> float:
    """The least that it can be."""
    total: float = number.constant
    for product, factor in number.terms:
        low, high = atoms.bounds_of(product)
        total += factor * (low if factor > 0 else high)
    return total


@dataclass
class Numbers:
    """Index values of one function as sums.

    ``known`` gives the sums of its arguments where it is called; other values
    that are no sums are atoms, named by what computes them, so that equal
    computations are equal atoms.
    """

    atoms: Atoms
    known: dict[ir.Value, Sum] = field(default_factory=dict[ir.Value, Sum])
    place: str = ""  # tells apart the unknown values of functions

    def of(self, value: ir.Value) -> Sum:
        if value not in self.known:
            self.known[value] = self._compute(value)
        return self.known[value]

    def _compute(self, value: ir.Value) -> Sum:
        op = ir.defining_op(value)
        if op is None:
            argument = ir.BlockArgument(value)
            if _brought(argument):
                return self._argument(argument)
            return self._atom((self.place, str(value.get_name())))
        number = ir.result_number(value)
        if op.name == "util.assume.int":
            return self._assumed(op, number)
        rule = _RULES.get(op.name)
        found = rule(self, op) if rule is not None else None
        if found is not None:
            return found
        if len(op.regions) or op.name.startswith("stream.") or not len(op.operands):
            return self._atom((self.place, str(value.get_name())))
        operands = tuple(self.of(v) for v in op.operands)
        attributes = tuple((name, str(value)) for name, value in op.attributes.items())
        return self._atom((op.name, number, attributes, operands))

    def _atom(self, what: Hashable) -> Sum:
        return Sum(0, (((self.atoms.name(what),), 1),))

    def _argument(self, argument: ir.BlockArgument) -> Sum:
        """What branches bring, if that is one number whichever way they go; else an
        unknown one."""
        among, others = self._come_from(argument)
        own = {a: self._atom((self.place, str(a.get_name()))) for a in among}
        self.known |= own
        numbers = [self.of(value) for value in others]
        atoms = [number.terms[0][0][0] for number in own.values()]
        is_one = bool(numbers) and all(n == numbers[0] for n in numbers)
        # What was made of the numbers that were unknown meanwhile is so no more.
        self.known = {v: n for v, n in self.known.items() if not any(n.has(a) for a in atoms)}
        if is_one and not any(numbers[0].has(a) for a in atoms):
            self.known |= dict.fromkeys(among, numbers[0])
        else:
            self.known[argument] = own[argument]
            self._bound_counter(own[argument], [self.of(v) for v in _brought(argument)])
        return self.known[argument]

    def _come_from(
        self, argument: ir.BlockArgument
    ) -> tuple[list[ir.BlockArgument], list[ir.Value]]:
        """The arguments of blocks that are handed on to one, itself first, and what else is."""
        among: dict[ir.BlockArgument, None] = {}
        others: list[ir.Value] = []
        pending: list[ir.Value] = [argument]
        while pending:
            value = pending.pop()
            handed = [] if ir.defining_op(value) is not None else _brought(ir.BlockArgument(value))
            if value in self.known or not handed:
                others.append(value)
            elif ir.BlockArgument(value) not in among:
                among[ir.BlockArgument(value)] = None
                pending += handed
        return list(among), others

    def _bound_counter(self, counter: Sum, brought: Sequence[Sum]) -> None:
        """A number that is added to in each round is no less than it was before the first."""
        atom = counter.terms[0][0][0]
        starts = [n for n in brought if not n.has(atom)]
        steps = [n - counter for n in brought if n.has(atom)]
        if steps and all(not n.terms and n.constant >= 0 for n in steps):
            self.atoms.bounds[atom] = (min(_least(n, self.atoms) for n in starts), inf)

    def guards_at(self, block: ir.Block) -> dict[str, Bounds]:
        """What the conditions tell by which control comes to a block, whichever way."""
        found: dict[str, Bounds] = {}
        for entered in block.region.blocks:
            before = list(entered.predecessors)
            if len(before) != 1 or not _is_always_before(entered, block):
                continue
            branch = ir.operations_of(before[0])[-1]
            if branch.name == "cf.cond_br" and branch.successors[0] != branch.successors[1]:
                condition = ir.defining_op(branch.operands[0])
                for atom, bounds in self._told(condition, branch.successors[0] == entered):
                    found[atom] = _both(bounds, found.get(atom, (-inf, inf)))
        return found

    def _told(self, condition: ir.Operation | None, holds: bool) -> Iterator[tuple[str, Bounds]]:
        """The bounds of an unknown number that is compared with one that is known."""
        if condition is None or condition.name != "arith.cmpi":
            return
        kind = _SIGNED.get(ir.IntegerAttr(condition.attributes["predicate"]).value)
        if kind is None:
            return
        a, b = (self.of(v) for v in condition.operands)
        above, equal = kind
        if not holds:
            above, equal = not above, not equal
        # The smaller is no more than the larger, less one if they are not equal.
        smaller, larger = (b, a) if above else (a, b)
        apart = 0 if equal else 1
        if not larger.terms and (atom := _only_atom(smaller - Sum(smaller.constant))) is not None:
            yield atom, (-inf, larger.constant - smaller.constant - apart)
        if not smaller.terms and (atom := _only_atom(larger - Sum(larger.constant))) is not None:
            yield atom, (smaller.constant - larger.constant + apart, inf)

    def _cast(self, op: ir.Operation) -> Sum:
        return self.of(op.operands[0])

    def _assumed(self, op: ir.Operation, number: int) -> Sum:
        """One of several values, each with its ``umin`` and ``umax`` per place of call."""
        found = self.of(op.operands[number])
        assumptions = ir.ArrayAttr(ir.ArrayAttr(op.attributes["assumptions"])[number])
        bounds = [[_number_after(str(a), name) for a in assumptions] for name in ("umin", "umax")]
        low, high = ([n for n in each if n is not None] for each in bounds)
        if len(low) == len(high) == len(assumptions) > 0:
            self._bound(found, min(low), max(high))
        return found

    def _bound(self, number: Sum, low: float, high: float) -> None:
        atom = _only_atom(number)
        if atom is not None:
            old = self.atoms.bounds.get(atom, (0, inf))
            self.atoms.bounds[atom] = _both((low, high), old)

    def _constant(self, op: ir.Operation) -> Sum | None:
        attribute = op.attributes["value"]
        return Sum(attribute.value) if isinstance(attribute, ir.IntegerAttr) else None

    def _add(self, op: ir.Operation) -> Sum:
        return self.of(op.operands[0]) + self.of(op.operands[1])

    def _subtract(self, op: ir.Operation) -> Sum:
        return self.of(op.operands[0]) - self.of(op.operands[1])

    def _multiply(self, op: ir.Operation) -> Sum:
        return self.of(op.operands[0]) * self.of(op.operands[1])

    def _shift(self, op: ir.Operation) -> Sum | None:
        by = self.of(op.operands[1])
        return None if by.terms else self.of(op.operands[0]).times(1 << by.constant)

    def _align(self, op: ir.Operation) -> Sum | None:
        """``util.align x, n`` as x and what is added to it, less than n."""
        to = self.of(op.operands[1])
        what = self.of(op.operands[0])
        if to.terms:
            return None
        if not what.terms:
            return Sum(-(-what.constant // to.constant) * to.constant)
        slack = self._atom(("align", to, what))
        self._bound(slack, 0, to.constant - 1)
        return what + slack

    def _smaller(self, op: ir.Operation) -> Sum | None:
        """``min(x, n)`` with a constant: an atom that says how large it can be."""
        a, b = (self.of(v) for v in op.operands)
        if not a.terms and not b.terms:
            return Sum(min(a.constant, b.constant))
        limit = a.constant if not a.terms else b.constant if not b.terms else inf
        if limit == inf or limit < 0:
            return None
        found = self._atom((op.name, a, b))
        self._bound(found, 0, limit)
        return found

    def _linearize(self, op: ir.Operation) -> Sum | None:
        """``affine.linearize_index [i, j] by (m, n)``: ``i * n + j``."""
        indices = [self.of(v) for v in op.operands]
        basis = list(ir.DenseI64ArrayAttr(op.attributes["static_basis"]))
        rank = len(basis) if len(indices) == len(basis) else len(basis) + 1
        if len(indices) != rank or DYNAMIC in basis[1 - rank :]:
            return None
        found = indices[0]
        for index, size in zip(indices[1:], basis[1 - rank :] if rank > 1 else [], strict=True):
            found = found.times(size) + index
        return found

    def _halves(self, op: ir.Operation) -> Sum | None:
        """A number that was passed as two of 32 bits: ``low | high << 32``."""
        low, high = (self.of(v) for v in op.operands)
        if not low.terms and not high.terms:
            return Sum(low.constant | high.constant)
        upper = self._upper(low).times(1 << _HALF)
        return low if high == upper else None

    def _shifted_down(self, op: ir.Operation) -> Sum | None:
        by, number = self.of(op.operands[1]), self.of(op.operands[0])
        if by.terms:
            return None
        if not number.terms:
            return Sum(number.constant >> by.constant)
        return self._upper(number) if by.constant == _HALF else None

    def _upper(self, number: Sum) -> Sum:
        if not number.terms:
            return Sum(number.constant >> _HALF)
        return self._atom(("upper", number))


def _only_atom(number: Sum) -> str | None:
    """The unknown number that a sum is."""
    if number.constant or len(number.terms) != 1:
        return None
    ((atoms, factor),) = number.terms
    return atoms[0] if len(atoms) == factor == 1 else None


def _brought(argument: ir.BlockArgument) -> list[ir.Value]:
    """What branches pass for a block's argument."""
    block = argument.owner
    last = [ir.operations_of(predecessor)[-1] for predecessor in block.predecessors]
    return [
        branch.operands[index]
        for branch in {ir.address_of(op): op for op in last}.values()
        for index in forwarded_operand(branch, block, argument.arg_number)
    ]


def _is_always_before(first: ir.Block, second: ir.Block) -> bool:
    """Whether all ways from the region's start to ``second`` go through ``first``."""
    blocks = list(first.region.blocks)
    reached = [blocks[0]]
    for block in reached:
        if block != first:
            reached += [b for b in block.successors if b not in reached]
    return first == second or second not in reached


# Predicates of arith.cmpi: whether the first is the larger, and whether both may be equal.
_SIGNED = {2: (False, False), 3: (False, True), 4: (True, False), 5: (True, True)}


def _number_after(text: str, name: str) -> int | None:
    match = re.search(rf"{name} = (\d+)", text)
    return int(match[1]) if match is not None else None


_Rule = Callable[[Numbers, ir.Operation], Sum | None]
_RULES: dict[str, _Rule] = {
    **dict.fromkeys(_CASTS, Numbers._cast),
    "arith.constant": Numbers._constant,
    "arith.addi": Numbers._add,
    "arith.subi": Numbers._subtract,
    "arith.muli": Numbers._multiply,
    "arith.shli": Numbers._shift,
    "arith.shrui": Numbers._shifted_down,
    "arith.ori": Numbers._halves,
    "arith.minui": Numbers._smaller,
    "arith.minsi": Numbers._smaller,
    "util.align": Numbers._align,
    "affine.linearize_index": Numbers._linearize,
}
