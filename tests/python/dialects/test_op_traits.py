"""The table of op traits: its names are ops, and passes that kept lists agree by it."""

from __future__ import annotations

import pytest
from headrace.dialects import ir, op_traits
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.analysis.contractions import Contraction, contraction_of
from headrace.passes.analysis.linalg_terms import Term, number_of
from headrace.passes.analysis.movement.values import is_positive_zero
from headrace.passes.pipeline import Pipeline

SETS = {
    name: value
    for name, value in vars(op_traits).items()
    if isinstance(value, frozenset) and name not in ("_PURE_DIALECTS",)
}


@pytest.mark.parametrize("name", SETS)
def test_every_name_is_an_op(name: str) -> None:
    context = ir.make_context()
    unknown = {op for op in SETS[name] if not context.is_registered_operation(op)}
    assert not unknown


def body(text: str, arguments: str = "") -> list[ir.Operation]:
    """The ops of a function, by the order in its text."""
    module = parse_module(f"func.func @f({arguments}) {{ {text} return }}", "test", CONTEXT)
    MODULES.append(module)
    return ir.operations_of(ir.operations_of(module.regions[0].blocks[0])[0].regions[0].blocks[0])


CONTEXT = ir.make_context()
MODULES: list[ir.Operation] = []


@pytest.mark.parametrize(
    ("text", "pure"),
    [
        ("%0 = stablehlo.dot %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>", True),
        ("%0 = stablehlo.optimization_barrier %x : tensor<2x2xf32>", False),
        ("%0 = scf.index_switch %i -> index default { scf.yield %i : index }", True),
    ],
)
def test_pure_ops(text: str, pure: bool) -> None:
    (op, _) = body(text, "%x: tensor<2x2xf32>, %i: index")
    assert op_traits.is_pure(op) == pure


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("matmul", ("2x3", "3x4", "2x4")),
        ("batch_matmul", ("5x2x3", "5x3x4", "5x2x4")),
        ("matvec", ("2x3", "3", "2")),
        ("vecmat", ("3", "3x4", "4")),
        ("batch_matvec", ("5x2x3", "5x3", "5x2")),
        ("batch_vecmat", ("5x3", "5x3x4", "5x4")),
        ("dot", ("3", "3", "")),
    ],
)
def test_named_contractions_are_known(name: str, shapes: tuple[str, str, str]) -> None:
    lhs, rhs, out = (f"tensor<{s}{'x' if s else ''}f32>" for s in shapes)
    arguments = f"%a: {lhs}, %b: {rhs}, %c: {out}"
    text = f"%0 = linalg.{name} ins(%a, %b : {lhs}, {rhs}) outs(%c : {out}) -> {out}"
    (op, _) = body(text, arguments)
    assert op.name in op_traits.CONTRACTIONS
    assert isinstance(contraction_of(op), Contraction)


@pytest.mark.parametrize(
    "moves",
    [
        "stablehlo.transpose %c, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>",
        "stablehlo.reverse %c, dims = [0] : tensor<2x4xf32>",
        "stablehlo.slice %c [0:1, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>",
        "tensor.collapse_shape %c [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>",
        "tensor.cast %c : tensor<2x4xf32> to tensor<?x4xf32>",
        "tensor.extract_slice %c[0, 0] [1, 2] [1, 1] : tensor<2x4xf32> to tensor<1x2xf32>",
    ],
)
def test_a_constant_is_known_behind_movement(moves: str) -> None:
    text = f"%c = arith.constant dense<0.0> : tensor<2x4xf32> %0 = {moves}"
    moved = body(text)[1].results[0]
    assert is_positive_zero(moved)
    assert number_of(Term(moved)) == 0.0


def test_packing_is_no_reduction() -> None:
    """hold-sourceless-values took linalg.pack for a sum, and put a barrier before it."""
    f32 = "tensor<8xf32>"
    module = parse_module(
        f"""
        func.func @f() -> tensor<2x4xf32> {{
          %c = arith.constant dense<5.0> : {f32}
          %e = tensor.empty() : tensor<2x4xf32>
          %0 = linalg.pack %c inner_dims_pos = [0] inner_tiles = [4] into %e
            : {f32} -> tensor<2x4xf32>
          return %0 : tensor<2x4xf32>
        }}""",
        "test",
        CONTEXT,
    )
    Pipeline.parse("builtin.module(hold-sourceless-values)").run(module)
    assert "barrier" not in str(module)
