"""No collective lacks a fact, or a row in a table that all of them stand in."""

from __future__ import annotations

import re
import typing
from pathlib import Path

import headrace
import pytest
from headrace.dialects.headrace import COLLECTIVES, CollectiveOp, MovingCollectiveOp
from headrace.dialects.ops.collective import ReducingCollectiveOp
from headrace.passes.devices.collectives.channel_collectives import CHANNEL_LOWERINGS
from headrace.passes.devices.spmd.device_collectives import DEVICE_LOWERINGS
from headrace.passes.frontend.collectives.collectives import STABLEHLO_FORMS
from headrace.passes.loops.pipeline_collectives import KINDS, mode_of_kinds

EVERY_KIND = pytest.mark.parametrize("kind", COLLECTIVES.values(), ids=lambda kind: kind.kind())


@EVERY_KIND
def test_every_fact_is_said(kind: type[CollectiveOp]) -> None:
    assert issubclass(kind, MovingCollectiveOp | ReducingCollectiveOp), "moves or reduces"
    said = {name for cls in kind.__mro__[: kind.__mro__.index(CollectiveOp)] for name in vars(cls)}
    asked = {"gives_parts", "ring_bytes", "factors"}
    if issubclass(kind, MovingCollectiveOp):
        asked.add("scale_rule")
        assert kind.scale_rule is not MovingCollectiveOp.scale_rule
    assert asked <= said
    fields = {field.name for field in kind.fields("attribute")}
    assert {kind.table, "pipelined"} <= fields
    assert issubclass(kind, ReducingCollectiveOp) == ("reduction" in fields)


@EVERY_KIND
def test_a_group_of_one_receives_nothing_from_others(kind: type[CollectiveOp]) -> None:
    if kind.names_every_device:
        assert kind.ring_bytes(1, 100, 100) == 0


@pytest.mark.parametrize(
    "rows",
    [
        set(DEVICE_LOWERINGS),
        set(CHANNEL_LOWERINGS),
        {form.kind for form in STABLEHLO_FORMS},
    ],
    ids=["devices", "channels", "StableHLO"],
)
def test_every_collective_has_a_row(rows: set[type[CollectiveOp]]) -> None:
    assert rows == set(COLLECTIVES.values())


@pytest.mark.parametrize("form", STABLEHLO_FORMS, ids=lambda form: form.name)
def test_the_front_end_gives_all_dimensions(form: typing.Any) -> None:
    dims = {f.name for f in form.kind.fields("attribute") if f.description == "an integer"}
    assert set(form.dims) == dims


def test_every_collective_has_a_pipelining_mode() -> None:
    assert set(KINDS) == {kind.kind() for kind in COLLECTIVES.values()}
    assert mode_of_kinds(["all:off"]) == dict.fromkeys(KINDS, "off")


@EVERY_KIND
def test_a_name_stands_in_at_most_four_product_files(kind: type[CollectiveOp]) -> None:
    name = kind.OPERATION_NAME.partition(".")[2]
    # JAX's functions of the same names stand in advice to users, IREE's ops in what is said of them.
    word = re.compile(rf"\b(?<!lax\.)(?<!flow\.collective\.)({name}|{kind.__name__})\b")
    product = Path(headrace.__file__).parent
    found = [
        str(path.relative_to(product))
        for floor in ("compiler", "dialects", "passes", "tools")
        for path in (product / floor).rglob("*.py")
        if word.search(path.read_text(encoding="utf-8"))
    ]
    assert len(found) <= 4, found
