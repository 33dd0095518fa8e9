"""Byte ranges of a buffer whose bounds are sums of constants and unknown numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from math import inf

from headrace.dialects import ir
from headrace.dialects.upstream.tensor import DYNAMIC

_CASTS = (
    *("arith.index_cast", "arith.index_castui", "arith.extui", "arith.extsi", "arith.trunci"),
    *("iree_tensor_ext.dispatch.workload.ordinal", "util.optimization_barrier"),
)
_HALF = 32


@dataclass(frozen=True)
class Sum:
    """``constant + sum(factor * atom)``; equal sums are equal numbers."""

    constant: int = 0
    terms: tuple[tuple[str, int], ...] = ()

    def __add__(self, other: Sum) -> Sum:
        factors = dict(self.terms)
        for atom, factor in other.terms:
            factors[atom] = factors.get(atom, 0) + factor
        terms = sorted((a, f) for a, f in factors.items() if f)
        return Sum(self.constant + other.constant, tuple(terms))

    def times(self, factor: int) -> Sum:
        terms = tuple((atom, f * factor) for atom, f in self.terms) if factor else ()
        return Sum(self.constant * factor, terms)

    def __sub__(self, other: Sum) -> Sum:
        return self + other.times(-1)


@dataclass
class Atoms:
    """Unknown numbers: a short name for each thing that computes one, and its bounds."""

    names: dict[Hashable, str] = field(default_factory=dict[Hashable, str])
    bounds: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])

    def name(self, what: Hashable) -> str:
        return self.names.setdefault(what, f"n{len(self.names)}")


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
    return " + ".join([*(f"{f}*{a}" for a, f in number.terms), str(number.constant)])


def disjoint(a: ByteRange, b: ByteRange, atoms: Atoms) -> bool:
    """Whether no byte is in both, whatever the atoms are within their bounds."""
    if a.resource != b.resource:
        return True
    return _before(a, b, atoms) or _before(b, a, atoms)


def comparable(a: ByteRange, b: ByteRange, atoms: Atoms) -> bool:
    """Whether it is known how far apart the two can be: nothing without bounds is
    between them."""
    between = b.start - a.start
    return all(atoms.bounds.get(atom, (0, inf))[1] < inf for atom, _ in between.terms)


def _before(a: ByteRange, b: ByteRange, atoms: Atoms) -> bool:
    return a.end is not None and _least(b.start - a.end, atoms) >= 0


def _least(number: Sum, atoms: Atoms) -> float:
    """The least that it can be; sizes and offsets are no less than zero."""
    total: float = number.constant
    for atom, factor in number.terms:
        low, high = atoms.bounds.get(atom, (0, inf))
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
        return Sum(0, ((self.atoms.name(what), 1),))

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
        if number.constant or len(number.terms) != 1 or number.terms[0][1] != 1:
            return
        atom = number.terms[0][0]
        old = self.atoms.bounds.get(atom, (0, inf))
        self.atoms.bounds[atom] = (max(low, old[0]), min(high, old[1]))

    def _constant(self, op: ir.Operation) -> Sum | None:
        attribute = op.attributes["value"]
        return Sum(attribute.value) if isinstance(attribute, ir.IntegerAttr) else None

    def _add(self, op: ir.Operation) -> Sum:
        return self.of(op.operands[0]) + self.of(op.operands[1])

    def _subtract(self, op: ir.Operation) -> Sum:
        return self.of(op.operands[0]) - self.of(op.operands[1])

    def _multiply(self, op: ir.Operation) -> Sum | None:
        a, b = (self.of(v) for v in op.operands)
        if not a.terms:
            return b.times(a.constant)
        return None if b.terms else a.times(b.constant)

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
