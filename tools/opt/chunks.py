"""The parts of an input with --split-input-file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...dialects import ir

_BYTECODE_MAGIC = b"ML\xefR"


@dataclass(frozen=True)
class Chunk:
    """A part of the input: text, or bytecode, which is never split."""

    source: str | bytes
    name: str

    @property
    def text(self) -> str:
        return self.source if isinstance(self.source, str) else ""


def split_input(data: bytes, name: str, marker: str | None) -> list[Chunk]:
    """The chunks between lines that begin with ``marker``; empty ones are dropped.

    A chunk starts with as many empty lines as there are lines above it, so
    that its locations are those in the whole file.
    """
    if data.startswith(_BYTECODE_MAGIC):
        return [Chunk(data, name)]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ir.HeadraceError(f"'{name}' is neither MLIR text nor MLIR bytecode") from None
    if not marker:
        return [Chunk(text, name)]
    parts = re.split(rf"^[ \t]*{re.escape(marker)}.*$", text, flags=re.MULTILINE)
    chunks: list[Chunk] = []
    lines = 0
    for part in parts:
        if part.strip():
            chunks.append(Chunk("\n" * lines + part, name))
        lines += part.count("\n")
    return chunks or [Chunk("", name)]
