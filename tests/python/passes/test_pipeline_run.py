"""Running pipelines: all or nothing, verified in between, watched by hooks."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.base import Pass
from headrace.passes.pipeline import Instrumentation, NativePass, Pipeline, Step

_TEXT = """
module attributes {test.kept} {
  func.func @f(%a: i32) -> (i32, i32) {
    %0 = arith.addi %a, %a : i32
    %1 = arith.addi %a, %a : i32
    return %0, %1 : i32, i32
  }
}
"""


@dataclass(frozen=True)
class Wreck(Pass):
    """Changes the module, its attributes too, then fails as told."""

    name = "test-wreck"

    how: str = "error"

    def run(self, module: ir.Operation) -> None:
        module.attributes["test.wrecked"] = ir.UnitAttr.get()
        del module.attributes["test.kept"]
        function = ir.operations_of(module.regions[0].blocks[0])[0]
        if self.how == "invalid":
            function.attributes["function_type"] = ir.TypeAttr.parse("() -> ()")
            return
        if self.how == "unverified":
            ir.Operation.create(
                "headrace.bogus", loc=function.location, ip=ir.InsertionPoint(function)
            )
            return
        function.erase()
        if self.how == "error":
            raise ir.HeadraceError("this is too hard")
        if self.how == "exception":
            raise ZeroDivisionError("a fault of the pass")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("error", "this is too hard"),
        (
            "exception",
            r"raised ZeroDivisionError \(test_pipeline_run.py:\d+\): a fault of the pass",
        ),
        ("invalid", "entry block must have 0 arguments"),
        ("unverified", "'headrace.bogus' op is not an op of the headrace dialect"),
    ],
)
def test_on_failure_the_callers_module_is_unchanged(how: str, message: str) -> None:
    module = parse_module(_TEXT, "x", ir.make_context())
    function = ir.operations_of(module.regions[0].blocks[0])[0]
    before = str(module)
    with pytest.raises(ir.HeadraceError, match=message) as caught:
        Pipeline([NativePass("cse"), Wreck(how)]).run(module)
    assert str(caught.value).endswith("note: in pass 'test-wreck'")
    assert str(module) == before
    assert module.verify()
    assert function.attributes["sym_name"].value == "f"  # handles are still good


def test_success_changes_the_callers_module_in_place() -> None:
    context = ir.make_context()
    with context:
        module = ir.Module.parse(_TEXT)  # the caller's own object, of another class
    operation = module.operation
    Pipeline([NativePass("cse"), Wreck("nothing")]).run(module)
    assert str(operation) == "module attributes {test.wrecked} {\n}\n"
    assert str(module).strip() == "module attributes {test.wrecked} {\n}"


def test_verify_each_can_be_off() -> None:
    module = parse_module(_TEXT, "x", ir.make_context())
    Pipeline([Wreck("unverified")]).run(module, verify_each=False)
    assert "headrace.bogus" in str(module)
    with pytest.raises(ir.HeadraceError, match=r"headrace.bogus"):  # the input is verified
        Pipeline([]).run(module)


class Log(Instrumentation):
    def __init__(self) -> None:
        self.events: list[str] = []

    def begin(self, steps: object, module: ir.Operation) -> None:
        self.events.append("begin")

    def before(self, step: Step, module: ir.Operation) -> None:
        self.events.append(f"before {step.name}")

    def after(self, step: Step, module: ir.Operation, seconds: float) -> None:
        assert seconds >= 0
        self.events.append(f"after {step.name}")

    def verified(self, step: Step | None, seconds: float) -> None:
        self.events.append(f"verified {step.name if step else 'input'}")

    def failed(self, step: Step, module: ir.Operation, error: ir.HeadraceError) -> None:
        assert "too hard" in str(error)
        assert "test.wrecked" in str(module)  # the working copy
        self.events.append(f"failed {step.name}")

    def end(self, module: ir.Operation) -> None:
        self.events.append("end")


def test_hooks_see_each_step() -> None:
    log = Log()
    pipeline = Pipeline([NativePass("cse", anchors=("func.func",)), Wreck("error")])
    with pytest.raises(ir.HeadraceError):
        pipeline.run(parse_module(_TEXT, "x", ir.make_context()), [log])
    assert log.events == [
        *("begin", "verified input"),
        *("before cse", "verified cse", "after cse"),
        *("before test-wreck", "failed test-wreck"),
    ]
    log.events.clear()
    Pipeline([]).run(parse_module(_TEXT, "x", ir.make_context()), [log])
    assert log.events == ["begin", "verified input", "end"]


def test_only_modules_are_run_on() -> None:
    module = parse_module(_TEXT, "x", ir.make_context())
    with pytest.raises(ir.HeadraceError, match=r"expected a builtin.module, got 'func.func'"):
        Pipeline([]).run(ir.operations_of(module.regions[0].blocks[0])[0])
