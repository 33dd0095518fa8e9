"""PyTorch models, as torch-mlir imports them, give PyTorch's numbers in fp8.

tests/models/torch/write.py makes them.
"""

from __future__ import annotations

from pathlib import Path

import headrace
import ml_dtypes
import numpy as np
import pytest
from cpu_programs import Program
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program

MODELS = Path(__file__).parent.parent.parent.parent / "models" / "torch"
# Dots, and how many of them multiply fp8 values in the source.
DOTS = {"mlp": (3, 3), "mlp_channels": (3, 3), "mlp_bf16": (3, 3), "attention": (4, 2)}
# Of the largest value: f32 sums in another order; bf16 rounds to 2**-8, and a
# value so rounded may be one fp8 step, 2**-4, away.
TOLERANCE = {"mlp_bf16": 2.0**-4}


@pytest.mark.each_cpu
@pytest.mark.parametrize("name", DOTS)
def test_numbers_are_torchs(name: str, tmp_path: Path) -> None:
    program = headrace.compile(MODELS / f"{name}.mlir", target="cpu")
    assert (
        len(program.report["matmuls"]),
        sum(m["scaled"] for m in program.report["matmuls"]),
    ) == DOTS[name]
    vmfb = tmp_path / "program.vmfb"
    program.save(vmfb)
    function = choose_function(load_functions(vmfb), "main")
    with np.load(MODELS / f"{name}.npz") as arrays:
        x, y = arrays["x"], arrays["y"]
    (result,) = run_program(vmfb, function, [x[None]])
    error = np.abs(result[0].astype(np.float64) - y).max() / np.abs(y).max()
    assert error <= TOLERANCE.get(name, 1e-6)


@pytest.mark.parametrize(
    "target",
    ["gfx942", "sm_89", *(pytest.param(t, marks=pytest.mark.full) for t in ("gfx950", "sm_80"))],
)
def test_compiles_for_gpus(target: str) -> None:
    assert headrace.compile(MODELS / "mlp_bf16.mlir", target=target).vmfb


def test_f64_of_the_program_stays() -> None:
    """Only what torch-mlir adds is narrowed."""
    text = """
    func.func @main(%x: !torch.vtensor<[4],f64>) -> !torch.vtensor<[4],f64> {
      %0 = torch.aten.exp %x : !torch.vtensor<[4],f64> -> !torch.vtensor<[4],f64>
      return %0 : !torch.vtensor<[4],f64>
    }
    """
    module = str(headrace.compile(text, target="cpu", emit="mlir").module)
    assert "math.exp" in module
    assert "f32" not in module


# An op without lowering between ops that have one, a literal and constants.
UNLOWERED = """
func.func @main(%x: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32> {
  %none = torch.constant.none
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  %list = torch.prim.ListConstruct %int1, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
  %w = torch.vtensor.literal(dense<2.0> : tensor<4x4xf32>) : !torch.vtensor<[4,4],f32>
  %0 = torch.aten.add.Tensor %x, %w, %int1 : !torch.vtensor<[4,4],f32>,
      !torch.vtensor<[4,4],f32>, !torch.int -> !torch.vtensor<[4,4],f32>
  {OP}
  return %1 : !torch.vtensor<[4,4],f32>
}
"""
TENSOR = "!torch.vtensor<[4,4],f32>"
OPERATOR = (
    f'%1 = torch.operator "mine.op"(%0, %w, %false, %list) : ({TENSOR}, {TENSOR}, '
    f"!torch.bool, !torch.list<int>) -> {TENSOR}"
)


def test_error_names_the_op_that_has_no_lowering() -> None:
    with pytest.raises(headrace.HeadraceError) as caught:
        headrace.compile(UNLOWERED.replace("{OP}", OPERATOR), target="cpu", emit="mlir")
    (first, *_) = caught.value.diagnostics
    assert first.message.startswith("'torch.operator' (operator 'mine.op') cannot be lowered")
    assert first.line == 10


def test_a_pass_that_gives_no_reason() -> None:
    """The error says where at least: torch-mlir lowers fft of f32 alone, and is silent on others."""
    text = """
func.func @plain(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  return %x : !torch.vtensor<[4],f32>
}
func.func @transformed(%x: !torch.vtensor<[4,16],ui8>) -> !torch.vtensor<[4,9],complex<ui8>> {
  %none = torch.constant.none
  %last = torch.constant.int -1
  %0 = torch.aten.fft_rfft %x, %none, %last, %none
    : !torch.vtensor<[4,16],ui8>, !torch.none, !torch.int, !torch.none
    -> !torch.vtensor<[4,9],complex<ui8>>
  return %0 : !torch.vtensor<[4,9],complex<ui8>>
}"""
    with pytest.raises(headrace.HeadraceError) as caught:
        headrace.compile(text, target="cpu", emit="mlir")
    (first, *_) = caught.value.diagnostics
    assert first.message == "'@transformed' cannot be compiled: IREE's pass gives no reason"
    assert first.line == 5


