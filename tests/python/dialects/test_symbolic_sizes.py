"""Symbolic sizes of JAX programs: dynamic sizes, with JAX's numbers at several of them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import headrace
import numpy as np
import pytest
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program
from headrace.dialects import ir

if find_spec("jax") is None:
    pytest.skip("JAX is not installed: pip install 'headrace[jax]'", allow_module_level=True)

import headrace.jax
import jax
import jax.numpy as jnp
from jax import export
from jax.sharding import AbstractMesh, PartitionSpec as P

B, C = export.symbolic_shape("b, c")


def of(*shape: Any, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)


def two_sizes(x: Any, y: Any) -> Any:
    """Reshapes, a concatenation of two dynamic sizes, their sum as a number, a softmax."""
    flat = jnp.concatenate([x.reshape(-1), (y @ x.T).reshape(-1)])
    return flat + x.shape[0], jax.nn.softmax(x, axis=0)


def fp8_dense(x: Any, w: Any) -> Any:
    quantized = jnp.clip(x * 2, -448, 448).astype(jnp.float8_e4m3fn)
    return quantized.astype(jnp.float32) @ w


PROGRAMS: dict[str, tuple[Any, list[jax.ShapeDtypeStruct]]] = {
    "double": (lambda x: x * 2, [of(B, 64)]),
    "bf16": (lambda x: x * 2, [of(B, 64, dtype=jnp.bfloat16)]),
    "two_sizes": (two_sizes, [of(B, 8), of(C, 8)]),
    "one_size_twice": (lambda x, y, z: (x + y).sum(0) + z, [of(B, 8), of(B, 8), of(8)]),
    "counted": (lambda x: x * jnp.arange(x.shape[0], dtype=jnp.float32)[:, None], [of(B, 8)]),
    "square": (lambda x: jnp.tril(x @ x.T), [of(B, 8)]),
    "mean": (lambda x: x.mean(), [of(B, 8)]),
    "unused": (lambda x, y: x + 1, [of(B, 8), of(C, 3)]),
    "gradient": (jax.grad(lambda x: (x**2).mean()), [of(B, 8)]),
    "inner": (jax.vmap(lambda x: x @ x), [of(B, 8, 8)]),
    "last": (lambda x: x.T - x.max(1), [of(5, C)]),
    "fp8_dense": (fp8_dense, [of(B, 16), of(16, 8)]),
    "nested": (lambda x: jax.jit(lambda y: y.reshape(-1) + 1)(x), [of(B, 8)]),
}
SIZES = ({"b": 1, "c": 1}, {"b": 5, "c": 3}, {"b": 40, "c": 40})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All programs in one module, which takes one run of IREE."""
    made = tmp_path_factory.mktemp("symbolic")
    functions: list[str] = []
    for name, (fn, types) in PROGRAMS.items():
        text = headrace.jax.to_stablehlo(jax.jit(fn), *types)
        body = text[text.index("{\n") + 2 : text.rindex("}")]
        main = next(line for line in text.splitlines() if "func.func public @main" in line)
        assert "jax.global_constant" not in main
        for symbol in {"main", *_private(body)}:
            plain = symbol.strip('"')
            body = body.replace(f"@{symbol}(", f'@"{name}_{plain}"(')
        functions.append(body)
    headrace.compile("module {\n" + "\n".join(functions) + "}").save(made / "all.vmfb")
    return made


def _private(text: str) -> list[str]:
    return [part.partition("(")[0] for part in text.split("func.func private @")[1:]]


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers(folder: Path, name: str) -> None:
    fn, types = PROGRAMS[name]
    vmfb = folder / "all.vmfb"
    function = choose_function(load_functions(vmfb), f"{name}_main")
    rng = np.random.default_rng(0)
    for sizes in SIZES:
        inputs = [
            rng.integers(-8, 9, [sizes.get(str(s), s) for s in t.shape]).astype(t.dtype)
            for t in types
        ]
        expected = jax.tree_util.tree_leaves(fn(*inputs))
        found = run_program(vmfb, function, [x[None] for x in inputs])
        for want, have in zip(expected, found, strict=True):
            assert want.shape == have[0].shape
            want, have = (np.asarray(x, np.float32) for x in (want, have[0]))
            np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5)


def test_sizes_that_differ(folder: Path) -> None:
    """One variable, two sizes: an error with the name, not other numbers."""
    function = choose_function(load_functions(folder / "all.vmfb"), "one_size_twice_main")
    inputs = [np.ones((1, n, 8), np.float32) for n in (4, 5)]
    with pytest.raises(ir.HeadraceError, match="have one size, 'b'"):
        run_program(folder / "all.vmfb", function, [*inputs, np.ones((1, 8), np.float32)])


def test_expressions_are_named() -> None:
    with pytest.raises(
        ir.HeadraceError, match=r"dimension 1 of argument 1 has the symbolic size 2\*b"
    ):
        headrace.jax.to_stablehlo(jax.jit(lambda x, y: (x, y)), of(B, 2), of(3, 2 * B))


def test_shard_map_takes_fixed_shapes() -> None:
    mesh = AbstractMesh((2,), ("x",))
    double = jax.shard_map(
        lambda x: x * 2, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x")
    )
    with pytest.raises(ir.HeadraceError, match="symbolic sizes are for one device's programs"):
        headrace.jax.to_stablehlo(jax.jit(double), of(B, 8))


def test_op_without_dynamic_lowering_is_named() -> None:
    padded = headrace.jax.to_stablehlo(
        jax.jit(lambda x: jnp.pad(x, ((1, 2), (0, 0)))[1:]), of(B, 8)
    )
    with pytest.raises(ir.HeadraceError, match=r"'stablehlo\.dynamic_gather' cannot be lowered"):
        headrace.compile(padded)
