"""Symbolic sizes of JAX programs (``jax.export.symbolic_shape``) become dynamic sizes.

JAX passes the value of each dimension variable as an argument of its own, in
front of the function's. headrace's programs read it off the array that has it,
and check the other arrays that do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...dialects.ir.bindings import (
    Attribute,
    DenseI64ArrayAttr,
    HeadraceError,
    IndexType,
    InsertionPoint,
    IntegerAttr,
    IntegerType,
    Operation,
    RankedTensorType,
    StringAttr,
    Type,
    Value,
    walk,
)
from ...dialects.ir.functions import (
    argument_attributes,
    function_type,
    functions_of,
    set_argument_attributes,
    set_function_type,
)
from ..metadata import function_name

# Argument and dimension, both counted without JAX's own arguments.
Place = tuple[int, int]
VARIABLE = "jax.global_constant"


def places_of(leaves: Sequence[Any]) -> dict[str, list[Place]]:
    """Where each dimension variable is the size of an array.

    Raises HeadraceError for a size that is an expression, such as ``2*b``.
    """
    found: dict[str, list[Place]] = {}
    for index, leaf in enumerate(leaves):
        for dim, size in enumerate(leaf.shape):
            if isinstance(size, int):
                continue
            name = str(size)
            if not name.isidentifier():
                raise HeadraceError(
                    f"dimension {dim} of argument {index} has the symbolic size {name}; headrace "
                    "takes a dimension variable alone, with a name of its own: "
                    "jax.export.symbolic_shape('n')"
                )
            found.setdefault(name, []).append((index, dim))
    return found


def variables_of(function: Operation) -> list[str]:
    """The names of the dimension variables that are a function's first arguments."""
    found: list[str] = []
    for attributes in argument_attributes(function):
        if VARIABLE not in attributes:
            break
        found.append(StringAttr(attributes[VARIABLE]).value)
    return found


def bind_dimensions(module: Operation, places: Mapping[str, Sequence[Place]]) -> None:
    """Replaces the variables of ``@main`` by the sizes of its other arguments.

    Before: @main(%b: tensor<i32> {jax.global_constant = "b"}, %x: tensor<?x4xf32>)
    After:  @main(%x: tensor<?x4xf32>) { %b = stablehlo.get_dimension_size %x, dim = 0 }
    """
    for function in functions_of(module):
        if function_name(function) == "main" and (names := variables_of(function)):
            _bind(function, names, places)
    for op in walk(module):
        if op.name == "stablehlo.dynamic_broadcast_in_dim":
            _say_what_expands(op)


def _bind(function: Operation, names: Sequence[str], places: Mapping[str, Sequence[Place]]) -> None:
    block = function.regions[0].blocks[0]
    count = len(names)
    arguments: list[Value] = list(block.arguments)
    start = InsertionPoint(block.operations[0])
    with function.context, function.location, start:
        for name, variable in zip(names, arguments, strict=False):
            index, dim = places[name][0]
            size = _dimension_size(arguments[count + index], dim)
            if size.type != variable.type:
                size = _op("stablehlo.convert", [size], variable.type)
            variable.replace_all_uses_with(size)
        for name, others in places.items():
            _check_equal(name, [(arguments[count + i], d, i) for i, d in others])
    for _ in names:
        block.erase_argument(0)
    type_ = function_type(function)
    attributes = argument_attributes(function)
    set_function_type(function, type_.inputs[count:], type_.results)
    set_argument_attributes(function, attributes[count:])


def _say_what_expands(op: Operation) -> None:
    """In JAX a size that is expanded is the number 1, never a variable."""
    if any(name.startswith("known_") for name in op.attributes):
        return
    shape = RankedTensorType(op.operands[0].type)
    dynamic = [dim for dim in range(shape.rank) if shape.is_dynamic_dim(dim)]
    expanding = [dim for dim in range(shape.rank) if dim not in dynamic and shape.shape[dim] == 1]
    kept = [dim for dim in range(shape.rank) if dim not in expanding]
    with op.context:
        op.attributes["known_nonexpanding_dimensions"] = DenseI64ArrayAttr.get(kept)
        op.attributes["known_expanding_dimensions"] = DenseI64ArrayAttr.get(expanding)


def _check_equal(name: str, places: Sequence[tuple[Value, int, int]]) -> None:
    """Sizes of one name differ in no call: the program ends with an error then."""
    first = places[0]
    for value, dim, index in places[1:]:
        sizes = [_host_size(v, d) for v, d, _ in (first, (value, dim, index))]
        equal = IntegerAttr.get(IntegerType.get_signless(64), 0)
        same = _op("arith.cmpi", sizes, IntegerType.get_signless(1), {"predicate": equal})
        message = (
            f"dimension {dim} of argument {index} and dimension {first[1]} of argument "
            f"{first[2]} have one size, '{name}'"
        )
        Operation.create("cf.assert", [], [same], {"msg": StringAttr.get(message)})


def _dimension_size(value: Value, dim: int) -> Value:
    i32 = RankedTensorType.get([], IntegerType.get_signless(32))
    number = IntegerAttr.get(IntegerType.get_signless(64), dim)
    return _op("stablehlo.get_dimension_size", [value], i32, {"dimension": number})


def _host_size(value: Value, dim: int) -> Value:
    index = IndexType.get()
    number = _op("arith.constant", [], index, {"value": IntegerAttr.get(index, dim)})
    return _op("tensor.dim", [value, number], index)


def _op(
    name: str,
    operands: Sequence[Value],
    result: Type,
    attributes: Mapping[str, Attribute] | None = None,
) -> Value:
    return Operation.create(name, [result], operands, dict(attributes or {})).results[0]
