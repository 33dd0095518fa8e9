"""Runs pipelines that mix native and Python passes."""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ..dialects import ir, verifier
from ..dialects.ir.iree_opt import native_pass_names
from ..dialects.ir.native_passes import check_native_pipeline, run_native_pipeline
from .base import Pass
from .pipeline_text import Element, Options, format_options, parse_pipeline
from .registry import is_python_pass, pass_class, pass_names, suggestion


@dataclass(frozen=True)
class NativePass:
    """A pass of MLIR's or IREE's, nested in anchor ops below the module."""

    name: str
    options: Options = field(default_factory=dict[str, str])
    anchors: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = self.name + format_options(self.options)
        for anchor in reversed(self.anchors):
            text = f"{anchor}({text})"
        return text

    def run(self, module: ir.Operation) -> None:
        run_native_pipeline(module, f"builtin.module({self})")

    def check(self) -> None:
        """Raises HeadraceError, with a hint, for what would not start to run."""
        context = _empty_context()
        for anchor in self.anchors:
            if anchor not in ("any", "*") and not ir.is_registered_operation(anchor, context):
                raise ir.HeadraceError(f"pipeline: anchor '{anchor}' is no registered operation")
        try:
            check_native_pipeline(f"builtin.module({self})", context)
        except ir.HeadraceError as error:
            if "does not refer to a registered pass" in str(error):
                near = suggestion(self.name, [*pass_names(), *native_pass_names()])
                raise ir.HeadraceError(f"unknown pass '{self.name}'{near}") from None
            raise ir.HeadraceError(f"pass '{self.name}': {_plain(error)}") from None


Step = Pass | NativePass


class Instrumentation:
    """Called around each step; override what is wanted.

    ``module`` is the working copy. Handles into it die in the next step.
    """

    def begin(self, steps: Sequence[Step], module: ir.Operation) -> None:
        """Before anything runs or is verified."""

    def stage_begins(self, stage: str, module: ir.Operation) -> None:
        """Before the first step of a named stage."""

    def stage_ends(self, stage: str, module: ir.Operation) -> None:
        """After the last step of a named stage."""

    def before(self, step: Step, module: ir.Operation) -> None: ...

    def after(self, step: Step, module: ir.Operation, seconds: float) -> None: ...

    def verified(self, step: Step | None, seconds: float) -> None:
        """After the verifier has run on ``step``'s result; None: on the input."""

    def failed(self, step: Step, module: ir.Operation, error: ir.HeadraceError) -> None:
        """The step or the verifier after it raised; ``module`` may be invalid."""

    def end(self, module: ir.Operation) -> None:
        """After the last step."""


@dataclass(frozen=True)
class Stage:
    """Steps with a name, which is empty where nobody gave one."""

    name: str
    steps: tuple[Step, ...]


class Pipeline:
    """A list of steps on a ``builtin.module``, in stages."""

    def __init__(self, steps: Sequence[Step] = (), stages: Sequence[Stage] = ()) -> None:
        self.stages = list(stages) or [Stage("", tuple(steps))]

    @property
    def steps(self) -> list[Step]:
        return [step for stage in self.stages for step in stage.steps]

    def before(self, stage: str) -> Pipeline:
        """The stages before the one of that name."""
        names = [found.name for found in self.stages]
        return Pipeline(stages=self.stages[: names.index(stage)])

    @classmethod
    def parse(cls, text: str) -> Pipeline:
        """From text; HeadraceError for bad syntax and unknown names."""
        root = parse_pipeline(text)
        if root.name not in ("builtin.module", "any", "*"):
            raise ir.HeadraceError(
                f"pipeline must be anchored on builtin.module, not '{root.name}'"
            )
        return cls(list(_steps(root.children or (), ())))

    def __str__(self) -> str:
        return f"builtin.module({','.join(map(str, _elements(self.steps)))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pipeline) and self.steps == other.steps

    def __hash__(self) -> int:
        return hash(str(self))

    def run(
        self,
        module: ir.Module | ir.Operation | ir.OpView,
        instrumentation: Sequence[Instrumentation] = (),
        *,
        verify_each: bool = True,
    ) -> None:
        """Runs all steps, verifying before the first and, unless told not to, after each.

        On any exception the caller's module is unchanged: the work is done
        on a copy. Handles into the module's old body are dead afterwards.
        """
        target = ir.module_operation(module)
        with target.context, target.location:
            work = target.clone().operation
            run = _Run(work, instrumentation, verify_each)
            for hook in instrumentation:
                hook.begin(self.steps, work)
            run.verify(None)
            for stage in self.stages:
                run.stage(stage)
            for hook in reversed(instrumentation):
                hook.end(work)
            ir.replace_contents(target, work)


