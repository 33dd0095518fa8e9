"""Programs that IREE gives other numbers for, all in one for the host's CPU."""

from __future__ import annotations

import iree.runtime as rt
import ml_dtypes
import numpy as np
from quirk_programs import elementwise, matmul
from stock import OLDEST, Programs, canary, expect_equal

V, S, M = "tensor<24xf32>", "tensor<24x16xf32>", "tensor<24x24xf32>"
GATHER = (
    "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
    "start_index_map = [0], index_vector_dim = 1>"
)
CACHE, ROWS = "tensor<8x64xf32>", "tensor<4x64xf32>"


def gather(name: str, rows: int, index: str) -> str:
    x, i = f"tensor<{rows}x2xf32>", f"tensor<5x1x{index}>"
    return f"""
func.func @{name}(%x: {x}, %i: {i}) -> tensor<5x2xf32> {{
  %0 = "stablehlo.gather"(%x, %i) <{{dimension_numbers = {GATHER}, indices_are_sorted = false,
      slice_sizes = array<i64: 1, 2>}}> : ({x}, {i}) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}}"""


TEXTS = {
    "crossed": f"""
func.func @crossed(%x: {S}) -> ({M}, {M}) {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %q = stablehlo.multiply %x, %x : {S}
  %s = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1]
    : ({S}, tensor<f32>) -> {V}
  %a = stablehlo.broadcast_in_dim %s, dims = [0] : ({V}) -> {M}
  %b = stablehlo.broadcast_in_dim %s, dims = [1] : ({V}) -> {M}
  %c = stablehlo.add %a, %b : {M}
  return %c, %c : {M}, {M}
}}""",
    "cloned": """
func.func @cloned(%a: tensor<4xi32>) -> (tensor<33xi8>, tensor<33xi32>, tensor<33xi32>) {
  %e = tensor.empty() : tensor<33xi8>
  %f = tensor.empty() : tensor<33xi32>
  %v:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%e, %f : tensor<33xi8>, tensor<33xi32>) {
  ^bb0(%o: i8, %p: i32):
    %i = linalg.index 0 : index
    %x = arith.index_cast %i : index to i32
    %y = arith.trunci %x : i32 to i8
    %z = arith.muli %x, %x : i32
    linalg.yield %y, %z : i8, i32
  } -> (tensor<33xi8>, tensor<33xi32>)
  %w = tensor.insert_slice %a into %v#1[3] [4] [1] : tensor<4xi32> into tensor<33xi32>
  return %v#0, %v#1, %w : tensor<33xi8>, tensor<33xi32>, tensor<33xi32>
}""",
    "number": """
func.func @number(%x: tensor<2x8xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %five = arith.constant 5.0 : f32
  %one = arith.constant 1.0 : f32
  %i = tensor.empty() : tensor<2xf32>
  %j = linalg.fill ins(%one : f32) outs(%i : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x8xf32>) outs(%j : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %c = arith.addf %out, %five : f32
    linalg.yield %c : f32
  } -> tensor<2xf32>
  return %r, %r : tensor<2xf32>, tensor<2xf32>
}""",
    "clamped": gather("clamped", 4, "i32"),
    "unsigned": gather("unsigned", 300, "ui8"),
    "folded": """
func.func @folded(%x: tensor<4x8xf32>, %w: tensor<8x4xui8>) -> tensor<4x4xf32> {
  %c = stablehlo.convert %w : (tensor<8x4xui8>) -> tensor<8x4xf32>
  %y = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0]
    : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}""",
    "sorted": """
func.func @sorted(%k: tensor<6xi32>, %v: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>) {
  %r:2 = "stablehlo.sort"(%k, %v) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<6xi32>, tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>)
  return %r#0, %r#1 : tensor<6xi32>, tensor<6xi32>
}""",
    "held": """
func.func @held(%x: tensor<4xf32>, %u: tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %i = stablehlo.constant dense<1> : tensor<i32>
  %d = stablehlo.add %x, %x : tensor<4xf32>
  %h = stablehlo.optimization_barrier %d : tensor<4xf32>
  %y = stablehlo.dynamic_update_slice %h, %u, %i : (tensor<4xf32>, tensor<1xf32>, tensor<i32>)
    -> tensor<4xf32>
  return %y, %d : tensor<4xf32>, tensor<4xf32>
}""",
    "skipped": """
func.func @skipped(%x: tensor<3x4xf32>, %k: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<3x4xf32>) {
  %e = tensor.empty() : tensor<3x4xf32>
  %f = tensor.empty() : tensor<2x4xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<3x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i * 2, j)>,
      affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%d, %k : tensor<3x4xf32>, tensor<4xf32>) outs(%f : tensor<2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<2x4xf32>
  return %y, %d : tensor<2x4xf32>, tensor<3x4xf32>
}""",
    "least": """
func.func @least(%x: tensor<6xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<6xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare GT, %b, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<6xi32>, tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>)
  %v = stablehlo.slice %s#0 [0:3] : (tensor<6xi32>) -> tensor<3xi32>
  %j = stablehlo.slice %s#1 [0:3] : (tensor<6xi32>) -> tensor<3xi32>
  return %v, %j : tensor<3xi32>, tensor<3xi32>
}""",
    "top": """
func.func @top(%x: tensor<1x6xf32>) -> (tensor<1x3xf32>, tensor<1x3xi32>) {
  %v, %i = chlo.top_k(%x, k = 3) : tensor<1x6xf32> -> (tensor<1x3xf32>, tensor<1x3xi32>)
  return %v, %i : tensor<1x3xf32>, tensor<1x3xi32>
}""",
    "ties": """
func.func @ties(%x: tensor<6xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %v, %i = chlo.top_k(%x, k = 3) : tensor<6xi32> -> (tensor<3xi32>, tensor<3xi32>)
  return %v, %i : tensor<3xi32>, tensor<3xi32>
}""",
    "rounded": """
func.func @rounded(%x: tensor<4xbf16>, %y: tensor<4xbf16>) -> tensor<4xbf16> {
  %s = stablehlo.add %x, %y : tensor<4xbf16>
  %d = stablehlo.subtract %s, %x : tensor<4xbf16>
  return %d : tensor<4xbf16>
}""",
    "shifted": f"""
func.func @shifted(%x: {CACHE}) -> {CACHE} {{
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %t = stablehlo.add %x, %x : {CACHE}
  %r = stablehlo.slice %t [0:4, 0:64] : ({CACHE}) -> {ROWS}
  %d = stablehlo.add %r, %r : {ROWS}
  %y = stablehlo.dynamic_update_slice %t, %d, %1, %0
    : ({CACHE}, {ROWS}, tensor<i32>, tensor<i32>) -> {CACHE}
  return %y : {CACHE}
}}""",
    "updated": f"""
func.func @updated(%x: {CACHE}, %u: {ROWS}) -> {CACHE} {{
  %v = math.absf %u : {ROWS}
  %y = tensor.insert_slice %v into %x[1, 0] [4, 64] [1, 1] : {ROWS} into {CACHE}
  return %y : {CACHE}
}}""",
    "product": matmul("f8E4M3FN", "f8E4M3FN", "f32", (4, 4, 8), "product"),
    "scale": elementwise(
        "scale",
        "f32",
        "i8",
        "%c = arith.truncf %a : f32 to f8E8M0FNU\n%b = arith.bitcast %c : f8E8M0FNU to i8",
    ),
    "cbrt": elementwise("cbrt", "f32", "f32", "%b = math.cbrt %a : f32"),
    "integer": elementwise("integer", "f32", "i32", "%b = arith.fptosi %a : f32 to i32"),
    "twice": """
func.func @twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r:3 = flow.dispatch.region -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %a:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
        affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>)
        outs(%e, %e : tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%i: f32, %o: f32, %p: f32):
      %s = arith.addf %i, %i : f32
      %t = arith.mulf %i, %i : f32
      linalg.yield %s, %t : f32, f32
    } -> (tensor<4xf32>, tensor<4xf32>)
    flow.return %a#0, %a#1, %a#1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}""",
    "branches": """
func.func @branches(%n: i32, %p0: i64, %p1: i32) -> (i64, i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%zero, %p0, %p1 : i32, i64, i32)
^head(%i: i32, %b0: i64, %b1: i32):
  %more = arith.cmpi slt, %i, %n : i32
  cf.cond_br %more, ^body, ^end
^body:
  %next = arith.addi %i, %one : i32
  %three = arith.constant 3 : i32
  %m1 = arith.addi %b1, %three : i32
  cf.br ^head(%next, %b0, %m1 : i32, i64, i32)
^end:
  return %b0, %b1 : i64, i32
}""",
    "buffers": """
func.func @buffers(%n: i64, %p0: tensor<4xi32>, %p1: tensor<4xi32>, %p2: tensor<4xi32>)
    -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ones = arith.constant dense<1> : tensor<4xi32>
  %q0 = arith.addi %p0, %ones : tensor<4xi32>
  %q1 = arith.addi %p1, %ones : tensor<4xi32>
  %q2 = arith.addi %p2, %ones : tensor<4xi32>
  cf.br ^head(%zero, %q0, %q2, %q1 : i64, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>)
^head(%i: i64, %b0: tensor<4xi32>, %b1: tensor<4xi32>, %b2: tensor<4xi32>):
  %more = arith.cmpi slt, %i, %n : i64
  cf.cond_br %more, ^body, ^end
^body:
  %next = arith.addi %i, %one : i64
  %m2 = arith.addi %b2, %ones : tensor<4xi32>
  cf.br ^head(%next, %b1, %b0, %m2 : i64, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>)
^end:
  return %b0, %b1, %b2 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}""",
}
run = Programs(TEXTS)
TINY = elementwise("tiny", "f32", "f16", "%b = arith.truncf %a : f32 to f16")
oldest = Programs({"tiny": TINY}, OLDEST)


