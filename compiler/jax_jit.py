"""``headrace.jax.jit``: JAX functions that headrace compiles and IREE runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np

from ..dialects import ir
from ..passes.analysis.shardings import mesh_tiling, parse_sharding, tile_count
from .driver import CompileResult, compile_program
from .inputs.jax_internals import lower_whole, shardings_of, trace_key
from .inputs.jax_lowering import import_jax, whole_text
from .iree.element_types import parse_tensor_type
from .iree.loaded import DeviceArray, LoadedFunction
from .metadata import ValueInfo


class Jitted:
    """A function that is compiled once for each signature, when it is called with it."""

    def __init__(
        self, fn: Callable[..., Any], options: dict[str, Any], jit_options: dict[str, Any]
    ) -> None:
        self._jax = import_jax("headrace.jax.jit")
        if not callable(fn):
            raise ir.HeadraceError(f"headrace.jax.jit takes a function, not {type(fn).__name__}")
        if hasattr(fn, "trace") and jit_options:
            name = next(iter(jit_options))
            raise ir.HeadraceError(
                f"{name} is for functions that are not jitted: leave jax.jit out"
            )
        self._jitted: Any = fn if hasattr(fn, "trace") else self._jax.jit(fn, **jit_options)
        self._static = _static_names(fn, jit_options)
        self._options = options
        self._compiled: dict[object, Compiled] = {}
        self.report: dict[str, object] | None = None
        self.__wrapped__ = fn

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves = self._leaves(args, kwargs)
        if any(isinstance(leaf, self._jax.core.Tracer) for leaf in leaves):
            raise ir.HeadraceError(
                "what headrace.jax.jit compiled is called inside of a transformation of JAX's "
                "(grad, vmap, jit, scan); put that inside: headrace.jax.jit(jax.grad(fn))"
            )
        compiled = self._compiled_for(self._jitted.trace(*args, **kwargs))
        self.report = compiled.report
        return compiled.call(leaves)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The per-device program for these arguments, which may be shapes."""
        return self._lowered(self._jitted.trace(*args, **kwargs))

    def _lowered(self, traced: Any) -> Lowered:
        lowered = lower_whole(traced)
        text = whole_text(lowered)
        return Lowered(self._jax, traced, text, self._options)

    def _compiled_for(self, traced: Any) -> Compiled:
        key = trace_key(traced)
        if key not in self._compiled:
            self._compiled[key] = self._lowered(traced).compile()
        return self._compiled[key]

    def _leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arrays of a call as JAX flattens them, without static arguments."""
        names = self._static
        dynamic = [arg for n, arg in enumerate(args) if n >= len(names) or not names[n][1]]
        static = {name for name, is_static in names if is_static}
        named = {name: value for name, value in kwargs.items() if name not in static}
        return self._jax.tree_util.tree_leaves((tuple(dynamic), named))


def _static_names(fn: Any, jit_options: dict[str, Any]) -> list[tuple[str, bool]]:
    """The parameters that take positional arguments, and whether each is static."""
    numbers, names = jit_options.get("static_argnums"), jit_options.get("static_argnames")
    if numbers is None and names is None:
        return []
    numbers = [numbers] if isinstance(numbers, int) else list(numbers or ())
    names = [names] if isinstance(names, str) else list(names or ())
    parameters = list(inspect.signature(fn).parameters)
    static = {*names, *(parameters[number] for number in numbers)}
    return [(name, name in static) for name in parameters]


@dataclass(frozen=True)
class Lowered:
    """A function for one signature, as one device's StableHLO."""

    jax: Any
    traced: Any
    text: str
    options: dict[str, Any]

    def as_text(self) -> str:
        return self.text

    def compile(self) -> Compiled:
        return Compiled(self.jax, self.traced, compile_program(self.text, **self.options))


@dataclass
class Compiled:
    """A compiled function for one signature."""

    jax: Any
    traced: Any
    result: CompileResult
    _function: LoadedFunction | None = field(default=None, init=False)

    @property
    def report(self) -> dict[str, object]:
        return self.result.report

    def __call__(self, *leaves: Any) -> Any:
        """Takes the flattened arrays of a call."""
        return self.call(leaves)

    def call(self, leaves: Sequence[Any]) -> Any:
        if self._function is None:
            (self._function,) = self.result.load().functions.values()
            self._placement = _Placement(self.jax, self.traced, self._function.info.devices)
        info, placement = self._function.info, self._placement
        if len(leaves) != len(info.arguments):
            raise ir.HeadraceError(
                f"the function takes {len(info.arguments)} arrays, got {len(leaves)}: where static "
                "arguments are among them, give headrace.jax.jit the plain function and their names"
            )
        given = [placement.shards(v, a) for v, a in zip(leaves, info.arguments, strict=True)]
        results = self._function.results(given)
        made = [placement.array(*pair) for pair in zip(results, info.results, strict=True)]
        avals = self.jax.tree_util.tree_leaves(self.traced.out_info)
        wrapped = [self._as_jax(array, aval) for array, aval in zip(made, avals, strict=True)]
        return self.jax.tree_util.tree_unflatten(self.traced.out_tree, wrapped)

    def _as_jax(self, array: Any, aval: Any) -> Any:
        """Random keys are arrays of numbers to a program."""
        if self.jax.dtypes.issubdtype(aval.dtype, self.jax.dtypes.prng_key):
            return self.jax.random.wrap_key_data(array, impl=aval.dtype._impl)
        return array


