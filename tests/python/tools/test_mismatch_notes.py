"""What headrace-run says of results that are not as expected: rounded, or wrong."""

from __future__ import annotations

import json
from pathlib import Path

import headrace
import numpy as np
import pytest
from headrace.compiler.iree.element_types import parse_tensor_type, relative_error
from headrace.compiler.metadata import FunctionInfo, ValueInfo
from headrace.tools.headrace_run import main
from headrace.tools.mismatch_notes import Mismatch, Rerun, mismatch_notes


def notes(
    result: list[float],
    expected: list[float],
    counts: dict[str, float] | None,
    *,
    type_: str = "tensor<2xf32>",
    rerun: Rerun | None = None,
) -> str:
    found = [np.array([v], parse_tensor_type(type_).element.dtype) for v in (result, expected)]
    error = relative_error(*found)
    roundings = None if counts is None else (tuple(sorted(counts.items())),)
    info = FunctionInfo("main", "cpu", "devices", 1, (), (ValueInfo(type_),), roundings)
    mismatch = Mismatch(0, type_, *found, error, 1e-6)
    rerun = rerun or Rerun("m.mlir", None, "out.npz", {})
    return "\n".join(mismatch_notes([mismatch], info, rerun))


@pytest.mark.parametrize(
    ("result", "expected", "counts", "type_"),
    [
        ([1, 1.83], [1, 1], {"f32": 50}, "tensor<2xf32>"),
        ([1, 1.001], [1, 1], {"f32": 50}, "tensor<2xf32>"),
        ([1, 1.83], [1, 1], {"f8E4M3FN": 12, "bf16": 60}, "tensor<2xbf16>"),
        ([1, float("nan")], [1, 1], {"f8E4M3FN": 12}, "tensor<2xbf16>"),
        ([1, float("inf")], [1, 1], {"bf16": 12}, "tensor<2xbf16>"),
        ([0, 0.02], [0, 0], {"bf16": 12}, "tensor<2xbf16>"),
        ([1, 3], [1, 2], {}, "tensor<2xi32>"),
        ([1, 0], [1, 1], {"f32": 4}, "tensor<2xi1>"),
        ([1, float("nan")], [1, 1], None, "tensor<2xf32>"),
        ([1, 1.83], [1, 1], None, "tensor<2xf32>"),
    ],
)
def test_what_rounding_cannot_do_is_wrong(
    result: list[float], expected: list[float], counts: dict[str, float] | None, type_: str
) -> None:
    text = notes(result, expected, counts, type_=type_)
    assert "result0 is wrong: rounding explains " in text
    assert "please report it, with m.mlir, out.npz" in text
    assert "--rtol" not in text


@pytest.mark.parametrize(
    ("result", "expected", "counts", "type_", "enough"),
    [
        ([1, 1 + 2e-5], [1, 1], {"f32": 50}, "tensor<2xf32>", "2.1e-05"),
        ([1, 1.0625], [1, 1], {"f8E4M3FN": 2, "bf16": 9}, "tensor<2xbf16>", "0.063"),
        ([100, 3], [100, 2], {"f32": 1, "i32": 1}, "tensor<2xi32>", "0.01"),
    ],
)
def test_what_rounding_can_do_is_named(
    result: list[float], expected: list[float], counts: dict[str, float], type_: str, enough: str
) -> None:
    text = notes(result, expected, counts, type_=type_)
    assert f"--rtol={enough} would accept this; rounding explains an error of up to " in text
    assert "wrong" not in text
    assert "report" not in text


