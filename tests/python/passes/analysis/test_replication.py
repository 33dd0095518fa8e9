"""The replication analysis: which devices hold the same bits in a value."""

from __future__ import annotations

from replication_programs import (
    ALL_DEVICES,
    DIFFERENT,
    EQUAL,
    FOUR,
    HEADER,
    PAIRS,
    STRIDES,
    TWO_PAIRS,
    TWO_STRIDES,
    F,
    all_reduce,
    analyse,
    classes,
    classes_of,
    permute,
)


def test_arguments_constants_and_arithmetic() -> None:
    body = f"""
    %c = stablehlo.constant dense<2.0> : {F}
    %d = arith.constant dense<3.0> : {F}
    %e = stablehlo.multiply %c, %all : {F}
    %f = math.exp %e : {F}
    %g = arith.addf %f, %own : {F}
    %h = stablehlo.slice %pairs [1:2] : (tensor<2xf32>) -> tensor<1xf32>
    %i = stablehlo.reshape %h : (tensor<1xf32>) -> {F}
    %j = arith.addf %i, %f : {F}
    """
    types = ", ".join([F] * 6)
    found = classes_of(body, "%c, %d, %f, %g, %own, %j", types)
    assert found == [EQUAL, EQUAL, EQUAL, DIFFERENT, DIFFERENT, PAIRS]


def test_collectives() -> None:
    body = f"""
    %x = tensor.extract_slice %pairs[0] [1] [1] : tensor<2xf32> to {F}
    %0 = {all_reduce("%own", ALL_DEVICES)}
    %1 = {all_reduce("%own", TWO_PAIRS)}
    %2 = {all_reduce("%1", TWO_STRIDES)}
    %3 = {all_reduce("%x", TWO_STRIDES)}
    %4 = {all_reduce("%x", TWO_PAIRS)}
    %5 = {permute("%own", [(0, 1)])}
    %6 = {permute("%all", [(0, 1), (1, 0)])}
    %7 = {permute("%x", [(0, 3), (1, 2), (2, 1), (3, 0)])}
    """
    types = ", ".join([F] * 8)
    found = classes_of(body, "%0, %1, %2, %3, %4, %5, %6, %7", types)
    assert found == [
        EQUAL,
        PAIRS,
        EQUAL,  # a sum over pairs, then over one of each pair
        EQUAL,  # every group holds one device of each pair, in the same order
        PAIRS,
        (0, 1, 0, 0),  # device 1 holds device 0's; the others zeros
        (0, 0, 1, 1),
        PAIRS,
    ]


def test_gathers_and_scatters() -> None:
    v, w = "tensor<4xf32>", "tensor<16xf32>"

    def op(name: str, operand: str, attributes: str, result: str) -> str:
        return (
            f'"headrace.{name}"({operand}) {{pipelined = false, {attributes}}} : ({v}) -> {result}'
        )

    reduce_scatter = 'dim = 0 : i64, reduction = "add", '
    exchange = "split_dim = 0 : i64, concat_dim = 0 : i64, "
    body = f"""
    %v = stablehlo.broadcast_in_dim %all, dims = [] : ({F}) -> {v}
    %o = stablehlo.broadcast_in_dim %own, dims = [] : ({F}) -> {v}
    %0 = {op("all_gather", "%o", "dim = 0 : i64, " + ALL_DEVICES, w)}
    %1 = {op("all_gather", "%o", "dim = 0 : i64, " + TWO_STRIDES, "tensor<8xf32>")}
    %2 = {op("reduce_scatter", "%v", reduce_scatter + ALL_DEVICES, "tensor<1xf32>")}
    %3 = {op("reduce_scatter", "%v", reduce_scatter + TWO_PAIRS, "tensor<2xf32>")}
    %4 = {op("all_to_all", "%v", exchange + TWO_PAIRS, v)}
    """
    types = f"{w}, tensor<8xf32>, tensor<1xf32>, tensor<2xf32>, {v}"
    found = classes_of(body, "%0, %1, %2, %3, %4", types)
    # Parts of an equal value: devices in the same place hold the same part.
    assert found == [EQUAL, STRIDES, DIFFERENT, STRIDES, STRIDES]


def test_groups_that_leave_devices_out() -> None:
    groups = "replica_groups = dense<[[1,2]]> : tensor<1x2xi64>"
    assert classes_of(f"%0 = {all_reduce('%own', groups)}", "%0", F) == [(0, 1, 1, 2)]


