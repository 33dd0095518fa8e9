"""What MLIR's parser takes of a text, and the process dies of later.

A string may hold any bytes; the bindings raise, or end the process, when they
hand out such a name, string or file of a location (quirks.NOT_UTF8). And elements of complex
numbers are taken for those of a type that is not complex: LLVM 24's attribute
crashes whoever reads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Escapes of bytes above 127; most programs have none.
_CANDIDATE = re.compile(r"\\[89A-Fa-f][0-9A-Fa-f]")
_STRING = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"')
_ESCAPE = re.compile(rb'\\(["\\nt]|[0-9A-Fa-f]{2})')
_PLAIN = {b'"': b'"', b"\\": b"\\", b"n": b"\n", b"t": b"\t"}


_COMPLEX = re.compile(r"\bdense<[\s\[]*\(")
_TYPE = re.compile(r">\s*:\s*(?:tensor|vector)<([^>]*)")


@dataclass(frozen=True)
class TextError:
    """What is wrong, and where in the text."""

    start: int
    message: str


def text_error(text: str) -> TextError | None:
    """The first such error, None if there is none."""
    if (literal := encoding_error(text)) is not None:
        return TextError(literal.start(), "a string is no UTF-8")
    for constant in _COMPLEX.finditer(text):
        type_ = _TYPE.search(text, constant.end())
        if type_ is not None and "complex<" not in type_[1]:
            return TextError(constant.start(), "complex elements of a type that is not complex")
    return None


def encoding_error(text: str) -> re.Match[str] | None:
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
