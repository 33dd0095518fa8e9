"""``to-per-device``: one device's program from a global one with manual parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.device_counts import DeviceCounts
from ...dialects.ir.native_passes import run_native_pipeline
from ...dialects.upstream.linalg import DYNAMIC
from ...dialects.upstream.stablehlo import call_target, constant_elements, i64_array
from ..analysis.shardings import Tiling, tile_count
from ..base import Pass
from .per_device.constant_tiles import cut_constant, is_cut
from .per_device.dimension_ties import shape_of
from .per_device.dimension_tilings import ANNOTATION, TO_GLOBAL, TO_LOCAL, Tilings, check_boundary

# Say how JAX calls the function, which no device's program needs.
_DROPPED_ATTRIBUTES = ("jax.", "tf.", "mhlo.layout_mode", "mhlo.memory_kind", "mhlo.sharding")


def has_manual_parts(module: ir.Operation) -> bool:
    """Whether ``shard_map`` boundaries are in it, as custom calls."""
    return any(call_target(op) in (TO_LOCAL, TO_GLOBAL) for op in ir.walk(module))


@dataclass(frozen=True)
class ToPerDevice(Pass):
    """Turns a program with SPMDFullToShardShape calls into one device's program.

    What JAX writes for ``jit(shard_map(...))`` without Shardy is a program on
    global tensors whose manual parts lie between ``@SPMDFullToShardShape`` and
    ``@SPMDShardToFullShape``. Here all tensors get one device's shape, the
    boundaries go, and arguments and results say in ``mhlo.sharding`` how they
    are tiled. What is outside the manual parts may be elementwise, constant,
    or data movement and loops along dimensions that are not tiled. A module
    without boundaries stays as it is.

    Raises HeadraceError for ops outside the manual parts that would need
    communication, and for shard_map over a subset of the mesh axes.
    """

    name: ClassVar[str] = "to-per-device"

    def run(self, module: ir.Operation) -> None:
        if not has_manual_parts(module):
            return
        for op in ir.walk(module):
            check_boundary(op)
        _inline_global_side(module)
        devices = DeviceCounts.of(module, "mhlo").partitions
        if devices is None:
            raise ir.error_at(module, "the module has no mhlo.num_partitions")
        for function in ir.functions_of(module):
            if ir.is_public(function):
                _localize(function, devices)


# Calls: what is called on global tensors is inlined, so that all boundaries
# and all that ties them are in the public functions themselves.


def _inline_global_side(module: ir.Operation) -> None:
    _mark_local_calls(module)
    # No canonicalization: it would merge constants of both sides.
    run_native_pipeline(module, "builtin.module(inline{default-pipeline=},symbol-dce)")
    for op in ir.walk(module):
        if op.name == "func.call" and "no_inline" in op.attributes:
            del op.attributes["no_inline"]


def _mark_local_calls(module: ir.Operation) -> None:
    """Keeps the calls that are made on one device's tensors from inlining."""
    functions = {ir.StringAttr(f.attributes["sym_name"]).value: f for f in ir.functions_of(module)}
    pending = [name for name, function in functions.items() if ir.is_public(function)]
    seen = set(pending)
    kept = {
        name: [op for op in ir.walk(function) if op.name == "func.call"]
        for name, function in functions.items()
    }
    while pending:
        name = pending.pop()
        local = _local_calls(functions[name])
        for callee in (_callee(call) for call in kept[name] if call not in local):
            if callee in functions and callee not in seen:
                seen.add(callee)
                pending.append(callee)
        kept[name] = local
    for calls in kept.values():
        for call in calls:
            call.attributes["no_inline"] = ir.UnitAttr.get(module.context)


def _callee(call: ir.Operation) -> str:
    return ir.FlatSymbolRefAttr(call.attributes["callee"]).value


def _local_calls(function: ir.Operation) -> list[ir.Operation]:
    """The calls that work on what a boundary has made local."""
    local: set[ir.Value] = set()
    calls: list[ir.Operation] = []
    for op in ir.walk(function):
        if call_target(op) == TO_GLOBAL:
            continue
        if call_target(op) == TO_LOCAL or any(v in local for v in op.operands):
            local.update(op.results)
            local.update(a for b in ir.blocks_of(op) for a in b.arguments)
            if op.name == "func.call":
                calls.append(op)
    return calls


