"""Which passes run, in what order: the default pipeline."""

from __future__ import annotations

from ..passes.dispatch.stage import dispatch_stage
from ..passes.loops.pipeline_collectives import PipelineCollectives
from ..passes.pipeline import Pipeline

# Where the report is read: before these passes.
STABLEHLO_INPUT = "iree-stablehlo-input-transformation-pipeline"
FIRST_LOWERING = "accumulate-in-f32"

FRONTEND = (
    *("record-shardings", "inline", "symbol-dce", "raise-stablehlo"),
    *("bound-indices", "widen-convolutions", "raise-linalg", "lower-dynamic-shapes"),
)
MODEL = (
    "canonicalize",
    "cse",
    "headrace-cse",
    "headrace-dce",
    "commute-collectives",
)
MATMULS = ("fuse-scaled-matmul", "headrace-cse", "headrace-dce")
INPUT = ("keep-integer-converts", STABLEHLO_INPUT)
# Bounds and counters must be constants and functions of the index before a
# loop is looked at; what is peeled may fold again after it.
LOOPS = ("normalize-loops", "canonicalize", "cse", "hoist-collectives")
AFTER_LOOPS = ("canonicalize", "cse", "headrace-dce")
# On the final ops of loops: what decodes an operand comes before, not beside.
ALIGN = "align-collectives"
# What several devices in one program need besides.
DEVICES = ("place-constants", "isolate-scalars")
CLEAN_UP = (
    *("loops-to-cf", "keep-arguments", "strip-headrace", "canonicalize", "cse"),
    # Canonicalization may have brought a transpose to the op that makes its operand.
    "fold-transposes",
)
# After the last pass that may make one value of two equal ones.
BUFFERS = ("own-buffers", "hold-carried-transfers")
LAST = ("separate-updates", "widen-block-arguments")


def default_pipeline(
    target: str,
    collectives: str,
    devices: int,
    pipeliner: PipelineCollectives | None = None,
    order: str = "after-matmul",
    multi_use: bool = False,
) -> str:
    """The pipeline from a per-device program to what IREE is handed, as text.

    ``collectives`` is ``devices`` or ``channel``; ``order`` says whether loops
    are pipelined ``after-matmul`` or ``before-matmul``: scaled matmuls are
    formed on StableHLO then, or on linalg; ``multi_use`` says whether
    encodings of values with other users are fused. Loops end in ``cf`` form:
    in ``scf`` form IREE runs nothing in a loop at once.
    """
    loops = (*LOOPS, str(pipeliner or PipelineCollectives()), *AFTER_LOOPS)
    if order == "after-matmul":
        model = (*MODEL, *MATMULS, *INPUT, *loops)
    else:
        model = (*MODEL, *INPUT, *loops, *MATMULS)
    lowering = [
        f"{FIRST_LOWERING}{{target={target}}}",
        f"lower-matmul{{target={target}}}",
        "legalize-converts",
        f"legalize-math{{target={target}}}",
        f"legalize-fp8{{target={target}}}",
        "order-ties",
        "lower-encodings",
        ALIGN,
        # Before anything is fused, and goes into regions.
        "hold-sourceless-values",
        "hold-crossed-reductions",
        *dispatch_stage(target, multi_use=multi_use),
    ]
    if collectives == "channel":
        lowering += ["collectives-to-channels", "place-arguments"]
    else:
        lowering.append(f"spmd-to-devices{{devices={devices}}}")
        if devices > 1:
            lowering += DEVICES
    buffers = BUFFERS if collectives == "devices" and devices > 1 else ()
    passes = (*FRONTEND, *model, *lowering, *CLEAN_UP, *buffers, *LAST)
    return f"builtin.module({','.join(passes)})"


def build(
    target: str,
    collectives: str,
    devices: int,
    pipeliner: PipelineCollectives | None = None,
    order: str = "after-matmul",
    multi_use: bool = False,
) -> Pipeline:
    """The same, ready to run; imports every pass it names."""
    text = default_pipeline(target, collectives, devices, pipeliner, order, multi_use)
    return Pipeline.parse(text)


def matmuls_read_before(order: str) -> str:
    """The pass before which all scaled matmuls are formed, and none is lowered."""
    return STABLEHLO_INPUT if order == "after-matmul" else FIRST_LOWERING
