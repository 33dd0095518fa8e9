"""Symbolic sizes of JAX programs (``jax.export.symbolic_shape``) become dynamic sizes.

JAX passes the value of each dimension variable as an argument of its own, in
front of the function's. headrace's programs read it off the array that has it,
and check the other arrays that do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...dialects import ir
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
                raise ir.HeadraceError(
                    f"dimension {dim} of argument {index} has the symbolic size {name}; headrace "
                    "takes a dimension variable alone, with a name of its own: "
                    "jax.export.symbolic_shape('n')"
                )
            found.setdefault(name, []).append((index, dim))
    return found


def variables_of(function: ir.Operation) -> list[str]:
    """The names of the dimension variables that are a function's first arguments."""
    found: list[str] = []
    for attributes in ir.argument_attributes(function):
        if VARIABLE not in attributes:
            break
        found.append(ir.StringAttr(attributes[VARIABLE]).value)
    return found


def bind_dimensions(module: ir.Operation, places: Mapping[str, Sequence[Place]]) -> None:
    """Replaces the variables of ``@main`` by the sizes of its other arguments.

    Before: @main(%b: tensor<i32> {jax.global_constant = "b"}, %x: tensor<?x4xf32>)
    After:  @main(%x: tensor<?x4xf32>) { %b = stablehlo.get_dimension_size %x, dim = 0 }
    """
    for function in ir.functions_of(module):
        if function_name(function) == "main" and (names := variables_of(function)):
            _bind(function, names, places)
    for op in ir.walk(module):
        if op.name == "stablehlo.dynamic_broadcast_in_dim":
            _say_what_expands(op)


def _bind(
    function: ir.Operation, names: Sequence[str], places: Mapping[str, Sequence[Place]]
) -> None:
    block = function.regions[0].blocks[0]
    count = len(names)
    arguments: list[ir.Value] = list(block.arguments)
    start = ir.InsertionPoint(block.operations[0])
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
    type_ = ir.function_type(function)
    attributes = ir.argument_attributes(function)
    ir.set_function_type(function, type_.inputs[count:], type_.results)
    ir.set_argument_attributes(function, attributes[count:])


def _say_what_expands(op: ir.Operation) -> None:
    """In JAX a size that is expanded is the number 1, never a variable."""
    if any(name.startswith("known_") for name in op.attributes):
        return
    shape = ir.RankedTensorType(op.operands[0].type)
    dynamic = [dim for dim in range(shape.rank) if shape.is_dynamic_dim(dim)]
    expanding = [dim for dim in range(shape.rank) if dim not in dynamic and shape.shape[dim] == 1]
    kept = [dim for dim in range(shape.rank) if dim not in expanding]
    with op.context:
        op.attributes["known_nonexpanding_dimensions"] = ir.DenseI64ArrayAttr.get(kept)
        op.attributes["known_expanding_dimensions"] = ir.DenseI64ArrayAttr.get(expanding)


def _check_equal(name: str, places: Sequence[tuple[ir.Value, int, int]]) -> None:
    """Sizes of one name differ in no call: the program ends with an error then."""
    first = places[0]
    for value, dim, index in places[1:]:
        sizes = [_host_size(v, d) for v, d, _ in (first, (value, dim, index))]
        equal = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
        same = _op("arith.cmpi", sizes, ir.IntegerType.get_signless(1), {"predicate": equal})
        message = (
            f"dimension {dim} of argument {index} and dimension {first[1]} of argument "
            f"{first[2]} have one size, '{name}'"
        )
        ir.Operation.create("cf.assert", [], [same], {"msg": ir.StringAttr.get(message)})


def _dimension_size(value: ir.Value, dim: int) -> ir.Value:
    i32 = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dim)
    return _op("stablehlo.get_dimension_size", [value], i32, {"dimension": number})


def _host_size(value: ir.Value, dim: int) -> ir.Value:
    index = ir.IndexType.get()
    number = _op("arith.constant", [], index, {"value": ir.IntegerAttr.get(index, dim)})
    return _op("tensor.dim", [value, number], index)


def _op(
    name: str,
    operands: Sequence[ir.Value],
    result: ir.Type,
    attributes: Mapping[str, ir.Attribute] | None = None,
) -> ir.Value:
    return ir.Operation.create(name, [result], operands, dict(attributes or {})).results[0]
