"""Which passes there are: names to lazily imported classes.

Third parties add theirs through the entry-point group ``headrace.passes``:
the entry point's name is the pass name, its value ``module:Class``.
"""

from __future__ import annotations

import difflib
from functools import cache
from importlib import import_module
from typing import cast

from ..dialects import ir
from .base import Pass

# Name to "stage.module:Class", in the order in which compiler/pipelines.py runs them first.
_BUILTIN: dict[str, str] = {
    "to-per-device": "frontend.to_per_device:ToPerDevice",
    "split-attention": "frontend.split_attention:SplitAttention",
    "record-shardings": "frontend.record_shardings:RecordShardings",
    "raise-stablehlo": "frontend.raise_stablehlo:RaiseStablehlo",
    "bound-indices": "frontend.bound_indices:BoundIndices",
    "widen-convolutions": "frontend.widen_convolutions:WidenConvolutions",
    "raise-linalg": "frontend.raise_linalg:RaiseLinalg",
    "lower-dynamic-shapes": "frontend.lower_dynamic_shapes:LowerDynamicShapes",
    "headrace-cse": "model.headrace_cse:HeadraceCse",
    "headrace-dce": "model.headrace_dce:HeadraceDce",
    "commute-collectives": "model.commute_collectives:CommuteCollectives",
    "fuse-scaled-matmul": "model.fuse_scaled_matmul:FuseScaledMatmul",
    "keep-integer-converts": "frontend.keep_integer_converts:KeepIntegerConverts",
    "keep-sorts": "frontend.keep_sorts:KeepSorts",
    "release-sorts": "frontend.release_sorts:ReleaseSorts",
    "normalize-loops": "loops.normalize_loops:NormalizeLoops",
    "hoist-collectives": "loops.hoist_collectives:HoistCollectives",
    "pipeline-collectives": "loops.pipeline_collectives:PipelineCollectives",
    "accumulate-in-f32": "lowering.accumulate_in_f32:AccumulateInF32",
    "lower-matmul": "lowering.lower_matmul:LowerMatmul",
    "legalize-converts": "lowering.legalize_converts:LegalizeConverts",
    "legalize-math": "lowering.legalize_math:LegalizeMath",
    "legalize-fp8": "lowering.legalize_fp8:LegalizeFp8",
    "round-f16": "lowering.round_f16:RoundF16",
    "order-ties": "lowering.order_ties:OrderTies",
    "lower-encodings": "lowering.lower_encodings:LowerEncodings",
    "align-collectives": "lowering.align_collectives:AlignCollectives",
    "hold-gathered-slices": "before_fusion.hold_gathered_slices:HoldGatheredSlices",
    "hold-padded-values": "before_fusion.hold_padded_values:HoldPaddedValues",
    "hold-sourceless-values": "before_fusion.hold_sourceless_values:HoldSourcelessValues",
    "hold-crossed-reductions": "before_fusion.hold_crossed_reductions:HoldCrossedReductions",
    "trim-windows": "before_fusion.trim_windows:TrimWindows",
    "hold-skipped-elements": "before_fusion.hold_skipped_elements:HoldSkippedElements",
    "widen-sliced-scalars": "before_fusion.widen_sliced_scalars:WidenSlicedScalars",
    "collapse-contractions": "dispatch.collapse_contractions:CollapseContractions",
    "pack-panels": "dispatch.pack_panels:PackPanels",
    "set-encodings": "dispatch.set_encodings:SetEncodings",
    "form-dispatch-regions": "dispatch.form_dispatch_regions:FormDispatchRegions",
    "fuse-encodings": "dispatch.fuse_encodings:FuseEncodings",
    "spmd-to-devices": "devices.spmd_to_devices:SpmdToDevices",
    "place-constants": "devices.place_constants:PlaceConstants",
    "isolate-scalars": "devices.isolate_scalars:IsolateScalars",
    "collectives-to-channels": "devices.collectives_to_channels:CollectivesToChannels",
    "place-arguments": "devices.place_arguments:PlaceArguments",
    "loops-to-cf": "handover.loops_to_cf:LoopsToCf",
    "keep-arguments": "handover.keep_arguments:KeepArguments",
    "strip-headrace": "handover.strip_headrace:StripHeadrace",
    "fold-transposes": "handover.fold_transposes:FoldTransposes",
    "own-buffers": "handover.own_buffers:OwnBuffers",
    "hold-carried-transfers": "handover.hold_carried_transfers:HoldCarriedTransfers",
    "separate-updates": "handover.separate_updates:SeparateUpdates",
    "keep-update-order": "handover.keep_update_order:KeepUpdateOrder",
    "widen-block-arguments": "handover.widen_block_arguments:WidenBlockArguments",
    "separate-forwarded-refs": "handover.separate_forwarded_refs:SeparateForwardedRefs",
}

_registered: dict[str, type[Pass]] = {}


def register_pass(pass_class: type[Pass]) -> type[Pass]:
    """Adds a pass for this process; usable as a decorator.

    Raises HeadraceError if the name is taken.
    """
    if not pass_class.name:
        raise ir.HeadraceError(f"pass class {pass_class.__name__} has no name")
    if is_python_pass(pass_class.name):
        raise ir.HeadraceError(f"a pass named '{pass_class.name}' is already registered")
    _registered[pass_class.name] = pass_class
    return pass_class


@cache
def _plugins() -> dict[str, str]:
    from importlib.metadata import entry_points  # slow to import, and seldom needed

    found: dict[str, str] = {}
    for entry in entry_points(group="headrace.passes"):
        if entry.name in _BUILTIN or entry.name in found:
            raise ir.HeadraceError(f"a pass named '{entry.name}' is already registered")
        found[entry.name] = entry.value
    return found


def pass_names() -> list[str]:
    """All Python passes: built in, from plug-ins, registered by hand."""
    return [*_BUILTIN, *_plugins(), *_registered]


def is_python_pass(name: str) -> bool:
    return name in _BUILTIN or name in _registered or name in _plugins()


def pass_class(name: str) -> type[Pass]:
    """The class of a Python pass.

    Raises HeadraceError with near names if there is none, and for a plug-in
    that does not hold what its entry point says.
    """
    if name in _registered:
        return _registered[name]
    if name in _BUILTIN:
        module, _, attribute = _BUILTIN[name].partition(":")
        return cast("type[Pass]", getattr(import_module(f"{__package__}.{module}"), attribute))
    if name in _plugins():
        return _load_plugin(name, _plugins()[name])
    raise ir.HeadraceError(f"unknown pass '{name}'{suggestion(name, pass_names())}")


def _load_plugin(name: str, value: str) -> type[Pass]:
    module, _, attribute = value.partition(":")
    try:
        found: object = getattr(import_module(module), attribute)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ir.HeadraceError(
            f"pass '{name}' cannot be loaded from '{value}': {reason}"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Pass)):
        raise ir.HeadraceError(f"'{value}' of the entry point '{name}' is no pass class")
    if found.name != name:
        raise ir.HeadraceError(f"the entry point '{name}' holds a pass named '{found.name}'")
    return found


def suggestion(name: str, known: list[str], prefix: str = "") -> str:
    """``; did you mean 'x'?``, empty where nothing is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean '{prefix}{near[0]}'?" if near else ""
