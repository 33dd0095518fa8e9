"""The model programs of tests/models: where they are, what they hold, and the compiled ones."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import cpus
import headrace
import numpy as np
from headrace.compiler.iree.element_types import Array
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program

MODELS = Path(__file__).parent.parent / "models"
NAMES = ("fsdp_scan", "invariant_gather", "llama_fsdp", "multi_use_block", "tp_mlp")
GATHERS = ("fsdp_scan", "invariant_gather", "llama_fsdp")
# Dots per layer, and how many of them multiply fp8 values in the source.
DOTS = {
    "fsdp_scan": (1, 1),
    "invariant_gather": (1, 1),
    "llama_fsdp": (9, 7),  # attention's two products are bf16
    "multi_use_block": (3, 3),
    "tp_mlp": (2, 2),
}


@cpus.cache
def compiled(name: str) -> headrace.CompileResult:
    # The host's is reported on, too, which takes longer.
    return headrace.compile(MODELS / name / "model.mlir", report=cpus.current() == "host")


@cache
def handed_over(name: str, **options: Any) -> headrace.CompileResult:
    return headrace.compile(MODELS / name / "model.mlir", emit="mlir", **options)


def results(result: headrace.CompileResult, name: str, folder: Path) -> list[Array]:
    program = folder / "program.vmfb"
    result.save(program)
    function = choose_function(load_functions(program), None)
    return run_program(program, function, arrays(name, "inputs.npz"))


def collectives(result: headrace.CompileResult) -> list[dict[str, Any]]:
    found: Any = result.report["collectives"]
    return found


def arrays(name: str, file: str) -> list[Any]:
    with np.load(MODELS / name / file) as archive:
        return [archive[key] for key in archive.files]
