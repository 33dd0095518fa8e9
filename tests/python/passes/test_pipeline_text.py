"""Pipelines as text: lossless both ways, and errors that say where."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

import pytest
from headrace.dialects import ir
from headrace.passes.base import Pass
from headrace.passes.pipeline import NativePass, Pipeline, Step
from headrace.passes.pipeline_text import Element, Options, parse_options, parse_pipeline
from headrace.passes.registry import register_pass


@register_pass
@dataclass(frozen=True)
class EveryOption(Pass):
    """Has an option of every kind."""

    name = "test-every-option"

    flag: bool = False
    count: int = 3
    factor: float = 0.5
    text: str = "plain"
    kind: Literal["first", "second"] = "first"
    budget: int | None = None
    list_of_names: tuple[str, ...] = ("a", "b")


_TEXTS = ["x", "two words", "it's", 'say "so"', "{a b}", "}", "a=b", "a,b", "", "{", "(", "a{b}c"]


def _random_python_pass(rng: random.Random) -> Pass:
    return EveryOption(
        flag=rng.random() < 0.5,
        count=rng.randrange(-5, 5),
        factor=rng.choice([0.5, 1e-30, -2.25, float("inf"), 0.1 + 0.2]),
        text=rng.choice(_TEXTS),
        kind=rng.choice(["first", "second"]),
        budget=rng.choice([None, 0, 1 << 40]),
        list_of_names=tuple(rng.sample(["a", "b", "c-d", "e f"], rng.randrange(4))),
    )


def _random_native_pass(rng: random.Random) -> NativePass:
    anchors = rng.choice([(), (), ("func.func",), ("any",), ("builtin.module", "func.func")])
    options: Options = {}
    if rng.random() < 0.5:
        options = {"max-iterations": str(rng.randrange(9)), "test-convergence": "true"}
        options["disable-patterns"] = rng.choice(["{a,b}", "p", "", "two words"])
    return NativePass("canonicalize" if options else "cse", options, anchors)


def _random_steps(rng: random.Random) -> list[Step]:
    make = (_random_python_pass, _random_native_pass, _random_native_pass)
    return [rng.choice(make)(rng) for _ in range(rng.randrange(8))]


@pytest.mark.parametrize("seed", range(40))
def test_pipeline_to_text_and_back(seed: int) -> None:
    steps = _random_steps(random.Random(seed))
    text = str(Pipeline(steps))
    again = Pipeline.parse(text)
    assert again.steps == steps
    assert str(again) == text


def _random_element(rng: random.Random, depth: int = 0) -> Element:
    name = rng.choice(["a", "b-c", "iree_x.y", "Z9"])
    if depth < 3 and rng.random() < 0.4:
        count = rng.randrange(4)
        return Element(name, children=tuple(_random_element(rng, depth + 1) for _ in range(count)))
    keys = rng.sample(["k", "long-key", "x.y", "m_n"], rng.randrange(4))
    return Element(name, {key: rng.choice(_TEXTS) for key in keys})


@pytest.mark.parametrize("seed", range(40))
def test_any_element_to_text_and_back(seed: int) -> None:
    rng = random.Random(seed)
    element = Element("root", children=tuple(_random_element(rng) for _ in range(5)))
    assert parse_pipeline(str(element)) == element


def test_spaces_do_not_matter() -> None:
    spaced = " builtin.module ( cse , func.func ( canonicalize { a = 1 } ) ) "
    with pytest.raises(ir.HeadraceError, match="expected an option name"):
        parse_pipeline(spaced)  # as in MLIR, none around '='
    plain = "root(cse,func.func(canonicalize{a=1 b}))"
    assert parse_pipeline(" root ( cse ,\n func.func ( canonicalize { a=1  b } ) ) ") == (
        parse_pipeline(plain)
    )
    assert parse_options("a=1 b") == {"a": "1", "b": "true"}


def test_a_value_with_both_quotes_is_refused() -> None:
    with pytest.raises(ir.HeadraceError, match="both quotes"):
        str(EveryOption(text="'\""))


@pytest.mark.parametrize("part", ["a,b", "", " a", "{a"])
def test_a_list_part_that_would_not_come_back_is_refused(part: str) -> None:
    with pytest.raises(ir.HeadraceError, match="list option cannot hold"):
        str(EveryOption(list_of_names=(part,)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be anchored"),
        ("cse", r"must be anchored on one op, e.g. builtin.module\(cse\)"),
        ("builtin.module(cse", r"expected ',' or '\)' in column 19, after 'builtin.module\(cse'"),
        ("builtin.module(cse))", "expected ',' or the end in column 20"),
        ("builtin.module(cse,,cse)", "expected a pass name in column 20"),
        ("builtin.module(cse,)", "expected a pass name in column 20"),
        ("builtin.module(test-every-option{count=1)", "'{' without '}' in column 33"),
        ("builtin.module(test-every-option{text='a)", "'{' without '}'"),
        ("builtin.module(test-every-option{count=1 count=2})", "'count' is given twice"),
        ("builtin.module(test-every-option{=1})", "expected an option name in column 34"),
        ("builtin.module(cse)(cse)", "expected ',' or the end"),
        ("any(" * 60, "nested too deep"),
        ("func.func(cse)", "must be anchored on builtin.module, not 'func.func'"),
        ("builtin.module(func.fun(cse))", "anchor 'func.fun' is no registered operation"),
        (
            "builtin.module(canonicalise)",
            "unknown pass 'canonicalise'; did you mean 'canonicalize'",
        ),
        ("builtin.module(comute-collectives)", "did you mean 'commute-collectives'"),
        ("builtin.module(func.func(test-every-option))", "cannot be nested in 'func.func'"),
        ("builtin.module(cse{nope=1})", "pass 'cse': no such option nope"),
        ("builtin.module(canonicalize{max-iterations=x})", "'x' value invalid for long"),
        ("builtin.module(test-every-option{nope=1})", "no option 'nope'; it has: flag, count"),
        ("builtin.module(test-every-option{count=x})", "expected an integer, got 'x'"),
        ("builtin.module(test-every-option{count})", "expected an integer, got 'true'"),
        ("builtin.module(test-every-option{factor=x})", "expected a number"),
        ("builtin.module(test-every-option{flag=x})", "expected true or false"),
        ("builtin.module(test-every-option{flag=})", "expected true or false"),
        ("builtin.module(test-every-option{kind=third})", "expected one of first, second"),
        ("builtin.module(test-every-option{budget=x})", "expected an integer"),
    ],
)
def test_errors(text: str, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ir.HeadraceError, match=message) as caught:
        Pipeline.parse(text)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""  # MLIR prints some of it by itself


def test_options_as_text() -> None:
    made = EveryOption.from_options(parse_options("flag budget=none list-of-names={x, y} text=''"))
    assert made == EveryOption(flag=True, budget=None, list_of_names=("x", "y"), text="")
    assert str(EveryOption()) == "test-every-option"
    assert [(o.name, o.type, o.default) for o in EveryOption.describe_options()] == [
        ("flag", "bool", "false"),
        ("count", "int", "3"),
        ("factor", "float", "0.5"),
        ("text", "str", "plain"),
        ("kind", "first|second", "first"),
        ("budget", "int|none", "none"),
        ("list-of-names", "list", "a,b"),
    ]
