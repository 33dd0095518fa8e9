"""Makes a failing graph small: a few ops that fail in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from .graph import Body, Graph, Node, Value, all_nodes
from .judge import Outcome, Setting, judge, kind_of_failure
from .numerics import Unfit

Fails = Callable[[Sequence[Graph]], Sequence[bool]]


def shrink(graph: Graph, fails: Fails, rounds: int = 30) -> Graph:
    """The smallest graph that this finds among those that fail.

    Each round tries all graphs that are one change smaller, together, and goes
    on from the smallest that still fails.
    """
    for _ in range(rounds):
        smaller = [
            replace(c, name=f"{graph.name}_{i}")
            for i, c in enumerate(sorted(candidates(graph), key=cost))
        ]
        failing = [c for c, f in zip(smaller, fails(smaller), strict=True) if f]
        if not failing:
            return graph
        graph = replace(failing[0], name=graph.name)
    return graph


def as_before(outcome: Outcome, setting: Setting) -> Fails:
    """Whether graphs fail as one did that had this outcome."""
    wanted = kind_of_failure(outcome)

    def fails(graphs: Sequence[Graph]) -> list[bool]:
        return [kind_of_failure(o) == wanted for o in judge(graphs, setting)]

    return fails


def cost(graph: Graph) -> tuple[int, int]:
    """Fewer nodes first, then less text."""
    return sum(1 for _ in all_nodes(graph.nodes)), len(graph.text)


def candidates(graph: Graph) -> Iterator[Graph]:
    """Valid graphs that are one change smaller."""
    for found in _changed(graph):
        found = found.cleaned()
        if cost(found) >= cost(graph):
            continue
        try:
            found.evaluate()
        except Unfit:
            continue
        if found.nodes:
            yield found


def _changed(graph: Graph) -> Iterator[Graph]:
    if len(graph.results) > 1:
        for result in graph.results:
            yield replace(graph, results=[result])
            yield replace(graph, results=[r for r in graph.results if r is not result])
    env = graph.evaluate()
    for node in graph.nodes:
        # What the node makes is handed in.
        yield replace(
            graph,
            arguments=[*graph.arguments, *node.results],
            inputs=[*graph.inputs, *(env[r] for r in node.results)],
            nodes=[n for n in graph.nodes if n is not node],
            results=[r for r in graph.results if r not in node.results] or graph.results,
        )
    # A node is left out, and something of its type that is there put in its place.
    scopes: list[tuple[Node, list[Value]]] = [*_scopes(graph.nodes, graph.arguments)]
    for node, visible in scopes:
        mapping: dict[Value, Value] = {}
        for result in node.results:
            same = [v for v in visible if v.type == result.type]
            if same:
                mapping[result] = same[-1]
        if len(mapping) == len(node.results):
            yield replace(
                graph,
                nodes=_substituted([*graph.nodes], mapping, node),
                results=[mapping.get(r, r) for r in graph.results],
            )


def _scopes(nodes: Sequence[Node], visible: Sequence[Value]) -> Iterator[tuple[Node, list[Value]]]:
    """Each node with the values that are defined before it."""
    before = [*visible]
    for node in nodes:
        yield node, [*before]
        for body in node.bodies:
            yield from _scopes(body.nodes, [*before, *body.arguments])
        before += node.results


def _substituted(nodes: Sequence[Node], mapping: dict[Value, Value], left_out: Node) -> list[Node]:
    found: list[Node] = []
    for node in nodes:
        if node is left_out:
            continue
        bodies = [
            Body(
                b.arguments,
                _substituted(b.nodes, mapping, left_out),
                [mapping.get(r, r) for r in b.results],
            )
            for b in node.bodies
        ]
        operands = [mapping.get(o, o) for o in node.operands]
        found.append(replace(node, operands=operands, bodies=bodies))
    return found
