"""Every step of a compilation, in the order in which they run.

``STAGES`` is the whole list. A program meets it in four parts, between which the driver asks
what the program is: ``PER_DEVICE`` and ``TORCH`` bring it into the form that the rest is for,
``compile_stages`` makes of it what IREE is handed, ``AFTER_IREE`` repairs what IREE makes of that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from ..passes.base import Pass
from ..passes.pipeline import Pipeline, Stage, Step
from ..passes.registry import is_python_pass, pass_class
from ..passes.targets.lookup import parse_target


@dataclass(frozen=True)
class Settings:
    """What steps depend on: options of a pass go by these names, conditions ask for them.

    ``target`` is the one for passes; ``form`` is ``devices`` or ``channel``; ``order`` says whether
    loops are pipelined ``after-matmul`` or ``before-matmul``: scaled matmuls are formed on
    StableHLO then, or on linalg. ``modes`` and ``budget`` are pipeline-collectives'. The rest says
    what a program is: before it is one device's, in StableHLO or linalg, and as IREE is handed it.
    """

    target: str = "cpu"
    form: str = "channel"
    devices: int = 1
    modes: tuple[str, ...] = ()
    budget: int = -1
    order: str = "after-matmul"
    experimental_multi_use_encoding_fusion: bool = False
    has_manual_parts: bool = False
    is_torch: bool = False
    is_onnx: bool = False
    has_f64: bool = False
    has_branches: bool = False

    @property
    def several(self) -> bool:
        """Whether one program is for several devices."""
        return self.form == "devices" and self.devices > 1


Condition = Callable[[Settings], bool]


@dataclass(frozen=True)
class Entry:
    """One pass, or several native ones in their anchors.

    ``options`` are those of a pass that the settings have under the same names.
    """

    text: str
    options: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()

    def steps(self, settings: Settings) -> tuple[Step, ...]:
        if not all(condition(settings) for condition in self.conditions):
            return ()
        if not is_python_pass(self.text):
            return _native_steps(self.text)
        make: Callable[..., Pass] = pass_class(self.text)
        return (make(**{name: getattr(settings, name) for name in self.options}),)


def step(text: str, *options: str) -> Entry:
    return Entry(text, options)


def when(condition: Condition, *entries: Entry) -> tuple[Entry, ...]:
    """The entries, which then run under that condition only."""
    return tuple(replace(e, conditions=(condition, *e.conditions)) for e in entries)


@cache
def _native_steps(text: str) -> tuple[Step, ...]:
    return tuple(Pipeline.parse(f"builtin.module({text})").steps)


def _is_torch(settings: Settings) -> bool:
    return settings.is_torch


def _tiles(settings: Settings) -> bool:
    """For a target that tiles nothing only remarks come of set-encodings."""
    return bool(parse_target(settings.target).tiling.types)


def _names_several_devices(settings: Settings) -> bool:
    return settings.several


_CANONICALIZE = step("func.func(canonicalize)")
_CSE = step("func.func(cse)")
# Ops that IREE lowers better whole than in parts: attention would round its
# scores between the parts, a convolution's gradient would become a loop.
_KEPT_WHOLE = (
    "aten.flatten.using_ints",
    "aten.unflatten.int",
    "aten.adaptive_avg_pool1d",
    "aten.adaptive_avg_pool2d",
    "aten.adaptive_max_pool1d",
    "aten.fft_rfft",
    "aten.convolution_backward",
    "aten.scaled_dot_product_attention",
    "aten.argmax",
    "aten.argmin",
)
_DECOMPOSE = step(f"func.func(torch-decompose-complex-ops{{legal-ops={','.join(_KEPT_WHOLE)}}})")
_REFINE_SHAPES = (
    step("torch-reify-shape-calculations"),
    step("inline"),
    step("func.func(torch-simplify-shape-calculations)"),
    _CSE,
    step("func.func(torch-simplify-shape-calculations)"),
    step("func.func(torch-drop-abstract-interp-calculations)"),
)

STAGES: dict[str, tuple[Entry, ...]] = {
    "per-device": when(lambda s: s.has_manual_parts, step("to-per-device")),
    # ONNX's operators become torch's: IREE's torch-onnx-to-torch-backend-pipeline.
    "onnx": when(
        lambda s: s.is_onnx,
        step("func.func(convert-torch-onnx-to-torch)"),
        _DECOMPOSE,
        _CANONICALIZE,
        *_REFINE_SHAPES,
        step("func.func(torch-scalarize-shapes)"),
        *_REFINE_SHAPES,
        step("torch-refine-public-return"),
        _CANONICALIZE,
        _DECOMPOSE,
        _CANONICALIZE,
    ),
    # IREE's torch-to-iree up to its calling convention, with its options.
    "torch": when(
        _is_torch,
        step("func.func(torch-iree-bind-symbolic-shapes)"),
        step("func.func(torch-iree-set-strict-symbolic-shapes)"),
        _CANONICALIZE,
        # headrace's own: constants are folded here, and no op is decomposed yet.
        step("split-attention", "target"),
        step("func.func(torch-recompose-complex-ops)"),
        step("func.func(torch-iree-bitcast-tensor)"),
        step("func.func(torch-reduce-op-variants)"),
        step("func.func(torch-convert-custom-quant-op)"),
        _DECOMPOSE,
        step("func.func(torch-fuse-quantized-ops)"),
        _CANONICALIZE,
        step("func.func(torch-scalarize-shapes)"),
        step("func.func(convert-torch-to-tmtensor)"),
        step("func.func(torch-iree-tm-tensor-to-linalg-ext)"),
        step("func.func(convert-torch-to-tensor)"),
        step("func.func(torch-iree-torch-unstructured-to-linalg-ext)"),
        step("func.func(torch-iree-torch-quantization-to-linalg-ext)"),
        step("func.func(convert-torch-to-linalg)"),
        _CSE,
        step("func.func(convert-torch-to-scf)"),
        step("func.func(convert-torch-to-arith)"),
        step("convert-torch-conversion-to-mlprogram"),
        _CANONICALIZE,
        step("func.func(resolve-shaped-type-result-dims)"),
        _CSE,
        step("inline"),
    ),
    # In place of torch-iree-func-conversion, which makes fences and buffer views of
    # tensors: headrace's programs take and return tensors.
    "torch-types": (
        *when(
            _is_torch,
            step("torch-func-backend-type-conversion"),
            _CANONICALIZE,
            step("symbol-dce"),
            step("func.func(torch-finalizing-backend-type-conversion)"),
        ),
        # torch-mlir sums variances in f64, PyTorch in f32. Not in a program that has
        # f64 tensors of its own: IREE fails on a mix of both.
        *when(
            lambda s: s.is_torch and not s.has_f64,
            step("iree-input-conversion-demote-f64-to-f32"),
        ),
    ),
    "frontend": (
        step("record-shardings"),
        step("inline"),
        step("symbol-dce"),
        step("raise-stablehlo"),
        step("bound-indices"),
        step("widen-convolutions"),
        step("raise-linalg"),
        step("lower-dynamic-shapes"),
    ),
    "model": (
        step("canonicalize"),
        step("cse"),
        step("headrace-cse"),
        step("headrace-dce"),
        step("commute-collectives"),
    ),
    # After the loops in the other order: see compile_stages.
    "matmuls": (
        step("fuse-scaled-matmul"),
        step("headrace-cse"),
        step("headrace-dce"),
    ),
    "stablehlo-input": (
        step("keep-integer-converts"),
        step("keep-sorts"),
        step("iree-stablehlo-input-transformation-pipeline"),
        step("release-sorts"),
    ),
    "loops": (
        # Bounds and counters must be constants and functions of the index before a
        # loop is looked at; what is peeled may fold again after it.
        step("normalize-loops"),
        step("canonicalize"),
        step("cse"),
        step("hoist-collectives"),
        step("pipeline-collectives", "modes", "budget"),
        step("canonicalize"),
        step("cse"),
        step("headrace-dce"),
    ),
    "lowering": (
        step("accumulate-in-f32", "target"),
        step("lower-matmul", "target"),
        step("legalize-converts"),
        step("legalize-math", "target"),
        step("legalize-fp8", "target"),
        # On all f16 that those before it make.
        step("round-f16", "target"),
        step("order-ties"),
        step("lower-encodings"),
        # On the final ops of loops: what decodes an operand comes before, not beside.
        step("align-collectives"),
    ),
    # What IREE would fuse and should not, and what its fusion fails on.
    "before-fusion": (
        step("hold-gathered-slices"),
        step("hold-padded-values"),
        step("hold-sourceless-values"),
        step("hold-crossed-reductions"),
        step("trim-windows"),
        step("hold-skipped-elements"),
        step("widen-sliced-scalars"),
    ),
    # All ops are IREE's but collectives, and the program is still one device's.
    "dispatch": (
        *when(
            _tiles,
            # Sizes come from what ops read, not from what they make: an op may then move
            # into a region and leave its sizes outside. Unit dimensions hide which ops
            # are elementwise. Transposes are in one form, so that CSE sees which ops are
            # equal: IREE would see it later, across a region's border, and crash on a
            # region that yields a value from outside.
            step("resolve-ranked-shaped-type-result-dims"),
            step("func.func(iree-dispatch-creation-fold-unit-extent-dims-for-func)"),
            step("func.func(iree-dispatch-creation-fusion-preprocessing)"),
            step("canonicalize"),
            step("cse"),
            step("collapse-contractions"),
            step("pack-panels", "target"),
        ),
        step("set-encodings", "target"),
        *when(
            _tiles,
            # Not before set-encodings: what follows one matmul would be fused with what
            # follows another, and belong to neither.
            step("func.func(iree-dispatch-creation-bubble-up-expand-shapes)"),
            step("func.func(iree-dispatch-creation-elementwise-op-fusion)"),
            step("canonicalize"),
            step("cse"),
            step("form-dispatch-regions", "target"),
            step("fuse-encodings", "target", "experimental_multi_use_encoding_fusion"),
        ),
    ),
    "devices": (
        *when(lambda s: s.form == "devices", step("spmd-to-devices", "devices")),
        *when(_names_several_devices, step("place-constants"), step("isolate-scalars")),
        *when(
            lambda s: s.form == "channel", step("collectives-to-channels"), step("place-arguments")
        ),
    ),
    # Loops end in cf form: in scf form IREE runs nothing in a loop at once.
    "handover": (
        step("loops-to-cf"),
        step("keep-arguments"),
        step("strip-headrace"),
        step("canonicalize"),
        step("cse"),
        # Canonicalization may have brought a transpose to the op that makes its operand.
        step("fold-transposes"),
        # After the last pass that may make one value of two equal ones.
        step("own-buffers", "several"),
        *when(_names_several_devices, step("hold-carried-transfers")),
        step("separate-updates"),
        step("keep-update-order"),
        step("widen-block-arguments"),
    ),
    # On IREE's VM program, before it becomes bytecode.
    "after-iree": when(lambda s: s.has_branches, step("separate-forwarded-refs")),
}

PER_DEVICE = ("per-device",)
TORCH = ("onnx", "torch", "torch-types")
AFTER_IREE = ("after-iree",)


def compile_stages(order: str = "after-matmul") -> tuple[str, ...]:
    """From a per-device program to what IREE is handed."""
    first = ("matmuls", "stablehlo-input", "loops")
    if order == "before-matmul":
        first = ("stablehlo-input", "loops", "matmuls")
    return (
        "frontend",
        "model",
        *first,
        "lowering",
        "before-fusion",
        "dispatch",
        "devices",
        "handover",
    )


def build(stages: Sequence[str], settings: Settings) -> Pipeline:
    """Those stages ready to run, without what the settings leave out."""
    return Pipeline(
        stages=[
            Stage(name, tuple(s for entry in STAGES[name] for s in entry.steps(settings)))
            for name in stages
        ]
    )


def build_default(settings: Settings) -> Pipeline:
    """The pipeline from a per-device program to what IREE is handed."""
    return build(compile_stages(settings.order), settings)


def default_pipeline(target: str, form: str, devices: int, multi_use: bool = False) -> str:
    """The same as text; see ``Settings``."""
    settings = Settings(target, form, devices, experimental_multi_use_encoding_fusion=multi_use)
    return str(build_default(settings))
