"""Directives of --verify-diagnostics against diagnostics."""

from __future__ import annotations

import pytest
from headrace.dialects import ir
from headrace.tools.opt.verify_diagnostics import check_diagnostics


def _at(line: int, message: str, severity: str = "error") -> ir.Diagnostic:
    return ir.Diagnostic(severity, message, "x", line, 3)


def _faults(text: str, *found: ir.Diagnostic, only_expected: bool = False) -> list[str]:
    faults = check_diagnostics(text, "x", found, only_expected=only_expected)
    assert all(fault.severity == "error" for fault in faults)
    return [f"{fault.line}: {fault.message}" for fault in faults]


@pytest.mark.parametrize(
    ("text", "error_line", "note_line"),
    [
        ("op // expected-error {{bad}}", 1, None),
        ("// expected-error @below {{bad}}\nop", 2, None),
        ("// expected-error @below {{bad}}\n// expected-note @below {{n}}\nop", 3, 3),
        ("op\n// expected-error @above {{bad}}", 1, None),
        ("op\n// expected-note @above {{n}}\n// expected-error @above {{bad}}", 1, 1),
        ("op // expected-note {{n}}\n// expected-error @above {{bad}}", 1, 1),
        ("// expected-error @+2 {{bad}}\n\nop", 3, None),
        ("op\n\n// expected-error@-2{{bad}}   ", 1, None),
        ("// expected-error @unknown {{bad}}", 0, None),
        ("// expected-error @below {{bad}}", 2, None),  # at the end of the file
        ("op // expected-error-re {{b{{[a-z]}}d}}", 1, None),
        ("op // expected-error-re {{very {{bad|good}}}}", 1, None),
        ("op // expected-error {{a {{very bad} thing}}", 1, None),
        ("op // expected-error {{}}", 1, None),
    ],
)
def test_places_and_forms(text: str, error_line: int, note_line: int | None) -> None:
    message = "a {{very bad} thing"
    notes = [] if note_line is None else [_at(note_line, "n", "note")]
    assert _faults(text, _at(error_line, message), *notes) == []
    elsewhere = _faults(text, _at(error_line + 1, message), *notes)
    assert elsewhere[0] == f"{error_line + 1}: unexpected error: {message}"
    assert elsewhere[1].endswith("was not produced")


def test_kind_text_and_number_must_agree() -> None:
    text = "op // expected-error {{bad}}"
    missing = '1: expected error "bad" on line 1 was not produced'
    assert _faults(text, _at(1, "bad")) == []
    assert _faults(text) == [missing]
    assert _faults(text, _at(1, "bad", "remark")) == ["1: unexpected remark: bad", missing]
    assert _faults(text, _at(1, "good")) == ["1: unexpected error: good", missing]
    assert _faults(text, _at(1, "bad"), _at(1, "bad")) == ["1: unexpected error: bad"]
    assert _faults(text, _at(1, "bad"), _at(1, "bad"), only_expected=True) == []


def test_notes_belong_to_diagnostics() -> None:
    note, context = _at(2, "see here", "note"), ir.Diagnostic("note", "in pass 'x'")
    error = ir.Diagnostic("error", "bad", "x", 1, 3, (note, context))
    assert _faults("op // expected-error {{bad}}", error) == ["2: unexpected note: see here"]
    assert _faults("op // expected-error {{bad}}\n// expected-note {{here}}", error) == []


def test_the_strictest_directive_takes_a_diagnostic() -> None:
    text = "// expected-error @+2 {{bad}}\n// expected-error @+1 {{bad type}}\nop"
    assert _faults(text, _at(3, "bad type"), _at(3, "bad shape")) == []
    assert _faults(text, _at(3, "bad shape"), _at(3, "bad type")) == []


@pytest.mark.parametrize(
    "line",
    [
        "// expected-error {{no end",
        "// expected-error @under {{bad}}",
        "// expected-error-re {{b{{[}}d}}",
        "// expected-error {{bad}} trailing",
    ],
)
def test_malformed(line: str) -> None:
    assert _faults(line) == ["1: malformed directive; write: // expected-error @below {{text}}"]


def test_prose_about_directives_is_no_directive() -> None:
    assert _faults("// The expected-error directives are tested here.") == []
