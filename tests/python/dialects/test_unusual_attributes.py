"""Constants, attributes and strings that no pass may take for what they are not."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from headrace.compiler.driver import compile_program
from headrace.dialects import ir
from headrace.dialects.input_checks import check_input
from headrace.dialects.ir.attribute_casts import repair_casts
from headrace.dialects.ir.parsing import parse_module
from headrace.dialects.iree.encoding_ops import OperandEncoding
from headrace.passes.pipeline import Pipeline
from headrace.passes.registry import pass_names
from iree.compiler.ir import DenseFPElementsAttr, FusedLoc
from refusals import module_of, refusal

TARGETS = ("cpu", "gfx942", "gfx950", "sm_80", "sm_89", "vmvx", "vulkan-rdna3")

CONSTANTS = """
func.func @f(%i: tensor<1xi32>) -> (
    tensor<4xcomplex<f32>>, tensor<2xcomplex<f64>>, tensor<2xi1>, tensor<2xi4>, tensor<4xf8E4M3FN>) {
  %a = arith.constant dense_resource<a> : tensor<4xcomplex<f32>>
  %b = arith.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f64>>
  %c = arith.constant dense_resource<c> : tensor<2xi1>
  %d = arith.constant dense_resource<d> : tensor<2xi4>
  %e = arith.constant dense_resource<e> : tensor<4xf8E4M3FN>
  return %a, %b, %c, %d, %e : tensor<4xcomplex<f32>>, tensor<2xcomplex<f64>>, tensor<2xi1>,
      tensor<2xi4>, tensor<4xf8E4M3FN>
}
{-# dialect_resources: { builtin: {
  a: "0x040000000000803F000000400000803F000000400000803F000000400000803F00000040",
  c: "0x010000000100", d: "0x01000000010F", e: "0x0100000001020304"
} } #-}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_constants_of_any_type_pass(target: str) -> None:
    """Complex ones among them: only what is fp8 is legalized."""
    text = str(compile_program(CONSTANTS, target, emit="mlir").module)
    assert "dense_resource<a> : tensor<4xcomplex<f32>>" in text
    assert "(1.000000e+00,2.000000e+00), (3.000000e+00,4.000000e+00)]> : tensor<2xcomplex" in text
    assert "dense<[true, false]> : tensor<2xi1>" in text
    assert "dense<[1, -1]> : tensor<2xi4>" in text


@pytest.mark.parametrize("name", sorted(n for n in pass_names() if not n.startswith("test-")))
def test_every_pass_takes_every_constant(name: str) -> None:
    Pipeline.parse(f"builtin.module({name})").run(module_of(CONSTANTS))


@pytest.mark.parametrize("bytes_", ["01000000", "010000000102", "01000000010203040506"])
def test_resource_of_another_size(bytes_: str) -> None:
    text = (
        "func.func @f() -> tensor<4xf8E4M3FN> {\n"
        "  %a = arith.constant dense_resource<a> : tensor<4xf8E4M3FN>\n"
        "  return %a : tensor<4xf8E4M3FN>\n}\n"
        f'{{-# dialect_resources: {{ builtin: {{ a: "0x{bytes_}" }} }} #-}}'
    )
    size = len(bytes_) // 2 - 4
    assert f"2:8: error: the resource holds {size} bytes, and tensor<4xf8E4M3FN> takes 4" in (
        refusal(text)
    )


ATTRIBUTES = {
    "dense<(1.0,2.0)> : tensor<4xcomplex<f32>>": ir.Attribute,
    'dense<"a"> : tensor<2x!test.string>': ir.Attribute,
    "array<i128: 1>": ir.Attribute,
    "loc(unknown)": ir.Attribute,
    'loc("a":1:2)': ir.Attribute,
    'loc(fused["a", "b"])': ir.Attribute,
    "dense<1.0> : tensor<4xbf16>": DenseFPElementsAttr,
    "dense<1.0> : tensor<4xf4E2M1FN>": DenseFPElementsAttr,
    "dense<true> : tensor<4xi1>": ir.DenseElementsAttr,
    "array<i64: 1, 2>": ir.DenseI64ArrayAttr,
}


