"""Which passes run, in what order: the default pipeline."""

from __future__ import annotations

from ..passes.pipeline import Pipeline

# Where the report is read: before these passes.
STABLEHLO_INPUT = "iree-stablehlo-input-transformation-pipeline"
FIRST_LOWERING = "accumulate-in-f32"

FRONTEND = ("record-shardings", "inline", "symbol-dce", "raise-stablehlo")
MODEL = (
    "canonicalize",
    "cse",
    "headrace-cse",
    "headrace-dce",
    "commute-collectives",
    "fuse-scaled-matmul",
    "headrace-cse",
    "headrace-dce",
)
INPUT = (STABLEHLO_INPUT, "normalize-loops")
CLEAN_UP = ("strip-headrace", "convert-scf-to-cf", "canonicalize", "cse", "widen-block-arguments")


def default_pipeline(target: str, collectives: str, devices: int) -> str:
    """The pipeline from a per-device program to what IREE is handed, as text.

    ``collectives`` is ``devices`` or ``channel``. Loops end in ``cf`` form:
    in ``scf`` form IREE copies every loop-carried buffer in each trip.
    """
    lowering = [
        f"{FIRST_LOWERING}{{target={target}}}",
        f"lower-matmul{{target={target}}}",
        f"legalize-fp8{{target={target}}}",
        "lower-encodings",
    ]
    if collectives == "channel":
        lowering.append("collectives-to-channels")
    else:
        lowering.append(f"spmd-to-devices{{devices={devices}}}")
        if devices > 1:
            lowering.append("isolate-scalars")
    return f"builtin.module({','.join((*FRONTEND, *MODEL, *INPUT, *lowering, *CLEAN_UP))})"


def build(target: str, collectives: str, devices: int) -> Pipeline:
    """The same, ready to run; imports every pass it names."""
    return Pipeline.parse(default_pipeline(target, collectives, devices))