def test_ids() -> None:
    module = "headrace.num_partitions = 2 : i32, headrace.num_replicas = 2 : i32"
    body = """
    %0 = "headrace.partition_id"() : () -> tensor<i32>
    %1 = "headrace.replica_id"() : () -> tensor<i32>
    %2 = stablehlo.add %0, %1 : tensor<i32>
    """
    types = "tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>"
    # Replicas have data of their own: a sharding is about partitions.
    assert classes_of(body, "%0, %1, %2, %all", types, module) == [STRIDES, PAIRS, DIFFERENT, PAIRS]


def test_what_is_not_known_to_be_pure() -> None:
    body = f"""
    %0 = stablehlo.custom_call @anything(%all) : ({F}) -> {F}
    %1 = stablehlo.rng %all, %all, %s, distribution = UNIFORM : ({F}, {F}, tensor<0xi64>) -> {F}
    %2 = "stablehlo.all_reduce"(%all) ({{
    ^bb0(%a: {F}, %b: {F}):
      %m = stablehlo.maximum %a, %b : {F}
      stablehlo.return %m : {F}
    }}) {{replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>}} : ({F}) -> {F}
    %3 = "some.op"(%all) : ({F}) -> {F}
    """
    types = ", ".join([F] * 4)
    body = "%s = stablehlo.constant dense<> : tensor<0xi64>\n" + body
    assert classes_of(body, "%0, %1, %2, %3", types) == [DIFFERENT] * 4


def test_regions_of_pure_ops() -> None:
    v, m = "tensor<4xf32>", "affine_map<(d0) -> (d0)>"
    generic = (
        f'linalg.generic {{indexing_maps = [{m}, {m}], iterator_types = ["parallel"]}}'
        f" ins(%v : {v}) outs(%e : {v})"
    )
    maximum = "applies stablehlo.maximum across dimensions = [0]"
    body = f"""
    %v = stablehlo.broadcast_in_dim %all, dims = [] : ({F}) -> {v}
    %e = tensor.empty() : {v}
    %0 = {generic} {{
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %a : f32
      linalg.yield %c : f32
    }} -> {v}
    %x = tensor.extract %own[] : {F}
    %1 = {generic} {{
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %x : f32
      linalg.yield %c : f32
    }} -> {v}
    %2 = stablehlo.reduce(%v init: %all) {maximum} : ({v}, {F}) -> {F}
    %3 = stablehlo.reduce(%v init: %own) {maximum} : ({v}, {F}) -> {F}
    """
    assert classes_of(body, "%0, %1, %2, %3", f"{v}, {v}, {F}, {F}") == [
        EQUAL,
        DIFFERENT,
        EQUAL,
        DIFFERENT,
    ]


def _while(condition: str, body: str) -> str:
    return f"""
    %i0 = stablehlo.constant dense<0> : tensor<i32>
    %r:4 = stablehlo.while(%i = %i0, %a = %all, %b = %all, %c = %all) : tensor<i32>, {F}, {F}, {F}
    cond {{
      %n = {condition}
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }} do {{
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      {body}
    }}
    """


def test_loop_carried_values() -> None:
    # %a stays equal; %c becomes unequal in the second trip, %b in the third.
    body = f"""
      %m = stablehlo.multiply %a, %a : {F}
      stablehlo.return %j, %m, %c, %own : tensor<i32>, {F}, {F}, {F}
    """
    text = _while("stablehlo.constant dense<5> : tensor<i32>", body)
    types = f"tensor<i32>, {F}, {F}, {F}"
    assert classes_of(text, "%r#0, %r#1, %r#2, %r#3", types) == [EQUAL, EQUAL, DIFFERENT, DIFFERENT]


def test_loop_with_different_trip_counts() -> None:
    body = f"stablehlo.return %j, %a, %b, %c : tensor<i32>, {F}, {F}, {F}"
    text = _while('"headrace.partition_id"() : () -> tensor<i32>', body)
    assert classes_of(text, "%r#0, %r#1", f"tensor<i32>, {F}") == [DIFFERENT, DIFFERENT]


