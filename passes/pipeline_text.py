"""The text of a pass pipeline, as in mlir-opt: parsed and printed, lossless.

builtin.module(inline,commute-collectives{past=reshape,slice},func.func(cse))
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..dialects import ir

# Names to values as text; a flag without a value, `{top-down}`, is "true".
Options = dict[str, str]

_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_DEEPEST = 50


@dataclass(frozen=True)
class Element:
    """A pass with options, or an anchor op with the elements nested in it."""

    name: str
    options: Options = field(default_factory=dict[str, str])
    children: tuple[Element, ...] | None = None  # None: a pass, no anchor

    def __str__(self) -> str:
        if self.children is not None:
            return f"{self.name}({','.join(map(str, self.children))})"
        return self.name + format_options(self.options)


def format_options(options: Options) -> str:
    """``{a=1 b=x,y}``; empty for no options.

    Raises HeadraceError for a value that the syntax cannot hold.
    """
    if not options:
        return ""
    return "{" + " ".join(f"{k}={_quote(v)}" for k, v in options.items()) + "}"


def _quote(value: str) -> str:
    if re.fullmatch(r"[^\s{}\"']+", value):
        return value
    if value.startswith("{") and _closing(value, 0) == len(value) - 1:
        return value
    for mark in "'\"":
        if mark not in value:
            return mark + value + mark
    raise ir.HeadraceError(f"a pipeline's text cannot hold an option with both quotes: {value}")


def parse_pipeline(text: str) -> Element:
    """Parses a pipeline anchored on one op; HeadraceError with the column."""
    parser = _Parser(text)
    elements = parser.elements()
    if parser.position != len(text):
        raise parser.error("expected ',' or the end")
    if len(elements) != 1 or elements[0].children is None:
        raise ir.HeadraceError(
            f"pipeline '{text}' must be anchored on one op, e.g. builtin.module({text})"
        )
    return elements[0]


def parse_options(text: str) -> Options:
    """Parses ``a=1 b='x y' flag``, the inside of a pass's braces."""
    return _Parser(text).options_until_end()


def _closing(text: str, start: int) -> int:
    """Where the brace at ``start`` closes, quoted braces aside; -1: nowhere."""
    depth = 0
    position = start
    while position < len(text):
        char = text[position]
        if char in "'\"":
            position = text.find(char, position + 1)
            if position < 0:
                return -1
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth == 0:
            return position
        position += 1
    return -1


class _Parser:
    """Reads ``text[position:end]``; places in errors are those in ``text``."""

    def __init__(self, text: str, position: int = 0, end: int | None = None) -> None:
        self.text = text
        self.position = position
        self.end = len(text) if end is None else end
        self.depth = 0

    def error(self, message: str) -> ir.HeadraceError:
        before = self.text[max(0, self.position - 30) : self.position]
        where = f"after '{before}'" if before else "at its start"
        return ir.HeadraceError(f"pipeline: {message} in column {self.position + 1}, {where}")

    def char(self) -> str:
        """The next character, empty at the end."""
        return self.text[self.position] if self.position < self.end else ""

    def peek(self) -> str:
        """The next character that is no space, empty at the end."""
        while self.char().isspace():
            self.position += 1
        return self.char()

    def elements(self) -> list[Element]:
        found: list[Element] = []
        if self.peek() in ("", ")"):
            return found
        while True:
            found.append(self.element())
            if self.peek() != ",":
                return found
            self.position += 1

    def element(self) -> Element:
        if self.peek() == "*":
            name = "*"
        elif match := _NAME.match(self.text, self.position, self.end):
            name = match.group()
        else:
            raise self.error("expected a pass name")
        self.position += len(name)
        if self.peek() == "(":
            return Element(name, children=self.children())
        if self.char() != "{":
            return Element(name)
        end = self.closing()
        inside = _Parser(self.text, self.position + 1, end)
        options = inside.options_until_end()
        self.position = end + 1
        return Element(name, options)

    def children(self) -> tuple[Element, ...]:
        if self.depth == _DEEPEST:
            raise self.error("anchors are nested too deep")
        self.depth += 1
        self.position += 1
        found = tuple(self.elements())
        if self.peek() != ")":
            raise self.error("expected ',' or ')'")
        self.position += 1
        self.depth -= 1
        return found

    def options_until_end(self) -> Options:
        options: Options = {}
        while self.peek():
            match = _NAME.match(self.text, self.position, self.end)
            if not match:
                raise self.error("expected an option name")
            key = match.group()
            if key in options:
                raise self.error(f"option '{key}' is given twice")
            self.position = match.end()
            options[key] = "true"
            if self.char() == "=":
                self.position += 1
                options[key] = self.value()
        return options

    def value(self) -> str:
        start = self.position
        if self.char() == "{":
            self.position = self.closing() + 1
            return self.text[start : self.position]
        mark = self.char()
        if mark and mark in "'\"":
            end = self.text.find(mark, start + 1, self.end)
            if end < 0:
                raise self.error(f"{mark} without its end")
            self.position = end + 1
            return self.text[start + 1 : end]
        while self.char() and not self.char().isspace():
            self.position += 1
        return self.text[start : self.position]

    def closing(self) -> int:
        end = _closing(self.text, self.position)
        if not 0 <= end < self.end:
            raise self.error("'{' without '}'")
        return end
