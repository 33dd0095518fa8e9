"""The report on packed matmuls: what fusion saves and adds, and what is not packed."""

from __future__ import annotations

from functools import cache
from typing import Any

import headrace
import pytest
from dispatch_programs import without_panels
from model_programs import MODELS

NAME = "experimental_multi_use_encoding_fusion"
# Plain, and packed: what the option saves and adds in each case.
MULTI_USE = {
    "a_multiuse": (1, 512 * 1000 * 4),
    "a2_multiuse_nocollapse": (1, 512 * 1000 * 4),
    "a3_multiuse_twomatmul": (1, 512 * 1000 * 4),
    "a4_twomatmul_noresidual": (1, 512 * 1000 * 4),
}


@cache
def report_of(source: Any, **options: Any) -> Any:
    return headrace.compile(source, report=True, **options).report


@pytest.mark.parametrize("name", MULTI_USE)
@pytest.mark.parametrize("multi_use", [False, True])
def test_totals_with_and_without_the_option(name: str, multi_use: bool) -> None:
    report = report_of(without_panels(name), **{NAME: multi_use})
    fusion = report["encoding_fusion"]
    launches, added = MULTI_USE[name]
    assert fusion["total_without_option"] == {
        "launches_saved": 0,
        "launches_saved_per_run": 0,
        "bytes_added": 0,
    }
    assert fusion["total_with_option"] == {
        "launches_saved": launches,
        "launches_saved_per_run": launches,
        "bytes_added": added,
    }
    values = [
        {"value": "tensor<512x1000xf32>", "launches_saved": 1, "bytes_added": added, "trips": 1}
    ]
    assert fusion["values"] == (values if multi_use else [])


@pytest.mark.parametrize("name", MULTI_USE)
def test_the_launches_that_fusion_saves_are_gone(name: str) -> None:
    without = report_of(without_panels(name))
    given = report_of(without_panels(name), **{NAME: True})
    saved = given["encoding_fusion"]["total_with_option"]["launches_saved"]
    assert without["launches"] - given["launches"] == saved


def test_values_in_loops_count_once_per_trip() -> None:
    fusion = report_of(MODELS / "tp_mlp" / "model.mlir")["encoding_fusion"]
    assert fusion["values"]
    assert {v["trips"] for v in fusion["values"]} == {3}
    total = fusion["total_without_option"]
    assert total["launches_saved_per_run"] == 3 * total["launches_saved"] > 0
    # Packed in place of plain: nothing is stored twice.
    assert total["bytes_added"] == 0


MATMUL = """
func.func @main(%x: tensor<8x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<8x1024xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<8x1024xf32>, tensor<1024x1024xf32>) -> tensor<8x1024xf32>
  return %0 : tensor<8x1024xf32>
}
"""


def test_what_is_not_encoded_has_a_reason() -> None:
    (entry,) = report_of(MATMUL)["not_encoded"]
    assert entry["lhs"] == "tensor<8x1024xf32>"
    assert entry["rhs"] == "tensor<1024x1024xf32>"
    assert entry["result"] == "tensor<8x1024xf32>"
    assert entry["reason"].startswith("not encoded: tiling pays from 128 multiply-adds per element")


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("sm_89", "the encoding resolver of 'sm_89' is the identity"),
        ("gfx1201", "IREE 3.13 fails to compile encoded matmuls for RDNA"),
        ("vmvx", "VMVX runs packed matmuls no faster"),
    ],
)
def test_targets_without_tiles_say_so(target: str, reason: str) -> None:
    report = headrace.compile(MATMUL, target=target, emit="mlir").report
    entries: Any = report["not_encoded"]
    assert reason in entries[0]["reason"]
    fusion: Any = report["encoding_fusion"]
    assert fusion["values"] == []
    assert fusion["total_with_option"] is None


NAMED = {
    "quantized_matmul": (
        "%a: tensor<64x64xi8>, %z: i32, %i: tensor<64x64xi32>",
        """linalg.quantized_matmul ins(%a, %a, %z, %z : tensor<64x64xi8>, tensor<64x64xi8>, i32, i32)
        outs(%i : tensor<64x64xi32>) -> tensor<64x64xi32>""",
        "tensor<64x64xi32>",
    ),
    "conv_2d_nchw_fchw": (
        "%x: tensor<1x8x4x4xf32>, %k: tensor<8x8x1x1xf32>, %y: tensor<1x8x4x4xf32>",
        """linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>)
        outs(%y : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>""",
        "tensor<1x8x4x4xf32>",
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_products_that_are_no_contractions_say_so(name: str) -> None:
    arguments, op, result = NAMED[name]
    text = f"func.func @main({arguments}) -> {result} {{ %0 = {op} return %0 : {result} }}"
    (entry,) = report_of(text, emit="mlir")["not_encoded"]
    assert entry["reason"] == f"not encoded: no resolver takes a 'linalg.{name}'"
    assert entry["result"] == result


def test_a_matmul_in_panels_is_not_missing() -> None:
    f32 = "tensor<512x512xf32>"
    text = f"""
    func.func @main(%a: {f32}, %b: {f32}, %c: {f32}) -> {f32} {{
      %0 = linalg.matmul ins(%a, %b : {f32}, {f32}) outs(%c : {f32}) -> {f32}
      return %0 : {f32}
    }}"""
    result = headrace.compile(text, emit="mlir")
    assert "compilation_info" in str(result.module), "pack-panels has packed it"
    assert result.report["not_encoded"] == []
    assert not [r for r in result.remarks if "n loops" in str(r)]
