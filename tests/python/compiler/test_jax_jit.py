"""``headrace.jax.jit``: called as ``jax.jit``'s functions are, with their results."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from headrace import HeadraceError

if find_spec("jax") is None:
    pytest.skip("JAX is not installed: pip install 'headrace[jax]'", allow_module_level=True)

# First, since it sets the number of CPU devices before JAX starts.
from jax_programs import mesh_of, normal  # isort: skip

import headrace.jax
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P


def same(got: Any, want: Any) -> None:
    """The same tree of arrays of the same types, placed alike; numbers of one rounding more."""
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert isinstance(one, jax.Array)
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        assert one.sharding.is_equivalent_to(other.sharding, one.ndim)
        np.testing.assert_allclose(one.astype("float32"), other.astype("float32"), rtol=1e-5)


def test_trees_and_kinds_of_arguments() -> None:
    def fn(x: dict[str, Any], n: int, unused: Any = None, *, bias: Any) -> dict[str, Any]:
        return {"sum": x["a"] * n + bias, "both": (x["b"], jnp.int32(n))}

    x = {"a": jnp.arange(3.0), "b": jnp.ones(2, jnp.bfloat16)}
    jitted = headrace.jax.jit(fn, static_argnames="n")
    for call in (
        lambda f: f(x, 2, bias=1.0),
        lambda f: f(x, n=3, bias=jnp.float32(2)),
        lambda f: f(x, 2, jnp.ones(4), bias=np.float32(3)),
    ):
        same(call(jitted), call(jax.jit(fn, static_argnames="n")))


def test_compiles_once_for_a_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    from headrace.compiler import jax_jit

    compiled: list[object] = []
    original = jax_jit.compile_program
    monkeypatch.setattr(
        jax_jit, "compile_program", lambda *a, **k: compiled.append(a) or original(*a, **k)
    )
    jitted = headrace.jax.jit(lambda x: x + 1)
    for x in (jnp.ones(3), jnp.zeros(3), jnp.ones(4), jnp.ones(3), jnp.ones(3, jnp.int32)):
        same(jitted(x), x + 1)
    assert len(compiled) == 3
    assert jitted.report["wire_bytes"] == 0


def test_random_keys() -> None:
    key = jax.random.key(3)
    got = headrace.jax.jit(jax.random.split)(key)
    assert jax.random.key_data(got).tolist() == jax.random.key_data(jax.random.split(key)).tolist()


def test_gradients_go_inside() -> None:
    def loss(x: jax.Array) -> jax.Array:
        return jnp.sum(x * x * x)

    x = jnp.arange(3.0)
    same(headrace.jax.jit(jax.grad(loss))(x), jax.grad(loss)(x))
    for transform in (jax.grad, jax.jit, jax.vmap):
        with pytest.raises(HeadraceError, match=r"put that inside: headrace\.jax\.jit\(jax\.grad"):
            transform(headrace.jax.jit(loss))(x)


def test_shard_map() -> None:
    mesh = mesh_of(x=4)

    def fn(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return lax.all_gather(x, "x", tiled=True), x + lax.axis_index("x")

    mapped = jax.shard_map(fn, mesh=mesh, in_specs=P("x"), out_specs=(P(), P("x")), check_vma=False)
    x = normal(0, (8, 3), jnp.float32)
    same(headrace.jax.jit(mapped)(x), jax.jit(mapped)(x))


@pytest.mark.parametrize("spec", [P("x"), P("y"), P(("y", "x")), P(None, "x"), P("x", "y"), P()])
def test_shardings(spec: P) -> None:
    """Of arguments as they come, of results as JAX's partitioner gives them."""
    mesh = mesh_of(x=2, y=2)
    x = jax.device_put(normal(0, (4, 8), jnp.float32), NamedSharding(mesh, spec))
    w = jax.device_put(normal(1, (8, 4), jnp.float32), NamedSharding(mesh, P("y")))
    fn = jax.jit(lambda x, w: (jnp.tanh(x @ w), x.T))
    same(headrace.jax.jit(fn)(x, w), fn(x, w))


def test_an_uneven_constraint() -> None:
    """JAX pads what does not divide; rows are what they are."""
    mesh = mesh_of(x=4)
    rows = NamedSharding(mesh, P("x"))
    fn = jax.jit(lambda x: jnp.sum(lax.with_sharding_constraint(x * 2, rows), axis=0))
    x = jax.device_put(normal(0, (6, 3), jnp.float32), NamedSharding(mesh, P()))
    same(headrace.jax.jit(fn)(x), fn(x))


def test_training_steps() -> None:
    """What comes out goes in again."""
    mesh = mesh_of(x=4)
    rows = NamedSharding(mesh, P("x"))

    def step(w: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        value, gradient = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - 0.125 * gradient, value

    w = jax.device_put(normal(0, (8, 4), jnp.float32), rows)
    x = jax.device_put(normal(1, (16, 8), jnp.float32), rows)
    ours = headrace.jax.jit(step, out_shardings=(rows, NamedSharding(mesh, P())))
    theirs = jax.jit(step, out_shardings=(rows, NamedSharding(mesh, P())))
    mine, other = w, w
    for _ in range(3):
        mine, value = ours(mine, x)
        other, want = theirs(other, x)
        same((mine, value), (other, want))


def test_lower_needs_no_devices() -> None:
    mesh = AbstractMesh((4,), ("x",))
    mapped = jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    lowered = headrace.jax.jit(mapped).lower(jax.ShapeDtypeStruct((8,), jnp.float32))
    assert "tensor<2xf32>" in lowered.as_text()
    compiled = lowered.compile()
    assert compiled.report["wire_bytes"] == 0
    with pytest.raises(HeadraceError, match="its mesh names none"):
        compiled(jnp.ones(8))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: headrace.jax.jit(3), "takes a function, not int"),
        (lambda: headrace.jax.jit(jax.jit(jnp.sin), donate_argnums=0), "leave jax.jit out"),
        (lambda: headrace.jax.jit(jnp.sin, taget="cpu")(1.0), "unknown option 'taget'"),
        (
            lambda: headrace.jax.jit(jax.jit(lambda x, n: x * n, static_argnums=1))(jnp.ones(2), 3),
            "give headrace.jax.jit the plain function",
        ),
    ],
)
def test_refused(make: Any, message: str) -> None:
    with pytest.raises(HeadraceError, match=message):
        make()
