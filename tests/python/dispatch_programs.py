"""Programs through the dispatch stage, for tests."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import iree.runtime as rt
import numpy as np
from headrace.compiler import pipelines
from headrace.compiler.iree.child import run_iree_compile
from headrace.compiler.iree.element_types import Array
from headrace.compiler.report.phases import PHASES, read_phases
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.dispatch.set_encodings import SetEncodings
from headrace.passes.pipeline import Pipeline
from headrace.passes.targets.lookup import find_target

CASES = Path(__file__).parents[2] / "benchmarks" / "inputs" / "dispatch"


def lowered(
    text: str, target: str, *, multi_use: bool = False, estimate: bool = True
) -> ir.Operation:
    """The module as IREE is handed it, collectives in channel form."""
    module = parse_module(text, "test", ir.make_context())
    settings = pipelines.Settings(target, experimental_multi_use_encoding_fusion=multi_use)
    pipeline = pipelines.build_default(settings)
    (pipeline if estimate else without_estimate(pipeline)).run(module)
    return module


def without_estimate(pipeline: Pipeline) -> Pipeline:
    """The same, but matmuls are packed where that does not pay, too."""
    return Pipeline(
        [replace(s, estimate=False) if isinstance(s, SetEncodings) else s for s in pipeline.steps]
    )


def without_panels(name: str) -> str:
    """The text of a case, in sizes whose columns fill no panels (see
    ``pack-panels``): 1000 and 2040 instead of 1024 and 2048."""
    text = (CASES / f"{name}.mlir").read_text()
    return text.replace("1024", "1000").replace("2048", "2040")


def compiled(
    module: ir.Operation, target: str, cpu: str = "host"
) -> tuple[bytes, dict[str, object]]:
    """The program, and what its phases say of launches and bytes."""
    flags = find_target(target).flags("channel", 1, cpu)
    child = run_iree_compile(module, flags, PHASES)
    return child.vmfb, asdict(read_phases(child.phases))


class Program:
    """A compiled program on the CPU, called with one array per argument."""

    def __init__(self, vmfb: bytes) -> None:
        self._context = rt.SystemContext(config=rt.Config("local-task"))
        self._context.add_vm_module(rt.VmModule.copy_buffer(self._context.instance, vmfb))

    def __call__(self, name: str, *arguments: Array) -> list[Array]:
        modules = self._context.modules
        functions = next(modules[key] for key in modules if key != "hal")
        results = functions[name](*arguments)
        results = results if isinstance(results, tuple) else (results,)
        return [np.asarray(result.to_host()) for result in results]


def error(found: Array, expected: Array) -> float:
    """The largest difference, relative to the largest expected number."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())
