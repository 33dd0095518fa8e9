"""The report: ring bytes, trip counts, matmuls, and what IREE's phases say."""

from __future__ import annotations

from typing import Any

import headrace
import pytest
from headrace.compiler.report.phases import read_phases
from headrace.compiler.report.reader import read_collectives, read_matmuls, wire_bytes
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.analysis.trip_counts import ControlFlow

KEYS = {
    "collectives",
    "wire_bytes",
    "matmuls",
    "dispatches",
    "dispatches_per_run",
    "encodes",
    "encodes_per_run",
    "launches",
    "launches_per_run",
    "bytes_written",
    "bytes_written_per_run",
    "transient_bytes",
    "overlap",
    "encoding_fusion",
    "not_encoded",
    "timeline",
    "passes",
    "headrace_seconds",
    "iree_seconds",
    "target",
    "options",
    "versions",
}


def parse(text: str) -> ir.Operation:
    return parse_module(text, "test", ir.make_context())


def test_keys() -> None:
    text = "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }"
    assert set(headrace.compile(text, report=True).report) == KEYS
    brief: Any = headrace.compile(text, emit="mlir").report
    assert set(brief) == KEYS
    assert brief["launches"] is brief["transient_bytes"] is brief["iree_seconds"] is None
    assert brief["collectives"] == brief["matmuls"] == []
    assert brief["target"] == "cpu"
    assert brief["options"]["collectives"] == "devices"


GROUPS = "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, pipelined = false"


