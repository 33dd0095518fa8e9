"""The pass ``pack-panels``."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.dispatch import RETURN, create_region
from ...dialects.op_traits import RESHAPES, STORED
from ...dialects.upstream.contraction import contraction_loops
from ...dialects.upstream.linalg import DYNAMIC, TensorBuilder, dims_map, tensor_type
from ...dialects.upstream.tensor import with_shape
from ..analysis.elementwise import is_bit_extend, is_broadcast
from ..analysis.matmul_loops import COMPILATION_INFO, element_types, init_fill, is_free, refilled
from ..remarks import remark
from ..rewriting import Miss
from ..targets.lookup import TargetPass
from ..targets.tiling import F32_PRODUCT
from .layouts.invariant_place import before_loops

# Rows at once, and steps along the depth, for the target's columns of a panel: the sums then
# fill 16 registers of AVX-512, or 8 of AVX2.
_ROWS = 4
_DEPTH = 4
# Rows of a workgroup.
_FEWEST, _MOST = 32, 64


@dataclass(frozen=True)
class PackPanels(TargetPass):
    """Packs the weight of a matmul, and leaves its activation as it is in memory.

    Where the activation has other users, or comes from outside, packing it
    costs a store of its own; a kernel that reads rows of it as they are, and
    the weight in panels of 16 columns (64 with AVX-512), is as fast: 10.4 ms
    for 512 x 1024 x 1024 with AVX-512, 11.2 with AVX2, 40 with SSE2 alone, where
    IREE takes 12.1, 13.1 and 444 for tiles, packing them included (Goto and
    van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008, say
    why packing the other operand pays less).

    For target cpu and f32 matrices of static size whose columns fill panels. A
    weight that is constant, or computed for this product alone, is packed
    where it is made, by ``set-encodings``. A remark says why not.

    Before:
        %y = linalg.matmul ins(%x, %w) outs(%zero) -> tensor<512x1024xf32>
    After:
        %panels = flow.dispatch.region { linalg.generic ins(%expanded) }   // 64x1024x16
        %p = linalg.generic {compilation_info = ...} ins(%x, %panels)      // 512x64x16
        %y = tensor.collapse_shape %p [[0], [1, 2]]
    """

    name: ClassVar[str] = "pack-panels"

    def run(self, module: ir.Operation) -> None:
        widths = self.facts.panels
        if not widths:
            return
        candidates: list[_Product] = []
        plain_reason = functools.cache(_plain_reason)
        for op in ir.walk(module, bodies=False):
            found = _product_of(op, widths)
            if isinstance(found, _Product):
                reasons = (plain_reason(op.operands[place], place) for place in range(2))
                found = next((Miss(reason) for reason in reasons if reason), found)
            if isinstance(found, Miss):
                _missed(op, found.reason)
            elif found is not None:
                candidates.append(found)
        users = Counter(product.op.operands[1] for product in candidates)
        worth = self.facts.tiling.worth
        # All are chosen before any is rewritten: one may be another's weight.
        chosen: list[_Product] = []
        for product in candidates:
            # Multiply-adds per element of the weight, which is written for them.
            rows = product.rows * users[product.op.operands[1]]
            if rows >= worth:
                chosen.append(product)
            else:
                _missed(product.op, f"its weight meets {rows} rows, from {worth} on it pays")
        panels: _Panels = {}
        for product in chosen:
            _pack(product, panels)


def _missed(op: ir.Operation, reason: str) -> None:
    remark(op, f"weight not packed in panels: {reason}")


@dataclass(frozen=True)
class _Product:
    """A product of f32 matrices whose sizes suit panels of ``width`` columns.

    ``by_rows``: whether the weight is depth x columns, or columns x depth;
    ``rows_at_once``: how many rows a workgroup takes, so that none is left over.
    """

    op: ir.Operation
    by_rows: bool
    width: int
    rows: int
    rows_at_once: int


def _product_of(op: ir.Operation, widths: tuple[int, ...]) -> _Product | Miss | None:
    """None for what is no contraction, or is laid out or compiled as somebody has decided."""
    if not op.name.startswith("linalg.") or len(op.results) != 1 or not is_free(op):
        return None
    loops = contraction_loops(op)
    if loops is None:
        return None
    if element_types(op) != F32_PRODUCT:
        return Miss("only those of f32 products are")
    match loops:
        case [[m, k], rhs, [out, n]] if out == m and rhs in ([k, n], [n, k]):
            by_rows = rhs == [k, n]
        case _:
            return Miss("the op is no product of two matrices, the first of rows")
    producer = ir.defining_op(op.operands[1])
    if producer is not None and producer.name in STORED:
        return Miss("it is a constant or a global: set-encodings packs it once")
    if any(DYNAMIC in tensor_type(operand).shape for operand in op.operands):
        return Miss("a size is dynamic")
    rows, columns = tensor_type(op.operands[2]).shape
    width = _divisor(columns, widths)
    if width is None:
        return Miss(f"{columns} columns fill no panels of {' or '.join(map(str, widths))}")
    at_once = _divisor(rows, range(_MOST, _FEWEST - 1, -_ROWS))
    if at_once is None:
        return Miss(
            f"{rows} rows do not divide into workgroups of {_FEWEST} to {_MOST}, a multiple of "
            f"{_ROWS} each"
        )
    return _Product(op, by_rows, width, rows, at_once)


def _divisor(size: int, choices: Iterable[int]) -> int | None:
    """The first that a size is a multiple of; none for size 0."""
    return next((n for n in choices if size > 0 and size % n == 0), None)


def _plain_reason(value: ir.Value, place: int) -> str | None:
    """Why a tensor would not be in memory as it is if matmuls read it packed, as their
    operand ``place``; None if it would."""
    name = ("its activation", "it")[place]
    through = 0  # the address of the reshape that leads on
    others = False
    while True:
        others = others or any(
            ir.address_of(use.owner) != through
            and not (use.operand_number == place and _multiplies(use.owner.operation))
            for use in value.uses
        )
        producer = ir.defining_op(value)
        if producer is None:
            return None
        if producer.name not in RESHAPES:
            if is_bit_extend(producer) or is_broadcast(producer):
                return f"{name} is decoded or spread where it is read, and written nowhere"
            if others or not producer.name.startswith("linalg."):
                return None
            return f"{name} is computed for products alone, where set-encodings packs it"
        through, value = ir.address_of(producer), producer.operands[0]


def _multiplies(op: ir.Operation) -> bool:
    return op.name.startswith("linalg.") and contraction_loops(op) is not None


_Panels = dict[tuple[ir.Value, bool, ir.Block], ir.Value]


def _pack(product: _Product, panels: _Panels) -> None:
    """Rewrites a product; equal weights are packed once, and then among ``panels``."""
    op = product.op
    place = before_loops(op, op.operands[1])
    key = (op.operands[1], product.by_rows, place.block)
    if key not in panels:
        panels[key] = _packed_weight(TensorBuilder(ir.InsertionPoint(place), op.location), product)
    b = TensorBuilder(ir.InsertionPoint(op), op.location)
    op.results[0].replace_all_uses_with(_with_panels(b, product, panels[key]))
    op.erase()


def _packed_weight(b: TensorBuilder, product: _Product) -> ir.Value:
    """The weight as panels x depth x width."""
    weight, width = product.op.operands[1], product.width
    shape = tensor_type(weight).shape
    depth, columns = shape if product.by_rows else shape[::-1]
    count = columns // width
    if product.by_rows:
        groups, shape, dims = [[0], [1, 2]], [depth, count, width], [1, 0, 2]
    else:
        groups, shape, dims = [[0, 1], [2]], [count, width, depth], [0, 2, 1]
    source = b.expand_shape(weight, groups, with_shape(weight.type, shape))
    type_ = with_shape(weight.type, [count, depth, width])
    region = create_region([type_], loc=b.loc, ip=b.ip)
    inner = TensorBuilder(
        ir.InsertionPoint(ir.Block.create_at_start(region.regions[0], [], [])), b.loc
    )
    with b.loc:
        read, written = dims_map(3, dims), dims_map(3, [0, 1, 2])
    empty = inner.op("tensor.empty", [], type_)
    packed = inner.generic([(source, read)], (empty, written), lambda _, arguments: arguments[0])
    ir.Operation.create(RETURN, operands=[packed], loc=b.loc, ip=inner.ip)
    return region.results[0]


def _with_panels(b: TensorBuilder, product: _Product, panels: ir.Value) -> ir.Value:
    """The product with its weight in panels; the result as it was."""
    op = product.op
    lhs, _, init = op.operands
    count, depth, width = tensor_type(panels).shape
    type_ = with_shape(init.type, [product.rows, count, width])
    groups = [[0], [1, 2]]
    fill = init_fill(op)
    if fill is None:
        start = b.expand_shape(init, groups, type_)
    else:
        start = refilled(b, fill, b.op("tensor.empty", [], type_))
    with b.loc:
        maps = [dims_map(4, dims) for dims in ([0, 3], [1, 3, 2], [0, 1, 2])]
        info = ir.Attribute.parse(_compilation_info(product.rows_at_once, depth, width))
    packed = b.generic(
        [(lhs, maps[0]), (panels, maps[1])],
        (start, maps[2]),
        lambda s, a: s.binary("addf", a[2], s.binary("mulf", a[0], a[1])),
        reductions=[3],
    )
    ir.OpResult(packed).owner.attributes[COMPILATION_INFO] = info
    return b.collapse_shape(packed, groups, ir.RankedTensorType(init.type))


def _compilation_info(rows_at_once: int, depth: int, width: int) -> str:
    """How IREE is to make the kernel; by itself it takes one row at a time.

    All sizes divide what they are parts of: nothing is left over for slow code.
    A workgroup makes rows of one panel: where its dispatch packs them for
    another matmul, that is one vector operation, and IREE refuses those of
    8 KiB with SSE, 16 with AVX2 and 32 with AVX-512 ("large vector sizes").
    """
    config = (
        f"distribution = [{rows_at_once}, 1, {width}, 0], "
        f"vector_common_parallel = [{_ROWS}, 1, {width}, 0], "
        f"vector_reduction = [0, 0, 0, {math.gcd(depth, _DEPTH)}]"
    )
    return (
        f"#iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<{config}>, "
        "translation_info = "
        "#iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>>"
    )
