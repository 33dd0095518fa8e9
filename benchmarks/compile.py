"""Compile time, memory and wire bytes of headrace beside stock iree-compile.

    python benchmarks/compile.py [MODEL.mlir[.gz] ...]

For each model (default: all in ``inputs/``) one run prints headrace's own
seconds (best of three), IREE's seconds inside headrace, stock iree-compile's
seconds, the largest process of each, and the bytes that each receives per
device and run; then the ratios that are to hold. Target cpu, collectives in
channel form, the same flags for both.
Stock's wire bytes are those of the same program with nothing moved.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INPUTS = Path(__file__).with_name("inputs")
MIB = 1 << 20
REPEATS = 3


@dataclass(frozen=True)
class Row:
    """One model's figures; seconds, bytes."""

    name: str
    headrace_seconds: float
    iree_seconds: float
    stock_seconds: float
    headrace_peak: int
    stock_peak: int
    wire_bytes: int | None
    stock_wire_bytes: int | None

    def line(self) -> str:
        return (
            f"{self.name:<20} {self.headrace_seconds:>9.3f} {self.iree_seconds:>9.2f} "
            f"{self.stock_seconds:>9.2f} {self.headrace_peak / MIB:>9.0f} "
            f"{self.stock_peak / MIB:>9.0f} {_count(self.wire_bytes):>15} "
            f"{_count(self.stock_wire_bytes):>15}"
        )

    def ratios(self) -> str:
        wire = "unknown"
        if self.wire_bytes and self.stock_wire_bytes:
            wire = f"{self.wire_bytes / self.stock_wire_bytes:.3f}"
        return (
            f"{self.name}: headrace / IREE = {self.headrace_seconds / self.iree_seconds:.1%} "
            f"(limit 15%), memory / stock = {self.headrace_peak / self.stock_peak:.2f} "
            f"(limit 1.3), wire bytes / stock = {wire} (limit 0.5)"
        )


def _count(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def measured(command: Sequence[str], output: Path) -> tuple[float, int]:
    """Seconds, and the largest resident size among the process and its children."""
    with output.open("wb") as file:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=file)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def worker(model: str) -> None:
    """In a process of its own: compiles, and prints the report as JSON.

    headrace's own seconds are the best of three runs of that part: one takes
    well under a second for most models, where the machine's noise is as large.
    """
    import headrace

    own = [
        headrace.compile(Path(model), collectives="channel", emit="mlir").report
        for _ in range(REPEATS - 1)
    ]
    report = headrace.compile(Path(model), collectives="channel").report
    seconds = [float(str(r["headrace_seconds"])) for r in (*own, report)]
    report["headrace_seconds"] = min(seconds)
    json.dump(report, sys.stdout)


def measure(model: Path, scratch: Path) -> Row:
    source = scratch / model.name.removesuffix(".gz")
    data = model.read_bytes()
    source.write_bytes(gzip.decompress(data) if model.suffix == ".gz" else data)
    report_file = scratch / "report.json"
    _, peak = measured([sys.executable, __file__, "--worker", str(source)], report_file)
    report: dict[str, Any] = json.loads(report_file.read_text())
    stock_seconds, stock_peak = measured(
        stock_command(source, scratch / "stock.vmfb"), scratch / "stock.log"
    )
    return Row(
        source.stem,
        report["headrace_seconds"],
        report["iree_seconds"],
        stock_seconds,
        peak,
        stock_peak,
        report["wire_bytes"],
        stock_wire_bytes(source),
    )


def stock_command(source: Path, output: Path) -> list[str]:
    from headrace.compiler.driver import iree_flags
    from headrace.compiler.iree.child import iree_compile_binary
    from headrace.compiler.options import CompileOptions
    from headrace.passes.targets.lookup import find_target

    flags = iree_flags(find_target("cpu"), CompileOptions(), "channel", 1)
    return [iree_compile_binary(), str(source), *flags, "-o", str(output)]


def stock_wire_bytes(source: Path) -> int | None:
    """The unmoved program's, counted by the same rules."""
    from headrace.compiler import pipelines
    from headrace.compiler.report.reader import read_collectives, wire_bytes
    from headrace.dialects.ir.bindings import make_context
    from headrace.dialects.ir.parsing import parse_module_file

    module = parse_module_file(source, make_context())
    stages = ("frontend", "stablehlo-input")
    pipelines.build(stages, pipelines.Settings()).run(module)
    return wire_bytes(read_collectives(module))


def main(arguments: Sequence[str]) -> None:
    if arguments and arguments[0] == "--worker":
        worker(arguments[1])
        return
    models = [Path(a) for a in arguments] or sorted(INPUTS.glob("*.mlir.gz"))
    heads = ("headrace s", "IREE s", "stock s", "MiB", "stock MiB", "wire bytes", "stock wire")
    widths = (9, 9, 9, 9, 9, 15, 15)
    titles = " ".join(f"{h:>{w}}" for h, w in zip(heads, widths, strict=True))
    print(f"{'model':<19} {titles}")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        for model in models:
            rows.append(measure(model, Path(folder)))
            print(rows[-1].line(), flush=True)
    print()
    for row in rows:
        print(row.ratios())
    seconds = {row.name: row.headrace_seconds for row in rows}
    if {"llama8b_unrolled4", "llama8b_unrolled32"} <= seconds.keys():
        growth = seconds["llama8b_unrolled32"] / seconds["llama8b_unrolled4"]
        print(f"headrace, 32 layers / 4 layers = {growth:.1f} (limit 10)")


if __name__ == "__main__":
    main(sys.argv[1:])
