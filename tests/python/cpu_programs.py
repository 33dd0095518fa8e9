"""Lowers programs for any target and runs what comes out on the CPU, for tests."""

from __future__ import annotations

import iree.runtime as rt
import ml_dtypes
import numpy as np
from headrace.compiler.iree.child import run_iree_compile
from headrace.compiler.iree.element_types import Array
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline
from headrace.passes.targets.lookup import find_target

FP8 = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}
WIDE = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64}
DTYPES = {**FP8, **WIDE}


def lower(text: str, target: str) -> ir.Operation:
    """The module after the lowering passes for ``target``."""
    module = parse_module(text, "test", ir.make_context())
    passes = ("accumulate-in-f32", "lower-matmul", "legalize-fp8")
    steps = ",".join(f"{name}{{target={target}}}" for name in passes)
    Pipeline.parse(f"builtin.module({steps})").run(module)
    return module


class Program:
    """A compiled program on one CPU device; bf16 and fp8 arrays as ml_dtypes has them."""

    def __init__(self, vmfb: bytes) -> None:
        context = rt.SystemContext(config=rt.Config("local-task"))
        context.add_vm_module(rt.VmModule.copy_buffer(context.instance, vmfb))
        self._functions = context.modules.module

    def results(self, name: str, *arguments: Array) -> list[Array]:
        """All results of a function."""
        results = self._functions[name](*arguments)
        several = results if isinstance(results, list | tuple) else [results]
        return [np.asarray(result.to_host()) for result in several]

    def __call__(self, name: str, *arguments: Array) -> Array:
        """The result of a function with one."""
        return np.asarray(self._functions[name](*arguments).to_host())


class CpuProgram(Program):
    """A program lowered for some target, compiled for the host's CPU."""

    def __init__(self, text: str, target: str) -> None:
        flags = find_target("cpu").flags("channel", 1)
        super().__init__(run_iree_compile(lower(text, target), flags).vmfb)


def decoded(codes: Array) -> Array:
    """fp8 values as f64."""
    return codes.astype(np.float32).astype(np.float64)


def same_numbers(a: Array, b: Array) -> Array:
    """Elementwise: equal with equal signs (of zeros, too), or both NaN."""
    equal = (a == b) & (np.signbit(a) == np.signbit(b))
    return equal | (np.isnan(a) & np.isnan(b))
