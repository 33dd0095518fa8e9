"""Passes for the tests of headrace-opt itself, given with --load-module."""

import os
from dataclasses import dataclass, field

from headrace.dialects import ir
from headrace.passes.base import Pass
from headrace.passes.registry import register_pass
from headrace.passes.remarks import remark
from headrace.passes.rewriting import Miss, Pattern, Rewriter, apply_patterns


@register_pass
@dataclass(frozen=True)
class LeaveRemarks(Pass):
    """Leaves a remark at each op of one name.

    For tests only.
    """

    name = "test-remarks"

    on: str = field(default="arith.addi", metadata={"help": "name of the ops"})
    texts: tuple[str, ...] = ("seen",)
    times: int = 1

    def run(self, module: ir.Operation) -> None:
        for op in ir.walk(module):
            if op.name == self.on:
                for text in self.texts * self.times:
                    remark(op, f"{op.name} {text}")


@register_pass
@dataclass(frozen=True)
class Fail(Pass):
    """Fails in the given way, with the module half rewritten."""

    name = "test-fail"

    how: str

    def run(self, module: ir.Operation) -> None:
        function = ir.operations_of(module.regions[0].blocks[0])[0]
        function.attributes["test.half"] = ir.TypeAttr.parse("unit")
        if self.how == "error":
            raise ir.error_at(function, "this function cannot be done")
        if self.how == "exception":
            raise KeyError("a fault of the pass")
        if self.how == "abort":
            os.abort()
        if self.how == "invalid":
            function.attributes["function_type"] = ir.TypeAttr.parse("() -> ()")


class _AddToMul(Pattern[int]):
    """``arith.addi %a, %a`` becomes ``arith.muli %a, %a``, which is nonsense but visible."""

    roots = ("arith.addi",)

    def match(self, op: ir.Operation) -> int | Miss:
        if op.operands[0] != op.operands[1]:
            return Miss("operands differ")
        return 0

    def rewrite(self, op: ir.Operation, match: int, rewriter: Rewriter) -> None:
        new = ir.Operation.create(
            "arith.muli",
            results=[op.results[0].type],
            operands=list(op.operands),
            loc=op.location,
            ip=rewriter.before(op),
        )
        rewriter.replace(op, new.results)

    def missed(self, op: ir.Operation, miss: Miss) -> None:
        remark(op, miss.reason)


@register_pass
@dataclass(frozen=True)
class Rewrite(Pass):
    """Turns x + x into x * x."""

    name = "test-rewrite"

    def run(self, module: ir.Operation) -> None:
        apply_patterns(module, [_AddToMul()])
