"""Ops that nobody knows are an error unless the user accepts them."""

from __future__ import annotations

from ...dialects import ir


def check_registered(module: ir.Operation) -> None:
    """Raises HeadraceError for an op known neither to MLIR nor to headrace."""
    context = module.context
    known: dict[str, bool] = {}
    found: list[ir.HeadraceError] = []
    for op in ir.walk(module):
        name = op.name
        if name not in known:
            known[name] = name.startswith("headrace.") or context.is_registered_operation(name)
        if not known[name]:
            hint = "--allow-unregistered-dialect accepts it"
            found.append(ir.error_at(op, f"unregistered operation '{name}'; {hint}"))
    if found:
        raise ir.HeadraceError(*(d for error in found for d in error.diagnostics))
