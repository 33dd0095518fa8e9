"""Which values are the same on every device of an SPMD program."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...dialects.headrace import AllGatherOp, AllReduceOp, CollectiveOp
from ...dialects.mlir import (
    ArrayAttr,
    DictAttr,
    Operation,
    StringAttr,
    Value,
    blocks_of,
    walk,
)

_PURE_DIALECTS = ("arith", "math", "tensor", "linalg", "scf", "affine", "complex", "index")


class Uniformity:
    """The values of one function that may differ between devices.

    A value differs if it depends on an argument that is not replicated
    (``headrace.sharding``), on the device's id, or on a collective that does
    not give all devices the same. Found by following uses from there: all else
    is uniform.
    """

    def __init__(self, function: Operation, devices: int) -> None:
        self._devices = devices
        self._varying: set[Value] = set()
        self._work: list[Value] = []
        if devices == 1:
            return
        body = function.regions[0].blocks[0]
        replicated = [False] * len(body.arguments)
        if "arg_attrs" in function.attributes:
            attributes = ArrayAttr(function.attributes["arg_attrs"])
            replicated = [_is_replicated(DictAttr(a)) for a in attributes]
        for argument, is_same in zip(body.arguments, replicated, strict=True):
            if not is_same:
                self._mark(argument)
        for op in walk(function):
            if self._is_source(op):
                self._mark_all(op.results)
        while self._work:
            for use in self._work.pop().uses:
                self._visit(use.owner.operation, use.operand_number)

    def is_uniform(self, value: Value) -> bool:
        return value not in self._varying

    def _is_source(self, op: Operation) -> bool:
        if op.name in ("headrace.partition_id", "headrace.replica_id"):
            return True
        if op.name.startswith("headrace."):
            view = op.opview
            return isinstance(view, CollectiveOp) and not isinstance(
                view, AllGatherOp | AllReduceOp
            )
        dialect = op.name.partition(".")[0]
        return dialect not in (*_PURE_DIALECTS, "func")

    def _mark(self, value: Value) -> None:
        if value not in self._varying:
            self._varying.add(value)
            self._work.append(value)

    def _mark_all(self, values: Iterable[Value]) -> None:
        for value in values:
            self._mark(value)

    def _visit(self, op: Operation, index: int) -> None:
        """``op`` has a varying operand ``index``."""
        parent = op.parent.operation if op.parent else None
        if op.name == "func.return" or parent is None:
            return
        view = op.opview
        if (
            isinstance(view, AllGatherOp | AllReduceOp)
            and len(view.groups) == 1
            and view.group_size == self._devices
        ):
            return
        if op.name == "scf.for":
            self._for(op, index)
        elif op.name == "scf.while":
            self._mark(op.regions[0].blocks[0].arguments[index])
        elif op.name == "scf.yield" and parent.name == "scf.for":
            self._mark(parent.results[index])
            self._mark(parent.regions[0].blocks[0].arguments[index + 1])
        elif op.name == "scf.yield" and parent.name == "scf.while":
            self._mark(parent.regions[0].blocks[0].arguments[index])
        elif op.name == "scf.yield" and parent.name == "scf.if":
            self._mark(parent.results[index])
        elif op.name == "scf.condition" and parent.name == "scf.while":
            if index == 0:
                self._everything(parent)
            else:
                self._mark(parent.results[index - 1])
                self._mark(parent.regions[1].blocks[0].arguments[index - 1])
        else:
            self._mark_all(op.results)
            self._enclosing(op)

    def _for(self, op: Operation, index: int) -> None:
        if index < 3:
            self._everything(op)
        else:
            self._mark(op.results[index - 3])
            self._mark(op.regions[0].blocks[0].arguments[index - 2])

    def _everything(self, op: Operation) -> None:
        """Which trip or branch this is differs: so does all that it makes."""
        self._mark_all(op.results)
        for block in blocks_of(op):
            self._mark_all(block.arguments)

    def _enclosing(self, op: Operation) -> None:
        """An op with a body (linalg.generic) that uses a varying value from
        outside is varying, whatever it yields."""
        parent = op.parent
        while parent is not None and not parent.operation.name.startswith(("scf.", "func.")):
            self._mark_all(parent.operation.results)
            parent = parent.operation.parent


def _is_replicated(attributes: DictAttr) -> bool:
    if "headrace.sharding" not in attributes:
        return False
    return is_replicated(StringAttr(attributes["headrace.sharding"]).value)


def is_replicated(sharding: str) -> bool:
    """Whether an HloSharding text puts the whole tensor on every device."""
    if re.fullmatch(r"\{replicated\}", sharding.strip()):
        return True
    tiles = re.match(r"\{devices=\[([0-9,]+)\]", sharding.strip())
    if tiles is None or "manual" in sharding:
        return False
    sizes = tiles.group(1).split(",")
    subgroups = re.search(r"last_tile_dims=\{([^}]*)\}", sharding)
    if subgroups is not None:
        sizes = sizes[: -len(subgroups.group(1).split(","))]
    elif "last_tile_dim_replicate" in sharding:
        sizes = sizes[:-1]
    return all(size == "1" for size in sizes)
