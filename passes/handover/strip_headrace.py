"""Removes what only headrace understands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ..base import Pass

_PER_VALUE = ("arg_attrs", "res_attrs")


@dataclass(frozen=True)
class StripHeadrace(Pass):
    """Remove headrace.* attributes; fail if a headrace op is left.

    The last of headrace's own passes: IREE crashes on ops that it does not
    know, so none may be handed over.
    """

    name: ClassVar[str] = "strip-headrace"

    def run(self, module: ir.Operation) -> None:
        """Raises HeadraceError, with one diagnostic per headrace op left."""
        left: list[ir.HeadraceError] = []
        for op in ir.walk(module, bodies=False):
            if op.name.startswith("headrace."):
                left.append(ir.error_at(op, f"'{op.name}' was not lowered"))
                continue
            for name in list(op.attributes):
                if name.startswith("headrace."):
                    del op.attributes[name]
                elif name in _PER_VALUE:
                    _strip_each(op, name)
        if left:
            raise ir.HeadraceError(*(d for error in left for d in error.diagnostics))


def _strip_each(op: ir.Operation, name: str) -> None:
    old = [ir.DictAttr(entry) for entry in ir.ArrayAttr(op.attributes[name])]
    with op.context:
        new = [
            ir.DictAttr.get({a.name: a.attr for a in entry if not a.name.startswith("headrace.")})
            for entry in old
        ]
        op.attributes[name] = ir.ArrayAttr.get(new)
