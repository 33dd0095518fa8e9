"""Which scalar or rank-0 integer is ``scale * base + offset`` of which other."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from .scalar_tensors import dense_integer, is_integer, is_scalar_tensor


@dataclass(frozen=True)
class Linear:
    """``scale * base + offset``, modulo the type's width; no base: a constant.

    A scalar extracted from a rank-0 tensor has that tensor as its base.
    """

    base: ir.Value | None
    scale: int
    offset: int


def linear(value: ir.Value) -> Linear:
    """The linear form of an integer; ``1 * value + 0`` where none is seen."""
    return _Reader({}).read(value)


class _Reader:
    def __init__(self, arguments: dict[ir.Value, ir.Value]) -> None:
        # What the block arguments of an enclosing linalg body stand for.
        self._arguments = arguments

    def read(self, value: ir.Value) -> Linear:
        value = self._arguments.get(value, value)
        op = ir.defining_op(value)
        if op is None:
            return Linear(value, 1, 0)
        if op.name == "arith.constant" and is_integer(value.type):
            constant = dense_integer(op)
            return Linear(value, 1, 0) if constant is None else Linear(None, 0, constant)
        if op.name in ("tensor.extract", "tensor.from_elements") and len(op.operands) == 1:
            return self.read(op.operands[0])
        if op.name == "linalg.generic" and is_scalar_tensor(value.type):
            return self._generic(op, value)
        if op.name in ("arith.addi", "arith.subi", "arith.muli"):
            return self._binary(op, value)
        return Linear(value, 1, 0)

    def _generic(self, op: ir.Operation, value: ir.Value) -> Linear:
        body = op.regions[0].blocks[0]
        inner = _Reader({**self._arguments, **dict(zip(body.arguments, op.operands, strict=True))})
        yielded = ir.operations_of(body)[-1].operands[ir.result_number(value)]
        found = inner.read(yielded)
        # A value of the body means nothing outside of it.
        owner = None if found.base is None else ir.defining_op(found.base)
        if owner is not None and owner.block == body:
            return Linear(value, 1, 0)
        return found

    def _binary(self, op: ir.Operation, value: ir.Value) -> Linear:
        a, b = self.read(op.operands[0]), self.read(op.operands[1])
        if op.name == "arith.muli":
            if a.base is None:
                a, b = b, a
            if b.base is None:
                return Linear(a.base, a.scale * b.offset, a.offset * b.offset)
            return Linear(value, 1, 0)
        sign = 1 if op.name == "arith.addi" else -1
        if a.base is not None and b.base is not None and a.base != b.base:
            return Linear(value, 1, 0)
        scale, base = a.scale + sign * b.scale, a.base or b.base
        return Linear(base if scale else None, scale, a.offset + sign * b.offset)
