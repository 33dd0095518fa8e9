"""Errors of the tools that IREE runs are part of headrace's."""

from __future__ import annotations

import stat
from pathlib import Path

import headrace
import pytest
from headrace.compiler.iree.child import run_iree_compile, tool_errors
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.targets.lookup import find_target

ADD = """func.func @add(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""

# As the tools print them, with what they print beside.
PRINTED = """\
ld.lld: error: undefined symbol: __truncsfbf2
>>> referenced by -:3
>>>               /tmp/d.o:(dispatch_0)
iree-lld: error: undefined symbol: sin
iree-lld: error: undefined symbol: sin
Linking failed; escaped command line returned exit code 256:
ld -flavor gnu --no-undefined -o /tmp/error: d.so
ptxas /tmp/k.ptx, line 12; error   : Illegal modifier '.bf16' for instruction 'cvt'
ptxas fatal   : Ptx assembly aborted due to errors
<unknown>:0: error: LLVM Translation failed for operation: builtin.unrealized_conversion_cast
warning: ignored
m.mlir:3:5: error: failed to link executable
    %1 = "acme.assert"(%0) {message = "error: negative"} : (i1) -> i1
error: cannot open input file
"""


def test_tool_errors_are_told_from_the_rest() -> None:
    assert tool_errors(PRINTED) == [
        "ld.lld: error: undefined symbol: __truncsfbf2",
        "iree-lld: error: undefined symbol: sin",
        "ptxas /tmp/k.ptx, line 12; error   : Illegal modifier '.bf16' for instruction 'cvt'",
        "ptxas fatal   : Ptx assembly aborted due to errors",
        "LLVM Translation failed for operation: builtin.unrealized_conversion_cast",
    ]


def test_many_are_counted() -> None:
    lines = [f"lld: error: undefined symbol: f{i}" for i in range(8)]
    assert tool_errors("\n".join(lines)) == [*lines[:5], "and 3 more errors"]


@pytest.fixture
def linker(tmp_path: Path) -> str:
    """A flag for a linker that fails as lld does."""
    script = tmp_path / "ld"
    script.write_text("#!/bin/sh\necho 'my-ld: error: undefined symbol: __gone' >&2\nexit 1\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return f"--iree-llvmcpu-embedded-linker-path={script}"


def test_an_error_of_the_linker_has_its_line(linker: str) -> None:
    module = parse_module(ADD, "add.mlir", ir.make_context())
    with pytest.raises(headrace.HeadraceError) as caught:
        run_iree_compile(module, (*find_target("cpu").flags("channel", 1), linker))
    first, *notes = map(str, caught.value.diagnostics)
    assert first.startswith("add.mlir:2:")
    assert "failed to link executable" in first
    assert "check above" not in first
    assert notes[0] == "note: my-ld: error: undefined symbol: __gone"


def test_so_has_a_flag_with_which_nothing_links(linker: str) -> None:
    with pytest.raises(headrace.HeadraceError, match=r"no program compiles with it.*__gone"):
        headrace.compile(ADD, iree_flags=linker)


def test_an_error_of_llvm_without_a_place_is_shown() -> None:
    text = """func.func @scale(%a: tensor<4xf8E8M0FNU>) -> tensor<4xf32> {
      %0 = arith.extf %a : tensor<4xf8E8M0FNU> to tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    module = parse_module(text, "scale.mlir", ir.make_context())
    with pytest.raises(headrace.HeadraceError, match="note: LLVM Translation failed"):
        run_iree_compile(module, find_target("sm_89").flags("channel", 1))
