"""Programs that parse and verify, and that no pass may take for what they are not."""

from __future__ import annotations

import pytest
from headrace.compiler.driver import compile_program
from headrace.dialects import ir
from headrace.passes.analysis.trip_counts import count_trips
from headrace.passes.pipeline import Pipeline
from refusals import module_of, refusal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module attributes {headrace.num_partitions = 1.0 : f32} {}", "must be a positive"),
        ("module attributes {headrace.num_replicas = 0 : i32} {}", "must be a positive integer"),
        (
            "module attributes {mhlo.num_partitions = 65537 : i32} {}",
            "'mhlo.num_partitions' = 65537: a program is for 65536 devices at most",
        ),
        (
            "module attributes {mhlo.num_replicas = 300 : i32, mhlo.num_partitions = 300 : i32} {}",
            "a program is for 65536 devices at most",
        ),
        (
            "func.func @f(%x: i32 {mhlo.sharding}) { return }",
            "'mhlo.sharding' of argument 0 must be a string, got unit",
        ),
        (
            "func.func @f() -> (i32 {headrace.sharding = 1}) { %c = arith.constant 1 : i32\n"
            "return %c : i32 }",
            "'headrace.sharding' of result 0 must be a string, got 1 : i64",
        ),
        (
            "func.func @f() attributes {iree.reflection = []} { return }",
            "'iree.reflection' must be a dictionary, got []",
        ),
        (
            "func.func @f() { %c = arith.constant {headrace.wide_reason = 1} 1 : i32\nreturn }",
            "'headrace.wide_reason' must be a string, got 1 : i64",
        ),
        ("func.func @f() {\n  test.end {headrace.pipeline_reason = 3}\n}", "custom op"),
        ('"sample"() : () -> ()', "'sample' is the name of no op: it has no dialect"),
        (
            "func.func @f(%x: tensor<8xbf16>) -> tensor<8xf8E4M3FN> {\n"
            '  %0 = "headrace.quantize"(%x) {saturate = true, scale_mode = "divide"}'
            " : (tensor<8xbf16>) -> tensor<8xf8E4M3FN>\n}",
            "2:8: error: 'headrace.quantize' op is no terminator, but ends a block",
        ),
        (
            "func.func @f(%x: tensor<65536x65536x65537xf32>) { return }",
            "tensor<65536x65536x65537xf32> has more elements than any memory: over 2^48",
        ),
        (
            "func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
            "  %c0 = arith.constant 0 : index\n"
            "  %d = tensor.dim %x, %c0 : tensor<?xf32>\n"
            '  %r = "flow.dispatch.region"() <{operandSegmentSizes = array<i32: 0, 0>}> ({\n'
            "    flow.return %x : tensor<?xf32>\n  }, {}) : () -> tensor<?xf32>\n"
            "  return %r : tensor<?xf32>\n}",
            "'flow.dispatch.region' op has 0 sizes for results with 1 dynamic dimensions",
        ),
        (
            "func.func @f(%x: tensor<?xf32>) -> index {\n  %c = arith.constant 1 : index\n"
            "  %d = tensor.dim %x, %c : tensor<?xf32>\n  return %d : index\n}",
            "3:8: error: 'tensor.dim' of dimension 1 of a tensor<?xf32>",
        ),
        (
            "func.func @f(%x: tensor<2x3xf32>) {\n  %0 = tensor.collapse_shape %x "
            "[[-9223372036854775808, 1]] : tensor<2x3xf32> into tensor<6xf32>\n  return\n}",
            "has groups [[-9223372036854775808, 1]] of the dimensions of tensor<2x3xf32>",
        ),
        (
            "func.func @f(%x: tensor<6xf32>) {\n  %0 = tensor.expand_shape %x "
            "[[-9223372036854775808, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>"
            "\n  return\n}",
            "has groups [[-9223372036854775808, 1]] of the dimensions of tensor<2x3xf32>",
        ),
        (
            "func.func @f(%x: tensor<6xi32>) {\n"
            "  %0 = iree_linalg_ext.sort dimension(9223372036854775808) outs(%x : tensor<6xi32>) {\n"
            "  ^bb0(%a: i32, %b: i32):\n    %1 = arith.cmpi sle, %a, %b : i32\n"
            "    iree_linalg_ext.yield %1 : i1\n  } -> tensor<6xi32>\n  return\n}",
            "'iree_linalg_ext.sort' along dimension -9223372036854775808 : i64 of a tensor<6xi32>",
        ),
        (
            '"acme.module"() ({\n  func.func @f() { return }\n}) : () -> ()',
            "2:3: error: a function stands in 'acme.module', no module",
        ),
    ],
)
def test_refused_before_any_pass(text: str, message: str) -> None:
    """MLIR's verifier lets it pass; so no pass is asked to do anything with it."""
    with pytest.raises(ir.HeadraceError) as caught:
        Pipeline([]).run(module_of(text))
    assert message in str(caught.value)