@dataclass(frozen=True)
class _Run:
    """One run of a pipeline on a working copy."""

    module: ir.Operation
    hooks: Sequence[Instrumentation]
    verify_each: bool

    def stage(self, stage: Stage) -> None:
        for hook in self.hooks if stage.name else ():
            hook.stage_begins(stage.name, self.module)
        for step in stage.steps:
            self.step(step)
        for hook in reversed(self.hooks if stage.name else ()):
            hook.stage_ends(stage.name, self.module)

    def step(self, step: Step) -> None:
        for hook in self.hooks:
            hook.before(step, self.module)
        start = time.perf_counter()
        try:
            step.run(self.module)
            seconds = time.perf_counter() - start
            self.verify(step)
        except Exception as error:
            failure = _failure(step, error)
            for hook in self.hooks:
                hook.failed(step, self.module, failure)
            raise failure from error
        for hook in reversed(self.hooks):
            hook.after(step, self.module, seconds)

    def verify(self, step: Step | None) -> None:
        """The input always, as MLIR's parser does: no pass is made for what is invalid."""
        if step is not None and not self.verify_each:
            return
        start = time.perf_counter()
        if step is None:
            verifier.verify_input(self.module)
        else:
            ir.verify_natively(self.module)
            verifier.verify(self.module)
        seconds = time.perf_counter() - start
        for hook in self.hooks:
            hook.verified(step, seconds)


def _failure(step: Step, error: Exception) -> ir.HeadraceError:
    """The error with its pass; one that is no HeadraceError is a reason of the pass."""
    note = ir.Diagnostic("note", f"in pass '{step.name}'")
    if isinstance(error, ir.HeadraceError):
        return ir.HeadraceError(*error.diagnostics, note)
    if isinstance(error, MemoryError):
        return ir.HeadraceError(
            ir.Diagnostic("error", f"pass '{step.name}' ran out of memory"), note
        )
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    message = f"pass '{step.name}' raised {type(error).__name__}{where}: {error}"
    return ir.HeadraceError(ir.Diagnostic("error", message), note)


def _steps(elements: Sequence[Element], anchors: tuple[str, ...]) -> Iterator[Step]:
    for element in elements:
        if element.children is not None:
            yield from _steps(element.children, (*anchors, element.name))
        elif not is_python_pass(element.name):
            step = NativePass(element.name, element.options, anchors)
            step.check()
            yield step
        elif anchors:
            raise ir.HeadraceError(
                f"pass '{element.name}' runs on builtin.module, "
                f"it cannot be nested in '{anchors[-1]}'"
            )
        else:
            yield pass_class(element.name).from_options(element.options)


def _plain(error: ir.HeadraceError) -> str:
    """MLIR's message about a pipeline without its layers of context."""
    text = re.sub(
        r"failed to add `[^`]*` with options `[^`]*`( to inner pipeline)?", "", str(error)
    )
    text = text.removeprefix("error: ").replace("<Pass-Options-Parser>: ", "")
    return " ".join(text.split()).rstrip(";!")


@cache
def _empty_context() -> ir.Context:
    return ir.make_context()


def _elements(steps: Sequence[Step]) -> list[Element]:
    """Steps back as text elements; neighbours with equal anchors share them."""
    found: list[Element] = []
    for step in steps:
        anchors: tuple[str, ...] = ()
        if isinstance(step, NativePass):
            element, anchors = Element(step.name, step.options), step.anchors
        else:
            element = Element(step.name, step.options())
        _insert(found, anchors, element)
    return found


def _insert(elements: list[Element], anchors: tuple[str, ...], element: Element) -> None:
    if not anchors:
        elements.append(element)
        return
    last = elements[-1] if elements else None
    inner: list[Element] = []
    if last is not None and last.children is not None and last.name == anchors[0]:
        inner = list(last.children)
        elements.pop()
    _insert(inner, anchors[1:], element)
    elements.append(Element(anchors[0], children=tuple(inner)))
