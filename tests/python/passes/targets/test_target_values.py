"""Targets as values: none lacks a fact, and one more needs nothing else."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import headrace
import pytest
from headrace.dialects import ir
from headrace.passes.pipeline import Pipeline
from headrace.passes.targets.cpu import CPU
from headrace.passes.targets.cpu_features import CpuFeature
from headrace.passes.targets.fp8_support import DECODED, Fp8Support
from headrace.passes.targets.lookup import TARGETS, find_target, parse_target, target_names
from headrace.passes.targets.packing import NO_PACKING, Packing
from headrace.passes.targets.target import Rates, Target
from headrace.passes.targets.tiling import Tiling

ROOT = Path(__file__).parents[4]
MODEL = ROOT / "tests" / "models" / "fsdp_scan" / "model.mlir"

SCRATCH = Target(
    name="scratch",
    device="hip",
    backend=None,
    chip_flags=("--iree-rocm-target=scratch",),
    collectives="channel",
    fp8=DECODED,
    tiling=Tiling.none("nobody measured it"),
    packing=NO_PACKING,
    panels=(),
    own_attention="never",
    rounds_f16=True,
    rates=Rates(chip="a scratch chip", fp8=None, half=2, single=1, link=1),
    variants={},
)


@pytest.mark.parametrize("collectives", ["devices", "channel"])
def test_one_value_is_a_target(collectives: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TARGETS, "scratch", SCRATCH)
    options: dict[str, Any] = {"emit": "mlir", "collectives": collectives, "report": True}
    result = headrace.compile(MODEL, target="scratch", **options)
    assert "linalg.matmul" in str(result.module)
    report: dict[str, Any] = dict(result.report)
    assert report["target"] == "scratch"
    assert report["timeline"]["chip"] == "a scratch chip"
    assert {entry["reason"] for entry in report["not_encoded"]} == {
        "not encoded: nobody measured it"
    }
    with pytest.raises(ir.HeadraceError, match=r"vulkan-ampere, scratch$"):
        find_target("scratsh")


@pytest.mark.parametrize("kind", [Target, Fp8Support, Tiling, Packing, Rates, CpuFeature])
def test_no_fact_has_a_default(kind: type) -> None:
    """What a target leaves out is an error where the target is written."""
    for field in fields(kind):
        assert field.default is MISSING, field.name
        assert field.default_factory is MISSING, field.name


@pytest.mark.parametrize("name", target_names())
def test_facts_fit_together(name: str) -> None:
    target = find_target(name)
    assert target.name == name
    for chosen in (target, *target.variants.values()):
        assert chosen.name == name
        assert bool(chosen.tiling.types) != bool(chosen.tiling.reason)
        assert not chosen.tiling.types or chosen.tiling.worth > 0
        assert all(chosen.packing.has_tiles(types) for types in chosen.tiling.types)
        assert not chosen.panels or chosen.tiling.types
        assert chosen.flags(chosen.collectives, 2)


@pytest.mark.parametrize("name", [name for name in target_names() if name != "cpu"])
def test_a_target_is_written_in_one_file(name: str) -> None:
    chip = name.removeprefix("vulkan-")
    floors = ("compiler", "dialects", "passes", "tools")
    places = {
        str(path.relative_to(ROOT))
        for floor in floors
        for path in (ROOT / floor).rglob("*.py")
        if f'"{chip}"' in path.read_text()
    }
    assert len(places) == 1
    assert places < {f"passes/targets/{file}.py" for file in ("cpu", "rocm", "cuda", "vulkan")}


def test_features() -> None:
    variant, without_f16c = CPU.variants.values()
    assert parse_target("cpu") is CPU
    assert parse_target("cpu+bf16") is variant
    assert variant.fp8.multiplies_bf16
    assert not CPU.fp8.multiplies_bf16
    assert parse_target("cpu+no-f16c") is without_f16c
    assert CPU.rounds_f16
    assert not without_f16c.rounds_f16


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("cpu+amx", r"target 'cpu' has no CPU feature 'amx'; it has: bf16, no-f16c"),
        ("cpu+", r"target 'cpu' has no CPU feature ''; it has: bf16, no-f16c"),
        ("sm_80+bf16", r"target 'sm_80' has no CPU feature 'bf16'; it has: none"),
        ("tpu+bf16", r"unknown target 'tpu'; known are cpu, gfx942"),
    ],
)
def test_unknown_features(text: str, error: str) -> None:
    with pytest.raises(ir.HeadraceError, match=error):
        parse_target(text)


def test_a_feature_stays_in_pipeline_text() -> None:
    text = "builtin.module(lower-matmul{target=cpu+bf16},set-encodings{target=cpu+bf16})"
    assert str(Pipeline.parse(text)) == text
