"""Recognises what kind of program a user handed in, and loads it.

headrace takes per-device StableHLO, torch or linalg: one SPMD program whose
types are one device's shapes. What people have at hand is often something
else; each such form is either turned into that one or refused with a hint.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...dialects import ir
from ...dialects.device_counts import DeviceCounts
from ...dialects.input_checks import check_device_counts
from ...dialects.ir.parsing import parse_module, text_or_bytecode
from ...dialects.upstream.stablehlo import call_target
from ...passes.frontend.collectives.collectives import STABLEHLO_FORMS
from ...passes.frontend.per_device.dimension_tilings import ANNOTATION, TO_GLOBAL, TO_LOCAL
from ...passes.pipeline import Instrumentation
from .. import pipelines
from ..pipelines import Settings
from .contents import Contents
from .jax_child import read_with_jax
from .jax_handover import per_device_text

# Or one of JAX's own objects: Lowered, Exported, a module of jaxlib's.
Source = ir.Module | ir.Operation | ir.OpView | str | bytes | Path

# A portable artifact names its producer in the header; plain bytecode has MLIR.
_ARTIFACT = re.compile(rb"ML\xefR.StableHLO_v", re.DOTALL)
_JAX_HINT = "call headrace.jax.to_stablehlo(fn, *args) on the JAX function and pass its result"
_SHARDY = re.compile(r"\bsdy\.|#sdy\b")
_BOUNDARIES = frozenset((TO_LOCAL, TO_GLOBAL))
_COMMUNICATES = frozenset(
    (
        *(form.name for form in STABLEHLO_FORMS),
        *("stablehlo.collective_broadcast", "stablehlo.partition_id", "stablehlo.replica_id"),
    )
)


def load_module(source: Source | Any, context: ir.Context) -> ir.Operation:
    """The ``builtin.module`` operation of any input form, per device but for
    what ``make_per_device`` has still to do.

    ``source`` is a module of the IREE bindings (its own context is kept, and
    it stays as it is), MLIR text, MLIR bytecode, a ``jax.export`` artifact, a
    path of a file with one of these, or JAX's Lowered, Exported or module. A
    ``str`` is text if it has a line break or a brace, else a path.

    Raises HeadraceError, with a hint, for a file that cannot be read, and for
    anything that is not MLIR.
    """
    if isinstance(source, ir.Module | ir.Operation | ir.OpView):
        module = ir.module_operation(source)
    elif isinstance(source, Path) or (isinstance(source, str) and not _is_text(source)):
        module = _parse(_read(Path(source)), str(source), context)
    elif isinstance(source, str | bytes):
        module = _parse(source, "<input>", context)
    else:
        module = _load_foreign(source, context)
    check_device_counts(module)
    return module


def _is_text(source: str) -> bool:
    return "\n" in source or "{" in source or not source


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ir.HeadraceError(f"cannot read '{path}': {error.strerror}") from None
    except ValueError as error:  # a null byte
        raise ir.HeadraceError(f"cannot read {str(path)!r}: {error}") from None


def _parse(source: str | bytes, name: str, context: ir.Context) -> ir.Operation:
    if isinstance(source, bytes):
        source = _decode(source, name)
    if isinstance(source, str):
        _refuse_other_text(source, name)
    try:
        return parse_module(source, name, context)
    except ir.HeadraceError:
        if isinstance(source, str) and _SHARDY.search(source):
            return parse_module(read_with_jax(source.encode(), name), name, context)
        raise


def _decode(data: bytes, name: str) -> str | bytes:
    """Text, or bytecode of modules that IREE knows."""
    artifact = _ARTIFACT.search(data)
    if artifact is not None:
        # Exported.serialize() is a flatbuffer that holds the artifact as a
        # vector: its length, then its bytes.
        start = artifact.start()
        size = int.from_bytes(data[max(start - 4, 0) : start], "little")
        return read_with_jax(data[start : start + size] if start else data, name)
    return text_or_bytecode(data, name)


def _refuse_other_text(text: str, name: str) -> None:
    start = text.lstrip()[:20]
    if not start:
        raise ir.HeadraceError(f"'{name}' is empty")
    if start.startswith("HloModule"):
        raise ir.HeadraceError(
            f"'{name}' is HLO text, as compiled.as_text() writes it; headrace takes StableHLO: "
            + _JAX_HINT
        )
    if re.match(r"\{ *lambda\b", start):
        raise ir.HeadraceError(f"'{name}' is a jaxpr; headrace takes StableHLO: {_JAX_HINT}")


def _load_foreign(source: Any, context: ir.Context) -> ir.Operation:
    """JAX's own objects: they come from another MLIR and cross as text."""
    artifact = getattr(source, "mlir_module_serialized", None)
    if isinstance(artifact, bytes | bytearray):
        return _parse(bytes(artifact), "<jax.export>", context)
    kind = source.__class__
    if kind.__module__.startswith("jaxlib.") and hasattr(source, "operation"):
        return parse_module(per_device_text(source), "<jax>", context)
    if hasattr(source, "compiler_ir") and hasattr(source, "args_info"):
        module = source.compiler_ir(dialect="stablehlo")
        return parse_module(per_device_text(module), "<jax>", context)
    hint = f": {_JAX_HINT}" if callable(source) else ""
    raise ir.HeadraceError(
        "expected a module, MLIR text or bytecode, or a path, "
        f"got {kind.__module__}.{kind.__qualname__}{hint}"
    )


def make_per_device(contents: Contents, hooks: Sequence[Instrumentation] = ()) -> Contents:
    """Makes a global program one device's: by its manual parts, else by JAX's partitioner.

    Returns the contents of the same module. Raises HeadraceError, with a hint, for a program
    that cannot be made per device.
    """
    if any(name.startswith("vhlo.") for name in contents.first):
        raise ir.HeadraceError(f"the module is in the VHLO dialect, as text: {_JAX_HINT}")
    targets = {call_target(op) for op in contents.named("stablehlo.custom_call")}
    if _is_for_jax(contents, targets):
        return _split_by_jax(contents)
    if not targets & _BOUNDARIES:
        return contents
    pipeline = pipelines.build(pipelines.PER_DEVICE, Settings(has_manual_parts=True))
    try:
        pipeline.run(contents.module, hooks, verify_each=False)
    except ir.HeadraceError:
        if find_spec("jax") is None:
            raise
        return _split_by_jax(contents)
    return Contents(contents.module)


def _split_by_jax(contents: Contents) -> Contents:
    module = contents.module
    text = str(module.get_asm(print_generic_op_form=True, enable_debug_info=True))
    made = read_with_jax(text.encode(), "the module")
    ir.replace_contents(module, parse_module(made, "<jax>", module.context))
    return Contents(module)


def _is_for_jax(contents: Contents, targets: set[str]) -> bool:
    """A program in Shardy's dialect, which IREE does not know; or one that is sharded, and
    nothing in it says how it is split."""
    module = contents.module
    names = {
        name
        for function in ir.functions_of(module)
        for entries in (*ir.argument_attributes(function), *ir.result_attributes(function))
        for name in entries
    }
    if any(name.startswith("sdy.") for name in (*contents.first, *names)):
        return True
    if targets & _BOUNDARIES or (DeviceCounts.of(module, "mhlo").partitions or 1) == 1:
        return False
    # jax.result_info tells JAX's own output from per-device text, in which a
    # program without collectives is a legal one.
    written_by_jax = "jax.result_info" in names and "mhlo.sharding" in names
    communicates = any(
        name in _COMMUNICATES or name.startswith("headrace.") for name in contents.first
    )
    return not communicates and (ANNOTATION in targets or written_by_jax)
