"""Packed matmuls of all forms: numbers on the CPU, compilation for GPUs, cost."""

from __future__ import annotations

import time

import cpus
import numpy as np
import pytest
from dispatch_programs import Program, compiled, error, lowered
from headrace.compiler.iree.element_types import Array
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline

WHOLE = "affine_map<(i, j) -> (i, j)>"
COLUMN = "affine_map<(i, j) -> (j)>"
ROW = "affine_map<(i, j) -> (i)>"
PARALLEL = 'iterator_types = ["parallel", "parallel"]'
WEIGHT = np.arange(20 * 12, dtype=np.float32).reshape(20, 12) / 100


def _function(
    name: str, arguments: dict[str, str], result: str, body: str, returned: str = "%r"
) -> str:
    """``result``: the type of each that is returned."""
    count = returned.count("%")
    results = f"({', '.join([result] * count)})"
    listed = ", ".join(f"%{a}: {t}" for a, t in arguments.items())
    return f"""func.func @{name}({listed}) -> {results} {{
  %zero = arith.constant 0.0 : f32
  {body}
  return {returned} : {results[1:-1]}
}}
"""


def _zero(name: str, type_: str, sizes: str = "") -> str:
    return f"""%{name}e = tensor.empty({sizes}) : {type_}
  %{name} = linalg.fill ins(%zero : f32) outs(%{name}e : {type_}) -> {type_}"""


def _elementwise(name: str, inputs: str, maps: str, types: str, result: str, body: str) -> str:
    count = inputs.count("%")
    elements = [t.rsplit("x", 1)[-1].rstrip(">").removeprefix("tensor<") for t in types.split(", ")]
    blocks = ", ".join(f"%b{i}: {e}" for i, e in enumerate(elements[:count]))
    return f"""%{name}o = tensor.empty() : {result}
  %{name} = linalg.generic {{indexing_maps = [{maps}, {WHOLE}], {PARALLEL}}} ins({inputs} : {types})
      outs(%{name}o : {result}) {{
  ^bb0({blocks}, %out: f32):
    {body}
  }} -> {result}"""


def _matmul(name: str, a: str, b: str, m: int, n: int, k: int, zero: str = "f") -> str:
    x, y, z = f"tensor<{m}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
    return f"{_zero(zero, z)}\n  %{name} = linalg.matmul ins(%{a}, %{b} : {x}, {y}) outs(%{zero} : {z}) -> {z}"


X, W, Y = "tensor<24x20xf32>", "tensor<20x12xf32>", "tensor<24x12xf32>"
X6, Y6 = "tensor<6x20xf32>", "tensor<6x12xf32>"
ADD_EXP = """%0 = arith.addf %b0, %b1 : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32"""
ADD = "%0 = arith.addf %b0, %b1 : f32\n    linalg.yield %0 : f32"
TANH = "%0 = math.tanh %b0 : f32\n    linalg.yield %0 : f32"
SAVED = "tensor<256x256xf32>"
REPEAT = "linalg.yield %b0 : f32"
ONTO = f"%r = linalg.matmul ins(%x, %w : {X6}, {W}) outs(%i : {Y6}) -> {Y6}"
DECODE = "%0 = arith.sitofp %b0 : i8 to f32\n    linalg.yield %0 : f32"

