"""The dispatch stage as a whole: launches, bytes and numbers of known cases."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import cpus
import numpy as np
import pytest
from dispatch_programs import CASES, Program, compiled, error, lowered, without_panels
from headrace.compiler.iree.element_types import Array
from headrace.dialects import ir

MODEL = Path(__file__).parents[3] / "models" / "multi_use_block"
# Launches and bytes written; stock iree-compile 3.13 with data tiling: 4, 4, 7
# and 6 launches, 16.8, 16.8, 18.9 and 16.8 MB. The activation stays plain.
COUNTS = {
    "a_multiuse": (3, 14_680_064),
    "a2_multiuse_nocollapse": (3, 14_680_064),
    "a3_multiuse_twomatmul": (5, 14_680_064),
    "a4_twomatmul_noresidual": (5, 14_680_064),
}
# Without and with the option, where no panels fit.
WITHOUT_PANELS = {
    "a_multiuse": (4, 3),
    "a2_multiuse_nocollapse": (4, 3),
    "a3_multiuse_twomatmul": (6, 5),
    "a4_twomatmul_noresidual": (6, 5),
}


@cpus.cache
def _case(name: str, multi_use: bool) -> tuple[bytes, dict[str, object]]:
    text = (CASES / f"{name}.mlir").read_text()
    return compiled(lowered(text, "cpu", multi_use=multi_use), "cpu")


@pytest.mark.each_cpu(by="name")
@pytest.mark.parametrize("multi_use", [False, True])
@pytest.mark.parametrize("name", COUNTS)
def test_launches_and_bytes(name: str, multi_use: bool) -> None:
    _, counts = _case(name, multi_use)
    assert counts["launches"] == COUNTS[name][0]
    assert counts["bytes_written"] == COUNTS[name][1]


# The option is on for every other case.
ONE_WAY = [
    pytest.param(name, multi_use, marks=[] if multi_use == i % 2 else pytest.mark.full)
    for i, name in enumerate(COUNTS)
    for multi_use in (False, True)
]


@pytest.mark.each_cpu
@pytest.mark.parametrize(("name", "multi_use"), ONE_WAY)
def test_launches_without_panels(name: str, multi_use: bool) -> None:
    text = without_panels(name)
    vmfb, counts = compiled(lowered(text, "cpu", multi_use=multi_use), "cpu")
    assert counts["launches"] == WITHOUT_PANELS[name][multi_use]
    arguments = _arguments(text)
    for a, e in zip(Program(vmfb)("main", *arguments), _expected(name, arguments), strict=True):
        assert error(a, e) < 1e-4


def _arguments(text: str) -> list[Array]:
    types = re.findall(r"%\w+: tensor<([\dx]+)xf32>", text.partition("@main")[2].partition("{")[0])
    random = np.random.default_rng(0)
    shapes = [[int(size) for size in t.split("x")] for t in types]
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


def _expected(name: str, arguments: list[Array]) -> list[Array]:
    x, b, *weights = arguments
    p = np.tanh(x + b)
    products = [p @ w for w in weights]
    if name.startswith("a3"):
        return [products[0] + p, products[1]]
    return [*products, p]


@pytest.mark.each_cpu(by="name")
@pytest.mark.parametrize("multi_use", [False, True])
@pytest.mark.parametrize("name", COUNTS)
def test_numbers(name: str, multi_use: bool) -> None:
    text = (CASES / f"{name}.mlir").read_text()
    arguments = _arguments(text)
    found = Program(_case(name, multi_use)[0])("main", *arguments)
    expected = _expected(name, arguments)
    assert len(found) == len(expected)
    for a, e in zip(found, expected, strict=True):
        assert error(a, e) < 1e-4


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_packs_for_mfma_when_told_to(name: str, target: str) -> None:
    text = (CASES / f"{name}.mlir").read_text()
    module = lowered(text, target, multi_use=True, estimate=False)
    assert len(_named(module, "iree_encoding.unset_encoding")) == 1 + ("two" in name)


@pytest.mark.full
@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize(
    "target", ["gfx942", "gfx950", "gfx1201", "sm_80", "sm_89", "vulkan-rdna3"]
)
def test_compiles_for_gpus(name: str, target: str) -> None:
    text = (CASES / f"{name}.mlir").read_text()
    for multi_use, estimate in itertools.product((False, True), repeat=2):
        compiled(lowered(text, target, multi_use=multi_use, estimate=estimate), target)


@pytest.mark.parametrize("part", [16, pytest.param(1, marks=pytest.mark.full)])
@pytest.mark.parametrize(("name", "multi_use"), ONE_WAY)
def test_vmvx_runs_the_cases(name: str, multi_use: bool, part: int) -> None:
    """VMVX takes half a minute for the sizes of a case: by default they are a sixteenth."""
    text = (CASES / f"{name}.mlir").read_text()
    for size in (512, 1024):
        text = text.replace(str(size), str(size // part))
    arguments = _arguments(text)
    module = lowered(text, "vmvx", multi_use=multi_use, estimate=False)
    found = Program(compiled(module, "vmvx")[0])("main", *arguments)
    for a, e in zip(found, _expected(name, arguments), strict=True):
        assert error(a, e) < 1e-4


@pytest.mark.full
@pytest.mark.parametrize("multi_use", [False, True])
@pytest.mark.parametrize("name", COUNTS)
def test_compiles_each_time(name: str, multi_use: bool) -> None:
    text = (CASES / f"{name}.mlir").read_text()
    arguments = _arguments(text)
    expected = _expected(name, arguments)
    for _ in range(10):
        found = Program(compiled(lowered(text, "cpu", multi_use=multi_use), "cpu")[0])
        for a, e in zip(found("main", *arguments), expected, strict=True):
            assert error(a, e) < 1e-4


def _named(module: ir.Operation, name: str) -> list[ir.Operation]:
    return [op for op in ir.walk(module) if op.name == name]


def test_one_packed_activation_for_three_matmuls() -> None:
    module = lowered((MODEL / "model.mlir").read_text(), "cpu")
    matmuls = _named(module, "linalg.matmul")
    assert len(matmuls) == 3
    assert len({op.operands[0] for op in matmuls}) == 1
    # One region makes it: the activation, quantized, decoded and packed.
    region = matmuls[0].operands[0].owner.operation
    assert region.name == "flow.dispatch.region"
    assert len(_named(region, "iree_encoding.set_encoding")) == 1
    assert "f8E4M3FN" in str(region)


@pytest.mark.each_cpu
def test_multi_use_block_on_the_cpu() -> None:
    module = lowered((MODEL / "model.mlir").read_text(), "cpu")
    vmfb, counts = compiled(module, "cpu")
    # Stock with data tiling: 13 launches, 3.9 MB, and a crash when run.
    assert counts["launches"] == 8
    assert counts["bytes_written"] == 3_194_880
    inputs = np.load(MODEL / "inputs.npz")
    arguments = [np.ascontiguousarray(inputs[name][0]) for name in inputs.files]
    expected = np.load(MODEL / "outputs.npz")
    (found,) = Program(vmfb)("main", *arguments)
    assert error(found, expected[expected.files[0]][0]) < 1e-4


REQUANTIZED = """
#whole = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<256x320xf32>, %w: tensor<320x250xf8E4M3FN>, %s: tensor<f32>, %t: tensor<f32>)
    -> (tensor<256x250xf32>, tensor<256x320xf32>) {
  %e = tensor.empty() : tensor<256x320xf32>
  %p = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<256x320xf32>) outs(%e : tensor<256x320xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<256x320xf32>
  %q = "headrace.quantize"(%p, %s) {operandSegmentSizes = array<i32: 1, 1>, scale_mode = "divide",
    saturate = true} : (tensor<256x320xf32>, tensor<f32>) -> tensor<256x320xf8E4M3FN>
  %m = "headrace.matmul"(%q, %w, %s, %t) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>,
    lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>,
    rhs_contracting = array<i64: 0>, epilogue = "none"}
    : (tensor<256x320xf8E4M3FN>, tensor<320x250xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<256x250xf32>
  %y = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<256x320xf32>) outs(%e : tensor<256x320xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<256x320xf32>
  return %m, %y : tensor<256x250xf32>, tensor<256x320xf32>
}
"""


def test_requantization_is_packed_where_it_is_made() -> None:
    """The Llama 405B shape: producer to another user, and to requantize,
    encode, scaled matmul. The option has nothing to do with it."""
    module = lowered(REQUANTIZED, "cpu")
    assert str(module) == str(lowered(REQUANTIZED, "cpu", multi_use=True))
    (matmul,) = _named(module, "linalg.matmul")
    region = matmul.operands[0].owner.operation
    assert region.name == "flow.dispatch.region"
    assert "f8E4M3FN" in str(region)
    assert [str(r.type).partition(",")[0] for r in region.results] == [
        "tensor<256x320xf32>",  # the producer, for the other user
        "tensor<256x320xf32",  # packed
    ]
    _, counts = compiled(module, "cpu")
    # Producer with requantize and encode; weight with encode; matmul; other user.
    assert counts["launches"] == 4
    assert counts["encodes"] == 0
