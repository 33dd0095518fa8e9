"""Diagnostics and the one exception class; no bindings are loaded for these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Diagnostic:
    """One message with its place: severity is error, warning, remark or note."""

    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    notes: tuple[Diagnostic, ...] = ()

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}: " if self.line else ""
        if not self.line and self.file:
            where = f"{self.file}: "
        lines = [f"{where}{self.severity}: {self.message}"]
        return "\n".join(lines + [str(note) for note in self.notes])


class HeadraceError(Exception):
    """Everything that headrace reports as an error.

    ``diagnostics`` holds what is known of the places, most important first.
    """

    def __init__(self, *diagnostics: Diagnostic | str) -> None:
        self.diagnostics = tuple(
            d if isinstance(d, Diagnostic) else Diagnostic("error", d) for d in diagnostics
        )
        super().__init__("\n".join(str(d) for d in self.diagnostics))
