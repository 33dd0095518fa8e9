"""How many replicas and partitions a module is for, in the attributes that say so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from . import ir

COUNTS = ("num_replicas", "num_partitions")


@dataclass(frozen=True)
class DeviceCounts:
    """None where the module does not say: then there is one."""

    replicas: int | None = None
    partitions: int | None = None

    @classmethod
    def of(cls, module: ir.Operation, *dialects: str) -> Self:
        """From ``DIALECT.num_replicas`` and ``DIALECT.num_partitions``, the first dialect
        that says it; ``mhlo`` is what the user's program says, ``headrace`` what passes keep."""
        return cls(*(_count(module, count, dialects) for count in COUNTS))

    @property
    def are_stated(self) -> bool:
        return self.replicas is not None or self.partitions is not None

    @property
    def devices(self) -> int:
        return math.prod(count for count in (self.replicas, self.partitions) if count is not None)


def _count(module: ir.Operation, count: str, dialects: tuple[str, ...]) -> int | None:
    for name in (f"{dialect}.{count}" for dialect in dialects):
        if name in module.attributes:
            return ir.IntegerAttr(module.attributes[name]).value
    return None
