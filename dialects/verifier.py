"""Verifies headrace ops, which MLIR itself sees as unregistered."""

from __future__ import annotations

from . import ir
from .headrace import HeadraceOp
from .input_checks import check_input
from .ops.declaration import DeclaredOp


def verify_input(module: ir.Operation) -> None:
    """``verify``, and what MLIR's own verifier lets pass: see ``input_checks``."""
    check_input(module)
    verify(module)


def verify(module: ir.Operation, *, bodies: bool = True) -> None:
    """Raises HeadraceError with one diagnostic per faulty headrace op.

    Without ``bodies`` those of linalg ops, where no pass puts any, are left out.
    """
    found: list[ir.Diagnostic] = []
    for op in ir.walk(module, bodies=bodies):
        if op.name.startswith("headrace.") and (error := operation_error(op)):
            place = ir.source_position(op.location)
            found.append(ir.Diagnostic("error", f"'{op.name}' op {error}", *place))
    if found:
        raise ir.HeadraceError(*found)


def operation_error(op: ir.Operation) -> str | None:
    """What is wrong with one headrace op, None if nothing."""
    declared = HeadraceOp.operations.get(op.name)
    if declared is None:
        known = ", ".join(sorted(HeadraceOp.operations))
        return f"is not an op of the headrace dialect; it has {known}"
    if len(op.regions) or len(op.successors):
        return "takes no regions and no successors"
    view = declared(op)
    return (
        _attributes_error(view)
        or _counts_error(view)
        or _types_error(view)
        or view.verify_invariants()
    )


def _attributes_error(op: DeclaredOp) -> str | None:
    known = {f.name: f for f in op.fields("attribute")}
    for name, field in known.items():
        if name not in op.attributes:
            return f"requires attribute '{name}'"
        try:
            field.constraint(op.attributes[name])
        except ValueError:
            return f"attribute '{name}' must be {field.description}, got {op.attributes[name]}"
    for name in op.attributes:
        if name == "operandSegmentSizes" and op.segmented:
            continue
        if name not in known and "." not in name:
            return f"has no attribute '{name}'"
    return None


def _counts_error(op: DeclaredOp) -> str | None:
    operands = op.fields("operand")
    expected = len(operands)
    if op.segmented:
        if "operandSegmentSizes" not in op.attributes:
            return "requires attribute 'operandSegmentSizes'"
        try:
            sizes = op.segments()
        except ValueError:
            return "operandSegmentSizes must be array<i32: ...>"
        if len(sizes) != len(operands):
            return f"operandSegmentSizes must have {len(operands)} entries, got {len(sizes)}"
        for size, field in zip(sizes, operands, strict=True):
            if size not in ((0, 1) if field.optional else (1,)):
                return f"operandSegmentSizes gives {size} operands for '{field.name}'"
        expected = sum(sizes)
    if len(op.operands) != expected:
        return f"expects {expected} operands, got {len(op.operands)}"
    if len(op.results) != len(op.fields("result")):
        return f"expects {len(op.fields('result'))} results, got {len(op.results)}"
    return None


def _types_error(op: DeclaredOp) -> str | None:
    for field in (*op.fields("operand"), *op.fields("result")):
        value = op.results[0] if field.kind == "result" else op.operand(field.name)
        if value is not None and not field.constraint.accepts(value.type):
            return f"{field.kind} '{field.name}' must be {field.description}, got {value.type}"
    return None