PROGRAM = "".join(
    (
        _function("plain", {"x": X, "w": W}, Y, _matmul("r", "x", "w", 24, 12, 20)),
        _function(
            "onto", {"x": X, "w": W, "init": Y}, Y,
            f"%r = linalg.matmul ins(%x, %w : {X}, {W}) outs(%init : {Y}) -> {Y}",
        ),
        # Into what a decode, a broadcast, an elementwise op, a matmul makes; few rows, so that
        # decodes move.
        _function(
            "onto_decoded", {"x": X6, "w": W, "q": "tensor<6x12xi8>"}, Y6,
            "\n  ".join((_elementwise("i", "%q", WHOLE, "tensor<6x12xi8>", Y6, DECODE), ONTO)),
        ),
        _function(
            "onto_repeated", {"x": X6, "w": W, "b": "tensor<12xf32>"}, Y6,
            "\n  ".join((_elementwise("i", "%b", COLUMN, "tensor<12xf32>", Y6, REPEAT), ONTO)),
        ),
        _function(
            "onto_computed", {"x": X6, "w": W, "y": Y6}, Y6,
            "\n  ".join((_elementwise("i", "%y", WHOLE, Y6, Y6, TANH), ONTO)),
        ),
        _function(
            "onto_product", {"x": X6, "w": W}, Y6,
            "\n  ".join((_matmul("i", "x", "w", 6, 12, 20), ONTO)),
        ),
        _function(
            "dynamic", {"x": "tensor<?x20xf32>", "w": W}, "tensor<?x12xf32>",
            f"""%c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x20xf32>
  {_zero("f", "tensor<?x12xf32>", "%d")}
  %m = linalg.matmul ins(%x, %w : tensor<?x20xf32>, {W}) outs(%f : tensor<?x12xf32>) -> tensor<?x12xf32>
  %e = tensor.empty(%d) : tensor<?x12xf32>
  %r = linalg.generic {{indexing_maps = [{WHOLE}, {WHOLE}], {PARALLEL}}} ins(%m : tensor<?x12xf32>)
      outs(%e : tensor<?x12xf32>) {{
  ^bb0(%b0: f32, %out: f32):
    {TANH}
  }} -> tensor<?x12xf32>""",
        ),
        _function(
            "batched", {"x": "tensor<3x24x20xf32>", "w": "tensor<3x12x20xf32>"}, "tensor<3x24x12xf32>",
            f"""{_zero("f", "tensor<3x24x12xf32>")}
  %r = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
      affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%x, %w : tensor<3x24x20xf32>, tensor<3x12x20xf32>)
      outs(%f : tensor<3x24x12xf32>) -> tensor<3x24x12xf32>""",
        ),
        _function(
            "repeated", {"x": "tensor<3x24x20xf32>", "w": W}, "tensor<3x24x12xf32>",
            f"""%we = tensor.empty() : tensor<3x20x12xf32>
  %wb = linalg.generic {{indexing_maps = [affine_map<(b, i, j) -> (i, j)>, affine_map<(b, i, j) -> (b, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]}} ins(%w : {W}) outs(%we : tensor<3x20x12xf32>) {{
  ^bb0(%b0: f32, %out: f32):
    linalg.yield %b0 : f32
  }} -> tensor<3x20x12xf32>
  {_zero("f", "tensor<3x24x12xf32>")}
  %r = linalg.batch_matmul ins(%x, %wb : tensor<3x24x20xf32>, tensor<3x20x12xf32>)
      outs(%f : tensor<3x24x12xf32>) -> tensor<3x24x12xf32>""",
        ),
        _function(
            "vector", {"x": "tensor<20xf32>", "w": "tensor<12x20xf32>", "init": "tensor<12xf32>"}, "tensor<12xf32>",
            """%r = linalg.matvec ins(%w, %x : tensor<12x20xf32>, tensor<20xf32>)
      outs(%init : tensor<12xf32>) -> tensor<12xf32>""",
        ),
        _function(
            "decoded", {"x": "tensor<6x20xf32>", "q": "tensor<20x12xi8>", "s": "tensor<12xf32>"}, "tensor<6x12xf32>",
            "\n  ".join((
                _elementwise(
                    "w", "%q, %s", f"{WHOLE}, {COLUMN}", "tensor<20x12xi8>, tensor<12xf32>", W,
                    "%0 = arith.sitofp %b0 : i8 to f32\n    %1 = arith.mulf %0, %b1 : f32\n    linalg.yield %1 : f32",
                ),
                _matmul("r", "x", "w", 6, 12, 20),
            )),
        ),
        _function(
            "wide_decoded", {"x": X, "q": "tensor<20x12xi8>"}, Y,
            "\n  ".join((
                _elementwise("w", "%q", WHOLE, "tensor<20x12xi8>", W, DECODE),
                _matmul("r", "x", "w", 24, 12, 20),
            )),
        ),
        _function(
            "constant", {"x": X}, Y,
            f"%w = arith.constant dense<{WEIGHT.tolist()}> : {W}\n  " + _matmul("r", "x", "w", 24, 12, 20),
        ),
        _function(
            "bias", {"x": X, "w": W, "b": "tensor<12xf32>"}, Y,
            "\n  ".join((
                _matmul("m", "x", "w", 24, 12, 20),
                _elementwise("r", "%m, %b", f"{WHOLE}, {COLUMN}", f"{Y}, tensor<12xf32>", Y, ADD_EXP),
            )),
        ),
        # As a gradient asks for: the product, and what is computed from it.
        _function(
            "saved", {"x": "tensor<256x64xf32>", "w": "tensor<64x256xf32>"}, SAVED,
            "\n  ".join((
                *(
                    _elementwise(name, f"%{of}", WHOLE, type_, type_, TANH)
                    for name, of, type_ in (("p", "x", "tensor<256x64xf32>"), ("q", "w", "tensor<64x256xf32>"))
                ),
                _matmul("m", "p", "q", 256, 256, 64),
                _elementwise("r", "%m", WHOLE, SAVED, SAVED, TANH),
            )),
            "%m, %r",
        ),
        _function(
            "residual", {"x": X, "w": W, "b": Y}, Y,
            "\n  ".join((
                _matmul("m", "x", "w", 24, 12, 20),
                _elementwise("n", "%m", WHOLE, Y, Y, TANH),
                _elementwise("r", "%n, %b", f"{WHOLE}, {WHOLE}", f"{Y}, {Y}", Y, ADD),
            )),
        ),
        _function(
            "masked", {"x": X, "w": W, "c": "tensor<12xi1>"}, Y,
            "\n  ".join((
                _matmul("m", "x", "w", 24, 12, 20),
                _elementwise(
                    "r", "%m, %c", f"{WHOLE}, {COLUMN}", f"{Y}, tensor<12xi1>", Y,
                    "%0 = math.exp %b0 : f32\n    %1 = arith.select %b1, %0, %b0 : f32\n    linalg.yield %1 : f32",
                ),
            )),
        ),
        _function(
            "normalized", {"x": X, "w": W}, Y,
            f"""{_zero("s0", "tensor<24xf32>")}
  %s = linalg.generic {{indexing_maps = [{WHOLE}, {ROW}], iterator_types = ["parallel", "reduction"]}}
      ins(%x : {X}) outs(%s0 : tensor<24xf32>) {{
  ^bb0(%b0: f32, %out: f32):
    %0 = arith.mulf %b0, %b0 : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  }} -> tensor<24xf32>
  """ + "\n  ".join((
                _elementwise(
                    "p", "%x, %s", f"{WHOLE}, {ROW}", f"{X}, tensor<24xf32>", X,
                    "%0 = math.rsqrt %b1 : f32\n    %1 = arith.mulf %b0, %0 : f32\n    linalg.yield %1 : f32",
                ),
                _matmul("r", "p", "w", 24, 12, 20),
            )),
        ),
        _function(
            "loop", {"x": "tensor<16x16xf32>", "w": "tensor<16x16xf32>"}, "tensor<16x16xf32>",
            f"""%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%y = %x) -> tensor<16x16xf32> {{
  {_matmul("m", "y", "w", 16, 16, 16)}
  scf.yield %m : tensor<16x16xf32>
  }}""",
        ),
    )
)  # fmt: skip


