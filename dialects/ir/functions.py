"""Reads and changes the signature of a ``func.func``."""

from __future__ import annotations

from collections.abc import Sequence

from .bindings import (
    ArrayAttr,
    Attribute,
    DictAttr,
    FunctionType,
    Operation,
    StringAttr,
    Type,
    TypeAttr,
    operations_of,
)

Attributes = dict[str, Attribute]

# On an argument that the caller gives away: its buffer may hold something else after the call.
DONATED = "headrace.donated"


def functions_of(module: Operation) -> list[Operation]:
    """The ``func.func`` ops directly in a module, in program order."""
    return [op for op in operations_of(module.regions[0].blocks[0]) if op.name == "func.func"]


def function_type(function: Operation) -> FunctionType:
    return FunctionType(TypeAttr(function.attributes["function_type"]).value)


def is_public(function: Operation) -> bool:
    """Whether others may call it, as they may what says nothing of that."""
    attributes = function.attributes
    return (
        "sym_visibility" not in attributes
        or StringAttr(attributes["sym_visibility"]).value == "public"
    )


def argument_attributes(function: Operation) -> list[Attributes]:
    """One dictionary per argument; empty where an argument has none."""
    return _read(function, "arg_attrs", len(function_type(function).inputs))


def result_attributes(function: Operation) -> list[Attributes]:
    """One dictionary per result; empty where a result has none."""
    return _read(function, "res_attrs", len(function_type(function).results))


def set_argument_attributes(function: Operation, values: Sequence[Attributes]) -> None:
    _write(function, "arg_attrs", values)


def set_result_attributes(function: Operation, values: Sequence[Attributes]) -> None:
    _write(function, "res_attrs", values)


def set_function_type(function: Operation, inputs: Sequence[Type], results: Sequence[Type]) -> None:
    """Changes the signature; the caller changes arguments and returns."""
    with function.context:
        type_ = FunctionType.get(list(inputs), list(results))
        function.attributes["function_type"] = TypeAttr.get(type_)


def _read(function: Operation, name: str, count: int) -> list[Attributes]:
    if name not in function.attributes:
        return [{} for _ in range(count)]
    entries = ArrayAttr(function.attributes[name])
    return [{named.name: named.attr for named in DictAttr(entry)} for entry in entries]


def _write(function: Operation, name: str, values: Sequence[Attributes]) -> None:
    if any(values):
        with function.context:
            entries = [DictAttr.get(dict(v)) for v in values]
            function.attributes[name] = ArrayAttr.get(entries)
    elif name in function.attributes:
        del function.attributes[name]
