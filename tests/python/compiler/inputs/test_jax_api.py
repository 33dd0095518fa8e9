"""headrace.jax.to_stablehlo: the text, what raises, and JAX's numbers on 4 CPU devices."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import headrace
import ml_dtypes
import numpy as np
import pytest
from headrace.compiler.iree.runtime import load_functions, run_program
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.analysis.shardings import parse_sharding
from headrace.passes.pipeline import Pipeline
from jax_files import arrays, together, written

if find_spec("jax") is None:
    pytest.skip("JAX is not installed: pip install 'headrace[jax]'", allow_module_level=True)

# First, since it sets the number of CPU devices before JAX starts.
from jax_programs import PROGRAMS, mesh_of, quantize_dequantize  # isort: skip

import headrace.jax
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P

needs_flax = pytest.mark.skipif(find_spec("flax") is None, reason="Flax is not installed")
NAMES = [*PROGRAMS, pytest.param("flax_dense", marks=needs_flax)]
TOLERANCE = {"bf16": 0.02, "f32": 1e-5, "i32": 0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Text, inputs and JAX's results of every program."""
    names = [*PROGRAMS, *(["flax_dense"] if find_spec("flax") is not None else [])]
    return written("jax_programs", names, tmp_path_factory)


@pytest.fixture(scope="module")
def program(folder: Path, cpu: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of them, compiled."""
    vmfb = tmp_path_factory.mktemp("jax") / "program.vmfb"
    headrace.compile(together(folder), target="cpu").save(vmfb)
    return vmfb


@pytest.mark.parametrize("name", NAMES)
def test_types_are_one_devices(folder: Path, name: str) -> None:
    module = parse_module((folder / f"{name}.mlir").read_text(), name, ir.make_context())
    (main,) = [
        f for f in ir.functions_of(module) if "public" in str(f.attributes["sym_visibility"])
    ]
    inputs = np.load(folder / f"{name}.in.npz")
    types = ir.function_type(main).inputs
    assert len(types) == len(inputs)
    for type_, attributes, array in zip(
        types, ir.argument_attributes(main), inputs.values(), strict=True
    ):
        shape = ir.RankedTensorType(type_).shape
        assert [4, *shape] == list(array.shape)
        assert list(attributes) == ["mhlo.sharding"]
        tilings = parse_sharding(ir.StringAttr(attributes["mhlo.sharding"]).value, len(shape), 4)
        assert tilings is not None
        # What the string calls copies are copies in what JAX was given.
        for a in range(4):
            for b in range(a):
                if all(not t or t[a] == t[b] for t in tilings):
                    np.testing.assert_array_equal(array[a], array[b])


@pytest.mark.parametrize("name", NAMES)
def test_raises_completely(folder: Path, name: str) -> None:
    module = parse_module((folder / f"{name}.mlir").read_text(), name, ir.make_context())
    Pipeline.parse("builtin.module(record-shardings,inline,raise-stablehlo)").run(module)
    ops = [op.name for op in ir.walk(module)]
    text = str(module)
    assert not re.search(r"stablehlo\.convert .*f8E4M3FN", text)
    assert not [n for n in ops if re.match(r"stablehlo\.(all_|reduce_sc|collective_|part)", n)]
    if name not in ("dropout_dots", "dropout_scan", "every_collective", "odds_and_ends"):
        assert "headrace.quantize" in ops


@pytest.mark.each_cpu(by="")
@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_jaxs(folder: Path, program: Path, name: str) -> None:
    function = load_functions(program)[name]
    inputs, expected = arrays(folder, name)
    results = run_program(program, function, inputs)
    assert len(results) == len(expected)
    for info, got, want in zip(function.results, results, expected, strict=True):
        error = np.abs(got.astype(np.float64) - want).max() / max(np.abs(want).max(), 1e-30)
        assert error <= TOLERANCE[re.split("[<x>]", info.type)[-2]]


def test_wire_carries_fp8(folder: Path) -> None:
    report = headrace.compile(folder / "fsdp_scan.mlir", target="cpu", emit="mlir").report
    gathers = report["collectives"]
    assert {(g["op"], g["element_type"]) for g in gathers} == {("all_gather", "f8E4M3FN")}
    assert sum(g["trips"] for g in gathers) == 3  # one a layer, the first before the loop


def test_current_scaling_carries_fp8(folder: Path) -> None:
    """The amax that the scale is made from is taken on the parts."""
    report = headrace.compile(folder / "current_scaling.mlir", target="cpu", emit="mlir").report
    kinds = {(c["op"], c["element_type"]) for c in report["collectives"]}
    assert kinds == {("all_gather", "f8E4M3FN"), ("all_reduce", "bf16")}
    assert all(m["scaled"] for m in report["matmuls"])


SHAPE = jax.ShapeDtypeStruct((8, 16), jnp.float32)


def double(x: jax.Array) -> jax.Array:
    return x * 2


TILED = P("x")


def mapped(fn: Any = double, spec: P = TILED, **options: Any) -> Any:
    options = {"mesh": mesh_of(x=4), "in_specs": spec, "out_specs": spec, **options}
    return jax.shard_map(fn, **options)


def text_of(fn: Any, *args: Any) -> str:
    return headrace.jax.to_stablehlo(fn, *args)


def test_needs_no_devices() -> None:
    """An abstract mesh of more devices than there are."""
    text = text_of(mapped(mesh=AbstractMesh((64,), ("x",))), jax.ShapeDtypeStruct((128,), "int8"))
    assert "mhlo.num_partitions = 64" in text
    assert 'tensor<2xi8> {mhlo.sharding = "{devices=[64]<=[64]}"}' in text


def test_one_device() -> None:
    text = text_of(double, SHAPE)
    assert "mhlo.num_partitions = 1" in text
    assert "mhlo.sharding" not in text


def test_same_text_each_time_and_jax_unharmed() -> None:
    fn = jax.jit(mapped())
    first = text_of(fn, SHAPE)
    np.testing.assert_array_equal(fn(jnp.ones(SHAPE.shape)), 2)
    assert "sdy.manual_computation" in fn.lower(SHAPE).as_text()
    assert text_of(fn, SHAPE) == first


def test_device_order_is_the_meshs() -> None:
    mesh = jax.sharding.Mesh(np.array(jax.devices())[[2, 0, 3, 1]], ("x",))
    fn = jax.jit(mapped(lambda x: x + lax.axis_index("x"), mesh=mesh))
    assert text_of(fn, SHAPE) == text_of(jax.jit(mapped(lambda x: x + lax.axis_index("x"))), SHAPE)


def test_explicit_mesh() -> None:
    mesh = jax.make_mesh((4,), ("x",))
    x = jax.ShapeDtypeStruct((8, 16), jnp.float32, sharding=NamedSharding(mesh, P("x")))
    text = text_of(jax.jit(lambda x: mapped(mesh=mesh)(x) + 1), x)
    assert text.count('tensor<2x16xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}') == 2


@pytest.mark.parametrize(
    "dtype", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "bfloat16"]
)
def test_small_floats(dtype: str) -> None:
    element = {"bfloat16": "bf16"}.get(dtype, dtype.replace("loat", "").replace("_e", "E"))
    fn = mapped(lambda x: lax.all_gather(x, "x", tiled=True), out_specs=P(), check_vma=False)
    text = text_of(fn, jax.ShapeDtypeStruct((8,), getattr(ml_dtypes, dtype)))
    assert f"tensor<2x{element.replace('m', 'M').replace('fn', 'FN').replace('uz', 'UZ')}>" in text


def test_gradient() -> None:
    """reduce_scatter comes from the gather's transpose."""

    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        y = x @ lax.all_gather(quantize_dequantize(w, 0.01), "x", tiled=True)
        return lax.psum(jnp.sum(y * y), "x")

    fn = mapped(jax.grad(loss), in_specs=(P("x"), P("x")))
    text = text_of(fn, jax.ShapeDtypeStruct((16, 16), jnp.float32), SHAPE)
    assert "stablehlo.reduce_scatter" in text


AUTOMATIC: dict[str, Callable[[], Any]] = {
    "no shard_map": lambda: jax.jit(double, in_shardings=NamedSharding(mesh_of(x=4), P("x"))),
    "one axis of two": lambda: jax.jit(
        mapped(mesh=mesh_of(x=2, y=2), axis_names={"x"}, check_vma=False)
    ),
    "two ways": lambda: lambda x: (mapped()(x), mapped(spec=P(None, "x"))(x)),
    "held whole": lambda: jax.jit(mapped(), in_shardings=NamedSharding(mesh_of(x=4), P(None, "x"))),
    "communication around it": lambda: lambda x: jnp.sum(mapped()(x)),
}


@pytest.mark.parametrize("name", AUTOMATIC)
def test_what_jax_splits(name: str) -> None:
    """What shard_map alone does not say is JAX's partitioner's to say."""
    text = text_of(AUTOMATIC[name](), SHAPE)
    assert "mhlo.num_partitions = 4" in text
    assert text.count("mhlo.sharding") >= 2
    ops = re.sub(r"@[\w.]+", "", text)
    assert not re.search(r"sdy\.|mhlo\.(?!num_|sharding)|custom_call", ops)


def test_refused() -> None:
    with pytest.raises(ir.HeadraceError, match="takes a function, not int"):
        text_of(3, SHAPE)


def test_what_jax_refuses_is_in_jaxs_words() -> None:
    with pytest.raises(ValueError, match="not evenly divisible"):
        text_of(mapped(), jax.ShapeDtypeStruct((6,), jnp.float32))
