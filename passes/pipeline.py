"""Runs pipelines that mix native and Python passes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from ..dialects import verifier
from ..dialects.mlir import (
    Diagnostic,
    HeadraceError,
    Module,
    Operation,
    OpView,
    make_context,
    module_operation,
    replace_contents,
    run_native_pipeline,
    verify_natively,
)
from .base import Pass
from .pipeline_text import Element, Options, format_options, parse_pipeline
from .registry import is_python_pass, pass_class, pass_names, suggestion


@dataclass(frozen=True)
class NativePass:
    """A pass of MLIR's or IREE's, nested in anchor ops below the module."""

    name: str
    options: Options = field(default_factory=dict[str, str])
    anchors: tuple[str, ...] = ()

    def run(self, module: Operation) -> None:
        text = self.name + format_options(self.options)
        for anchor in reversed(self.anchors):
            text = f"{anchor}({text})"
        run_native_pipeline(module, f"builtin.module({text})")


Step = Pass | NativePass


class Instrumentation:
    """Called around each step; override what is wanted."""

    def before(self, step: Step, module: Operation) -> None: ...

    def after(self, step: Step, module: Operation, seconds: float) -> None: ...

    def failed(self, step: Step, module: Operation, error: HeadraceError) -> None: ...


class Pipeline:
    """A list of steps on a ``builtin.module``."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = list(steps)

    @classmethod
    def parse(cls, text: str) -> Pipeline:
        """From text; HeadraceError for bad syntax and unknown names."""
        root = parse_pipeline(text)
        if root.name not in ("builtin.module", "any", "*"):
            raise HeadraceError(f"pipeline must be anchored on builtin.module, not '{root.name}'")
        return cls(list(_steps(root.children or (), ())))

    def __str__(self) -> str:
        return f"builtin.module({','.join(map(str, _elements(self.steps)))})"

    def run(
        self,
        module: Module | Operation | OpView,
        instrumentation: Sequence[Instrumentation] = (),
        *,
        verify_each: bool = True,
    ) -> None:
        """Runs all steps, verifying before the first and after each.

        On any exception the caller's module is unchanged: the work is done
        on a copy. Handles into the module's old body are dead afterwards.
        """
        target = module_operation(module)
        with target.context, target.location:
            work = target.clone().operation
            if verify_each:
                verifier.verify(work)
            for step in self.steps:
                _run_step(step, work, instrumentation, verify_each)
            replace_contents(target, work)


def _run_step(
    step: Step, module: Operation, instrumentation: Sequence[Instrumentation], verify: bool
) -> None:
    for hook in instrumentation:
        hook.before(step, module)
    start = time.perf_counter()
    try:
        step.run(module)
        if verify:
            verify_natively(module)
            verifier.verify(module)
    except HeadraceError as error:
        note = Diagnostic("note", f"in pass '{step.name}'")
        failure = HeadraceError(*error.diagnostics, note)
        for hook in instrumentation:
            hook.failed(step, module, failure)
        raise failure from error
    seconds = time.perf_counter() - start
    for hook in reversed(instrumentation):
        hook.after(step, module, seconds)


def _steps(elements: Sequence[Element], anchors: tuple[str, ...]) -> Iterator[Step]:
    for element in elements:
        if element.children is not None:
            yield from _steps(element.children, (*anchors, element.name))
        elif not is_python_pass(element.name):
            step = NativePass(element.name, element.options, anchors)
            _check_native(step)
            yield step
        elif anchors:
            raise HeadraceError(
                f"pass '{element.name}' runs on builtin.module, "
                f"it cannot be nested in '{anchors[-1]}'"
            )
        else:
            yield pass_class(element.name).from_options(element.options)


@cache
def _empty_module() -> Operation:
    return Module.parse("", context=make_context()).operation


def _check_native(step: NativePass) -> None:
    """An unknown name shall fail before the first pass runs, with a hint."""
    try:
        step.run(_empty_module())
    except HeadraceError as error:
        if "does not refer to a registered pass" in str(error):
            near = suggestion(step.name, pass_names())
            raise HeadraceError(f"unknown pass '{step.name}'{near}") from None
        raise


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
