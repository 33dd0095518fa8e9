"""The loop models are pipelined, keep their numbers and their fp8 matmuls."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import headrace
import numpy as np
import pytest
from headrace.compiler import pipelines
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module_file
from headrace.dialects.upstream.scf import ForLoop
from model_programs import DOTS, MODELS, NAMES, collectives, compiled, handed_over, results

# Layers, and gathers in each.
PIPELINED = {"fsdp_scan": (6, 1), "llama_fsdp": (3, 7)}
LOOPS = ("fsdp_scan", "invariant_gather", "llama_fsdp", "tp_mlp")


def before_lowering(name: str, order: str = "after-matmul") -> ir.Operation:
    """The module that the report reads collectives from."""
    settings = pipelines.Settings("cpu", "devices", 4, order=order)
    module = parse_module_file(MODELS / name / "model.mlir", ir.make_context())
    pipelines.build_default(settings).before("lowering").run(module)
    return module


@pytest.mark.parametrize("name", PIPELINED)
def test_every_gather_is_a_trip_ahead(name: str) -> None:
    """Once before the loop and n-1 times in it, n in all."""
    layers, gathers = PIPELINED[name]
    found = collectives(compiled(name))
    assert all(c["pipelined"] and c["reason"] is None for c in found)
    assert Counter(c["trips"] for c in found) == {1: gathers, layers - 1: gathers}


def test_a_sum_of_carried_values_is_refused() -> None:
    (found,) = collectives(compiled("tp_mlp"))
    assert not found["pipelined"]
    assert found["trips"] == 3
    assert found["reason"] == (
        "not ahead, since it depends on a value carried by the loop; not behind, since it "
        "depends on a value carried by the loop that depends on it"
    )


def test_an_invariant_gather_runs_once() -> None:
    (found,) = collectives(compiled("invariant_gather"))
    assert found["trips"] == 1
    assert not found["pipelined"]
    assert found["reason"]


@pytest.mark.each_cpu(by="name")
@pytest.mark.parametrize("name", ["fsdp_scan", pytest.param("llama_fsdp", marks=pytest.mark.full)])
def test_same_numbers_as_without(name: str, tmp_path: Path) -> None:
    plain = headrace.compile(MODELS / name / "model.mlir", pipeline_collectives="all:off")
    assert not any(c["pipelined"] for c in collectives(plain))
    expected = results(plain, name, tmp_path)
    for got, want in zip(results(compiled(name), name, tmp_path), expected, strict=True):
        np.testing.assert_array_equal(got.view(np.uint16), want.view(np.uint16))


@pytest.mark.parametrize("order", ["after-matmul", "before-matmul"])
@pytest.mark.parametrize("name", PIPELINED)
def test_only_fp8_is_gathered_and_carried(name: str, order: str) -> None:
    """In the loop, in the prologue and in the peeled trip."""
    module = before_lowering(name, order)
    ops = ir.walk(module)
    layers, gathers = PIPELINED[name]
    (loop,) = [ForLoop(op) for op in ops if op.name == "scf.for"]
    assert loop.trips() == layers - 1
    gathered = [op.results[0].type for op in ops if op.name == "headrace.all_gather"]
    assert len(gathered) == 2 * gathers
    types = [ir.RankedTensorType(t) for t in (*gathered, *(v.type for v in loop.carried[1:]))]
    assert {str(t.element_type) for t in types} == {"f8E4M3FN"}
    assert len(loop.carried) == 1 + gathers
    _, scaled = DOTS[name]
    matmuls = [op for op in ops if op.name == "headrace.matmul"]
    assert len(matmuls) == 2 * scaled
    assert sum("headrace.peeled" in op.attributes for op in matmuls) == scaled


@pytest.mark.parametrize("name", NAMES)
def test_both_orders_form_the_same_matmuls(name: str) -> None:
    after, before = (
        handed_over(name, pipeline_order=order).report
        for order in ("after-matmul", "before-matmul")
    )
    for report in (after, before):
        matmuls: Any = report["matmuls"]
        assert (len(matmuls), sum(m["scaled"] for m in matmuls)) == DOTS[name]
    assert after["collectives"] == before["collectives"]


@pytest.mark.each_cpu(by="name")
@pytest.mark.parametrize("name", ["fsdp_scan", pytest.param("tp_mlp", marks=pytest.mark.full)])
def test_both_orders_give_the_same_numbers(name: str, tmp_path: Path) -> None:
    before = headrace.compile(MODELS / name / "model.mlir", pipeline_order="before-matmul")
    expected = results(compiled(name), name, tmp_path)
    for got, want in zip(results(before, name, tmp_path), expected, strict=True):
        np.testing.assert_array_equal(got.view(np.uint16), want.view(np.uint16))


@pytest.mark.parametrize("name", LOOPS)
def test_channel_form_is_pipelined_alike(name: str) -> None:
    channels = handed_over(name, target="gfx950")
    assert collectives(channels) == collectives(compiled(name))


def test_off_and_explicit_say_so() -> None:
    off = handed_over("fsdp_scan", pipeline_collectives="all_gather:off")
    assert [c["reason"] for c in collectives(off)] == ["pipelining of its kind is off"]
    explicit = handed_over("fsdp_scan", pipeline_collectives="all:explicit")
    (found,) = collectives(explicit)
    assert found["reason"] == "it does not carry the attribute headrace.pipeline"
    assert found["trips"] == 6


def test_the_last_mode_wins() -> None:
    modes = ("all:off", "all-gather:on")
    again = handed_over("fsdp_scan", pipeline_collectives=modes)
    assert all(c["pipelined"] for c in collectives(again))
    options: Any = again.report["options"]
    assert options["pipeline_collectives"] == list(modes)


def test_jax_asks_for_one_of_seven() -> None:
    """With ``jax.experimental.xla_metadata.set_xla_metadata(headrace_pipeline="true")``."""
    text = (MODELS / "llama_fsdp" / "model.mlir").read_text()
    end = "}> : (tensor<32x128xbf16>) -> tensor<128x128xbf16>"
    asked = '{mhlo.frontend_attributes = {headrace_pipeline = "true"}}'
    marked = text.replace(end, end.replace(" :", f" {asked} :"), 1)
    assert marked != text
    result = headrace.compile(marked, emit="mlir", pipeline_collectives="all:explicit")
    found = collectives(result)
    assert Counter((c["pipelined"], c["trips"]) for c in found) == {
        (True, 1): 1,
        (True, 2): 1,
        (False, 1): 6,
        (False, 2): 6,
    }


def test_budget() -> None:
    """Three of the seven gathered weights fit; the largest go first."""
    result = handed_over("llama_fsdp", pipeline_budget=3 * 128 * 256)
    found = collectives(result)
    assert Counter((c["pipelined"], c["bytes"]) for c in found) == {
        (True, 3 * 32 * 256): 2 * 3,
        (False, 3 * 32 * 128): 2 * 4,
    }
    assert {c["reason"] for c in found} == {
        None,
        "it needs 16384 bytes, 0 of the budget are left",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"pipeline_collectives": "gather:on"},
            "--pipeline-collectives: unknown kind 'gather'; known: all, all-gather",
        ),
        (
            {"pipeline_collectives": ("all:on", "all-gather:maybe")},
            "--pipeline-collectives: unknown mode 'maybe'; known: off, on, explicit",
        ),
        ({"pipeline_collectives": "off"}, "--pipeline-collectives: expected kind:mode, got 'off'"),
        (
            {"pipeline_order": "first"},
            "--pipeline-order must be one of after-matmul, before-matmul, got 'first'",
        ),
        ({"pipeline_budget": -1}, "--pipeline-budget must not be negative, got -1"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(headrace.HeadraceError, match=message):
        headrace.compile(MODELS / "fsdp_scan" / "model.mlir", **options)
