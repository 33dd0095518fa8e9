"""Ops that neither headrace nor IREE lowers: one error that names op and place."""

from __future__ import annotations

import re

from ..dialects import ir

# What the pipeline has to have turned into ops that IREE takes.
_SOURCE_DIALECTS = ("headrace", "stablehlo", "chlo", "mhlo", "vhlo", "sdy", "torch", "tm_tensor")

# MLIR's words for an op that a conversion had to remove and could not; a
# print of the op, which may be a whole function, follows.
_ILLEGAL = re.compile(r"failed to legalize operation '(?P<name>[^']+)'(?P<op>.*)", re.DOTALL)
# Ops that only call something: the attribute with its name, and what it is called.
_CALLS = {
    "stablehlo.custom_call": ("call_target_name", "call target"),
    "torch.operator": ("name", "operator"),
}
# What torch ops take besides tensors: it goes with the op that takes it.
_READ_BY_OTHERS = ("torch.constant.", "torch.vtensor.literal", "torch.prim.ListConstruct")


def check_lowered(module: ir.Operation) -> None:
    """Raises HeadraceError if an op is left that IREE does not take.

    It would crash: quirks.UNKNOWN_OP.
    """
    registered: dict[str, bool] = {}
    for op in ir.walk(module):
        name = op.name
        if name not in registered:
            dialect = name.partition(".")[0]
            registered[name] = dialect not in _SOURCE_DIALECTS and (
                module.context.is_registered_operation(name)
            )
        if not registered[name]:
            raise ir.error_at(op, _message(name, _callee(op)))


def check_torch_lowered(module: ir.Operation) -> None:
    """Raises HeadraceError at the first torch op that torch-mlir has left.

    For a module after its conversions, before types are converted. Constants
    and lists of them are left only because the op that reads them is.
    """
    for op in ir.walk(module):
        if op.name.startswith("torch.") and not op.name.startswith(_READ_BY_OTHERS):
            raise ir.error_at(op, _message(op.name, _callee(op)))


def explain_unlowered(error: ir.HeadraceError) -> ir.HeadraceError:
    """``error``, or a plain one where a native pass met an op that it cannot lower."""
    first = error.diagnostics[0]
    match = _ILLEGAL.search(first.message)
    if match is None:
        return error
    name, callee = match["name"], None
    if name in _CALLS:
        callee = re.search(rf'\b{_CALLS[name][0]} = "([^"]*)"', match["op"])
    message = _message(name, callee[1] if callee else "")
    return ir.HeadraceError(ir.Diagnostic("error", message, first.file, first.line, first.column))


def without_op(message: str) -> str:
    """MLIR's ``message`` without the print of the op that it ends in."""
    return message.partition(" that was explicitly marked illegal")[0]


def _callee(op: ir.Operation) -> str:
    """What an op that only calls something calls."""
    if op.name not in _CALLS:
        return ""
    return str(op.attributes[_CALLS[op.name][0]]).strip('"')


def _message(name: str, callee: str) -> str:
    call = f" ({_CALLS[name][1]} '{callee}')" if callee else ""
    return (
        f"'{name}'{call} cannot be lowered: neither headrace nor IREE has a lowering "
        "for it, at least not with these types and attributes"
    )
