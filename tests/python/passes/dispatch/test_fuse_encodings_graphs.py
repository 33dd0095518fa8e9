"""Random graphs: ours against numpy, and against IREE's own pass where that works."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

import iree.runtime as rt
import numpy as np
import pytest
from encoding_graphs import Graph, random_graph
from headrace.compiler.iree.child import run_iree_compile
from headrace.dialects import ir
from headrace.dialects.child_process import native_tool
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline
from headrace.passes.targets.lookup import find_target

IREE_PASS = "iree-dispatch-creation-fuse-encoding-ops-into-dispatch-regions-pass"
MULTI_USE = "experimental-multi-use-encoding-fusion"
TOGETHER = 20  # functions per program: starting iree-compile costs more than most


def fused(text: str, multi_use: bool, target: str = "cpu") -> str:
    module = parse_module(text, "graph", ir.make_context())
    options = f"{MULTI_USE}={str(multi_use).lower()} target={target}"
    Pipeline.parse(f"builtin.module(fuse-encodings{{{options}}},strip-headrace)").run(module)
    return str(module)


def fused_by_iree(text: str, multi_use: bool) -> str | None:
    """None where IREE's pass fails or crashes."""
    option = f"enable-aggressive-fusion={str(multi_use).lower()}"
    pipeline = f"builtin.module(func.func({IREE_PASS}{{{option}}}))"
    binary = native_tool("iree-opt")
    assert binary is not None
    done = subprocess.run(
        [binary, "-", f"--pass-pipeline={pipeline}"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout if done.returncode == 0 else None


def compiled(text: str, target: str = "cpu") -> bytes | None:
    module = parse_module(text, "graphs", ir.make_context())
    flags = find_target(target).flags("channel", 1)
    try:
        return run_iree_compile(module, flags).vmfb
    except ir.HeadraceError:
        return None


def wrong(vmfb: bytes, graphs: Sequence[Graph]) -> list[str]:
    """Names of functions that compute something else than numpy."""
    context = rt.SystemContext(config=rt.Config("local-task"))
    context.add_vm_module(rt.VmModule.copy_buffer(context.instance, vmfb))
    return [g.name for g in graphs if not _agrees(context.modules.module[g.name], g)]


def _agrees(function: object, graph: Graph) -> bool:
    inputs = graph.inputs(seed=7)
    found = function(*inputs)  # pyright: ignore
    found = found if isinstance(found, tuple | list) else [found]
    expected = [value.evaluate(inputs) for value in graph.results]
    # Sums of sums cancel: errors are measured against the largest element.
    return all(
        np.abs(np.asarray(a) - b).max() <= 1e-5 * np.abs(b).max()
        for a, b in zip(found, expected, strict=True)
    )


def packings_outside(text: str) -> int:
    """How many encodings are left as launches of their own."""
    module = parse_module(text, "graph", ir.make_context())
    encodes = [op for op in ir.walk(module) if op.name == "iree_encoding.set_encoding"]
    return sum(op.parent.name == "func.func" for op in encodes)


def check(graphs: Sequence[Graph], multi_use: bool) -> None:
    """All of ours compile if their unfused forms do, and compute what numpy does."""
    vmfb = compiled(fused("".join(g.text for g in graphs), multi_use))
    if vmfb is not None:
        assert wrong(vmfb, graphs) == []
        return
    for graph in graphs:
        vmfb = compiled(fused(graph.text, multi_use))
        if vmfb is None:
            assert compiled(graph.text) is None, f"fusing broke {graph.name}:\n{graph.text}"
        else:
            assert wrong(vmfb, [graph]) == [], graph.text


def graphs_from(seed: int, count: int) -> list[Graph]:
    return [random_graph(f"graph{seed + i}", seed + i) for i in range(count)]


@pytest.mark.each_cpu
@pytest.mark.parametrize("multi_use", [False, True])
def test_some_graphs_agree_with_numpy(multi_use: bool) -> None:
    check(graphs_from(1000 * multi_use, 5), multi_use)


@pytest.mark.each_cpu
@pytest.mark.full
@pytest.mark.parametrize("part", range(500 // TOGETHER))
def test_graphs_agree_with_numpy(part: int) -> None:
    check(graphs_from(5000 + TOGETHER * part, TOGETHER), multi_use=part % 2 == 1)


def test_ours_leaves_no_more_launches_than_iree() -> None:
    """Without the option: with it, much of what IREE's pass makes does not compile.

    And for gfx942, on which any packing of a value with one user compiles.
    """
    for seed in range(30):
        graph = random_graph("f", 20_000 + seed)
        ours = fused(graph.text, multi_use=False, target="gfx942")
        theirs = None if graph.yields_twice else fused_by_iree(graph.text, multi_use=False)
        if theirs is not None:
            assert packings_outside(ours) <= packings_outside(theirs), graph.text


@pytest.mark.each_cpu
@pytest.mark.full
@pytest.mark.parametrize("part", range(500 // TOGETHER))
def test_graphs_agree_with_iree(part: int) -> None:
    """Where IREE's pass gives something that compiles, it computes the same."""
    graphs = [g for g in graphs_from(5000 + TOGETHER * part, TOGETHER) if not g.yields_twice]
    for group in [graphs, *([g] for g in graphs)]:
        theirs = fused_by_iree("".join(g.text for g in group), multi_use=part % 2 == 1)
        vmfb = compiled(theirs) if theirs is not None else None
        if vmfb is not None:
            assert wrong(vmfb, group) == []
        if vmfb is not None and group is graphs:
            break


@pytest.mark.full
@pytest.mark.parametrize("multi_use", [False, True])
@pytest.mark.parametrize(
    "target", ["gfx942", "gfx950", "gfx1201", "sm_80", "sm_89", "vulkan-rdna3"]
)
def test_graphs_compile_for_gpus(target: str, multi_use: bool) -> None:
    """Fusing breaks nothing that compiles without."""
    for graph in graphs_from(30_000, 12):
        if compiled(fused(graph.text, multi_use, target), target) is None:
            assert compiled(graph.text, target) is None, graph.text
