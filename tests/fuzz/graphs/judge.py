"""Compiles graphs, runs them, and says what came of each.

Many graphs go into one program, since starting ``iree-compile`` costs more
than compiling one; where a program fails, halves of it are tried.
"""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from headrace.compiler import pipelines
from headrace.compiler.driver import compile_program
from headrace.compiler.inputs.contents import Contents
from headrace.compiler.inputs.torch_programs import lower_torch
from headrace.compiler.iree.child import run_iree_compile
from headrace.compiler.iree.element_types import Array, parse_tensor_type
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.dispatch.set_encodings import SetEncodings
from headrace.passes.pipeline import Pipeline
from headrace.passes.targets.lookup import find_target, target_names

from .graph import Graph
from .numerics import wrong_elements
from .refusals import reason_of

# Vectors differ, and with them IREE's kernels; x86-64 is what `generic` is.
CPUS = ("host", "x86-64-v3", "x86-64-v2")

GPU_TARGETS = tuple(name for name in target_names() if name not in ("cpu", "vmvx"))


@dataclass(frozen=True)
class Setting:
    """What programs are compiled for. Those for a CPU run.

    ``pack``: matmuls are packed where that does not pay, too, as all of these
    are small.
    """

    target: str = "cpu"
    cpu: str = "host"
    multi_use: bool = False
    pack: bool = False

    @property
    def runs(self) -> bool:
        return self.target in ("cpu", "vmvx")

    def __str__(self) -> str:
        name = self.target if self.target != "cpu" else f"cpu={self.cpu}"
        return name + "+multi-use" * self.multi_use + "+pack" * self.pack

    def compile(self, text: str) -> bytes:
        """Raises HeadraceError as headrace does."""
        if self.pack:
            flags = find_target(self.target).flags(self._form, 1, self.cpu)
            return run_iree_compile(self.lowered(text), flags).vmfb
        options = {"cpu": self.cpu} if self.target == "cpu" else {}
        made = compile_program(
            text, self.target, experimental_multi_use_encoding_fusion=self.multi_use, **options
        )
        assert made.vmfb is not None
        return made.vmfb

    def lowered(self, text: str) -> ir.Operation:
        """What IREE is handed for a program whose matmuls are all packed."""
        module = parse_module(text, "graphs", ir.make_context())
        target = find_target(self.target).pass_target(self.cpu)
        lower_torch(Contents(module), target)
        settings = pipelines.Settings(
            target, self._form, experimental_multi_use_encoding_fusion=self.multi_use
        )
        steps = [
            replace(step, estimate=False) if isinstance(step, SetEncodings) else step
            for step in pipelines.build_default(settings).steps
        ]
        Pipeline(steps).run(module)
        return module

    @property
    def _form(self) -> str:
        return find_target(self.target).collectives


@dataclass(frozen=True)
class Outcome:
    """``kind``: ok, wrong (numbers), crash, or refused; ``reason``: in a line.

    A refusal is ``listed`` where ``refusals`` knows its reason.
    """

    kind: str
    reason: str = ""
    listed: str | None = None

    @property
    def is_fault(self) -> bool:
        return self.kind in ("wrong", "crash") or (self.kind == "refused" and self.listed is None)


def kind_of_failure(outcome: Outcome) -> tuple[str, str]:
    """What two outcomes share that have one cause: names and numbers left out."""
    reason = "" if outcome.kind == "wrong" else re.sub(r"[\d.]+|'[^']*'|/\S*", "", outcome.reason)
    return outcome.kind, reason


def judge(graphs: Sequence[Graph], setting: Setting) -> list[Outcome]:
    """The outcome of each graph, in order."""
    if not graphs:
        return []
    try:
        vmfb = setting.compile("".join(g.text for g in graphs))
    except ir.HeadraceError as error:
        if len(graphs) > 1:
            half = len(graphs) // 2
            return judge(graphs[:half], setting) + judge(graphs[half:], setting)
        return [_refusal(str(error))]
    except Exception as error:  # an internal error is a crash, whatever its class
        if len(graphs) > 1:
            half = len(graphs) // 2
            return judge(graphs[:half], setting) + judge(graphs[half:], setting)
        return [Outcome("crash", f"{type(error).__name__}: {error}".splitlines()[0])]
    if not setting.runs:
        return [Outcome("ok")] * len(graphs)
    return [_compare(g, a) for g, a in zip(graphs, _run(vmfb, graphs), strict=True)]


def _refusal(message: str) -> Outcome:
    line = message.strip().splitlines()[0]
    if "iree-compile crashed" in line:
        listed = reason_of(line)
        return Outcome("refused" if listed else "crash", line, listed)
    return Outcome("refused", line, reason_of(message))


def _run(vmfb: bytes, graphs: Sequence[Graph]) -> list[list[Array] | str]:
    """The results of each function, or why there are none."""
    calls = [
        (g.name, [_raw(x.data, str(a.type)) for a, x in zip(g.arguments, g.inputs, strict=True)])
        for g in graphs
    ]
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        job = Path(folder, "job")
        job.write_bytes(pickle.dumps({"vmfb": vmfb, "calls": calls}))
        child = Path(__file__).with_name("run_child.py")
        done = subprocess.run(
            [sys.executable, str(child), str(job)], check=False, capture_output=True, text=True
        )
        answers = list(_unpickled(Path(f"{job}.out")))
    found: list[list[Array] | str] = []
    for graph, answer in zip(graphs, answers, strict=False):
        if isinstance(answer, str):
            found.append(answer)
            continue
        types = [parse_tensor_type(str(r.type)) for r in graph.results]
        found.append(
            [d.view(t.element.dtype).reshape(s) for (d, s), t in zip(answer, types, strict=True)]
        )
    if len(found) < len(graphs):
        last = " ".join(done.stderr.strip().splitlines()[-1:])
        found.append(f"crashed: exit code {done.returncode} {last}")
        rest = graphs[len(found) :]
        found += _run(vmfb, rest) if rest else []
    return found


def _unpickled(path: Path) -> Iterator[object]:
    if not path.is_file():
        return
    with path.open("rb") as file:
        while True:
            try:
                yield pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                return


def _raw(data: Array, type: str) -> tuple[Array, list[int], str]:
    element = parse_tensor_type(type.replace("?", "1")).element
    return np.ascontiguousarray(data).view(element.storage), [*data.shape], element.runtime


def _compare(graph: Graph, found: list[Array] | str) -> Outcome:
    if isinstance(found, str):
        crashed = found.startswith("crashed")
        return Outcome("crash" if crashed else "wrong", f"running: {found}".splitlines()[0])
    for index, (a, want) in enumerate(zip(found, graph.expected(), strict=True)):
        wrong = wrong_elements(a, want)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])  # () of a tensor of rank 0
            if a.shape != want.data.shape:
                return Outcome(
                    "wrong", f"result {index} has shape {a.shape}, not {want.data.shape}"
                )
            return Outcome(
                "wrong",
                f"result {index}{list(at)} is {a[at]}, not {want.data[at]} +- {want.error[at]:.2g} "
                f"({wrong.sum()} of {wrong.size} elements)",
            )
    return Outcome("ok")
