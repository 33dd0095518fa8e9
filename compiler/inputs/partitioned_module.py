"""What XLA's partitioner leaves becomes a program as ``jax.shard_map`` would have given it.

In jaxlib's MLIR, as IREE's knows neither ``mhlo`` nor ``sdy``.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from ...dialects.errors import HeadraceError
from .jax_shardy import nested_ops

# Of an argument of the global program, and as true for one device. Not jax.result_info: it tells
# programs that are still to be split.
_KEPT = ("jax.buffer_donor", "tf.aliasing_output")


def normalize(module: Any, source: Any, replicas: int, partitions: int) -> None:
    """Rewrites a jaxlib module of ``hlo_to_stablehlo`` in place; ``source`` is what JAX wrote.

    Shardings of results move from the module to ``@main``, copies go, and what is not
    StableHLO, or a shorthand, is rewritten.
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
        for op in list(nested_ops(module)):
            if op.name == "mhlo.copy":
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
            elif op.name == "mhlo.topk":
                _rename(ir, op, "chlo.top_k")
            elif op.name == "stablehlo.dot":
                _generalize_dot(ir, op)
            elif "mesh_axes" in str(op.attributes.get("replica_groups", "")):
                # jaxlib loses the order of the mesh's devices; see the flag that avoids them.
                raise HeadraceError("JAX's partitioner gives groups of devices along mesh axes")
            elif op.name == "sdy.mesh":
                op.erase()


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
