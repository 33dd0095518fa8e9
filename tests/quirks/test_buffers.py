"""Programs that read or write where others do, each run in a process of its own."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from headrace.compiler.iree.element_types import Array
from headrace.compiler.iree.runtime import run_program
from headrace.compiler.metadata import FunctionInfo, ValueInfo
from headrace.dialects.ir import HeadraceError
from stock import HOST, Shown, canary, devices, expect_compiles, expect_equal

DEVICES = 4
T, ROW, CUT, ALL = "tensor<16x16xf32>", "tensor<16xf32>", "tensor<4x16xf32>", "tensor<64x16xf32>"


def run(
    text: str,
    folder: Path,
    types: tuple[str, ...],
    results: tuple[str, ...],
    inputs: list[Array],
) -> Array:
    """The first result; ``inputs`` and it are ``[devices, *shape]``."""
    count = len(inputs[0])
    flags = HOST if count == 1 else (*devices(count), "--iree-opt-const-eval=false")
    vmfb = folder / "program.vmfb"
    vmfb.write_bytes(expect_compiles(text, flags, "nothing"))
    arguments = tuple(ValueInfo(t) for t in types)
    returned = tuple(ValueInfo(t) for t in results)
    info = FunctionInfo("main", "cpu", "devices", count, arguments, returned)
    return run_program(vmfb, info, inputs)[0]


@canary
def test_scatter_unclamped(tmp_path: Path) -> None:
    x, i, u = "tensor<4x2xf32>", "tensor<1x1xi32>", "tensor<1x2xf32>"
    numbers = (
        "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
        "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"
    )
    text = f"""
func.func @main(%x: {x}, %i: {i}, %u: {u}) -> {x} {{
  %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = {numbers}}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }}) : ({x}, {i}, {u}) -> {x}
  return %0 : {x}
}}"""
    # Four GiB behind the tensor, where nothing lies.
    inputs = [np.ones((1, 4, 2), np.float32), np.full((1, 1, 1), 1 << 29, np.int32)]
    try:
        found = run(text, tmp_path, (x, i, u), (x,), [*inputs, np.zeros((1, 1, 2), np.float32)])
    except HeadraceError as error:
        raise Shown from error
    expect_equal(found, inputs[0])


def _reader_before_update() -> str:
    """On each device the maxima of the rows of %y, and %y with some rows replaced; of
    those of all devices a product with the maxima."""
    places = range(DEVICES)
    on = [f"{{iree.abi.affinity = #hal.device.promise<@dev{n}>}}" for n in places]
    arguments = ", ".join(f"%x{n}: {T} {on[n]}, %z{n}: {T} {on[n]}" for n in places)
    lines = [
        f"""
  %y{n} = arith.negf %x{n} : {T}
  %r{n} = linalg.reduce {{ arith.maximumf }} ins(%y{n} : {T}) outs(%low : {ROW}) dimensions = [1]
  %s{n} = tensor.extract_slice %z{n}[0, 0] [4, 16] [1, 1] : {T} to {CUT}
  %u{n} = tensor.insert_slice %s{n} into %y{n}[0, 0] [4, 16] [1, 1] : {CUT} into {T}"""
        for n in places
    ]
    for n in places:
        lines += [
            f"  %t{n}{k} = flow.tensor.transfer %u{k} : {T} to #hal.device.promise<@dev{n}>"
            for k in places
        ]
        sent = ", ".join(f"%t{n}{k}" for k in places)
        lines.append(f"""
  %g{n} = tensor.concat dim(0) {sent} : ({", ".join([T] * DEVICES)}) -> {ALL}
  %o{n} = linalg.matvec ins(%g{n}, %r{n} : {ALL}, {ROW}) outs(%f : tensor<64xf32>) -> tensor<64xf32>""")
    results = ", ".join(f"tensor<64xf32> {on[n]}" for n in places)
    returned, types = ", ".join(f"%o{n}" for n in places), ", ".join(["tensor<64xf32>"] * DEVICES)
    return f"""
func.func @main({arguments}) -> ({results}) {{
  %least = arith.constant -40.0 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {ROW}
  %low = linalg.fill ins(%least : f32) outs(%e : {ROW}) -> {ROW}
  %h = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%h : tensor<64xf32>) -> tensor<64xf32>
{chr(10).join(lines)}
  return {returned} : {types}
}}"""


@canary
def test_reader_after_update(tmp_path: Path) -> None:
    x, z = np.random.default_rng(0).integers(-4, 5, (2, DEVICES, 16, 16)).astype(np.float32)
    updated = -x
    updated[:, 0:4] = z[:, 0:4]
    gathered = updated.reshape(DEVICES * 16, 16)
    right = np.stack([gathered @ rows for rows in (-x).max(axis=2)])
    found = run(_reader_before_update(), tmp_path, (T, T), ("tensor<64xf32>",), [x, z])
    expect_equal(found, right)


@canary
def test_update_before_reader(tmp_path: Path) -> None:
    """On one device: the maxima of the rows of %y, then two updates that run at once."""
    text = f"""
func.func @main(%x: {T}, %a: {CUT}, %b: {CUT}) -> ({ROW}, {T}) {{
  %least = arith.constant -40.0 : f32
  %e = tensor.empty() : {ROW}
  %low = linalg.fill ins(%least : f32) outs(%e : {ROW}) -> {ROW}
  %y = arith.negf %x : {T}
  %r = linalg.reduce {{ arith.maximumf }} ins(%y : {T}) outs(%low : {ROW}) dimensions = [1]
  %u = tensor.insert_slice %a into %y[0, 0] [4, 16] [1, 1] : {CUT} into {T}
  %v = tensor.insert_slice %b into %u[4, 0] [4, 16] [1, 1] : {CUT} into {T}
  return %r, %v : {ROW}, {T}
}}"""
    x = np.random.default_rng(0).integers(-4, 5, (1, 16, 16)).astype(np.float32)
    parts = [np.full((1, 4, 16), -9, np.float32)] * 2
    expect_equal(run(text, tmp_path, (T, CUT, CUT), (ROW, T), [x, *parts]), (-x).max(axis=2))


@canary
def test_update_order_lost() -> None:
    """Which of two that run at once comes last, only the threads know: the IR tells it."""
    half = "tensor<8x16xf32>"
    parts = [("%v", "%x", "%a", 0), ("%w", "%v", "%b", 8), ("%r", "%w", "%c", 0)]
    updates = [
        f"{made} = tensor.insert_slice {by} into {of}[{row}, 0] [8, 16] [1, 1] : {half} into {T}"
        for made, of, by, row in parts
    ]
    text = f"""
func.func @main(%x: {T}, %a: {half}, %b: {half}, %c: {half}) -> {T} {{
  {chr(10).join(updates)}
  return %r : {T}
}}"""
    stream = expect_compiles(text, (*HOST, "--compile-to=stream"), "nothing").decode()
    for commands in re.findall(r"stream.cmd.concurrent \{(.*?)\n *\}", stream, re.DOTALL):
        written = re.findall(r"stream.cmd.copy .*?, (%\w+\[%\w+\])", commands)
        if len(written) != len(dict.fromkeys(written)):
            raise Shown(commands)
