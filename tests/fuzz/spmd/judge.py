"""A batch of programs through JAX and headrace: the outcome of each."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from .reference import Array, Reference, mapped, on_devices  # isort: skip - sets XLA_FLAGS

import headrace
import headrace.jax
import numpy as np
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program

from .outcomes import Outcome
from .programs import Program
from .reference import input_values

# How far results may be beyond what the disturbed runs show.
FACTOR = 4
PATIENCE = 60


def run_headrace(programs: Sequence[Program]) -> list[Array]:
    """All results as ``[devices, *local shape]``; HeadraceError as headrace raises it."""
    text = headrace.jax.to_stablehlo(mapped(programs, noise=False), *whole_inputs(programs))
    compiled = headrace.compile(text, target="cpu", cpu=programs[0].cpu)
    with tempfile.TemporaryDirectory(prefix="headrace-fuzz-") as folder:
        path = Path(folder, "program.vmfb")
        compiled.save(path)
        function = choose_function(load_functions(path), "main")
        return run_program(path, function, on_devices(programs))


def whole_inputs(programs: Sequence[Program]) -> list[Array]:
    return [a for p in programs for a in input_values(p)]


def judge(programs: Sequence[Program]) -> list[Outcome]:
    """The outcome of each program of a batch, which share mesh and CPU.

    Where one is refused, each is tried on its own.
    """
    reference = Reference(programs)
    try:
        results = run_headrace(programs)
    except headrace.HeadraceError as error:
        if len(programs) > 1:
            return [judge([program])[0] for program in programs]
        return [refusal(error)]
    outcomes: list[Outcome] = []
    place = 0
    for program in programs:
        end = place + len(program.outputs)
        outcomes.append(compare(program, results[place:end], reference, slice(place, end)))
        place = end
    return outcomes


def refusal(error: headrace.HeadraceError) -> Outcome:
    message = str(error)
    crashed = ("crashed", "raised ", "died", "reproducer")
    return Outcome("crash" if any(word in message for word in crashed) else "refused", message)


def compare(
    program: Program, results: Sequence[Array], reference: Reference, place: slice
) -> Outcome:
    """Against JAX's results; what seems wrong is judged again with many disturbances."""
    outcome = Outcome("ok")
    for patience in (None, PATIENCE):
        runs = reference.disturbed() if patience is None else reference.disturbed(patience)
        outcome = Outcome("ok")
        for number, output in enumerate(program.outputs):
            expected = reference.results[place][number]
            spread = [run[place][number] for run in runs]
            wrong, loose = differences(results[number], expected, spread, program.cpu)
            if wrong:
                return_ = f"{output.name} {output.type.dtype}{list(output.type.shape)}: {wrong}"
                outcome = Outcome("wrong", return_)
                break
            outcome = Outcome("ok", loose=max(outcome.loose, loose))
        if outcome.kind == "ok":
            break
    return outcome


def differences(
    got: Array, expected: Array, disturbed: Sequence[Array], cpu: str = "host"
) -> tuple[str, float]:
    """What is wrong, or nothing; and the share of loosely judged elements."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"is {got.dtype}{list(got.shape)}, not {expected.dtype}{list(expected.shape)}", 0.0
    with np.errstate(all="ignore"):
        a, e = got.astype(np.float64), expected.astype(np.float64)
        runs = [run.astype(np.float64) for run in disturbed]
        # XLA's CPU code flushes what is below the smallest normal f32 to zero, and IREE's
        # function for CPUs without F16C what is below that of f16 in convolutions: docs/limits.md.
        is_flushed = got.dtype == np.float16 and cpu in ("generic", "x86-64-v2")
        smallest = 2.0**-14 if is_flushed else 2.0**-126
        tiny = (np.abs(a) < smallest) & (np.abs(e) < smallest)
        same = (a == e) | (np.isnan(a) & np.isnan(e)) | tiny
        tolerance = np.zeros_like(e)
        for run in runs:
            moved = np.where((run == e) | (np.isnan(run) & np.isnan(e)), 0.0, np.abs(run - e))
            # A value that is finite in one run only can be anything.
            tolerance = np.maximum(tolerance, np.where(np.isfinite(moved), moved, np.inf))
        if runs:
            finite = tolerance[np.isfinite(tolerance)]
            base = float(np.median(finite)) if finite.size else 0.0
            tolerance = FACTOR * (tolerance + base)
        close = np.abs(a - e) <= tolerance
        bad = ~(same | close | np.isinf(tolerance))
        finite = np.abs(e[np.isfinite(e)])
        top = float(finite.max()) if finite.size else 1.0
        loose = float((tolerance > 0.1 * max(top, 1e-30)).mean()) if e.size else 0.0
    if not bad.any():
        return "", loose
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    return (
        f"{int(bad.sum())} of {bad.size} elements; at {list(index)} {got[index]}, JAX "
        f"{expected[index]}, tolerance {tolerance[index]:.3g}"
    ), loose