@canary
def test_reduction_read_two_ways() -> None:
    x = np.random.default_rng(0).integers(-9, 9, (24, 16)).astype(np.float32)
    s = (x * x).sum(1)
    expect_equal(run("crossed", x)[0], s[:, None] + s[None])


@canary
def test_sourceless_clone() -> None:
    i = np.arange(33)
    w = i * i
    w[3:7] = 50
    expect_equal(run("cloned", np.full(4, 50, np.int32))[2], w)


@canary
def test_sum_of_one_number() -> None:
    expect_equal(run("number", np.zeros((2, 8), np.float32))[0], np.full(2, 41))


@canary
def test_gather_unclamped() -> None:
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    indices = np.array([[0], [5], [1], [2], [4]], np.int32)
    expect_equal(run("clamped", x, indices), x[[0, 3, 1, 2, 3]])


@canary
def test_unsigned_index() -> None:
    x = np.arange(600, dtype=np.float32).reshape(300, 2)
    indices = np.full((5, 1), 200, np.uint8)
    expect_equal(run("unsigned", x, indices), x[[200] * 5])


@canary
def test_unsigned_operand_folded() -> None:
    x, w = np.ones((4, 8), np.float32), np.full((8, 4), 200, np.uint8)
    expect_equal(run("folded", x, w), x @ w)


