"""Reads and builds ops of torch-mlir's dialect ``torch``: its tensor types, its constants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .. import ir
from .arith import Scalars

UNKNOWN = -1
"""The size of a dimension that is known at run time only."""

_TENSOR = re.compile(r"!torch\.vtensor<\[([^\]]*)\],(\w+)>")
DTYPES = {"f16": 5, "f32": 6, "f64": 7, "bf16": 15}
"""torch.dtype as a number, from c10/core/ScalarType.h."""


@dataclass(frozen=True)
class TorchTensor:
    """``!torch.vtensor<[sizes],element>``; ``element`` as MLIR writes it."""

    sizes: tuple[int, ...]
    element: str

    @classmethod
    def of(cls, value: ir.Value) -> TorchTensor | None:
        """The type of a value; None for any but a tensor of known rank and elements."""
        match = _TENSOR.fullmatch(str(value.type))
        if match is None:
            return None
        sizes = (UNKNOWN if size == "?" else int(size) for size in match[1].split(",") if size)
        return cls(tuple(sizes), match[2])

    def sized(self, sizes: Sequence[int]) -> TorchTensor:
        return replace(self, sizes=tuple(sizes))

    def __str__(self) -> str:
        sizes = ",".join("?" if size == UNKNOWN else str(size) for size in self.sizes)
        return f"!torch.vtensor<[{sizes}],{self.element}>"


def torch_constant(value: ir.Value) -> float | None:
    """The number, or the truth, that a ``torch.constant.*`` op gives; else None."""
    op = ir.defining_op(value)
    if op is None or op.name not in _CONSTANTS:
        return None
    return _CONSTANTS[op.name](op.attributes["value"]).value


_CONSTANTS: dict[str, type[ir.IntegerAttr | ir.FloatAttr | ir.BoolAttr]] = {
    "torch.constant.int": ir.IntegerAttr,
    "torch.constant.float": ir.FloatAttr,
    "torch.constant.bool": ir.BoolAttr,
}


def is_none(value: ir.Value) -> bool:
    return str(value.type) == "!torch.none"


@dataclass(frozen=True)
class TorchBuilder:
    """A place where torch ops are made."""

    ip: ir.InsertionPoint
    loc: ir.Location

    def aten(self, name: str, operands: Sequence[ir.Value], type_: TorchTensor | str) -> ir.Value:
        """``torch.aten.<name>``, with one result."""
        return self._op(f"aten.{name}", operands, str(type_), {})

    def int_(self, value: int) -> ir.Value:
        attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, self.loc.context), value)
        return self._op("constant.int", [], "!torch.int", {"value": attribute})

    def float_(self, value: float) -> ir.Value:
        attribute = ir.FloatAttr.get(ir.F64Type.get(self.loc.context), value, loc=self.loc)
        return self._op("constant.float", [], "!torch.float", {"value": attribute})

    def bool_(self, value: bool) -> ir.Value:
        attribute = ir.BoolAttr.get(value, context=self.loc.context)
        return self._op("constant.bool", [], "!torch.bool", {"value": attribute})

    def none(self) -> ir.Value:
        return self._op("constant.none", [], "!torch.none", {})

    def ints(self, values: Sequence[int | ir.Value]) -> ir.Value:
        """A list of integers."""
        items = [v if isinstance(v, ir.Value) else self.int_(v) for v in values]
        return self._op("prim.ListConstruct", items, "!torch.list<int>", {})

    def size(self, tensor: ir.Value, sizes: Sequence[int], dim: int) -> ir.Value:
        """The size of a dimension of ``tensor``, whose type has ``sizes``."""
        if sizes[dim] != UNKNOWN:
            return self.int_(sizes[dim])
        return self.aten("size.int", [tensor, self.int_(dim)], "!torch.int")

    def convert(self, tensor: ir.Value, element: str) -> ir.Value:
        """``tensor.to(dtype)``; nothing where it has that type. ``element`` is a float type."""
        type_ = TorchTensor.of(tensor)
        assert type_ is not None
        if type_.element == element:
            return tensor
        no = self.bool_(False)
        operands = [tensor, self.int_(DTYPES[element]), no, no, self.none()]
        return self.aten("to.dtype", operands, replace(type_, element=element))

    def _op(
        self,
        name: str,
        operands: Sequence[ir.Value],
        type_: str,
        attributes: dict[str, ir.Attribute],
    ) -> ir.Value:
        result = ir.Type.parse(type_, self.loc.context)
        return Scalars(self.ip, self.loc).op(f"torch.{name}", [*operands], result, attributes)
