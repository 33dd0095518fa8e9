"""Updates in place on four devices, where transfers split what IREE does at once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import headrace
import numpy as np
import pytest
from headrace.compiler.iree.child import run_iree_compile
from headrace.compiler.iree.element_types import Array
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program
from headrace.compiler.metadata import FunctionInfo, describe_functions
from headrace.compiler.pipelines import default_pipeline
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline
from headrace.passes.targets.lookup import find_target
from stream_overlaps import check_stream, late_reads
from update_graphs import arguments, evaluate_on, random_graph
from update_texts import pipeline_without, text_on_devices

DEVICES = 4
GROUPS = (
    "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "
    "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"
)

# Nothing but the tensor %y ties its row maxima to its update: stock IREE 3.13
# computes them after it, as their one user comes after the gather.
READER_PAST_UPDATE = f"""
func.func public @reader_past_update(%x: tensor<16x16xf32>, %z: tensor<16x16xf32>) -> tensor<64xf32> {{
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %low = stablehlo.constant dense<-4.0e+01> : tensor<f32>
  %y = stablehlo.negate %x : tensor<16x16xf32>
  %r = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [1]
    : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
  %s = stablehlo.slice %z [0:4, 0:16] : (tensor<16x16xf32>) -> tensor<4x16xf32>
  %u = stablehlo.dynamic_update_slice %y, %s, %0, %0
    : (tensor<16x16xf32>, tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<16x16xf32>
  %g = "stablehlo.all_gather"(%u) <{{all_gather_dim = 0 : i64, {GROUPS}, use_global_device_ids}}>
    : (tensor<16x16xf32>) -> tensor<64x16xf32>
  %o = stablehlo.dot_general %g, %r, contracting_dims = [1] x [0]
    : (tensor<64x16xf32>, tensor<16xf32>) -> tensor<64xf32>
  return %o : tensor<64xf32>
}}
"""


def reader_past_update(x: Array, z: Array) -> Array:
    y = -x
    updated = y.copy()
    updated[:, 0:4] = z[:, 0:4]
    gathered = updated.reshape(DEVICES * 16, 16)
    return np.stack([gathered @ rows for rows in y.max(axis=2)])


# An update at the device's number of what an all-to-all gave, from its own slice.
AFTER_ALL_TO_ALL = f"""
func.func public @after_all_to_all(%x: tensor<16x16xf32>, %z: tensor<16x16xf32>) -> tensor<16x16xf32> {{
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %y = "stablehlo.all_to_all"(%x) <{{concat_dimension = 0 : i64, split_count = 4 : i64,
    split_dimension = 0 : i64, {GROUPS}}}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = stablehlo.slice %y [0:4, 0:16] : (tensor<16x16xf32>) -> tensor<4x16xf32>
  %t = stablehlo.add %s, %s : tensor<4x16xf32>
  %p = stablehlo.partition_id : tensor<ui32>
  %i = stablehlo.convert %p : (tensor<ui32>) -> tensor<i32>
  %u = stablehlo.dynamic_update_slice %y, %t, %i, %0
    : (tensor<16x16xf32>, tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<16x16xf32>
  return %u : tensor<16x16xf32>
}}
"""


def after_all_to_all(x: Array, z: Array) -> Array:
    parts = x.reshape(DEVICES, DEVICES, 4, 16)
    found = parts.transpose(1, 0, 2, 3).reshape(DEVICES, 16, 16).copy()
    for device, y in enumerate(found):
        y[device : device + 4] = 2 * y[0:4]
    return found


def module_of(*functions: str) -> str:
    head = "module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32}"
    return "\n".join([f"{head} {{", *functions, "}"])


def inputs() -> list[Array]:
    numbers = np.random.default_rng(0)
    return [numbers.integers(-4, 5, (DEVICES, 16, 16)).astype(np.float32) for _ in range(2)]


PROGRAMS = {
    "reader_past_update": (READER_PAST_UPDATE, reader_past_update),
    "after_all_to_all": (AFTER_ALL_TO_ALL, after_all_to_all),
}


def compiled(text: str, path: Path, *without: str) -> tuple[FunctionInfo, str]:
    """The program in ``path``, and IREE's stream phase. ``without``: passes to leave out."""
    module = parse_module(text, "test", ir.make_context())
    (function,) = describe_functions(module, "cpu", "devices", DEVICES)
    pipeline = default_pipeline("cpu", "devices", DEVICES)
    Pipeline.parse(pipeline_without(pipeline, *without)).run(module)
    done = run_iree_compile(module, find_target("cpu").flags("devices", DEVICES), ["stream"])
    path.write_bytes(done.vmfb)
    return function, done.phases["stream"]


@cache
def both(cpu: str) -> Path:
    program = Path(mkdtemp(prefix="headrace-tests-")) / "program.vmfb"
    headrace.compile(module_of(*(text for text, _ in PROGRAMS.values())), cpu=cpu).save(program)
    return program


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    "cpu",
    [
        pytest.param("host", marks=pytest.mark.full),
        "x86-64-v3",
        pytest.param("generic", marks=pytest.mark.full),
    ],
)
def test_numbers(name: str, cpu: str) -> None:
    _, reference = PROGRAMS[name]
    program = both(cpu)
    x, z = inputs()
    (result,) = run_program(program, load_functions(program)[name], [x, z])
    np.testing.assert_array_equal(result, reference(x, z))


@pytest.mark.full
def test_stock_reads_too_late(tmp_path: Path) -> None:
    """That a reader comes too late is no overlap. It waits for the update, whatever
    the devices do: the numbers are wrong each time."""
    text, reference = PROGRAMS["reader_past_update"]
    module, program = module_of(text), tmp_path / "program.vmfb"
    maxima, update = "reduction", "copy"
    _, stream = compiled(module, program)
    assert late_reads(stream, maxima, update) == 0
    info, stream = compiled(module, program, "own-buffers", "separate-updates")
    assert late_reads(stream, maxima, update) == DEVICES
    assert check_stream(stream) == []
    x, z = inputs()
    (result,) = run_program(program, info, [x, z])
    assert not np.array_equal(result, reference(x, z))


@pytest.mark.full
def test_stock_overlaps(tmp_path: Path) -> None:
    module, program = module_of(AFTER_ALL_TO_ALL), tmp_path / "program.vmfb"
    _, stream = compiled(module, program)
    assert check_stream(stream) == []
    _, stream = compiled(module, program, "own-buffers", "separate-updates")
    assert check_stream(stream)


RANDOM = 4
MOVING = 3


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=pytest.mark.full) for seed in range(20)])
def test_random_graphs(seed: int, tmp_path: Path) -> None:
    graphs = {f"g{i}": random_graph(seed * RANDOM + i, "f32", DEVICES) for i in range(RANDOM)}
    program = tmp_path / "program.vmfb"
    headrace.compile(text_on_devices(graphs)).save(program)
    functions = load_functions(program)
    given = [arguments("f32", DEVICES, seed=value) for value in range(2)]
    moving = np.full(DEVICES, MOVING, np.int32)
    for name, graph in graphs.items():
        inputs = [*(np.stack(values) for values in given), moving]
        results = run_program(program, choose_function(functions, name), inputs)
        for result, expected in zip(results, evaluate_on(given, graph, MOVING), strict=True):
            np.testing.assert_array_equal(result, np.stack(expected), name)
