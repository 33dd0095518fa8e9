"""StableHLO arithmetic on tensors of indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.ops.constraints import element_type_of, shape_of
from ....dialects.upstream.stablehlo import build, reshape, splat_constant


@dataclass(frozen=True)
class IndexBuilder:
    """A place where StableHLO ops are made; shapes are static."""

    ip: ir.InsertionPoint
    loc: ir.Location

    def op(
        self,
        name: str,
        operands: Sequence[ir.Value],
        shape: Sequence[int],
        element: ir.Type,
        attributes: dict[str, ir.Attribute] | None = None,
    ) -> ir.Value:
        type_ = ir.RankedTensorType.get(list(shape), element, loc=self.loc)
        return build(name, operands, type_, loc=self.loc, ip=self.ip, attributes=attributes)

    def constant(self, value: float, like: ir.Value, shape: Sequence[int]) -> ir.Value:
        """``value`` everywhere, in the element type of ``like``."""
        element = element_type_of(like)
        number: ir.Attribute
        if isinstance(element, ir.FloatType):
            number = ir.FloatAttr.get(element, value, loc=self.loc)
        else:
            number = ir.IntegerAttr.get(element, int(value))
        return splat_constant(number, element, shape, loc=self.loc, ip=self.ip)

    def array(self, *values: int) -> ir.Attribute:
        with self.loc.context:
            return ir.DenseI64ArrayAttr.get(list(values))

    def reshape(self, value: ir.Value, shape: Sequence[int]) -> ir.Value:
        """The value itself where it is of that shape."""
        if list(shape) == shape_of(value):
            return value
        return reshape(value, shape, loc=self.loc, ip=self.ip)

    def slice(self, value: ir.Value, starts: Sequence[int], limits: Sequence[int]) -> ir.Value:
        """``value[starts:limits]``."""
        sizes = [limit - start for start, limit in zip(starts, limits, strict=True)]
        attributes = {
            "start_indices": self.array(*starts),
            "limit_indices": self.array(*limits),
            "strides": self.array(*(1 for _ in starts)),
        }
        return self.op("slice", [value], sizes, element_type_of(value), attributes)

    def component(self, indices: ir.Value, dim: int, number: int) -> ir.Value:
        """One component of index vectors, which lie along ``dim``; that dim stays, of
        size 1. All of ``indices`` where ``dim`` is past its last: they have one."""
        shape = shape_of(indices)
        if dim == len(shape):
            return self.reshape(indices, [*shape, 1])
        starts = [number if d == dim else 0 for d in range(len(shape))]
        limits = [number + 1 if d == dim else size for d, size in enumerate(shape)]
        return self.slice(indices, starts, limits)

    def vectors(self, components: Sequence[ir.Value], dim: int, like: ir.Value) -> ir.Value:
        """Index vectors of components, in the shape of ``like``."""
        shape = shape_of(like)
        if len(components) == 1:
            return self.reshape(components[0], shape)
        i64 = ir.IntegerType.get_signless(64, self.loc.context)
        attributes: dict[str, ir.Attribute] = {"dimension": ir.IntegerAttr.get(i64, dim)}
        return self.op("concatenate", components, shape, element_type_of(like), attributes)

    def clamped(self, value: ir.Value, most: int) -> ir.Value:
        """Between 0 and ``most``."""
        low, high = (self.constant(n, value, []) for n in (0, representable(value, most)))
        return self.op("clamp", [low, value, high], shape_of(value), element_type_of(value))

    def compare(self, direction: str, a: ir.Value, b: ir.Value) -> ir.Value:
        with self.loc.context:
            attributes = {
                "comparison_direction": ir.Attribute.parse(
                    f"#stablehlo<comparison_direction {direction}>"
                )
            }
            boolean = ir.IntegerType.get_signless(1)
        return self.op("compare", [a, b], shape_of(a), boolean, attributes)

    def both(self, a: ir.Value | None, b: ir.Value) -> ir.Value:
        return b if a is None else self.op("and", [a, b], shape_of(b), element_type_of(b))

    def select(self, condition: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
        return self.op("select", [condition, a, b], shape_of(a), element_type_of(a))

    def broadcast(self, value: ir.Value, shape: Sequence[int], dims: Sequence[int]) -> ir.Value:
        attributes = {"broadcast_dimensions": self.array(*dims)}
        return self.op("broadcast_in_dim", [value], shape, element_type_of(value), attributes)


def representable(value: ir.Value, number: int) -> int:
    """The number, or the greatest that the integer type has."""
    type_ = element_type_of(value)
    assert isinstance(type_, ir.IntegerType)
    return min(number, 2 ** (type_.width - (0 if type_.is_unsigned else 1)) - 1)
