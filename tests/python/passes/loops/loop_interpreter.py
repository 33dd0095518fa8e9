"""Runs small SPMD functions in Python, op by op, on all devices at once.

Slow, but exact about what compilers hide: how often each collective runs, in
what order ops with effects run, and whether a slice is out of bounds. A
tensor is ``[devices, *shape]``; a scalar integer is one Python int in the
signed range of its type (64 bits for ``index``), the same on all devices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from collective_reference import (
    DTYPES,
    all_gather,
    all_reduce,
    all_to_all,
    collective_permute,
    reduce_scatter,
)
from headrace.compiler.iree.element_types import Array
from headrace.dialects import ir
from headrace.dialects.headrace import CollectiveOp
from headrace.dialects.upstream.arith import INTEGER_PREDICATES

Scalar = int
Data = Array | Scalar

_POISON = 0x5A  # what an empty tensor holds


class EndlessLoopError(Exception):
    """A loop ran longer than any test means to."""


@dataclass
class Machine:
    """Devices that run one function, and what they did."""

    devices: int
    longest_loop: int = 300
    # Per kind: how many times one ran.
    collectives: Counter[str] = field(default_factory=Counter[str])
    pipelined: int = 0  # how many of all those that ran are marked so
    # What `test.effect` saw, in order.
    effects: list[bytes] = field(default_factory=list[bytes])

    def call(self, function: ir.Operation, arguments: Sequence[Data]) -> list[Data]:
        """The results of a function with one block."""
        block = function.regions[0].blocks[0]
        values: dict[ir.Value, Data] = dict(zip(block.arguments, arguments, strict=True))
        return self._block(block, values)

    def full(self, type_: ir.Type, value: int) -> Array:
        """A tensor of one value."""
        return np.full(self._shape(type_), value, _dtype(type_))

    def _block(self, block: ir.Block, values: dict[ir.Value, Data]) -> list[Data]:
        *ops, terminator = ir.operations_of(block)
        for op in ops:
            results = self._op(op, values)
            values.update(zip(op.results, results, strict=True))
        return [values[v] for v in terminator.operands]

    def _op(self, op: ir.Operation, values: dict[ir.Value, Data]) -> list[Data]:
        operands = [values[v] for v in op.operands]
        if isinstance(op.opview, CollectiveOp):
            return [self._collective(op, operands[0])]
        control = _CONTROL.get(op.name)
        if control is not None:
            return control(self, op, operands, values)
        return [self._plain(op, operands)]

    def _collective(self, op: ir.Operation, value: Data) -> Array:
        view = op.opview
        assert isinstance(view, CollectiveOp)
        assert not isinstance(value, Scalar)
        kind = op.name.removeprefix("headrace.")
        self.collectives[kind] += 1
        self.pipelined += ir.BoolAttr(op.attributes["pipelined"]).value

        def number(name: str) -> int:
            return ir.IntegerAttr(op.attributes[name]).value

        if kind == "all_gather":
            return all_gather(value, number("dim"), view.groups)
        if kind == "collective_permute":
            return collective_permute(value, view.pairs)  # pyright: ignore
        if kind == "all_to_all":
            return all_to_all(value, number("split_dim"), number("concat_dim"), view.groups)
        reduction = ir.StringAttr(op.attributes["reduction"]).value
        if kind == "all_reduce":
            return all_reduce(value, reduction, view.groups)
        return reduce_scatter(value, number("dim"), reduction, view.groups)

    def _plain(self, op: ir.Operation, operands: Sequence[Data]) -> Data:
        name, type_ = op.name, op.results[0].type
        if name == "test.effect":
            self.effects.append(np.asarray(operands[0]).tobytes())
            return operands[0]
        if name in ("util.optimization_barrier", "test.opaque"):
            return operands[0]
        if name == "arith.constant":
            return self._constant(op, type_)
        if name == "tensor.empty":
            return np.full(self._shape(type_), _POISON, _dtype(type_))
        if name == "tensor.from_elements":
            return np.full(self._shape(type_), _only(operands[0]), _dtype(type_))
        if name == "tensor.extract":
            tensor = _array(operands[0])
            assert (tensor == tensor[0]).all(), "a scalar that differs between devices"
            return int(tensor[(0, *(_only(i) for i in operands[1:]))])
        if name == "tensor.extract_slice":
            tensor = _array(operands[0])
            return tensor[self._window(op, tensor, operands[1:])].reshape(self._shape(type_))
        if name == "tensor.insert_slice":
            source, into = _array(operands[0]), _array(operands[1]).copy()
            window = self._window(op, into, operands[2:])
            into[window] = source.reshape(into[window].shape)
            return into
        return _arithmetic(op, operands, type_)

    def _constant(self, op: ir.Operation, type_: ir.Type) -> Data:
        attribute = op.attributes["value"]
        if isinstance(attribute, ir.IntegerAttr | ir.BoolAttr):
            return _wrap(int(attribute.value), type_)
        if isinstance(ir.RankedTensorType(type_).element_type, ir.FloatType):
            value = ir.FloatAttr(ir.DenseElementsAttr(attribute).get_splat_value()).value
            return np.full(self._shape(type_), value, _dtype(type_))
        elements = ir.DenseIntElementsAttr(attribute)
        # The bindings give elements of type index as unsigned.
        flat = np.array([int(v) % (1 << 64) for v in elements], np.uint64)
        one = flat.astype(_dtype(type_)).reshape(ir.RankedTensorType(type_).shape)
        return np.stack([one] * self.devices)

    def _shape(self, type_: ir.Type) -> list[int]:
        return [self.devices, *ir.RankedTensorType(type_).shape]

    def _window(
        self, op: ir.Operation, tensor: Array, dynamic: Sequence[Data]
    ) -> tuple[slice, ...]:
        offsets, sizes, strides = (
            list(ir.DenseI64ArrayAttr(op.attributes[f"static_{part}"]))
            for part in ("offsets", "sizes", "strides")
        )
        given = iter(dynamic)
        places = [
            _only(next(given)) if offset == ir.ShapedType.get_dynamic_size() else offset
            for offset in offsets
        ]
        assert all(stride == 1 for stride in strides)
        for place, size, extent in zip(places, sizes, tensor.shape[1:], strict=True):
            assert 0 <= place <= extent - size, f"{op} is out of bounds"
        return (slice(None), *(slice(p, p + s) for p, s in zip(places, sizes, strict=True)))

    def _for(
        self, op: ir.Operation, operands: list[Data], values: dict[ir.Value, Data]
    ) -> list[Data]:
        lower, upper, step = (_only(v) for v in operands[:3])
        type_ = op.operands[0].type
        if "unsignedCmp" in op.attributes:
            lower, upper, step = (v % (1 << _width(type_)) for v in (lower, upper, step))
        assert step > 0
        block = op.regions[0].blocks[0]
        carried = operands[3:]
        for index in self._limited(range(lower, upper, step)):
            values.update(zip(block.arguments, [_wrap(index, type_), *carried], strict=True))
            carried = self._block(block, values)
        return carried

    def _limited(self, trips: range) -> range:
        if len(trips) > self.longest_loop:
            raise EndlessLoopError
        return trips

    def _while(
        self, op: ir.Operation, operands: list[Data], values: dict[ir.Value, Data]
    ) -> list[Data]:
        before, after = (region.blocks[0] for region in op.regions)
        carried = operands
        for _ in range(self.longest_loop):
            values.update(zip(before.arguments, carried, strict=True))
            condition, *forwarded = self._block(before, values)
            if not condition:
                return forwarded
            values.update(zip(after.arguments, forwarded, strict=True))
            carried = self._block(after, values)
        raise EndlessLoopError

    def _if(
        self, op: ir.Operation, operands: list[Data], values: dict[ir.Value, Data]
    ) -> list[Data]:
        region = op.regions[0 if operands[0] else 1]
        return self._block(region.blocks[0], values)

    def _generic(
        self, op: ir.Operation, operands: list[Data], values: dict[ir.Value, Data]
    ) -> list[Data]:
        """Rank-0 tensors of integers only."""
        block = op.regions[0].blocks[0]
        scalars = [int(_array(v).flat[0]) for v in operands]
        values.update(zip(block.arguments, scalars, strict=True))
        results = self._block(block, values)
        return [
            np.full(self._shape(result.type), _only(v), _dtype(result.type))
            for result, v in zip(op.results, results, strict=True)
        ]


_CONTROL: dict[
    str, Callable[[Machine, ir.Operation, list[Data], dict[ir.Value, Data]], list[Data]]
] = {
    "scf.for": Machine._for,
    "scf.while": Machine._while,
    "scf.if": Machine._if,
    "linalg.generic": Machine._generic,
}


def _only(value: Data) -> int:
    assert isinstance(value, Scalar)
    return value


def _array(value: Data) -> Array:
    assert not isinstance(value, Scalar)
    return value


def _width(type_: ir.Type) -> int:
    return type_.width if isinstance(type_, ir.IntegerType) else 64


def _dtype(type_: ir.Type) -> np.dtype[np.generic]:
    element = str(ir.RankedTensorType(type_).element_type)
    return DTYPES["i64" if element == "index" else element]


def _wrap(value: int, type_: ir.Type) -> int:
    width = _width(type_)
    value %= 1 << width
    return value - (1 << width) if value >> (width - 1) else value


_RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_BINARY: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "minsi": min,
    "maxsi": max,
}
_UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "divui": lambda a, b: a // b,
    "ceildivui": lambda a, b: -(-a // b),
}


def _arithmetic(op: ir.Operation, operands: Sequence[Data], type_: ir.Type) -> Data:
    name = op.name.removeprefix("arith.")
    if isinstance(type_, ir.RankedTensorType):
        a, b = (_array(v) for v in operands)
        function = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[name[:-1]]
        with np.errstate(over="ignore"):
            return function(a, b)
    if name == "select":
        return operands[1] if operands[0] else operands[2]
    numbers = [_only(v) for v in operands]
    size = 1 << _width(op.operands[0].type)
    if name == "cmpi":
        predicate = INTEGER_PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
        if predicate.startswith("u"):
            numbers = [n % size for n in numbers]
        return int(_RELATIONS[predicate.lstrip("su")](*numbers))
    if name in _BINARY:
        return _wrap(_BINARY[name](*numbers), type_)
    if name in _UNSIGNED:
        return _wrap(_UNSIGNED[name](*(n % size for n in numbers)), type_)
    if name in ("index_cast", "extsi", "trunci"):
        return _wrap(numbers[0], type_)
    if name in ("index_castui", "extui"):
        return _wrap(numbers[0] % size, type_)
    raise NotImplementedError(op.name)
