"""Patterns and the driver that applies them.

A pattern separates the two halves of a rewrite: ``match`` is pure and either
returns what it found or a ``Miss`` with the reason; ``rewrite`` takes what
was found and cannot fail.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..dialects import ir

M = TypeVar("M")


@dataclass(frozen=True)
class Miss:
    """Why a pattern did not match, in words that a user could read.

    Where no user would ask, there is no Miss but None.
    """

    reason: str


class Pattern(Generic[M]):
    """One rewrite rule. ``roots`` are the names of the ops it may start at."""

    roots: tuple[str, ...] = ()

    def match(self, op: ir.Operation) -> M | Miss | None:
        """What the rewrite needs, or why not; None for an op of another kind. Changes nothing."""
        raise NotImplementedError

    def rewrite(self, op: ir.Operation, match: M, rewriter: Rewriter) -> None:
        """Rewrites ``op``; only called with what ``match`` returned."""
        raise NotImplementedError

    def missed(self, op: ir.Operation, miss: Miss) -> None:
        """Called once for each op that in the end did not match."""


class Rewriter:
    """Changes the IR and tells the driver what changed.

    All changes in ``Pattern.rewrite`` go through here: an op erased behind
    the driver's back would be a dangling handle in its worklist.
    """

    def __init__(self, worklist: _Worklist) -> None:
        self._worklist = worklist

    def before(self, op: ir.Operation | ir.OpView) -> ir.InsertionPoint:
        """The place right before ``op``."""
        return ir.InsertionPoint(op)

    def created(self, op: ir.Operation | ir.OpView) -> None:
        """Announces a new op with all in it, so that patterns may match on them."""
        for made in ir.walk(op):
            self._worklist.add(made)

    def replace(self, op: ir.Operation | ir.OpView, values: Sequence[ir.Value]) -> None:
        """Replaces all uses of the op's results, then erases it.

        The users, and the producers of ``values``, are looked at again.
        """
        for old, new in zip(op.operation.results, values, strict=True):
            self.replace_uses(old, new)
        self.erase(op)

    def replace_uses(self, old: ir.Value, new: ir.Value) -> None:
        """Replaces all uses of ``old`` by ``new``."""
        users = ir.users_of(old)
        old.replace_all_uses_with(new)
        for user in users:
            self._worklist.add(user)

    def set_operand(self, op: ir.Operation | ir.OpView, index: int, value: ir.Value) -> None:
        op.operation.operands[index] = value
        self._worklist.add(op.operation)

    def erase(self, op: ir.Operation | ir.OpView) -> None:
        """Erases an op whose results have no uses, and what is nested in it.

        The bindings do not ask: quirks.ERASED_WITH_USES.
        """
        operation = op.operation
        if ir.is_used(operation):
            raise AssertionError(f"erasing '{operation.name}', which still has uses")
        for nested in ir.walk(operation):
            self._worklist.discard(nested)
        operation.erase()

    def erase_if_dead(self, op: ir.Operation | ir.OpView | None) -> None:
        """Erases a pure op without users. The caller vouches for purity."""
        if op is not None and not ir.is_used(op):
            self.erase(op)


class _Worklist:
    """Ops to look at, first in first out, each at most once."""

    def __init__(self, roots: frozenset[str]) -> None:
        self._roots = roots
        # A plain dict is slow at this: each pop would skip all popped before it.
        self._ops: OrderedDict[int, ir.Operation] = OrderedDict()

    def add(self, op: ir.Operation) -> None:
        if op.name in self._roots:
            self._ops.setdefault(ir.address_of(op), op)

    def discard(self, op: ir.Operation) -> None:
        self._ops.pop(ir.address_of(op), None)

    def pop(self) -> ir.Operation | None:
        return self._ops.popitem(last=False)[1] if self._ops else None


_statistics: ContextVar[Counter[str] | None] = ContextVar("statistics", default=None)


@contextmanager
def collect_statistics() -> Generator[Counter[str]]:
    """Counts rewrites and misses per pattern in the block."""
    found: Counter[str] = Counter()
    token = _statistics.set(found)
    try:
        yield found
    finally:
        _statistics.reset(token)


def _count(pattern: Pattern[Any], what: str) -> None:
    counter = _statistics.get()
    if counter is not None:
        counter[f"{type(pattern).__name__} {what}"] += 1


def apply_patterns(
    module: ir.Operation, patterns: Sequence[Pattern[Any]], *, max_rewrites: int | None = None
) -> int:
    """Applies patterns until none matches; returns the number of rewrites.

    Ops are visited in program order, then what rewrites have touched. For
    each op the first pattern that matches wins. Raises HeadraceError after
    ``max_rewrites`` (by default many more than ops): two patterns undo each
    other.
    """
    roots = frozenset(name for p in patterns for name in p.roots)
    worklist = _Worklist(roots)
    ops = ir.walk(module, bodies=_scalars(roots))
    limit = 10_000 + 100 * len(ops) if max_rewrites is None else max_rewrites
    for op in ops:
        if op.name in roots:
            worklist.add(op)
    del ops  # no handles to ops that rewrites erase
    rewriter = Rewriter(worklist)
    count = 0
    while (op := worklist.pop()) is not None:
        for pattern in patterns:
            if op.name not in pattern.roots:
                continue
            found = pattern.match(op)
            if found is None or isinstance(found, Miss):
                continue
            count += 1
            if count > limit:
                raise ir.error_at(
                    op,
                    f"{type(pattern).__name__} does not converge on '{op.name}': {limit} rewrites",
                )
            _count(pattern, "rewrites")
            pattern.rewrite(op, found, rewriter)
            break
    _report_misses(module, patterns)
    return count


def _report_misses(module: ir.Operation, patterns: Sequence[Pattern[Any]]) -> None:
    counting = _statistics.get() is not None
    heard = [p for p in patterns if counting or _hears_misses(p)]
    roots = frozenset(name for p in heard for name in p.roots)
    for op in ir.walk(module, bodies=_scalars(roots)) if heard else ():
        for pattern in heard:
            if op.name in pattern.roots:
                found = pattern.match(op)
                if isinstance(found, Miss):
                    _count(pattern, "misses")
                    pattern.missed(op, found)


def _scalars(roots: frozenset[str]) -> bool:
    """Whether ops of such names may be in the bodies of linalg ops."""
    return any(name.startswith(("arith.", "math.")) for name in roots)


def _hears_misses(pattern: Pattern[Any]) -> bool:
    return any("missed" in vars(c) for c in type(pattern).__mro__ if c is not Pattern)
