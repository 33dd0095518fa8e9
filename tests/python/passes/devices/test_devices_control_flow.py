"""Collectives in loops and branches of spmd-to-devices, run against numpy."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from control_flow_cases import (
    CONSTANTS,
    DEVICES,
    F32,
    PAIRWISE,
    case,
    elementwise,
    gather_text,
    halve,
    pairwise,
    reduce_text,
    repeat,
    scalar,
    small_integers,
    summed,
    trips_of,
)
from device_programs import Argument, Case, assert_same, run_cases
from headrace.compiler.iree.element_types import Array


def static_loop() -> Case:
    x = small_integers(0)
    text = (
        CONSTANTS
        + f"""
{{p}}r = scf.for %i = {{p}}0 to {{p}}3 step {{p}}1 iter_args(%v = {{a0}}) -> ({F32}) {{
  {halve("%h", "%v")}
  {reduce_text("%s", "%h")}
  scf.yield %s : {F32}
}}"""
    )
    expected = repeat(x, 3, lambda v: summed(v / 2))
    return case("static", [Argument(F32, x)], text, {"r": (F32, expected)})


def dynamic_loop(trips: int) -> Case:
    x = small_integers(1)
    text = (
        CONSTANTS
        + trips_of("{a1}")
        + f"""
{{p}}r = scf.for %i = {{p}}0 to {{p}}n step {{p}}1 iter_args(%v = {{a0}}) -> ({F32}) {{
  {halve("%h", "%v")}
  {reduce_text("%s", "%h", PAIRWISE)}
  scf.yield %s : {F32}
}}"""
    )
    expected = repeat(x, trips, lambda v: pairwise(v / 2))
    arguments = [Argument(F32, x), scalar(trips)]
    return case(f"dynamic-{trips}", arguments, text, {"r": (F32, expected)})


def constant_carried() -> Case:
    """The loop starts from a constant, which is on no device in particular."""
    x = small_integers(2)
    text = (
        CONSTANTS
        + f"""
{{p}}z = arith.constant dense<1.000000e+00> : {F32}
{{p}}r:2 = scf.for %i = {{p}}0 to {{p}}3 step {{p}}1
    iter_args(%v = {{p}}z, %k = {{a0}}) -> ({F32}, {F32}) {{
  {reduce_text("%s", "%k")}
  scf.yield %k, {{p}}z : {F32}, {F32}
}}
{{p}}first = tensor.cast {{p}}r#0 : {F32} to {F32}
{{p}}second = tensor.cast {{p}}r#1 : {F32} to {F32}"""
    )
    ones = np.ones_like(x)
    return case("constant", [Argument(F32, x)], text, {"first": (F32, ones), "second": (F32, ones)})


def nested_loops() -> Case:
    x = small_integers(3)
    text = (
        CONSTANTS
        + trips_of("{a1}")
        + f"""
{{p}}r = scf.for %i = {{p}}0 to {{p}}3 step {{p}}1 iter_args(%v = {{a0}}) -> ({F32}) {{
  %inner = scf.for %j = {{p}}0 to {{p}}n step {{p}}1 iter_args(%w = %v) -> ({F32}) {{
    {halve("%h", "%w")}
    {reduce_text("%s", "%h")}
    scf.yield %s : {F32}
  }}
  {halve("%g", "%inner")}
  scf.yield %g : {F32}
}}"""
    )
    expected = repeat(x, 3, lambda v: repeat(v, 2, lambda w: summed(w / 2)) / 2)
    return case("nested", [Argument(F32, x), scalar(2)], text, {"r": (F32, expected)})


def while_loop() -> Case:
    """The counter is a tensor on every device, the condition reads device 0's."""
    x = small_integers(4)
    text = f"""
{{p}}z = arith.constant dense<0> : tensor<i32>
{{p}}five = arith.constant 5 : i32
{{p}}one = arith.constant 1 : i32
{{p}}r:2 = scf.while (%c = {{p}}z, %v = {{a0}}) : (tensor<i32>, {F32}) -> (tensor<i32>, {F32}) {{
  %n = tensor.extract %c[] : tensor<i32>
  %go = arith.cmpi slt, %n, {{p}}five : i32
  scf.condition(%go) %c, %v : tensor<i32>, {F32}
}} do {{
^bb0(%c: tensor<i32>, %v: {F32}):
  {halve("%h", "%v")}
  {reduce_text("%s", "%h", PAIRWISE)}
  %n = tensor.extract %c[] : tensor<i32>
  %m = arith.addi %n, {{p}}one : i32
  %next = tensor.from_elements %m : tensor<i32>
  scf.yield %next, %s : tensor<i32>, {F32}
}}
{{p}}c = tensor.cast {{p}}r#0 : tensor<i32> to tensor<i32>
{{p}}v = tensor.cast {{p}}r#1 : {F32} to {F32}"""
    expected = repeat(x, 5, lambda v: pairwise(v / 2))
    count = np.full((DEVICES,), 5, np.int32)
    results = {"c": ("tensor<i32>", count), "v": (F32, expected)}
    return case("while", [Argument(F32, x)], text, results)


