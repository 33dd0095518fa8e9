"""Strings in MLIR text that are no UTF-8.

MLIR takes any bytes; the bindings raise, or end the process, when they hand
out such a name, string or file of a location.
"""

from __future__ import annotations

import re

# Escapes of bytes above 127; most programs have none.
_CANDIDATE = re.compile(r"\\[89A-Fa-f][0-9A-Fa-f]")
_STRING = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"')
_ESCAPE = re.compile(rb'\\(["\\nt]|[0-9A-Fa-f]{2})')
_PLAIN = {b'"': b'"', b"\\": b"\\", b"n": b"\n", b"t": b"\t"}


def encoding_fault(text: str) -> re.Match[str] | None:
    """The first string literal whose bytes are no UTF-8, None if all are."""
    if _CANDIDATE.search(text) is None:
        return None
    for literal in _STRING.finditer(text):
        try:
            _bytes_of(literal[0]).decode()
        except UnicodeDecodeError:
            return literal
    return None


def _bytes_of(literal: str) -> bytes:
    return _ESCAPE.sub(
        lambda m: _PLAIN.get(m[1]) or bytes.fromhex(m[1].decode()),
        literal.encode(errors="surrogatepass"),
    )