def test_one_wrong_result_among_rounded_ones() -> None:
    """No tolerance is suggested, which would accept what is wrong, too."""
    good, bad = np.array([[1.0, 1.00002]]), np.array([[1.0, 2.0]])
    want = np.array([[1.0, 1.0]])
    info = FunctionInfo(
        *("main", "cpu", "devices", 1, ()),
        (ValueInfo("tensor<2xf32>"), ValueInfo("tensor<2xf32>")),
        ((("f32", 50.0),), (("f32", 50.0),)),
    )
    mismatches = [
        Mismatch(0, "tensor<2xf32>", good, want, 2e-5, 1e-6),
        Mismatch(1, "tensor<2xf32>", bad, want, 1.0, 1e-6),
    ]
    text = "\n".join(mismatch_notes(mismatches, info, Rerun("m.vmfb", "in.npz", "o.npz", {}, True)))
    assert "result1 is wrong" in text
    assert "result0 is wrong" not in text
    assert "--rtol" not in text


def test_a_program_of_an_older_headrace() -> None:
    new = FunctionInfo(
        "f", "cpu", "devices", 1, (), (ValueInfo("tensor<f32>"),), ((("f32", 2.0),),)
    )
    assert FunctionInfo.from_json(new.to_json()) == new
    data = json.loads(new.to_json())
    del data["roundings"]
    old = FunctionInfo.from_json(json.dumps({**data, "version": 1}))
    assert old.roundings is None
    assert "whether rounding explains it is not known" in notes([1, 1.1], [1, 1], None)
    for broken in ({"roundings": []}, {"roundings": [[1]]}, {"roundings": 3}):
        with pytest.raises(headrace.HeadraceError, match=r"the metadata in the \.vmfb is broken"):
            FunctionInfo.from_json(json.dumps({**data, "version": 2, **broken}))


def test_commands_of_a_report() -> None:
    options = {
        "cpu": "x86-64-v3",
        "devices": 2,
        "pipeline_collectives": ("all:off", "all-gather:on"),
        "experimental_multi_use_encoding_fusion": True,
        "iree_flags": ("--a b",),
        "dump_ir": "folder",
    }
    given = (
        "--cpu=x86-64-v3 --devices=2 --pipeline-collectives=all:off "
        "--pipeline-collectives=all-gather:on --experimental-multi-use-encoding-fusion "
        "'--iree-flag=--a b'"
    )
    assert Rerun("my model.mlir", "in.npz", "out.npz", options).commands() == [
        "headrace-run --version",
        f"headrace-compile 'my model.mlir' {given} --emit=mlir -o handed-over.mlir",
        f"headrace-run 'my model.mlir' {given} --inputs=in.npz --expect=out.npz",
    ]
    text = notes([1, 2], [1, 1], {}, rerun=Rerun("p.vmfb", None, "out.npz", {}, True))
    assert "the model that it was compiled from (MODEL.mlir), p.vmfb, out.npz" in text
    assert "headrace-compile MODEL.mlir --emit=mlir" in text


def test_the_tool_tells_wrong_from_rounded(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "model.mlir"
    source.write_text(
        "func.func @main(%a: tensor<4x64xf32>, %b: tensor<64x4xf32>) -> tensor<4x4xf32> {\n"
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
        "(tensor<4x64xf32>, tensor<64x4xf32>) -> tensor<4x4xf32>\n"
        "  return %0 : tensor<4x4xf32> }"
    )
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(s).astype(np.float32) for s in ((1, 4, 64), (1, 64, 4)))
    right = a @ b
    files = [tmp_path / f"{name}.npz" for name in ("in", "rounded", "wrong")]
    np.savez(files[0], a, b)
    np.savez(files[1], right * np.float32(1 + 1e-5))
    np.savez(files[2], right[:, ::-1])
    program = tmp_path / "model.vmfb"
    headrace.compile(source).save(program)
    assert main([str(program), f"--inputs={files[0]}", f"--expect={files[1]}"]) == 1
    error = capfd.readouterr().err
    assert "rounding explains an error of up to" in error
    assert "(1 rounding to f32 on the way to it)" in error
    assert main([str(program), f"--inputs={files[0]}", f"--expect={files[2]}"]) == 1
    error = capfd.readouterr().err
    assert "result0 is wrong: rounding explains an error of at most" in error
    assert "--rtol" not in error
