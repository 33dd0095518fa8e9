"""Shardy programs in the older form of ``shard_map``, with custom calls.

JAX lowers ``shard_map`` to ``sdy.manual_computation``. IREE does not know the
``sdy`` dialect, so this works in jaxlib's MLIR: each manual computation
becomes ``@Sharding`` + ``@SPMDFullToShardShape`` calls on its operands, its
body, and ``@SPMDShardToFullShape`` calls on its results, with HLO sharding
strings, which headrace's ``to-per-device`` pass takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ...dialects import ir
from ...dialects.device_counts import COUNTS, DeviceCounts
from ...passes.analysis.shardings import Tiling, format_sharding, mesh_tiling
from ...passes.frontend.per_device.dimension_tilings import ANNOTATION, TO_GLOBAL, TO_LOCAL

SUBSET_HINT = (
    "headrace takes shard_map over all axes of the mesh; leave axis_names out, "
    "and write what the other axes do with collectives"
)


@dataclass(frozen=True)
class _Mesh:
    """Axis sizes, and the device at each place of the mesh in row-major order."""

    axes: dict[str, int]
    order: tuple[int, ...]


def shardy_counts(module: Any) -> DeviceCounts:
    """How many devices a jaxlib module op is for.

    An AbstractMesh leaves the module's attribute at one partition.
    """
    counts = [1, 1]
    for index, name in enumerate(COUNTS):
        if f"mhlo.{name}" in module.attributes:
            counts[index] = module.attributes[f"mhlo.{name}"].value
    operations = module.regions[0].blocks[0].operations
    meshes = [len(_mesh_of(op.mesh).order) for op in operations if op.operation.name == "sdy.mesh"]
    return DeviceCounts(counts[0], max([counts[1], *meshes]))


def dissolve_shardy(module: Any) -> None:
    """Rewrites all ``sdy`` ops and attributes of a jaxlib module op, in place.

    Raises HeadraceError for shard_map over a subset of the mesh axes, and for
    sub-axis and unreduced shardings.
    """
    operations = list(module.regions[0].blocks[0].operations)
    meshes = {
        op.sym_name.value: _mesh_of(op.mesh) for op in operations if op.operation.name == "sdy.mesh"
    }
    with module.context, import_module("jaxlib.mlir.ir").Location.unknown():
        rewriter = _Rewriter(meshes)
        for function in operations:
            if function.operation.name == "func.func":
                rewriter.rewrite_function(function)
        rewriter.set_partitions(module)
        for op in operations:
            if op.operation.name == "sdy.mesh":
                op.operation.erase()


def _mesh_of(attribute: Any) -> _Mesh:
    sdy = import_module("jaxlib.mlir.dialects.sdy")
    mesh = sdy.MeshAttr(attribute)
    axes = {axis.name: axis.size for axis in map(sdy.MeshAxisAttr, mesh.axes)}
    order = tuple(mesh.device_ids) or tuple(range(math.prod(axes.values())))
    return _Mesh(axes, order)


class _Rewriter:
    def __init__(self, meshes: dict[str, _Mesh]) -> None:
        self._meshes = meshes
        self._devices = 1
        self._ir: Any = import_module("jaxlib.mlir.ir")
        self._sdy: Any = import_module("jaxlib.mlir.dialects.sdy")

    def set_partitions(self, module: Any) -> None:
        """An AbstractMesh leaves the module at one partition."""
        attributes = module.attributes
        name = "mhlo.num_partitions"
        if self._devices > 1 and (name not in attributes or attributes[name].value == 1):
            i32 = self._ir.IntegerType.get_signless(32)
            attributes[name] = self._ir.IntegerAttr.get(i32, self._devices)

    def rewrite_function(self, function: Any) -> None:
        self._rewrite_signature(function, "arg_attrs", list(function.type.inputs))
        self._rewrite_signature(function, "res_attrs", list(function.type.results))
        for op in list(nested_ops(function.operation)):
            if op.name == "sdy.manual_computation":
                self._dissolve(op)
            elif op.name in ("sdy.sharding_constraint", "sdy.reshard"):
                self._annotate(op)
            elif op.name.startswith("sdy.") and op.name != "sdy.return":
                raise ir.HeadraceError(f"headrace does not take the op '{op.name}'")
            elif "sdy.sharding" in op.attributes:
                del op.attributes["sdy.sharding"]

    def _rewrite_signature(self, function: Any, name: str, types: list[Any]) -> None:
        if name not in function.attributes:
            return
        entries: list[Any] = []
        for attributes, whole in zip(function.attributes[name], types, strict=True):
            kept = {entry.name: entry.attr for entry in attributes}
            sharding = kept.pop("sdy.sharding", None)
            if sharding is not None:
                text, open_dims = self._text(sharding)
                if len(open_dims) < self._ir.RankedTensorType(whole).rank or not open_dims:
                    kept["mhlo.sharding"] = self._ir.StringAttr.get(text)
            entries.append(self._ir.DictAttr.get(kept))
        function.attributes[name] = self._ir.ArrayAttr.get(entries)

    def _dissolve(self, op: Any) -> None:
        manual = set(_quoted(str(op.attributes["manual_axes"])))
        body = op.regions[0].blocks[0]
        with self._ir.InsertionPoint(op), op.location:
            ins = self._shardings(op.attributes["in_shardings"], manual)
            for operand, argument, text in zip(op.operands, body.arguments, ins, strict=True):
                placed = self._call(ANNOTATION, operand, operand.type, text)
                local = self._call(TO_LOCAL, placed, argument.type, "{manual}")
                argument.replace_all_uses_with(local)
        *inner, end = (inner.operation for inner in body.operations)
        for moved in inner:
            moved.move_before(op)
        with self._ir.InsertionPoint(op), op.location:
            outs = self._shardings(op.attributes["out_shardings"], manual)
            for result, value, text in zip(op.results, end.operands, outs, strict=True):
                result.replace_all_uses_with(self._call(TO_GLOBAL, value, result.type, text))
        op.erase()

    def _annotate(self, op: Any) -> None:
        text, open_dims = self._text(op.attributes["sharding"])
        with self._ir.InsertionPoint(op), op.location:
            call = self._call(ANNOTATION, op.operands[0], op.results[0].type, text)
        if open_dims:
            config = f"unspecified_dims=[{','.join(map(str, open_dims))}]"
            call.owner.attributes["backend_config"] = self._ir.StringAttr.get(config)
        op.results[0].replace_all_uses_with(call)
        op.erase()

    def _call(self, target: str, operand: Any, type: Any, sharding: str) -> Any:
        string = self._ir.StringAttr.get
        attributes = {"call_target_name": string(target), "mhlo.sharding": string(sharding)}
        call = self._ir.Operation.create(
            "stablehlo.custom_call", [type], [operand], attributes=attributes
        )
        return call.result

    def _shardings(self, attribute: Any, manual: set[str]) -> list[str]:
        """The strings of a manual computation's operands or results."""
        texts: list[str] = []
        for sharding in self._sdy.TensorShardingPerValueAttr(attribute).shardings:
            mesh = self._mesh(self._sdy.TensorShardingAttr(sharding))
            auto = [a for a, size in mesh.axes.items() if size > 1 and a not in manual]
            if auto:
                axes = ", ".join(repr(axis) for axis in auto)
                raise ir.HeadraceError(
                    f"shard_map leaves the mesh axes {axes} to JAX: {SUBSET_HINT}"
                )
            texts.append(self._text(sharding)[0])
        return texts

    def _text(self, sharding: Any) -> tuple[str, list[int]]:
        """The HLO string, and the dimensions that are open: free to be tiled."""
        sharding = self._sdy.TensorShardingAttr(sharding)
        if "unreduced" in str(sharding) or '":(' in str(sharding):
            raise ir.HeadraceError(f"headrace does not take the sharding {sharding}")
        mesh = self._mesh(sharding)
        self._devices = max(self._devices, len(mesh.order))
        tilings: list[Tiling] = []
        open_dims: list[int] = []
        for number, attribute in enumerate(sharding.dimension_shardings):
            dim = self._sdy.DimensionShardingAttr(attribute)
            axes = [self._sdy.AxisRefAttr(axis).name for axis in dim.axes]
            tilings.append(mesh_tiling(mesh.axes, mesh.order, axes))
            if not axes and not dim.is_closed:
                open_dims.append(number)
        return format_sharding(tilings, len(mesh.order)), open_dims

    def _mesh(self, sharding: Any) -> _Mesh:
        mesh = sharding.mesh_or_ref
        if str(mesh).startswith("@"):
            return self._meshes[self._ir.FlatSymbolRefAttr(mesh).value]
        return _mesh_of(mesh)


def nested_ops(op: Any) -> Iterator[Any]:
    """The ops in ``op``; what is in an op comes before the op."""
    for region in op.regions:
        for block in region.blocks:
            for inner in list(block.operations):
                yield from nested_ops(inner.operation)
                yield inner.operation


def _quoted(text: str) -> list[str]:
    """``#sdy<manual_axes{"d", "x"}>`` to its names."""
    return text.split('"')[1::2]
