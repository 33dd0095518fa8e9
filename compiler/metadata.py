"""What a ``.vmfb`` says about itself: how to call each function.

The metadata travels as an ``iree.reflection`` attribute on each public
function, which IREE keeps and its runtime hands out again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..dialects import ir

KEY = "headrace.metadata"
# 1 had no roundings, 2 did not say what is donated.
_VERSION = 3
_DONATED = frozenset((ir.DONATED, "jax.buffer_donor", "tf.aliasing_output"))

Counts = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class ValueInfo:
    """One argument or result as one device sees it."""

    type: str  # MLIR tensor type
    sharding: str | None = None  # mhlo.sharding text
    donated: bool = False  # an argument whose memory the program may reuse


@dataclass(frozen=True)
class FunctionInfo:
    """How a compiled function is called.

    In ``devices`` form the compiled function takes all arguments of device 0,
    then those of device 1, and so on, and returns its results in that order.
    ``roundings`` says for each result how often values are rounded on the way
    to it, as ``roundings.Roundings`` counts; None where that was not read.
    """

    name: str
    target: str
    form: str  # "devices" or "channel"
    devices: int
    arguments: tuple[ValueInfo, ...]
    results: tuple[ValueInfo, ...]
    roundings: tuple[Counts, ...] | None = None

    def to_json(self) -> str:
        return json.dumps({"version": _VERSION, **asdict(self)}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> FunctionInfo:
        """Raises HeadraceError for metadata that this version cannot read."""
        try:
            data = json.loads(text)
            if data.pop("version") not in range(1, _VERSION + 1):
                raise ir.HeadraceError("the .vmfb was written by another version of headrace")
            for key in ("arguments", "results"):
                data[key] = tuple(ValueInfo(**value) for value in data[key])
            if data.get("roundings") is not None:
                data["roundings"] = tuple(_counts(entry) for entry in data["roundings"])
                if len(data["roundings"]) != len(data["results"]):
                    raise ValueError("there are roundings of other results")
            return cls(**data)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ir.HeadraceError(f"the metadata in the .vmfb is broken: {error}") from None


def _counts(entry: list[list[Any]]) -> Counts:
    return tuple((str(type_), float(count)) for type_, count in entry)


def public_functions(module: ir.Operation) -> list[ir.Operation]:
    """The ``func.func`` ops with a body that callers can see."""
    return [f for f in ir.functions_of(module) if len(f.regions[0].blocks) and _is_public(f)]


def _is_public(function: ir.Operation) -> bool:
    visibility = function.attributes.get("sym_visibility")
    return visibility is None or ir.StringAttr(visibility).value == "public"


def function_name(function: ir.Operation) -> str:
    return ir.StringAttr(function.attributes["sym_name"]).value


def describe_functions(
    module: ir.Operation, target: str, form: str, devices: int
) -> list[FunctionInfo]:
    """Reads the per-device signatures, before any lowering changes them."""
    return [
        FunctionInfo(
            function_name(function),
            target,
            form,
            devices,
            _values(ir.function_type(function).inputs, ir.argument_attributes(function)),
            _values(ir.function_type(function).results, ir.result_attributes(function)),
        )
        for function in public_functions(module)
    ]


def _values(
    types: Sequence[ir.Type], attributes: Sequence[Mapping[str, ir.Attribute]]
) -> tuple[ValueInfo, ...]:
    return tuple(
        ValueInfo(str(t), _sharding(a), not _DONATED.isdisjoint(a))
        for t, a in zip(types, attributes, strict=True)
    )


def _sharding(attributes: Mapping[str, ir.Attribute]) -> str | None:
    """What passes keep, else what the user's program says."""
    for name in ("headrace.sharding", "mhlo.sharding"):
        if name in attributes:
            return ir.StringAttr(attributes[name]).value
    return None


def attach(module: ir.Operation, functions: Sequence[FunctionInfo]) -> None:
    """Writes the metadata onto the functions of the lowered module."""
    infos = {info.name: info for info in functions}
    with module.context:
        for function in public_functions(module):
            info = infos.get(function_name(function))
            if info is None:
                continue
            entries: dict[str, ir.Attribute] = {}
            if "iree.reflection" in function.attributes:
                old = ir.DictAttr(function.attributes["iree.reflection"])
                entries = {named.name: named.attr for named in old}
            entries[KEY] = ir.StringAttr.get(info.to_json())
            function.attributes["iree.reflection"] = ir.DictAttr.get(entries)
