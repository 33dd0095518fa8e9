"""Makes random programs: picks operands, adds statements, and types them by JAX."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .reference import namespace  # isort: skip - sets XLA_FLAGS

import jax
import jax.numpy as jnp

from . import lattice as lattices
from .lattice import Lattice
from .programs import (
    AXES,
    Block,
    Input,
    Program,
    Statement,
    Type,
    Value,
    cleaned,
    define,
    live,
    statement_lines,
)

LARGEST = 4096  # elements of a value on one device
MESHES = [(1,), (2,), (3,), (4,), (4,), (5,), (6,), (7,), (8,)]
MESHES += [(2, 2), (2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (1, 3), (2, 1)]
CPUS = ["host", "host", "x86-64-v3", "generic"]
FLOAT_DTYPES = ("float32", "bfloat16", "float16")
ARITHMETIC = (*FLOAT_DTYPES, "int32", "int8")
FP8_DTYPES = ("float8_e4m3fn", "float8_e5m2")


class NoFit(Exception):
    """No operand of the kind that an operation needs, or a result too large."""


@dataclass
class Scope:
    """What one function's statements are made of so far."""

    values: list[Value] = field(default_factory=list[Value])
    statements: list[Statement] = field(default_factory=list[Statement])
    # May hold collectives: whatever is executed here is executed on all devices.
    together: bool = True


Operation = Callable[["Generator"], None]
OPERATIONS: dict[str, tuple[Operation, int]] = {}


def operation(weight: int) -> Callable[[Operation], Operation]:
    """Enters a function that adds statements under its name."""

    def enter(make: Operation) -> Operation:
        assert make.__name__ not in OPERATIONS
        OPERATIONS[make.__name__] = (make, weight)
        return make

    return enter


def infer(mesh: Sequence[int], statement: Statement, values: dict[str, Value]) -> tuple[Type, ...]:
    """The types of a statement's results as JAX has them; raises what JAX raises."""
    names = sorted(statement.reads())
    body = [f"def typed({', '.join(names)}):"]
    body += ["    " + line for line in statement_lines(statement, noise=False)]
    body.append(f"    return {', '.join(v.name for v in statement.results)},")
    space = namespace(lambda compute: compute())
    arguments = [
        jax.ShapeDtypeStruct(
            values[n].type.shape, getattr(jnp, values[n].type.dtype.replace("bool", "bool_"))
        )
        for n in names
    ]
    axes = list(zip(AXES, mesh, strict=False))
    traced = jax.make_jaxpr(define(body, "typed", space), axis_env=axes, return_shape=True)
    found: list[Any] = jax.tree.leaves(traced(*arguments)[1])
    return tuple(Type(tuple(f.shape), f.dtype.name) for f in found)


