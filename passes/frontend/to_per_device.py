"""``to-per-device``: one device's program from a global one with manual parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.mlir import (
    ArrayAttr,
    Attribute,
    Block,
    DenseElementsAttr,
    DenseI64ArrayAttr,
    DictAttr,
    FlatSymbolRefAttr,
    FunctionType,
    IntegerAttr,
    Operation,
    RankedTensorType,
    StringAttr,
    TypeAttr,
    UnitAttr,
    Value,
    error_at,
    operations_of,
    walk,
)
from ...dialects.native_passes import run_native_pipeline
from ..base import Pass
from .dimension_ties import shape_of
from .dimension_tilings import ANNOTATION, TO_GLOBAL, TO_LOCAL, Tilings, custom_call_target
from .shardings import Tiling, tile_count

# Say how JAX calls the function, which no device's program needs.
_DROPPED_ATTRIBUTES = ("jax.", "tf.", "mhlo.layout_mode", "mhlo.memory_kind", "mhlo.sharding")


def has_manual_parts(module: Operation) -> bool:
    """Whether ``shard_map`` boundaries are in it, as custom calls."""
    return any(custom_call_target(op) in (TO_LOCAL, TO_GLOBAL) for op in walk(module))


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

    def run(self, module: Operation) -> None:
        if not has_manual_parts(module):
            return
        _inline_global_side(module)
        devices = _partitions(module)
        for function in operations_of(module.regions[0].blocks[0]):
            if function.name == "func.func" and _is_public(function):
                _localize(function, devices)


def _partitions(module: Operation) -> int:
    if "mhlo.num_partitions" not in module.attributes:
        raise error_at(module, "the module has no mhlo.num_partitions")
    return IntegerAttr(module.attributes["mhlo.num_partitions"]).value


def _is_public(function: Operation) -> bool:
    attributes = function.attributes
    return (
        "sym_visibility" not in attributes
        or StringAttr(attributes["sym_visibility"]).value == "public"
    )


# Calls: what is called on global tensors is inlined, so that all boundaries
# and all that ties them are in the public functions themselves.


def _inline_global_side(module: Operation) -> None:
    _mark_local_calls(module)
    # No canonicalization: it would merge constants of both sides.
    run_native_pipeline(module, "builtin.module(inline{default-pipeline=},symbol-dce)")
    for op in walk(module):
        if op.name == "func.call" and "no_inline" in op.attributes:
            del op.attributes["no_inline"]


def _mark_local_calls(module: Operation) -> None:
    """Keeps the calls that are made on one device's tensors from inlining."""
    functions = {
        StringAttr(op.attributes["sym_name"]).value: op
        for op in operations_of(module.regions[0].blocks[0])
        if op.name == "func.func"
    }
    pending = [name for name, function in functions.items() if _is_public(function)]
    seen = set(pending)
    kept = {name: _calls(function) for name, function in functions.items()}
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
            call.attributes["no_inline"] = UnitAttr.get(module.context)


def _calls(function: Operation) -> list[Operation]:
    return [op for op in walk(function) if op.name == "func.call"]


def _callee(call: Operation) -> str:
    return FlatSymbolRefAttr(call.attributes["callee"]).value


def _local_calls(function: Operation) -> list[Operation]:
    """The calls that work on what a boundary has made local."""
    local: set[Value] = set()
    calls: list[Operation] = []
    for op in walk(function):
        if custom_call_target(op) == TO_GLOBAL:
            continue
        if custom_call_target(op) == TO_LOCAL or any(v in local for v in op.operands):
            local.update(op.results)
            local.update(a for r in op.regions for b in r.blocks for a in b.arguments)
            if op.name == "func.call":
                calls.append(op)
    return calls


