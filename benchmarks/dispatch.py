"""Launches, bytes and CPU time of dispatches: headrace beside stock iree-compile.

    python benchmarks/dispatch.py [--runs=N] [--cpu=NAME] [--plot=FILE.svg] [MODEL.mlir[.gz] ...]

For each model (default: ``inputs/dispatch``, two models of the tests and
Llama 8B) and configuration one line: launches per run of the program, bytes
that they write, transient bytes at once, and the median CPU time of N runs. Stock comes plain,
with data tiling, and with data tiling and its own multi-use flag; headrace
without and with experimental-multi-use-encoding-fusion. Target cpu,
collectives in channel form, one device's program; headrace's all_gather is an
all_to_all, which launches a copy more than IREE's own op and avoids a fault of it.

All configurations of a model run in turn, N times each; the time is that of
all threads, which other programs on the machine disturb least. The last
column says what did not compile or crashed; programs with collectives do not
run on one CPU and are not timed. For each model that was timed a line says
how headrace's times compare with the best of stock, and that one with itself:
the medians of its odd runs and of its even ones.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import median
from typing import Any

FOLDER = Path(__file__).parent
MODELS = FOLDER.parent / "tests" / "models"
TILED = "--iree-dispatch-creation-data-tiling"
MULTI_USE = "--iree-dispatch-creation-experimental-multi-use-encoding-fusion"
STOCK = {"stock": (), "stock tiled": (TILED,), "stock multi-use": (TILED, MULTI_USE)}
HEADRACE = {"headrace": False, "headrace multi-use": True}


@dataclass
class Row:
    """One model in one configuration; None where it is not known."""

    model: str
    configuration: str
    launches: int | None = None
    bytes_written: int | None = None
    transient_bytes: int | None = None
    milliseconds: float | None = None
    spread: float = 1.0  # between odd runs and even ones
    note: str = ""

    def line(self) -> str:
        counts = [_count(self.launches), _count(self.bytes_written), _count(self.transient_bytes)]
        milliseconds = "" if self.milliseconds is None else f"{self.milliseconds:.2f}"
        return _line(self.model, self.configuration, *counts, milliseconds, self.note)


def _line(*cells: str) -> str:
    model, configuration, launches, written, transient, milliseconds, note = cells
    return (
        f"{model:<24} {configuration:<19} {launches:>8} {written:>14} {transient:>14} "
        f"{milliseconds:>8}  {note}"
    ).rstrip()


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=20, help="of each program; 0: no times")
    parser.add_argument("--cpu", default="host", help="as in headrace-compile")
    parser.add_argument("--plot", type=Path, help="write the table as an SVG")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        print(json.dumps(time_in_turn(**json.loads(arguments.worker))))
        return
    print(
        _line("model", "configuration", "launches", "bytes written", "transient", "CPU ms", "note")
    )
    rows: list[Row] = []
    for model in arguments.models or default_models():
        with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
            found = measure(model, Path(folder), arguments.runs, arguments.cpu)
        print("\n".join([*(row.line() for row in found), *comparison(found)]), flush=True)
        rows += found
    if arguments.plot:
        arguments.plot.write_text(plot(rows))


def default_models() -> list[Path]:
    return [
        *sorted((FOLDER / "inputs" / "dispatch").glob("*.mlir")),
        *(MODELS / name / "model.mlir" for name in ("multi_use_block", "llama_fsdp")),
        FOLDER / "inputs" / "llama8b_scan.mlir.gz",
    ]


def measure(model: Path, folder: Path, runs: int, cpu: str) -> list[Row]:
    """All configurations of one model."""
    name = model.parent.name if model.name == "model.mlir" else model.name.partition(".")[0]
    data = model.read_bytes()
    text = (gzip.decompress(data) if model.suffix == ".gz" else data).decode()
    runnable = runs > 0 and not any(f'"stablehlo.{c}' in text for c in ("all_", "reduce_scatter"))
    rows: list[Row] = []
    programs: dict[str, str] = {}
    for configuration in (*STOCK, *HEADRACE):
        row = Row(name, configuration)
        rows.append(row)
        try:
            vmfb = build(text, row, runnable, cpu)
        except Exception as error:  # what the compiler refuses or dies of is a result
            row.note = str(error).strip().splitlines()[0].removeprefix("error: ")[:90]
            continue
        if runnable:
            path = folder / f"{len(rows)}.vmfb"
            path.write_bytes(vmfb)
            # Alone first: stock's programs may crash.
            if isinstance(run_worker([str(path)], text, 1), str):
                row.note = "crashes when run"
            else:
                programs[configuration] = str(path)
    times = run_worker(list(programs.values()), text, runs) if programs else []
    if not isinstance(times, str):
        for configuration, (milliseconds, spread) in zip(programs, times, strict=True):
            row = next(r for r in rows if r.configuration == configuration)
            row.milliseconds, row.spread = milliseconds, spread
    return rows


def comparison(rows: list[Row]) -> list[str]:
    """headrace's times over the best of stock; none without times."""
    stock = [r for r in rows if r.configuration in STOCK and r.milliseconds is not None]
    if not stock:
        return []
    best = min(stock, key=lambda r: r.milliseconds or 0.0)
    lines: list[str] = []
    for row in rows:
        if row.configuration in HEADRACE and row.milliseconds and best.milliseconds:
            ratio = row.milliseconds / best.milliseconds
            lines.append(
                f"{row.model:<24} {row.configuration} / {best.configuration}: {ratio:.2f} "
                f"({best.configuration} against itself: {best.spread:.2f})"
            )
    return lines


