"""Finds the dispatch region that makes what an encoding packs."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.iree.dispatch import DISPATCH_REGION, DispatchRegion
from ....dialects.op_traits import ATTENTION, RESHAPES, STORED, VIEWS
from ....dialects.upstream.linalg import tensor_type
from ...rewriting import Miss

# Whose results may be stored packed: with one of any other kind in a region,
# code generation does not tile all of it by the tiles of the packed store.
_TILED = frozenset(
    {
        *(*RESHAPES, *ATTENTION, "iree_linalg_ext.gather"),
        *("arith.constant", "tensor.empty", "tensor.extract_slice"),
        *("iree_encoding.unset_encoding", "iree_encoding.set_encoding"),
    }
)
_TILED_DIALECTS = ("linalg", "headrace")
# Nothing makes these at run time, or not in this function.
_GIVEN = STORED | {"hal.tensor.import", "flow.tensor.constant"}


@dataclass(frozen=True)
class Source:
    """Result ``result`` of ``region``, behind ``steps`` of reshapes in order."""

    region: DispatchRegion
    result: int
    steps: tuple[ir.Operation, ...]

    @property
    def output(self) -> ir.Value:
        return self.region.op.results[self.result]


def find_source(encode: ir.Operation) -> Source | Miss | None:
    """The region result that ``encode`` packs, if the encoding can be fused into it;
    None for an input or a constant."""
    block = encode.block
    value: ir.Value = encode.operands[0]
    if not isinstance(value.type, ir.RankedTensorType) or tensor_type(value).rank == 0:
        return Miss("its source has no dimensions")
    steps: list[ir.Operation] = []
    producer = ir.defining_op(value)
    while producer is not None and producer.name in VIEWS:
        steps.append(producer)
        value = producer.operands[0]
        producer = ir.defining_op(value)
    if producer is None or producer.name in _GIVEN:
        return None
    if producer.name != DISPATCH_REGION:
        return Miss(f"its source is made by '{producer.name}', not by a dispatch region")
    if producer.block != block or any(step.block != block for step in steps):
        return Miss("the dispatch region that makes its source is in another block")
    region = DispatchRegion.of(producer)
    if region is None:
        return Miss("the dispatch region that makes its source has several blocks")
    return Source(region, ir.result_number(value), tuple(reversed(steps)))


def body_reason(region: DispatchRegion) -> str | None:
    """Why no packed result can be added to a region; None where one can.

    The list of ops is that of IREE's own pass, and constants.
    """
    if region.has_count:
        return "the dispatch region has a workgroup count, made for the results that it has"
    for op in ir.operations_of(region.body):
        if any(isinstance(r.type, ir.RankedTensorType) for r in op.results) and not _is_tiled(op):
            return f"the dispatch region holds '{op.name}', which is not tiled with a packed store"
    return None


def _is_tiled(op: ir.Operation) -> bool:
    return op.name in _TILED or op.name.partition(".")[0] in _TILED_DIALECTS