@pytest.mark.parametrize("text", ATTRIBUTES)
def test_every_attribute_can_be_read(text: str) -> None:
    """The bindings raise TypeError for a class that they do not have, when an op's
    attributes are read, whichever of them is wanted."""
    module = module_of(f"module attributes {{a.b = {text}, a.c}} {{}}")
    found = module.attributes["a.b"]
    assert isinstance(found, ATTRIBUTES[text])
    assert (type(found) is ir.Attribute) == (ATTRIBUTES[text] is ir.Attribute)
    check_input(module)


def test_locations_keep_their_classes() -> None:
    context = ir.make_context()
    file = ir.Location.file("a.py", 3, 4, context)
    assert isinstance(file, ir.FileLineColLoc)
    assert isinstance(
        ir.Location.fused([file, ir.Location.file("b.py", 1, 2, context)], context=context),
        FusedLoc,
    )
    assert ir.source_position(ir.Location.name("n", file, context)) == ("a.py", 3, 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('module attributes {a.b = "\\E7"} {}', "test.mlir:1:26: error: a string is no UTF-8"),
        (
            'module {}\n// "\\C3\\A9" is one, "\\\\E7", too\nmodule {} loc("\\FF":1:2)',
            ":3:15: error",
        ),
        ('"a\\80.b"() : () -> ()', ":1:1: error: a string is no UTF-8"),
        (
            "func.func @f() {\n  %c = stablehlo.constant dense<[(0.0,1.0)]> : tensor<1xf32>\n"
            "  return\n}",
            ":2:27: error: complex elements of a type that is not complex",
        ),
    ],
)
def test_text_that_ends_the_process(text: str, message: str) -> None:
    """MLIR's parser takes it, and whoever reads or prints it crashes."""
    with pytest.raises(ir.HeadraceError, match="error: ") as caught:
        module_of(text)
    assert message in str(caught.value)


def test_strings_of_other_languages() -> None:
    module = module_of('module attributes {a.b = "caf\\C3\\A9 \\\\E7", a.c = "\u00e9"} {}')
    assert str(module.attributes["a.b"]) == '"caf\\C3\\A9 \\\\E7"'


def test_bytecode_with_a_name_that_is_no_utf8(tmp_path: Path) -> None:
    module = module_of('module { "test.sample"() : () -> () }')
    with tempfile.TemporaryFile() as file:
        module.write_bytecode(file)
        file.seek(0)
        data = file.read()
    assert str(parse_module(data, "good", ir.make_context()))
    broken = data.replace(b"sample", b"s\xe7mple")
    with pytest.raises(ir.HeadraceError, match=r"is broken bytecode: a .* is no UTF-8"):
        parse_module(broken, "bad", ir.make_context())


@pytest.mark.parametrize(
    "attribute",
    [
        "operand_index = 3 : index, op_type = matmul, element_types = [f32, f32, f32], "
        "user_indexing_maps = [#a, #b, #c], iteration_sizes = [1, 2, 3]",
        "operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], "
        "user_indexing_maps = [#a, #b, #c], iteration_sizes = [1, 2]",
        "operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], "
        "user_indexing_maps = [#a, #b, #c], iteration_sizes = []",
        "operand_index = 0 : index, op_type = matmul, element_types = [f32], "
        "user_indexing_maps = [#a, #b, #c]",
        "operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], "
        "user_indexing_maps = [#a, #b]",
    ],
)
def test_encodings_that_contradict_themselves(attribute: str) -> None:
    """IREE verifies them in text, not in bytecode."""
    text = f"#iree_encoding.encoding<{attribute}>"
    for name, results in (("#a", "(d0, d2)"), ("#b", "(d2, d1)"), ("#c", "(d0, d1)")):
        text = text.replace(name, f"affine_map<(d0, d1, d2) -> {results}>")
    assert OperandEncoding.parse(text) is None
    right = re.sub("operand_index = .", "operand_index = 2", text)
    right = re.sub(r"element_types = [^]]*]", "element_types = [f32, f32, f32]", right)
    right = re.sub(r"sizes = [^]]*]", "sizes = [1, ?, 3]", right)
    right = re.sub(r"(d2, d1\)>)]", r"\1, affine_map<(d0, d1, d2) -> (d0, d1)>]", right)
    assert OperandEncoding.parse(right) is not None


def test_casts_are_repaired_once() -> None:
    repair_casts(None, None, ir.make_context())
