"""Updates in place: the numbers, what IREE makes of them, and what stays in place.

Run on the host's CPU and for one with AVX2, and without vector instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from cpu_programs import Program
from headrace.compiler.driver import compile_with
from headrace.compiler.iree.child import run_iree_compile
from headrace.compiler.options import CompileOptions
from headrace.compiler.pipelines import default_pipeline
from headrace.compiler.report.phases import read_phases
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline
from headrace.passes.targets.lookup import find_target
from stream_overlaps import check_stream
from update_cases import AGAIN, CASES, LATE, graph
from update_graphs import (
    DTYPES,
    Graph,
    Moving,
    arguments,
    evaluate,
    random_graph,
    random_parts,
)
from update_texts import pipeline_without, text_of

CPUS = ("host", "x86-64-v3", "generic")
MOVING = 3


def compiled(
    graphs: dict[str, Graph], cpu: str = "host", target: str = "cpu", without: Sequence[str] = ()
) -> tuple[bytes, str]:
    """The program, and IREE's stream phase; for a GPU that phase alone.

    ``without``: passes to leave out.
    """
    vmfb, phases = compiled_whole(graphs, cpu, target, without)
    return vmfb, phases["stream"]


def compiled_whole(
    graphs: dict[str, Graph], cpu: str = "host", target: str = "cpu", without: Sequence[str] = ()
) -> tuple[bytes, dict[str, str]]:
    """The same, with IREE's flow phase."""
    options = CompileOptions.make(target=target, cpu=cpu, emit="mlir")
    chosen = find_target(target)
    form = chosen.collectives
    flags: Sequence[str] = chosen.flags(form, 1, cpu)
    if not without:
        module = compile_with(text_of(graphs), options).module
    else:
        module = parse_module(text_of(graphs), "test", ir.make_context())
        pipeline = pipeline_without(default_pipeline(chosen.pass_target(cpu), form, 1), *without)
        Pipeline.parse(pipeline).run(module)
    if not chosen.is_cpu:
        text = run_iree_compile(module, [*flags, "--compile-to=stream"]).vmfb.decode()
        return b"", {"stream": text}
    done = run_iree_compile(module, flags, ["flow", "stream"])
    return done.vmfb, done.phases


def wrong(graphs: dict[str, Graph], program: Program, element: str) -> list[str]:
    """The names of the functions that do not give what numpy gives."""
    found: list[str] = []
    for name, made in graphs.items():
        inputs = arguments(element)
        given = (*inputs, np.int32(MOVING))
        single = len(made.results) == 1
        results = [program(name, *given)] if single else program.results(name, *given)
        expected = evaluate(made, inputs, MOVING)
        for result, reference in zip(results, expected, strict=True):
            if result.tobytes() != np.ascontiguousarray(reference).tobytes():
                found.append(name)
    return list(dict.fromkeys(found))


def check(graphs: dict[str, Graph], element: str, cpu: str) -> None:
    vmfb, stream = compiled(graphs, cpu)
    assert check_stream(stream) == []
    assert wrong(graphs, Program(vmfb), element) == []


def full(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.full)


@pytest.mark.parametrize(
    ("element", "cpu"),
    [
        ("f32", "host"),
        *(full("f32", cpu) for cpu in CPUS[1:]),
        *(full(element, cpu) for element in list(DTYPES)[1:] for cpu in CPUS),
    ],
)
def test_numbers(element: str, cpu: str) -> None:
    check({name: graph(name, element) for name in CASES}, element, cpu)


NARROW = ("rows_before", "other_reader", "scattered_beside_a_reader", "history")


@pytest.mark.parametrize(
    ("element", "cpu", "names"),
    [
        ("bf16", "x86-64-v3", NARROW[::2]),
        ("i8", "generic", NARROW[1::2]),
        ("f8E4M3FN", "host", NARROW[::2]),
    ],
)
def test_numbers_of_narrow_elements(element: str, cpu: str, names: Sequence[str]) -> None:
    check({name: graph(name, element) for name in names}, element, cpu)


# Of these stock IREE 3.13 makes wrong numbers: the tests above can fail.
FAULTY = ("rows_before", "reversed_rows", "two_updates", "padded", *LATE)
IN_ONE_DISPATCH = FAULTY[:4]
BOTH = ("own-buffers", "separate-updates")


def test_stock_is_wrong() -> None:
    graphs = {name: graph(name, "f32") for name in FAULTY}
    vmfb, stream = compiled(graphs, without=BOTH)
    found = check_stream(stream)
    assert len(found) >= len(IN_ONE_DISPATCH)
    assert all("rows_before_dispatch" in f or "writes" in f for f in found)
    program, seen = Program(vmfb), dict[str, None]()
    # What overlaps in one dispatch is right where its workgroups happen to run in order.
    for _ in range(10):
        seen |= dict.fromkeys(wrong(graphs, program, "f32"))
    assert set(LATE) <= set(seen) <= set(FAULTY)
    assert any(name in seen for name in IN_ONE_DISPATCH)


