"""What several devices compute of constants, next to dots that IREE encodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import cpus
import headrace
import numpy as np
import pytest
from headrace.compiler.iree.element_types import Array
from headrace.compiler.iree.runtime import load_functions, run_program

ROWS, COLUMNS = 8, 16
X = f"tensor<{ROWS}x{COLUMNS}xf32>"
INDEX = X.replace("f32", "i32")
RESULT = f"tensor<{ROWS}x{ROWS}xf32>"
TABLE = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS) % 7 - 3
NUMBERS = f"dense<{TABLE.tolist()}> : {X}"
IOTA = f"%iota = stablehlo.iota dim = 1 : {INDEX}"
POSITIONS = np.broadcast_to(np.arange(COLUMNS), (ROWS, COLUMNS))

# Text that makes %y of %x, and the same in NumPy.
BODIES: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "table": (
        f"""%t = stablehlo.constant {NUMBERS}
            %y = stablehlo.multiply %t, %x : {X}""",
        lambda x: TABLE * x,
    ),
    "computed of a table": (
        f"""%t = stablehlo.constant {NUMBERS}
            %u = stablehlo.multiply %t, %t : {X}
            %v = stablehlo.add %u, %t : {X}
            %w = stablehlo.multiply %x, %v : {X}
            %z = stablehlo.add %w, %u : {X}
            %y = stablehlo.add %z, %t : {X}""",
        lambda x: x * (TABLE * TABLE + TABLE) + TABLE * TABLE + TABLE,
    ),
    "computed of an iota": (
        f"""{IOTA}
            %p = stablehlo.multiply %iota, %iota : {INDEX}
            %q = stablehlo.add %p, %iota : {INDEX}
            %f = stablehlo.convert %p : ({INDEX}) -> {X}
            %g = stablehlo.convert %q : ({INDEX}) -> {X}
            %h = stablehlo.multiply %f, %x : {X}
            %y = stablehlo.add %h, %g : {X}""",
        lambda x: POSITIONS**2 * x + POSITIONS**2 + POSITIONS,
    ),
    "mask": (
        f"""{IOTA}
            %rows = stablehlo.iota dim = 0 : {INDEX}
            %m = stablehlo.compare GE, %rows, %iota, SIGNED
              : ({INDEX}, {INDEX}) -> {X.replace("f32", "i1")}
            %zero = stablehlo.constant dense<0.0> : {X}
            %y = stablehlo.select %m, %x, %zero : {X.replace("f32", "i1")}, {X}""",
        np.tril,
    ),
    "reduced iota": (
        f"""{IOTA}
            %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
            %zero = stablehlo.constant dense<0> : tensor<i32>
            %best:2 = stablehlo.reduce(%x init: %low), (%iota init: %zero) across dimensions = [1]
                : ({X}, {INDEX}, tensor<f32>, tensor<i32>)
                -> (tensor<{ROWS}xf32>, tensor<{ROWS}xi32>)
              reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {{
                %c = stablehlo.compare GE, %a, %b, FLOAT
                  : (tensor<f32>, tensor<f32>) -> tensor<i1>
                %v = stablehlo.select %c, %a, %b : tensor<i1>, tensor<f32>
                %k = stablehlo.select %c, %i, %j : tensor<i1>, tensor<i32>
                stablehlo.return %v, %k : tensor<f32>, tensor<i32>
              }}
            %w = stablehlo.broadcast_in_dim %best#1, dims = [0]
              : (tensor<{ROWS}xi32>) -> {INDEX}
            %e = stablehlo.compare EQ, %w, %iota, SIGNED
              : ({INDEX}, {INDEX}) -> {X.replace("f32", "i1")}
            %none = stablehlo.constant dense<0.0> : {X}
            %y = stablehlo.select %e, %x, %none : {X.replace("f32", "i1")}, {X}""",
        lambda x: np.where(x.argmax(1)[:, None] == POSITIONS, x, 0),
    ),
}


def function_text(name: str, body: str, devices: int) -> str:
    """``%y @ x^T``, summed over the devices."""
    return f"""func.func public @"{name}"(%x: {X}) -> {RESULT} {{
        {body}
        %d = stablehlo.dot_general %y, %x, contracting_dims = [1] x [1] : ({X}, {X}) -> {RESULT}
        %s = "stablehlo.all_reduce"(%d) <{{
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids,
          replica_groups = dense<[{list(range(devices))}]> : tensor<1x{devices}xi64>}}> ({{
        ^bb0(%l: tensor<f32>, %r: tensor<f32>):
          %sum = stablehlo.add %l, %r : tensor<f32>
          stablehlo.return %sum : tensor<f32>
        }}) : ({RESULT}) -> {RESULT}
        return %s : {RESULT}
      }}"""


@cpus.cache
def program(devices: int) -> Path:
    """All bodies, compiled for so many devices."""
    functions = "\n".join(function_text(name, BODIES[name][0], devices) for name in BODIES)
    text = f"module attributes {{mhlo.num_partitions = {devices} : i32}} {{ {functions} }}"
    vmfb = Path(mkdtemp(prefix="headrace-tests-")) / "program.vmfb"
    compiled: Any = headrace.compile(text, target="cpu")
    compiled.save(vmfb)
    return vmfb


@pytest.mark.each_cpu(by="devices")
@pytest.mark.parametrize("devices", [1, 2, 4])
@pytest.mark.parametrize("name", BODIES)
def test_numbers(name: str, devices: int) -> None:
    rng = np.random.default_rng(devices)
    # No row holds a number twice; whole numbers, whose sums are exact.
    ordered = np.broadcast_to(np.arange(COLUMNS, dtype=np.float32), (devices, ROWS, COLUMNS))
    x = rng.permuted(ordered, axis=2)
    _, make = BODIES[name]
    expected = np.sum([make(part) @ part.T for part in x], axis=0)
    vmfb = program(devices)
    (result,) = run_program(vmfb, load_functions(vmfb)[name], [x])
    np.testing.assert_array_equal(result, np.stack([expected] * devices))
