"""Programs that are called in this process: ``headrace.load`` and ``CompileResult.load``."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import headrace
import ml_dtypes
import numpy as np
import pytest
from headrace import HeadraceError
from headrace.compiler.iree.element_types import Array

X = "tensor<4x4xf32>"
KINDS = "tensor<?xbf16>, tensor<i1>, tensor<0x3xi8>, tensor<2xf8E4M3FN>"
BOTH = f"""
func.func @both(%a: {X}, %b: {X}) -> ({X}, {X}) {{
  %0 = stablehlo.add %a, %b : {X}
  return %0, %a : {X}, {X}
}}"""
TEXT = f"""
module {{
{BOTH}
func.func @kinds(%a: tensor<?xbf16>, %c: tensor<i1>, %e: tensor<0x3xi8>, %f: tensor<2xf8E4M3FN>)
    -> ({KINDS}) {{
  %0 = stablehlo.add %a, %a : tensor<?xbf16>
  %1 = stablehlo.not %c : tensor<i1>
  %2 = stablehlo.add %e, %e : tensor<0x3xi8>
  %3 = stablehlo.reverse %f, dims = [0] : tensor<2xf8E4M3FN>
  return %0, %1, %2, %3 : {KINDS}
}}
func.func @step(%c: {X} {{tf.aliasing_output = 0 : i32}}, %x: tensor<1x4xf32>, %i: tensor<i32>)
    -> {X} {{
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %c, %x, %i, %z
    : ({X}, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> {X}
  return %0 : {X}
}}
}}
"""
SHARDED = f"""
module attributes {{mhlo.num_partitions = 2 : i32}} {{
func.func @main(%a: {X}) -> tensor<8x4xf32> {{
  %0 = "stablehlo.all_gather"(%a) <{{all_gather_dim = 0 : i64, use_global_device_ids,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}> : ({X}) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}}
}}
"""


@pytest.fixture(scope="module")
def vmfb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("loaded") / "program.vmfb"
    headrace.compile(TEXT).save(path)
    return path


@pytest.fixture
def program(vmfb: Path) -> headrace.LoadedProgram:
    return headrace.load(vmfb)


def ones(value: float = 1.0) -> Array:
    return np.full((4, 4), value, np.float32)


def at(array: Array, offset: int) -> Array:
    """A copy whose memory begins so many bytes behind a multiple of 64."""
    raw = np.empty(array.nbytes + 128, np.uint8)
    start = -raw.ctypes.data % 64 + offset
    copy = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def test_call(program: headrace.LoadedProgram) -> None:
    assert sorted(program.functions) == ["both", "kinds", "step"]
    total, same = program.functions["both"](ones(), ones(2))
    assert isinstance(total, headrace.DeviceArray)
    assert np.array_equal(total, ones(3))
    assert np.array_equal(same, ones())
    assert (total.shape, total.dtype) == ((4, 4), np.float32)
    assert np.array_equal(np.from_dlpack(total), ones(3))


def test_element_types(program: headrace.LoadedProgram) -> None:
    f8 = np.array([1, 448], ml_dtypes.float8_e4m3fn)
    a = np.arange(5).astype(ml_dtypes.bfloat16)
    results = program.functions["kinds"](a, np.bool_(True), np.zeros((0, 3), np.int8), f8)
    doubled, no, empty, back = map(np.asarray, results)
    assert doubled.tolist() == [0, 2, 4, 6, 8]
    assert doubled.dtype == ml_dtypes.bfloat16
    assert no.tolist() is False
    assert empty.shape == (0, 3)
    assert back.tolist() == [448, 1]


def test_results_are_arguments(program: headrace.LoadedProgram) -> None:
    both = program.functions["both"]
    held = program.put(ones())
    total = held
    for _ in range(3):
        total, _ = both(total, held)
    assert np.array_equal(total, ones(4))


def test_put_copies(program: headrace.LoadedProgram) -> None:
    x = ones()
    held = program.put(x)
    x[:] = 7
    assert np.array_equal(held, ones())


@pytest.mark.parametrize("offset", [0, 4, 16])
def test_arguments_stay(program: headrace.LoadedProgram, offset: int) -> None:
    """Also read-only ones, and those that lie anywhere."""
    x = at(ones(), offset)
    x.flags.writeable = False
    total, _ = program.functions["both"](x, x)
    assert np.array_equal(total, ones(2))
    assert np.array_equal(x, ones())


def test_aligned_arrays_are_not_copied(program: headrace.LoadedProgram) -> None:
    """A result that is the argument has its memory, and holds it."""
    x = at(ones(), 0)
    address = x.ctypes.data
    _, same = program.functions["both"](x, x)
    found = np.asarray(same)
    assert found.ctypes.data == address
    del x
    assert np.array_equal(found, ones())
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1


def test_donated(program: headrace.LoadedProgram) -> None:
    """A host array stays what it was; a device array is used up."""
    step, row = program.functions["step"], np.full((1, 4), 9, np.float32)
    cache = at(ones(), 0)
    first = step(cache, row, np.int32(1))
    assert np.array_equal(cache, ones())
    second = step(first, row, np.int32(2))
    assert np.asarray(second)[:, 0].tolist() == [1, 9, 9, 1]
    with pytest.raises(HeadraceError, match="was donated"):
        np.asarray(first)


def test_several_devices() -> None:
    parts = np.arange(32, dtype=np.float32).reshape(2, 4, 4)
    with headrace.compile(SHARDED).load() as program:
        whole = program(parts)
        assert isinstance(whole, headrace.DeviceArray)
        assert whole.shape == (2, 8, 4)
        assert all(np.array_equal(part, parts.reshape(8, 4)) for part in whole.shards)
        assert np.array_equal(program(list(parts)), whole)
        assert np.array_equal(program(program.put(parts)), whole)
        with pytest.raises(HeadraceError, match="expected one tensor<4x4xf32> for each of 2"):
            program(parts[0])
    assert np.asarray(whole).shape == (2, 8, 4)
    with pytest.raises(HeadraceError, match="was closed"):
        program(parts)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((ones(),), "'both' takes 2 arrays, got 1"),
        ((ones(), ones()[:2]), "argument 1 of 'both': expected tensor<4x4xf32>, got the shape"),
        ((ones(), "x"), "argument 1 of 'both'"),
        ((ones(), np.full((4, 4), 0.1)), "0.1 is no value of f32"),
    ],
)
def test_refused(program: headrace.LoadedProgram, arrays: tuple[Any, ...], message: str) -> None:
    with pytest.raises(HeadraceError, match=message):
        program.functions["both"](*arrays)


def test_which_function(program: headrace.LoadedProgram) -> None:
    with pytest.raises(HeadraceError, match="no function 'main'; there is: both, kinds, step"):
        program(ones())


def test_broken_files(vmfb: Path, tmp_path: Path) -> None:
    with pytest.raises(HeadraceError, match=r"cannot read 'no/such\.vmfb': No such file"):
        headrace.load("no/such.vmfb")
    broken = tmp_path / "broken.vmfb"
    broken.write_bytes(vmfb.read_bytes()[:-100])
    with pytest.raises(HeadraceError, match=r"is not a complete \.vmfb file"):
        headrace.load(broken)
    with pytest.raises(HeadraceError, match="cannot be loaded"):
        headrace.load(b"no program")
    with pytest.raises(HeadraceError, match="no device 'no-such-driver'"):
        headrace.load(vmfb, devices="no-such-driver")
    with pytest.raises(HeadraceError, match="makes no program that can be loaded"):
        headrace.compile(TEXT, emit="mlir").load()


def test_other_targets() -> None:
    compiled = headrace.compile(BOTH, target="gfx942")
    with pytest.raises(HeadraceError, match="is for gfx942"):
        compiled.load()


def test_threads(program: headrace.LoadedProgram) -> None:
    found: list[bool] = []

    def work(value: float) -> None:
        for _ in range(20):
            total, _ = program.functions["both"](ones(value), ones())
            found.append(np.array_equal(total, ones(value + 1)))

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 80


def test_parameters(tmp_path: Path) -> None:
    from iree.runtime import ParameterIndex  # pyright: ignore

    compiled = headrace.compile(
        f"""
util.global private @w = #stream.parameter.named<"model"::"w"> : {X}
func.func @main(%x: {X}) -> {X} {{
  %w = util.global.load @w : {X}
  %y = stablehlo.add %x, %w : {X}
  return %y : {X}
}}"""
    )
    with pytest.raises(HeadraceError, match=r"parameters outside of it: load\(parameters="):
        compiled.load()
    index = ParameterIndex()
    index.add_buffer("w", ones(5))
    index.create_archive_file(str(tmp_path / "w.irpa"))
    with compiled.load(parameters=tmp_path / "w.irpa") as program:
        assert np.array_equal(program(ones()), ones(6))
    with pytest.raises(HeadraceError, match=r"cannot read 'no\.irpa'"):
        compiled.load(parameters="no.irpa")


SCRIPT = """
import gc, resource, sys
import headrace, numpy as np
x = np.ones((4, 4), np.float32)
programs = [headrace.load(sys.argv[1]) for _ in range(3)]
results = [p.functions["both"](x, x) for p in programs]
programs[1].close()
del programs[0]
gc.collect()
assert float(np.asarray(results[0][0]).sum()) == 32
kept = results.pop()
del results
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for n in range(200):
    if n == 100:
        before = peak()
    with headrace.load(sys.argv[1]) as p:
        y, _ = p.functions["both"](x, x)
for n in range(2000):
    if n == 1000:
        second = peak()
    kept, _ = programs[-1].functions["both"](x, x)
assert second - before < 20_000 and peak() - second < 5_000, (before, second, peak())
"""


def test_any_order_and_no_leak(vmfb: Path) -> None:
    """Names that live to the end of the process, too: its exit is clean and says nothing."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, vmfb], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
