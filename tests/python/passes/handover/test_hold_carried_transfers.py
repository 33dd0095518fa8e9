"""``hold-carried-transfers``: scans that only pass on what other devices had, in real runs."""

from __future__ import annotations

from pathlib import Path

import headrace
import ml_dtypes
import numpy as np
import pytest
from headrace.compiler.iree.runtime import choose_function, load_functions, run_program

# As ``scan`` over the rows of x of ``ppermute(row)``, and then of its double.
PROGRAM = """
module attributes {{mhlo.num_partitions = {devices} : i32, mhlo.num_replicas = 1 : i32}} {{
func.func @main(%x: tensor<{n}x{row}>, %y: tensor<{n}x{row}>) -> tensor<{n}x{row}> {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<{n}> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %s = %y) : tensor<i32>, tensor<{n}x{row}>
  cond {{
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %v = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, {width}] : (tensor<{n}x{row}>, tensor<i32>, tensor<i32>) -> tensor<1x{row}>
    %u = stablehlo.reshape %v : (tensor<1x{row}>) -> tensor<{row}>
    %p = "stablehlo.collective_permute"(%u) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<{pairs}> : tensor<{devices}x2xi64>}}> : (tensor<{row}>) -> tensor<{row}>
    %q = stablehlo.reshape %p : (tensor<{row}>) -> tensor<1x{row}>
    %t = stablehlo.dynamic_update_slice %s, %q, %i, %zero : (tensor<{n}x{row}>, tensor<1x{row}>, tensor<i32>, tensor<i32>) -> tensor<{n}x{row}>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %t : tensor<i32>, tensor<{n}x{row}>
  }}
  return %r#1 : tensor<{n}x{row}>
}}
}}
"""
TYPES = {"f32": np.float32, "i8": np.int8, "f8E4M3FN": ml_dtypes.float8_e4m3fn}


@pytest.mark.parametrize(
    ("devices", "n", "width", "element"),
    [(2, 3, 1, "f8E4M3FN"), (3, 4, 5, "f32"), (2, 2, 4, "i8"), (2, 1, 4, "f32")],
)
def test_a_scan_of_permutes(devices: int, n: int, width: int, element: str, tmp_path: Path) -> None:
    pairs = [[d, (d + 1) % devices] for d in range(devices)]
    row = f"{width}x{element}"
    text = PROGRAM.format(devices=devices, n=n, width=width, row=row, pairs=pairs)
    program = tmp_path / "program.vmfb"
    headrace.compile(text).save(program)
    x = np.random.default_rng(0).integers(-8, 8, (devices, n, width)).astype(TYPES[element])
    function = choose_function(load_functions(program), None)
    (found,) = run_program(program, function, [x, np.zeros_like(x)])
    assert np.array_equal(found.view(np.uint8), np.roll(x, 1, axis=0).view(np.uint8))


# The last row that came is doubled once the loop has ended.
LAST = (
    ("-> tensor<{n}x{row}> {{", "-> (tensor<{n}x{row}>, tensor<{row}>) {{"),
    (
        "  %r:2 = stablehlo.while(%i = %zero, %s = %y) : tensor<i32>, tensor<{n}x{row}>",
        "  %first = stablehlo.constant dense<0.0> : tensor<{row}>\n"
        "  %r:3 = stablehlo.while(%i = %zero, %s = %y, %l = %first)"
        " : tensor<i32>, tensor<{n}x{row}>, tensor<{row}>",
    ),
    (
        "stablehlo.return %j, %t : tensor<i32>, tensor<{n}x{row}>",
        "stablehlo.return %j, %t, %p : tensor<i32>, tensor<{n}x{row}>, tensor<{row}>",
    ),
    (
        "  return %r#1 : tensor<{n}x{row}>",
        "  %d = stablehlo.add %r#2, %r#2 : tensor<{row}>\n"
        "  return %r#1, %d : tensor<{n}x{row}>, tensor<{row}>",
    ),
)


@pytest.mark.parametrize(("devices", "n"), [(2, 3), (4, 4), (2, 1)])
def test_what_is_read_after_the_loop(devices: int, n: int) -> None:
    text = PROGRAM
    for old, new in LAST:
        assert old in text
        text = text.replace(old, new)
    pairs = [[d, (d + 1) % devices] for d in range(devices)]
    text = text.format(devices=devices, n=n, width=6, row="6xf32", pairs=pairs)
    x = np.random.default_rng(0).integers(-8, 8, (devices, n, 6)).astype(np.float32)
    with headrace.compile(text).load() as program:
        found, doubled = program(x, np.zeros_like(x))
    permuted = np.roll(x, 1, axis=0)
    assert np.array_equal(found, permuted)
    assert np.array_equal(doubled, 2 * permuted[:, -1])
