"""Small changes to MLIR text and bytecode, as a hand or a bad tool makes them.

Many of them leave a program that parses and verifies: a type is changed all
over the file, an attribute goes where it has a default, a size becomes zero.
Those reach the passes; the others reach the parser.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

_ELEMENT_TYPES = (
    *("f32", "bf16", "f16", "f64", "f80", "f128", "tf32", "index"),
    *("i1", "i4", "i7", "i8", "i16", "i32", "i64", "i128", "si8", "si32", "ui8", "ui32"),
    *("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ", "f8E4M3", "f8E3M4"),
    *("f8E8M0FNU", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "complex<f32>", "complex<f64>"),
)
_SIZES = ("0", "1", "2", "3", "7", "?", "1073741824", "2147483648", "9223372036854775807")
_NUMBERS = (
    *("0", "1", "-1", "2", "3", "4", "2147483647", "2147483648", "-2147483648", "4294967296"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "0x7FC00000"),
    *("1.0", "0.0", "-0.0", "1.0e+30", "1.0e-45", "0xFFFFFFFF"),
)
_ATTRIBUTES = (
    *("unit", "true", "0 : i64", "-1 : i64", "3 : index", "1.5 : f32", '"text"', "@f", "[]"),
    *("{}", "f32", "[0, 1]", "array<i64>", "array<i64: 0, 1>", "array<i32: 1>", "array<i1>"),
    *("dense<0> : tensor<i64>", "dense<> : tensor<0x4xi64>", "dense<1.0> : tensor<2x2xf32>"),
    *("dense<[[0, 1]]> : tensor<1x2xi64>", "dense<[[0], [1]]> : tensor<2x1xi64>"),
    *("dense<(1.0,2.0)> : tensor<4xcomplex<f32>>", 'dense<"s"> : tensor<2x!tf_type.string>'),
    *("dense_resource<none> : tensor<4xf32>", "affine_map<(a, b) -> (b)>", "tensor<?x4xf32>"),
    *("sparse<[[0]], [1]> : tensor<4xi64>", "affine_map<() -> ()>", "loc(unknown)", "i64"),
    *("dense_resource<big> : tensor<4xcomplex<f32>>", "dense<true> : tensor<2xi1>"),
)
_CONSTANTS = (
    *("dense<0>", "dense<-1>", "dense<0.0>", "dense<>", "dense<[]>", "dense<0xFFFFFFFF>"),
    *("dense<true>", "dense<(0.0,1.0)>", "dense_resource<r>", 'dense<"0x">', "dense<0x7F>"),
)
_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|[%@^#!][\w$.:#-]+|[A-Za-z_][\w$.]*|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?'
    r"|->|\S"
)
_SHAPE = re.compile(r"\b(?:tensor|vector|memref)<([\d?x]*x)(?=[a-z!])")
_ELEMENT = re.compile(
    r"(?<=[x<(, ])(?:f32|bf16|f16|f64|i1|i4|i8|i16|i32|i64|ui8|index|f8E\w+|f4E2M1FN)\b"
)
_SHAPED = re.compile(r"\b(?:tensor|vector|memref)<[^<>]*>")
_NUMBER = re.compile(r"(?<![\w.%#@x])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]*[x(])")
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_SYMBOL = re.compile(r"@[\w$.-]+")
_ENTRY = re.compile(
    r"(?P<name>[\w.]+) = (?P<value>(?:[\w#!.-]*<(?:[^<>]|<[^<>]*>)*>|\[[^\[\]]*\]|[^,{}<>\[\]\n]+)"
    r"(?: : [^,{}\n]+?)?)(?=[,}>\]])(?P<end>, )?"
)
_CONSTANT = re.compile(r"\bdense<(?:[^<>]*)>")

Random = random.Random
# Of a program, and another one to take things from.
Mutation = Callable[[Random, str, str], str]


def mutate_text(rng: Random, text: str, other: str) -> tuple[str, tuple[str, ...]]:
    """``text`` with one to four mutations, and their names."""
    names: list[str] = []
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        mutation = rng.choice(_ALL)
        changed = mutation(rng, text, other)
        if changed != text:
            names.append(mutation.__name__)
            text = changed
    return text, tuple(names)


def mutate_bytes(rng: Random, data: bytes) -> bytes:
    """Bytecode with a few bytes changed, removed, inserted, or cut off."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        place = rng.randrange(len(found)) if found else 0
        kind = rng.randrange(6)
        if kind == 0:
            del found[place:]
        elif kind == 1:
            del found[place : place + rng.choice((1, 1, 4))]
        elif kind == 2:
            found[place:place] = bytes([rng.randrange(256)])
        elif found:
            found[place] = rng.choice(
                (found[place] ^ 1 << rng.randrange(8), 0, 255, rng.randrange(256))
            )
    return bytes(found)