def build(text: str, row: Row, runnable: bool, cpu: str) -> bytes:
    """Compiles one configuration, to the end if it shall run; fills in the row."""
    from headrace.compiler.iree.child import run_iree_compile
    from headrace.compiler.report.phases import PHASES, read_phases
    from headrace.dialects.ir.bindings import make_context
    from headrace.dialects.ir.parsing import parse_module
    from headrace.passes.targets.lookup import find_target

    module = parse_module(text, row.model, make_context())
    flags = find_target("cpu").flags("channel", 1, cpu=cpu)
    if row.configuration in STOCK:
        flags += STOCK[row.configuration]
    else:
        lower(module, HEADRACE[row.configuration], cpu)
    if not runnable:
        flags += ("--compile-to=stream",)
    child = run_iree_compile(module, flags, PHASES)
    phases = {name: without_structured_loops(phase) for name, phase in child.phases.items()}
    counts = read_phases(phases)
    row.launches = counts.launches_per_run
    row.bytes_written = counts.bytes_written_per_run
    row.transient_bytes = counts.transient_bytes
    return child.vmfb


def without_structured_loops(text: str) -> str:
    """Loops as branches, as the report reads them: stock leaves ``scf``."""
    from headrace.dialects.ir.bindings import make_context
    from headrace.dialects.ir.native_passes import run_native_pipeline
    from headrace.dialects.ir.parsing import parse_module

    if "scf." not in text:
        return text
    module = parse_module(text, "phase", make_context())
    run_native_pipeline(module, "builtin.module(convert-scf-to-cf)")
    return str(module)


def lower(module: Any, multi_use: bool, cpu: str) -> None:
    """headrace's passes."""
    from headrace.compiler import pipelines
    from headrace.compiler.inputs.contents import Contents
    from headrace.passes.pipeline import Pipeline
    from headrace.passes.targets.lookup import find_target

    text = pipelines.default_pipeline(
        find_target("cpu").pass_target(cpu),
        "channel",
        Contents(module).device_count(None),
        multi_use=multi_use,
    )
    Pipeline.parse(text).run(module)


def run_worker(programs: list[str], text: str, runs: int) -> list[tuple[float, float]] | str:
    """Median CPU milliseconds of each program, and how much those of its odd
    and even runs differ; a text if the process died."""
    job = json.dumps({"programs": programs, "types": argument_types(text), "runs": runs})
    command = [sys.executable, __file__, "--worker", job]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"exit code {done.returncode}"
    times: list[tuple[float, float]] = json.loads(done.stdout)
    return times


