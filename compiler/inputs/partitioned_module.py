"""What XLA's partitioner leaves becomes a program as ``jax.shard_map`` would have given it.

In jaxlib's MLIR, as IREE's knows neither ``mhlo`` nor ``sdy``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

# Of an argument of the global program, and as true for one device. Not jax.result_info: it tells
# programs that are still to be split.
_KEPT = ("jax.buffer_donor", "tf.aliasing_output")


def normalize(module: Any, source: Any, replicas: int, partitions: int) -> None:
    """Rewrites a jaxlib module of ``hlo_to_stablehlo`` in place; ``source`` is what JAX wrote.

    Shardings of results move from the module to ``@main``, replica groups along mesh axes
    become lists of devices, copies go, and what is not StableHLO, or a shorthand, is rewritten.
    """
    ir = import_module("jaxlib.mlir.ir")
    module = module.operation
    with module.context, ir.Location.unknown():
        _normalize_signature(ir, module, source.operation)
        i32 = ir.IntegerType.get_signless(32)
        counts = {"mhlo.num_replicas": replicas, "mhlo.num_partitions": partitions}
        for name in list(module.attributes):
            if name.startswith("mhlo."):
                del module.attributes[name]
        for name, count in counts.items():
            module.attributes[name] = ir.IntegerAttr.get(i32, count)
        meshes = {
            ir.StringAttr(op.attributes["sym_name"]).value: op
            for op in _nested(module)
            if op.name == "sdy.mesh"
        }
        for op in list(_nested(module)):
            if op.name == "mhlo.copy":
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
            elif op.name == "mhlo.topk":
                _rename(ir, op, "chlo.top_k")
            elif op.name == "stablehlo.dot":
                _generalize_dot(ir, op)
            elif "replica_groups" in op.attributes:
                _list_devices(ir, op, meshes)
        for mesh in meshes.values():
            mesh.erase()


def _normalize_signature(ir: Any, module: Any, source: Any) -> None:
    main, whole = (_main(ir, each) for each in (module, source))
    given = ir.StringAttr(module.attributes["mhlo.spmd_output_sharding"]).value
    shardings = [given] if len(main.type.results) == 1 else split_shardings(given)
    count = len(main.type.inputs)
    arguments = _entries(main, "arg_attrs", count)
    for entries, of_source in zip(arguments, _entries(whole, "arg_attrs", count), strict=True):
        entries.update((name, of_source[name]) for name in _KEPT if name in of_source)
    results = [{"mhlo.sharding": ir.StringAttr.get(text)} for text in shardings]
    for name, values in (("arg_attrs", arguments), ("res_attrs", results)):
        main.attributes[name] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in values])


def _entries(function: Any, name: str, count: int) -> list[dict[str, Any]]:
    """The attributes of each argument or result."""
    if name not in function.attributes:
        return [{} for _ in range(count)]
    return [{each.name: each.attr for each in entry} for entry in function.attributes[name]]


def split_shardings(text: str) -> list[str]:
    """The parts of an HLO tuple sharding, e.g. ``{{replicated}, {devices=[4,1]<=[4]}}``."""
    depth, start, found = 0, 0, list[str]()
    for place, letter in enumerate(text):
        if letter == "{":
            depth += 1
            start = place if depth == 2 else start
        elif letter == "}":
            depth -= 1
            if depth == 1:
                found.append(text[start : place + 1])
    # A tuple may hold nothing: the braces inside are those of one sharding then.
    return found if re.match(r"\{\s*\{", text) else []


def _main(ir: Any, module: Any) -> Any:
    return ir.SymbolTable(module)["main"]


def _generalize_dot(ir: Any, op: Any) -> None:
    """``stablehlo.dot`` contracts the last dimension of the one with the first of the other."""
    last = ir.RankedTensorType(op.operands[0].type).rank - 1
    stablehlo = import_module("jaxlib.mlir.dialects.stablehlo")
    numbers = stablehlo.DotDimensionNumbers.get([], [], [last], [0])
    _rename(ir, op, "stablehlo.dot_general", dot_dimension_numbers=numbers)


def _rename(ir: Any, op: Any, name: str, **attributes: Any) -> None:
    """Puts an op of another name and further attributes in its place."""
    with ir.InsertionPoint(op), op.location:
        new = ir.Operation.create(
            name,
            [result.type for result in op.results],
            list(op.operands),
            {**dict(op.attributes.items()), **attributes},
        )
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()


def _list_devices(ir: Any, op: Any, meshes: dict[str, Any]) -> None:
    stablehlo = import_module("jaxlib.mlir.dialects.stablehlo")
    try:
        groups = stablehlo.ReplicaGroupMeshAxesAttr(op.attributes["replica_groups"])
    except ValueError:
        return  # a list already
    sdy = import_module("jaxlib.mlir.dialects.sdy")
    name = ir.FlatSymbolRefAttr(groups.mesh).value
    mesh = sdy.MeshAttr(meshes[name].attributes["mesh"])
    sizes = {axis.name: axis.size for axis in map(sdy.MeshAxisAttr, mesh.axes)}
    axes: list[tuple[str, int, int]] = []
    for axis in map(stablehlo.AxisRefAttr, groups.axes):
        part = axis.sub_axis_info
        axes.append(
            (axis.name, 1, sizes[axis.name])
            if part is None
            else (axis.name, part.pre_size, part.size)
        )
    listed = devices_along(sizes, list(mesh.device_ids), axes)
    op.attributes["replica_groups"] = ir.DenseElementsAttr.get(listed)


def devices_along(
    sizes: dict[str, int], order: Sequence[int], axes: Sequence[tuple[str, int, int]]
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The groups of devices that differ along ``axes`` of a mesh only, ``[groups, devices]``.

    ``order`` lists the device at each place of the mesh, row-major; empty: 0, 1, 2. An axis is
    its name with a part of it: ``(name, pre_size, size)`` is the middle one of the axis viewed
    as ``pre_size x size x rest``, as Shardy's ``sub_axis_info`` has it.
    """
    shape: list[int] = []
    places: dict[tuple[str, int], int] = {}  # where a factor of an axis begins, by what precedes it
    for name, size in sizes.items():
        cuts = {1, size}
        for other, before, part in axes:
            if other == name:
                cuts |= {before, before * part}
        ordered = sorted(cuts)
        for start, end in pairwise(ordered):
            places[name, start] = len(shape)
            shape.append(end // start)
    moved: list[int] = []
    for name, before, part in axes:
        starts = [s for n, s in places if n == name and before <= s < before * part]
        moved += [places[name, start] for start in sorted(starts)]
    count = math.prod(sizes.values())
    devices = np.array(order or range(count), np.int64).reshape(shape)
    kept = [place for place in range(len(shape)) if place not in moved]
    together = math.prod(shape[place] for place in moved)
    return np.ascontiguousarray(devices.transpose([*kept, *moved]).reshape(-1, together))


def _nested(op: Any) -> Iterator[Any]:
    for region in op.regions:
        for block in region.blocks:
            for inner in list(block.operations):
                yield from _nested(inner.operation)
                yield inner.operation