class _Placement:
    """Between JAX's global arrays and the parts that devices hold."""

    def __init__(self, jax: Any, traced: Any, devices: int) -> None:
        self._jax = jax
        self._count = devices
        self._mesh = None if devices == 1 else _mesh_of(jax, traced)

    def shards(self, leaf: Any, info: ValueInfo) -> Any:
        """One device's part of an argument after the other."""
        jax = self._jax
        if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        if not isinstance(leaf, jax.Array):
            leaf = np.asarray(leaf, parse_tensor_type(info.type).element.dtype)
        if self._mesh is None:
            return np.asarray(leaf)
        placed = jax.device_put(leaf, self._sharding(info))
        parts = {shard.device: shard.data for shard in placed.addressable_shards}
        return [np.asarray(parts[device]) for device in self._mesh.devices.flat]

    def array(self, result: DeviceArray, info: ValueInfo) -> Any:
        """A result as JAX's array, sharded as JAX's own would be."""
        if self._mesh is None:
            return self._jax.numpy.asarray(np.asarray(result))
        parts = result.shards
        pairs = zip(parts, self._mesh.devices.flat, strict=True)
        shape = [
            size * tile_count(tiling)
            for size, tiling in zip(parts[0].shape, self._tilings(info), strict=True)
        ]
        return self._jax.make_array_from_single_device_arrays(
            tuple(shape),
            self._sharding(info),
            [self._jax.device_put(part, device) for part, device in pairs],
        )

    def _tilings(self, info: ValueInfo) -> list[tuple[int, ...]]:
        rank = len(parse_tensor_type(info.type).shape)
        found = parse_sharding(info.sharding or "{replicated}", rank, self._count)
        if found is None:
            raise ir.HeadraceError(f"headrace.jax.jit does not place the sharding {info.sharding}")
        return found

    def _sharding(self, info: ValueInfo) -> Any:
        """The NamedSharding on the program's mesh."""
        sharding: Any = self._jax.sharding
        mesh: Any = self._mesh
        specs = [_axes_of(tiling, dict(mesh.shape)) for tiling in self._tilings(info)]
        return sharding.NamedSharding(mesh, sharding.PartitionSpec(*specs))


def _axes_of(tiling: tuple[int, ...], mesh: dict[str, int]) -> Any:
    """The axes of a mesh that a dimension is tiled over, first axis slowest."""
    order = range(int(np.prod(list(mesh.values()))))
    used = [name for name, size in mesh.items() if size > 1]
    for count in range(len(used) + 1):
        for axes in permutations(used, count):
            if mesh_tiling(mesh, order, axes) == tiling:
                return axes[0] if count == 1 else axes or None
    raise ir.HeadraceError(f"no axes of the mesh {mesh} tile as {list(tiling)}")


def _mesh_of(jax: Any, traced: Any) -> Any:
    """The mesh of several devices that a function names: in shardings, or inside."""
    for found in _meshes(jax, traced):
        if isinstance(found, jax.sharding.Mesh) and found.size > 1:
            return found
    raise ir.HeadraceError(
        "the program is for several devices, and its mesh names none: call it with arrays on a "
        "jax.sharding.Mesh, or compile it alone with .lower(...).compile()"
    )


def _meshes(jax: Any, traced: Any) -> Iterator[Any]:
    pending = [traced.jaxpr, *shardings_of(traced)]
    while pending:
        value = pending.pop()
        if isinstance(value, jax.sharding.NamedSharding):
            yield value.mesh
        elif isinstance(value, jax.sharding.Mesh):
            yield value
        elif isinstance(value, list | tuple):
            pending += [*value]  # pyright: ignore
        elif hasattr(jaxpr := getattr(value, "jaxpr", value), "eqns"):
            pending.extend(each for eqn in jaxpr.eqns for each in eqn.params.values())
