"""headrace-cse: equal ops become one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from ...dialects import ir
from ...dialects.headrace import DequantizeOp
from ...dialects.op_traits import CONTROL, is_pure
from ..base import Pass

# Values from outside may not be used inside these, or would change them.
_CLOSED = ("builtin.module", "func.func", "util.func", "util.initializer", "flow.dispatch.region")


@dataclass(frozen=True)
class HeadraceCse(Pass):
    """Merges equal pure ops, headrace ops included.

    MLIR's own cse takes unregistered ops for effects and never merges them.
    Two ops are equal if name, operands, all attributes and result types are;
    ops with regions are never merged. The first one stays, if it dominates
    the other. A dequantize is merged within its block only: it belongs next
    to its matmul, and one from outside a loop would carry wide values in.

    Before:
        %0 = "headrace.dequantize"(%q, %s) : ...
        %1 = "headrace.dequantize"(%q, %s) : ...
        %2 = stablehlo.add %0, %1
    After:
        %0 = "headrace.dequantize"(%q, %s) : ...
        %2 = stablehlo.add %0, %0
    """

    name = "headrace-cse"

    def run(self, module: ir.Operation) -> None:
        _merge_in(module, _Scope())


@dataclass
class _Scope:
    """The ops known at a place: those of this block, then those around it."""

    outer: _Scope | None = None
    ops: dict[Hashable, ir.Operation] = field(default_factory=dict[Hashable, ir.Operation])

    def find(self, key: Hashable, local: bool) -> ir.Operation | None:
        scope: _Scope | None = self
        while scope is not None:
            if key in scope.ops:
                return scope.ops[key]
            scope = None if local else scope.outer
        return None


def _merge_in(op: ir.Operation, scope: _Scope) -> None:
    if op.name not in (*_CLOSED, *CONTROL):
        return
    outer = None if op.name in _CLOSED else scope
    for region in op.regions:
        around = outer
        for index, block in enumerate(region.blocks):
            inner = _Scope(around)
            _merge_block(block, inner)
            if index == 0:
                around = inner  # the entry block dominates all others


def _merge_block(block: ir.Block, scope: _Scope) -> None:
    for op in ir.operations_of(block):
        _merge_in(op, scope)
        key = _key(op)
        if key is None:
            continue
        first = scope.find(key, op.name == DequantizeOp.OPERATION_NAME)
        if first is None:
            scope.ops[key] = op
            continue
        for old, new in zip(op.results, first.results, strict=True):
            old.replace_all_uses_with(new)
        op.erase()


def _key(op: ir.Operation) -> Hashable | None:
    """What two equal ops have in common; None for an op that is not merged."""
    if len(op.regions) or not len(op.results) or not is_pure(op):
        return None
    attributes: list[tuple[str, ir.Attribute]] = [(n, op.attributes[n]) for n in op.attributes]
    operands: list[ir.Value] = list(op.operands)
    types: list[ir.Type] = [result.type for result in op.results]
    return (op.name, tuple(operands), tuple(attributes), tuple(types))