@pytest.mark.parametrize(
    ("op", "types", "expected"),
    [
        # 3 shards of 6 x 4 from the ring's other devices.
        (f'all_gather"(%a) {{dim = 0 : i64, {GROUPS}}}', "6x4xbf16 24x4xbf16", 3 * 24 * 2),
        (f'all_gather"(%a) {{dim = 0 : i64, {GROUPS}}}', "6x4xf8E5M2 24x4xf8E5M2", 3 * 24),
        (
            f'reduce_scatter"(%a) {{dim = 0 : i64, reduction = "add", {GROUPS}}}',
            "8x4xf32 2x4xf32",
            3 * 8 * 4,
        ),
        (f'all_reduce"(%a) {{reduction = "add", {GROUPS}}}', "6x4xf32 6x4xf32", 2 * 3 * 96 // 4),
        (
            f'all_to_all"(%a) {{split_dim = 0 : i64, concat_dim = 1 : i64, {GROUPS}}}',
            "8x4xf16 2x16xf16",
            3 * 32 * 2 // 4,
        ),
        (
            'collective_permute"(%a) {pipelined = false, '
            "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}",
            "6x4xi1 6x4xi1",
            24,
        ),
        (f'all_gather"(%a) {{dim = 0 : i64, {GROUPS}}}', "?x4xbf16 ?x4xbf16", None),
    ],
)
def test_ring_bytes(op: str, types: str, expected: int | None) -> None:
    before, after = (f"tensor<{t}>" for t in types.split())
    module = parse(f"""func.func @f(%a: {before}) -> {after} {{
      %0 = "headrace.{op} : ({before}) -> {after}
      return %0 : {after}
    }}""")
    (found,) = read_collectives(module)
    assert found.bytes == expected
    assert found.trips == 1
    assert found.op == op.partition('"')[0]
    assert wire_bytes([found]) == expected


def looped(bounds: str, inner: str = "0 3 1") -> ir.Operation:
    """A gather of 48 bytes in two nested loops."""
    lower, upper, step = bounds.split()
    values = {f"c{v}": v for v in (*bounds.split(), *inner.split()) if v != "%n"}
    constants = "\n".join(f"%{n} = arith.constant {v} : index" for n, v in values.items())
    i, j = (
        " ".join(v if v == "%n" else f"%c{v}" for v in text.split()).split()
        for text in (f"{lower} {upper} {step}", inner)
    )
    return parse(f"""func.func @f(%a: tensor<4x4xi8>, %n: index) -> tensor<16x4xi8> {{
      {constants}
      %init = tensor.empty() : tensor<16x4xi8>
      %0 = scf.for %i = {i[0]} to {i[1]} step {i[2]} iter_args(%x = %init) -> (tensor<16x4xi8>) {{
        %1 = scf.for %j = {j[0]} to {j[1]} step {j[2]} iter_args(%y = %x) -> (tensor<16x4xi8>) {{
          %2 = "headrace.all_gather"(%a) {{dim = 0 : i64, {GROUPS}}}
            : (tensor<4x4xi8>) -> tensor<16x4xi8>
          scf.yield %2 : tensor<16x4xi8>
        }}
        scf.yield %1 : tensor<16x4xi8>
      }}
      return %0 : tensor<16x4xi8>
    }}""")


@pytest.mark.parametrize(
    ("bounds", "inner", "trips"),
    [
        ("0 6 1", "0 3 1", 18),
        ("1 6 2", "0 3 1", 9),
        ("0 5 2", "0 7 3", 9),
        ("4 4 1", "0 3 1", 0),
        ("0 %n 1", "0 3 1", None),
        ("0 6 1", "%n 3 1", None),
    ],
)
def test_trips_of_nested_loops(bounds: str, inner: str, trips: int | None) -> None:
    found = read_collectives(looped(bounds, inner))
    assert [c.trips for c in found] == [trips]
    assert wire_bytes(found) == (None if trips is None else 48 * trips)


def test_while_loops_are_dynamic() -> None:
    module = parse(f"""func.func @f(%a: tensor<4x4xi8>, %c: i1) -> tensor<16x4xi8> {{
      %init = tensor.empty() : tensor<16x4xi8>
      %0 = scf.while (%x = %init) : (tensor<16x4xi8>) -> tensor<16x4xi8> {{
        scf.condition(%c) %x : tensor<16x4xi8>
      }} do {{
      ^bb0(%y: tensor<16x4xi8>):
        %2 = "headrace.all_gather"(%a) {{dim = 0 : i64, {GROUPS},
          headrace.wide_reason = "because"}} : (tensor<4x4xi8>) -> tensor<16x4xi8>
        scf.yield %2 : tensor<16x4xi8>
      }}
      return %0 : tensor<16x4xi8>
    }}""")
    (found,) = read_collectives(module)
    assert (found.trips, found.wide_reason, found.reason) == (None, "because", None)


def test_matmuls() -> None:
    module = parse("""func.func @f(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x2xf8E5M2>,
                                   %c: tensor<8x2xf32>, %d: tensor<4x8xf32>) {
      %0 = "headrace.matmul"(%a, %b) {operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>,
        epilogue = "none", lhs_batch = array<i64>, rhs_batch = array<i64>,
        lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
        : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E5M2>) -> tensor<4x2xbf16>
      %1 = stablehlo.dot_general %d, %c, contracting_dims = [1] x [0]
        {headrace.wide_reason = "rhs stays wide"}
        : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
      return
    }""")
    first, second = read_matmuls(module)
    assert (first.lhs, first.rhs) == ("tensor<4x8xf8E4M3FN>", "tensor<8x2xf8E5M2>")
    assert (first.result, first.scaled, first.reason) == ("tensor<4x2xbf16>", True, None)
    assert (second.scaled, second.reason) == (False, "rhs stays wide")


def block_trips(text: str) -> list[int | None]:
    module = parse(text)
    blocks = list(module.regions[0].blocks[0].operations[0].regions[0].blocks)
    flow = ControlFlow(blocks)
    return [flow.trips(i) for i in range(len(blocks))]


def test_trips_of_branches() -> None:
    """Two nested counted loops as branches, the inner one twice as often."""
    nest = """func.func @f(%n: index) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c8 = arith.constant 8 : index
      cf.br ^outer(%c0 : index)
    ^outer(%i: index):
      %0 = arith.cmpi slt, %i, {bound} : index
      cf.cond_br %0, ^inner(%c1 : index), ^end
    ^inner(%j: index):
      %1 = arith.cmpi ult, %j, %c8 : index
      cf.cond_br %1, ^body, ^next
    ^body:
      %2 = arith.addi %j, %c3 : index
      cf.br ^inner(%2 : index)
    ^next:
      %3 = arith.addi %c1, %i : index
      cf.br ^outer(%3 : index)
    ^end:
      return
    }}"""
    # Headers are counted as their bodies; the last, failing test is free.
    assert block_trips(nest.format(bound="%c3")) == [1, 3, 9, 9, 3, 1]
    assert block_trips(nest.format(bound="%n")) == [1, None, None, None, None, 1]


FLOW = """
util.global private @dev0 : !hal.device
util.initializer {
  %0 = flow.tensor.empty : tensor<64xf32>
  %1 = flow.dispatch @x::@once(%0) : (tensor<64xf32>) -> tensor<64xf32>
  util.return
}
util.func public @main(%arg0: !hal.buffer_view, %arg1: !hal.buffer_view) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0 = hal.tensor.import on(#hal.device.affinity<@dev0>) %arg0 : !hal.buffer_view -> tensor<8xf32>
  %1 = hal.tensor.import on(#hal.device.affinity<@dev1>) %arg1 : !hal.buffer_view -> tensor<8xf32>
  %2 = flow.dispatch @x::@first(%0) : (tensor<8xf32>) -> tensor<8xbf16>
  %3 = flow.dispatch @x::@first(%1) : (tensor<8xf32>) -> tensor<8xbf16>
  cf.br ^loop(%c0, %2, %3 : index, tensor<8xbf16>, tensor<8xbf16>)
^loop(%i: index, %4: tensor<8xbf16>, %5: tensor<8xbf16>):
  %6 = arith.cmpi slt, %i, %c5 : index
  cf.cond_br %6, ^body, ^end
^body:
  %7 = flow.tensor.transfer %5 : tensor<8xbf16> to #hal.device.affinity<@dev0>
  %8 = flow.dispatch @x::@second(%4, %7) : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  %9 = flow.dispatch @x::@second(%5, %5) : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  %10 = arith.addi %i, %c1 : index
  cf.br ^loop(%10, %8, %9 : index, tensor<8xbf16>, tensor<8xbf16>)
^end:
  util.return
}
"""
STREAM = """
util.func public @main() {
  %c100 = arith.constant 100 : index
  %c64 = arith.constant 64 : index
  %t0 = stream.timepoint.immediate => !stream.timepoint
  %a, %ta = stream.resource.alloca uninitialized on(#hal.device.affinity<@dev0>)
    : !stream.resource<transient>{%c100} => !stream.timepoint
  %e, %te = stream.resource.alloca uninitialized on(#hal.device.affinity<@dev0>)
    : !stream.resource<external>{%c100} => !stream.timepoint
  %o, %to = stream.resource.alloca uninitialized on(#hal.device.affinity<@dev1>)
    : !stream.resource<transient>{%c100} => !stream.timepoint
  %b, %tb = stream.resource.alloca uninitialized on(#hal.device.affinity<@dev0>)
    : !stream.resource<transient>{%c64} => !stream.timepoint
  %td = stream.resource.dealloca on(#hal.device.affinity<@dev0>) await(%t0)
    => %a : !stream.resource<transient>{%c100} => !stream.timepoint
  %c, %tc = stream.resource.alloca uninitialized on(#hal.device.affinity<@dev0>)
    : !stream.resource<transient>{%c64} => !stream.timepoint
  util.return
}
"""


def test_phases_count_one_device_and_loops() -> None:
    found = read_phases({"flow": FLOW, "stream": STREAM})
    assert found["dispatches"] == found["launches"] == 2
    assert found["dispatches_per_run"] == 1 + 5
    assert found["encodes"] == 0
    assert found["bytes_written"] == 2 * 16
    assert found["bytes_written_per_run"] == 6 * 16
    assert found["transient_bytes"] == 164


F32 = "tensor<2x8x8xf32>"
PRODUCTS = {
    "batch_matvec": f"""
      %0 = linalg.batch_matvec ins(%x, %v : {F32}, tensor<2x8xf32>)
        outs(%w : tensor<2x8xf32>) -> tensor<2x8xf32>""",
    "batch_vecmat": f"""
      %0 = linalg.batch_vecmat ins(%v, %x : tensor<2x8xf32>, {F32})
        outs(%w : tensor<2x8xf32>) -> tensor<2x8xf32>""",
    "batch_reduce_matmul": f"""
      %0 = linalg.batch_reduce_matmul ins(%x, %x : {F32}, {F32})
        outs(%y : tensor<8x8xf32>) -> tensor<8x8xf32>""",
    "quantized_matmul": """
      %0 = linalg.quantized_matmul ins(%q, %q, %z, %z : tensor<8x8xi8>, tensor<8x8xi8>, i32, i32)
        outs(%i : tensor<8x8xi32>) -> tensor<8x8xi32>""",
    "conv_1d_nwc_wcf": f"""
      %0 = linalg.conv_1d_nwc_wcf ins(%x, %k : {F32}, tensor<1x8x8xf32>)
        outs(%x : {F32}) -> {F32}""",
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_named_products_are_listed(name: str) -> None:
    module = parse(f"""
    func.func @f(%x: {F32}, %v: tensor<2x8xf32>, %w: tensor<2x8xf32>, %y: tensor<8x8xf32>,
        %q: tensor<8x8xi8>, %z: i32, %i: tensor<8x8xi32>, %k: tensor<1x8x8xf32>) {{
      {PRODUCTS[name]}
      return
    }}""")
    (product,) = read_matmuls(module)
    assert (product.scaled, product.reason) == (False, None)


def test_a_batched_matvec_of_a_linalg_program_is_listed() -> None:
    text = """
    func.func @main(%x: tensor<2x8x8xf32>, %v: tensor<2x8xf32>) -> tensor<2x8xf32> {
      %c = arith.constant dense<0.0> : tensor<2x8xf32>
      %0 = linalg.batch_matvec ins(%x, %v : tensor<2x8x8xf32>, tensor<2x8xf32>)
        outs(%c : tensor<2x8xf32>) -> tensor<2x8xf32>
      return %0 : tensor<2x8xf32>
    }"""
    matmuls: Any = headrace.compile(text, emit="mlir").report["matmuls"]
    assert [(m["lhs"], m["rhs"]) for m in matmuls] == [("tensor<2x8x8xf32>", "tensor<2x8xf32>")]


IN_BLOCKS = """
#a = affine_map<(m, n, k, b) -> (m, k, b)>
#w = affine_map<(m, n, k, b) -> (n, k, b)>
#as = affine_map<(m, n, k, b) -> (m, k)>
#ws = affine_map<(m, n, k, b) -> (n, k)>
#o = affine_map<(m, n, k, b) -> (m, n)>
func.func @main(%x: tensor<64x4x16xi8>, %xs: tensor<64x4xi8>) -> tensor<64x64xf32> {
  %q = iree_tensor_ext.bitcast %x : tensor<64x4x16xi8> -> tensor<64x4x32xf4E2M1FN>
  %s = iree_tensor_ext.bitcast %xs : tensor<64x4xi8> -> tensor<64x4xf8E8M0FNU>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = linalg.generic {indexing_maps = [#a, #w, #as, #ws, #o],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%q, %q, %s, %s : tensor<64x4x32xf4E2M1FN>, tensor<64x4x32xf4E2M1FN>,
          tensor<64x4xf8E8M0FNU>, tensor<64x4xf8E8M0FNU>) outs(%c : tensor<64x64xf32>) {
  ^bb0(%l: f4E2M1FN, %r: f4E2M1FN, %ls: f8E8M0FNU, %rs: f8E8M0FNU, %sum: f32):
    %1 = arith.scaling_extf %l, %ls : f4E2M1FN, f8E8M0FNU to f32
    %2 = arith.scaling_extf %r, %rs : f4E2M1FN, f8E8M0FNU to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %sum, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
"""


def test_a_product_scaled_in_blocks_is_listed() -> None:
    report: Any = headrace.compile(IN_BLOCKS, target="gfx950", emit="mlir").report
    (matmul,) = report["matmuls"]
    assert matmul["lhs"] == matmul["rhs"] == "tensor<64x4x32xf4E2M1FN>"
    assert matmul["result"] == "tensor<64x64xf32>"
    assert matmul["scaled"]
    for refused in report["not_encoded"]:
        assert refused["result"] == "tensor<64x64xf32>"


def test_a_convolution_of_fp8_values_has_a_reason() -> None:
    text = """
    func.func @main(%x: tensor<1x8x8xf8E4M3FN>, %k: tensor<1x8x8xf32>) -> tensor<1x8x8xf32> {
      %w = stablehlo.convert %x : (tensor<1x8x8xf8E4M3FN>) -> tensor<1x8x8xf32>
      %0 = stablehlo.convolution(%w, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
        window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
      return %0 : tensor<1x8x8xf32>
    }"""
    (convolution,) = read_matmuls(parse(text))
    assert convolution.reason == "the convolution stays wide: headrace has none of fp8 values"