class Generator:
    """One program in the making."""

    def __init__(self, seed: int, mesh: tuple[int, ...] | None = None, cpu: str | None = None):
        self.random = random.Random(seed)
        self.seed = seed
        self.mesh = mesh or self.random.choice(MESHES)
        self.cpu = cpu or "host"
        self.exact = self.random.random() < 0.6
        self.scopes = [Scope()]
        self.inputs: list[Input] = []
        self.depth = 0
        self._names = 0

    # What operations ask for.

    @property
    def scope(self) -> Scope:
        return self.scopes[-1]

    @property
    def axes(self) -> tuple[str, ...]:
        return AXES[: len(self.mesh)]

    @property
    def devices(self) -> int:
        count = 1
        for size in self.mesh:
            count *= size
        return count

    def name(self) -> str:
        self._names += 1
        return f"v{self._names}"

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def choice(self, values: Sequence[Any]) -> Any:
        if not values:
            raise NoFit
        return self.random.choice(values)

    def extent(self) -> int:
        """A size of a dim."""
        n = self.devices
        return self.choice([1, 2, 3, 4, 5, 6, 8, n, n, 2 * n, 2 * n, 16])

    def pick(self, fits: Callable[[Value], bool] = lambda v: True) -> Value:
        """A value that fits, later ones more often, sometimes one from around."""
        values = [v for v in self.scope.values if fits(v)]
        if not values or (self.depth and self.chance(0.3)):
            values = [v for s in self.scopes for v in s.values if fits(v)]
        if not values:
            raise NoFit
        return values[max(self.random.randrange(len(values)) for _ in range(2))]

    def dim(self, value: Value) -> int:
        if not value.type.rank:
            raise NoFit
        return self.random.randrange(value.type.rank)

    def add(
        self,
        text: str,
        operands: Sequence[Value],
        lattice: Lattice | Sequence[Lattice | None] | None = None,
        *,
        noisy: bool = False,
        blocks: Sequence[Block] = (),
        uniform: bool | None = None,
        count: int = 1,
    ) -> list[Value]:
        """Adds a statement. ``noisy``: rounding may differ, whatever the lattice.

        Results whose lattice does not fit their type have none; where they are
        computed by arithmetic, pass ``noisy=True`` with the lattice through ``compute``.
        """
        names = [self.name() for _ in range(count)]
        values = {v.name: v for s in self.scopes for v in s.values}
        holders = tuple(Value(n, Type((), "float32")) for n in names)
        draft = Statement(holders, text, tuple(v.name for v in operands), tuple(blocks), noisy)
        try:
            types = infer(self.mesh, draft, values)
        except (TypeError, ValueError, ArithmeticError, LookupError, NotImplementedError) as error:
            raise NoFit(text, str(error)) from None
        assert len(types) == count, text
        if any(t.size > LARGEST or t.size == 0 for t in types):
            raise NoFit
        given = [lattice] * count if lattice is None or isinstance(lattice, Lattice) else lattice
        if uniform is None:
            uniform = all(values[n].uniform for n in draft.reads())
            uniform = uniform and "axis_index" not in text
        results: list[Value] = []
        for name, type_, known in zip(names, types, given, strict=True):
            if (
                known is None
                or not known.fits(type_.dtype)
                or known.bound
                > (of.bound if (of := lattices.of_type(type_.dtype)) else known.bound)
            ):
                known = lattices.of_type(type_.dtype)
            results.append(Value(name, type_, known, uniform))
        statement = Statement(tuple(results), text, draft.operands, draft.blocks, noisy)
        self.scope.statements.append(statement)
        self.scope.values += results
        return results

    def move(self, text: str, *operands: Value, **options: Any) -> Value:
        """A statement that gives what its operands hold."""
        lattice = lattices.join(*(v.lattice for v in operands))
        return self.add(text, operands, options.pop("lattice", lattice), **options)[0]

    def compute(
        self, text: str, operands: Sequence[Value], lattice: Lattice | None, dtype: str
    ) -> Value:
        """Arithmetic in ``dtype``: noisy unless the lattice shows that it is exact."""
        exact = lattice is not None and lattice.fits(dtype)
        noisy = lattices.is_float(dtype) and not exact
        return self.add(text, operands, lattice, noisy=noisy)[0]

    # Inputs and constants.

    def argument(self, type_: Type, **options: Any) -> Value:
        """A new input of the whole program, usable wherever it is asked for."""
        cut = self.cut(type_)
        lattice = lattices.of_type(type_.dtype)
        if type_.dtype in lattices.INTEGERS and type_.dtype != "bool":
            lattice = Lattice(3.0)
        if type_.is_float:
            lattice = Lattice(3.0) if self.exact else None
        lattice = options.get("lattice", lattice)
        uniform = not any(cut)
        value = Value(self.name(), type_, lattice, uniform)
        self.inputs.append(Input(value, cut, self.random.randrange(10**6)))
        self.scopes[0].values.append(value)
        return value

    def cut(self, type_: Type) -> tuple[tuple[str, ...], ...]:
        cut: list[tuple[str, ...]] = [()] * type_.rank
        if not type_.rank or self.chance(0.25):
            return tuple(cut)
        if len(self.axes) == 1:
            cut[self.random.randrange(type_.rank)] = self.axes
        elif self.chance(0.4):
            cut[self.random.randrange(type_.rank)] = self.choice([("x", "y"), ("y", "x")])
        elif self.chance(0.5) or type_.rank == 1:
            cut[self.random.randrange(type_.rank)] = (self.choice(self.axes),)
        else:
            dims = self.random.sample(range(type_.rank), 2)
            cut[dims[0]], cut[dims[1]] = ("x",), ("y",)
        return tuple(cut)

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        rank = self.choice([1, 2, 2, 2, 3, 3, 4]) if rank is None else rank
        while True:
            shape = tuple(self.extent() for _ in range(rank))
            if Type(shape, "int8").size <= 1024:
                return shape

    # Nested functions.

    @contextmanager
    def inside(self, parameters: Sequence[Value], *, together: bool) -> Iterator[Scope]:
        """The statements added in the with block belong to a nested function."""
        scope = Scope([*parameters], together=together and self.scope.together)
        self.scopes.append(scope)
        self.depth += 1
        try:
            yield scope
        finally:
            self.scopes.pop()
            self.depth -= 1

    def parameter(self, type_: Type, lattice: Lattice | None, uniform: bool) -> Value:
        return Value(self.name(), type_, lattice, uniform)

    def fill(self, count: int, allowed: Callable[[str], bool] = lambda name: True) -> None:
        """Adds some operations to the present scope."""
        names = [n for n in OPERATIONS if allowed(n)]
        weights = [OPERATIONS[n][1] for n in names]
        done = tries = 0
        while done < count and tries < 12 * count:
            tries += 1
            (name,) = self.random.choices(names, weights)
            before = len(self.scope.statements)
            try:
                OPERATIONS[name][0](self)
            except NoFit:
                # What it had begun with stays: it is valid.
                continue
            done += len(self.scope.statements) > before

    def as_type(self, value: Value, type_: Type) -> Value:
        """The value made one of a type, somehow."""
        if value.type.shape != type_.shape:
            if value.type.rank:
                reduction = self.choice(["max", "min"])
                if value.type.dtype == "bool":
                    reduction = "any"
                value = self.move(f"jnp.{reduction}({{0}})", value)
            value = self.move(f"jnp.broadcast_to({{0}}, {type_.shape})", value)
        if value.type.dtype != type_.dtype:
            value = self.convert(value, type_.dtype)
        return value

    def convert(self, value: Value, dtype: str) -> Value:
        """To another element type; a value without a place there is clamped first."""
        target = lattices.of_type(dtype)
        known = value.lattice
        if dtype == "bool":
            return self.add("{0} != 0", [value], lattices.BITS)[0]
        if value.type.is_float and target is not None:
            low = 0 if dtype.startswith("uint") else -100
            inner = "{0}" if known is not None else "jnp.nan_to_num({0})"
            if known is None or known.bound > 100 or low == 0:
                inner = f"jnp.clip({inner}, {low}, 100)"
                known = Lattice(100.0)
            # Clamped in the operand's own type, of which fp8 has few.
            if lattices.is_fp8(value.type.dtype):
                inner = inner.replace("{0}", "{0}.astype(jnp.float32)")
            return self.add(f"{inner}.astype(jnp.{dtype})", [value], known.rounded())[0]
        if target is not None and (known is None or known.bound > target.bound):
            known = None
        if dtype.startswith("uint"):
            known = None
        return self.add(f"{{0}}.astype(jnp.{dtype})", [value], known)[0]


