"""Tables of device ids: the replica groups and source-target pairs of collectives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .. import ir
from .constraints import MAX_DEVICE_COUNT

Groups = Sequence[Sequence[int]]


def grid_shape(attribute: ir.DenseIntElementsAttr) -> list[int]:
    return list(ir.RankedTensorType(attribute.type).shape)


def device_ids_error(name: str, attribute: ir.DenseIntElementsAttr) -> str | None:
    """Why such a table cannot be read as device ids. A splat may be longer than any list."""
    shape = grid_shape(attribute)
    if len(shape) != 2:
        return f"{name} must be a two-dimensional tensor, got shape {shape}"
    if str(ir.RankedTensorType(attribute.type).element_type) != "i64":
        return f"{name} must hold i64 numbers"
    if shape[0] * shape[1] > 2 * MAX_DEVICE_COUNT:
        return f"{name} holds more than {MAX_DEVICE_COUNT} devices"
    highest = max((int(v) for v in attribute), default=0)
    if highest >= MAX_DEVICE_COUNT:
        return f"{name} holds device id {highest}, and ids are below {MAX_DEVICE_COUNT}"
    return None


def highest_device_id(ops: Iterable[ir.Operation]) -> int:
    """The highest id in the tables of collectives, ours and StableHLO's; 0 where there is none."""
    highest = 0
    for op in ops:
        for name in ("replica_groups", "source_target_pairs"):
            if name in op.attributes:
                ids = op.attributes[name]
                # What is no such table, passes refuse.
                if isinstance(ids, ir.DenseIntElementsAttr) and not device_ids_error(name, ids):
                    highest = max([highest, *ids])
    return highest


def groups_of(attribute: ir.DenseIntElementsAttr) -> list[list[int]]:
    """The rows of a two-dimensional integer attribute."""
    flat = [int(v) for v in attribute]
    rows, columns = grid_shape(attribute)
    return [flat[r * columns : (r + 1) * columns] for r in range(rows)]


def device_groups(groups: Groups, context: ir.Context) -> ir.DenseIntElementsAttr:
    """Groups (or source-target pairs) of equal length as an i64 attribute."""
    shape = f"{len(groups)}x{len(groups[0])}"
    rows = ", ".join("[" + ", ".join(map(str, row)) + "]" for row in groups)
    return ir.DenseIntElementsAttr(
        ir.Attribute.parse(f"dense<[{rows}]> : tensor<{shape}xi64>", context)
    )
