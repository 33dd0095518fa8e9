"""What rounding can do to a program's results: how often, and how much."""

from __future__ import annotations

import json
import re

import headrace
import numpy as np
import pytest
from headrace.compiler.iree.element_types import parse_tensor_type
from headrace.compiler.report.roundings import MOST, Roundings

MOST_REPEATS = 1024


def counted(arguments: str, results: str, body: str, head: str = "") -> list[dict[str, float]]:
    """The roundings of each result of a function, from the metadata."""
    text = f"module {head} {{ func.func @main({arguments}) -> ({results}) {{\n{body}\n}} }}"
    module = str(headrace.compile(text, emit="mlir", collectives="channel").module)
    found = re.search(r'headrace\.metadata = "(.*?)"[,}]', module)
    assert found
    return [dict(r) for r in json.loads(found[1].replace("\\22", '"'))["roundings"]]


V = "tensor<8xf32>"
H = "tensor<8xbf16>"


@pytest.mark.parametrize(
    ("arguments", "result", "body", "expected"),
    [
        # A path of three, not four: the longest.
        (f"%a: {V}", V, f"%0 = stablehlo.add %a, %a : {V}\n%1 = stablehlo.multiply %a, %a : {V}\n"
         f"%2 = stablehlo.multiply %1, %0 : {V}\n%3 = stablehlo.tanh %2 : {V}\nreturn %3 : {V}",
         {"f32": 3}),
        (f"%a: {V}, %b: {V}", V, f"%0 = stablehlo.maximum %a, %b : {V}\n"
         f"%1 = stablehlo.negate %0 : {V}\n%2 = stablehlo.abs %1 : {V}\n"
         f"%3 = stablehlo.reverse %2, dims = [0] : {V}\nreturn %3 : {V}", {}),
        (f"%a: {V}", "tensor<8xi1>", f"%0 = stablehlo.tanh %a : {V}\n"
         f"%1 = stablehlo.compare LT, %a, %0 : ({V}, {V}) -> tensor<8xi1>\n"
         "return %1 : tensor<8xi1>", {}),
        ("%a: tensor<8xi32>", "tensor<8xi32>", "%0 = stablehlo.add %a, %a : tensor<8xi32>\n"
         "return %0 : tensor<8xi32>", {}),
        (f"%a: {V}", "tensor<8xi8>", f"%0 = stablehlo.multiply %a, %a : {V}\n"
         f"%1 = stablehlo.convert %0 : ({V}) -> tensor<8xi8>\nreturn %1 : tensor<8xi8>",
         {"f32": 1, "i8": 1}),
        (f"%a: {V}", H, f"%0 = stablehlo.convert %a : ({V}) -> {H}\nreturn %0 : {H}", {"bf16": 1}),
        (f"%a: {H}", V, f"%0 = stablehlo.convert %a : ({H}) -> {V}\nreturn %0 : {V}", {}),
        # One f32 step stands for 4096 terms; one rounding to the type of the result.
        ("%a: tensor<4x8192xbf16>, %b: tensor<8192x4xbf16>", "tensor<4x4xbf16>",
         "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
         "(tensor<4x8192xbf16>, tensor<8192x4xbf16>) -> tensor<4x4xbf16>\n"
         "return %0 : tensor<4x4xbf16>", {"f32": 2, "bf16": 1}),
        # A sum in bf16 is rounded at each of its terms.
        ("%a: tensor<4x20xbf16>", "tensor<4xbf16>",
         "%z = stablehlo.constant dense<0.0> : tensor<bf16>\n"
         "%0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : "
         "(tensor<4x20xbf16>, tensor<bf16>) -> tensor<4xbf16>\nreturn %0 : tensor<4xbf16>",
         {"bf16": 20}),
        ("%a: tensor<4x20xbf16>", "tensor<4xbf16>",
         "%z = stablehlo.constant dense<0.0> : tensor<bf16>\n"
         "%0 = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : "
         "(tensor<4x20xbf16>, tensor<bf16>) -> tensor<4xbf16>\nreturn %0 : tensor<4xbf16>", {}),
        (f"%a: {H}", "tensor<8xf8E4M3FN>",
         f"%0 = stablehlo.convert %a : ({H}) -> tensor<8xf8E4M3FN>\n"
         "return %0 : tensor<8xf8E4M3FN>", {"bf16": 1, "f8E4M3FN": 1}),
        (f"%c: tensor<i1>, %a: {V}", V, f"%0 = scf.if %k -> ({V}) {{\n"
         f"  %1 = stablehlo.tanh %a : {V}\n  %2 = stablehlo.tanh %1 : {V}\n  scf.yield %2 : {V}\n"
         f"}} else {{\n  scf.yield %a : {V}\n}}\nreturn %0 : {V}".replace(
             "%0 = scf", "%k = tensor.extract %c[] : tensor<i1>\n%0 = scf"), {"f32": 2}),
    ],
)  # fmt: skip
def test_counts(arguments: str, result: str, body: str, expected: dict[str, float]) -> None:
    assert counted(arguments, result, body) == [expected]


