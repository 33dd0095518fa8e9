"""The rewriting driver: order, erasing, convergence, misses, statistics, cost."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.rewriting import Miss, Pattern, Rewriter, apply_patterns, collect_statistics


def _parse(body: str) -> ir.Operation:
    return parse_module(f"func.func @f(%a: i32) {{\n{body}\n  return\n}}", "x", ir.make_context())


def _create(name: str, op: ir.Operation, rewriter: Rewriter) -> ir.Operation:
    return ir.Operation.create(
        name,
        results=[r.type for r in op.results],
        operands=list(op.operands),
        attributes={n: op.attributes[n] for n in op.attributes},
        loc=op.location,
        ip=rewriter.before(op),
    )


class Rename(Pattern[ir.Operation]):
    """``test.<old> {n}`` becomes ``test.<new> {n}``; logs ``n``."""

    def __init__(self, old: str, new: str, log: list[str] | None = None) -> None:
        self.roots = (f"test.{old}",)
        self.new = f"test.{new}"
        self.log = [] if log is None else log
        self.misses: list[str] = []

    def match(self, op: ir.Operation) -> ir.Operation | Miss | None:
        if "never" in op.attributes:
            return None if "silent" in op.attributes else Miss("never")
        return op

    def rewrite(self, op: ir.Operation, match: ir.Operation, rewriter: Rewriter) -> None:
        self.log.append(str(op.attributes["n"]) if "n" in op.attributes else op.name)
        new = _create(self.new, op, rewriter)
        rewriter.created(new)
        rewriter.replace(op, new.results)

    def missed(self, op: ir.Operation, miss: Miss) -> None:
        self.misses.append(f"{op.name}: {miss.reason}")


def _names(module: ir.Operation) -> list[str]:
    return [op.name for op in ir.walk(module) if op.name.startswith("test.")]


def test_program_order_then_what_was_touched() -> None:
    module = _parse(
        """
  %0 = "test.a"(%a) {n = "first"} : (i32) -> i32
  %1 = "test.a"(%0) {n = "second"} : (i32) -> i32
  %2 = "test.a"(%1) {n = "third"} : (i32) -> i32
"""
    )
    log: list[str] = []
    count = apply_patterns(module, [Rename("a", "b", log), Rename("b", "c", log)])
    assert count == 6
    assert _names(module) == ["test.c"] * 3
    assert log == ['"first"', '"second"', '"third"'] * 2


def test_the_first_pattern_that_matches_wins() -> None:
    module = _parse('  "test.a"() : () -> ()\n  "test.a"() {never} : () -> ()')
    apply_patterns(module, [Rename("a", "b"), Rename("a", "c")])
    assert _names(module) == ["test.b", "test.a"]


class EraseOuter(Pattern[ir.Operation]):
    roots = ("test.outer",)

    def match(self, op: ir.Operation) -> ir.Operation:
        return op

    def rewrite(self, op: ir.Operation, match: ir.Operation, rewriter: Rewriter) -> None:
        rewriter.erase(op)


def test_erasing_takes_nested_ops_off_the_worklist() -> None:
    inner = '"test.a"() : () -> ()\n' * 50
    body = "".join(f'  "test.outer"() ({{\n{inner}}}) : () -> ()\n' for _ in range(20))
    module = _parse(body + '  "test.a"() : () -> ()')
    rename = Rename("a", "b")
    assert apply_patterns(module, [EraseOuter(), rename]) == 21
    assert _names(module) == ["test.b"]
    assert len(rename.log) == 1


class EraseUsed(Pattern[ir.Operation]):
    roots = ("test.a",)

    def match(self, op: ir.Operation) -> ir.Operation:
        return op

    def rewrite(self, op: ir.Operation, match: ir.Operation, rewriter: Rewriter) -> None:
        rewriter.erase(op)


def test_erasing_an_op_in_use_is_a_fault_and_changes_nothing() -> None:
    module = _parse('  %0 = "test.a"(%a) : (i32) -> i32\n  "test.use"(%0) : (i32) -> ()')
    with pytest.raises(AssertionError, match="which still has uses"):
        apply_patterns(module, [EraseUsed()])
    assert _names(module) == ["test.a", "test.use"]


@pytest.mark.parametrize("limit", [7, None])
def test_patterns_that_undo_each_other(limit: int | None) -> None:
    module = _parse('\n  "test.a"() : () -> ()')
    with pytest.raises(ir.HeadraceError, match=r"x:3:3: error: Rename does not converge on 'test"):
        apply_patterns(module, [Rename("a", "b"), Rename("b", "a")], max_rewrites=limit)


def test_misses_are_reported_once_at_the_end() -> None:
    module = _parse(
        """
  "test.a"() {never} : () -> ()
  "test.b"() {never, silent} : () -> ()
  "test.b"() : () -> ()
"""
    )
    first, second = Rename("a", "x"), Rename("b", "a")
    with collect_statistics() as counts:
        apply_patterns(module, [first, second])
    assert _names(module) == ["test.a", "test.b", "test.x"]
    assert first.misses == ["test.a: never"]
    assert second.misses == []
    assert counts == {"Rename rewrites": 2, "Rename misses": 1}


def test_replaced_uses_are_looked_at_again() -> None:
    class Bypass(Pattern[ir.Operation]):
        """``test.wrap(x)`` is ``x``; ``test.use`` is renamed once it sees the argument."""

        roots = ("test.wrap",)

        def match(self, op: ir.Operation) -> ir.Operation:
            return op

        def rewrite(self, op: ir.Operation, match: ir.Operation, rewriter: Rewriter) -> None:
            rewriter.replace(op, [op.operands[0]])

    class UseOfArgument(Rename):
        def match(self, op: ir.Operation) -> ir.Operation | Miss:
            defined = ir.defining_op(op.operands[0]) is not None
            return Miss("operand is defined by an op") if defined else op

    module = _parse(
        """
  %0 = "test.wrap"(%a) : (i32) -> i32
  %1 = "test.wrap"(%0) : (i32) -> i32
  "test.use"(%1) : (i32) -> ()
"""
    )
    apply_patterns(module, [Bypass(), UseOfArgument("use", "done")])
    assert _names(module) == ["test.done"]


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def test_cost_is_linear() -> None:
    """Sixteen times the ops take nowhere near 256 times as long."""

    def run(count: int) -> float:
        module = _parse('  "test.a"() : () -> ()\n' * count)
        return _seconds(lambda: apply_patterns(module, [Rename("a", "b")]))

    small = min(run(500) for _ in range(3))
    assert run(8000) < 64 * small
