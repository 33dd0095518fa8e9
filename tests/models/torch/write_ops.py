"""One small torch program per op of PyTorch, as IREE's importer hands them over.

Needs torch and iree-base-compiler in one environment: ``python write_ops.py
FOLDER`` writes ``ops.mlir``, a function for each, and ``ops.npz``: ``NAME.in0``,
..., ``NAME.out0``, ..., bf16 and fp8 as f32. What IREE's own pipeline does not
lower is left out, with a line that says so. The files beside this one were made
with torch 2.13 and iree-base-compiler 3.13.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from iree.compiler.extras.fx_importer import FxImporter
from torch.export import Dim
from torch.nn import functional as F

_sizes = iter(range(1_000_000))


def rand(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(next(_sizes))).to(dtype)


def whole(*shape: int, high: int = 4, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    generator = torch.Generator().manual_seed(next(_sizes))
    return torch.randint(0, high, shape, generator=generator).to(dtype)


X, Y, Z = rand(4, 6), rand(4, 6), rand(6, 5)
IMAGE = rand(2, 3, 8, 8)
QKV = tuple(rand(2, 4, 8, 16, dtype=torch.float16) for _ in range(3))
DYNAMIC = {2: Dim("length", min=2, max=64)}
attention = F.scaled_dot_product_attention

Program = tuple[Callable[..., Any], tuple[torch.Tensor, ...]]
OPS: dict[str, Program] = {
    "add": (lambda x, y: x + y, (X, Y)),
    "add_bf16": (lambda x, y: x + y, (X.bfloat16(), Y.bfloat16())),
    "mul_scalar": (lambda x: x * 2.5, (X,)),
    "div": (lambda x, y: x / y, (X, Y)),
    "floor_divide": (lambda x, y: x // y, (whole(4), whole(4) + 1)),
    "remainder": (torch.remainder, (X, Y)),
    "pow": (lambda x: x**3, (X,)),
    "rsqrt": (torch.rsqrt, (X.abs(),)),
    "exp": (torch.exp, (X,)),
    "erf": (torch.erf, (X,)),
    "sigmoid": (torch.sigmoid, (X,)),
    "tanh": (torch.tanh, (X,)),
    "relu": (torch.relu, (X,)),
    "gelu": (F.gelu, (X,)),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), (X,)),
    "silu": (F.silu, (X,)),
    "softplus": (F.softplus, (X,)),
    "clamp": (lambda x: x.clamp(-1.0, 1.0), (X,)),
    "where": (lambda x, y: torch.where(x > 0, x, y), (X, Y)),
    "masked_fill": (lambda x: x.masked_fill(x > 0, 0.0), (X,)),
    "mm": (torch.mm, (X, Z)),
    "mm_f16": (torch.mm, (X.half(), Z.half())),
    "int_mm": (
        torch._int_mm,
        (whole(32, 64, dtype=torch.int8), whole(64, 48, dtype=torch.int8)),
    ),
    "bmm": (torch.bmm, (rand(2, 4, 6), rand(2, 6, 5))),
    "matmul_broadcast": (torch.matmul, (rand(2, 3, 4, 6), rand(6, 5))),
    "linear": (F.linear, (X, rand(5, 6), rand(5))),
    "einsum": (lambda x, y: torch.einsum("bik,bjk->bij", x, y), (rand(2, 4, 6), rand(2, 5, 6))),
    "softmax": (lambda x: torch.softmax(x, -1), (X,)),
    "log_softmax": (lambda x: torch.log_softmax(x, -1), (X,)),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (6,), w, b), (X, rand(6), rand(6))),
    "rms_norm": (lambda x, w: F.rms_norm(x, (6,), w), (X, rand(6))),
    "group_norm": (lambda x: F.group_norm(x, 3), (IMAGE,)),
    "batch_norm": (F.batch_norm, (IMAGE, rand(3), rand(3).abs())),
    "sum": (lambda x: x.sum(1), (X,)),
    "mean": (lambda x: x.mean(1, keepdim=True), (X,)),
    "var": (lambda x: x.var(1), (X,)),
    "prod": (lambda x: x.prod(1), (X,)),
    "norm": (lambda x: x.norm(dim=1), (X,)),
    "amax": (lambda x: x.amax(1), (X,)),
    "max_dim": (lambda x: x.max(1), (X,)),
    "min_dim": (lambda x: x.min(1), (X,)),
    "any": (lambda x: (x > 0).any(1), (X,)),
    "all": (lambda x: (x > 0).all(1), (X,)),
    "argmax": (lambda x: x.argmax(1), (X,)),
    "argmin": (lambda x: x.argmin(0), (X,)),
    "cumsum": (lambda x: x.cumsum(1), (X,)),
    "cumprod": (lambda x: x.cumprod(1), (X,)),
    "sort": (lambda x: x.sort(1), (X,)),
    "topk": (lambda x: x.topk(3, 1), (X,)),
    "rfft": (torch.fft.rfft, (rand(4, 16),)),
    "flatten": (lambda x: x.flatten(1), (rand(2, 3, 4),)),
    "unflatten": (lambda x: x.unflatten(1, (2, 3)), (X,)),
    "view": (lambda x: x.view(2, 12), (X,)),
    "permute": (lambda x: x.permute(1, 0), (X,)),
    "transpose": (lambda x: x.transpose(1, 2), (rand(2, 3, 4),)),
    "expand": (lambda x: x.unsqueeze(0).expand(3, -1, -1), (X,)),
    "squeeze": (lambda x: x.squeeze(1), (rand(4, 1, 6),)),
    "cat": (lambda x, y: torch.cat((x, y), 1), (X, Y)),
    "stack": (lambda x, y: torch.stack((x, y)), (X, Y)),
    "slice": (lambda x: x[1:3, ::2], (X,)),
    "select": (lambda x: x[1], (X,)),
    "chunk": (lambda x: x.chunk(2, -1), (X,)),
    "split": (lambda x: sum(x.split(2, 1)), (X,)),
    "split_with_sizes": (lambda x: x.split([1, 2, 3], 1), (X,)),
    "unbind": (lambda x: torch.stack(x.unbind(0)[::2]), (X,)),
    "pad": (lambda x: F.pad(x, (1, 2)), (X,)),
    "roll": (lambda x: x.roll(1, 1), (X,)),
    "flip": (lambda x: x.flip(1), (X,)),
    "tril": (torch.tril, (X,)),
    "triu": (torch.triu, (X,)),
    "arange": (lambda x: x + torch.arange(6), (X,)),
    "full_like": (lambda x: torch.full_like(x, 2.0) - x, (X,)),
    "one_hot": (lambda x: F.one_hot(x, 4), (whole(5),)),
    "repeat": (lambda x: x.repeat(2, 1), (X,)),
    "repeat_interleave": (lambda x: x.repeat_interleave(2, 0), (X,)),
    "index_select": (lambda x, i: x.index_select(0, i), (X, whole(3))),
    "index": (lambda x, i: x[i], (X, whole(3))),
    "index_put": (lambda x, i, y: x.index_put((i,), y), (X, whole(3), rand(3, 6))),
    "gather": (lambda x, i: x.gather(1, i), (X, whole(4, 2))),
    "scatter": (lambda x, i, y: x.scatter(1, i, y), (X, whole(4, 2), rand(4, 2))),
    "scatter_add": (lambda x, i, y: x.scatter_add(1, i, y), (X, whole(4, 2), rand(4, 2))),
    "embedding": (lambda w, i: F.embedding(i, w), (X, whole(2, 3))),
    "conv1d": (F.conv1d, (rand(2, 3, 8), rand(4, 3, 3))),
    "conv2d": (lambda x, w: F.conv2d(x, w, padding=1), (IMAGE, rand(4, 3, 3, 3))),
    "conv2d_strided": (lambda x, w: F.conv2d(x, w, stride=2), (IMAGE, rand(4, 3, 3, 3))),
    "conv2d_depthwise": (lambda x, w: F.conv2d(x, w, groups=3), (IMAGE, rand(3, 1, 3, 3))),
    "conv_transpose2d": (F.conv_transpose2d, (IMAGE, rand(3, 4, 3, 3))),
    "convolution_backward": (
        lambda g, x, w: torch.ops.aten.convolution_backward(
            g, x, w, [4], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, True]
        ),
        (rand(2, 4, 8, 8), IMAGE, rand(4, 3, 3, 3)),
    ),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2), (IMAGE,)),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 2), (IMAGE,)),
    "adaptive_avg_pool1d": (lambda x: F.adaptive_avg_pool1d(x, 3), (rand(2, 3, 8),)),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, (3, 5)), (IMAGE,)),
    "adaptive_max_pool1d": (lambda x: F.adaptive_max_pool1d(x, 3), (rand(2, 3, 8),)),
    "upsample_nearest": (lambda x: F.interpolate(x, scale_factor=2.0), (IMAGE,)),
    "to_bf16": (lambda x: x.bfloat16(), (X,)),
    "to_int": (lambda x: x.to(torch.int32), (X,)),
    "to_fp8": (lambda x: x.to(torch.float8_e4m3fn), (X,)),
    "from_fp8": (lambda x: x.float(), (X.to(torch.float8_e4m3fn),)),
    "bitwise_and": (torch.bitwise_and, (whole(4), whole(4))),
    "attention": (attention, QKV),
    "attention_causal": (lambda q, k, v: attention(q, k, v, is_causal=True), QKV),
    "attention_mask": (attention, (*QKV, rand(2, 1, 8, 8, dtype=torch.float16))),
    "attention_grouped": (
        lambda q, k, v: attention(q, k, v, enable_gqa=True),
        (rand(2, 8, 8, 16, dtype=torch.float16), *QKV[1:]),
    ),
    "attention_scale": (lambda q, k, v: attention(q, k, v, scale=0.5), QKV),
    "attention_dynamic": (attention, tuple(t[:1] for t in QKV)),
    "softmax_dynamic": (lambda x: torch.softmax(x, -1), (rand(1, 4, 8, 8),)),
}


class _Module(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self._function = function

    def forward(self, *arguments: torch.Tensor) -> Any:
        return self._function(*arguments)


def text_of(name: str, function: Callable[..., Any], inputs: tuple[torch.Tensor, ...]) -> str:
    """A function of that name; dimension 2 is dynamic in names that say so."""
    shapes = (tuple(DYNAMIC for _ in inputs),) if name.endswith("_dynamic") else None
    program = torch.export.export(_Module(function), inputs, dynamic_shapes=shapes, strict=False)
    importer = FxImporter()
    importer.import_frozen_program(program, func_name=name)
    text = importer.module.operation.get_asm(use_local_scope=True)
    return re.sub(r"\Amodule \{\n|\n\}\s*\Z", "", text)


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    narrow = tensor.dtype in (torch.bfloat16, torch.float8_e4m3fn)
    return (tensor.float() if narrow else tensor).numpy()


def main() -> None:
    folder = Path(sys.argv[1])
    texts: list[str] = []
    arrays: dict[str, np.ndarray] = {}
    for name, (function, inputs) in OPS.items():
        text = text_of(name, function, inputs)
        command = ["iree-opt", "--torch-to-iree", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        if done.returncode:
            print(f"{name}: {done.stderr.splitlines()[0]}")
        else:
            texts.append(text)
            results = function(*inputs)
            results = [results] if isinstance(results, torch.Tensor) else results
            arrays |= {f"{name}.in{i}": to_numpy(t) for i, t in enumerate(inputs)}
            arrays |= {f"{name}.out{i}": to_numpy(t) for i, t in enumerate(results)}
    (folder / "ops.mlir").write_text("module {\n" + "\n".join(texts) + "\n}\n")
    np.savez_compressed(folder / "ops.npz", **arrays)


if __name__ == "__main__":
    main()
