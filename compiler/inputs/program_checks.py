"""What is refused of a program before any pass runs, as some never end on it."""

from __future__ import annotations

from ...dialects import ir
from ..metadata import function_name, public_functions
from .contents import Contents

# IREE's own input pipeline converts or keeps these; tokens order JAX's effects.
_FOREIGN_TYPES = ("!hal.", "!stablehlo.token")
# Element types that cannot be passed (quirks.UNPASSED_ELEMENT_TYPE). Inside of a
# program they may well do.
_UNPASSED = {
    "f4E2M1FN": 4,
    "f6E2M3FN": 6,
    "f6E3M2FN": 6,
    "f8E3M4": 8,
    "f8E4M3": 8,
    "f8E4M3B11FNUZ": 8,
    "tf32": 19,
    "f80": 80,
    "index": 64,
}
_CALLEES = {"func.call": "callee", "stablehlo.composite": "decomposition"}


def check_known(contents: Contents) -> None:
    """Raises HeadraceError for an op that is not registered: native passes crash on some."""
    context = contents.module.context
    for name, op in contents.first.items():
        if not name.startswith("headrace.") and not context.is_registered_operation(name):
            raise ir.error_at(op, f"'{name}' cannot be lowered: neither headrace nor IREE knows it")


def check_program(contents: Contents) -> None:
    """Raises HeadraceError for a signature or a recursion that nothing can compile."""
    for function in public_functions(contents.module):
        type_ = ir.function_type(function)
        for role, types in (("argument", type_.inputs), ("result", type_.results)):
            for index, found in enumerate(types):
                if not _crosses_abi(found):
                    raise ir.error_at(
                        function,
                        f"{role} {index} of '{function_name(function)}' has type {found}; "
                        f"a program takes and returns tensors of known rank and numbers"
                        f"{_hint(str(found))}",
                    )
                _check_passed(function, f"{role} {index}", found)
    _check_recursion(contents)


def _check_passed(function: ir.Operation, what: str, type_: ir.Type) -> None:
    """Raises HeadraceError for numbers that IREE's runtime cannot pass."""
    kind = "scalars"
    if isinstance(type_, ir.RankedTensorType):
        kind = "values"
        element = str(type_.element_type)
        width = _UNPASSED.get(element)
        unpassed = None if width is None else element
        hint = "" if width is None else _carried_as(type_, element, width)
    else:
        unpassed = str(type_) if _is_unpassed_scalar(type_) else None
        hint = f": pass tensor<{type_}>"
    if unpassed is not None:
        raise ir.error_at(
            function,
            f"{what} of '{function_name(function)}' has type {type_}, and IREE's runtime passes "
            f"no {unpassed} {kind}{hint}",
        )


def _is_unpassed_scalar(type_: ir.Type) -> bool:
    """IREE's VM has registers of 32 and 64 bits, and no arithmetic on narrow floats."""
    if isinstance(type_, ir.IntegerType):
        return type_.width > 32 and type_.width != 64
    return isinstance(type_, ir.FloatType) and not isinstance(type_, ir.F32Type | ir.F64Type)


def _carried_as(type_: ir.RankedTensorType, element: str, width: int) -> str:
    if element == "index":
        return ": convert it from or to i64 in the program"
    sizes = [None if type_.is_dynamic_dim(i) else type_.shape[i] for i in range(type_.rank)]
    if width == 4:
        if not sizes or sizes[-1] is None or sizes[-1] % 2:
            return ": pass bytes with two values each, which takes an even last dimension"
        sizes[-1] //= 2
    elif width != 8:
        return ": convert it from or to another type in the program"
    carrier = "".join(f"{'?' if size is None else size}x" for size in sizes)
    how = "with the first of two values in the low bits, " if width == 4 else ""
    return (
        f": pass tensor<{carrier}i8>, {how}and bitcast it in the program "
        "(stablehlo.bitcast_convert, or iree_tensor_ext.bitcast)"
    )


def _crosses_abi(type_: ir.Type) -> bool:
    return isinstance(
        type_, ir.RankedTensorType | ir.IntegerType | ir.FloatType | ir.IndexType
    ) or str(type_).startswith(_FOREIGN_TYPES)


def _hint(text: str) -> str:
    if text.startswith("memref"):
        return ": hand in the program as it was before bufferization"
    return ": pass its elements one by one" if text.startswith("tuple") else ""


def _check_recursion(contents: Contents) -> None:
    """All calls are inlined, which has no end where a function calls itself."""
    calls: dict[str, dict[str, ir.Operation]] = {}
    for op in contents.named(*_CALLEES):
        callee = ir.FlatSymbolRefAttr(op.attributes[_CALLEES[op.name]]).value
        calls.setdefault(_enclosing_function(op), {}).setdefault(callee, op)
    done: dict[str, None] = {}
    for root in calls:
        _visit(root, calls, done)


def _visit(root: str, calls: dict[str, dict[str, ir.Operation]], done: dict[str, None]) -> None:
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


def _recursion(call: ir.Operation, path: list[str], callee: str) -> ir.HeadraceError:
    cycle = [*path[path.index(callee) :], callee]
    way = " -> ".join(f"'{name}'" for name in cycle)
    return ir.error_at(
        call,
        f"recursive call ({way}): every call is inlined, which would not end; "
        "write the recursion as a loop, e.g. stablehlo.while",
    )


def _enclosing_function(op: ir.Operation) -> str:
    named = (around for around in ir.ancestors(op) if "sym_name" in around.attributes)
    function = next(named, None)
    return function_name(function) if function is not None else ""
