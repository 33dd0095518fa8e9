"""Steps that add linalg and tensor ops to a graph."""

from .contractions import matmul, matmul_family, quantized_matmul, scaled_matmul
from .elementwise import cast_elements, constant, elementwise, named_elementwise
from .movement import (
    broadcast,
    cast_shape,
    concat,
    gather,
    pad,
    reshape,
    reverse,
    splat_extract,
    transpose,
)
from .reductions import argmax, reduction, softmax
from .slices import extract_slice, insert_slice
from .windows import convolution, pooling

# What is listed more often comes more often.
ELEMENTWISE = (elementwise, elementwise, elementwise, cast_elements, named_elementwise, constant)
MOVEMENT = (
    transpose, broadcast, concat, pad, extract_slice, extract_slice, insert_slice, reshape, reshape,
    cast_shape, reverse, gather, splat_extract,
)  # fmt: skip
CONTRACTIONS = (
    matmul, matmul, matmul, matmul_family, scaled_matmul, quantized_matmul, convolution, pooling,
)  # fmt: skip
REDUCTIONS = (reduction, reduction, argmax, softmax)