def _localize(function: ir.Operation, devices: int) -> None:
    """Gives everything in a public function one device's types."""
    block = function.regions[0].blocks[0]
    _separate_constants(function)
    body = ir.walk(function)[1:]
    ends = list(ir.operations_of(block)[-1].operands)
    argument_entries = ir.argument_attributes(function)
    result_entries = ir.result_attributes(function)
    tilings = Tilings(devices)
    for value, entries in [
        *zip(block.arguments, argument_entries, strict=True),
        *zip(ends, result_entries, strict=True),
    ]:
        if "mhlo.sharding" in entries:
            tilings.assign(function, value, ir.StringAttr(entries["mhlo.sharding"]).value)
    for op in body:
        tilings.visit(op)
    argument_texts = [tilings.text(v) for v in block.arguments]
    result_texts = [tilings.text(v) for v in ends]
    values = [a for op in [function, *body] for b in ir.blocks_of(op) for a in b.arguments]
    values += [result for op in body for result in op.results]
    # All tilings before any change: they are looked up by values and shapes.
    tiled = [(value, found) for value in values if any(found := tilings.of(value))]
    for value, found in tiled:
        producer = ir.defining_op(value)
        if producer is not None and is_cut(producer):
            cut_constant(producer, found, devices)
        else:
            value.set_type(_local_type(value, found))
    for op in body:
        _fit_attributes(op)
    for op in body:
        if call_target(op) in (TO_LOCAL, TO_GLOBAL, ANNOTATION):
            _erase_boundary(op)
    ir.set_function_type(
        function,
        [argument.type for argument in block.arguments],
        [value.type for value in ir.operations_of(block)[-1].operands],
    )
    ir.set_argument_attributes(
        function, _with_shardings(argument_entries, argument_texts, function)
    )
    ir.set_result_attributes(function, _with_shardings(result_entries, result_texts, function))


def _separate_constants(function: ir.Operation) -> None:
    """A copy for each boundary, which may cut it, while others see it whole."""
    for op in ir.walk(function):
        if op.name != "stablehlo.constant":
            continue
        users = ir.users_of(op.results[0])
        for user in users if len(users) > 1 else ():
            if call_target(user) in (TO_LOCAL, ANNOTATION):
                copy = op.clone(ir.InsertionPoint.after(op)).operation
                user.operands[0] = copy.results[0]


def _with_shardings(
    entries: Sequence[ir.Attributes], texts: Sequence[str], function: ir.Operation
) -> list[ir.Attributes]:
    found: list[ir.Attributes] = []
    for old, text in zip(entries, texts, strict=True):
        kept = {k: a for k, a in old.items() if not k.startswith(_DROPPED_ATTRIBUTES)}
        found.append({**kept, "mhlo.sharding": ir.StringAttr.get(text, function.context)})
    return found


def _local_type(value: ir.Value, tilings: Sequence[Tiling]) -> ir.RankedTensorType:
    """The type of one device's tile."""
    whole = ir.RankedTensorType(value.type)
    sizes = [
        n if n == DYNAMIC else n // tile_count(t) for n, t in zip(whole.shape, tilings, strict=True)
    ]
    return ir.RankedTensorType.get(sizes, whole.element_type)


def _fit_attributes(op: ir.Operation) -> None:
    """Makes attributes that repeat a shape fit the new types."""
    if op.name == "stablehlo.constant":
        value = constant_elements(op.results[0])
        if value is not None and value.type != op.results[0].type:
            splat = value.get_splat_value()
            op.attributes["value"] = ir.DenseElementsAttr.get_splat(op.results[0].type, splat)
    elif op.name == "stablehlo.dynamic_slice":
        op.attributes["slice_sizes"] = _i64_array(op, shape_of(op.results[0]) or [])
    elif op.name == "stablehlo.slice":
        limits = i64_array(op, "limit_indices")
        have, want = shape_of(op.operands[0]) or [], shape_of(op.results[0]) or []
        # A tiled dimension is never cut, so it ends where the operand ends.
        fitted = [h if h == w else old for h, w, old in zip(have, want, limits, strict=True)]
        op.attributes["limit_indices"] = _i64_array(op, fitted)


def _i64_array(op: ir.Operation, numbers: list[int]) -> ir.Attribute:
    return ir.DenseI64ArrayAttr.get(numbers, op.context)


def _erase_boundary(op: ir.Operation) -> None:
    operand, result = op.operands[0], op.results[0]
    if operand.type != result.type:
        raise ir.error_at(
            op, f"the sharding makes {operand.type}, but the program says {result.type}"
        )
    result.replace_all_uses_with(operand)
    op.erase()
