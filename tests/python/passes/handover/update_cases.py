"""Updates of tensors that are read elsewhere, one kind each."""

from __future__ import annotations

from collections.abc import Callable

from update_graphs import Graph, Moving

CASES: dict[str, Callable[[Graph], list[int]]] = {}


def case(make: Callable[[Graph], list[int]]) -> Callable[[Graph], list[int]]:
    CASES[make.__name__] = make
    return make


@case
def rows_before(g: Graph) -> list[int]:
    y = g.negate(0)
    return [g.negate(g.update(y, g.negate(g.window(y, (0, 0), 4, 16)), (1, 0)))]


@case
def rows_after(g: Graph) -> list[int]:
    y = g.negate(0)
    return [g.negate(g.update(y, g.negate(g.window(y, (1, 0), 15, 16)), (0, 0)))]


@case
def shift(g: Graph) -> list[int]:
    y = g.negate(0)
    return [g.negate(g.update(y, g.window(y, (0, 0), 15, 16), (1, 0)))]


@case
def shift_and_append(g: Graph) -> list[int]:
    y = g.negate(0)
    y = g.update(y, g.window(y, (1, 0), 15, 16), (0, 0))
    return [g.negate(g.update(y, g.negate(g.window(1, (0, 0), 1, 16)), (15, 0)))]


@case
def window(g: Graph) -> list[int]:
    y = g.negate(0)
    return [g.negate(g.update(y, g.negate(g.window(y, (0, 0), 4, 4)), (1, 1)))]


@case
def turned_window(g: Graph) -> list[int]:
    y = g.negate(0)
    return [g.negate(g.update(y, g.transpose(g.window(y, (0, 0), 4, 4)), (0, 0)))]


@case
def reversed_rows(g: Graph) -> list[int]:
    y = g.negate(0)
    return [g.negate(g.update(y, g.negate(g.reverse(g.window(y, (0, 0), 8, 16))), (0, 0)))]


@case
def reversed_columns(g: Graph) -> list[int]:
    y = g.negate(0)
    return [g.negate(g.update(y, g.negate(g.reverse(g.window(y, (2, 0), 4, 16), 1)), (2, 0)))]


@case
def row_maxima(g: Graph) -> list[int]:
    y = g.negate(0)
    part = g.window(y, (1, 0), 4, 16)
    return [g.negate(g.update(y, g.maximum(g.negate(part), g.row_maximum(part)), (1, 0)))]


@case
def flat(g: Graph) -> list[int]:
    y = g.negate(0)
    part = g.reshape(g.negate(g.window(y, (0, 0), 4, 16)), 64)
    return [g.negate(g.reshape(g.update(g.reshape(y, 256), part, (16,)), 16, 16))]


@case
def one_element(g: Graph) -> list[int]:
    y = g.reshape(g.negate(g.window(0, (0, 0), 1, 16)), 16)
    return [g.negate(g.update(y, g.negate(g.window(y, (0,), 1)), (1,)))]


@case
def unknown_rows(g: Graph) -> list[int]:
    y = g.negate(0)
    part = g.negate(g.window(y, (Moving(-1), 0), 4, 16))
    return [g.negate(g.update(y, part, (Moving(0), 0)))]


@case
def long_chain(g: Graph) -> list[int]:
    y = g.negate(0)
    part = g.row_maximum(g.transpose(g.window(y, (0, 0), 16, 4)))
    part = g.reverse(g.maximum(g.negate(part), g.window(y, (0, 0), 4, 16)))
    return [g.negate(g.update(y, g.negate(part), (1, 0)))]


@case
def two_updates(g: Graph) -> list[int]:
    y = g.negate(0)
    y = g.update(y, g.negate(g.window(y, (0, 0), 4, 16)), (1, 0))
    return [g.negate(g.update(y, g.negate(g.window(y, (3, 0), 4, 16)), (5, 0)))]


@case
def two_updates_at_once(g: Graph) -> list[int]:
    y = g.negate(0)
    a, b = g.negate(g.window(y, (0, 0), 4, 16)), g.negate(g.window(y, (3, 0), 4, 16))
    return [g.negate(g.update(g.update(y, a, (1, 0)), b, (5, 0)))]