def while_on_a_sum() -> Case:
    """Stops when the sum over all devices is small: uniform by all_reduce."""
    x = np.abs(small_integers(5)) + 1
    text = f"""
{{p}}limit = arith.constant 1.000000e+01 : f32
{{p}}0 = arith.constant 0 : index
{{p}}r = scf.while (%v = {{a0}}) : ({F32}) -> {F32} {{
  {reduce_text("%s", "%v")}
  %e = tensor.extract %s[{{p}}0, {{p}}0] : {F32}
  %go = arith.cmpf ogt, %e, {{p}}limit : f32
  scf.condition(%go) %v : {F32}
}} do {{
^bb0(%v: {F32}):
  {halve("%h", "%v")}
  scf.yield %h : {F32}
}}"""
    expected = x
    while expected[:, 0, 0].sum() > 10:
        expected = expected / 2
    return case("while-sum", [Argument(F32, x)], text, {"r": (F32, expected)})


def branch(taken: int) -> Case:
    x = small_integers(6)
    text = f"""
{{p}}zero = arith.constant 0 : i32
{{p}}k = arith.constant dense<3.000000e+00> : {F32}
{{p}}t = tensor.extract {{a1}}[] : tensor<i32>
{{p}}go = arith.cmpi ne, {{p}}t, {{p}}zero : i32
{{p}}r = scf.if {{p}}go -> ({F32}) {{
  {reduce_text("%s", "{a0}")}
  scf.yield %s : {F32}
}} else {{
  scf.yield {{p}}k : {F32}
}}"""
    expected = summed(x) if taken else np.full_like(x, 3)
    return case(f"if-{taken}", [Argument(F32, x), scalar(taken)], text, {"r": (F32, expected)})


def switch(chosen: int) -> Case:
    x = small_integers(11)
    text = f"""
{{p}}k = arith.constant dense<7.000000e+00> : {F32}
{{p}}t = tensor.extract {{a1}}[] : tensor<i32>
{{p}}n = arith.index_cast {{p}}t : i32 to index
{{p}}r = scf.index_switch {{p}}n -> {F32}
case 0 {{
  {reduce_text("%s", "{a0}")}
  scf.yield %s : {F32}
}}
case 1 {{
  {reduce_text("%s", "{a0}", PAIRWISE)}
  scf.yield %s : {F32}
}}
default {{
  scf.yield {{p}}k : {F32}
}}"""
    expected = (summed(x), pairwise(x), np.full_like(x, 7))[chosen]
    arguments = [Argument(F32, x), scalar(chosen)]
    return case(f"switch-{chosen}", arguments, text, {"r": (F32, expected)})


def own_while() -> Case:
    """Inside a loop of all devices, each loops for itself, id and all."""
    x = small_integers(12)
    text = f"""{CONSTANTS}
{{p}}one = arith.constant dense<1.000000e+00> : {F32}
{{p}}r = scf.for %i = {{p}}0 to {{p}}3 step {{p}}1 iter_args(%v = {{a0}}) -> ({F32}) {{
  %w:2 = scf.while (%k = {{p}}0, %u = {{p}}one) : (index, {F32}) -> (index, {F32}) {{
    %id = "headrace.partition_id"() : () -> tensor<i32>
    %t = tensor.extract %id[] : tensor<i32>
    %n = arith.index_cast %t : i32 to index
    %go = arith.cmpi slt, %k, %n : index
    scf.condition(%go) %k, %u : index, {F32}
  }} do {{
  ^bb0(%k: index, %u: {F32}):
    {halve("%h", "%u")}
    %next = arith.addi %k, {{p}}1 : index
    scf.yield %next, %h : index, {F32}
  }}
  {reduce_text("%s", "%w#1")}
  {elementwise("%d", ["%v", "%s"], "%out = arith.addf %in0, %in1 : f32")}
  scf.yield %d : {F32}
}}"""
    step = 1 + 1 / 2 + 1 / 4 + 1 / 8
    return case("own-while", [Argument(F32, x)], text, {"r": (F32, x + np.float32(3 * step))})


def own_trips() -> Case:
    """A loop without collectives may run differently often on each device."""
    x = small_integers(7)
    text = (
        CONSTANTS
        + f"""
{{p}}id = "headrace.partition_id"() : () -> tensor<i32>
{{p}}t = tensor.extract {{p}}id[] : tensor<i32>
{{p}}n = arith.index_cast {{p}}t : i32 to index
{{p}}o = scf.for %i = {{p}}0 to {{p}}n step {{p}}1 iter_args(%v = {{a0}}) -> ({F32}) {{
  {halve("%h", "%v")}
  scf.yield %h : {F32}
}}
{reduce_text("{p}r", "{p}o")}"""
    )
    each = np.stack([repeat(x[d], d, lambda v: v / 2) for d in range(DEVICES)])
    return case("own-trips", [Argument(F32, x)], text, {"r": (F32, summed(each))})


