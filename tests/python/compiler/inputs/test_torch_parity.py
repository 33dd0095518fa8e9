"""Each torch op becomes what IREE's own torch input pipeline makes of it.

tests/models/torch/write_ops.py makes the programs, one function for each op.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from headrace.compiler.inputs.contents import Contents
from headrace.compiler.inputs.torch_programs import lower_torch
from headrace.dialects import ir
from headrace.dialects.ir.native_passes import run_native_pipeline
from headrace.dialects.ir.parsing import parse_module

OPS = Path(__file__).parent.parent.parent.parent / "models" / "torch" / "ops.mlir"
Histograms = dict[str, Counter[str]]

# What stands for the calling convention: IREE's has fences, and buffer views
# that are told their dynamic sizes.
_CONVENTION = ("hal.", "util.func", "util.return", "util.call", "util.null", "func.", "tensor.dim")

_ATTENTION = {"", "_causal", "_mask", "_grouped", "_scale", "_dynamic"}
# The functions whose ops differ, all by the pass split-attention.
DIFFERENT = {
    # Rows of a mask that let no key pass are set to 0, PyTorch's number.
    "sm_80": {"attention_mask"},
    # Besides, of a dynamic length: IREE 3.13 compiles for minutes, then fails.
    "gfx942": {"attention_mask", "attention_dynamic"},
    # IREE's own attention is 12 to 40 times slower than its parts.
    "cpu": {f"attention{suffix}" for suffix in _ATTENTION},
}


def _histograms(module: ir.Operation) -> Histograms:
    """The ops of each function, by name."""
    found: Histograms = {}
    for function in ir.operations_of(module.regions[0].blocks[0]):
        name = str(function.attributes["sym_name"]).strip('"')
        if function.name == "util.func" and not name.endswith("$async"):
            continue  # only waits for the other
        names = (op.name for op in ir.walk(function, bodies=True))
        kept = Counter(n for n in names if not n.startswith(_CONVENTION))
        found[name.removesuffix("$async")] = kept
    return found


@pytest.fixture(scope="module")
def stock() -> Histograms:
    module = parse_module(OPS.read_text(), str(OPS), ir.make_context())
    run_native_pipeline(
        module, "builtin.module(torch-to-iree,iree-input-conversion-demote-f64-to-f32)"
    )
    return _histograms(module)


@pytest.mark.parametrize("target", DIFFERENT)
def test_ops_are_those_of_iree(target: str, stock: Histograms) -> None:
    module = parse_module(OPS.read_text(), str(OPS), ir.make_context())
    with module.context, module.location:
        lower_torch(Contents(module), target)
    ours = _histograms(module)
    assert list(ours) == list(stock)
    different = {name for name in ours if ours[name] != stock[name]}
    assert different == DIFFERENT[target]
