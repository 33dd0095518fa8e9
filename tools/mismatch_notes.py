"""What headrace-run says of results that are off: rounding, or wrong."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiler.iree.element_types import Array, element_errors, parse_tensor_type
from ..compiler.metadata import FunctionInfo
from ..compiler.options import option_name
from ..compiler.report.roundings import MOST, Roundings


@dataclass(frozen=True)
class Mismatch:
    """A result that is over its tolerance; ``error`` as ``relative_error`` has it."""

    index: int
    type: str
    result: Array
    expected: Array
    error: float
    tolerance: float


@dataclass(frozen=True)
class Rerun:
    """What was run, so that others can run it: files, and the options given.

    ``is_compiled``: the program is a ``.vmfb``, whatever its name.
    """

    program: str
    inputs: str | None
    expect: str
    options: Mapping[str, Any]
    is_compiled: bool = False

    def commands(self) -> list[str]:
        """Shell commands whose output, with the files that they read, is a reproducer."""
        source = "MODEL.mlir" if self.is_compiled else self.program
        options = _flags(self.options)
        arrays = [f"--inputs={self.inputs}"] if self.inputs is not None else []
        arrays.append(f"--expect={self.expect}")
        return [
            "headrace-run --version",
            shlex.join(
                ["headrace-compile", source, *options, "--emit=mlir", "-o", "handed-over.mlir"]
            ),
            shlex.join(["headrace-run", source, *options, *arrays]),
        ]


def mismatch_notes(
    mismatches: Sequence[Mismatch], function: FunctionInfo, rerun: Rerun
) -> list[str]:
    """Where each result is off; then whether rounding explains all, or how to report it.

    Rounding is named where the error is within what it can do to that result
    in that program (``Roundings.bound``), nowhere else.
    """
    notes = [_place(m) for m in mismatches]
    wrong = [m for m in mismatches if m.error > _bound(m, function)]
    if wrong:
        return [*notes, *(_wrong(m, function) for m in wrong), *_report_notes(rerun)]
    # The largest error may be another result's than the largest bound.
    enough = _rounded_up(max(m.error for m in mismatches))
    if function.roundings is None:
        return [
            *notes,
            f"--rtol={enough:.6g} would accept this; whether rounding explains it is not known: "
            "an older headrace compiled the program",
        ]
    explained = [
        f"rounding explains an error of up to {_bound(m, function):.3g} of result{m.index} "
        f"({_roundings(m, function)} on the way to it)"
        for m in mismatches
    ]
    return [
        *notes,
        f"--rtol={enough:.6g} would accept this; {', '.join(explained)}, "
        "of which the default tolerance counts the last one only",
    ]


def _place(mismatch: Mismatch) -> str:
    """Where a result is off, how much, and in how many elements."""
    errors = element_errors(mismatch.result, mismatch.expected)
    place = np.unravel_index(int(errors.argmax()), errors.shape)
    index = ", ".join(str(int(i)) for i in place)
    got, want = (float(x[place]) for x in (mismatch.result, mismatch.expected))
    return (
        f"result{mismatch.index} is off most at [{index}] (device first): {got:.6g}, "
        f"expected {want:.6g}; {int((errors > mismatch.tolerance).sum())} of {errors.size} "
        "elements are over the tolerance"
    )


def _roundings(mismatch: Mismatch, function: FunctionInfo) -> Roundings:
    counts = function.roundings
    return Roundings(counts[mismatch.index]) if counts is not None else Roundings()


def _bound(mismatch: Mismatch, function: FunctionInfo) -> float:
    if function.roundings is None:
        return MOST
    return _roundings(mismatch, function).bound(parse_tensor_type(mismatch.type), mismatch.expected)


def _wrong(mismatch: Mismatch, function: FunctionInfo) -> str:
    bound = _bound(mismatch, function)
    limit = f"an error of at most {bound:.3g}" if bound else "no error"
    why = f" ({_roundings(mismatch, function)} on the way to it)" if function.roundings else ""
    return (
        f"result{mismatch.index} is wrong: rounding explains {limit}{why}; "
        "are the inputs and the expected results those of this program?"
    )


def _report_notes(rerun: Rerun) -> list[str]:
    files = [rerun.program, *([rerun.inputs] if rerun.inputs is not None else []), rerun.expect]
    if rerun.is_compiled:
        files.insert(0, "the model that it was compiled from (MODEL.mlir)")
    return [
        f"if they are, please report it, with {', '.join(files)}, the name of this machine's CPU, "
        "and what these commands print and write:",
        *(f"  {command}" for command in rerun.commands()),
    ]


def _flags(options: Mapping[str, Any]) -> list[str]:
    """Options of ``headrace-compile`` as they are written on its command line."""
    found: list[str] = []
    for name, value in options.items():
        if name in ("iree_flags", "pipeline_collectives"):
            found += [f"{option_name(name)}={part}" for part in value]
        elif value is True:
            found.append(option_name(name))
        elif name != "dump_ir":
            found.append(f"{option_name(name)}={value}")
    return found


def _rounded_up(error: float) -> float:
    """To two digits."""
    digits = 1 - math.floor(math.log10(error))
    return math.ceil(error * 10**digits) / 10**digits
