"""What headrace-opt checks of a module: that its ops are known, and ``--verify-roundtrip``."""

from __future__ import annotations

from collections.abc import Callable

from ...compiler.debugging.printing import TextForm, bytecode_of
from ...dialects import ir, verifier
from ...dialects.ir.parsing import parse_module

_FULL = TextForm(generic=True, debug_info=True)
# Some ops' own syntax has no place for locations, as stablehlo.while's block arguments.
_PLAIN = TextForm(generic=True)

# How each form is written, and what of the module it holds.
_FORMS: dict[str, tuple[Callable[[ir.Operation], str | bytes], TextForm]] = {
    "text": (TextForm().text, _PLAIN),
    "generic text": (_FULL.text, _FULL),
    "bytecode": (bytecode_of, _FULL),
}


def check_registered(module: ir.Operation) -> None:
    """Raises HeadraceError for the ops that neither MLIR nor headrace knows."""
    context = module.context
    known: dict[str, bool] = {}
    found: list[ir.Diagnostic] = []
    for op in ir.walk(module):
        name = op.name
        if name not in known:
            known[name] = name.startswith("headrace.") or context.is_registered_operation(name)
        if not known[name]:
            hint = "--allow-unregistered-dialect accepts it"
            found += ir.error_at(op, f"unregistered operation '{name}'; {hint}").diagnostics
    if found:
        raise ir.HeadraceError(*found)


def check_round_trip(module: ir.Operation, name: str) -> None:
    """Raises HeadraceError where a form does not hold the whole module."""
    for form, (write, compared) in _FORMS.items():
        try:
            again = parse_module(write(module), name, ir.make_context())
            verifier.verify(again)
        except ir.HeadraceError as error:
            raise ir.HeadraceError(
                f"round trip: the {form} does not parse", *error.diagnostics
            ) from None
        expected, found = compared.text(module), compared.text(again)
        if found != expected:
            raise ir.HeadraceError(
                f"round trip: the {form} gives another module{_difference(expected, found)}"
            )


def _difference(expected: str, found: str) -> str:
    for old, new in zip(expected.splitlines(), found.splitlines(), strict=False):
        if old != new:
            return f"; '{old.strip()}' became '{new.strip()}'"
    return ""