def test_sizes_that_contradict_each_other() -> None:
    """One row is padded, and none is said to be: MLIR's canonicalization would not end on it."""
    image, kernel = "!torch.vtensor<[2,3,8,8],f32>", "!torch.vtensor<[3,1,3,3],f32>"
    result, pair = "!torch.vtensor<[2,3,6,6],f32>", "!torch.list<int>"
    text = f"""
func.func @padded(%x: {image}, %w: {kernel}) -> {result} {{
  %none = torch.constant.none
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %3 = torch.constant.int 3
  %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> {pair}
  %padding = torch.prim.ListConstruct %1, %0 : (!torch.int, !torch.int) -> {pair}
  %y = torch.aten.conv2d %x, %w, %none, %ones, %padding, %ones, %3 : {image}, {kernel},
    !torch.none, {pair}, {pair}, {pair}, !torch.int -> {result}
  return %y : {result}
}}"""
    with pytest.raises(headrace.HeadraceError) as caught:
        headrace.compile(text, target="cpu", emit="mlir")
    (first, *_) = caught.value.diagnostics
    assert first.line == 9
    assert "'tensor<2x3x8x6xf32>' and result type 'tensor<2x3x6x6xf32>'" in first.message


def test_onnx_programs() -> None:
    """ONNX's operators become torch's first; zero points are scalars."""
    text = """
    func.func @main(%a: !torch.vtensor<[6,5],si8>, %b: !torch.vtensor<[5,4],si8>,
        %za: !torch.vtensor<[],si8>, %zb: !torch.vtensor<[],si8>) -> !torch.vtensor<[6,4],si32>
        attributes {torch.onnx_meta.ir_version = 9 : si64,
                    torch.onnx_meta.opset_version = 21 : si64} {
      %0 = torch.operator "onnx.MatMulInteger"(%a, %b, %za, %zb) : (!torch.vtensor<[6,5],si8>,
          !torch.vtensor<[5,4],si8>, !torch.vtensor<[],si8>, !torch.vtensor<[],si8>)
          -> !torch.vtensor<[6,4],si32>
      return %0 : !torch.vtensor<[6,4],si32>
    }
    """
    vmfb = headrace.compile(text, target="cpu").vmfb
    assert vmfb is not None
    random = np.random.default_rng(0)
    a = random.integers(-128, 128, (6, 5), np.int8)
    b = random.integers(-128, 128, (5, 4), np.int8)
    result = Program(vmfb)("main", a, b, np.int8(3), np.int8(-7))
    assert np.array_equal(result, (a.astype(np.int32) - 3) @ (b.astype(np.int32) + 7))


def test_onnx_fp8_quantization() -> None:
    """QuantizeLinear, DequantizeLinear and MatMul in fp8; scales are powers of two."""
    f32, fp8 = "!torch.vtensor<[6,8],f32>", "!torch.vtensor<[6,8],f8E4M3FN>"
    w, wide = "!torch.vtensor<[8,4],f8E4M3FN>", "!torch.vtensor<[8,4],f32>"
    s, z, y = "!torch.vtensor<[],f32>", "!torch.vtensor<[],f8E4M3FN>", "!torch.vtensor<[6,4],f32>"
    text = f"""
    func.func @main(%x: {f32}, %w: {w}, %s: {s}, %z: {z}) -> {y} attributes
        {{torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64}} {{
      %q = torch.operator "onnx.QuantizeLinear"(%x, %s, %z) : ({f32}, {s}, {z}) -> {fp8}
      %d = torch.operator "onnx.DequantizeLinear"(%q, %s, %z) : ({fp8}, {s}, {z}) -> {f32}
      %e = torch.operator "onnx.DequantizeLinear"(%w, %s, %z) : ({w}, {s}, {z}) -> {wide}
      %y = torch.operator "onnx.MatMul"(%d, %e) : ({f32}, {wide}) -> {y}
      return %y : {y}
    }}
    """
    vmfb = headrace.compile(text, target="cpu").vmfb
    assert vmfb is not None
    random = np.random.default_rng(0)
    x = random.standard_normal((6, 8)).astype(np.float32)
    e4m3 = ml_dtypes.float8_e4m3fn
    weight = random.standard_normal((8, 4)).astype(e4m3)
    scale = np.float32(0.25)
    result = Program(vmfb)("main", x, weight, scale, np.zeros((), e4m3))
    quantized = (x / scale).astype(e4m3).astype(np.float64)
    expected = (quantized * scale) @ (weight.astype(np.float64) * scale)
    assert np.abs(result - expected).max() <= 1e-6 * np.abs(expected).max()
