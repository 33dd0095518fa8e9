"""The pass ``split-attention``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.upstream.torch import DTYPES, UNKNOWN, TorchBuilder, TorchTensor
from ..rewriting import Miss
from ..targets.lookup import TargetPass
from ..targets.target import Target
from .torch.attention import ATTENTION, Attention, fault_of_kept, read_attention


@dataclass(frozen=True)
class SplitAttention(TargetPass):
    """Splits attention of torch programs into products, where IREE's own op is slow or wrong.

    The parts compute in f32 (f64 for f64) and round once, at the end: PyTorch's
    kernels do. Elements are divided by their row's sum after the second
    product. A row of which the mask lets nothing pass is 0, as in PyTorch.

    Attention that is kept, for GPUs through ROCm and CUDA, is brought to a
    form that IREE computes: its mask gets all dimensions, a scale that is the
    default one is left out, rows without keys become 0.

    Before:
        %y = torch.aten.scaled_dot_product_attention %q, %k, %v, %mask, ...
    After:
        %s = matmul(%q, transpose(%k)) * scale + %mask
        %e = exp(%s - amax(%s))
        %y = matmul(%e, %v) / sum(%e)
    """

    name: ClassVar[str] = "split-attention"

    def run(self, module: ir.Operation) -> None:
        target = self.facts
        for op in ir.walk(module):
            if op.name != ATTENTION:
                continue
            attention = read_attention(op)
            if isinstance(attention, Miss):
                continue  # an error follows, unless torch-mlir can do more than we
            b = TorchBuilder(ir.InsertionPoint(op), op.location)
            if _is_kept(target, attention):
                value = _kept(b, attention, list(op.operands))
            else:
                value = _Split(b, attention).build()
            op.results[0].replace_all_uses_with(value)
            op.erase()


def _is_kept(target: Target, attention: Attention) -> bool:
    """Whether IREE's own attention is right, and the faster one: one launch, and
    the scores stay on chip."""
    if target.own_attention == "never":
        return False
    if target.own_attention == "static" and UNKNOWN in attention.lengths:
        return False
    return fault_of_kept(attention) is None


def _kept(b: TorchBuilder, attention: Attention, operands: list[ir.Value]) -> ir.Value:
    """The same op, in the form that IREE computes."""
    *_, scale, _ = range(len(operands))
    if attention.has_default_scale:
        operands[scale] = b.none()
    mask = None
    if attention.mask is not None:
        operands[3] = mask = _of_full_shape(b, attention, attention.mask)
    result = b.aten("scaled_dot_product_attention", operands, attention.result)
    if mask is None:
        return result
    dead = _rows_without_keys(b, mask)
    return b.aten("masked_fill.Scalar", [result, dead, b.float_(0.0)], attention.result)


def _of_full_shape(b: TorchBuilder, attention: Attention, mask: ir.Value) -> ir.Value:
    """A mask with as many dimensions as query, the last two [L, S]."""
    type_ = _type(mask)
    rank = len(attention.result.sizes)
    while len(type_.sizes) < rank:
        type_ = type_.sized((1, *type_.sizes))
        mask = b.aten("unsqueeze", [mask, b.int_(0)], type_)
    wanted = (*type_.sizes[:-2], *attention.lengths)
    if wanted == type_.sizes:
        return mask
    query, key = attention.types[0].sizes, attention.types[1].sizes
    rows = b.size(attention.query, query, rank - 2)
    columns = b.size(attention.key, key, rank - 2)
    shape = b.ints([*(-1,) * (rank - 2), rows, columns])
    return b.aten("expand", [mask, shape, b.bool_(False)], type_.sized(wanted))


def _rows_without_keys(b: TorchBuilder, mask: ir.Value) -> ir.Value:
    """Which rows, [..., L, 1], of a mask let nothing pass."""
    type_ = _type(mask)
    row = TorchTensor((*type_.sizes[:-1], 1), "i1")
    last, keep = b.int_(-1), b.bool_(True)
    if type_.element == "i1":
        return b.aten("logical_not", [b.aten("any.dim", [mask, last, keep], row)], row)
    most = b.aten("amax", [mask, b.ints([-1]), keep], type_.sized(row.sizes))
    return b.aten("eq.Scalar", [most, b.float_(-math.inf)], row)


class _Split:
    """Attention as two products with a softmax between them."""

    def __init__(self, b: TorchBuilder, attention: Attention) -> None:
        self._b = b
        self._a = attention
        self._wide = "f64" if attention.result.element == "f64" else "f32"

    def build(self) -> ir.Value:
        b, a = self._b, self._a
        if a.lengths[1] == 0:
            return self._nothing()
        query, key, value = (b.convert(v, self._wide) for v in (a.query, a.key, a.value))
        scale = a.scale if isinstance(a.scale, ir.Value) else b.float_(a.scale)
        scores = self._by_heads(self._product(self._by_groups(query), self._transposed(key)))
        scores = b.aten("mul.Scalar", [scores, scale], _type(scores))
        if a.is_causal:
            scores = self._with_mask(scores, self._causal_mask())
        if a.mask is not None:
            scores = self._with_mask(scores, a.mask)
        weights, sums = self._weights(scores)
        product = self._by_heads(self._product(self._by_groups(weights), value))
        return b.convert(b.aten("div.Tensor", [product, sums], _type(product)), a.result.element)

    def _nothing(self) -> ir.Value:
        """The sum over no keys: quirks.ATTENTION_WITHOUT_KEYS."""
        b, a = self._b, self._a
        rank = len(a.result.sizes)
        sizes = [b.size(a.query, a.types[0].sizes, dim) for dim in range(rank - 1)]
        sizes.append(b.size(a.value, a.types[2].sizes, rank - 1))
        none = b.none()
        operands = [b.ints(sizes), b.int_(DTYPES[a.result.element]), none, none, none]
        return b.aten("zeros", operands, a.result)

    def _weights(self, scores: ir.Value) -> tuple[ir.Value, ir.Value]:
        """exp(scores - their row's largest), and each row's sum of that."""
        b, type_ = self._b, _type(scores)
        row = type_.sized((*type_.sizes[:-1], 1))
        last, keep = b.ints([-1]), b.bool_(True)
        most = b.aten("amax", [scores, last, keep], row)
        dead = None
        if self._a.mask is not None:
            # Of a row without keys e^(-inf - 0) = 0 is left, and no 0 / 0.
            dead = b.aten("eq.Scalar", [most, b.float_(-math.inf)], TorchTensor(row.sizes, "i1"))
            most = b.aten("masked_fill.Scalar", [most, dead, b.float_(0.0)], row)
        weights = b.aten("exp", [b.aten("sub.Tensor", [scores, most, b.int_(1)], type_)], type_)
        sums = b.aten("sum.dim_IntList", [weights, last, keep, b.none()], row)
        if dead is not None:
            sums = b.aten("masked_fill.Scalar", [sums, dead, b.float_(1.0)], row)
        return weights, sums

    def _with_mask(self, scores: ir.Value, mask: ir.Value) -> ir.Value:
        b, type_ = self._b, _type(scores)
        if _type(mask).element == "i1":
            return b.aten("where.ScalarOther", [mask, scores, b.float_(-math.inf)], type_)
        mask = b.convert(mask, self._wide)
        return b.aten("add.Tensor", [scores, mask, b.int_(1)], type_)

    def _causal_mask(self) -> ir.Value:
        """Bools [L, S]: query i sees keys up to i."""
        b, a = self._b, self._a
        rank = len(a.result.sizes)
        rows, columns = a.lengths
        column_type = TorchTensor((columns,), "si64")
        i = self._iota(b.size(a.query, a.types[0].sizes, rank - 2), rows)
        j = self._iota(b.size(a.key, a.types[1].sizes, rank - 2), columns)
        i = b.aten("unsqueeze", [i, b.int_(1)], column_type.sized((rows, 1)))
        return b.aten("ge.Tensor", [i, j], TorchTensor((rows, columns), "i1"))

    def _iota(self, count: ir.Value, size: int) -> ir.Value:
        none = self._b.none()
        return self._b.aten("arange", [count, *(none,) * 4], TorchTensor((size,), "si64"))

    def _transposed(self, value: ir.Value) -> ir.Value:
        b, type_ = self._b, _type(value)
        *batch, rows, columns = type_.sizes
        type_ = type_.sized((*batch, columns, rows))
        return b.aten("transpose.int", [value, b.int_(-2), b.int_(-1)], type_)

    def _product(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        left, right = _type(lhs), _type(rhs)
        batch = map(_broadcast, left.sizes[:-2], right.sizes[:-2])
        type_ = left.sized((*batch, left.sizes[-2], right.sizes[-1]))
        return self._b.aten("matmul", [lhs, rhs], type_)

    def _by_groups(self, value: ir.Value) -> ir.Value:
        """[..., heads * n, L, X] as [..., heads, n * L, X]: the rows of one product."""
        b, type_, n = self._b, _type(value), self._a.groups
        if n == 1:
            return value
        *batch, heads, rows, columns = type_.sizes
        split = (*batch, heads // n, n, rows, columns)
        at = b.int_(len(batch))
        value = b.aten("unflatten.int", [value, at, b.ints([heads // n, n])], type_.sized(split))
        merged = UNKNOWN if rows == UNKNOWN else n * rows
        first, last = b.int_(len(batch) + 1), b.int_(len(batch) + 2)
        type_ = type_.sized((*batch, heads // n, merged, columns))
        return b.aten("flatten.using_ints", [value, first, last], type_)

    def _by_heads(self, value: ir.Value) -> ir.Value:
        """The way back from ``_by_groups``."""
        b, type_, n = self._b, _type(value), self._a.groups
        if n == 1:
            return value
        *batch, heads, _, columns = type_.sizes
        rows = self._a.lengths[0]
        split = type_.sized((*batch, heads, n, rows, columns))
        shape = b.ints([n, b.size(self._a.query, self._a.types[0].sizes, len(batch) + 1)])
        value = b.aten("unflatten.int", [value, b.int_(len(batch) + 1), shape], split)
        first, last = b.int_(len(batch)), b.int_(len(batch) + 1)
        type_ = type_.sized((*batch, heads * n, rows, columns))
        return b.aten("flatten.using_ints", [value, first, last], type_)


def _type(value: ir.Value) -> TorchTensor:
    """The type of a value that ``read_attention`` has looked at, or that is made here."""
    type_ = TorchTensor.of(value)
    if type_ is None:
        raise AssertionError(f"not a tensor of known rank: {value.type}")
    return type_


def _broadcast(a: int, b: int) -> int:
    """The size that two dimensions give; of an unknown and a known one the known one."""
    if a == 1 or b == 1:
        return a * b
    return max(a, b)
