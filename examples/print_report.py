"""Prints the JSON report of headrace-compile for people."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def collective_line(entry: dict[str, Any]) -> str:
    notes = [f"not narrowed: {entry['wide_reason']}"] if entry["wide_reason"] else []
    notes += ["pipelined"] if entry["pipelined"] else []
    size = "?" if entry["bytes"] is None else f"{entry['bytes']:,}"
    trips = "a dynamic number of" if entry["trips"] is None else entry["trips"]
    return ", ".join(
        [f"{entry['op']} of {entry['element_type']}: {size} bytes, {trips} trips", *notes]
    )


def matmul_line(entry: dict[str, Any]) -> str:
    kind = "scaled fp8 matmul" if entry["scaled"] else "matmul"
    why = f" ({entry['reason']})" if entry["reason"] else ""
    return f"{kind}: {entry['lhs']} x {entry['rhs']} -> {entry['result']}{why}"


def main() -> None:
    report = json.loads(Path(sys.argv[1]).read_text())
    for entry in report["collectives"]:
        print(" ", collective_line(entry))
    for entry in report["matmuls"]:
        print(" ", matmul_line(entry))
    print(f"  wire bytes per device and run: {report['wire_bytes']:,}")
    print(f"  dispatches: {report['dispatches']}, bytes written: {report['bytes_written']:,}")
    print(f"  headrace {report['headrace_seconds']:.2f} s, IREE {report['iree_seconds']:.2f} s")


if __name__ == "__main__":
    main()