@pytest.mark.parametrize("name", AGAIN)
def test_stock_loses_order(name: str) -> None:
    """Which of those that run at once comes last, only the threads know: numbers tell nothing."""
    _, stream = compiled({name: graph(name, "f32")}, without=["keep-update-order"])
    found = check_stream(stream)
    assert found
    assert all("run at once" in f for f in found)


def cache_graph(element: str) -> Graph:
    """A row is written at each round that the cache is not asked for."""
    g = Graph(element)

    def body(b: Graph, v: list[int]) -> list[int]:
        row = b.negate(b.window(v[1], (Moving(0), 0), 1, 16))
        y = b.update(v[0], row, (Moving(2), 0))
        doubled = b.maximum(b.window(y, (Moving(2), 0), 1, 16), row)
        return [b.update(y, doubled, (Moving(2), 0)), b.reverse(v[1])]

    cache, _ = g.loop([g.negate(0), g.negate(1)], body)
    g.results = [cache]
    return g


def test_safe_updates_stay_in_place() -> None:
    """Same launches and bytes as without the passes, and the same copies."""
    graphs = {"cache": cache_graph("f32"), "once": Graph("f32")}
    once = graphs["once"]
    y = once.negate(0)
    y = once.update(y, once.negate(once.window(1, (0, 0), 1, 16)), (Moving(0), 0))
    rows = once.negate(once.window(y, (4, 0), 4, 16))
    once.results = [once.negate(once.update(y, rows, (4, 0)))]
    found: list[tuple[object, ...]] = []
    for without in ([], BOTH, ["keep-update-order"]):
        vmfb, phases = compiled_whole(graphs, without=without)
        assert check_stream(phases["stream"]) == []
        assert wrong(graphs, Program(vmfb), "f32") == []
        report = asdict(read_phases(phases))
        copies = phases["stream"].count("stream.cmd.copy")
        found.append((copies, *(report[key] for key in COSTS)))
    assert found[0] == found[1] == found[2]
    assert found[0][0] == COPIES


COSTS = ("launches", "bytes_written", "transient_bytes")
# The number that the host reads in ``once``, and the loop's cache in each round: that is
# also what the loop gives, and IREE 3.13 copies it with and without the pass.
COPIES = 2


_ROWS = "tensor<?x16xf32>"


def _negated(name: str, value: str, init: str) -> str:
    return f"""
  {name} = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins({value} : {_ROWS}) outs({init} : {_ROWS}) {{
  ^bb0(%in: f32, %out: f32):
    %negated = arith.negf %in : f32
    linalg.yield %negated : f32
  }} -> {_ROWS}"""


def test_dynamic_sizes() -> None:
    """``y[1:] = -y[:-1]``, and the same of another tensor that is read as well."""
    text = f"""func.func @main(%x: {_ROWS}, %z: {_ROWS}) -> ({_ROWS}, {_ROWS}, {_ROWS}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : {_ROWS}
  %m = arith.subi %n, %c1 : index
  %e = tensor.empty(%n) : {_ROWS}
  %f = tensor.empty(%m) : {_ROWS}
  {_negated("%y", "%x", "%e")}
  {_negated("%w", "%z", "%e")}
  %s = tensor.extract_slice %y[0, 0] [%m, 16] [1, 1] : {_ROWS} to {_ROWS}
  {_negated("%t", "%s", "%f")}
  %u = tensor.insert_slice %t into %y[1, 0] [%m, 16] [1, 1] : {_ROWS} into {_ROWS}
  {_negated("%a", "%u", "%e")}
  %p = tensor.extract_slice %x[0, 0] [%m, 16] [1, 1] : {_ROWS} to {_ROWS}
  {_negated("%q", "%p", "%f")}
  {_negated("%b", "%w", "%e")}
  %v = tensor.insert_slice %q into %w[1, 0] [%m, 16] [1, 1] : {_ROWS} into {_ROWS}
  {_negated("%c", "%v", "%e")}
  return %a, %b, %c : {_ROWS}, {_ROWS}, {_ROWS}
}}"""
    module = compile_with(text, CompileOptions.make(emit="mlir")).module
    done = run_iree_compile(module, find_target("cpu").flags("devices", 1), ["stream"])
    assert check_stream(done.phases["stream"]) == []
    program = Program(done.vmfb)
    for rows in (1, 2, 5, 40):
        x = np.arange(1, 16 * rows + 1, dtype=np.float32).reshape(rows, 16)
        z = x + 3
        shifted, updated = -x, -z
        shifted[1:], updated[1:] = x[:-1], -x[:-1]
        for result, expected in zip(
            program.results("main", x, z), (-shifted, z, -updated), strict=True
        ):
            np.testing.assert_array_equal(result, expected)


