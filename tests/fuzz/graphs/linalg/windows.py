"""Steps that add convolutions and poolings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from headrace.compiler.iree.element_types import Array

from ..graph import Type
from ..numerics import FLOATS, Numbers, Unfit, sums
from ..writer import Writer
from .contractions import accumulator_of, sum_start
from .reductions import highest, lowest
from .text import empty, fill, ins, zero


def windows(
    x: Array,
    extents: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    axes: Sequence[int],
) -> Array:
    """``x`` with one more dimension per axis at its end: the places of a window."""
    span = [(e - 1) * d + 1 for e, d in zip(extents, dilations, strict=True)]
    found = np.lib.stride_tricks.sliding_window_view(x, span, tuple(axes))
    picks = [slice(None)] * found.ndim
    for axis, stride in zip(axes, strides, strict=True):
        picks[axis] = slice(None, None, stride)
    for position, dilation in enumerate(dilations):
        picks[x.ndim + position] = slice(None, None, dilation)
    return found[tuple(picks)]


_CONVS = {
    # Layouts of image, filter and result; letters as in einsum, s and t the window.
    "linalg.conv_2d_nhwc_hwcf": ("nhwc", "stcf", "nhwf"),
    "linalg.conv_2d_nhwc_fhwc": ("nhwc", "fstc", "nhwf"),
    "linalg.conv_2d_nchw_fchw": ("nchw", "fcst", "nfhw"),
    "linalg.depthwise_conv_2d_nhwc_hwc": ("nhwc", "stc", "nhwc"),
    "linalg.depthwise_conv_2d_nchw_chw": ("nchw", "cst", "nchw"),
    "linalg.conv_1d_nwc_wcf": ("nwc", "tcf", "nwf"),
    "linalg.conv_1d_ncw_fcw": ("ncw", "fct", "nfw"),
}


def convolution(writer: Writer) -> None:
    rng = writer.rng
    name = rng.choice([*_CONVS])
    image, kernel, out = _CONVS[name]
    element = rng.choice([e for e in (writer.element, "f32", "i8") if e in (*FLOATS[:3], "i8")])
    extents = {d: rng.choice((1, 2, 3, 5, 8)) for d in "ncf"}
    extents |= {"s": rng.choice((1, 2, 3)), "t": rng.choice((1, 2, 3))}
    axes = [d for d in "hw" if d in image]
    window = {"h": "s", "w": "t"}
    strides, dilations = ({d: rng.choice((1, 1, 2)) for d in axes} for _ in range(2))
    for d in axes:
        # Now and then wider than the last window reaches.
        span = (extents[window[d]] - 1) * dilations[d] + 1
        extents[d] = span + strides[d] * rng.randint(0, 6) + rng.randint(0, strides[d] - 1)
    shape = [extents[d] for d in image]
    x = writer.shaped(shape, element)
    if any(x.type.dynamic[1:]):
        raise Unfit
    w = writer.shaped([extents[d] for d in kernel], element, new=0.9)
    if not w.type.is_static:
        raise Unfit
    result = {
        d: (extents[d] - (extents[window[d]] - 1) * dilations[d] - 1) // strides[d] + 1
        if d in axes
        else extents[d]
        for d in out
    }
    accumulator = accumulator_of(writer, element)
    type_ = Type(
        tuple(result[d] for d in out), accumulator, (x.type.dynamic[0], *[False] * (len(out) - 1))
    )
    operands = [x, w]
    lines, start = sum_start(writer, type_, operands, [(0, 0)] * len(out))
    n = len(axes)
    attributes = ", ".join(
        f"{k} = dense<[{', '.join(str(v[d]) for d in axes)}]> : tensor<{n}xi64>"
        for k, v in (("dilations", dilations), ("strides", strides))
    )
    lines.append(f"%= = {name} {{{attributes}}} {ins([x, w])} outs({start} : {type_}) -> {type_}")
    spots = "".join(window[d] for d in axes)
    equation = f"{image}{spots},{kernel}->{out}"
    summed = [d for d in dict.fromkeys(image + kernel) if d not in out]
    length = int(np.prod([extents[d] for d in summed if d not in axes]))

    def compute(image_numbers: Numbers, kernel_numbers: Numbers, *start: Numbers) -> list[Numbers]:
        def add_up(p: Array, q: Array) -> Array:
            spread = windows(
                p, [extents[window[d]] for d in axes], [strides[d] for d in axes],
                [dilations[d] for d in axes], [image.index(d) for d in axes],
            )  # fmt: skip
            return np.asarray(np.einsum(equation, spread, q))

        return [sums([image_numbers, kernel_numbers], add_up, length, accumulator, *start)]

    writer.add(name, operands, [type_], lines, compute)


_POOLS = (
    "linalg.pooling_nhwc_sum",
    "linalg.pooling_nhwc_max",
    "linalg.pooling_nhwc_min",
    "linalg.pooling_nchw_max",
    "linalg.pooling_nchw_sum",
)


def pooling(writer: Writer) -> None:
    rng = writer.rng
    name = rng.choice(_POOLS)
    element = rng.choice(
        [e for e in (writer.element, "f32", "i32") if e in (*FLOATS[:3], "i32", "i8")]
    )
    axes = (1, 2) if "nhwc" in name else (2, 3)
    extents, strides = ([rng.choice((1, 2, 3)) for _ in range(2)] for _ in range(2))
    dilations = [rng.choice((1, 1, 2)) for _ in range(2)]
    shape = [rng.choice((1, 2, 3, 8)) for _ in range(4)]
    for i, axis in enumerate(axes):
        shape[axis] = (extents[i] - 1) * dilations[i] + 1 + strides[i] * rng.randint(0, 5)
    x = writer.shaped(shape, element)
    if any(x.type.dynamic[1:]):
        raise Unfit
    out = [*shape]
    for i, axis in enumerate(axes):
        out[axis] = (shape[axis] - (extents[i] - 1) * dilations[i] - 1) // strides[i] + 1
    type_ = Type(tuple(out), element, (x.type.dynamic[0], False, False, False))
    kind = name[-3:]
    literal = {"sum": zero(element), "max": lowest(element), "min": highest(element)}[kind]
    attributes = ", ".join(
        f"{k} = dense<{v}> : tensor<2xi64>"
        for k, v in (("dilations", dilations), ("strides", strides))
    )
    lines = [
        *empty("e", type_, [x], [(0, 0)] * 4),
        *fill("f", "e", literal, type_),
        f"%~w = tensor.empty() : tensor<{extents[0]}x{extents[1]}x{element}>",
        f"%= = {name} {{{attributes}}} ins(%$0, %~w : {x.type}, tensor<{extents[0]}x{extents[1]}x{element}>) "
        f"outs(%~f : {type_}) -> {type_}",
    ]

    def spread(a: Array) -> Array:
        return windows(a, extents, strides, dilations, axes)

    def compute(image: Numbers) -> list[Numbers]:
        if kind == "sum":
            return [
                sums([image], lambda a: spread(a).sum((-2, -1)), extents[0] * extents[1], element)
            ]
        pick = np.max if kind == "max" else np.min
        data = pick(spread(image.wide), axis=(-2, -1)).astype(image.data.dtype)
        return [Numbers(data, np.max(spread(image.error), axis=(-2, -1)))]

    writer.add(name, [x], [type_], lines, compute)
