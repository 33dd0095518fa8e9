"""The replication analysis: which devices hold the same bits in a value."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from headrace.dialects.mlir import (
    Operation,
    StringAttr,
    Value,
    make_context,
    walk,
)
from headrace.dialects.parsing import parse_module
from headrace.passes.model.device_classes import agree, meet, sharding_classes
from headrace.passes.model.replication import ReplicationAnalysis

FOUR = "headrace.num_partitions = 4 : i32, headrace.num_replicas = 1 : i32"
EQUAL = (0, 0, 0, 0)
DIFFERENT = (0, 1, 2, 3)
PAIRS = (0, 0, 1, 1)  # 0 with 1, 2 with 3
STRIDES = (0, 1, 0, 1)  # 0 with 2, 1 with 3


@pytest.mark.parametrize(
    ("sharding", "rank", "partitions", "expected"),
    [
        ("{replicated}", 2, 4, EQUAL),
        ("{replicated}", 0, 1, (0,)),
        ("{devices=[4,1]<=[4]}", 2, 4, DIFFERENT),
        ("{devices=[1,1,4]<=[4] last_tile_dim_replicate}", 2, 4, EQUAL),
        ("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", 2, 4, PAIRS),
        ("{devices=[2,1,2]<=[4] last_tile_dims={replicated}}", 2, 4, PAIRS),
        ("{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", 2, 4, STRIDES),
        ("{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}", 2, 4, STRIDES),
        ("{devices=[2,1,2]3,0,2,1 last_tile_dim_replicate}", 2, 4, (0, 1, 1, 0)),
        ("{devices=[2,2]<=[2,2]T(1,0)}", 2, 4, DIFFERENT),
        ("{devices=[2,2,2]<=[8] last_tile_dims={replicated}}", 2, 8, (0, 0, 1, 1, 2, 2, 3, 3)),
        (
            "{devices=[2,1,4]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}",
            2,
            8,
            (0, 0, 1, 1, 0, 0, 1, 1),
        ),
        # These say nothing about equality, or are not understood.
        ("{maximal device=0}", 2, 4, DIFFERENT),
        ("{manual}", 2, 4, DIFFERENT),
        ("{unknown}", 2, 4, DIFFERENT),
        ("{devices=[2,1,2]<=[4] last_tile_dims={manual}}", 2, 4, DIFFERENT),
        ("{devices=[2,1,2]<=[4] last_tile_dims={unreduced}}", 2, 4, DIFFERENT),
        ("{devices=[2,1,2]<=[4]}", 2, 4, DIFFERENT),
        ("{devices=[2,1]<=[2]}", 2, 4, DIFFERENT),
        ("{devices=[2,1,2]<=[8] last_tile_dim_replicate}", 2, 4, DIFFERENT),
        ("{devices=[2,1,2]<=[2,2]T(1,1) last_tile_dim_replicate}", 2, 4, DIFFERENT),
        ("{devices=[2,1,2]0,0,1,1 last_tile_dim_replicate}", 2, 4, DIFFERENT),
        ("{devices=[4]<=[99999999999999]}", 1, 4, DIFFERENT),
        ("{{replicated}, {replicated}}", 1, 4, DIFFERENT),
        ("{devices=[2,0]<=[0]}", 2, 4, DIFFERENT),
        ("replicated", 2, 4, DIFFERENT),
        ("", 2, 4, DIFFERENT),
        ("{", 2, 4, DIFFERENT),
    ],
)
def test_sharding(sharding: str, rank: int, partitions: int, expected: tuple[int, ...]) -> None:
    assert sharding_classes(sharding, rank, partitions) == expected


def test_meet_is_the_common_refinement() -> None:
    assert meet(PAIRS, STRIDES) == DIFFERENT
    assert meet(PAIRS, EQUAL) == PAIRS
    assert meet((0, 0, 1, 1, 1, 1), (0, 0, 0, 0, 1, 1)) == (0, 0, 1, 1, 2, 2)


def test_agree() -> None:
    assert agree(PAIRS, [[0, 1], [3, 2]])
    assert not agree(PAIRS, [[0, 1], [1, 2]])
    assert agree(DIFFERENT, [[2]])
    assert not agree(EQUAL, [[0, 4]])  # no such device


def _analyse(text: str) -> tuple[ReplicationAnalysis, list[Value], Operation]:
    """The analysis, and the values that @main returns."""
    module = parse_module(text, "test.mlir", make_context())
    function = next(
        op
        for op in walk(module)
        if op.name == "func.func" and StringAttr(op.attributes["sym_name"]).value == "main"
    )
    returned = function.regions[0].blocks[0].operations[-1].operation
    return ReplicationAnalysis(module), list(returned.operands), module


def _classes(text: str) -> list[tuple[int, ...]]:
    analysis, values, _ = _analyse(text)
    return [analysis.classes(value) for value in values]


HEADER = """
module attributes {%s} {
  func.func @main(%%all: tensor<f32> {headrace.sharding = "{replicated}"},
                  %%pairs: tensor<2xf32> {headrace.sharding =
                      "{devices=[2,2]<=[4] last_tile_dim_replicate}"},
                  %%own: tensor<f32>) -> (%s) {
    %s
    return %s : %s
  }
}
"""


def _body(body: str, values: str, types: str, module: str = FOUR) -> list[tuple[int, ...]]:
    return _classes(HEADER % (module, types, body, values, types))


F = "tensor<f32>"
ALL_DEVICES = "replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>"
TWO_PAIRS = "replica_groups = dense<[[0,1],[2,3]]> : tensor<2x2xi64>"
TWO_STRIDES = "replica_groups = dense<[[0,2],[1,3]]> : tensor<2x2xi64>"


def _all_reduce(operand: str, groups: str) -> str:
    return (
        f'"headrace.all_reduce"({operand}) {{pipelined = false, reduction = "max", {groups}}}'
        f" : ({F}) -> {F}"
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
    found = _body(body, "%c, %d, %f, %g, %own, %j", types)
    assert found == [EQUAL, EQUAL, EQUAL, DIFFERENT, DIFFERENT, PAIRS]


def _permute(operand: str, pairs: list[tuple[int, int]]) -> str:
    rows = ", ".join(f"[{source}, {target}]" for source, target in pairs)
    return (
        f'"headrace.collective_permute"({operand}) {{pipelined = false,'
        f" source_target_pairs = dense<[{rows}]> : tensor<{len(pairs)}x2xi64>}} : ({F}) -> {F}"
    )


def test_collectives() -> None:
    body = f"""
    %x = tensor.extract_slice %pairs[0] [1] [1] : tensor<2xf32> to {F}
    %0 = {_all_reduce("%own", ALL_DEVICES)}
    %1 = {_all_reduce("%own", TWO_PAIRS)}
    %2 = {_all_reduce("%1", TWO_STRIDES)}
    %3 = {_all_reduce("%x", TWO_STRIDES)}
    %4 = {_all_reduce("%x", TWO_PAIRS)}
    %5 = {_permute("%own", [(0, 1)])}
    %6 = {_permute("%all", [(0, 1), (1, 0)])}
    %7 = {_permute("%x", [(0, 3), (1, 2), (2, 1), (3, 0)])}
    """
    types = ", ".join([F] * 8)
    found = _body(body, "%0, %1, %2, %3, %4, %5, %6, %7", types)
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
    found = _body(body, "%0, %1, %2, %3, %4", types)
    # Parts of an equal value: devices in the same place hold the same part.
    assert found == [EQUAL, STRIDES, DIFFERENT, STRIDES, STRIDES]


def test_groups_that_leave_devices_out() -> None:
    groups = "replica_groups = dense<[[1,2]]> : tensor<1x2xi64>"
    assert _body(f"%0 = {_all_reduce('%own', groups)}", "%0", F) == [(0, 1, 1, 2)]


def test_ids() -> None:
    module = "headrace.num_partitions = 2 : i32, headrace.num_replicas = 2 : i32"
    body = """
    %0 = "headrace.partition_id"() : () -> tensor<i32>
    %1 = "headrace.replica_id"() : () -> tensor<i32>
    %2 = stablehlo.add %0, %1 : tensor<i32>
    """
    types = "tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>"
    # Replicas have data of their own: a sharding is about partitions.
    assert _body(body, "%0, %1, %2, %all", types, module) == [STRIDES, PAIRS, DIFFERENT, PAIRS]


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
    assert _body(body, "%0, %1, %2, %3", types) == [DIFFERENT] * 4


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
    assert _body(body, "%0, %1, %2, %3", f"{v}, {v}, {F}, {F}") == [
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
    assert _body(text, "%r#0, %r#1, %r#2, %r#3", types) == [EQUAL, EQUAL, DIFFERENT, DIFFERENT]


def test_loop_with_different_trip_counts() -> None:
    body = f"stablehlo.return %j, %a, %b, %c : tensor<i32>, {F}, {F}, {F}"
    text = _while('"headrace.partition_id"() : () -> tensor<i32>', body)
    assert _body(text, "%r#0, %r#1", f"tensor<i32>, {F}") == [DIFFERENT, DIFFERENT]


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
    assert _body(body, "%r#0, %r#1, %r#2, %w#0, %w#1", types) == [
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
    assert _body(body, "%0, %1", f"{F}, {F}") == [EQUAL, DIFFERENT]


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
    assert _classes(CALLS % ("twice", "%all")) == [EQUAL, EQUAL]
    # All calls of a function are taken together.
    assert _classes(CALLS % ("twice", "%own")) == [DIFFERENT, DIFFERENT]
    assert _classes(CALLS % ("outside", "%all")) == [EQUAL, DIFFERENT]


def test_device_count_without_attributes() -> None:
    body = f"%0 = {_all_reduce('%own', 'replica_groups = dense<[[0,5]]> : tensor<1x2xi64>')}"
    assert _body(body, "%0", F, "") == [(0, 1, 2, 3, 4, 0)]


def test_why_unequal_names_the_source() -> None:
    body = f"""
    %0 = stablehlo.add %all, %own : {F}
    %1 = stablehlo.multiply %all, %0 : {F}
    %2 = {_all_reduce("%own", TWO_PAIRS)}
    """
    analysis, values, _module = _analyse(HEADER % (FOUR, f"{F}, {F}", body, "%1, %2", f"{F}, {F}"))
    assert analysis.why_unequal(values[0], [[0, 1]]) == (
        "argument 2 of @main, which has no sharding"
    )
    assert analysis.why_unequal(values[1], [[0, 2]]).startswith("the result of headrace.all_reduce")


def test_long_chains_are_solved_without_recursion() -> None:
    lines = [f"%0 = stablehlo.add %all, %all : {F}"]
    lines += [f"%{i} = stablehlo.add %{i - 1}, %all : {F}" for i in range(1, 5000)]
    assert _body("\n".join(lines), "%4999", F) == [EQUAL]


# Random programs, run on four simulated devices: what the analysis calls
# equal must be equal, whatever the devices' own data.

GROUPS = [
    [[0, 1, 2, 3]],
    [[0, 1], [2, 3]],
    [[0, 2], [1, 3]],
    [[3, 1], [0, 2]],
    [[1, 2]],
]
PERMUTES = [
    [(0, 1), (1, 0), (2, 3), (3, 2)],
    [(0, 1), (1, 2), (2, 3), (3, 0)],
    [(0, 2)],
    [(1, 3), (3, 0)],
]


@dataclass(frozen=True)
class _Line:
    kind: str
    x: str
    y: str
    groups: list[list[int]]
    pairs: list[tuple[int, int]]

    def mlir(self) -> str:
        if self.kind == "all_reduce":
            shape = f"{len(self.groups)}x{len(self.groups[0])}"
            groups = f"replica_groups = dense<{self.groups}> : tensor<{shape}xi64>"
            return _all_reduce(f"%{self.x}", groups)
        if self.kind == "permute":
            return _permute(f"%{self.x}", self.pairs)
        return f"stablehlo.{self.kind} %{self.x}, %{self.y} : {F}"

    def run(self, x: list[object], y: list[object]) -> list[object]:
        """The values of the four devices, as terms: only the same computation
        of the same data is equal."""
        if self.kind == "permute":
            found: list[object] = ["zero"] * 4
            for source, target in self.pairs:
                found[target] = x[source]
            return found
        if self.kind == "all_reduce":
            found = [("left out", device) for device in range(4)]
            for group in self.groups:
                for device in group:
                    found[device] = ("reduced", tuple(x[d] for d in group))
            return found
        return [(self.kind, a, b) for a, b in zip(x, y, strict=True)]


@pytest.mark.parametrize("seed", range(30))
def test_random_programs(seed: int) -> None:
    rng = random.Random(seed)
    held: dict[str, list[object]] = {
        "own": ["a", "b", "c", "d"],
        "all": ["e"] * 4,
        "half": ["f", "f", "g", "g"],
    }
    body = [
        "%h = stablehlo.slice %pairs [0:1] : (tensor<2xf32>) -> tensor<1xf32>",
        f"%half = stablehlo.reshape %h : (tensor<1xf32>) -> {F}",
    ]
    kinds = ["add", "maximum", "all_reduce", "permute"]
    names = [f"v{i}" for i in range(12)]
    for name in names:
        x, y = rng.choice(list(held)), rng.choice(list(held))
        line = _Line(rng.choice(kinds), x, y, rng.choice(GROUPS), rng.choice(PERMUTES))
        body.append(f"%{name} = {line.mlir()}")
        held[name] = line.run(held[x], held[y])
    values = ", ".join(f"%{name}" for name in names)
    found = _body("\n".join(body), values, ", ".join([F] * len(names)))
    for name, classes in zip(names, found, strict=True):
        for a in range(4):
            for b in range(4):
                if classes[a] == classes[b]:
                    assert held[name][a] == held[name][b], (name, body)
