"""Programs of four devices for tests of the replication analysis."""

from __future__ import annotations

from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.analysis.replication import ReplicationAnalysis

FOUR = "headrace.num_partitions = 4 : i32, headrace.num_replicas = 1 : i32"
EQUAL = (0, 0, 0, 0)
DIFFERENT = (0, 1, 2, 3)
PAIRS = (0, 0, 1, 1)  # 0 with 1, 2 with 3
STRIDES = (0, 1, 0, 1)  # 0 with 2, 1 with 3


def analyse(text: str) -> tuple[ReplicationAnalysis, list[ir.Value], ir.Operation]:
    """The analysis, and the values that @main returns."""
    module = parse_module(text, "test.mlir", ir.make_context())
    function = next(
        op
        for op in ir.walk(module)
        if op.name == "func.func" and ir.StringAttr(op.attributes["sym_name"]).value == "main"
    )
    returned = function.regions[0].blocks[0].operations[-1].operation
    return ReplicationAnalysis(module), list(returned.operands), module


def classes(text: str) -> list[tuple[int, ...]]:
    analysis, values, _ = analyse(text)
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


def classes_of(body: str, values: str, types: str, module: str = FOUR) -> list[tuple[int, ...]]:
    return classes(HEADER % (module, types, body, values, types))


F = "tensor<f32>"
ALL_DEVICES = "replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>"
TWO_PAIRS = "replica_groups = dense<[[0,1],[2,3]]> : tensor<2x2xi64>"
TWO_STRIDES = "replica_groups = dense<[[0,2],[1,3]]> : tensor<2x2xi64>"


def all_reduce(operand: str, groups: str) -> str:
    return (
        f'"headrace.all_reduce"({operand}) {{pipelined = false, reduction = "max", {groups}}}'
        f" : ({F}) -> {F}"
    )


def permute(operand: str, pairs: list[tuple[int, int]]) -> str:
    rows = ", ".join(f"[{source}, {target}]" for source, target in pairs)
    return (
        f'"headrace.collective_permute"({operand}) {{pipelined = false,'
        f" source_target_pairs = dense<[{rows}]> : tensor<{len(pairs)}x2xi64>}} : ({F}) -> {F}"
    )