def argument_types(text: str) -> list[str]:
    """Of the public function's arguments, as text: ``8x4xf32``."""
    from headrace.dialects.ir.bindings import make_context
    from headrace.dialects.ir.functions import function_type, functions_of
    from headrace.dialects.ir.parsing import parse_module

    function = functions_of(parse_module(text, "model", make_context()))[0]
    return [
        str(t).removeprefix("tensor<").removesuffix(">") for t in function_type(function).inputs
    ]


def time_in_turn(programs: list[str], types: list[str], runs: int) -> list[tuple[float, float]]:
    """In a process of its own: runs all programs in turn with the same numbers."""
    import iree.runtime as rt
    import numpy as np

    random = np.random.default_rng(0)
    shapes = [[int(size) for size in t.split("x")[:-1]] for t in types]
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    contexts: list[Any] = []
    for path in programs:
        context = rt.SystemContext(config=rt.Config("local-task"))
        context.add_vm_module(rt.VmModule.copy_buffer(context.instance, Path(path).read_bytes()))
        contexts.append(context)
    functions = [
        next(c.modules[name] for name in c.modules if name != "hal")["main"] for c in contexts
    ]
    arguments = [[rt.asdevicearray(c.config.device, a) for a in inputs] for c in contexts]
    times: list[list[float]] = [[] for _ in programs]
    for run in range(runs + 1):
        for index, function in enumerate(functions):
            start = time.process_time()
            results = function(*arguments[index])
            for result in results if isinstance(results, tuple) else (results,):
                result.to_host()
            if run or runs == 1:
                times[index].append(1e3 * (time.process_time() - start))
    return [(median(t), median(t[::2]) / median(t[1::2] or t)) for t in times]


COLOURS = ("#9aa5b1", "#5b8db8", "#1f4e79", "#f2a65a", "#c8553d")
QUANTITIES = {
    "launches": "launches",
    "bytes_written": "bytes written",
    "transient_bytes": "transient bytes",
    "milliseconds": "CPU time",
}


def plot(rows: list[Row]) -> str:
    """One chart per quantity; bars relative to the largest of their model."""
    models = list(dict.fromkeys(row.model for row in rows))
    configurations = (*STOCK, *HEADRACE)
    width, height, gap = 14, 120, 26
    group = width * len(configurations) + gap
    total = group * len(models) + 140
    parts: list[str] = []
    for chart, (key, title) in enumerate(QUANTITIES.items()):
        top = 30 + chart * (height + 60)
        parts.append(f'<text x="8" y="{top + height / 2}">{title}</text>')
        for place, model in enumerate(models):
            values = {r.configuration: getattr(r, key) for r in rows if r.model == model}
            largest = max((v for v in values.values() if v), default=1)
            left = 120 + place * group
            for index, configuration in enumerate(configurations):
                value = values.get(configuration)
                x = left + index * width
                if value is None:
                    parts.append(f'<text x="{x + 3}" y="{top + height - 2}">-</text>')
                    continue
                bar = height * value / largest
                hint = escape(f"{model}, {configuration}: {value:,.6g}")
                parts.append(
                    f'<rect x="{x}" y="{top + height - bar:.1f}" width="{width - 2}" '
                    f'height="{bar:.1f}" fill="{COLOURS[index]}"><title>{hint}</title></rect>'
                )
            parts.append(f'<text x="{left}" y="{top + height + 14}">{escape(model[:14])}</text>')
    bottom = 30 + len(QUANTITIES) * (height + 60)
    for index, configuration in enumerate(configurations):
        x = 120 + index * 150
        parts.append(
            f'<rect x="{x}" y="{bottom}" width="12" height="12" fill="{COLOURS[index]}"/>'
            f'<text x="{x + 16}" y="{bottom + 11}">{configuration}</text>'
        )
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{max(total, 900)}" height="{bottom + 30}" '
        f'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>'
        f"\n{body}\n</svg>\n"
    )


if __name__ == "__main__":
    main()
