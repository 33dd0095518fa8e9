"""headrace-opt: bad input, files, and the tool as a class to be extended."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import pytest
from headrace.compiler.debugging.printing import bytecode_of
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline
from headrace.tools.command_line import run_tool
from headrace.tools.headrace_opt import OptTool
from headrace.tools.opt.pass_flags import PassFlag

_INPUTS = Path(__file__).parents[2] / "tools" / "headrace-opt" / "Inputs"
_PASSES = f"--load-module={_INPUTS / 'test_passes.py'}"
_PROGRAM = "import sys; from headrace.tools.headrace_opt import main; sys.exit(main())"

_TEXT = """\
func.func @f(%q: tensor<8x4xf8E4M3FN>, %s: tensor<bf16>) -> tensor<8x4xbf16> {
  %0 = "headrace.dequantize"(%q, %s) {
    operandSegmentSizes = array<i32: 1, 1>, scale_mode = "multiply"
  } : (tensor<8x4xf8E4M3FN>, tensor<bf16>) -> tensor<8x4xbf16>
  return %0 : tensor<8x4xbf16>
}
"""


def _in_process(*arguments: str) -> int:
    return run_tool(lambda: OptTool().main(arguments))


def _process(
    *arguments: str, input: bytes = b"", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM, *arguments],
        input=input,
        capture_output=True,
        env=os.environ | (environment or {}),
        check=False,
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "in.mlir"
    file.write_text(_TEXT)
    return file


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--headrace-dc"], "unknown option '--headrace-dc'; did you mean '--headrace-dce'?"),
        (["--canonicalise"], "unknown option '--canonicalise'; did you mean '--canonicalize'?"),
        (["--mlir-timng"], "unknown option '--mlir-timng'; did you mean '--mlir-timing'?"),
        (["--zzz"], "unknown option '--zzz'"),
        (["--irdl-file=a/b.mlir"], "unknown option '--irdl-file'"),
        (["-z"], "unrecognized arguments: -z; see headrace-opt --help"),
        (["second.mlir"], "unrecognized arguments: second.mlir; see headrace-opt --help"),
        (["-o"], "argument -o: expected one argument; see headrace-opt --help"),
        (["--headrace-dce=x=1"], "pass 'headrace-dce' has no option 'x'; it has: none"),
        (["--headrace-dce=="], "pipeline: expected an option name in column 1, at its start"),
        (["--canonicalize=x=1"], "pass 'canonicalize': no such option x"),
        (["--pass-pipeline=cse"], "pipeline 'cse' must be anchored on one op"),
        (["--pass-pipeline=builtin.module(nope)"], "unknown pass 'nope'"),
        (["--pass-pipeline=builtin.module()", "--cse"], "cannot be mixed with the pass flag --cse"),
        (["--verify-each=2"], "argument --verify-each: expected 0 or 1, got '2'"),
        (["--verify-diagnostics=some"], "expected all or only-expected, got 'some'"),
        (["--emit-bytecode-version=-1"], "expected a count, got '-1'"),
        (["--mlir-elide-elementsattrs-if-larger=x"], "expected a count, got 'x'"),
        (["--cse", "--mlir-print-ir-after=cs"], "no pass 'cs' in the pipeline to print IR at"),
        (["--help-pass=inlin"], "unknown pass 'inlin'; did you mean 'inline'?"),
        (["--help-pass="], "unknown pass ''"),
        (["-o", ""], "argument -o: the name is empty"),
        (["--load-module="], "argument --load-module: the name is empty"),
        (["--record-shardings", "--spmd-to-devices=devices=1025"], "cannot make 1025 devices"),
        (["--list-passes=x"], "expected headrace or all, got 'x'"),
        (["--load-module=nope.py"], "cannot read 'nope.py': no such file"),
        (["--run-reproducer"], "in.mlir' is no reproducer"),
        (["--run-reproducer", "--cse"], "--run-reproducer takes its pipeline from the input only"),
        (
            ["--emit-bytecode", "--emit-bytecode-version=99"],
            "cannot write bytecode: unsupported version",
        ),
        (
            ["--no-implicit-module"],
            "in.mlir:1:1: error: expected a builtin.module",
        ),
        (
            ["--mlir-print-ir-tree-dir=/dev/null", "--cse"],
            "cannot write '/dev/null/builtin_",
        ),
        (["--mlir-pass-pipeline-crash-reproducer=/nope/x.mlir"], "cannot write '/nope/x.mlir'"),
        ([_PASSES, "--test-fail"], "pass 'test-fail' needs option 'how'"),
        ([_PASSES, "--test-fail=how=error"], "in.mlir:1:1: error: this function cannot be done"),
        ([_PASSES, "--test-fail=how=exception"], "raised KeyError (test_passes.py:"),
        ([_PASSES, "--test-fail=how=invalid"], "in.mlir:1:1: error: 'func.func' op entry block"),
    ],
)
def test_usage_errors(
    source: Path,
    tmp_path: Path,
    arguments: list[str],
    message: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One error line, exit code 1, nothing on stdout, no file written or replaced."""
    from headrace.passes import registry

    monkeypatch.setattr(registry, "_registered", {})  # --load-module registers anew
    output = tmp_path / "out.mlir"
    output.write_text("old")
    before = sorted(tmp_path.iterdir())
    given = arguments if arguments == ["-o"] else [f"-o{output}", *arguments]
    assert _in_process(str(source), *given) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err
    assert len([line for line in err.splitlines() if "error: " in line]) == 1
    assert "Traceback" not in err
    assert output.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"func.func @f(", "in.mlir:1:13: error: expected non-function type"),
        (b"\xff\xfe\x00", "in.mlir' is neither MLIR text nor MLIR bytecode"),
        (b"ML\xefR", "in.mlir' is broken bytecode: "),
        (b"ML\xefR\x00\x01nonsense", "in.mlir' is broken bytecode: "),
        (
            b'"test.op"() : () -> ()',
            "1:1: error: unregistered operation 'test.op'; --allow",
        ),
        (b'"headrace.nope"() : () -> ()', "in.mlir:1:1: error: 'headrace.nope' op is not an op of"),
        (b'\n"func.nope"() : () -> ()', "in.mlir:2:1: error: unregistered operation 'func.nope'"),
        (b"func.func @f() { return %x : i32 }", "in.mlir:1:25: error: use of undeclared SSA"),
    ],
)
def test_bad_input(
    source: Path, data: bytes, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    source.write_bytes(data)
    assert _in_process(str(source)) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_missing_and_unwritable_files(
    source: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for arguments, message in [
        (["/nope.mlir"], "error: cannot read '/nope.mlir': No such file or directory\n"),
        ([str(tmp_path)], f"error: cannot read '{tmp_path}': Is a directory\n"),
        ([str(source), "-o", str(tmp_path)], f"error: cannot write '{tmp_path}': Is a directory\n"),
        ([str(source), "-o/nope/x"], "error: cannot write '/nope/x': no folder '/nope'\n"),
        ([str(source), "-o/dev/full"], "cannot write '/dev/full': No space left on device\n"),
    ]:
        assert _in_process(*arguments) == 1
        assert capfd.readouterr().err.endswith(message)


def test_output_keeps_permissions_and_may_be_the_input(source: Path) -> None:
    source.chmod(0o640)
    assert _in_process(str(source), "-o", str(source), "--cse") == 0
    assert source.read_text().startswith("module {\n  func.func @f(")
    assert source.stat().st_mode & 0o777 == 0o640
    assert [file.name for file in source.parent.iterdir()] == ["in.mlir"]


def test_stdin_stdout_and_a_single_dash() -> None:
    done = _process("-", "-mlir-print-op-generic", input=_TEXT.encode())
    assert done.returncode == 0
    assert done.stdout.startswith(b'"builtin.module"() ({\n  "func.func"()')
    assert _process(input=b"func.func @f(").stderr.startswith(b"<stdin>:1:13: error: ")


def test_writing_to_a_full_or_closed_stdout(source: Path) -> None:
    command = [sys.executable, "-c", _PROGRAM, str(source)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr == b"error: cannot write to stdout: No space left on device\n"
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as gone:
        assert gone.stdout is not None
        assert gone.stderr is not None
        gone.stdout.close()
        assert gone.stderr.read() == b""


@pytest.mark.parametrize("how", ["abort", "exception"])
def test_a_pass_that_crashes_is_an_error(source: Path, tmp_path: Path, how: str) -> None:
    output = tmp_path / "out.mlir"
    done = _process(str(source), _PASSES, f"--test-fail=how={how}", f"-o{output}")
    assert done.returncode == 1
    assert done.stderr.count(b"error: ") == 1
    assert b"Traceback" not in done.stderr
    assert not output.exists()


def test_input_that_crashes_the_parser_is_an_error(source: Path, tmp_path: Path) -> None:
    """MLIR's parser recurses without a limit."""
    source.write_text(f"module attributes {{a = {'[' * 200_000}{']' * 200_000}}} {{}}")
    done = _process(str(source), f"-o{tmp_path / 'out.mlir'}")
    assert done.returncode == 1
    assert (
        done.stderr.decode() == f"error: headrace-opt crashed (SIGSEGV) while reading '{source}'\n"
    )
    assert list(tmp_path.iterdir()) == [source]


def test_traceback_on_request(source: Path) -> None:
    done = _process(
        str(source),
        _PASSES,
        "--test-fail=how=exception",
        environment={"HEADRACE_TRACEBACK": "1"},
    )
    assert b"Traceback" in done.stderr
    assert b"KeyError: 'a fault of the pass'" in done.stderr


def test_termination_reaches_the_worker(tmp_path: Path) -> None:
    """No worker is left behind, and it is not called a crash."""
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import os, sys, time\n"
        "from dataclasses import dataclass\n"
        "from headrace.passes.base import Pass\n"
        "from headrace.passes.registry import register_pass\n"
        "@register_pass\n@dataclass(frozen=True)\nclass Slow(Pass):\n"
        "    name = 'test-slow'\n"
        "    def run(self, module):\n"
        "        print(os.getpid(), file=sys.stderr, flush=True)\n"
        "        time.sleep(60)\n"
    )
    command = [sys.executable, "-c", _PROGRAM, f"--load-module={slow}", "--test-slow"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as tool:
        assert tool.stderr is not None
        worker = int(tool.stderr.readline())
        tool.send_signal(signal.SIGTERM)
        assert tool.wait(timeout=20) == 128 + signal.SIGTERM
        assert tool.stderr.read() == b""
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


class CountingTool(OptTool):
    """Overrides steps: a default pipeline, and a look at each module."""

    prog = "counting-opt"

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def make_pipeline(self, arguments: Namespace, flags: Sequence[PassFlag]) -> Pipeline:
        return Pipeline.parse("builtin.module(cse)")

    def write(
        self, module: ir.Operation, pipeline: Pipeline, name: str, arguments: Namespace
    ) -> bytes:
        self.seen.append(f"{name}: {pipeline}")
        return b"counted\n"


def test_steps_can_be_overridden(source: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tool = CountingTool()
    assert tool.main([str(source)]) == 0
    assert capfd.readouterr().out == "counted\n"
    assert tool.seen == [f"{source}: builtin.module(cse)"]
    with pytest.raises(ir.HeadraceError, match="see counting-opt --help"):
        tool.main([str(source), "-q"])


def _bytecode() -> bytes:
    text = _TEXT.replace("func.func @f", "func.func private @g() -> i32\nfunc.func @f")
    return bytecode_of(parse_module(text, "x", ir.make_context()))


def test_valid_bytecode_is_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "in.mlirbc"
    file.write_bytes(_bytecode())
    assert _in_process(str(file), "--verify-roundtrip", "--split-input-file") == 0
    assert '"headrace.dequantize"' in capfd.readouterr().out


def _read_damaged(seeds: range) -> None:
    """Each damaged file is read or refused; neither crashes, hangs or raises anything else."""
    data = _bytecode()
    for seed in seeds:
        rng = random.Random(seed)
        damaged = bytearray(data)
        if seed % 3 == 0:
            damaged = damaged[: rng.randrange(4, len(data))]
        else:
            for _ in range(rng.choice([1, 1, 3, 20])):
                damaged[rng.randrange(4, len(data))] = rng.randrange(256)
        try:
            module = parse_module(bytes(damaged), "x.mlirbc", ir.make_context())
        except ir.HeadraceError:
            continue
        assert str(module)


def test_damaged_bytecode() -> None:
    _read_damaged(range(60))


@pytest.mark.full
def test_damaged_bytecode_in_many_ways() -> None:
    _read_damaged(range(60, 1000))


def test_loaded_file_that_exits(source: Path, capfd: pytest.CaptureFixture[str]) -> None:
    leaving = source.with_name("leaving.py")
    leaving.write_text("import sys\nsys.exit(0)\n")
    assert _in_process(str(source), f"--load-module={leaving}") == 1
    error = capfd.readouterr().err
    assert error == f"error: cannot load '{leaving}' (line 2): SystemExit: 0\n"