def make_program(seed: int, mesh: tuple[int, ...] | None = None, cpu: str | None = None) -> Program:
    """The program of a seed, on a mesh and for a CPU that others may share."""
    from . import operations  # noqa: F401 - enters them

    g = Generator(seed, mesh, cpu)
    for _ in range(g.choice([1, 2, 2, 3])):
        dtype = g.choice([*ARITHMETIC, "float32", "bfloat16", "bool", *FP8_DTYPES])
        g.argument(Type(g.shape(), dtype))
    if all(not i.value.type.is_float for i in g.inputs):
        g.argument(Type(g.shape(), g.choice(FLOAT_DTYPES)))
    g.fill(g.choice([3, 5, 7, 9, 12]))
    made = g.scopes[0].statements
    if not made:
        return make_program(seed + 10**9, mesh, cpu)
    read = set().union(*(s.reads() for s in made))
    ends = [v for s in made for v in s.results if v.name not in read]
    outputs = g.random.sample(ends, min(len(ends), 3))
    # What has other users is a result too, now and then.
    middle = [v for s in made for v in s.results if v not in ends]
    if middle and g.chance(0.3):
        outputs.append(g.choice(middle))
    statements = live(made, {v.name for v in outputs})
    return cleaned(Program(seed, g.mesh, tuple(g.inputs), statements, tuple(outputs), g.cpu))
