"""What is refused, by reason: each entry a limit that docs/limits.md names.

A refusal that no entry covers is a fault.
"""

from __future__ import annotations

import re

# Pattern of the error, and the reason in a few words.
REFUSALS: tuple[tuple[str, str], ...] = (
    (
        r"op inferred input/output operand #1 has shape's dimension",
        "pooling: a window that fits once along a dimension, with a stride (IREE 3.13)",
    ),
    (
        r"failed to apply fusion \+ hoisting patterns|allocation size overflows 64 bits",
        "GPUs: a slice of a converted tensor of dynamic size (IREE 3.13)",
    ),
    (
        r"write affecting operations on global resources are restricted",
        "a strided slice of a convolution on GPUs; topk of topk (IREE 3.13)",
    ),
    (r"'spirv.Bitcast' op mismatch", "Vulkan: i1 to bf16 (IREE 3.13)"),
    (
        r"'arith.(extf|truncf)' op operand type 'f8.*are cast incompatible",
        "torch: one fp8 type to another of its size (torch-mlir)",
    ),
    # Until integers are converted to bf16 without a call that is not there.
    (r"failed to link executable", "integers to bf16 on a CPU without bf16 instructions"),
)


def reason_of(message: str) -> str | None:
    """The reason that is listed for an error; None if there is none."""
    return next((reason for pattern, reason in REFUSALS if re.search(pattern, message)), None)
