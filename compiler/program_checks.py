"""What is refused of a program before any pass runs, as some never end on it."""

from __future__ import annotations

from ..dialects.functions import function_type
from ..dialects.mlir import (
    FlatSymbolRefAttr,
    FloatType,
    HeadraceError,
    IndexType,
    IntegerType,
    Operation,
    RankedTensorType,
    Type,
    error_at,
    walk,
)
from .metadata import function_name, public_functions

# IREE's own input pipeline converts or keeps these; tokens order JAX's effects.
_FOREIGN_TYPES = ("!hal.", "!stablehlo.token")
_CALLEES = {"func.call": "callee", "stablehlo.composite": "decomposition"}


def check_program(module: Operation) -> None:
    """Raises HeadraceError for a signature or a recursion that nothing can compile."""
    for function in public_functions(module):
        type_ = function_type(function)
        for role, types in (("argument", type_.inputs), ("result", type_.results)):
            for index, found in enumerate(types):
                if not _crosses_abi(found):
                    raise error_at(
                        function,
                        f"{role} {index} of '{function_name(function)}' has type {found}; "
                        f"a program takes and returns tensors of known rank and numbers"
                        f"{_hint(str(found))}",
                    )
    _check_recursion(module)


def _crosses_abi(type_: Type) -> bool:
    return isinstance(type_, RankedTensorType | IntegerType | FloatType | IndexType) or str(
        type_
    ).startswith(_FOREIGN_TYPES)


def _hint(text: str) -> str:
    if text.startswith("memref"):
        return ": hand in the program as it was before bufferization"
    return ": pass its elements one by one" if text.startswith("tuple") else ""


def _check_recursion(module: Operation) -> None:
    """All calls are inlined, which has no end where a function calls itself."""
    calls: dict[str, dict[str, Operation]] = {}
    for op in walk(module):
        if (key := _CALLEES.get(op.name)) is not None:
            callee = FlatSymbolRefAttr(op.attributes[key]).value
            calls.setdefault(_enclosing_function(op), {}).setdefault(callee, op)
    done: dict[str, None] = {}
    for root in calls:
        _visit(root, calls, done)


def _visit(root: str, calls: dict[str, dict[str, Operation]], done: dict[str, None]) -> None:
    """Depth first without Python's own recursion: chains of calls may be long."""
    path = {root: iter(calls.get(root, {}))}
    while path:
        current = next(reversed(path))
        callee = next(path[current], None)
        if callee is None:
            del path[current]
            done[current] = None
        elif callee in path:
            raise _recursion(calls[current][callee], [*path], callee)
        elif callee not in done:
            path[callee] = iter(calls.get(callee, {}))


def _recursion(call: Operation, path: list[str], callee: str) -> HeadraceError:
    cycle = [*path[path.index(callee) :], callee]
    way = " -> ".join(f"'{name}'" for name in cycle)
    return error_at(
        call,
        f"recursive call ({way}): every call is inlined, which would not end; "
        "write the recursion as a loop, e.g. stablehlo.while",
    )


def _enclosing_function(op: Operation) -> str:
    parent = op.parent
    while parent is not None and "sym_name" not in parent.attributes:
        parent = parent.parent
    return function_name(parent.operation) if parent is not None else ""
