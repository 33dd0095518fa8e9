"""What a caller passes is the same after the call, but for what it gives away."""

from __future__ import annotations

from functools import cache
from typing import Any

import headrace
import iree.runtime as rt
import numpy as np
import pytest

T = "tensor<8x16xf32>"
U = "tensor<2x16xf32>"
D = "tensor<?x?xf32>"
UPDATE = f"""
  %i = stablehlo.constant dense<1> : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %c = stablehlo.exponential %b : {U}
  %y = stablehlo.dynamic_update_slice %a, %c, %i, %z
    : ({T}, {U}, tensor<i32>, tensor<i32>) -> {T}"""
PROGRAMS = {
    "update": f"(%a: {T}, %b: {U}) -> {T} {{{UPDATE}\n  return %y : {T} }}",
    "update beside a view": f"""(%a: {T}, %b: {U}) -> (tensor<128xf32>, {T}) {{
  %r = stablehlo.reshape %a : ({T}) -> tensor<128xf32>{UPDATE}
  return %r, %y : tensor<128xf32>, {T} }}""",
    "output": f"""(%a: {T}, %b: {U}) -> {T} {{
  %s = tensor.extract_slice %b[0, 0] [2, 8] [1, 1] : {U} to tensor<2x8xf32>
  %e = tensor.empty() : tensor<8x2xf32>
  %t = linalg.transpose ins(%s : tensor<2x8xf32>) outs(%e : tensor<8x2xf32>) permutation = [1, 0]
  %y = linalg.matmul ins(%t, %b : tensor<8x2xf32>, {U}) outs(%a : {T}) -> {T}
  return %y : {T} }}""",
    "dynamic sizes": f"""(%a: {D}, %b: {U}) -> {D} {{
  %y = tensor.insert_slice %b into %a[1, 0] [2, 16] [1, 1] : {U} into {D}
  return %y : {D} }}""",
    "loop": f"""(%a: {T}, %b: {U}) -> {T} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %y = scf.for %i = %c0 to %c5 step %c1 iter_args(%x = %a) -> ({T}) {{
    %u = tensor.insert_slice %b into %x[%i, 0] [2, 16] [1, 1] : {U} into {T}
    scf.yield %u : {T}
  }}
  return %y : {T} }}""",
}


# That give their first argument away.
DONORS = {
    name: PROGRAMS["update"].replace(f"%a: {T}", f"%a: {T} {{{name}}}", 1)
    for name in ("tf.aliasing_output = 0 : i32", "jax.buffer_donor = true")
}


@cache
def _program(form: str) -> tuple[Any, Any]:
    """The device, and a module with all of them, named as they are."""
    text = "".join(f'func.func @"{n}"{body}\n' for n, body in {**PROGRAMS, **DONORS}.items())
    program = headrace.compile(text, target="cpu", collectives=form)
    config = rt.Config("local-task")
    context = rt.SystemContext(config=config)
    context.add_vm_module(rt.VmModule.copy_buffer(context.instance, program.vmfb))
    modules = context.modules
    return config.device, next(modules[key] for key in modules if key != "hal")


def _changes_its_argument(name: str, form: str) -> bool:
    device, functions = _program(form)
    given = np.arange(128, dtype=np.float32).reshape(8, 16)
    a = rt.asdevicearray(device, given)
    b = rt.asdevicearray(device, np.full((2, 16), 3.0, np.float32))
    functions[name](a, b)
    return not np.array_equal(np.asarray(a.to_host()), given)


@pytest.mark.parametrize("form", ["channel", pytest.param("devices", marks=pytest.mark.full)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_arguments_stay(name: str, form: str) -> None:
    assert not _changes_its_argument(name, form)


@pytest.mark.parametrize("donor", DONORS)
def test_donated_arguments_are_updated_in_place(donor: str) -> None:
    assert _changes_its_argument(donor, "channel")