def _localize(function: Operation, devices: int) -> None:
    """Gives everything in a public function one device's types."""
    tilings = Tilings(devices)
    block = function.regions[0].blocks[0]
    ends = list(operations_of(block)[-1].operands)
    body = walk(function)[1:]
    _assign_signature(tilings, function, "arg_attrs", list(block.arguments))
    _assign_signature(tilings, function, "res_attrs", ends)
    for op in body:
        tilings.visit(op)
    argument_texts = [tilings.text(v) for v in block.arguments]
    result_texts = [tilings.text(v) for v in ends]
    values = [a for op in [function, *body] for a in _arguments(op)]
    values += [result for op in body for result in op.results]
    # All types first: a tiling is looked up by values and their old shapes.
    local = [(value, _local_type(value, tilings.of(value))) for value in values]
    for value, new in local:
        if new is not None:
            value.set_type(new)
    for op in body:
        _fit_attributes(op)
    for op in body:
        if custom_call_target(op) in (TO_LOCAL, TO_GLOBAL, ANNOTATION):
            _erase_boundary(op)
    _set_signature(function, block, argument_texts, result_texts)


def _arguments(op: Operation) -> list[Value]:
    return [a for region in op.regions for block in region.blocks for a in block.arguments]


def _assign_signature(
    tilings: Tilings, function: Operation, name: str, values: list[Value]
) -> None:
    for value, attributes in zip(values, _attributes(function, name, len(values)), strict=True):
        if "mhlo.sharding" in attributes:
            tilings.assign(function, value, StringAttr(attributes["mhlo.sharding"]).value)


def _attributes(function: Operation, name: str, count: int) -> list[dict[str, Attribute]]:
    if name not in function.attributes:
        return [{} for _ in range(count)]
    dictionaries = [DictAttr(a) for a in ArrayAttr(function.attributes[name])]
    return [{entry.name: entry.attr for entry in d} for d in dictionaries]


def _local_type(value: Value, tilings: list[Tiling]) -> RankedTensorType | None:
    """The type of one device's tile; None where nothing is tiled."""
    if not any(tilings):
        return None
    whole = RankedTensorType(value.type)
    sizes = [n // tile_count(t) for n, t in zip(whole.shape, tilings, strict=True)]
    return RankedTensorType.get(sizes, whole.element_type)


def _fit_attributes(op: Operation) -> None:
    """Makes attributes that repeat a shape fit the new types."""
    if op.name == "stablehlo.constant":
        value = op.attributes["value"]
        if isinstance(value, DenseElementsAttr) and value.type != op.results[0].type:
            splat = value.get_splat_value()
            op.attributes["value"] = DenseElementsAttr.get_splat(op.results[0].type, splat)
    elif op.name == "stablehlo.dynamic_slice":
        op.attributes["slice_sizes"] = _i64_array(op, shape_of(op.results[0]) or [])
    elif op.name == "stablehlo.slice":
        limits = list(DenseI64ArrayAttr(op.attributes["limit_indices"]))
        have, want = shape_of(op.operands[0]) or [], shape_of(op.results[0]) or []
        # A tiled dimension is never cut, so it ends where the operand ends.
        fitted = [h if h == w else old for h, w, old in zip(have, want, limits, strict=True)]
        op.attributes["limit_indices"] = _i64_array(op, fitted)


def _i64_array(op: Operation, numbers: list[int]) -> Attribute:
    return DenseI64ArrayAttr.get(numbers, op.context)


def _erase_boundary(op: Operation) -> None:
    operand, result = op.operands[0], op.results[0]
    if operand.type != result.type:
        raise error_at(op, f"the sharding makes {operand.type}, but the program says {result.type}")
    result.replace_all_uses_with(operand)
    op.erase()


def _set_signature(
    function: Operation, block: Block, arguments: list[str], results: list[str]
) -> None:
    ends = operations_of(block)[-1].operands
    types = FunctionType.get(
        [a.type for a in block.arguments], [v.type for v in ends], function.context
    )
    function.attributes["function_type"] = TypeAttr.get(types, function.context)
    for name, texts in (("arg_attrs", arguments), ("res_attrs", results)):
        entries: list[Attribute] = []
        for old, text in zip(_attributes(function, name, len(texts)), texts, strict=True):
            kept = {k: a for k, a in old.items() if not k.startswith(_DROPPED_ATTRIBUTES)}
            kept["mhlo.sharding"] = StringAttr.get(text, function.context)
            entries.append(DictAttr.get(kept, function.context))
        function.attributes[name] = ArrayAttr.get(entries, function.context)