def test_scf_loops() -> None:
    body = f"""
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 3 : index
    %r:3 = scf.for %k = %c0 to %n step %c1
        iter_args(%a = %all, %b = %all, %c = %all) -> ({F}, {F}, {F}) {{
      %q:2 = scf.for %l = %c0 to %k step %c1 iter_args(%d = %a, %e = %c) -> ({F}, {F}) {{
        %f = arith.addf %d, %d : {F}
        scf.yield %f, %e : {F}, {F}
      }}
      scf.yield %q#0, %q#1, %own : {F}, {F}, {F}
    }}
    %true = arith.constant true
    %w:2 = scf.while (%a = %all, %b = %all) : ({F}, {F}) -> ({F}, {F}) {{
      scf.condition(%true) %b, %a : {F}, {F}
    }} do {{
    ^bb0(%a: {F}, %b: {F}):
      scf.yield %a, %own : {F}, {F}
    }}
    """
    types = ", ".join([F] * 5)
    assert classes_of(body, "%r#0, %r#1, %r#2, %w#0, %w#1", types) == [
        EQUAL,
        DIFFERENT,
        DIFFERENT,
        DIFFERENT,
        DIFFERENT,
    ]


def test_branches() -> None:
    branches = """
    {
      stablehlo.return %all : tensor<f32>
    }, {
      %s = stablehlo.add %all, %all : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }"""
    body = f"""
    %t = stablehlo.compare GT, %all, %all : ({F}, {F}) -> tensor<i1>
    %u = stablehlo.compare GT, %own, %own : ({F}, {F}) -> tensor<i1>
    %0 = "stablehlo.if"(%t) ({branches}) : (tensor<i1>) -> {F}
    %1 = "stablehlo.if"(%u) ({branches}) : (tensor<i1>) -> {F}
    """
    assert classes_of(body, "%0, %1", f"{F}, {F}") == [EQUAL, DIFFERENT]
    body = f"""
    %c = arith.constant 1 : index
    %0 = scf.index_switch %c -> {F} case 1 {{ scf.yield %all : {F} }} default {{
      %s = stablehlo.add %all, %all : {F}
      scf.yield %s : {F}
    }}
    %1 = scf.index_switch %c -> {F} default {{ scf.yield %own : {F} }}
    """
    assert classes_of(body, "%0, %1", f"{F}, {F}") == [EQUAL, DIFFERENT]


CALLS = """
module attributes {headrace.num_partitions = 4 : i32} {
  func.func private @twice(%%x: tensor<f32>) -> tensor<f32> {
    %%0 = stablehlo.add %%x, %%x : tensor<f32>
    return %%0 : tensor<f32>
  }
  func.func private @outside(tensor<f32>) -> tensor<f32>
  func.func @main(%%all: tensor<f32> {headrace.sharding = "{replicated}"}, %%own: tensor<f32>)
      -> (tensor<f32>, tensor<f32>) {
    %%0 = func.call @twice(%%all) : (tensor<f32>) -> tensor<f32>
    %%1 = func.call @%s(%s) : (tensor<f32>) -> tensor<f32>
    return %%0, %%1 : tensor<f32>, tensor<f32>
  }
}
"""


def test_calls() -> None:
    assert classes(CALLS % ("twice", "%all")) == [EQUAL, EQUAL]
    # All calls of a function are taken together.
    assert classes(CALLS % ("twice", "%own")) == [DIFFERENT, DIFFERENT]
    assert classes(CALLS % ("outside", "%all")) == [EQUAL, DIFFERENT]


def test_device_count_without_attributes() -> None:
    body = f"%0 = {all_reduce('%own', 'replica_groups = dense<[[0,5]]> : tensor<1x2xi64>')}"
    assert classes_of(body, "%0", F, "") == [(0, 1, 2, 3, 4, 0)]


def test_why_unequal_names_the_source() -> None:
    body = f"""
    %0 = stablehlo.add %all, %own : {F}
    %1 = stablehlo.multiply %all, %0 : {F}
    %2 = {all_reduce("%own", TWO_PAIRS)}
    """
    analysis, values, _module = analyse(HEADER % (FOUR, f"{F}, {F}", body, "%1, %2", f"{F}, {F}"))
    assert analysis.why_unequal(values[0], [[0, 1]]) == (
        "argument 2 of @main, which has no sharding"
    )
    assert analysis.why_unequal(values[1], [[0, 2]]).startswith("the result of headrace.all_reduce")


def test_long_chains_are_solved_without_recursion() -> None:
    lines = [f"%0 = stablehlo.add %all, %all : {F}"]
    lines += [f"%{i} = stablehlo.add %{i - 1}, %all : {F}" for i in range(1, 5000)]
    assert classes_of("\n".join(lines), "%4999", F) == [EQUAL]
