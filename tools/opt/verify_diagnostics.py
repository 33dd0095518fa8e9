"""--verify-diagnostics: compares diagnostics with expectations in the input.

As in mlir-opt, a comment such as

    // expected-error @below {{element types differ}}

says that the next line (without a directive) gets an error whose message
contains that text. Kinds: error, warning, remark, note; places: ``@above``,
``@below``, ``@+N``, ``@-N``, ``@unknown`` (no place known), none (this line).
In the form ``expected-error-re``, parts in ``{{...}}`` inside the text are
regular expressions. Each directive stands for one diagnostic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...dialects import ir

_DIRECTIVE = re.compile(
    r"expected-(?P<kind>error|note|remark|warning)(?P<regex>-re)? *"
    r"(@(?P<place>[+-]\d+|above|below|unknown))? *\{\{(?P<text>.*)\}\}\s*$"
)
_ATTEMPT = re.compile(r"expected-(error|note|remark|warning)(-re)? *(@|\{\{)")


@dataclass(frozen=True)
class Expectation:
    """One directive: ``line`` is where the diagnostic is due, 0 for no place."""

    kind: str
    line: int
    pattern: re.Pattern[str]
    text: str
    written_at: int

    def accepts(self, found: ir.Diagnostic) -> bool:
        return (
            found.severity == self.kind
            and found.line == self.line
            and self.pattern.search(found.message) is not None
        )


def check_diagnostics(
    text: str, name: str, found: Sequence[ir.Diagnostic], *, only_expected: bool = False
) -> list[ir.Diagnostic]:
    """The differences between the directives in ``text`` and ``found``, as errors.

    ``text`` is what was parsed: line 1 is its first line. Unexpected ones are
    let pass with ``only_expected``.
    """
    expected, faults = _read_directives(text, name)
    for diagnostic in _flatten(found):
        accepting = [e for e in expected if e.accepts(diagnostic)]
        if accepting:
            expected.remove(max(accepting, key=lambda e: len(e.text)))  # the strictest
        elif not only_expected:
            message = f"unexpected {diagnostic.severity}: {diagnostic.message}"
            place = (diagnostic.file or name, diagnostic.line, diagnostic.column)
            faults.append(ir.Diagnostic("error", message, *place))
    for missing in expected:
        where = f"on line {missing.line}" if missing.line else "without a place"
        message = f'expected {missing.kind} "{missing.text}" {where} was not produced'
        faults.append(ir.Diagnostic("error", message, name, missing.written_at, 1))
    return faults


def _flatten(found: Sequence[ir.Diagnostic]) -> Iterator[ir.Diagnostic]:
    """Diagnostics and their notes, but for notes without a place: they give context."""
    for diagnostic in found:
        if diagnostic.severity != "note" or diagnostic.line:
            yield diagnostic
        yield from _flatten(diagnostic.notes)


def _read_directives(text: str, name: str) -> tuple[list[Expectation], list[ir.Diagnostic]]:
    lines = text.split("\n")
    found: list[Expectation] = []
    faults: list[ir.Diagnostic] = []
    plain = 0  # last line without a directive, for @above
    waiting: list[tuple[re.Match[str], int]] = []  # @below, until such a line comes
    for number, line in enumerate(lines, start=1):
        match = _DIRECTIVE.search(line)
        if match is None or _pattern(match) is None:
            if _ATTEMPT.search(line):
                message = "malformed directive; write: // expected-error @below {{text}}"
                faults.append(ir.Diagnostic("error", message, name, number, 1))
                continue
            plain = number
            found += [_expectation(m, number, at) for m, at in waiting]
            waiting = []
            continue
        place = match["place"]
        before = line[: match.start()].rpartition("//")[0].strip()
        if before:
            plain = number
        if place == "below":
            waiting.append((match, number))
        elif place == "above":
            found.append(_expectation(match, plain, number))
        elif place == "unknown":
            found.append(_expectation(match, 0, number))
        else:
            found.append(_expectation(match, number + int(place or 0), number))
    found += [_expectation(m, len(lines) + 1, at) for m, at in waiting]
    return sorted(found, key=lambda e: e.written_at), faults


def _expectation(match: re.Match[str], line: int, written_at: int) -> Expectation:
    pattern = _pattern(match)
    assert pattern is not None
    return Expectation(match["kind"], line, pattern, match["text"], written_at)


def _pattern(match: re.Match[str]) -> re.Pattern[str] | None:
    """What the message must contain; None for a broken regular expression."""
    if not match["regex"]:
        return re.compile(re.escape(match["text"]))
    parts = re.split(r"\{\{(.*?)\}\}", match["text"])
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = (f"(?:{part})" for part in parts[1::2])
    try:
        return re.compile("".join(parts))
    except re.error:
        return None