def test_reshapes_of_scalars_are_taken() -> None:
    text = """
func.func @f(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %0 = tensor.collapse_shape %x [] : tensor<1x1xf32> into tensor<f32>
  %1 = tensor.expand_shape %0 [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  return %1 : tensor<1x1xf32>
}"""
    Pipeline([]).run(module_of(text))


@pytest.mark.parametrize("verify_each", [True, False])
def test_input_is_verified_always(verify_each: bool) -> None:
    module = module_of("module attributes {headrace.num_partitions = 1.0 : f32} {}")
    with pytest.raises(ir.HeadraceError, match="must be a positive integer"):
        Pipeline.parse("builtin.module(to-per-device)").run(module, verify_each=verify_each)


COLLECTIVE = (
    "func.func @f(%x: tensor<4xf32>) -> tensor<8xf32> {{\n"
    '  %0 = "{}.all_gather"(%x) {{{} = 0 : i64, {} replica_groups = dense<{}> : tensor<{}>}}'
    " : (tensor<4xf32>) -> tensor<8xf32>\n  return %0 : tensor<8xf32>\n}}"
)


@pytest.mark.parametrize("dialect", ["stablehlo", "headrace"])
@pytest.mark.parametrize(
    ("ids", "shape"),
    [
        ("[[0, 65536]]", "1x2xi64"),
        ("[[0, 9223372036854775807]]", "1x2xi64"),
        ("1", "1073741824x2xi64"),
    ],
)
def test_ids_of_too_many_devices(dialect: str, ids: str, shape: str) -> None:
    """Analyses keep a number for each device; a splat of ids need not even fit a list."""
    dim, mark = ("all_gather_dim", "") if dialect == "stablehlo" else ("dim", "pipelined = false,")
    text = COLLECTIVE.format(dialect, dim, mark, ids, shape)
    try:
        message = refusal(text)
    except MemoryError:
        pytest.fail("the ids were listed")
    assert "replica_groups" in message or "replica id" in message


def test_trips_beyond_64_bits() -> None:
    for lower, upper, step in [(0, 5, 2), (3, 3, 1), (4, 1, 1), (-7, 7, 3), (0, 1, 9)]:
        assert count_trips(lower, upper, step) == len(range(lower, upper, step))
    assert count_trips(-(1 << 63), (1 << 63) - 1, 1) == (1 << 64) - 1
    assert count_trips(0, 5, 0) is None


def test_unregistered_op_is_refused_first() -> None:
    """Native passes crash on some, as on this one at the end of a function."""
    text = 'func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  "acme.end"(%x) : (tensor<4xf32>) -> ()\n}'
    message = "'acme.end' cannot be lowered: neither headrace nor IREE knows it"
    assert message in refusal(text)


UNPASSED = {
    "tensor<64x64xf8E3M4>": "no f8E3M4 values: pass tensor<64x64xi8>, and bitcast",
    "tensor<?x4xf8E4M3>": "no f8E4M3 values: pass tensor<?x4xi8>, and bitcast",
    "tensor<f8E4M3B11FNUZ>": "no f8E4M3B11FNUZ values: pass tensor<i8>",
    "tensor<8x32xf4E2M1FN>": "no f4E2M1FN values: pass tensor<8x16xi8>, with the first of two",
    "tensor<?x2xf4E2M1FN>": "pass tensor<?x1xi8>",
    "tensor<7xf4E2M1FN>": "takes an even last dimension",
    "tensor<4x?xf4E2M1FN>": "takes an even last dimension",
    "tensor<f4E2M1FN>": "takes an even last dimension",
    "tensor<4xf6E2M3FN>": "no f6E2M3FN values: convert it",
    "tensor<4xtf32>": "no tf32 values",
    "tensor<4xindex>": "no index values: convert it from or to i64",
    "bf16": "no bf16 scalars: pass tensor<bf16>",
    "f8E4M3FN": "no f8E4M3FN scalars: pass tensor<f8E4M3FN>",
    "i48": "no i48 scalars: pass tensor<i48>",
}


