"""Reproducers: a module and the pipeline that fails on it, in one .mlir file."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...dialects import ir
from ...passes.pipeline import Instrumentation, Pipeline, Step
from ..files import write_file
from .printing import TextForm

_PIPELINE = re.compile(r"^// pipeline: (.*)$", re.MULTILINE)
_VERIFY = re.compile(r"^// verify-each: (true|false)$", re.MULTILINE)
# What MLIR's own tools write.
_RESOURCE = re.compile(r'mlir_reproducer: \{\s*pipeline: "([^"]*)"')


@dataclass(frozen=True)
class Recipe:
    """How to run what a reproducer holds."""

    pipeline: str
    verify_each: bool = True


def read_recipe(text: str, name: str) -> Recipe:
    """The pipeline stored in a reproducer; HeadraceError if there is none."""
    found = _PIPELINE.search(text) or _RESOURCE.search(text)
    if not found:
        raise ir.HeadraceError(f"'{name}' is no reproducer: it has no '// pipeline: ...' line")
    verify = _VERIFY.search(text)
    return Recipe(found[1].strip(), verify is None or verify[1] == "true")


class Reproducer(Instrumentation):
    """Keeps a file up to date that is left behind if the pipeline fails.

    It is written before the pipeline, or before each step with ``local``,
    under a temporary name, so that it is there even after a crash of native
    code; then ``keep`` is for the parent process to call.
    """

    def __init__(self, path: str, *, local: bool, verify_each: bool) -> None:
        self._path = Path(path)
        self._draft = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        self._local = local
        self._verify_each = verify_each

    def begin(self, steps: Sequence[Step], module: ir.Operation) -> None:
        if not self._local:
            self._write(steps, module)

    def before(self, step: Step, module: ir.Operation) -> None:
        if self._local:
            self._write([step], module)

    def failed(self, step: Step, module: ir.Operation, error: ir.HeadraceError) -> None:
        self.keep()

    def end(self, module: ir.Operation) -> None:
        self._draft.unlink(missing_ok=True)

    def keep(self) -> bool:
        """Gives the file its name; False if there is nothing to keep."""
        if not self._draft.exists():
            return False
        self._draft.replace(self._path)
        return True

    def _write(self, steps: Sequence[Step], module: ir.Operation) -> None:
        lines = [
            "// Reproducer; run it with: headrace-opt --run-reproducer FILE",
            f"// pipeline: {Pipeline(steps)}",
            f"// verify-each: {'true' if self._verify_each else 'false'}",
            TextForm(debug_info=True).text(module),
        ]
        write_file(self._draft, "\n".join(lines).encode())
