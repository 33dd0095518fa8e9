"""Ops that nobody knows are an error unless the user accepts them."""

from __future__ import annotations

from ...dialects.ir.bindings import HeadraceError, Operation, error_at, walk


def check_registered(module: Operation) -> None:
    """Raises HeadraceError for an op known neither to MLIR nor to headrace."""
    context = module.context
    known: dict[str, bool] = {}
    found: list[HeadraceError] = []
    for op in walk(module):
        name = op.name
        if name not in known:
            known[name] = name.startswith("headrace.") or context.is_registered_operation(name)
        if not known[name]:
            hint = "--allow-unregistered-dialect accepts it"
            found.append(error_at(op, f"unregistered operation '{name}'; {hint}"))
    if found:
        raise HeadraceError(*(d for error in found for d in error.diagnostics))