def loop(trips: str, *, carried: bool = True, extra: str = "") -> dict[str, float]:
    """Two roundings a trip, of what is carried or of an argument."""
    source = "%x" if carried else "%a"
    (found,) = counted(
        f"%a: {V}, %n: tensor<i32>",
        V,
        f"""%0 = stablehlo.constant dense<0> : tensor<i32>
        %1 = stablehlo.constant dense<1> : tensor<i32>
        {trips}
        %r:2 = stablehlo.while(%i = %0, %x = %a) : tensor<i32>, {V} cond {{
          %c = stablehlo.compare LT, %i, %t : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }} do {{
          %j = stablehlo.add %i, %1 : tensor<i32>
          %y = stablehlo.tanh {source} : {V}
          %z = stablehlo.multiply %y, %y : {V}
          stablehlo.return %j, %z : tensor<i32>, {V}
        }}
        return %r#1 : {V}""",
    )
    return found


def constant(trips: int) -> str:
    return f"%t = stablehlo.constant dense<{trips}> : tensor<i32>"


def test_loops_multiply_by_their_trips() -> None:
    assert loop(constant(7)) == {"f32": 14}
    assert loop(constant(1)) == {"f32": 2}
    assert loop(constant(0)) == {}
    # Not what each trip computes anew.
    assert loop(constant(7), carried=False) == {"f32": 2}


def test_trips_that_nobody_knows_are_taken_as_many() -> None:
    assert loop("%t = stablehlo.add %n, %n : tensor<i32>") == {"f32": 2 * MOST_REPEATS}
    assert loop(constant(10**6)) == {"f32": 2 * MOST_REPEATS}


def test_a_loop_that_counts_nothing() -> None:
    """The values that a ``while`` hands out have gone through its condition as well."""
    (found,) = counted(
        f"%a: {V}, %e: tensor<f32>",
        V,
        f"""%z = stablehlo.constant dense<0.0> : tensor<f32>
        %r = stablehlo.while(%x = %a) : {V} cond {{
          %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : ({V}, tensor<f32>) -> tensor<f32>
          %c = stablehlo.compare LT, %s, %e : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }} do {{
          %y = stablehlo.exponential %x : {V}
          stablehlo.return %y : {V}
        }}
        return %r : {V}""",
    )
    assert found == {"f32": MOST_REPEATS}


def test_each_result_has_its_own_path() -> None:
    found = counted(
        f"%a: {V}, %b: {H}",
        f"{V}, {H}, {V}",
        f"""%0 = stablehlo.tanh %a : {V}
        %1 = stablehlo.multiply %b, %b : {H}
        %2 = stablehlo.convert %1 : ({H}) -> {V}
        %3 = stablehlo.add %0, %2 : {V}
        return %0, %1, %3 : {V}, {H}, {V}""",
    )
    assert found == [{"f32": 1}, {"bf16": 1}, {"bf16": 1, "f32": 1}]


@pytest.mark.parametrize(("reduction", "expected"), [("add", {"f32": 4}), ("maximum", {})])
def test_sums_of_devices_are_rounded(reduction: str, expected: dict[str, float]) -> None:
    found = counted(
        f"%a: {V}",
        V,
        f"""%0 = "stablehlo.all_reduce"(%a) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}}> ({{
          ^bb0(%x: tensor<f32>, %y: tensor<f32>):
            %s = stablehlo.{reduction} %x, %y : tensor<f32>
            stablehlo.return %s : tensor<f32>
        }}) : ({V}) -> {V}
        return %0 : {V}""",
        "attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32}",
    )
    assert found == [expected]


