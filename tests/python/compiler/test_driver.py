"""headrace.compile: inputs it takes, what it gives, and what it leaves alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import headrace
import pytest
from headrace.compiler import pipelines
from headrace.compiler.iree.child import parse_diagnostics, run_iree_compile
from headrace.compiler.unlowered import check_lowered
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline
from headrace.passes.targets.lookup import find_target

MODELS = Path(__file__).parent.parent.parent / "models"
FSDP = MODELS / "fsdp_scan" / "model.mlir"
ADD = """
module {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @other(%a: tensor<2xf32>) -> tensor<2xf32> {
    %0 = func.call @helper(%a) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @helper(%a: tensor<2xf32>) -> tensor<2xf32> {
    return %a : tensor<2xf32>
  }
}
"""


def functions(result: headrace.CompileResult) -> list[str]:
    body = result.module.regions[0].blocks[0]
    return [str(op.attributes["sym_name"]).strip('"') for op in body.operations]


def test_all_ways_in_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    with ir.Context():
        module = ir.Module.parse(ADD)
        bytecode = tmp_path / "add.mlirbc"
        with bytecode.open("wb") as file:
            module.operation.write_bytecode(file)
        sources = [ADD, path, str(path), bytecode, bytecode.read_bytes(), module, module.operation]
        texts = [str(headrace.compile(source, emit="mlir").module) for source in sources]
    assert len(set(texts)) == 1
    assert "stablehlo" not in texts[0]


def test_the_callers_module_stays_as_it_is() -> None:
    context = ir.Context()
    module = ir.Module.parse(FSDP.read_text(), context)
    before = str(module)
    result = headrace.compile(module, emit="mlir")
    assert str(module) == before
    assert result.module.context == context
    broken = ir.Module.parse(
        """func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.custom_call @nobody(%a) : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }""",
        context,
    )
    before = str(broken)
    with pytest.raises(headrace.HeadraceError):
        headrace.compile(broken)
    assert str(broken) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"devices": 3}, "device"),  # before any pass
        ({"target": "vmvx"}, "vmvx"),  # in a late pass
        ({"iree_flags": ["--no-such-flag"]}, "no-such-flag"),  # in IREE
        ({"dump_ir": __file__}, "cannot write"),
    ],
)
def test_the_callers_module_stays_as_it_is_in_a_failure(
    options: dict[str, object], message: str
) -> None:
    module = ir.Module.parse(FSDP.read_text(), ir.Context())
    before = module.operation.get_asm(enable_debug_info=True)
    dot = next(op for op in ir.walk(module.operation) if op.name == "stablehlo.dot_general")
    with pytest.raises(headrace.HeadraceError, match=message):
        headrace.compile(module, **options)
    assert module.operation.get_asm(enable_debug_info=True) == before
    assert dot.name == "stablehlo.dot_general"  # handles are still good
    assert module.operation.verify()


def test_functions() -> None:
    assert functions(headrace.compile(ADD, emit="mlir")) == ["main", "other"]
    assert functions(headrace.compile(ADD, emit="mlir", function="other")) == ["other"]


def test_result(tmp_path: Path) -> None:
    result = headrace.compile(ADD)
    assert result.vmfb is not None
    out = tmp_path / "out.vmfb"
    result.save(out)
    assert out.read_bytes() == result.vmfb
    assert [p.name for p in tmp_path.iterdir()] == ["out.vmfb"]
    text = headrace.compile(ADD, emit="mlir")
    assert text.vmfb is None
    text.save(tmp_path / "out.mlir")
    assert parse_module((tmp_path / "out.mlir").read_text(), "out.mlir", ir.make_context())
    with pytest.raises(headrace.HeadraceError, match="cannot write"):
        result.save(tmp_path / "no" / "out.vmfb")


def test_emitted_module_is_what_iree_is_given() -> None:
    result = headrace.compile(FSDP)
    emitted = headrace.compile(FSDP, emit="mlir")
    assert str(emitted.module) == str(result.module)
    again = run_iree_compile(emitted.module, find_target("cpu").flags("devices", 4))
    assert result.vmfb is not None
    # Not the bytes: IREE's zip directory and symbol order vary from run to run.
    assert len(again.vmfb) == pytest.approx(len(result.vmfb), rel=0.01)


def test_same_input_same_output() -> None:
    assert str(headrace.compile(FSDP, emit="mlir").module) == str(
        headrace.compile(FSDP, emit="mlir").module
    )


def test_remarks() -> None:
    result = headrace.compile(MODELS / "tp_mlp" / "model.mlir", emit="mlir")
    assert any("never narrowed" in r.message and r.line for r in result.remarks)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"devices": "2"}, "devices takes an integer, got '2'"),
        ({"devices": True}, "devices takes an integer, got True"),
        ({"pipeline_budget": 1.5}, "pipeline_budget takes an integer, got 1.5"),
        ({"iree_flags": ["-x", 3]}, "iree_flags takes strings, got"),
    ],
)
def test_options_of_another_type(options: dict[str, object], message: str) -> None:
    with pytest.raises(headrace.HeadraceError) as error:
        headrace.compile(ADD, **options)
    assert message in str(error.value)


def test_unknown_options() -> None:
    with pytest.raises(headrace.HeadraceError, match="unknown option 'targets'; did you mean"):
        headrace.compile(ADD, targets="cpu")
    with pytest.raises(headrace.HeadraceError, match="--emit must be one of vmfb, mlir"):
        headrace.compile(ADD, emit="elf")


def test_devices_come_from_the_module_or_its_groups() -> None:
    gather = """func.func @f(%a: tensor<4xf32>) -> tensor<12xf32> {
      %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>, use_global_device_ids}>
        : (tensor<4xf32>) -> tensor<12xf32>
      return %0 : tensor<12xf32>
    }"""
    options = headrace.compile(gather, emit="mlir").report["options"]
    assert isinstance(options, dict)
    assert options["devices"] == 3
    with pytest.raises(headrace.HeadraceError, match="device"):
        headrace.compile(gather, devices=2)


def test_dump_ir(tmp_path: Path) -> None:
    (tmp_path / "099-old-pass.mlir").write_text("from an earlier run")
    (tmp_path / "notes.txt").write_text("kept")
    result = headrace.compile(ADD, emit="mlir", dump_ir=str(tmp_path))
    files = sorted(p.name for p in tmp_path.iterdir() if p.suffix == ".mlir")
    passes = result.report["passes"]
    assert isinstance(passes, list)
    assert files == [f"{i:03}-{p['name']}.mlir" for i, p in enumerate(passes, 1)]
    assert (tmp_path / "notes.txt").exists()
    for file in files:
        parse_module((tmp_path / file).read_text(), file, ir.make_context())


def test_the_default_pipeline_reads_back() -> None:
    for form in ("devices", "channel"):
        text = pipelines.default_pipeline("gfx950", form, 4)
        assert str(Pipeline.parse(text)) == text


def test_importing_headrace_loads_nothing() -> None:
    code = "import headrace, sys; print('iree.compiler' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
    assert "compile" in dir(headrace)
    with pytest.raises(AttributeError, match="no attribute 'decompile'"):
        _ = headrace.decompile  # pyright: ignore


def test_a_crash_of_iree_is_an_error_with_a_reproducer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3.13 dies of any op that it does not know."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    text = """func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "acme.fft"(%a) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    module = parse_module(text, "in.mlir", ir.make_context())
    with pytest.raises(headrace.HeadraceError, match=r"acme\.fft"):
        check_lowered(module)
    with pytest.raises(headrace.HeadraceError) as caught:
        run_iree_compile(module, find_target("cpu").flags("channel", 1))
    message = str(caught.value)
    assert message.startswith("error: iree-compile crashed (SIG")
    script = Path(message.rpartition(" ")[2])
    assert "acme.fft" in script.with_name("module.mlir").read_text()
    again = subprocess.run(["sh", script], capture_output=True, check=False)
    assert again.returncode not in (0, 1)


def test_errors_of_iree_have_a_place() -> None:
    text = """func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      return %a : tensor<4xf32>
    }"""
    module = parse_module(text, "in.mlir", ir.make_context())
    with pytest.raises(headrace.HeadraceError, match="Unknown command line argument '--no-such"):
        run_iree_compile(module, ("--no-such-flag",))
    module = parse_module(ADD, "add.mlir", ir.make_context())
    with pytest.raises(
        headrace.HeadraceError, match=r"^add.mlir:4:\d+: error: IREE cannot .*missing GPU target"
    ):
        run_iree_compile(module, ("--iree-hal-target-device=cuda", "--iree-cuda-target=sm_1"))
    (found,) = parse_diagnostics("junk\nm.mlir:3:5: error: 'x.y' op is bad\n  %0 = ...\n   ^\n")
    assert (found.file, found.line, found.column) == ("m.mlir", 3, 5)
    assert found.message == "'x.y' op is bad"


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs a device file")
def test_a_device_file_is_written_not_replaced() -> None:
    headrace.compile(ADD, emit="mlir").save("/dev/null")
    assert not os.path.isfile("/dev/null")