@case
def swapped(g: Graph) -> list[int]:
    y = g.negate(0)
    a, b = g.window(y, (0, 0), 4, 16), g.window(y, (4, 0), 4, 16)
    return [g.negate(g.update(g.update(y, b, (0, 0)), a, (4, 0)))]


@case
def two_of_one(g: Graph) -> list[int]:
    y = g.negate(0)
    a = g.update(y, g.negate(g.window(y, (2, 0), 4, 16)), (0, 0))
    b = g.update(y, g.row_maximum(g.window(1, (0, 0), 4, 16)), (2, 0))
    return [g.negate(a), g.negate(b)]


@case
def other_reader(g: Graph) -> list[int]:
    y = g.negate(0)
    part = g.negate(g.window(1, (0, 0), 4, 16))
    largest = g.row_maximum(y)
    return [g.negate(g.update(y, part, (1, 0))), largest]


@case
def readers_between(g: Graph) -> list[int]:
    y = g.negate(0)
    first = g.row_maximum(y)
    y1 = g.update(y, g.negate(g.window(y, (0, 0), 4, 16)), (1, 0))
    second = g.row_maximum(g.transpose(y1))
    y2 = g.update(y1, g.negate(g.window(y1, (1, 0), 4, 16)), (3, 0))
    return [g.negate(y2), g.maximum(g.transpose(y2), first), second]


@case
def reader_of_a_view(g: Graph) -> list[int]:
    y = g.negate(0)
    part = g.negate(g.window(1, (0, 0), 4, 16))
    updated = g.negate(g.update(y, part, (1, 0)))
    return [updated, g.negate(g.reverse(g.reshape(y, 8, 32)))]


@case
def joined(g: Graph) -> list[int]:
    y = g.negate(0)
    return [g.negate(g.join(g.window(y, (1, 0), 15, 16), g.negate(g.window(y, (0, 0), 1, 16)), y))]


@case
def update_of_joined(g: Graph) -> list[int]:
    y = g.join(g.negate(0), g.row_maximum(1))
    return [g.negate(g.update(y, g.negate(g.window(y, (0, 0), 4, 16)), (2, 0)))]


@case
def padded(g: Graph) -> list[int]:
    y = g.pad(g.negate(0))
    return [g.negate(g.update(y, g.negate(g.window(y, (0, 0), 4, 16)), (1, 0)))]


@case
def two_padded(g: Graph) -> list[int]:
    a, b = g.pad(g.row_maximum(0)), g.pad(g.row_maximum(1))
    return [g.negate(a), g.negate(b)]


@case
def scattered(g: Graph) -> list[int]:
    y = g.negate(0)
    return [g.negate(g.scatter(y, g.negate(g.window(y, (0, 0), 4, 16))))]


@case
def scattered_beside_a_reader(g: Graph) -> list[int]:
    y = g.negate(0)
    rows = g.negate(g.window(1, (0, 0), 4, 16))
    largest = g.row_maximum(y)
    return [g.negate(g.scatter(y, rows)), largest]


@case
def rolled_in_a_loop(g: Graph) -> list[int]:
    def body(b: Graph, v: list[int]) -> list[int]:
        y = b.update(v[0], b.negate(b.window(v[0], (0, 0), 15, 16)), (1, 0))
        return [b.update(y, b.window(y, (Moving(4), 0), 1, 16), (0, 0))]

    return [g.negate(g.loop([g.negate(0)], body)[0])]


@case
def history(g: Graph) -> list[int]:
    def body(b: Graph, v: list[int]) -> list[int]:
        part = b.negate(b.window(v[0], (Moving(0), 0), 4, 16))
        return [b.update(v[0], part, (Moving(1), 0)), b.maximum(v[1], b.row_maximum(v[0]))]

    a, b = g.loop([g.negate(0), g.row_maximum(1)], body)
    return [g.negate(a), b]


@case
def twice_in_a_loop(g: Graph) -> list[int]:
    def body(b: Graph, v: list[int]) -> list[int]:
        y = b.update(v[0], b.negate(b.window(v[0], (Moving(0), 0), 4, 16)), (Moving(1), 0))
        part = b.reverse(b.window(y, (Moving(2), 0), 4, 16))
        return [b.update(y, b.negate(part), (Moving(3), 0))]

    return [g.negate(g.loop([g.negate(0)], body)[0])]


