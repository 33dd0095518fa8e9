"""The real programs in tests/models raise completely."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from headrace.dialects import ir
from headrace.dialects.fp8 import fp8_format
from headrace.dialects.ir.parsing import parse_module_file
from headrace.passes.pipeline import Pipeline
from headrace.passes.remarks import collect_remarks

MODELS = Path(__file__).parent.parent.parent.parent / "models"
FRONTEND = "record-shardings,inline,raise-stablehlo,canonicalize,cse"

# What the models hold, a loop body counted once.
EXPECTED = {
    "fsdp_scan": {"quantize": 2, "dequantize": 2, "all_gather": 1},
    "invariant_gather": {"quantize": 2, "dequantize": 2, "all_gather": 1},
    # Seven weights, each against an activation.
    "llama_fsdp": {"quantize": 14, "dequantize": 14, "all_gather": 7},
    "tp_mlp": {"quantize": 4, "dequantize": 4, "all_reduce": 1},
    "multi_use_block": {"quantize": 4, "dequantize": 4},
}
# It converts to fp8 without clamp and without scale.
UNSCALED = "invariant_gather"


@pytest.mark.parametrize("model", EXPECTED)
def test_raises_completely(model: str) -> None:
    module = parse_module_file(MODELS / model / "model.mlir", ir.make_context())
    with collect_remarks() as remarks:
        Pipeline.parse(f"builtin.module({FRONTEND})").run(module)
    assert remarks == []
    ops = ir.walk(module)
    raised = Counter(op.name for op in ops if op.name.startswith("headrace."))
    assert raised == {f"headrace.{name}": count for name, count in EXPECTED[model].items()}
    left = [op.name for op in ops if op.name.startswith("stablehlo.") and _is_ours(op)]
    assert left == []


def _is_ours(op: ir.Operation) -> bool:
    """A collective, or a convert to or from fp8."""
    if "replica_groups" in op.attributes or "source_target_pairs" in op.attributes:
        return True
    values = [*op.operands, *op.results]
    return "convert" in op.name and any(fp8_format(value.type) for value in values)


@pytest.mark.parametrize("model", EXPECTED)
def test_every_scale_is_the_one_of_the_graph(model: str) -> None:
    """Quantize divides, dequantize multiplies, by one number."""
    module = parse_module_file(MODELS / model / "model.mlir", ir.make_context())
    Pipeline.parse(f"builtin.module({FRONTEND})").run(module)
    for op in ir.walk(module):
        if op.name not in ("headrace.quantize", "headrace.dequantize"):
            continue
        quantizes = op.name == "headrace.quantize"
        assert ir.StringAttr(op.attributes["scale_mode"]).value == (
            "divide" if quantizes else "multiply"
        )
        if quantizes and model == UNSCALED:
            assert len(op.operands) == 1
            assert not ir.BoolAttr(op.attributes["saturate"]).value
            continue
        assert str(op.operands[1].type) in ("tensor<bf16>", "tensor<f32>")
        if quantizes:
            assert ir.BoolAttr(op.attributes["saturate"]).value


def test_equal_activations_are_quantized_once() -> None:
    """Llama's q, k, v and gate, up projections share an activation each."""
    module = parse_module_file(MODELS / "llama_fsdp" / "model.mlir", ir.make_context())
    Pipeline.parse(f"builtin.module({FRONTEND},headrace-cse,headrace-dce)").run(module)
    names = Counter(op.name for op in ir.walk(module))
    assert names["headrace.quantize"] == names["headrace.dequantize"] == 14 - 2 - 1