@canary
def test_unstable_sort() -> None:
    keys, values = np.array([3, 1, 1, 1, 0, 1], np.int32), np.arange(6, dtype=np.int32)
    expect_equal(run("sorted", keys, values)[1], np.argsort(keys, kind="stable"))


@canary
def test_barrier_owns() -> None:
    x = np.arange(4, dtype=np.float32)
    expect_equal(run("held", x, np.full(1, 9, np.float32))[1], 2 * x)


@canary
def test_skipped_elements_unwritten() -> None:
    x = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    expect_equal(run("skipped", x, np.ones(4, np.float32))[1], 2 * x)


@canary
def test_sort_as_top_k() -> None:
    expect_equal(run("least", np.array([5, 3, 4, 0, 1, 2], np.int32)), [[0, 1, 2], [3, 4, 5]])


@canary
def test_topk_ties() -> None:
    expect_equal(run("ties", np.array([2, 1, 1, 0, 0, 0], np.int32))[1], [0, 1, 2])


@canary
def test_topk_nan() -> None:
    expect_equal(run("top", np.array([[1, 2, np.nan, 3, 0, 0]], np.float32))[1], [[2, 3, 1]])


@canary
def test_bf16_roundings_dropped() -> None:
    x, one = np.full(4, 256, ml_dtypes.bfloat16), np.ones(4, ml_dtypes.bfloat16)
    expect_equal(run("rounded", x, one).view(np.uint16), np.zeros(4))


@canary
def test_f16_subnormals_flushed() -> None:
    x = np.array([2.0**-24, 1e-5, 2.0**-15, 1], np.float32)
    expect_equal(oldest("tiny", x), x.astype(np.float16))


@canary
def test_update_from_itself() -> None:
    x = np.arange(512, dtype=np.float32).reshape(8, 64)
    y = 2 * x
    y[1:5] = 2 * y[0:4]
    expect_equal(run("shifted", x), y)


@canary
def test_argument_updated() -> None:
    config = rt.Config("local-task")
    given = np.zeros((8, 64), np.float32)
    x = rt.asdevicearray(config.device, given)
    run("updated", x, np.ones((4, 64), np.float32))
    expect_equal(np.asarray(x.to_host()), given)


@canary
def test_fp8_nan_as_number() -> None:
    a, b = (np.ones(s, ml_dtypes.float8_e4m3fn) for s in ((4, 8), (8, 4)))
    a.view(np.uint8)[:] = 0xFF
    expect_equal(np.isnan(run("product", a, b)), np.full((4, 4), True))


@canary
def test_e8m0_truncated() -> None:
    expect_equal(
        run("scale", np.array([1, 1.75, 3.5, 2], np.float32)).view(np.uint8), [127, 128, 129, 128]
    )


@canary
def test_cbrt_of_infinity() -> None:
    expect_equal(run("cbrt", np.full(4, np.inf, np.float32)), np.full(4, np.inf))


@canary
def test_float_to_integer_overflow() -> None:
    found = run("integer", np.array([3e9, np.nan, -3e9, 1], np.float32))
    expect_equal(found, [2**31 - 1, 0, -(2**31), 1])


@canary
def test_result_yielded_twice() -> None:
    x = np.arange(4, dtype=np.float32)
    expect_equal(run("twice", x)[2], x * x)


@canary
def test_mixed_branch_operands() -> None:
    for trips in (0, 1, 2, 5):
        expect_equal(run.raw("branches")(trips, 10, 11), (10, 11 + 3 * trips))


@canary
def test_forwarded_buffer_lost() -> None:
    inputs = [np.full(4, 10 * (n + 1), np.int32) for n in range(3)]
    try:
        found = [int(r[0]) for r in run("buffers", 1, *inputs)]
    except (IndexError, RuntimeError, ValueError) as error:
        found = str(error)[:100]
    expect_equal(found, [31, 11, 22])
