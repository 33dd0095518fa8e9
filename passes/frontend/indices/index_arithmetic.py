"""StableHLO arithmetic on tensors of indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects.ir.bindings import (
    Attribute,
    DenseI64ArrayAttr,
    FloatAttr,
    FloatType,
    InsertionPoint,
    IntegerAttr,
    IntegerType,
    Location,
    RankedTensorType,
    Type,
    Value,
)
from ....dialects.ops.constraints import shape_of
from ....dialects.upstream.stablehlo import build, reshape, splat_constant


@dataclass(frozen=True)
class IndexBuilder:
    """A place where StableHLO ops are made; shapes are static."""

    ip: InsertionPoint
    loc: Location

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        shape: Sequence[int],
        element: Type,
        attributes: dict[str, Attribute] | None = None,
    ) -> Value:
        type_ = RankedTensorType.get(list(shape), element, loc=self.loc)
        return build(name, operands, type_, loc=self.loc, ip=self.ip, attributes=attributes)

    def constant(self, value: float, like: Value, shape: Sequence[int]) -> Value:
        """``value`` everywhere, in the element type of ``like``."""
        element = element_type(like)
        number: Attribute
        if isinstance(element, FloatType):
            number = FloatAttr.get(element, value, loc=self.loc)
        else:
            number = IntegerAttr.get(element, int(value))
        return splat_constant(number, element, shape, loc=self.loc, ip=self.ip)

    def array(self, *values: int) -> Attribute:
        with self.loc.context:
            return DenseI64ArrayAttr.get(list(values))

    def reshape(self, value: Value, shape: Sequence[int]) -> Value:
        """The value itself where it is of that shape."""
        if list(shape) == shape_of(value):
            return value
        return reshape(value, shape, loc=self.loc, ip=self.ip)

    def slice(self, value: Value, starts: Sequence[int], limits: Sequence[int]) -> Value:
        """``value[starts:limits]``."""
        sizes = [limit - start for start, limit in zip(starts, limits, strict=True)]
        attributes = {
            "start_indices": self.array(*starts),
            "limit_indices": self.array(*limits),
            "strides": self.array(*(1 for _ in starts)),
        }
        return self.op("slice", [value], sizes, element_type(value), attributes)

    def component(self, indices: Value, dim: int, number: int) -> Value:
        """One component of index vectors, which lie along ``dim``; that dim stays, of
        size 1. All of ``indices`` where ``dim`` is past its last: they have one."""
        shape = shape_of(indices)
        if dim == len(shape):
            return self.reshape(indices, [*shape, 1])
        starts = [number if d == dim else 0 for d in range(len(shape))]
        limits = [number + 1 if d == dim else size for d, size in enumerate(shape)]
        return self.slice(indices, starts, limits)

    def vectors(self, components: Sequence[Value], dim: int, like: Value) -> Value:
        """Index vectors of components, in the shape of ``like``."""
        shape = shape_of(like)
        if len(components) == 1:
            return self.reshape(components[0], shape)
        i64 = IntegerType.get_signless(64, self.loc.context)
        attributes: dict[str, Attribute] = {"dimension": IntegerAttr.get(i64, dim)}
        return self.op("concatenate", components, shape, element_type(like), attributes)

    def clamped(self, value: Value, most: int) -> Value:
        """Between 0 and ``most``."""
        low, high = (self.constant(n, value, []) for n in (0, representable(value, most)))
        return self.op("clamp", [low, value, high], shape_of(value), element_type(value))

    def inside(self, value: Value, most: int) -> Value:
        """Whether each element is between 0 and ``most``."""
        # What is outside is another number once it is clamped.
        return self.compare("EQ", self.clamped(value, most), value)

    def compare(self, direction: str, a: Value, b: Value) -> Value:
        with self.loc.context:
            attributes = {
                "comparison_direction": Attribute.parse(
                    f"#stablehlo<comparison_direction {direction}>"
                )
            }
            boolean = IntegerType.get_signless(1)
        return self.op("compare", [a, b], shape_of(a), boolean, attributes)

    def both(self, a: Value | None, b: Value) -> Value:
        return b if a is None else self.op("and", [a, b], shape_of(b), element_type(b))

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        return self.op("select", [condition, a, b], shape_of(a), element_type(a))

    def broadcast(self, value: Value, shape: Sequence[int], dims: Sequence[int]) -> Value:
        attributes = {"broadcast_dimensions": self.array(*dims)}
        return self.op("broadcast_in_dim", [value], shape, element_type(value), attributes)


def element_type(value: Value) -> Type:
    return RankedTensorType(value.type).element_type


def representable(value: Value, number: int) -> int:
    """The number, or the greatest that the integer type has."""
    type_ = element_type(value)
    assert isinstance(type_, IntegerType)
    return min(number, 2 ** (type_.width - (0 if type_.is_unsigned else 1)) - 1)
