"""The check for targets without bf16 and f16 arithmetic."""

from __future__ import annotations

from ....dialects import ir
from ....dialects.op_traits import FLOAT_CONVERTS, SCALAR_MOVES
from ....dialects.upstream.linalg import element_of


def refuse_half_floats(module: ir.Operation, target: str) -> None:
    """Raises HeadraceError at the first op that the target cannot compute.

    IREE's vmvx moves bf16 and f16 values and converts bf16; for the rest its
    own messages name ops that no user wrote.
    """
    for op in ir.walk(module):
        if not op.name.startswith(("arith.", "math.")) or op.name in SCALAR_MOVES:
            continue
        for value in (*op.operands, *op.results):
            element = element_of(value.type)
            if isinstance(element, ir.BF16Type) and op.name in FLOAT_CONVERTS:
                continue
            if isinstance(element, ir.BF16Type | ir.F16Type):
                raise ir.error_at(
                    op,
                    f"target {target} has no {element} arithmetic ('{op.name}'); "
                    "write the program in f32 or compile it for target cpu",
                )
