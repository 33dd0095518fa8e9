"""In IREE's schedule of a loop, a pipelined collective runs beside a matmul."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import headrace
import pytest
from headrace.compiler import pipelines
from headrace.compiler.iree.child import run_iree_compile
from headrace.compiler.report.phases import PHASES, read_phases
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module_file
from headrace.passes.pipeline import Pipeline
from headrace.passes.targets.lookup import find_target
from model_programs import MODELS

STREAM = "--compile-to=stream"


def loops_of(name: str, target: str = "gfx950", *without: str) -> list[dict[str, Any]]:
    """The loops of a model in channel form; passes named in ``without`` left out."""
    text = pipelines.default_pipeline(target, "channel", 4)
    for name_of_pass in without:
        assert f",{name_of_pass}," in text
        text = text.replace(f",{name_of_pass},", ",")
    module = parse_module_file(MODELS / name / "model.mlir", ir.make_context())
    Pipeline.parse(text).run(module)
    flags = (*find_target(target).flags("channel", 4), STREAM)
    found = read_phases(run_iree_compile(module, flags, PHASES).phases)
    return [asdict(loop) for loop in found.overlap or ()]


@pytest.mark.parametrize("target", ["gfx950", "gfx942", "sm_89", "cpu"])
def test_the_gather_runs_beside_the_matmul_and_nothing_is_copied(target: str) -> None:
    assert loops_of("fsdp_scan", target) == [
        {"trips": 5, "collectives": 1, "overlapped": 1, "copies": 0}
    ]


@pytest.mark.parametrize("target", ["gfx950", "sm_89"])
def test_each_of_seven_gathers_has_a_matmul_of_its_own(target: str) -> None:
    assert loops_of("llama_fsdp", target) == [
        {"trips": 2, "collectives": 7, "overlapped": 7, "copies": 0}
    ]


def test_gathers_and_gradients_of_a_training_step_overlap() -> None:
    """IREE copies what a dynamic slice is stored into: activations, then gradients."""
    assert loops_of("fsdp_training_step") == [
        {"trips": 3, "collectives": 1, "overlapped": 1, "copies": 2},
        {"trips": 2, "collectives": 2, "overlapped": 2, "copies": 1},
    ]


def test_a_refused_reduction_runs_alone() -> None:
    assert loops_of("tp_mlp") == [{"trips": 3, "collectives": 1, "overlapped": 0, "copies": 0}]


def test_alignment_is_what_makes_it_overlap() -> None:
    (loop,) = loops_of("fsdp_scan", "gfx950", "align-collectives")
    assert (loop["overlapped"], loop["copies"]) == (0, 0)


def test_placed_arguments_are_what_saves_copies() -> None:
    (loop,) = loops_of("fsdp_scan", "gfx950", "place-arguments")
    assert loop["copies"] == 2


def test_pipelining_is_what_lets_them_overlap() -> None:
    result = headrace.compile(
        MODELS / "fsdp_scan" / "model.mlir",
        target="gfx950",
        report=True,
        pipeline_collectives="all:off",
        iree_flags=STREAM,
    )
    assert result.report["overlap"] == [
        {"trips": 6, "collectives": 1, "overlapped": 0, "copies": 0}
    ]
