"""Random linalg and torch graphs against numpy; see tests/fuzz/graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from fuzz.graphs.graph import Graph, Node, all_nodes
from fuzz.graphs.judge import CPUS, GPU_TARGETS, Outcome, Setting, judge
from fuzz.graphs.numerics import Numbers, exactly, sums, wrong_elements
from fuzz.graphs.profiles import PROFILES, graphs
from fuzz.graphs.shrink import as_before, shrink

# Profile, its first seed in these tests, and what it is compiled for in `make test`.
SOME = (
    ("mixed", 0, Setting("cpu", "x86-64-v3")),
    ("loops", 0, Setting("cpu", "x86-64-v2", multi_use=True)),
    ("products", 0, Setting("cpu", "host", multi_use=True, pack=True)),
    ("torch", 0, Setting("cpu", "x86-64-v3")),
)
SOME_GRAPHS = {"mixed": 8, "loops": 6, "products": 4, "torch": 8}
# 1,000 in all, each for each CPU, with the option and without in turn.
BATCH = 25
BATCHES = {"mixed": 16, "loops": 6, "products": 6, "torch": 12}


def check(found: Sequence[Graph], setting: Setting) -> list[Outcome]:
    """Fails with the first fault, made small."""
    outcomes = judge(found, setting)
    for graph, outcome in zip(found, outcomes, strict=True):
        if outcome.is_fault:
            small = shrink(graph, as_before(outcome, setting))
            pytest.fail(f"{graph.name} {setting}: {outcome.kind}: {outcome.reason}\n{small.text}")
    return outcomes


@pytest.mark.parametrize(("profile", "seed", "setting"), SOME, ids=str)
def test_some_graphs(profile: str, seed: int, setting: Setting) -> None:
    check(graphs(profile, range(seed, seed + SOME_GRAPHS[profile])), setting)


@pytest.mark.full
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize(("profile", "batch"), [(p, b) for p in BATCHES for b in range(BATCHES[p])])
def test_graphs(profile: str, batch: int, cpu: str) -> None:
    multi_use = (batch + CPUS.index(cpu)) % 2 == 1
    setting = Setting("cpu", cpu, multi_use=multi_use, pack=profile == "products")
    check(_batch(profile, batch), setting)


@pytest.mark.full
@pytest.mark.parametrize("target", GPU_TARGETS)
@pytest.mark.parametrize("profile", BATCHES)
def test_graphs_compile_for_gpus(profile: str, target: str) -> None:
    """Another batch for each target, with the option and without in turn."""
    index = GPU_TARGETS.index(target)
    setting = Setting(target, multi_use=index % 2 == 1)
    check(_batch(profile, index % BATCHES[profile]), setting)


@pytest.mark.full
@pytest.mark.parametrize("batch", range(4))
def test_graphs_of_f32_on_vmvx(batch: int) -> None:
    found = [g for g in _batch("mixed", batch) if _is_f32(g)]
    check(found, Setting("vmvx"))


def _batch(profile: str, batch: int) -> list[Graph]:
    return graphs(profile, range(BATCH * batch, BATCH * (batch + 1)))


def _is_f32(graph: Graph) -> bool:
    values = [*graph.arguments, *(r for n in all_nodes(graph.nodes) for r in n.results)]
    text = graph.text
    return all(v.type.element in ("f32", "i32", "i1", "index") for v in values) and not any(
        word in text for word in ("bf16", "f16", "f8E")
    )


def test_same_seed_same_graph() -> None:
    for profile in PROFILES:
        first, second = (graphs(profile, range(5)) for _ in range(2))
        assert [g.text for g in first] == [g.text for g in second]
        for a, b in zip(first, second, strict=True):
            assert all(
                np.array_equal(x.data, y.data) for x, y in zip(a.inputs, b.inputs, strict=True)
            )


def test_wrong_numbers_are_found() -> None:
    """One element of one result is off by one unit: that graph is wrong, and no other."""
    found = graphs("mixed", range(4))
    node = next(n for n in found[1].nodes if n.results[0] in found[1].results)

    def off(*values: Numbers) -> list[Numbers]:
        (first, *rest) = node.compute(*values)
        data = first.data.copy()
        data.reshape(-1)[-1] = 1 - data.reshape(-1)[-1] if data.dtype == np.bool_ else 77
        return [Numbers(data, first.error), *rest]

    nodes = [replace(node, compute=off) if n is node else n for n in found[1].nodes]
    found[1] = replace(found[1], nodes=nodes)
    assert [o.kind for o in judge(found, Setting())] == ["ok", "wrong", "ok", "ok"]


OP = "tensor.extract_slice"


def test_failing_graphs_are_made_small() -> None:
    """Down to the one op that is said to fail, in loops too."""
    shrunk = 0
    for graph in graphs("loops", range(30)):
        if not _has(graph.nodes, OP):
            continue
        small = shrink(graph, lambda graphs: [_has(g.nodes, OP) for g in graphs])
        nested = not any(n.op == OP for n in small.nodes)
        assert len([*all_nodes(small.nodes)]) <= (4 if nested else 1), small.text
        shrunk += 1
    assert shrunk > 3


def _has(nodes: Sequence[Node], op: str) -> bool:
    return any(n.op == op for n in all_nodes(nodes))


def test_bounds_of_sums() -> None:
    """Small integers are exact in any order, and errors add up where they are not."""
    whole = exactly(np.arange(12, dtype=np.float32).reshape(3, 4))
    assert sums([whole], lambda a: a.sum(1), 4, "f32").exact
    assert sums([whole], lambda a: a.sum(1), 4, "bf16").exact
    large = exactly(np.full((3, 4), 255, np.float32))
    assert not sums([large], lambda a: a.sum(1), 4, "bf16").exact
    tenths = exactly((np.arange(12).reshape(3, 4) / 10).astype(np.float32))
    found = sums([tenths, tenths], lambda a, b: (a * b).sum(1), 4, "f32")
    assert 0 < found.error.max() < 1e-5
    reverse = np.zeros(3, np.float32)
    for column in range(3, -1, -1):
        reverse += tenths.data[:, column] * tenths.data[:, column]
    assert not wrong_elements(reverse, found).any()
    assert wrong_elements(reverse + np.float32(1e-4), found).all()