def own_branch() -> Case:
    """Constants out of a branch that each device takes for itself."""
    x = small_integers(8)
    text = f"""
{{p}}id = "headrace.partition_id"() : () -> tensor<i32>
{{p}}t = tensor.extract {{p}}id[] : tensor<i32>
{{p}}two = arith.constant 2 : i32
{{p}}lo = arith.cmpi slt, {{p}}t, {{p}}two : i32
{{p}}k = arith.constant dense<3.000000e+00> : {F32}
{{p}}m = arith.constant dense<5.000000e+00> : {F32}
{{p}}o = scf.if {{p}}lo -> ({F32}) {{
  scf.yield {{p}}k : {F32}
}} else {{
  scf.yield {{p}}m : {F32}
}}
{reduce_text("{p}r", "{p}o", PAIRWISE)}"""
    each = np.stack([np.full((4, 4), 3 if d < 2 else 5, np.float32) for d in range(DEVICES)])
    return case(
        "own-branch", [Argument(F32, x)], text, {"r": (F32, pairwise(each)), "o": (F32, each)}
    )


def own_slice() -> Case:
    """Each device cuts out its part of a gathered tensor by its id."""
    x = small_integers(9)
    text = f"""
{{p}}id = "headrace.partition_id"() : () -> tensor<i32>
{{p}}t = tensor.extract {{p}}id[] : tensor<i32>
{{p}}n = arith.index_cast {{p}}t : i32 to index
{{p}}f = arith.constant 4 : index
{{p}}o = arith.muli {{p}}n, {{p}}f : index
{{p}}g = "headrace.all_gather"({{a0}}) {{dim = 0 : i64, pipelined = false,
  replica_groups = dense<[[3, 2, 1, 0]]> : tensor<1x4xi64>}} : ({F32}) -> tensor<16x4xf32>
{{p}}r = tensor.extract_slice {{p}}g[{{p}}o, 0] [4, 4] [1, 1] : tensor<16x4xf32> to {F32}"""
    return case("own-slice", [Argument(F32, x)], text, {"r": (F32, x[::-1].copy())})


def rotated_loop() -> Case:
    """What pipelining makes: the gather of the next trip runs beside this one."""
    x = small_integers(10)
    text = (
        CONSTANTS
        + f"""
{{p}}w = tensor.extract_slice {{a0}}[0, 0] [4, 1] [1, 1] : {F32} to tensor<4x1xf32>
{gather_text("{p}g", "{p}w")}
{{p}}r:2 = scf.for %i = {{p}}0 to {{p}}3 step {{p}}1
    iter_args(%v = {{a0}}, %g = {{p}}g) -> ({F32}, {F32}) {{
  %j = arith.addi %i, {{p}}1 : index
  %w = tensor.extract_slice {{a0}}[0, %j] [4, 1] [1, 1] : {F32} to tensor<4x1xf32>
  {gather_text("%n", "%w")}
  {elementwise("%s", ["%v", "%g"], "%out = arith.addf %in0, %in1 : f32")}
  scf.yield %s, %n : {F32}, {F32}
}}
{{p}}v = tensor.cast {{p}}r#0 : {F32} to {F32}
{{p}}l = tensor.cast {{p}}r#1 : {F32} to {F32}"""
    )
    gathered = [np.stack([x[:, :, i].T] * DEVICES) for i in range(4)]
    results = {"v": (F32, x + sum(gathered[:3])), "l": (F32, gathered[3])}
    return case("rotated", [Argument(F32, x)], text, results)


CASES = [
    static_loop(),
    *(dynamic_loop(trips) for trips in (0, 1, 4)),
    constant_carried(),
    nested_loops(),
    while_loop(),
    while_on_a_sum(),
    branch(0),
    branch(1),
    *(switch(chosen) for chosen in range(3)),
    own_while(),
    own_trips(),
    own_branch(),
    own_slice(),
    rotated_loop(),
]


@pytest.fixture(scope="module")
def results(cpu: str) -> dict[str, list[Array]]:
    with TemporaryDirectory() as folder:
        return run_cases(CASES, DEVICES, Path(folder))


@pytest.mark.each_cpu(by="")
@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_against_numpy(one: Case, results: dict[str, list[Array]]) -> None:
    for actual, expected in zip(results[one.name], one.expected, strict=True):
        assert_same(actual, expected)


def test_ids_of_a_grid() -> None:
    """device = replica * num_partitions + partition."""
    ids = ("replica", "partition")
    text = "\n".join(f'{{p}}{i} = "headrace.{i}_id"() : () -> tensor<i32>' for i in ids)
    expected = {
        "replica": ("tensor<i32>", np.array([0, 0, 1, 1], np.int32)),
        "partition": ("tensor<i32>", np.array([0, 1, 0, 1], np.int32)),
    }
    one = case("ids", [], text, expected)
    with TemporaryDirectory() as folder:
        found = run_cases([one], DEVICES, Path(folder), partitions=2)["ids"]
    for actual, (_, want) in zip(found, expected.values(), strict=True):
        assert_same(actual, want)
