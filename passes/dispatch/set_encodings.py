"""The pass ``set-encodings``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.encoding_ops import (
    OperandEncoding,
    encoded,
    matmul_encoding,
    set_encoding,
    unset_encoding,
)
from ...dialects.op_traits import OTHER_PRODUCTS, is_convolution
from ...dialects.upstream.linalg import TensorBuilder, tensor_type
from ...dialects.upstream.tensor import dynamic_sizes
from ..analysis.matmul_loops import (
    MatmulLoops,
    element_types,
    indexing_maps,
    init_fill,
    is_free,
    matmul_loops,
    refilled,
)
from ..remarks import remark
from ..rewriting import Miss
from ..targets.lookup import TargetPass
from ..targets.tiling import Tiling, assumed
from .layouts.bubble_encodings import bubble_encodings
from .layouts.constant_encodings import encode_constants, is_constant_tensor
from .layouts.invariant_place import before_loops
from .layouts.sink_encodings import sink_encodings
from .regions.block_graph import OPAQUE

_Matmul = tuple[ir.Operation, MatmulLoops]


@dataclass(frozen=True)
class SetEncodings(TargetPass):
    """Sets data-tiling encodings on the operands and results of linalg contractions.

    Only where the target's resolver has tiles for the element types and an
    estimate says that packing pays; a remark says why not. An encoding moves
    up through decodes and broadcasts to the narrow tensor where the target
    can decode within the matmul, and out of loops. Constant weights are
    packed once, in an initialiser.

    Before:
        %y = linalg.matmul ins(%a, %b) outs(%zero) -> tensor<512x512xf32>
    After:
        %pa = iree_encoding.set_encoding %a : ... -> tensor<512x512xf32, #lhs>
        %pb = iree_encoding.set_encoding %b : ... -> tensor<512x512xf32, #rhs>
        %py = linalg.matmul ins(%pa, %pb) outs(%packed_zero) -> tensor<512x512xf32, #result>
        %y = iree_encoding.unset_encoding %py : ... -> tensor<512x512xf32>
    """

    name: ClassVar[str] = "set-encodings"
    estimate: bool = field(
        default=True, metadata={"help": "leave out matmuls for which packing does not pay"}
    )

    def run(self, module: ir.Operation) -> None:
        tiling = self.facts.tiling
        choice = choose_matmuls(module, tiling, estimate=self.estimate)
        for op, reason in choice.refused:
            remark(op, reason)
        encoder = _Encoder()
        for op, loops in choice.encoded:
            encoder.encode(op, loops, tiling.sizes(loops))
        sink_encodings(module)
        bubble_encodings(module, tiling)
        encode_constants(module)


@dataclass(frozen=True)
class EncodingChoice:
    """The contractions to be encoded, and why the others are not; in program
    order each."""

    encoded: list[_Matmul] = field(default_factory=list[_Matmul])
    refused: list[tuple[ir.Operation, str]] = field(default_factory=list[tuple[ir.Operation, str]])


def choose_matmuls(
    module: ir.Operation, tiling: Tiling, *, estimate: bool = True
) -> EncodingChoice:
    """Those that the target is better off with in packed form."""
    choice = EncodingChoice()
    matmuls = _contractions(module, choice.refused)
    users = _users(matmuls)
    for op, loops in matmuls:
        refusal = tiling.no_tiles(loops, element_types(op))
        if refusal is None and estimate:
            refusal = tiling.no_gain(loops, element_types(op), _packed_elements(op, users))
        if refusal is None:
            choice.encoded.append((op, loops))
        else:
            choice.refused.append((op, refusal))
    return choice


def _contractions(module: ir.Operation, refused: list[tuple[ir.Operation, str]]) -> list[_Matmul]:
    """What may be encoded, in program order; adds to ``refused`` what may not."""
    found: list[_Matmul] = []

    def visit(block: ir.Block) -> None:
        for op in ir.operations_of(block):
            # What is not free, pack-panels has packed, or the program says how to compile.
            is_candidate = op.name.startswith("linalg.") and len(op.results) and is_free(op)
            loops = matmul_loops(op) if is_candidate else None
            if isinstance(loops, MatmulLoops):
                found.append((op, loops))
            elif isinstance(loops, Miss):
                refused.append((op, loops.reason))
            elif is_candidate and (op.name in OTHER_PRODUCTS or is_convolution(op)):
                refused.append((op, f"not encoded: no resolver takes a '{op.name}'"))
            if op.name not in OPAQUE and not op.name.startswith("linalg."):
                for inner in ir.blocks_of(op):
                    visit(inner)

    for block in ir.blocks_of(module):
        visit(block)
    return found


def _users(matmuls: list[_Matmul]) -> dict[tuple[ir.Value, int], int]:
    """How many matmuls read each value as lhs, how many as rhs, and so on."""
    count: dict[tuple[ir.Value, int], int] = {}
    for op, _ in matmuls:
        for operand in _inputs(op):
            key = (op.operands[operand], operand)
            count[key] = count.get(key, 0) + 1
    return count


def _packed_elements(op: ir.Operation, users: dict[tuple[ir.Value, int], int]) -> int:
    """Elements that are written only because they are packed, per call."""
    total = _elements(op.results[0])
    for operand in _inputs(op):
        value = op.operands[operand]
        if not is_constant_tensor(value) and not _is_written_anyway(value):
            total += _elements(value) // users[value, operand]
    return max(total, 1)


def _is_written_anyway(value: ir.Value) -> bool:
    """Whether only this matmul reads what an elementwise op makes: it is
    packed as it is written."""
    producer = ir.defining_op(value)
    if producer is None or producer.name != "linalg.generic":
        return False
    uses = iter(value.uses)
    next(uses)
    return next(uses, None) is None


def _inputs(op: ir.Operation) -> range:
    return range(len(op.operands) - 1)


def _elements(value: ir.Value) -> int:
    return math.prod(assumed(size) for size in tensor_type(value).shape)


class _Encoder:
    """Rewrites contractions; equal operands are packed once."""

    def __init__(self) -> None:
        self._packed: dict[tuple[ir.Value, ir.Attribute, ir.Block], ir.Value] = {}

    def encode(self, op: ir.Operation, loops: MatmulLoops, sizes: tuple[int, ...] | None) -> None:
        """``sizes``: what the encodings say of the lengths of loops."""
        b = TensorBuilder(ir.InsertionPoint(op), op.location)
        encoding = matmul_encoding(element_types(op), indexing_maps(op), sizes)
        dims = [] if sizes is None else loops.dynamic_sizes(b, op)
        operands = [
            self._operand(op, op.operands[i], encoding.at(i).attribute(op.context), dims)
            for i in _inputs(op)
        ]
        operands.append(_encoded_init(b, op, encoding.at(len(operands)), dims))
        made = op.clone(ip=b.ip).operation
        for index, operand in enumerate(operands):
            made.operands[index] = operand
        made.results[0].set_type(operands[-1].type)
        result = unset_encoding(b, made.results[0], dynamic_sizes(b, op.operands[-1]), dims)
        op.results[0].replace_all_uses_with(result)
        op.erase()

    def _operand(
        self, op: ir.Operation, value: ir.Value, encoding: ir.Attribute, dims: list[ir.Value]
    ) -> ir.Value:
        """``value`` packed, before the loops that it does not change in."""
        if dims:
            return set_encoding(
                TensorBuilder(ir.InsertionPoint(op), op.location), value, encoding, dims
            )
        place = before_loops(op, value)
        key = (value, encoding, place.block)
        if key not in self._packed:
            b = TensorBuilder(ir.InsertionPoint(place), op.location)
            self._packed[key] = set_encoding(b, value, encoding)
        return self._packed[key]


def _encoded_init(
    b: TensorBuilder, op: ir.Operation, encoding: OperandEncoding, dims: list[ir.Value]
) -> ir.Value:
    """What is accumulated into, packed; a fill fills a packed tensor."""
    init = op.operands[-1]
    attribute = encoding.attribute(op.context)
    fill = init_fill(op)
    if fill is None:
        return set_encoding(b, init, attribute, dims)
    type_ = encoded(init.type, attribute)
    empty = b.op("tensor.empty", dynamic_sizes(b, init), type_)
    return refilled(b, fill, empty)
