"""The text of a pass pipeline, as in mlir-opt: parsed and printed, lossless.

builtin.module(inline,commute-collectives{past=reshape,slice},func.func(cse))
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..dialects.mlir import HeadraceError

Options = dict[str, str]

_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_KEY = re.compile(r"[A-Za-z_][\w.-]*")


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
    """``{a=1 b=x,y}``; empty for no options."""
    if not options:
        return ""
    return "{" + " ".join(f"{k}={_quote(v)}" for k, v in options.items()) + "}"


def _quote(value: str) -> str:
    if value and not re.search(r"[\s{}\"']", value):
        return value
    if value.startswith("{") and _closing(value, 0) == len(value) - 1:
        return value
    return "'" + value + "'" if "'" not in value else '"' + value + '"'


def parse_pipeline(text: str) -> Element:
    """Parses a pipeline anchored on one op; HeadraceError with the column."""
    parser = _Parser(text)
    elements = parser.elements()
    if parser.position != len(text):
        raise parser.error("expected ',' or the end")
    if len(elements) != 1 or elements[0].children is None:
        raise HeadraceError(
            f"pipeline '{text}' must be anchored on one op, e.g. builtin.module({text})"
        )
    return elements[0]


def parse_options(text: str) -> Options:
    """Parses ``a=1 b='x y'``, the inside of a pass's braces."""
    parser = _Parser(text)
    options = parser.options_until_end()
    return options


def _closing(text: str, start: int) -> int:
    depth = 0
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return -1


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def error(self, message: str) -> HeadraceError:
        pointer = " " * self.position + "^"
        return HeadraceError(
            f"pipeline: {message} at column {self.position + 1}\n  {self.text}\n  {pointer}"
        )

    def peek(self) -> str:
        self.skip_space()
        return self.text[self.position : self.position + 1]

    def skip_space(self) -> None:
        while self.text[self.position : self.position + 1].isspace():
            self.position += 1

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
        self.skip_space()
        match = _NAME.match(self.text, self.position)
        if not match and self.text[self.position : self.position + 1] != "*":
            raise self.error("expected a pass name")
        name = match.group() if match else "*"
        self.position += len(name)
        if self.peek() == "(":
            self.position += 1
            children = tuple(self.elements())
            if self.peek() != ")":
                raise self.error("expected ',' or ')'")
            self.position += 1
            return Element(name, children=children)
        options: Options = {}
        if self.peek() == "{":
            end = _closing(self.text, self.position)
            if end < 0:
                raise self.error("'{' without '}'")
            inside = _Parser(self.text[self.position + 1 : end])
            options = inside.options_until_end()
            self.position = end + 1
        return Element(name, options)

    def options_until_end(self) -> Options:
        options: Options = {}
        while self.peek():
            match = _KEY.match(self.text, self.position)
            if not match:
                raise self.error("expected an option name")
            key = match.group()
            if key in options:
                raise self.error(f"option '{key}' is given twice")
            self.position = match.end()
            value = ""
            if self.text[self.position : self.position + 1] == "=":
                self.position += 1
                value = self.value()
            options[key] = value
        return options

    def value(self) -> str:
        start = self.position
        opening = self.text[start : start + 1]
        if opening in ("'", '"'):
            end = self.text.find(opening, start + 1)
            if end < 0:
                raise self.error(f"{opening} without its end")
            self.position = end + 1
            return self.text[start + 1 : end]
        if opening == "{":
            end = _closing(self.text, start)
            if end < 0:
                raise self.error("'{' without '}'")
            self.position = end + 1
            return self.text[start : end + 1]
        match = re.compile(r"[^\s]*").match(self.text, start)
        assert match is not None
        self.position = match.end()
        return match.group()
