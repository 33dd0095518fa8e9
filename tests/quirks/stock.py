"""Runs IREE as it is, without headrace's workarounds, for the canaries."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import iree.runtime as rt
import numpy as np
import pytest

_LOCAL = "--iree-hal-target-device=local"
_LLVM = "--iree-hal-local-target-device-backends=llvm-cpu"
_X86_64 = "--iree-llvmcpu-target-triple=x86_64-unknown-linux-gnu"
_F64 = "--iree-input-demote-f64-to-f32=false"
HOST = (_LOCAL, _LLVM, "--iree-llvmcpu-target-cpu=host", _F64)
# Neither bf16 instructions nor AVX-512, whatever this machine has.
HASWELL = (_LOCAL, _LLVM, _X86_64, "--iree-llvmcpu-target-cpu=haswell", _F64)
# Not even SSE4.
OLDEST = (_LOCAL, _LLVM, _X86_64, "--iree-llvmcpu-target-cpu=x86-64", _F64)
VMVX = (_LOCAL, "--iree-hal-local-target-device-backends=vmvx")
TILED = "--iree-dispatch-creation-data-tiling"


def cuda(chip: str) -> tuple[str, ...]:
    return ("--iree-hal-target-device=cuda", f"--iree-cuda-target={chip}")


def hip(chip: str) -> tuple[str, ...]:
    return ("--iree-hal-target-device=hip", f"--iree-rocm-target={chip}")


def vulkan(chip: str) -> tuple[str, ...]:
    return ("--iree-hal-target-device=vulkan", f"--iree-vulkan-target={chip}")


def devices(count: int) -> tuple[str, ...]:
    """CPU devices dev0, dev1, ..."""
    names = [f"--iree-hal-target-device=dev{i}=local[{i}]" for i in range(count)]
    return (*names, _LLVM, "--iree-llvmcpu-target-cpu=host")


class Shown(AssertionError):
    """IREE still does what the register says."""


def canary(test: Callable[..., None]) -> Callable[..., None]:
    """A test of right behaviour, named after the quirk that makes it fail.

    Where it passes (XPASS), the quirk is gone; where it fails with another
    error than Shown, the quirk shows in another way than is known here.
    """
    quirk = test.__name__.removeprefix("test_").upper()
    reason = f"{quirk} of dialects/iree/quirks.py; where it passes, its workaround can go"
    return pytest.mark.xfail(strict=True, raises=Shown, reason=reason)(test)


@cache
def _tool(name: str) -> str:
    """The native program: its Python wrapper of the same name is slow to start."""
    spec = find_spec("iree.compiler")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        found = Path(folder) / "_mlir_libs" / name
        if found.is_file():
            return str(found)
    raise LookupError(name)


def _ended(command: Sequence[str]) -> str:
    """What a command that failed printed to stderr, after its signal's name; else ""."""
    quiet = {**os.environ, "LLVM_DISABLE_SYMBOLIZATION": "1"}  # a second for each crash
    done = subprocess.run(command, capture_output=True, env=quiet, timeout=120)
    if done.returncode == 0:
        return ""
    died = signal.Signals(-done.returncode).name if done.returncode < 0 else "error"
    return f"{died}: {done.stderr.decode(errors='replace')}"


def compiled(text: str, flags: Sequence[str]) -> tuple[bytes, str]:
    """What iree-compile makes of a program, and its error."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder, "source.mlir"), Path(folder, "output")
        source.write_text(text)
        error = _ended([_tool("iree-compile"), str(source), *flags, "-o", str(output)])
        return (b"", error) if error else (output.read_bytes(), "")


def _expect_success(error: str, known: str) -> None:
    if error:
        found = re.search(known, error)
        assert found is not None, error[:3000]
        raise Shown(found[0])


def expect_compiles(text: str, flags: Sequence[str], known: str) -> bytes:
    """``known``: the error, as long as the quirk is there; it begins with a signal's name if any."""
    vmfb, error = compiled(text, flags)
    _expect_success(error, known)
    return vmfb


def expect_optimizes(text: str, passes: str, known: str) -> None:
    """The same for IREE's passes alone, as a pipeline of a module."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as source:
        source.write(text)
        source.flush()
        command = [_tool("iree-opt"), source.name, "--allow-unregistered-dialect", "-o", os.devnull]
        _expect_success(_ended([*command, f"--pass-pipeline=builtin.module({passes})"]), known)


def expect_bytecode_compiles(text: str, flags: Sequence[str], known: str) -> None:
    """The same for bytecode, which may hold ops that are not registered."""
    with tempfile.TemporaryDirectory() as folder:
        source, bytecode = Path(folder, "source.mlir"), Path(folder, "source.mlirbc")
        source.write_text(text)
        command = [_tool("iree-opt"), str(source), "--allow-unregistered-dialect"]
        assert not _ended([*command, "--emit-bytecode", "-o", str(bytecode)])
        command = [_tool("iree-compile"), str(bytecode), *flags, "-o", os.devnull]
        _expect_success(_ended(command), known)


def expect_runs(script: str, known: str) -> None:
    """The same for the bindings, in a Python of their own."""
    start = "from iree.compiler import ir\ncontext = ir.Context()\n"
    start += "context.allow_unregistered_dialects = True\n"
    _expect_success(_ended([sys.executable, "-c", start + script]), known)


def expect_equal(found: Any, right: Any) -> None:
    if not np.array_equal(found, right):
        raise Shown(f"{found}, not {right}")


def load(vmfb: bytes) -> Any:
    """The functions of a program, on one device."""
    context = rt.SystemContext(config=rt.Config("local-task"))
    context.add_vm_module(rt.VmModule.copy_buffer(context.instance, vmfb))
    return context.modules.module


class Programs:
    """Functions that are compiled together, since that is what takes time; alone if that fails."""

    def __init__(self, texts: Mapping[str, str], flags: Sequence[str] = HOST) -> None:
        self._texts, self._flags = texts, flags
        self._loaded: dict[str, Any] = {}

    def __call__(self, name: str, *arguments: Any) -> Any:
        """A result, or the list of several."""
        results = self.raw(name)(*arguments)
        if not isinstance(results, tuple):
            return np.asarray(results.to_host())
        return [np.asarray(result.to_host()) for result in results]

    def raw(self, name: str) -> Any:
        """The function as IREE's runtime has it, which may return numbers."""
        if not self._loaded:
            vmfb, error = compiled("\n".join(self._texts.values()), self._flags)
            if not error:
                self._loaded = dict.fromkeys(self._texts, load(vmfb))
        if name not in self._loaded:
            vmfb, error = compiled(self._texts[name], self._flags)
            assert not error, error[:3000]
            self._loaded[name] = load(vmfb)
        return self._loaded[name][name]
