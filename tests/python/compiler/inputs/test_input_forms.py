"""What users hand in: loaded, made per device, or refused with a hint."""

from __future__ import annotations

import io
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import headrace
import headrace.jax
import pytest
from headrace.compiler.inputs.contents import Contents
from headrace.compiler.inputs.input_forms import load_module, make_per_device
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module

needs_jax = pytest.mark.skipif(
    find_spec("jax") is None, reason="JAX is not installed: pip install 'headrace[jax]'"
)

TEXT = """
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%x: tensor<2xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}) -> tensor<2xf32> {
    %0 = stablehlo.add %x, %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"""

SHARDY = """
module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>]
        out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<2xf32>) {
      %1 = stablehlo.negate %arg1 : tensor<2xf32>
      sdy.return %1 : tensor<2xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
"""

AUTOMATIC_SHARDY = """
module @jit_f attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<8xf32> {jax.result_info = "result"}) {
    return %arg0 : tensor<8xf32>
  }
}
"""

GENERIC_SHARDY = """
"builtin.module"() ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=4]>, sym_name = "mesh"}> : () -> ()
  "func.func"() <{function_type = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<8xf32>):
    %0 = "sdy.manual_computation"(%x) <{
        in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>,
        out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>,
        manual_axes = #sdy<manual_axes{"x"}>}> ({
    ^bb1(%y: tensor<2xf32>):
      "sdy.return"(%y) : (tensor<2xf32>) -> ()
    }) : (tensor<8xf32>) -> tensor<8xf32>
    "func.return"(%0) : (tensor<8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"""

GSPMD = """
module @jit_f attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4]<=[4]}"}
      : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"}
      : (tensor<8xf32>) -> tensor<2xf32>
    %2 = stablehlo.negate %1 : tensor<2xf32>
    %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[4]<=[4]}"}
      : (tensor<2xf32>) -> tensor<8xf32>
    return %3 : tensor<8xf32>
  }
}
"""

AUTOMATIC_GSPMD = """
module @jit_f attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"})
      -> (tensor<8x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
"""

ANNOTATED = """
module @jit_f attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4]<=[4]}"}
      : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
"""

VHLO_TEXT = """
"vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[]>}> ({}) : () -> ()
"""


def load(source: Any) -> ir.Operation:
    return make_per_device(Contents(load_module(source, ir.make_context()))).module


def refusal(source: Any) -> str:
    with pytest.raises(ir.HeadraceError) as caught:
        load(source)
    message = str(caught.value)
    assert message.count("\n") == 0
    return message


def test_text_file_bytes_and_bytecode(tmp_path: Path) -> None:
    path = tmp_path / "model.mlir"
    path.write_text(TEXT)
    want = str(load(TEXT))
    bytecode = io.BytesIO()
    load(TEXT).write_bytecode(bytecode)
    (tmp_path / "model.mlirbc").write_bytes(bytecode.getvalue())
    for source in (
        TEXT.encode(),
        path,
        str(path),
        bytecode.getvalue(),
        tmp_path / "model.mlirbc",
        str(tmp_path / "model.mlirbc"),
    ):
        assert str(load(source)) == want


def test_a_module_is_taken_as_it_is() -> None:
    context = ir.make_context()
    module = ir.Module.parse(TEXT, context=context)
    assert load(module) == module.operation
    assert load(module.operation) == module.operation
    function = module.body.operations[0]
    assert "expected a builtin.module, got 'func.func'" in refusal(function)


def test_several_public_functions_stay() -> None:
    two = TEXT.replace("}\n}", "}\n  func.func @other() {\n    return\n  }\n}")
    assert str(load(two)).count("func.func @") == 2


def test_older_shard_map_text_is_made_per_device() -> None:
    made = str(load(GSPMD))
    assert '(%arg0: tensor<2xf32> {mhlo.sharding = "{devices=[4]<=[4]}"})' in made
    assert "custom_call" not in made
    given = parse_module(GSPMD, "x", ir.make_context())
    before = str(given)
    headrace.compile(given, emit="mlir")
    assert str(given) == before


@needs_jax
@pytest.mark.parametrize("source", [SHARDY, GENERIC_SHARDY, AUTOMATIC_SHARDY, ANNOTATED])
def test_global_text_is_split_by_jax(source: str) -> None:
    made = load(source)
    (main,) = ir.functions_of(made)
    assert [str(t) for t in ir.function_type(main).inputs] == ["tensor<2xf32>"]
    assert "sdy." not in str(made)
    assert "custom_call" not in str(made)


