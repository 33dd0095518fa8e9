"""Reads ``linalg.generic``."""

from __future__ import annotations

import re

from .. import ir

GENERIC = "linalg.generic"


def maps_of(op: ir.Operation) -> list[ir.AffineMap]:
    """The indexing maps of a ``linalg.generic``, outs included."""
    return [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(op.attributes["indexing_maps"])]


def iterators_of(op: ir.Operation) -> list[str]:
    """``parallel`` or ``reduction`` for each loop of a ``linalg.generic``."""
    return re.findall(r"iterator_type<(\w+)>", str(op.attributes["iterator_types"]))


def is_parallel(op: ir.Operation) -> bool:
    return all(kind == "parallel" for kind in iterators_of(op))
