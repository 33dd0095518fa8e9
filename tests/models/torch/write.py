"""PyTorch models with fp8 weights, as torch-mlir imports them, and PyTorch's results.

Needs torch, torch-mlir and ml_dtypes, in an environment of its own:
``python write.py FOLDER`` writes ``NAME.mlir`` and ``NAME.npz`` (x and y, in
f32) for each model. The files beside this one were made with torch 2.14 and
torch-mlir 20261001.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch_mlir import fx

E4M3, LARGEST = torch.float8_e4m3fn, 448.0
WIDTH = 32


class Fp8Linear(nn.Module):
    """Weights in fp8 with a scale of the tensor or of each output; activations
    are quantized with a constant scale."""

    def __init__(self, inputs: int, outputs: int, dtype: torch.dtype, channels: bool, bias: bool):
        super().__init__()
        random = torch.Generator().manual_seed(inputs * 7 + outputs)
        weight = torch.randn(outputs, inputs, generator=random) * 0.2
        amax = weight.abs().amax(dim=1, keepdim=True) if channels else weight.abs().amax()
        scale = (amax / LARGEST).to(dtype)
        quantized = (weight.to(dtype) / scale).clamp(-LARGEST, LARGEST).to(E4M3)
        self.register_buffer("weight", quantized)
        self.register_buffer("weight_scale", scale)
        self.register_buffer("input_scale", torch.tensor(2.0**-5, dtype=dtype))
        self.bias = nn.Parameter(torch.randn(outputs, generator=random).to(dtype)) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        quantized = (x / self.input_scale).clamp(-LARGEST, LARGEST).to(E4M3)
        weight = self.weight.to(x.dtype) * self.weight_scale
        return nn.functional.linear(quantized.to(x.dtype) * self.input_scale, weight, self.bias)


class Mlp(nn.Module):
    def __init__(self, dtype: torch.dtype, channels: bool):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH, dtype=dtype)
        self.up = Fp8Linear(WIDTH, 2 * WIDTH, dtype, channels, bias=True)
        self.gate = Fp8Linear(WIDTH, 2 * WIDTH, dtype, channels, bias=False)
        self.down = Fp8Linear(2 * WIDTH, WIDTH, dtype, channels, bias=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.norm(x)
        return x + self.down(nn.functional.silu(self.gate(h)) * self.up(h))


class Attention(nn.Module):
    HEADS = 4

    def __init__(self, dtype: torch.dtype):
        super().__init__()
        self.qkv = Fp8Linear(WIDTH, 3 * WIDTH, dtype, channels=True, bias=False)
        self.out = Fp8Linear(WIDTH, WIDTH, dtype, channels=False, bias=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        size = width // self.HEADS
        qkv = self.qkv(x).view(batch, length, 3, self.HEADS, size)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(q @ k.transpose(-1, -2) * size**-0.5, dim=-1)
        return x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))


MODELS = {
    "mlp": (Mlp(torch.float32, channels=False), (4, 16, WIDTH), torch.float32),
    "mlp_channels": (Mlp(torch.float32, channels=True), (4, 16, WIDTH), torch.float32),
    "mlp_bf16": (Mlp(torch.bfloat16, channels=True), (4, 16, WIDTH), torch.bfloat16),
    "attention": (Attention(torch.float32), (2, 16, WIDTH), torch.float32),
}


def main() -> None:
    folder = Path(sys.argv[1])
    for name, (model, shape, dtype) in MODELS.items():
        x = torch.randn(*shape, generator=torch.Generator().manual_seed(1)).to(dtype)
        with torch.no_grad():
            y = model(x)
        module = fx.export_and_import(model.eval(), x, output_type="raw", func_name="main")
        (folder / f"{name}.mlir").write_text(str(module))
        np.savez(folder / f"{name}.npz", x=x.float().numpy(), y=y.float().numpy())


if __name__ == "__main__":
    main()