@pytest.mark.parametrize("type_", UNPASSED)
@pytest.mark.parametrize("form", ["devices", "channel"])
def test_types_that_the_runtime_cannot_pass(type_: str, form: str) -> None:
    """The error names the argument or result and its type, on every target."""
    text = f"func.func @f(%n: i32, %x: {type_}) {{\n  return\n}}"
    target = "cpu" if form == "devices" else "gfx950"
    with pytest.raises(ir.HeadraceError) as caught:
        compile_program(text, target, emit="mlir")
    assert f"error: argument 1 of 'f' has type {type_}, and " in str(caught.value)
    assert UNPASSED[type_] in str(caught.value)
    if not type_.startswith("tensor"):
        return
    text = f"func.func @f() -> {type_} {{\n  %0 = ub.poison : {type_}\n  return %0 : {type_}\n}}"
    assert f"result 0 of 'f' has type {type_}" in refusal(text)


GLOBAL = """
module attributes {{mhlo.num_partitions = 2 : i32}} {{
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
    %0 = {} : {}
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%x) {{mhlo.sharding = "{{manual}}"}}
      : (tensor<4xf32>) -> tensor<2xf32>
    %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {{mhlo.sharding = "{{devices=[2]<=[2]}}"}}
      : (tensor<2xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }}
}}
"""


@pytest.mark.parametrize(
    ("call", "types", "message"),
    [
        ("@Sharding(%x)", "(tensor<4xf32>) -> tensor<4xf32>", "has no attribute 'mhlo.sharding'"),
        ("@Sharding()", "() -> tensor<4xf32>", "'@Sharding' takes one tensor and returns one"),
        (
            '@Sharding(%x) {mhlo.sharding = "{replicated}"}',
            "(tensor<4xf32>) -> tensor<2x2xf32>",
            "'@Sharding' changes the rank of its operand",
        ),
        (
            '@Sharding(%x) {mhlo.sharding = "{devices=[2]<=[2]}", api_version = 4 : i32, backend_config = {a = 1}}',
            "(tensor<4xf32>) -> tensor<4xf32>",
            None,
        ),
        (
            '@Sharding(%x) {mhlo.sharding = "{replicated}", '
            'backend_config = "unspecified_dims=[x]"}',
            "(tensor<4xf32>) -> tensor<4xf32>",
            "the sharding makes tensor<4xf32>, but the program says",
        ),
        ('@Sharding(%x) {mhlo.sharding = "{devices=[2]<=[99999999999999]}"}', "", "sharding {dev"),
        ('@Sharding(%x) {mhlo.sharding = "{devices=[0]<=[0]}"}', "", "sharding {devices=[0]"),
    ],
)
def test_sharding_calls_of_another_form(call: str, types: str, message: str | None) -> None:
    types = types or "(tensor<4xf32>) -> tensor<4xf32>"
    module = module_of(GLOBAL.format(f"stablehlo.custom_call {call}", types))
    run = Pipeline.parse("builtin.module(to-per-device)").run
    if message is None:
        run(module)
        return
    with pytest.raises(ir.HeadraceError) as caught:
        run(module)
    assert message in str(caught.value)
    assert "raised" not in str(caught.value)


@pytest.mark.parametrize("target", ["cpu", "gfx950"])
def test_counters_that_become_a_constant(target: str) -> None:
    """A loop whose counter, or another number that it carries, is no function of itself."""
    text = """
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %n, %a = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = stablehlo.multiply %a, %a : tensor<4xf32>
    stablehlo.return %zero, %y : tensor<i32>, tensor<4xf32>
  }
  %1:3 = stablehlo.while(%i = %zero, %k = %n, %a = %0#1) : tensor<i32>, tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.multiply %a, %a : tensor<4xf32>
    stablehlo.return %j, %one, %y : tensor<i32>, tensor<i32>, tensor<4xf32>
  }
  return %1#2, %1#1 : tensor<4xf32>, tensor<i32>
}"""
    assert "cf.cond_br" in str(compile_program(text, target, emit="mlir").module)
