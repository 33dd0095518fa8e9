"""How each dimension of each value in a function is tiled over the devices."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ....dialects import ir
from ....dialects.upstream.stablehlo import call_target
from ...analysis.shardings import WHOLE, Tiling, format_sharding, parse_sharding, tile_count
from .dimension_ties import Dim, dims_of, shape_of, ties

TO_LOCAL = "SPMDFullToShardShape"
TO_GLOBAL = "SPMDShardToFullShape"
ANNOTATION = "Sharding"
_HINT = (
    "headrace takes per-device programs and does not reshard: "
    "do it inside jax.shard_map, with collectives"
)


class Tilings:
    """The tiling of each dimension of each value: union-find over dimensions."""

    def __init__(self, devices: int) -> None:
        self._devices = devices
        self._parents: dict[Dim, Dim] = {}
        self._tilings: dict[Dim, Tiling] = {}

    def of(self, value: ir.Value) -> list[Tiling]:
        return [self._tilings.get(self._root(dim), WHOLE) for dim in dims_of(value)]

    def text(self, value: ir.Value) -> str:
        return format_sharding(self.of(value), self._devices)

    def _tie(self, op: ir.Operation, dims: Iterable[Dim]) -> None:
        """Makes dimensions tiled alike; a single one is made whole."""
        first, *others = dims
        if not others:
            self._set(op, first, WHOLE)
        for other in others:
            a, b = self._root(first), self._root(other)
            if a == b:
                continue
            if b in self._tilings:
                self._set(op, a, self._tilings.pop(b))
            self._parents[b] = a

    def visit(self, op: ir.Operation) -> None:
        """Adds what ``op`` asks for: its ties, and the sharding of a boundary."""
        target = call_target(op)
        if target == TO_LOCAL:
            return
        if target in (TO_GLOBAL, ANNOTATION):
            text = ir.StringAttr(op.attributes["mhlo.sharding"]).value
            if target == ANNOTATION:
                for dims in zip(dims_of(op.operands[0]), dims_of(op.results[0]), strict=True):
                    self._tie(op, dims)
            if text != "{manual}":
                self.assign(op, op.results[0], text, _unspecified_dims(op))
            return
        if op.name != "func.return":
            for tie in ties(op):
                self._tie(op, tie)

    def assign(
        self,
        op: ir.Operation,
        value: ir.Value,
        text: str,
        unspecified: frozenset[int] = frozenset(),
    ) -> None:
        """Gives ``value`` the sharding ``text``, as ``op`` wants it."""
        shape = shape_of(value) or []
        tilings = parse_sharding(text, len(shape), self._devices)
        if tilings is None:
            raise ir.error_at(
                op,
                f"sharding {text} for {self._devices} devices: headrace takes shard_map over "
                "all axes of the mesh (axes of size 1 excepted), and full shardings",
            )
        for (_, d), tiling in zip(dims_of(value), tilings, strict=True):
            if shape[d] % tile_count(tiling):
                raise ir.error_at(
                    op, f"dimension {d} of {value.type} does not divide into {tile_count(tiling)}"
                )
            if d not in unspecified:
                self._set(op, (value, d), tiling)

    def _set(self, op: ir.Operation, dim: Dim, tiling: Tiling) -> None:
        root = self._root(dim)
        if self._tilings.setdefault(root, tiling) != tiling:
            raise _conflict(op, dim, self._tilings[root], tiling)

    def _root(self, dim: Dim) -> Dim:
        path: list[Dim] = []
        while dim in self._parents:
            path.append(dim)
            dim = self._parents[dim]
        for passed in path:
            self._parents[passed] = dim
        return dim


def _conflict(op: ir.Operation, dim: Dim, a: Tiling, b: Tiling) -> ir.HeadraceError:
    def describe(tiling: Tiling) -> str:
        return f"in {tile_count(tiling)} tiles" if tiling else "whole"

    what = call_target(op) or op.name
    wants = "shard_map" if what in (ANNOTATION, TO_GLOBAL, TO_LOCAL) else f"'{what}'"
    differ = "" if tile_count(a) != tile_count(b) else " on different devices"
    return ir.error_at(
        op,
        f"dimension {dim[1]} of {dim[0].type} is held {describe(a)}, but {wants} needs it "
        f"{describe(b)}{differ}; {_HINT}",
    )


def _unspecified_dims(op: ir.Operation) -> frozenset[int]:
    """Dimensions that @Sharding leaves open: ``unspecified_dims=[0,1]``."""
    if "backend_config" not in op.attributes:
        return frozenset()
    config = op.attributes["backend_config"]
    text = config.value if isinstance(config, ir.StringAttr) else ""
    found = re.search(r"unspecified_dims=\[([\d,]*)\]", text)
    return frozenset(int(n) for n in found[1].split(",") if n) if found else frozenset()


def check_boundary(op: ir.Operation) -> None:
    """Raises HeadraceError for a sharding call that is not as JAX writes it."""
    target = call_target(op)
    if target not in (TO_LOCAL, TO_GLOBAL, ANNOTATION):
        return
    shapes = [shape_of(v) for v in (*op.operands, *op.results)]
    if len(op.operands) != 1 or len(op.results) != 1 or None in shapes:
        raise ir.error_at(op, f"'@{target}' takes one tensor and returns one")
    if len({len(shape or []) for shape in shapes}) > 1:
        raise ir.error_at(op, f"'@{target}' changes the rank of its operand")
    if "mhlo.sharding" not in op.attributes:
        raise ir.error_at(op, f"'@{target}' has no attribute 'mhlo.sharding'")
