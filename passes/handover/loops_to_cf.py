"""loops-to-cf: control flow of functions as branches, that of linalg bodies as it is."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ...dialects.ir.native_passes import run_native_pipeline
from ..base import Pass

_SCF = "scf."
# Of no dialect that MLIR knows: its conversion leaves such ops alone.
_HIDDEN = "headrace_body.scf."


@dataclass(frozen=True)
class LoopsToCf(Pass):
    """``convert-scf-to-cf``, but not inside of linalg ops.

    A linalg op's body is one block: a condition in it, as a concatenation of
    dynamic sizes has, stays an ``scf.if``. MLIR 24's conversion splits it into
    blocks and leaves an invalid op.
    """

    name = "loops-to-cf"

    def run(self, module: ir.Operation) -> None:
        _rename_in_bodies(module, _SCF, _HIDDEN)
        run_native_pipeline(module, "builtin.module(convert-scf-to-cf)")
        _rename_in_bodies(module, _HIDDEN, _SCF)


def _rename_in_bodies(module: ir.Operation, old: str, new: str) -> None:
    """Inner ops first: the copies of outer ones take their regions as they are."""
    found = [op for op in ir.walk(module) if op.name.startswith(old) and _in_linalg_body(op)]
    for op in reversed(found):
        if op.name != "scf.yield" and op.name != "scf.condition":
            _rename(op, new + op.name.removeprefix(old))


def _in_linalg_body(op: ir.Operation) -> bool:
    return any(
        around.name.startswith(("linalg.", "iree_linalg_ext.")) for around in ir.ancestors(op)
    )


def _rename(op: ir.Operation, name: str) -> None:
    made = ir.Operation.create(
        name,
        [result.type for result in op.results],
        list(op.operands),
        dict(op.attributes.items()),
        regions=len(op.regions),
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    for old, new in zip(op.regions, made.regions, strict=True):
        for block in list(old.blocks):
            block.append_to(new)
    for old, new in zip(op.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