def test_branches_without_structure() -> None:
    """Two trips of a ``cf`` loop count as ``MOST_REPEATS``; no block is left out."""
    (found,) = counted(
        f"%a: {V}, %n: i32",
        V,
        f"""%0 = arith.constant 0 : i32
        %1 = arith.constant 1 : i32
        cf.br ^head(%0, %a : i32, {V})
      ^head(%i: i32, %x: {V}):
        %c = arith.cmpi slt, %i, %n : i32
        cf.cond_br %c, ^body, ^end
      ^body:
        %j = arith.addi %i, %1 : i32
        %y = math.exp %x : {V}
        cf.br ^head(%j, %y : i32, {V})
      ^end:
        %z = math.tanh %x : {V}
        return %z : {V}""",
    )
    assert found["f32"] >= MOST_REPEATS


def test_an_op_that_hides_its_work_counts() -> None:
    q = "tensor<1x16x32xf8E4M3FN>"
    (found,) = counted(
        f"%q: {q}, %k: {q}, %v: {q}",
        "tensor<1x16x32xf32>",
        f"""%s = arith.constant 0.1 : f32
        %e = tensor.empty() : tensor<1x16x32xf32>
        %0 = iree_linalg_ext.attention <indexing_maps = [
          affine_map<(b, m, n, k, d) -> (b, m, k)>, affine_map<(b, m, n, k, d) -> (b, n, k)>,
          affine_map<(b, m, n, k, d) -> (b, n, d)>, affine_map<(b, m, n, k, d) -> ()>,
          affine_map<(b, m, n, k, d) -> (b, m, d)>]>
          ins(%q, %k, %v, %s : {q}, {q}, {q}, f32) outs(%e : tensor<1x16x32xf32>) {{
        ^bb0(%score: f32):
          iree_linalg_ext.yield %score : f32
        }} -> tensor<1x16x32xf32>
        return %0 : tensor<1x16x32xf32>""",
    )
    assert found == {"f8E4M3FN": 1, "f32": 8}


def bound(type_: str, counts: dict[str, float], expected: float = 1.0) -> float:
    roundings = Roundings(tuple(sorted(counts.items())))
    return roundings.bound(parse_tensor_type(f"tensor<2x{type_}>"), np.array([expected, 0.0]))


def test_bounds() -> None:
    assert bound("f32", {"f32": 100}) < 1e-3
    assert bound("f32", {"f32": 1e6}) < 1e-2
    # Never less than the default tolerance, never more than half of the largest number.
    assert bound("bf16", {}) == pytest.approx(2 / 128)
    assert bound("bf16", {"bf16": 30}) == pytest.approx(0.065, abs=1e-3)
    assert bound("bf16", {"f8E4M3FN": 1000}) == pytest.approx(MOST)
    assert bound("f8E5M2", {"f8E5M2": 9}) == pytest.approx(MOST, abs=1e-4)
    # More noise on the way explains more.
    assert bound("f32", {"f32": 9}) < bound("f32", {"f16": 9}) < bound("f32", {"bf16": 9})
    assert bound("f32", {"f8E4M3FN": 2}) < bound("f32", {"f8E5M2": 2})
    # Scales that are powers of two cancel out.
    assert bound("f32", {"f8E8M0FNU": 9}) == bound("f32", {})


def test_bounds_of_integers() -> None:
    """Exact, but off by one where a rounded number was made an integer."""
    assert bound("i32", {}, 1000) == 0
    assert bound("i1", {"f32": 3}) == 0
    assert 1e-3 < bound("i32", {"f32": 3, "i32": 1}, 1000) < 2e-3
    assert bound("i32", {"f32": 3, "i32": 1}, 0) == 1
    assert bound("i32", {}, 0) == 0
    assert 1 / 127 < bound("i8", {"f32": 3, "i8": 1}, 127) < 0.1


def test_bounds_of_zeros_and_tiny_numbers() -> None:
    """No size, no rounding; and where numbers are as small as the type has them, one step."""
    assert bound("bf16", {"bf16": 50}, 0) == pytest.approx(2 / 128)
    assert bound("f8E4M3FN", {"f8E4M3FN": 1}, 2.0**-9) > 1
    everywhere = np.array([np.inf, np.nan, 2.0])
    type_ = parse_tensor_type("tensor<3xf32>")
    assert Roundings().bound(type_, everywhere) == pytest.approx(type_.element.tolerance)


def test_words() -> None:
    assert str(Roundings((("bf16", 2.0), ("f32", 1.0), ("f8E4M3FN", 1.0)))) == (
        "1 rounding to f8E4M3FN, 2 to bf16 and 1 to f32"
    )
    assert str(Roundings((("f32", 1.5),))) == "2 roundings to f32"
    assert str(Roundings()) == "no rounding"