@needs_jax
def test_annotated_arguments_are_split_by_jax() -> None:
    """Rows that are on four devices are contracted: what each makes is added up."""
    made = str(load(AUTOMATIC_GSPMD))
    assert '(%arg0: tensor<2x8xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"})' in made
    assert '-> (tensor<8x8xf32> {mhlo.sharding = "{replicated}"})' in made
    assert "replica_groups = dense<[[0, 1, 2, 3]]>" in made


@needs_jax
def test_what_jax_does_not_take_is_said_in_its_words() -> None:
    unknown = AUTOMATIC_SHARDY.replace('[{"x"}]>})', '[{"y"}]>})')
    assert 'unknown axis name: "y"' in refusal(unknown)


def test_per_device_programs_without_collectives_are_legal() -> None:
    load(TEXT)
    load(AUTOMATIC_GSPMD.replace(' {jax.result_info = "result"}', ""))
    load(AUTOMATIC_GSPMD.replace("num_partitions = 4", "num_partitions = 1"))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("HloModule jit_f, entry_computation_layout={()->f32[]}\n", "is HLO text"),
        ("{ lambda ; a:f32[3]. let b:f32[3] = add a a in (b,) }", "is a jaxpr"),
        ("", "is empty"),
        (b" \n", "is empty"),
        ("module {", "expected operation name"),
        (bytes(range(128, 256)), "neither MLIR text nor MLIR bytecode"),
        (b"ML\xefR\x0dMLIR\x00broken", "broken bytecode"),
        ("no/such/file.mlir", "cannot read 'no/such/file.mlir': No such file"),
        ("null\0byte", "null byte"),
        (Path("/"), "Is a directory"),
        (3, "expected a module, MLIR text or bytecode, or a path, got builtins.int"),
        (None, "got builtins.NoneType"),
        (print, "call headrace.jax.to_stablehlo"),
    ],
)
def test_refused_with_one_line(source: Any, message: str) -> None:
    assert message in refusal(source)


def test_vhlo_text() -> None:
    with pytest.raises(ir.HeadraceError):
        load(VHLO_TEXT)


ARTIFACT_HEAD = b"ML\xefR\x0dStableHLO_v1.13.0\x00"


def test_artifact_without_jax(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jaxlib").mkdir()
    (tmp_path / "jaxlib" / "__init__.py").write_text("raise ImportError('not here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    message = refusal(ARTIFACT_HEAD)
    assert "jax.export artifact, which takes JAX to read (not here)" in message
    assert "pip install 'headrace[jax]'" in message


def test_to_stablehlo_without_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ir.HeadraceError, match=r"needs JAX, .* pip install 'headrace\[jax\]'"):
        headrace.jax.to_stablehlo(print)


@needs_jax
def test_broken_artifact() -> None:
    assert "jaxlib cannot read the artifact" in refusal(ARTIFACT_HEAD + b"broken")


@needs_jax
def test_jax_objects(tmp_path: Path) -> None:
    """Artifacts as bytes, file and object; Lowered; jaxlib's own modules."""
    from jax_programs import mesh_of  # isort: skip
    import jax
    from jax.sharding import PartitionSpec as P

    fn = jax.jit(jax.shard_map(lambda x: -x, mesh=mesh_of(x=4), in_specs=P("x"), out_specs=P("x")))
    shape = jax.ShapeDtypeStruct((8,), "float32")
    lowered = fn.lower(shape)
    exported = jax.export.export(fn)(shape)
    artifact = exported.mlir_module_serialized
    # The flatbuffer around the artifact: its length, then its bytes.
    wrapped = b"flatbuffer" + len(artifact).to_bytes(4, "little") + artifact + b"and more"
    (tmp_path / "program.bin").write_bytes(wrapped)
    sources = [
        lowered,
        lowered.compiler_ir("stablehlo"),
        exported,
        artifact,
        tmp_path / "program.bin",
    ]
    for source in sources:
        text = re.sub(r"jax\.\w+ = \w+, ", "", str(load(source)))
        assert text == str(load(GSPMD)).replace("{mhlo.num_p", "{mhlo.num_p", 1).replace(
            "mhlo.num_partitions = 4 : i32}",
            "mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32}",
        ).replace("@jit_f", "@jit__lambda")
    assert "sdy.manual_computation" in lowered.as_text()
    assert "to_stablehlo" in refusal(fn)


@needs_jax
def test_artifacts_of_other_kinds() -> None:
    import jax

    shape = jax.export.symbolic_shape("batch, 4")
    args = jax.ShapeDtypeStruct(shape, "float32")
    exported = jax.export.export(jax.jit(lambda x: x + 1))(args)
    assert "symbolic shapes" in refusal(exported)
