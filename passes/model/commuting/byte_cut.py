"""Where the fewest bytes are: a minimum cut of a graph of values."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

V = TypeVar("V", bound=Hashable)


def narrowest_cut(
    bytes_of: Mapping[V, int | None],
    next_of: Mapping[V, Sequence[V]],
    starts: Sequence[V],
    ends: Sequence[V],
) -> list[V] | None:
    """The values that every way from ``starts`` to ``ends`` meets, with the fewest bytes
    together, in the order of ``bytes_of``; of several such cuts the one next to the starts.

    ``bytes_of``: what a value costs, None where it cannot be cut. None if there is
    no cut. Edmonds and Karp's augmenting paths on a graph of split vertices.
    """
    # A value is two nodes, entered and left; what flows between is at most its bytes.
    infinite = 1 + sum(size for size in bytes_of.values() if size is not None)
    room: dict[tuple[object, object], int] = {}
    near: dict[object, dict[object, None]] = {}

    def join(a: object, b: object, size: int) -> None:
        room[a, b] = room.get((a, b), 0) + size
        room.setdefault((b, a), 0)
        near.setdefault(a, {})[b] = None
        near.setdefault(b, {})[a] = None

    source, sink = "source", "sink"
    for value, size in bytes_of.items():
        join((value, 0), (value, 1), infinite if size is None else size)
        for other in next_of.get(value, ()):
            join((value, 1), (other, 0), infinite)
    for value in starts:
        join(source, (value, 0), infinite)
    for value in ends:
        join((value, 1), sink, infinite)

    def reach() -> dict[object, object]:
        """How each node that still can be reached is reached."""
        found: dict[object, object] = {source: source}
        queue: deque[object] = deque([source])
        while queue:
            node = queue.popleft()
            for other in near.get(node, ()):
                if other not in found and room[node, other] > 0:
                    found[other] = node
                    queue.append(other)
        return found

    flow = 0
    while sink in (found := reach()):
        path: list[tuple[object, object]] = []
        node: object = sink
        while node != source:
            path.append((found[node], node))
            node = found[node]
        least = min(room[edge] for edge in path)
        flow += least
        if flow >= infinite:
            return None
        for a, b in path:
            room[a, b] -= least
            room[b, a] += least
    return [v for v in bytes_of if (v, 0) in found and (v, 1) not in found]