@case
def two_carried_from_one(g: Graph) -> list[int]:
    def body(b: Graph, v: list[int]) -> list[int]:
        a = b.update(v[0], b.negate(b.window(v[1], (0, 0), 1, 16)), (Moving(0), 0))
        return [a, b.update(v[1], b.negate(b.window(v[0], (1, 0), 1, 16)), (Moving(2), 0))]

    y = g.negate(0)
    a, b = g.loop([y, y], body)
    return [g.negate(a), g.negate(b)]


# What is right beside each other is written at once: see keep-update-order.


@case
def part_written_again(g: Graph) -> list[int]:
    y = g.update(g.negate(0), g.window(1, (0, 0), 4, 16), (0, 0))
    y = g.update(y, g.window(1, (4, 0), 4, 16), (4, 0))
    return [g.update(y, g.window(1, (8, 0), 4, 16), (0, 0))]


@case
def part_computed_again(g: Graph) -> list[int]:
    y = g.update(g.negate(0), g.row_maximum(g.window(1, (0, 0), 4, 16)), (4, 0))
    y = g.update(y, g.window(1, (4, 0), 4, 16), (0, 0))
    return [g.update(y, g.negate(g.window(1, (8, 0), 3, 16)), (4, 0))]


@case
def part_read_again(g: Graph) -> list[int]:
    y = g.update(g.negate(0), g.window(1, (0, 0), 4, 16), (0, 0))
    y = g.update(y, g.window(1, (4, 0), 4, 16), (4, 0))
    return [y, g.window(y, (0, 0), 4, 16)]


@case
def part_of_joined_again(g: Graph) -> list[int]:
    y = g.join(g.window(0, (0, 0), 4, 16), g.window(1, (0, 0), 8, 16))
    y = g.update(y, g.window(0, (4, 0), 4, 16), (0, 0))
    return [y, g.join(g.reshape(g.window(y, (4, 0), 8, 16), 128), g.reshape(y, 192))]


@case
def many_parts_again(g: Graph) -> list[int]:
    y = g.negate(0)
    for row, place in enumerate((3, 2, 1, 2, 3, 2, 1)):
        y = g.update(y, g.window(1, (row, 0), 1, 16), (place, 0))
    return [y]


@case
def part_again_in_a_loop(g: Graph) -> list[int]:
    def body(b: Graph, v: list[int]) -> list[int]:
        y = b.update(v[0], b.window(v[1], (Moving(0), 0), 8, 16), (0, 0))
        y = b.update(y, b.window(v[1], (Moving(1), 0), 8, 16), (8, 0))
        return [b.update(y, b.window(v[1], (Moving(2), 0), 8, 16), (0, 0)), b.reverse(v[1])]

    return g.loop([g.negate(0), g.negate(1)], body)


AGAIN = tuple(name for name in CASES if "part" in name)

# Two updates at once, and a reader before them: see own-buffers.


@case
def maxima_before(g: Graph) -> list[int]:
    y = g.negate(0)
    largest = g.row_maximum(y)
    updated = g.update(
        g.update(y, g.window(1, (0, 0), 4, 16), (8, 0)), g.window(1, (4, 0), 4, 16), (12, 0)
    )
    return [updated, largest]


@case
def rows_read_before(g: Graph) -> list[int]:
    y = g.negate(0)
    rows = g.window(y, (8, 0), 4, 16)
    y = g.update(y, g.window(1, (9, 0), 4, 16), (8, 0))
    return [g.update(y, g.negate(g.window(1, (8, 0), 4, 16)), (12, 0)), rows]


@case
def maxima_before_in_a_loop(g: Graph) -> list[int]:
    def body(b: Graph, v: list[int]) -> list[int]:
        y = b.update(v[0], b.window(v[2], (Moving(0), 0), 4, 16), (8, 0))
        y = b.update(y, b.window(v[2], (Moving(1), 0), 4, 16), (12, 0))
        return [y, b.row_maximum(v[0]), v[2]]

    return g.loop([g.negate(0), g.negate(1), 1], body)[:2]


LATE = ("other_reader", "maxima_before", "rows_read_before")


def graph(name: str, element: str) -> Graph:
    made = Graph(element)
    made.results = CASES[name](made)
    return made
