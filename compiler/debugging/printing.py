"""How a module is written: text in its forms, or bytecode."""

from __future__ import annotations

import io
from dataclasses import dataclass

from ...dialects import ir

_NO_LIMIT = (1 << 63) - 1


@dataclass(frozen=True)
class TextForm:
    """MLIR text; the fields are mlir-opt's printing flags."""

    generic: bool = False
    local_scope: bool = False
    debug_info: bool = False
    pretty_debug_info: bool = False
    elide_elements_above: int | None = None
    elide_resources_above: int | None = None

    def text(self, op: ir.Operation, *, verified: bool = False) -> str:
        """The op with one line end. ``verified``: known to be valid, so not checked again."""
        resources = self.elide_resources_above
        if resources is None and self.elide_elements_above is not None:
            resources = _NO_LIMIT  # the bindings would take the other limit
        data = op.get_asm(
            binary=True,
            print_generic_op_form=self.generic,
            use_local_scope=self.local_scope,
            enable_debug_info=self.debug_info or self.pretty_debug_info,
            pretty_debug_info=self.pretty_debug_info,
            large_elements_limit=self.elide_elements_above,
            large_resource_limit=resources,
            assume_verified=verified,
        )
        assert isinstance(data, bytes)
        return data.decode(errors="replace").rstrip("\n") + "\n"


def bytecode_of(module: ir.Operation, version: int | None = None) -> bytes:
    """Bytecode, of the newest version or the one asked for.

    Raises HeadraceError for a version that MLIR cannot write.
    """
    data = io.BytesIO()
    with ir.collect_diagnostics(module.context) as found:
        try:
            module.write_bytecode(data, desired_version=version)
        except ValueError as error:
            reason = found[0].message if found else str(error)
            raise ir.HeadraceError(f"cannot write bytecode: {reason}") from None
    return data.getvalue()
