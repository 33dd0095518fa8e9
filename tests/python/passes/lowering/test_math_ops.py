"""Math in every float type on each kind of CPU: it links and gives numpy's numbers, or is refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import headrace
import ml_dtypes
import numpy as np
import pytest
from cpu_kinds import CPUS, runs_here
from cpu_programs import WIDE, Program
from headrace.compiler.iree.element_types import Array

Reference = Callable[..., Any]

UNARY: dict[str, Reference] = {
    **{f"math.{n}": getattr(np, n) for n in ("sinh", "cosh", "tanh", "exp", "expm1", "exp2")},
    **{f"math.{n}": getattr(np, n) for n in ("log", "log10", "log1p", "log2", "sqrt")},
    **{f"math.{n}": getattr(np, n) for n in ("ceil", "floor", "trunc")},
    "math.roundeven": np.round,
    "math.round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "math.absf": np.abs,
}
# IREE 3.13 has these in the narrower types only.
NARROW: dict[str, Reference] = {
    **{f"math.{n}": getattr(np, n) for n in ("sin", "cos", "cbrt")},
    **{f"math.a{n}": getattr(np, f"arc{n}") for n in ("sin", "cos", "tan")},
}
BINARY: dict[str, Reference] = {
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "math.copysign": np.copysign,
}
TESTS: dict[str, Reference] = {
    "math.isnan": np.isnan,
    "math.isinf": np.isinf,
    "math.isfinite": np.isfinite,
    "math.isnormal": lambda x: x,  # by the type's own bounds: see `expected`
}
REFUSED = [*NARROW, "math.erf", "math.tan", "math.atan2", "arith.remf"]


def function_text(op: str, type_: str, size: int, result: str = "") -> str:
    """One elementwise function named as the op without its dialect."""
    count = 2 if op in BINARY or op in ("math.atan2", "arith.remf") else 1
    out, name = result or type_, op.partition(".")[2]
    tensor, made = f"tensor<{size}x{type_}>", f"tensor<{size}x{out}>"
    maps = ", ".join(["affine_map<(i) -> (i)>"] * (count + 1))
    outer, inner = (["%a", "%b"][:count], ["%x", "%y"][:count])
    return f"""
func.func @{name}({", ".join(f"{v}: {tensor}" for v in outer)}) -> {made} {{
  %e = tensor.empty() : {made}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins({", ".join(outer)} : {", ".join([tensor] * count)}) outs(%e : {made}) {{
  ^bb0({", ".join(f"{v}: {type_}" for v in inner)}, %o: {out}):
    %z = {op} {", ".join(inner)} : {type_}
    linalg.yield %z : {out}
  }} -> {made}
  return %r : {made}
}}"""


def values(type_: str, seed: int) -> Array:
    """Special values and halves, then numbers of a few magnitudes, negative ones first."""
    special = [0.0, np.inf, np.nan, 0.5, 1.0, 1.5, 2.5, 1000.0, 0.25, 3.0e-5]
    rng = np.random.default_rng(seed)
    more = rng.uniform(0.05, 1, 40) * 4.0 ** rng.integers(-3, 3, 40)
    found = np.array([s * v for v in (*special, *more) for s in (-1, 1)])
    return rng.permutation(found).astype(WIDE[type_])


def expected(op: str, reference: Reference, arguments: list[Array]) -> Array:
    if op == "math.isnormal":
        info: Any = ml_dtypes.finfo(arguments[0].dtype)
        wide = np.abs(arguments[0].astype(np.float64))
        return (wide >= float(info.tiny)) & np.isfinite(wide)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        return np.asarray(reference(*(a.astype(np.float64) for a in arguments)))


def check(type_: str, cpu: str, every: int = 1) -> None:
    """``every``: of the ops that all types have, one in so many."""
    common = [*{**UNARY, **BINARY, **TESTS}.items()][::every]
    ops = dict(common) if type_ == "f64" else {**dict(common), **NARROW}
    a, b = values(type_, 1), values(type_, 2)
    text = "".join(function_text(op, type_, len(a), "i1" if op in TESTS else "") for op in ops)
    vmfb = headrace.compile(text, "cpu", cpu=cpu, collectives="channel").data()
    if not runs_here(cpu):
        return
    program = Program(vmfb)
    wrong: list[str] = []
    for op, reference in ops.items():
        arguments = [a, b] if op in BINARY else [a]
        result = program(op.partition(".")[2], *arguments)
        with np.errstate(all="ignore"):
            right = expected(op, reference, arguments).astype(result.dtype).astype(np.float64)
            error = np.abs(result.astype(np.float64) - right) / np.maximum(np.abs(right), 1.0)
        same = (result == right) | (np.isnan(result.astype(np.float64)) & np.isnan(right))
        if op in ("math.sin", "math.cos"):  # IREE reduces large angles in f32
            same |= np.abs(a.astype(np.float64)) > 100
        bad = np.flatnonzero(~same & ~(error <= tolerance(type_)))
        wrong += [f"{op}({a[i]}) gave {result[i]}, not {right[i]}" for i in bad[:2]]
    assert not wrong, "\n".join(wrong)


def tolerance(type_: str) -> float:
    """Of max(1, |right|), in units of the last place: IREE's f64 exp is off by hundreds."""
    info: Any = ml_dtypes.finfo(WIDE[type_])
    return (512 if type_ == "f64" else 16) * 2.0**-info.nmant


@pytest.mark.parametrize(("type_", "cpu", "every"), [("f64", "generic", 1), ("f16", "generic", 3)])
def test_math_on_a_cpu(type_: str, cpu: str, every: int) -> None:
    check(type_, cpu, every)


@pytest.mark.full
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("type_", WIDE)
def test_math_in_every_type_on_a_cpu(type_: str, cpu: str) -> None:
    check(type_, cpu)


@pytest.mark.parametrize("op", REFUSED)
def test_what_no_cpu_has_in_f64_is_refused(op: str) -> None:
    with pytest.raises(headrace.HeadraceError, match=rf"IREE has no f64 '{op}' for CPUs"):
        headrace.compile(function_text(op, "f64", 4), "cpu", emit="mlir")
    assert headrace.compile(function_text(op, "f64", 4), "gfx950", emit="mlir")
