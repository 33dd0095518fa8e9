"""Attention of a torch program: what it computes, and whether IREE's own op computes the same."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from ....dialects import ir
from ....dialects.upstream.torch import UNKNOWN, TorchTensor, is_none, torch_constant
from ...rewriting import Miss

ATTENTION = "torch.aten.scaled_dot_product_attention"
_MANTISSA_BITS = {"bf16": 8, "f16": 11, "f32": 24, "f64": 53}


@dataclass(frozen=True)
class Attention:
    """``softmax(scale * query @ key^T + mask) @ value``, with its types.

    Shapes: query [*batch, L, D], key [*batch, S, D], value [*batch, S, Dv], of
    f16, bf16, f32 or f64; mask, bool (true takes part) or float (is added), any
    shape that broadcasts to [*batch, L, S]. ``groups``: how many heads of
    query, dimension -3, share one head of key and value. ``scale`` is a number
    or a ``!torch.float``.
    """

    query: ir.Value
    key: ir.Value
    value: ir.Value
    mask: ir.Value | None
    scale: float | ir.Value
    is_causal: bool
    groups: int
    types: tuple[TorchTensor, TorchTensor, TorchTensor]
    mask_type: TorchTensor | None
    result: TorchTensor

    @property
    def lengths(self) -> tuple[int, int]:
        """L and S."""
        return self.types[0].sizes[-2], self.types[1].sizes[-2]

    @property
    def has_default_scale(self) -> bool:
        """Whether the scale is ``1 / sqrt(D)``, in f32."""
        depth = self.types[0].sizes[-1]
        if isinstance(self.scale, ir.Value) or depth == UNKNOWN:
            return False
        return _in_f32(self.scale) == _in_f32(depth**-0.5)


def read_attention(op: ir.Operation) -> Attention | Miss:
    """The attention that an op computes, if we can tell."""
    query, key, value, mask, dropout, causal, scale, gqa = op.operands
    types = [TorchTensor.of(v) for v in (query, key, value)]
    q, k, v, result = *types, TorchTensor.of(op.results[0])
    if q is None or k is None or v is None or result is None:
        return Miss("its tensors are of unknown rank or type")
    ranks = [len(t.sizes) for t in (q, k, v, result)]
    if min(ranks) < 2 or max(ranks) != min(ranks):
        return Miss("query, key and value have different ranks")
    if q.element not in _MANTISSA_BITS or {q.element, k.element, v.element} != {result.element}:
        return Miss("it is not of one float type")
    mask_type = None if is_none(mask) else TorchTensor.of(mask)
    if mask_type is None and not is_none(mask):
        return Miss("its mask is of unknown rank or type")
    if mask_type is not None and mask_type.element not in ("i1", *_MANTISSA_BITS):
        return Miss("its mask is neither of bool nor of float")
    is_causal, is_grouped = torch_constant(causal), torch_constant(gqa)
    if torch_constant(dropout) != 0 or is_causal is None or is_grouped is None:
        return Miss("it has dropout, or flags that are no constants")
    groups = _groups(q, k, v) if is_grouped else 1
    if groups is None:
        return Miss("heads are not grouped evenly, or their numbers are not known")
    number: float | ir.Value | None = torch_constant(scale)
    if is_none(scale):
        number = None if q.sizes[-1] <= 0 else q.sizes[-1] ** -0.5
    elif number is None:
        number = scale
    if number is None:
        return Miss("its scale depends on a head size that is not known")
    return Attention(
        query=query,
        key=key,
        value=value,
        mask=None if mask_type is None else mask,
        scale=number,
        is_causal=bool(is_causal),
        groups=groups,
        types=(q, k, v),
        mask_type=mask_type,
        result=result,
    )


def fault_of_kept(attention: Attention) -> str | None:
    """Why IREE compiles the op to other numbers if it is kept whole, or
    not at all; None where it is right. Its masks are brought to full rank."""
    q, k, v = (t.sizes for t in attention.types)
    if len(q) < 3:
        return "it has no batch dimension"
    if k[-2] == 0:
        return "it has no keys"
    if UNKNOWN in (q[-3], k[-3], v[-3]) or [*q[:-2]].count(UNKNOWN) > 1:
        # quirks.ATTENTION_DYNAMIC_HEADS
        return "IREE takes no dynamic number of heads"
    if k[:-2] != v[:-2] or q[:-3] != k[:-3] or q[-3] != k[-3] * attention.groups:
        return "IREE broadcasts no batch dimension of query, key and value"
    if q[-1] == UNKNOWN or v[-1] == UNKNOWN:
        return "its head size is not known"
    if isinstance(attention.scale, ir.Value):
        return "its scale is no constant"
    bits = _MANTISSA_BITS[attention.types[0].element]
    if not attention.has_default_scale and not _fits(attention.scale, bits):
        return "IREE rounds its scale to the type of query"
    if attention.mask_type is not None:
        return _fault_of_mask(attention.mask_type.sizes, q[:-2])
    return None


def _fault_of_mask(mask: tuple[int, ...], batch: tuple[int, ...]) -> str | None:
    """Why the batch dimensions of a mask do not do."""
    padded = (*(1,) * (len(batch) + 2 - len(mask)), *mask[:-2])
    if any(m not in (1, b) for m, b in zip(padded, batch, strict=True)):
        return "the batch of its mask is not known to be that of query"
    return None


def _groups(q: TorchTensor, k: TorchTensor, v: TorchTensor) -> int | None:
    """How many heads of query share one of key; None where that is not a number."""
    if len(q.sizes) < 3:
        return 1
    heads = q.sizes[-3]
    if heads <= 0 or k.sizes[-3] <= 0 or k.sizes[-3] != v.sizes[-3] or heads % k.sizes[-3]:
        return None
    return heads // k.sizes[-3]


def _fits(value: float, bits: int) -> bool:
    """Whether a number has no more significant bits than that, and a usual exponent."""
    mantissa, exponent = math.frexp(value)
    return value == 0 or (-13 <= exponent <= 16 and (mantissa * 2**bits).is_integer())


def _in_f32(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]
