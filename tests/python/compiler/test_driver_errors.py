"""Bad input to headrace-compile: one error line, exit code 1, nothing written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from headrace.tools.headrace_compile import main

ADD = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
GATHER = """
module {
  func.func @main(%a: tensor<4xf32>) -> tensor<16xf32> {
    %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}>
      : (tensor<4xf32>) -> tensor<16xf32>
    return %0 : tensor<16xf32>
  }
}
"""
ON_FOUR = GATHER.replace("module {", "module attributes {mhlo.num_partitions = 4 : i32} {")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "add.mlir").write_text(ADD)
    (tmp_path / "gather.mlir").write_text(GATHER)
    (tmp_path / "four.mlir").write_text(ON_FOUR)
    return tmp_path


def refused(folder: Path, capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Runs the tool, which must fail cleanly; returns the error line."""
    before = sorted(p.name for p in folder.rglob("*"))
    assert main(arguments) == 1
    out, err = capfd.readouterr()
    lines = [line for line in err.splitlines() if "error: " in line]
    assert len(lines) == 1, err
    assert not out
    assert "Traceback" not in err
    assert sorted(p.name for p in folder.rglob("*")) == before
    return lines[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.mlir", "-o", "x.vmfb"], "cannot read 'none.mlir': No such file or directory"),
        ([".", "-o", "x.vmfb"], "cannot read '.': Is a directory"),
        (["add.mlir"], "the following arguments are required: -o"),
        (["add.mlir", "-o", "x.vmfb", "--frobnicate"], "unrecognized arguments: --frobnicate"),
        (
            ["add.mlir", "-o", "x.vmfb", "--target=gfx9000"],
            "unknown target 'gfx9000'; known are cpu, gfx942, gfx950",
        ),
        (
            ["add.mlir", "-o", "x.vmfb", "--collectives=mpi"],
            "--collectives must be one of channel, devices, got 'mpi'",
        ),
        (["add.mlir", "-o", "x.vmfb", "--opt-level=O9"], "--opt-level must be one of O0, O1"),
        (["add.mlir", "-o", "x.vmfb", "--emit=elf"], "--emit must be one of vmfb, mlir"),
        (["add.mlir", "-o", "x.vmfb", "--devices=four"], "--devices takes an integer, got 'four'"),
        (["add.mlir", "-o", "x.vmfb", "--devices=0"], "--devices must be at least 1, got 0"),
        (["add.mlir", "-o", "x.vmfb", "--iree-flag=O3"], "--iree-flag takes a flag"),
        (
            ["add.mlir", "-o", "x.vmfb", "--iree-flag=--no-such-flag"],
            "Unknown command line argument '--no-such-flag'",
        ),
        (
            ["add.mlir", "-o", "x.vmfb", "--function=mian"],
            "no public function 'mian'; there is: main",
        ),
        (["add.mlir", "-o", "x.vmfb", "--report=r.html"], "HTML report is not available"),
        (["add.mlir", "-o", "no/x.vmfb"], "cannot write 'no/x.vmfb': no folder 'no'"),
        (["add.mlir", "-o", "."], "cannot write '.': Is a directory"),
        (["add.mlir", "-o", "x" * 300], "': File name too long"),
        (["add.mlir", "-o", "x.json", "--report=./x.json"], "are the same file"),
        (["add.mlir", "-o", "x.vmfb", "--cpu="], "--cpu takes the name of a CPU"),
        (["add.mlir", "-o", "x.vmfb", "--devices=9999999999"], "must be at most 2147483647"),
        (["add.mlir", "-o", "x.vmfb", "--devices=99999"], "cannot make 99999 devices"),
        (["add.mlir", "-o", "x.vmfb", "--report=no/r.json"], "no folder 'no'"),
        (["add.mlir", "-o", "x.vmfb", "--dump-ir=add.mlir"], "cannot write to 'add.mlir'"),
        (["add.mlir", "-o", "/proc/x.vmfb"], "cannot write '/proc/x.vmfb'"),
        (["add.mlir", "-o", ""], "argument -o: the name is empty"),
        (["add.mlir", "-o", "x.vmfb", "--report="], "argument --report: the name is empty"),
        (["add.mlir", "-o", "x.vmfb", "--dump-ir="], "argument --dump-ir: the name is empty"),
        (["", "-o", "x.vmfb"], "argument INPUT: the name is empty"),
        (["four.mlir", "-o", "x.vmfb", "--devices=2"], "for 4 devices"),
        (["gather.mlir", "-o", "x.vmfb", "--devices=2"], "device"),
    ],
)
def test_bad_arguments(
    folder: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert message in refused(folder, capfd, *arguments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f(", "bad.mlir:1:13: error: "),
        ("not mlir at all", "bad.mlir:1:"),
        ("module {}", "no public function"),
        (
            'module attributes {mhlo.num_partitions = "four"} {}',
            "bad.mlir:1:1: error: 'mhlo.num_partitions' must be a positive integer, got \"four\"",
        ),
        (
            "module attributes {mhlo.num_replicas = -2 : i32} {}",
            "bad.mlir:1:1: error: 'mhlo.num_replicas' must be a positive integer, got -2",
        ),
        (
            "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            '  %0 = "acme.fft"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n'
            "  return %0 : tensor<4xf32>\n}",
            "bad.mlir:2:8: error: 'acme.fft' cannot be lowered",
        ),
        (
            "func.func @f(%a: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {\n"
            '  %0 = torch.operator "torch.mine.op"(%a) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>\n'
            "  return %0 : !torch.vtensor<[4],f32>\n}",
            "bad.mlir:2:8: error: 'torch.operator' (operator 'torch.mine.op') cannot be lowered",
        ),
        (
            "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %0 = stablehlo.custom_call @cuFFT(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
            "  return %0 : tensor<4xf32>\n}",
            "bad.mlir:2:8: error: 'stablehlo.custom_call' (call target 'cuFFT') cannot be lowered",
        ),
        (
            "func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
            "  %0 = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>\n"
            "  return %0 : tensor<4x4xf32>\n}",
            "bad.mlir:2:8: error: 'stablehlo.cholesky' cannot be lowered",
        ),
        (
            "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            '  %0 = "stablehlo.collective_broadcast"(%a)'
            " {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}"
            " : (tensor<4xf32>) -> tensor<4xf32>\n"
            "  return %0 : tensor<4xf32>\n}",
            "bad.mlir:2:8: error: 'stablehlo.collective_broadcast' cannot be lowered",
        ),
        (
            "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %0 = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
            "  return %0 : tensor<4xf32>\n}",
            "bad.mlir:2:8: error: recursive call ('f' -> 'f')",
        ),
        (
            "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %0 = call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
            "  %1 = call @h(%0) : (tensor<4xf32>) -> tensor<4xf32>\n"
            "  return %1 : tensor<4xf32>\n}\n"
            "func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  return %a : tensor<4xf32>\n}\n"
            "func.func private @h(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %0 = call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
            "  %1 = call @i(%0) : (tensor<4xf32>) -> tensor<4xf32>\n"
            "  return %1 : tensor<4xf32>\n}\n"
            "func.func private @i(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %0 = call @h(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
            "  return %0 : tensor<4xf32>\n}",
            "bad.mlir:15:8: error: recursive call ('h' -> 'i' -> 'h')",
        ),
        (
            "func.func @f(%n: i32, %a: memref<4xf32>) {\n  return\n}",
            "bad.mlir:1:1: error: argument 1 of 'f' has type memref<4xf32>; a program takes",
        ),
        (
            "func.func @f(%a: tensor<4xf32>) -> tuple<tensor<4xf32>> {\n"
            "  %0 = stablehlo.tuple %a : tuple<tensor<4xf32>>\n"
            "  return %0 : tuple<tensor<4xf32>>\n}",
            "bad.mlir:1:1: error: result 0 of 'f' has type tuple<tensor<4xf32>>",
        ),
        (
            "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            '  %0 = "headrace.transmogrify"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n'
            "  return %0 : tensor<4xf32>\n}",
            "bad.mlir:2:8: error: 'headrace.transmogrify' op is not an op",
        ),
    ],
)
def test_bad_module(
    folder: Path, capfd: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (folder / "bad.mlir").write_text(text)
    assert message in refused(folder, capfd, "bad.mlir", "-o", "x.vmfb")


def test_calls_that_end_are_no_recursion(folder: Path) -> None:
    """Called twice and by two callers, one of them public."""
    shared = (
        "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = call @h(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  %1 = call @h(%0) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  return %1 : tensor<4xf32>\n}\n"
        "func.func @g(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  %1 = call @h(%0) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  return %1 : tensor<4xf32>\n}\n"
        "func.func private @h(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.add %a, %a : tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}"
    )
    (folder / "shared.mlir").write_text(shared)
    assert main(["shared.mlir", "-o", "x.mlir", "--emit=mlir"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cpu=gizmo"], "error: --cpu=gizmo: unknown CPU 'gizmo' for "),
        (
            ["--iree-flag=--iree-llvmcpu-target-cpu=gizmo"],
            "error: --iree-flag=--iree-llvmcpu-target-cpu=gizmo: unknown CPU 'gizmo' for ",
        ),
        (
            [
                "--target=sm_80",
                "--iree-flag=--iree-opt-level=O1",
                "--iree-flag=--iree-cuda-target=gizmo",
            ],
            "error: --iree-flag=--iree-cuda-target=gizmo: no program compiles with it",
        ),
        (
            ["--target=gfx942", "--iree-flag=--iree-rocm-target=gizmo"],
            "error: --iree-flag=--iree-rocm-target=gizmo: no program compiles with it",
        ),
        (["--iree-flag=--help"], "iree-compile writes no program"),
    ],
)
def test_bad_flag_value(
    folder: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """IREE crashes on most of these; the error names the option, and no reproducer is left."""
    line = refused(folder, capfd, "add.mlir", "-o", "x.vmfb", *arguments)
    assert message in line
    if "unknown CPU" in message:
        assert "; known are host, " in line
    assert "reproduce" not in line


@pytest.mark.parametrize("data", [b"ML\xefR\x0dbroken", b"ML\xefR", b"\xff\xfe\x00\x01"])
def test_broken_bytes(folder: Path, capfd: pytest.CaptureFixture[str], data: bytes) -> None:
    (folder / "bad.mlirbc").write_bytes(data)
    assert "bad.mlirbc" in refused(folder, capfd, "bad.mlirbc", "-o", "x.vmfb")


def test_failure_keeps_the_old_output(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "x.vmfb").write_bytes(b"old")
    (folder / "r.json").write_bytes(b"old")
    refused(folder, capfd, "add.mlir", "-o", "x.vmfb", "--report=r.json", "--function=g")
    assert (folder / "x.vmfb").read_bytes() == b"old"
    assert (folder / "r.json").read_bytes() == b"old"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_output(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "x.vmfb").write_bytes(b"old")
    (folder / "x.vmfb").chmod(0o444)
    assert "Permission denied" in refused(folder, capfd, "add.mlir", "-o", "x.vmfb")


def test_exit_code_of_the_program(folder: Path) -> None:
    """The installed script, in a process of its own."""
    tool = Path(sys.executable).with_name("headrace-compile")
    done = subprocess.run(
        [tool, "none.mlir", "-o", "x.vmfb"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "error: cannot read 'none.mlir': No such file or directory\n"


@pytest.mark.skipif(sys.platform != "linux", reason="file names that are no UTF-8")
def test_names_and_text_of_other_encodings(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    name = os.fsdecode(b"caf\xe9.mlir")
    (folder / name).write_text("\ufeff" + ADD)  # a byte order mark, as Windows writes it
    assert main([name, "-o", "x.mlir", "--emit=mlir"]) == 0
    (folder / name).write_text("func.func @f(")
    assert "caf?.mlir:1:13: error: " in refused(folder, capfd, name, "-o", "x.vmfb")


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("headrace-opt", ["add.mlir"]),
        ("headrace-opt", ["--list-passes"]),
        ("headrace-opt", ["--help"]),
        ("headrace-compile", ["add.mlir", "--emit=mlir", "-o", "-"]),
        ("headrace-run", ["add.vmfb", "--inputs=in.npz"]),
    ],
)
def test_closed_and_full_streams(folder: Path, program: str, arguments: list[str]) -> None:
    """An output that gets nowhere is an error; a reader that goes away is none of ours."""
    np.savez(folder / "in.npz", np.ones((1, 4), np.float32))
    if "add.vmfb" in arguments:
        assert main(["add.mlir", "-o", "add.vmfb"]) == 0
    command = [str(Path(sys.executable).with_name(program)), *arguments]
    for redirection, said in [
        (">&-", "error: cannot write to stdout: Bad file descriptor\n"),
        (">/dev/full", "error: cannot write to stdout: No space left on device\n"),
        (">&- <&- 2>&-", ""),
        ("| true", ""),
    ]:
        done = subprocess.run(
            ["bash", "-c", f'"$0" "$@" {redirection}', *command],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == (0 if "|" in redirection else 1)
        assert (done.stdout, done.stderr) == ("", said)


def test_closed_stdin(folder: Path) -> None:
    for program in ("headrace-opt - -o x.mlir", "headrace-compile - -o x.vmfb"):
        command = f"{Path(sys.executable).parent}/{program} <&-"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "error: cannot read '<stdin>': Bad file descriptor\n"
