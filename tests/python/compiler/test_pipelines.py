"""The list of steps: one order for all that tell one, and hooks that see every step."""

from __future__ import annotations

from pathlib import Path

import headrace
import pytest
from headrace.compiler import pipelines
from headrace.compiler.driver import compile_with
from headrace.compiler.options import CompileOptions
from headrace.compiler.pipelines import Settings
from headrace.dialects import ir
from headrace.passes import registry
from headrace.passes.loops.pipeline_collectives import PipelineCollectives
from headrace.passes.pipeline import Instrumentation, NativePass, Pipeline, Step
from headrace.tools.opt.pass_help import list_passes

ROOT = Path(headrace.__file__).parent
GLOBAL = """
module @jit_f attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2]<=[2]}"}
      : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"}
      : (tensor<8xf32>) -> tensor<4xf32>
    %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{manual}"}
      : (tensor<4xf32>) -> tensor<4xf32>
    %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2]<=[2]}"}
      : (tensor<4xf32>) -> tensor<8xf32>
    return %3 : tensor<8xf32>
  }
}
"""
TORCH = """
func.func @main(%a: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  return %a : !torch.vtensor<[4],f32>
}
"""
LOOP = """
func.func @main(%a: tensor<4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i64>, tensor<4xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i64>
      %y = stablehlo.add %x, %x : tensor<4xf32>
      stablehlo.return %j, %y : tensor<i64>, tensor<4xf32>
    }
  return %0#1 : tensor<4xf32>
}
"""


class Seen(Instrumentation):
    def __init__(self) -> None:
        self.steps: list[str] = []
        self.stages: list[str] = []

    def before(self, step: Step, module: ir.Operation) -> None:
        self.steps.append(step.name)

    def stage_begins(self, stage: str, module: ir.Operation) -> None:
        self.stages.append(stage)


def seen(source: str, **options: object) -> Seen:
    hook = Seen()
    compile_with(source, CompileOptions.make(**options), [hook])
    return hook


def test_all_tell_the_passes_in_the_order_of_the_pipeline() -> None:
    names = (entry.text for entries in pipelines.STAGES.values() for entry in entries)
    order = [name for name in dict.fromkeys(names) if registry.is_python_pass(name)]
    assert list(registry._BUILTIN) == order
    listed = [line.split()[0] for line in list_passes(native=False).splitlines()[1:] if line[:1]]
    assert [name for name in listed if name in order] == order
    documented = (ROOT / "docs" / "passes.md").read_text().splitlines()
    assert [line[4:-1] for line in documented if line.startswith("## `")] == order


@pytest.mark.parametrize(
    ("source", "options", "stage", "step"),
    [
        (GLOBAL, {"emit": "mlir"}, "per-device", "to-per-device"),
        (TORCH, {"emit": "mlir"}, "torch", "split-attention"),
        (LOOP, {}, "after-iree", "separate-forwarded-refs"),
    ],
)
def test_hooks_see_what_is_outside_the_default_pipeline(
    source: str, options: dict[str, object], stage: str, step: str, tmp_path: Path
) -> None:
    hook = seen(source, **options)
    assert step in hook.steps
    assert stage in hook.stages
    result = headrace.compile(source, dump_ir=str(tmp_path), **options)
    dumped = sorted(path.name for path in tmp_path.iterdir())
    assert dumped == [f"{i:03}-{name}.mlir" for i, name in enumerate(hook.steps, 1)]
    passes = result.report["passes"]
    assert isinstance(passes, list)
    assert [entry["name"] for entry in passes] == hook.steps


def test_conditions() -> None:
    several = pipelines.build_default(Settings("cpu", "devices", 2))
    one = pipelines.build_default(Settings("cpu", "devices", 1))
    channel = pipelines.build_default(Settings("vmvx", "channel", 2))
    names = [[step.name for step in pipeline.steps] for pipeline in (several, one, channel)]
    for name, runs in {
        "spmd-to-devices": (True, True, False),
        "place-constants": (True, False, False),
        "own-buffers": (True, True, True),
        "hold-carried-transfers": (True, False, False),
        "place-arguments": (False, False, True),
        "set-encodings": (True, True, True),
        "fuse-encodings": (True, True, False),
        "to-per-device": (False, False, False),
    }.items():
        assert tuple(name in found for found in names) == runs, name
    texts = [str(pipeline) for pipeline in (several, one, channel)]
    assert [",own-buffers{several=false}," in text for text in texts] == [False, True, True]


def test_the_order_moves_one_stage() -> None:
    after, before = (pipelines.compile_stages(f"{order}-matmul") for order in ("after", "before"))
    assert sorted(after) == sorted(before)
    assert after.index("matmuls") < after.index("loops")
    assert before.index("matmuls") > before.index("loops")
    assert [name for name in after if name != "matmuls"] == [n for n in before if n != "matmuls"]


def test_options_reach_the_passes() -> None:
    options = CompileOptions.make(pipeline_collectives="all-reduce:off", pipeline_budget=5)
    pipeline = pipelines.build_default(options.settings("gfx950", "channel", 2))
    (found,) = [step for step in pipeline.steps if isinstance(step, PipelineCollectives)]
    assert found == PipelineCollectives(modes=("all-reduce:off",), budget=5)
    targets = {
        step.options()["target"]
        for step in pipeline.steps
        if not isinstance(step, NativePass) and "target" in step.options()
    }
    assert targets == {"gfx950"}


def test_stages_before_one() -> None:
    pipeline = pipelines.build_default(Settings())
    first = pipeline.before("lowering")
    assert first.stages == pipeline.stages[: len(first.stages)]
    assert pipeline.steps[len(first.steps)].name == "accumulate-in-f32"
    assert str(Pipeline.parse(str(pipeline))) == str(pipeline)
