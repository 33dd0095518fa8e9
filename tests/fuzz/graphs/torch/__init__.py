"""Steps that add torch ops, as torch-mlir writes them, to a graph."""

from .elementwise import binary, clamp, compare_where, gelu, scalar_binary, silu, to_dtype, unary
from .movement import cat, embedding, index_select, pad, slice_, transpose, unsqueeze_expand, view
from .products import attention, conv2d, linear, max_pool, mm
from .reductions import argmax, cumsum, layer_norm, reduction, softmax, topk

# What is listed more often comes more often.
TORCH = (
    unary, unary, gelu, silu, binary, binary, binary, scalar_binary, clamp, compare_where, to_dtype, to_dtype,
    mm, mm, mm, linear, linear, conv2d, max_pool, attention, reduction, reduction, softmax, layer_norm,
    cumsum, argmax, topk, cat, slice_, slice_, view, view, transpose, transpose, unsqueeze_expand,
    index_select, embedding, pad,
)  # fmt: skip
