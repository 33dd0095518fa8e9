"""Input for tests, and what headrace says of it where it is refused."""

from __future__ import annotations

import pytest
from headrace.compiler.driver import compile_program
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module


def module_of(text: str) -> ir.Operation:
    return parse_module(text, "test.mlir", ir.make_context())


def refusal(text: str) -> str:
    with pytest.raises(ir.HeadraceError) as caught:
        compile_program(text, emit="mlir")
    (error, *notes) = caught.value.diagnostics
    assert "raised" not in error.message
    assert all(note.severity == "note" for note in notes)
    return str(error)