def _pick(rng: Random, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The first match behind some place: to list all of a long text takes too long."""
    return pattern.search(text, rng.randrange(len(text) + 1)) or pattern.search(text)


def _put(text: str, match: re.Match[str], new: str, group: int | str = 0) -> str:
    return text[: match.start(group)] + new + text[match.end(group) :]


def _everywhere(rng: Random, text: str, match: re.Match[str], new: str) -> str:
    """Here only, or, more often, wherever the same word stands."""
    if rng.random() < 0.35:
        return _put(text, match, new)
    before = r"(?<![\w.$-])" if match[0][0].isalnum() else ""
    return re.sub(before + re.escape(match[0]) + r"(?![\w$.-])", lambda _: new, text)


def swap_tokens(rng: Random, text: str, other: str) -> str:
    tokens = list(_TOKEN.finditer(text))
    if not tokens:
        return text
    first = rng.choice(tokens)
    alike = [t for t in tokens if t[0][0] == first[0][0]] if rng.random() < 0.7 else tokens
    a, b = sorted((first, rng.choice(alike)), key=lambda t: t.start())
    if a is b:
        return text
    return text[: a.start()] + b[0] + text[a.end() : b.start()] + a[0] + text[b.end() :]


def delete_token(rng: Random, text: str, other: str) -> str:
    token = _pick(rng, _TOKEN, text)
    return text if token is None else _put(text, token, "")


def delete_lines(rng: Random, text: str, other: str) -> str:
    lines = text.splitlines()
    if lines:
        place = rng.randrange(len(lines))
        del lines[place : place + rng.choice((1, 1, 1, 2, 5))]
    return "\n".join(lines)


def duplicate_line(rng: Random, text: str, other: str) -> str:
    """Where the copy defines a value, a new one, which takes over from the old one at times."""
    lines = text.splitlines()
    if not lines:
        return text
    place = rng.randrange(len(lines))
    line = lines[place]
    if defined := re.match(r"\s*(%[\w$.-]+)(:\d+)? = ", line):
        line = line.replace(defined[1], "%copied", 1)
        if rng.random() < 0.5:
            rest = re.compile(re.escape(defined[1]) + r"(?![\w$.-])")
            lines[place + 1 :] = [rest.sub("%copied", after) for after in lines[place + 1 :]]
    lines.insert(place + 1, line)
    return "\n".join(lines)


def swap_lines(rng: Random, text: str, other: str) -> str:
    lines = text.splitlines()
    if len(lines) > 1:
        a = rng.randrange(len(lines))
        b = rng.choice((a + 1, rng.randrange(len(lines)))) % len(lines)
        lines[a], lines[b] = lines[b], lines[a]
    return "\n".join(lines)


def change_element_type(rng: Random, text: str, other: str) -> str:
    match = _pick(rng, _ELEMENT, text)
    return text if match is None else _everywhere(rng, text, match, rng.choice(_ELEMENT_TYPES))


def change_size(rng: Random, text: str, other: str) -> str:
    """One size of a shape; everywhere in shapes, more often than not."""
    shape = _pick(rng, _SHAPE, text)
    if shape is None:
        return text
    sizes = shape[1].split("x")[:-1]
    old, new = rng.choice(sizes), rng.choice(_SIZES)
    if rng.random() < 0.35:
        sizes[rng.randrange(len(sizes))] = new
        return _put(text, shape, "".join(f"{s}x" for s in sizes), 1)
    return re.sub(
        rf"(?<=[x<]){re.escape(old)}(?=x[\da-z?!])", new, text if rng.random() < 0.8 else shape[0]
    )


def change_rank(rng: Random, text: str, other: str) -> str:
    shape = _pick(rng, _SHAPED, text)
    if shape is None:
        return text
    kind, _, inner = shape[0].partition("<")
    sizes = inner[:-1].split("x")
    place = rng.randrange(len(sizes))
    action = rng.randrange(4)
    if action == 0 and len(sizes) > 1:
        del sizes[min(place, len(sizes) - 2)]
    elif action == 1:
        sizes.insert(place if place < len(sizes) else 0, rng.choice(_SIZES))
    elif action == 2:
        sizes = sizes[-1:]
    else:
        sizes[:-1] = ["*"]
    return _everywhere(rng, text, shape, f"{kind}<{'x'.join(sizes)}>")


def change_number(rng: Random, text: str, other: str) -> str:
    match = _pick(rng, _NUMBER, text)
    return text if match is None else _put(text, match, rng.choice(_NUMBERS))


def change_attribute(rng: Random, text: str, other: str) -> str:
    match = _pick(rng, _ENTRY, text)
    return text if match is None else _put(text, match, rng.choice(_ATTRIBUTES), "value")


def delete_attribute(rng: Random, text: str, other: str) -> str:
    match = _pick(rng, _ENTRY, text)
    return text if match is None else _put(text, match, "")


def change_constant(rng: Random, text: str, other: str) -> str:
    new = rng.choice(_CONSTANTS)
    match = _pick(rng, _CONSTANT, text)
    return text if match is None else _put(text, match, new)


def swap_operands(rng: Random, text: str, other: str) -> str:
    match = _pick(rng, _VALUE, text)
    if match is None:
        return text
    near = [m for m in _VALUE.finditer(text) if abs(m.start() - match.start()) < 300]
    return _put(text, match, rng.choice(near)[0])


def delete_region(rng: Random, text: str, other: str) -> str:
    """Takes out a balanced ``{...}``, or empties it."""
    opened = [m.start() for m in re.finditer(r"\{", text)]
    if not opened:
        return text
    start = rng.choice(opened)
    depth = 0
    for end in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if not depth:
            return text[:start] + rng.choice(("", "{}", "{\n}", "({})")) + text[end + 1 :]
    return text


def splice(rng: Random, text: str, other: str) -> str:
    """Some lines of another file."""
    lines, foreign = text.splitlines(), other.splitlines()
    if not lines or not foreign:
        return text
    start, place = rng.randrange(len(foreign)), rng.randrange(len(lines))
    taken = foreign[start : start + rng.choice((1, 2, 4, 20))]
    lines[place : place + rng.choice((0, 0, 1, 4))] = taken
    return "\n".join(lines)


def append(rng: Random, text: str, other: str) -> str:
    """Another file behind this one, in one module where both have none."""
    return f"{text}\n{other}" if rng.random() < 0.5 else f"{other}\n{text}"


def truncate(rng: Random, text: str, other: str) -> str:
    return text[: rng.randrange(len(text))] if text else text


def change_symbol(rng: Random, text: str, other: str) -> str:
    """A name of another function (a call may then call its own caller), or of none."""
    match = _pick(rng, _SYMBOL, text)
    if match is None:
        return text
    names = [*dict.fromkeys(_SYMBOL.findall(text)), "@none"]
    return _everywhere(rng, text, match, rng.choice(names))


def change_visibility(rng: Random, text: str, other: str) -> str:
    match = _pick(rng, re.compile(r"func\.func (?:public |private )?"), text)
    if match is None:
        return text
    return _put(text, match, f"func.func {rng.choice(('', 'public ', 'private '))}")


def insert_character(rng: Random, text: str, other: str) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice('{}()<>[]"%@#!:,=x?*-0\0\né\ud7ff') + text[place:]


def change_op(rng: Random, text: str, other: str) -> str:
    """An op's name for that of another one of the two files."""
    pattern = re.compile(r"(?<![\w#!.\"])\"?[a-z_]+\.[a-z_0-9.]+\"?(?= )")
    match, new = _pick(rng, pattern, text), _pick(rng, pattern, rng.choice((text, other)))
    return text if match is None or new is None else _put(text, match, new[0])


_ALL: tuple[Mutation, ...] = (
    *(change_element_type,) * 5,
    *(change_size,) * 5,
    *(change_attribute,) * 4,
    *(delete_attribute,) * 3,
    *(change_number,) * 4,
    *(swap_operands,) * 3,
    *(change_rank, change_constant, duplicate_line, delete_lines) * 2,
    *(swap_tokens, delete_token, swap_lines, delete_region, splice, append, truncate),
    *(change_symbol, change_visibility, insert_character, change_op),
)
