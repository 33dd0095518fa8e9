"""headrace-run: arrays in and out, tolerances, and bad input."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path

import headrace
import ml_dtypes
import numpy as np
import pytest
from headrace.compiler.iree.element_types import parse_tensor_type, relative_error, to_element_type
from headrace.compiler.iree.runtime import load_functions, run_program
from headrace.compiler.metadata import FunctionInfo, ValueInfo
from headrace.tools.headrace_run import main

# Device d's own 2 x 3 values twice, as f32 and through fp8 and bf16.
PROGRAM = """
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%a: tensor<2x3xbf16> {mhlo.sharding = "{devices=[2,1]<=[2]}"},
                         %q: tensor<3xf8E4M3FN>, %i: tensor<i32>)
      -> (tensor<2x3xbf16>, tensor<3xf8E4M3FN>, tensor<4xi32>, tensor<2x3xf32>) {
    %0 = stablehlo.add %a, %a : tensor<2x3xbf16>
    %1 = stablehlo.reverse %q, dims = [0] : tensor<3xf8E4M3FN>
    %2 = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %3 = stablehlo.convert %a : (tensor<2x3xbf16>) -> tensor<2x3xf32>
    return %0, %1, %2, %3 : tensor<2x3xbf16>, tensor<3xf8E4M3FN>, tensor<4xi32>, tensor<2x3xf32>
  }
}
"""
A = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
Q = np.array([[0.5, 448, -0.001953125], [1, np.nan, -2]], np.float32)
I = np.array([7, -9], np.int32)  # noqa: E741


@pytest.fixture(scope="module")
def vmfb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runtime") / "program.vmfb"
    headrace.compile(PROGRAM).save(path)
    return path


def test_metadata(vmfb: Path) -> None:
    assert load_functions(vmfb) == {
        "main": FunctionInfo(
            "main",
            "cpu",
            "devices",
            2,
            (
                ValueInfo("tensor<2x3xbf16>", "{devices=[2,1]<=[2]}"),
                ValueInfo("tensor<3xf8E4M3FN>"),
                ValueInfo("tensor<i32>"),
            ),
            tuple(
                map(
                    ValueInfo,
                    ("tensor<2x3xbf16>", "tensor<3xf8E4M3FN>", "tensor<4xi32>", "tensor<2x3xf32>"),
                )
            ),
            ((("bf16", 1.0),), (), (), ()),
        )
    }


@pytest.mark.parametrize("raw", [False, True])
def test_run(vmfb: Path, raw: bool) -> None:
    """bf16 and fp8 as exact float32, and as the void bytes that numpy writes."""
    a, q = A.astype(ml_dtypes.bfloat16), Q.astype(ml_dtypes.float8_e4m3fn)
    inputs = [a.view("V2"), q.view("V1"), I] if raw else [A, Q, I]
    results = run_program(vmfb, load_functions(vmfb)["main"], inputs)
    np.testing.assert_array_equal(results[0], a + a)
    np.testing.assert_array_equal(results[1].view(np.uint8), q[:, ::-1].view(np.uint8))
    np.testing.assert_array_equal(results[2], np.stack([[7] * 4, [-9] * 4]))
    np.testing.assert_array_equal(results[3], A)


def npz(path: Path, *arrays: np.ndarray) -> str:
    np.savez(path, *arrays)
    return str(path)


def test_tool_writes_and_compares(
    vmfb: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    inputs = npz(tmp_path / "in.npz", A, Q, I)
    out = tmp_path / "out.npz"
    assert main([str(vmfb), f"--inputs={inputs}", f"--outputs={out}"]) == 0
    with np.load(out) as archive:
        assert archive.files == ["result0", "result1", "result2", "result3"]
        assert archive["result0"].dtype == np.float32
        results = [archive[name] for name in archive.files]
    np.testing.assert_array_equal(results[0], A + A)
    assert main([str(vmfb), f"--inputs={inputs}", f"--expect={out}"]) == 0
    capfd.readouterr()
    results[0][1, 1, 2] += 0.5
    off = npz(tmp_path / "off.npz", *results)
    assert main([str(vmfb), f"--inputs={inputs}", f"--expect={off}"]) == 1
    out, err = capfd.readouterr()
    assert "note: result0 is off most at [1, 1, 2] (device first): " in err
    assert "; 1 of 12 elements are over the tolerance\nnote: --rtol=0.023 would accept" in err
    lines = out.splitlines()
    assert lines[0] == (
        "result0: tensor<2x3xbf16> on 2 devices, error 0.0222, tolerance 0.0156: FAILED"
    )
    assert [line.rpartition(" ")[2] for line in lines[1:]] == ["ok", "ok", "ok"]
    assert main([str(vmfb), f"--inputs={inputs}", f"--expect={off}", "--rtol=0.03"]) == 0


def test_tool_compiles_mlir(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "program.mlir"
    source.write_text(PROGRAM)
    inputs = npz(tmp_path / "in.npz", A, Q, I)
    assert main([str(source), f"--inputs={inputs}", "--opt-level=O1", "--devices=2"]) == 0
    assert "result3: tensor<2x3xf32> on 2 devices" in capfd.readouterr().out


def refused(capfd: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> str:
    before = sorted(folder.iterdir())
    assert main(list(arguments)) == 1
    out, err = capfd.readouterr()
    assert not out
    assert err.count("error: ") == 1, err
    assert "Traceback" not in err
    assert sorted(folder.iterdir()) == before
    return err


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ([A, Q], "expected 3 input arrays, one per argument, got 2"),
        ([A, Q, I, I], "expected 3 input arrays, one per argument, got 4"),
        ([A[:, :1], Q, I], "input 0: expected shape [2, 2, 3]"),
        ([A[0], Q, I], "input 0: expected shape [2, 2, 3]"),
        ([np.concatenate([A, A]), Q, I], "(2 devices, tensor<2x3xbf16> each), got [4, 2, 3]"),
        ([A, Q, np.int32(7)], "input 2: expected shape [2]"),
        ([A + np.float32(1e-3), Q, I], "is no value of bf16; round the data first"),
        ([A, Q * 2, I], "896.0 is no value of f8E4M3FN"),
        ([A, Q, I.astype(np.float32)], "input 2: expected i32 values, got float32"),
        ([A.astype(np.complex64), Q, I], "input 0: expected bf16 values, got complex64"),
        ([A.astype("S4"), Q, I], "input 0: expected bf16 values, got |S4"),
    ],
)
def test_inputs_that_do_not_fit(
    vmfb: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    arrays: list[np.ndarray],
    message: str,
) -> None:
    inputs = npz(tmp_path / "in.npz", *arrays)
    out = tmp_path / "out.npz"
    error = refused(capfd, tmp_path, str(vmfb), f"--inputs={inputs}", f"--outputs={out}")
    assert message in error


def test_expected_results_that_do_not_fit(
    vmfb: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    inputs = npz(tmp_path / "in.npz", A, Q, I)
    expected = npz(tmp_path / "expect.npz", A)
    error = refused(capfd, tmp_path, str(vmfb), f"--inputs={inputs}", f"--expect={expected}")
    assert "expected 4 expected arrays" in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.vmfb"], "cannot read 'none.vmfb': No such file or directory"),
        (["none.mlir"], "cannot read 'none.mlir': No such file or directory"),
        (["{vmfb}", "--inputs=none.npz"], "cannot read 'none.npz'"),
        (["{vmfb}", "--inputs={vmfb}"], "is no .npz file"),
        (["{vmfb}", "--inputs={one}"], "holds one array; np.savez writes"),
        (["{vmfb}", "--inputs={inputs}", "--function=f"], "no function 'f'; there is: main"),
        (["{vmfb}", "--inputs={inputs}", "--devices=4"], "compiled for 2 devices, not for 4"),
        (["{vmfb}", "--inputs={inputs}", "--target=cpu"], "--target has no effect on a .vmfb"),
        (["{vmfb}", "--inputs={inputs}", "--rtol=x"], "--rtol takes a number"),
        (["{vmfb}", "--inputs={inputs}", "--rtol=-1"], "--rtol takes a number"),
        (["{vmfb}", "--inputs={inputs}", "--outputs=no/x.npz"], "no folder 'no'"),
        (["{vmfb}", "--inputs={inputs}", "--out=x.npz"], "unrecognized arguments: --out=x.npz"),
        ([], "the following arguments are required: INPUT"),
    ],
)
def test_bad_arguments(
    vmfb: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    inputs = npz(tmp_path / "in.npz", A, Q, I)
    one = tmp_path / "one.npy"
    np.save(one, A)
    filled = [a.format(vmfb=vmfb, inputs=inputs, one=one) for a in arguments]
    assert message in refused(capfd, tmp_path, *filled)


@pytest.mark.parametrize("keep", [0, 3, 100, 0.5, 0.9, -1])
def test_truncated_program(
    vmfb: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], keep: float
) -> None:
    data = vmfb.read_bytes()
    short = tmp_path / "short.vmfb"
    short.write_bytes(data[: keep if isinstance(keep, int) else int(len(data) * keep)])
    error = refused(capfd, tmp_path, str(short))
    assert "short.vmfb' is not a complete .vmfb file" in error


def test_program_with_damaged_inside(
    vmfb: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whole by its length, nonsense within: whatever IREE says, or a crash of the child."""
    data = bytearray(vmfb.read_bytes())
    data[70 : len(data) // 2] = bytes(255 - b for b in data[70 : len(data) // 2])
    damaged = tmp_path / "damaged.vmfb"
    damaged.write_bytes(data)
    inputs = npz(tmp_path / "in.npz", A, Q, I)
    refused(capfd, tmp_path, str(damaged), f"--inputs={inputs}")


def test_program_of_another_target(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    gpu = tmp_path / "gpu.vmfb"
    text = "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }"
    headrace.compile(text, target="gfx950").save(gpu)
    inputs = npz(tmp_path / "in.npz", np.zeros((1, 4), np.float32))
    error = refused(capfd, tmp_path, str(gpu), f"--inputs={inputs}")
    assert "the program is for gfx950; CPU devices run programs for cpu and vmvx" in error


def test_tolerances() -> None:
    def of(name: str) -> float:
        return parse_tensor_type(f"tensor<4x{name}>").element.tolerance

    assert of("bf16") == 2 / 128
    assert of("f16") == 2 / 1024
    assert of("f8E4M3FN") == 2 / 8
    assert of("f8E5M2") == 2 / 4
    assert of("f32") == 64 * 2.0**-23
    assert of("i32") == of("i1") == 0


def test_relative_error() -> None:
    one, nan, inf = 1.0, math.nan, math.inf

    def error(a: list[float], b: list[float]) -> float:
        return relative_error(np.array(a, np.float32), np.array(b, np.float32))

    assert error([1, -3], [one, -4]) == 0.25
    assert error([nan, 2], [nan, 2]) == 0
    assert error([inf, 2], [inf, 2]) == 0
    assert error([nan, 2], [one, 2]) == inf
    assert error([one, 2], [nan, 2]) == inf
    assert error([inf, 2], [-inf, 2]) == inf
    assert error([1e-3, 0], [0, 0]) == pytest.approx(1e-3)
    assert error([], []) == 0


def test_exact_conversions() -> None:
    bf16 = parse_tensor_type("tensor<bf16>").element
    f64 = np.array([1.5, np.inf, np.nan, -0.0])
    np.testing.assert_array_equal(
        to_element_type(f64, bf16, "x").astype(np.float64).view(np.uint64)[[0, 1, 3]],
        f64.view(np.uint64)[[0, 1, 3]],
    )
    i1 = parse_tensor_type("tensor<i1>").element
    assert to_element_type(np.array([0, 1]), i1, "x").tolist() == [False, True]
    with pytest.raises(headrace.HeadraceError, match="2 is no value of i1"):
        to_element_type(np.array([0, 2]), i1, "x")
    with pytest.raises(headrace.HeadraceError, match="300 is no value of i8"):
        to_element_type(np.array([300]), parse_tensor_type("tensor<i8>").element, "x")


@pytest.mark.each_cpu
@pytest.mark.parametrize(
    ("type_", "array"),
    [
        ("tensor<?x2xf32>", np.full((1, 3, 2), 1.5, np.float32)),
        ("tensor<3xf64>", np.full((1, 3), 1e-200)),
        ("tensor<3xi1>", np.array([[True, False, True]])),
        ("tensor<0x4xf32>", np.zeros((1, 0, 4), np.float32)),
        ("tensor<f16>", np.array([0.5], np.float16)),
        ("tensor<3xui8>", np.array([[1, 200, 255]], np.uint8)),
    ],
)
def test_types_pass_through(type_: str, array: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "program.vmfb"
    headrace.compile(f"func.func @f(%a: {type_}) -> {type_} {{ return %a : {type_} }}").save(path)
    (result,) = run_program(path, load_functions(path)["f"], [array])
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


def test_a_type_that_no_array_holds(tmp_path: Path) -> None:
    path = tmp_path / "program.vmfb"
    headrace.compile("func.func @f(%a: f32) -> f32 { return %a : f32 }").save(path)
    with pytest.raises(headrace.HeadraceError, match="values of type 'f32' cannot be passed"):
        run_program(path, load_functions(path)["f"], [np.zeros(1, np.float32)])


@pytest.mark.parametrize("option", ["--inputs", "--expect"])
def test_arrays_that_fit_in_no_memory(
    vmfb: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], option: str
) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (1 << 50,)}
    )
    with zipfile.ZipFile(tmp_path / "huge.npz", "w") as archive:
        archive.writestr("arr_0.npy", header.getvalue())
    error = refused(capfd, tmp_path, str(vmfb), f"{option}={tmp_path / 'huge.npz'}")
    assert "huge.npz': its arrays do not fit into memory" in error