def test_dynamic_parts() -> None:
    """What is joined of two sizes, and the first part of it again."""
    text = f"""func.func @main(%x: {_ROWS}, %z: {_ROWS}) -> ({_ROWS}, {_ROWS}) {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : {_ROWS}
  %y = tensor.concat dim(0) %x, %z : ({_ROWS}, {_ROWS}) -> {_ROWS}
  %s = tensor.extract_slice %y[0, 0] [%n, 16] [1, 1] : {_ROWS} to {_ROWS}
  return %y, %s : {_ROWS}, {_ROWS}
}}"""
    flags = find_target("cpu").flags("devices", 1)
    stock = parse_module(text, "test", ir.make_context())
    faults = check_stream(run_iree_compile(stock, flags, ["stream"]).phases["stream"])
    assert [fault.partition(":")[0] for fault in faults] == ["copy and copy run at once"]
    module = compile_with(text, CompileOptions.make(emit="mlir")).module
    done = run_iree_compile(module, flags, ["stream"])
    assert check_stream(done.phases["stream"]) == []
    program = Program(done.vmfb)
    for rows in (1, 2, 40):
        x = np.arange(16 * rows, dtype=np.float32).reshape(rows, 16)
        for result, expected in zip(
            program.results("main", x, -x[:1]), (np.concatenate([x, -x[:1]]), x), strict=True
        ):
            np.testing.assert_array_equal(result, expected)


def test_dynamic_readers() -> None:
    """What is updated is read before, where no part of it has a size that is known."""
    line, rows = "tensor<?xf32>", "tensor<4x?xf32>"
    text = f"""func.func @main(%x: {rows}, %z: tensor<3xf32>) -> ({line}, {line}) {{
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : {rows}
  %e = tensor.empty(%n) : {line}
  %f = linalg.fill ins(%zero : f32) outs(%e : {line}) -> {line}
  %y = linalg.vecmat ins(%one, %x : tensor<4xf32>, {rows}) outs(%f : {line}) -> {line}
  %r = math.sqrt %y : {line}
  %u = tensor.insert_slice %z into %y[1] [3] [1] : tensor<3xf32> into {line}
  %v = tensor.insert_slice %z into %u[4] [3] [1] : tensor<3xf32> into {line}
  return %r, %v : {line}, {line}
}}"""
    module = compile_with(text, CompileOptions.make(emit="mlir")).module
    done = run_iree_compile(module, find_target("cpu").flags("devices", 1), ["stream"])
    assert check_stream(done.phases["stream"]) == []
    z = np.float32([100, 200, 300])
    for size in (7, 8, 40):
        x = np.tile(np.arange(size, dtype=np.float32) ** 2, (4, 1))
        updated = 4 * x[0]
        updated[1:4] = updated[4:7] = z
        root, found = Program(done.vmfb).results("main", x, z)
        np.testing.assert_array_equal(root, 2 * np.arange(size))
        np.testing.assert_array_equal(found, updated)


RANDOM = 6


def random_graphs(seed: int, element: str) -> dict[str, Graph]:
    return {f"g{seed}_{i}": random_graph(seed * RANDOM + i, element) for i in range(RANDOM)}


@pytest.mark.parametrize(
    ("seed", "element", "cpu"),
    [
        (0, "f32", "host"),
        *(
            full(seed, element, CPUS[seed % len(CPUS)])
            for seed in range(1, 26)
            for element in DTYPES
        ),
    ],
)
def test_random_graphs(seed: int, element: str, cpu: str) -> None:
    check(random_graphs(seed, element), element, cpu)


@pytest.mark.parametrize("seed", [0, *(full(seed) for seed in range(1, 20))])
def test_random_parts(seed: int) -> None:
    """One of three is wrong, or may be, without keep-update-order and own-buffers."""
    graphs = {f"p{i}": random_parts(seed * PARTS + i, "f32") for i in range(PARTS)}
    check(graphs, "f32", CPUS[seed % len(CPUS)])


PARTS = 12
GPUS = ("gfx942", "gfx950", "gfx1201", "sm_80", "sm_90", "sm_120", "vulkan-rdna3", "vulkan-ampere")


@pytest.mark.parametrize(
    ("target", "names"), [("gfx942", NARROW), *(full(target, tuple(CASES)) for target in GPUS)]
)
def test_stream_of_gpus(target: str, names: Sequence[str]) -> None:
    """No device is needed to see what is written where."""
    graphs = {name: graph(name, "f32") for name in names}
    _, stream = compiled(graphs, target=target)
    assert check_stream(stream) == []
    faulty = {"rows_before": graphs["rows_before"]}
    _, stream = compiled(faulty, target=target, without=BOTH)
    assert len(check_stream(stream)) == 1


def test_runs_once() -> None:
    """What the pass made of an update is none that it would change again."""
    text = """
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %z = math.exp %x : tensor<8xf32>
  %s = tensor.extract_slice %z[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %d = math.sin %s : tensor<4xf32>
  %y = tensor.insert_slice %d into %z[1] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %y : tensor<8xf32>
}
"""
    module = parse_module(text, "test", ir.make_context())
    for passes in ("separate-updates", "canonicalize,cse,separate-updates"):
        Pipeline.parse(f"builtin.module({passes})").run(module)
        assert str(module).count("tensor.insert_slice") == 2
