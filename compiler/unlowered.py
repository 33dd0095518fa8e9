"""Ops that neither headrace nor IREE lowers: one error that names op and place."""

from __future__ import annotations

import re

from ..dialects.mlir import Diagnostic, HeadraceError, Operation, error_at, walk

# What the pipeline has to have turned into ops that IREE takes.
_SOURCE_DIALECTS = ("headrace", "stablehlo", "chlo", "mhlo", "vhlo", "sdy", "torch", "tm_tensor")

# MLIR's words for an op that a conversion had to remove and could not; a
# print of the op, which may be a whole function, follows.
_ILLEGAL = re.compile(r"failed to legalize operation '(?P<name>[^']+)'(?P<op>.*)", re.DOTALL)
_CALL_TARGET = re.compile(r'call_target_name = "([^"]*)"')


def check_lowered(module: Operation) -> None:
    """Raises HeadraceError if an op is left that IREE does not take.

    3.13 crashes on any op that it does not know.
    """
    registered: dict[str, bool] = {}
    for op in walk(module):
        name = op.name
        if name not in registered:
            dialect = name.partition(".")[0]
            registered[name] = dialect not in _SOURCE_DIALECTS and (
                module.context.is_registered_operation(name)
            )
        if not registered[name]:
            target = str(op.attributes["call_target_name"]) if _is_custom_call(name) else ""
            raise error_at(op, _message(name, target.strip('"')))


def explain_unlowered(error: HeadraceError) -> HeadraceError:
    """``error``, or a plain one where a native pass met an op that it cannot lower."""
    first = error.diagnostics[0]
    match = _ILLEGAL.search(first.message)
    if match is None:
        return error
    target = _CALL_TARGET.search(match["op"]) if _is_custom_call(match["name"]) else None
    message = _message(match["name"], target[1] if target else "")
    return HeadraceError(Diagnostic("error", message, first.file, first.line, first.column))


def without_op(message: str) -> str:
    """MLIR's ``message`` without the print of the op that it ends in."""
    return message.partition(" that was explicitly marked illegal")[0]


def _is_custom_call(name: str) -> bool:
    return name == "stablehlo.custom_call"


def _message(name: str, target: str) -> str:
    call = f" (call target '{target}')" if target else ""
    return (
        f"'{name}'{call} cannot be lowered: neither headrace nor IREE has a lowering "
        "for it, at least not with these types and attributes"
    )