@cpus.cache
def _program() -> Program:
    return Program(compiled(lowered(PROGRAM, "cpu", multi_use=True, estimate=False), "cpu")[0])


def _random(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


x, w, y, b = _random(24, 20), _random(20, 12), _random(24, 12), _random(12)
x3, w3, v = _random(3, 24, 20), _random(3, 12, 20), _random(20)
q = np.random.default_rng(1).integers(-100, 100, (20, 12)).astype(np.int8)
q6 = np.random.default_rng(2).integers(-100, 100, (6, 12)).astype(np.int8)
mask = np.arange(12) % 3 == 0
x256 = _random(256, 64) / 8
SAVED_PRODUCT = np.tanh(x256) @ np.tanh(x256.T)
square, other = _random(16, 16), _random(16, 16) / 4
NUMBERS = {
    "plain": ((x, w), x @ w),
    "onto": ((x, w, y), x @ w + y),
    "onto_decoded": ((x[:6], w, q6), x[:6] @ w + q6),
    "onto_repeated": ((x[:6], w, b), x[:6] @ w + b),
    "onto_computed": ((x[:6], w, y[:6]), x[:6] @ w + np.tanh(y[:6])),
    "onto_product": ((x[:6], w), 2 * (x[:6] @ w)),
    "dynamic": ((x[:7], w), np.tanh(x[:7] @ w)),
    "batched": ((x3, w3), np.einsum("bmk,bnk->bmn", x3, w3)),
    "repeated": ((x3, w), x3 @ w),
    "vector": ((v, w3[0], b), w3[0] @ v + b),
    "decoded": ((x[:6], q, b), x[:6] @ (q * b)),
    "wide_decoded": ((x, q), x @ q.astype(np.float32)),
    "constant": ((x,), x @ WEIGHT),
    "bias": ((x, w, b), np.exp(x @ w + b)),
    "saved": ((x256, x256.T), SAVED_PRODUCT, np.tanh(SAVED_PRODUCT)),
    "residual": ((x, w, y), np.tanh(x @ w) + y),
    "masked": ((x, w, mask), np.where(mask, np.exp(x @ w), x @ w)),
    "normalized": ((x, w), (x / np.sqrt((x * x).sum(1, keepdims=True))) @ w),
    "loop": ((square, other), square @ other @ other @ other),
}


@pytest.mark.each_cpu(by="")
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_on_the_cpu(name: str) -> None:
    arguments, *expected = NUMBERS[name]
    found = _program()(name, *arguments)
    assert all(error(f, e) < 1e-5 for f, e in zip(found, expected, strict=True))


def test_every_function_is_packed() -> None:
    text = str(lowered(PROGRAM, "cpu", estimate=False))
    for function in text.split("func.func")[1:]:
        if "@main" not in function:
            assert "#encoding" in function, function[:60]


def test_narrow_tensors_are_packed_before_they_are_decoded() -> None:
    text = str(lowered(PROGRAM, "cpu", estimate=False))
    decoded, wide = (
        text.partition(f"@{n}(")[2].partition("return")[0] for n in ("decoded", "wide_decoded")
    )
    assert "set_encoding %arg1 : tensor<20x12xi8>" in decoded
    # Would be decoded again for each tile of rows.
    assert "set_encoding %arg1 : tensor<20x12xi8>" not in wide


@pytest.mark.full
@pytest.mark.parametrize(
    "target", ["gfx942", "gfx950", "gfx1201", "sm_80", "sm_89", "vulkan-rdna3"]
)
def test_compiles_for_gpus(target: str) -> None:
    compiled(lowered(PROGRAM, target, multi_use=True, estimate=False), target)


def _chain(count: int, fan_out: bool) -> str:
    """Matmuls each of which reads the one before, or all the first, with ops between."""
    lines: list[str] = []
    for i in range(count):
        source = "x" if i == 0 else "v0" if fan_out else f"v{i - 1}"
        if i % 4 == 0:
            lines.append(
                f"%v{i} = linalg.matmul ins(%{source}, %x : {S}, {S}) outs(%e : {S}) -> {S}"
            )
        else:
            lines.append(
                f"%v{i} = linalg.generic {{indexing_maps = [{WHOLE}, {WHOLE}], {PARALLEL}}} "
                f"ins(%{source} : {S}) outs(%e : {S}) {{\n  ^bb0(%b0: f32, %out: f32):\n"
                f"    {TANH}\n  }} -> {S}"
            )
    last = f"%v{count - 1}"
    body = "\n  ".join(lines)
    return f"func.func @main(%x: {S}) -> {S} {{\n  %e = tensor.empty() : {S}\n  {body}\n  return {last} : {S}\n}}"


S = "tensor<32x32xf32>"
STEPS = ("set-encodings{estimate=false}", "form-dispatch-regions",
         "fuse-encodings{experimental-multi-use-encoding-fusion=true}")  # fmt: skip


def _seconds(count: int, fan_out: bool) -> float:
    module = parse_module(_chain(count, fan_out), "chain", ir.make_context())
    start = time.process_time()
    Pipeline.parse(f"builtin.module({','.join(STEPS)})").run(module)
    return time.process_time() - start


@pytest.mark.parametrize("fan_out", [False, True])
def test_time_grows_linearly(fan_out: bool) -> None:
    _seconds(200, fan_out)  # warm
    assert _seconds(2000, fan_out) < 30 * _seconds(200, fan_out)
