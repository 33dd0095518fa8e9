"""Data movement in linalg, tensor and arith."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.ops.constraints import element_type_of, shape_of
from ....dialects.upstream.linalg import TensorBuilder, with_element_type
from ....dialects.upstream.stablehlo import i64_array, integer
from ....dialects.upstream.tensor import dynamic_sizes, reassociation, with_shape
from ...rewriting import Miss
from .interface import (
    DYNAMIC,
    Movement,
    Recognizer,
    is_constant,
    is_positive_zero,
    joining,
    same_axes,
)


@dataclass(frozen=True)
class _TensorMovement(Movement):
    def make_zero(self, like: ir.Value, element: ir.Type, ip: ir.InsertionPoint) -> ir.Value:
        build = TensorBuilder(ip, self.op.location)
        zero = build.scalars().constant(0.0, element)
        type_ = with_element_type(like.type, element)
        return build.op("tensor.splat", [zero, *dynamic_sizes(build, like)], type_)


def _empty_like(value: ir.Value, type_: ir.RankedTensorType, ip: ir.InsertionPoint) -> ir.Value:
    """A ``tensor.empty`` of ``type_``, with the dynamic sizes of ``value``."""
    build = TensorBuilder(ip, value.location)
    return build.empty(type_, [(value, dim) for dim in range(type_.rank)])


class _Reassociation(_TensorMovement):
    """tensor.collapse_shape and tensor.expand_shape."""

    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        before, result = data, shape_of(self.op.results[0])
        groups: list[tuple[list[int], list[int]]] = []
        position = 0
        for dims in reassociation(self.op):
            run = slice(position, position + len(dims))
            one = slice(len(groups), len(groups) + 1)
            groups.append(
                (before[run], result[one])
                if len(before) >= len(result)
                else (before[one], result[run])
            )
            position = run.stop
        after = same_axes(groups, scale)
        if after is None or DYNAMIC in after:
            return Miss(f"'{self.op.name}' merges or splits the dimension of a per-axis scale")
        return after

    def move_scale(self, scale: ir.Value, after: list[int], ip: ir.InsertionPoint) -> ir.Value:
        new = self.op.clone(ip).operation
        new.operands[0] = scale
        if "static_output_shape" in new.attributes:
            with new.context:
                new.attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(after)
        new.results[0].set_type(with_shape(scale.type, after))
        return new.results[0]


class _ExtractSlice(_TensorMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        result = shape_of(self.op.results[0])
        if len(result) != len(data):
            return super().axes_after(scale, data)
        offsets = i64_array(self.op, "static_offsets")
        ways = zip(offsets, i64_array(self.op, "static_strides"), result, scale, strict=True)
        cut = (d for d, (*way, n) in enumerate(ways) if n == DYNAMIC or way != [0, 1, n])
        return self.unchanged(scale, cut, "cuts")


class _Pad(_TensorMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        margins = (i64_array(self.op, "static_low"), i64_array(self.op, "static_high"))
        padded = (dim for dim, sizes in enumerate(zip(*margins, strict=True)) if any(sizes))
        return self.unchanged(scale, padded, "pads")

    def retype(self, new: ir.Operation, element: ir.Type) -> None:
        terminator = ir.operations_of(new.regions[0].blocks[0])[-1]
        terminator.operands[0] = (
            TensorBuilder(ir.InsertionPoint(new), new.location).scalars().constant(0.0, element)
        )


class _Concat(_TensorMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        return self.unchanged(scale, [integer(self.op, "dim")], "joins along")


class _Select(_TensorMovement):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        return scale


class _Structured(_TensorMovement):
    """A linalg op with one init, whose elements it overwrites."""

    def retype(self, new: ir.Operation, element: ir.Type) -> None:
        last, ip = len(new.operands) - 1, ir.InsertionPoint(new)
        type_ = ir.RankedTensorType(new.results[0].type)
        new.operands[last] = _empty_like(self.op.operands[last], type_, ip)
        body = new.regions[0].blocks[0]
        for i in (*self.data, last):
            body.arguments[i].set_type(element)
        for op in ir.operations_of(body):
            if op.name == "arith.select":
                for i in (1, 2):
                    if is_positive_zero(op.operands[i]):
                        op.operands[i] = (
                            TensorBuilder(ip, op.location).scalars().constant(0.0, element)
                        )
                op.results[0].set_type(element)


class _Transpose(_Structured):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        if DYNAMIC in scale:
            return super().axes_after(scale, data)
        return [scale[d] for d in i64_array(self.op, "permutation")]

    def move_scale(self, scale: ir.Value, after: list[int], ip: ir.InsertionPoint) -> ir.Value:
        new = self.op.clone(ip).operation
        type_ = with_shape(scale.type, after)
        new.operands[0] = scale
        new.operands[1] = _empty_like(scale, type_, ir.InsertionPoint(new))
        new.results[0].set_type(type_)
        for argument in new.regions[0].blocks[0].arguments:
            argument.set_type(type_.element_type)
        return new.results[0]


class _Copy(_Structured):
    def axes_after(self, scale: list[int], data: list[int]) -> list[int] | Miss:
        return scale


def _copy(op: ir.Operation) -> Movement | None:
    converts = element_type_of(op.operands[0]) != element_type_of(op.results[0])
    return None if converts else _Copy(op)


def _pad(op: ir.Operation) -> Movement | Miss:
    terminator = ir.operations_of(op.regions[0].blocks[0])[-1]
    if not is_positive_zero(terminator.operands[0]):
        return Miss("'tensor.pad' pads with something other than the literal +0")
    return _Pad(op)


def _select(op: ir.Operation) -> Movement | Miss | None:
    is_tensor = isinstance(op.results[0].type, ir.RankedTensorType)
    return joining(_Select, (1, 2))(op) if is_tensor else None


def _generic(op: ir.Operation) -> Movement | Miss | None:
    """A generic whose body yields one input, or selects between it and +0."""
    iterators = ir.ArrayAttr(op.attributes["iterator_types"])
    if len(op.results) != 1 or any("parallel" not in str(i) for i in iterators):
        return None
    body = [o for o in ir.operations_of(op.regions[0].blocks[0]) if o.name != "arith.constant"]
    yielded = body[-1].operands[0]
    if len(body) == 1:
        data = _input_number(op, yielded)
        return None if data is None else _Structured(op, (data,))
    if len(body) > 2 or body[0].name != "arith.select" or ir.defining_op(yielded) != body[0]:
        return None
    if (
        _input_number(op, body[0].operands[0]) is None
        and ir.defining_op(body[0].operands[0]) is None
    ):
        return None
    branches = [b for b in list(body[0].operands)[1:] if not is_positive_zero(b)]
    if any(is_constant(branch) for branch in branches):
        return Miss("'linalg.generic' fills in a constant that is not the literal +0")
    data = _input_number(op, branches[0]) if len(branches) == 1 else None
    return None if data is None else _Structured(op, (data,))


def _input_number(op: ir.Operation, value: ir.Value) -> int | None:
    """Which tensor input of a structured op with one init a body argument stands for."""
    if not isinstance(value.owner, ir.Block) or value.owner != op.regions[0].blocks[0]:
        return None
    number = ir.BlockArgument(value).arg_number
    is_input = number < len(op.operands) - 1
    return (
        number if is_input and isinstance(op.operands[number].type, ir.RankedTensorType) else None
    )


RECOGNIZERS: dict[str, Recognizer] = {
    "arith.select": _select,
    "linalg.broadcast": _Structured,
    "linalg.copy": _copy,
    "linalg.generic": _generic,
    "linalg.transpose": _Transpose,
    "tensor.cast": _TensorMovement,
    "tensor.collapse_shape": _Reassociation,
    "tensor.concat": joining(_Concat),
    "tensor.expand_shape": _Reassociation,
    "tensor.extract_slice": _ExtractSlice,
    "tensor.pad": _pad,
}
