"""Prints the IR around passes, native and Python ones alike."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...dialects import ir
from ...passes.pipeline import Instrumentation, NativePass, Step
from ..files import write_file
from .printing import TextForm

ALL = ("all",)


@dataclass(frozen=True)
class PrintPoints:
    """Where IR is printed: pass names, or ALL."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    only_changes: bool = False  # of those after a pass
    on_failure: bool = False
    module_scope: bool = False  # the module also for passes on functions
    # A file per printout below this folder, not stderr: by op and step, or if
    # ``numbered`` in the order of all runs, ``007-commute-collectives.mlir``.
    folder: Path | None = None
    numbered: bool = False

    def names(self) -> tuple[str, ...]:
        return tuple(n for n in (*self.before, *self.after) if n != "all")


@dataclass
class IrPrinting(Instrumentation):
    """Writes to stderr, or into files."""

    points: PrintPoints
    form: TextForm = field(default_factory=TextForm)
    _index: int = 0
    _written: int = 0
    _old: dict[str, str] = field(default_factory=dict[str, str])

    def begin(self, steps: Sequence[Step], module: ir.Operation) -> None:
        self._index = 0

    def before(self, step: Step, module: ir.Operation) -> None:
        if _selects(self.points.before, step):
            self._write(step, module, "Before")
        if self.points.only_changes and _selects(self.points.after, step):
            self._old = {name: _fingerprint(op) for name, op in self._scopes(step, module)}

    def after(self, step: Step, module: ir.Operation, seconds: float) -> None:
        if _selects(self.points.after, step):
            self._write(step, module, "After")
        self._index += 1

    def failed(self, step: Step, module: ir.Operation, error: ir.HeadraceError) -> None:
        if self.points.on_failure:
            self._write(step, module, "After", " Failed")

    def _write(self, step: Step, module: ir.Operation, when: str, suffix: str = "") -> None:
        changes_only = self.points.only_changes and when == "After" and not suffix
        for name, op in self._scopes(step, module):
            if changes_only and self._old.get(name) == _fingerprint(op):
                continue
            where = f" ({name})" if name else ""
            title = f"// -----// IR Dump {when} {step.name}{suffix}{where} //----- //"
            text = self.form.text(op)
            self._written += 1
            if self.points.folder is None:
                print(f"{title}\n{text}", file=sys.stderr, flush=True)
                continue
            kind = "_before" if when == "Before" else suffix.replace(" ", "_").lower()
            name = f"{self._index}_{step.name}{kind}"
            file = self._in_tree(self.points.folder, module, op) / f"{name}.mlir"
            if self.points.numbered:
                file = self.points.folder / f"{self._written:03}-{step.name}.mlir"
            write_file(file, text.encode(), make_folder=True)

    def _scopes(self, step: Step, module: ir.Operation) -> Iterator[tuple[str, ir.Operation]]:
        """What the step works on, with a name to tell one from another."""
        if not isinstance(step, NativePass) or self.points.module_scope or not step.anchors:
            yield "", module
            return
        for op in _anchored(module, step.anchors):
            yield f"'{op.name}' operation: {_symbol(op, '@') or 'no symbol'}", op

    def _in_tree(self, folder: Path, module: ir.Operation, op: ir.Operation) -> Path:
        folder /= f"builtin_module_{_symbol(module) or 'no-symbol-name'}"
        if op != module:
            folder /= f"{op.name.replace('.', '_')}_{_symbol(op) or 'no-symbol-name'}"
        return folder


def after_each_step(folder: Path) -> IrPrinting:
    """Writes the module after each step of all runs; HeadraceError if the folder cannot be had."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # What an earlier run left would mix with this one's files.
        for old in folder.glob("[0-9][0-9][0-9]-*.mlir"):
            old.unlink()
    except OSError as error:
        raise ir.HeadraceError(f"cannot write to '{folder}': {error.strerror}") from None
    return IrPrinting(PrintPoints(after=ALL, module_scope=True, folder=folder, numbered=True))


def _selects(names: tuple[str, ...], step: Step) -> bool:
    return names == ALL or step.name in names


def _anchored(root: ir.Operation, anchors: Sequence[str]) -> Iterator[ir.Operation]:
    if not anchors:
        yield root
        return
    for block in ir.blocks_of(root):
        for op in ir.operations_of(block):
            if anchors[0] in (op.name, "any", "*"):
                yield from _anchored(op, anchors[1:])


def _symbol(op: ir.Operation, prefix: str = "") -> str:
    name = op.attributes.get("sym_name")
    return prefix + name.value if isinstance(name, ir.StringAttr) else ""


def _fingerprint(op: ir.Operation) -> str:
    return TextForm(generic=True, local_scope=True).text(op)
