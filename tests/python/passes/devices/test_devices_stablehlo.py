"""Whole StableHLO programs with collectives, compiled and run on CPU devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import collective_reference as reference
import headrace
import numpy as np
import pytest
from headrace.compiler.iree.element_types import Array
from headrace.compiler.iree.runtime import load_functions, run_program

HANDLE = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
ALL = f"{HANDLE}, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids"
REPLICATED = '{mhlo.sharding = "{replicated}"}'


def run(body: str, signature: str, inputs: list[Array], folder: Path, **counts: int) -> list[Array]:
    """``body`` is the text of @main on four devices."""
    partitions, replicas = counts.get("partitions", 4), counts.get("replicas", 1)
    text = f"""module attributes {{mhlo.num_partitions = {partitions} : i32,
      mhlo.num_replicas = {replicas} : i32}} {{
    func.func public @main{signature} {{
      {body}
    }} }}"""
    vmfb = folder / "program.vmfb"
    result: Any = headrace.compile(text, target="cpu")
    result.save(vmfb)
    return run_program(vmfb, load_functions(vmfb)["main"], inputs)


def numbers(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Whole numbers, whose sums are exact in any order."""
    return np.random.default_rng(seed).integers(-8, 8, shape).astype(np.float32)


def sum_text(result: str, value: str, type_: str, groups: str = ALL) -> str:
    element = type_[len("tensor<") : -1].rpartition("x")[2]
    return f"""{result} = "stablehlo.all_reduce"({value}) <{{{groups}}}> ({{
      ^bb0(%l: tensor<{element}>, %r: tensor<{element}>):
        %sum = stablehlo.add %l, %r : tensor<{element}>
        stablehlo.return %sum : tensor<{element}>
      }}) : ({type_}) -> {type_}"""


@pytest.mark.each_cpu
def test_own_part_of_a_replicated_argument(tmp_path: Path) -> None:
    """partition_id arithmetic on scalar tensors, then a dynamic slice."""
    table = numbers((16, 4))
    body = """
      %id = stablehlo.partition_id : tensor<ui32>
      %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %four = stablehlo.constant dense<4> : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %start = stablehlo.multiply %i, %four : tensor<i32>
      %r = stablehlo.dynamic_slice %t, %start, %zero, sizes = [4, 4]
        : (tensor<16x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
      return %r : tensor<4x4xf32>"""
    signature = f"(%t: tensor<16x4xf32> {REPLICATED}) -> tensor<4x4xf32>"
    (result,) = run(body, signature, [np.stack([table] * 4)], tmp_path)
    np.testing.assert_array_equal(result, table.reshape(4, 4, 4))


@pytest.mark.each_cpu
def test_ring_of_permutes_in_a_loop(tmp_path: Path) -> None:
    """An all-gather by hand: in each trip the neighbour's block is stored."""
    x = numbers((4, 2, 4), 1)
    body = f"""
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %init = stablehlo.constant dense<0.0> : tensor<8x4xf32>
      %r:3 = stablehlo.while(%i = %zero, %block = %x, %out = %init)
          : tensor<i32>, tensor<2x4xf32>, tensor<8x4xf32>
      cond {{
        %n = stablehlo.constant dense<4> : tensor<i32>
        %go = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      }} do {{
        %two = stablehlo.constant dense<2> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %at = stablehlo.multiply %i, %two : tensor<i32>
        %o = stablehlo.dynamic_update_slice %out, %block, %at, %zero
          : (tensor<8x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
        %b = "stablehlo.collective_permute"(%block) <{{{HANDLE},
          source_target_pairs = dense<[[1, 0], [2, 1], [3, 2], [0, 3]]> : tensor<4x2xi64>}}>
          : (tensor<2x4xf32>) -> tensor<2x4xf32>
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %b, %o : tensor<i32>, tensor<2x4xf32>, tensor<8x4xf32>
      }}
      return %r#2 : tensor<8x4xf32>"""
    (result,) = run(body, "(%x: tensor<2x4xf32>) -> tensor<8x4xf32>", [x], tmp_path)
    for device in range(4):
        expected = np.concatenate([x[(device + i) % 4] for i in range(4)])
        np.testing.assert_array_equal(result[device], expected)


@pytest.mark.each_cpu
def test_scalar_statistics(tmp_path: Path) -> None:
    """A mean over all devices: rank-0 collectives and arithmetic around them."""
    x = numbers((4, 8), 2)
    body = f"""
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %n = stablehlo.constant dense<3.200000e+01> : tensor<f32>
      %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      {sum_text("%t", "%s", "tensor<f32>")}
      %m = stablehlo.divide %t, %n : tensor<f32>
      %b = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %d = stablehlo.subtract %x, %b : tensor<8xf32>
      return %d, %m : tensor<8xf32>, tensor<f32>"""
    signature = "(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)"
    centred, mean = run(body, signature, [x], tmp_path)
    np.testing.assert_array_equal(mean, np.full(4, x.mean(), np.float32))
    np.testing.assert_array_equal(centred, x - x.mean())


@pytest.mark.each_cpu
def test_element_updated_by_itself(tmp_path: Path) -> None:
    """One element of each device's own, at a computed place, which is then written over it."""
    x = numbers((3, 2, 1), 5)
    body = """
      %row = stablehlo.reshape %i : (tensor<i32>) -> tensor<1x1xi32>
      %column = stablehlo.iota dim = 0 : tensor<1x1xi32>
      %k = stablehlo.concatenate %row, %column, dim = 1
        : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x2xi32>
      %g = "stablehlo.gather"(%x, %k) <{dimension_numbers = #stablehlo.gather<
        collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>,
        slice_sizes = array<i64: 1, 1>}> : (tensor<2x1xf32>, tensor<1x2xi32>) -> tensor<1xf32>
      %r = stablehlo.dynamic_update_slice %g, %g, %i
        : (tensor<1xf32>, tensor<1xf32>, tensor<i32>) -> tensor<1xf32>
      return %r : tensor<1xf32>"""
    signature = f"(%x: tensor<2x1xf32>, %i: tensor<i32> {REPLICATED}) -> tensor<1xf32>"
    for row in range(2):
        at = np.full(3, row, np.int32)
        (result,) = run(body, signature, [x, at], tmp_path, partitions=3)
        np.testing.assert_array_equal(result, x[:, row])


@pytest.mark.each_cpu
def test_rolled_numbers_beside_their_sums(tmp_path: Path) -> None:
    """What depends on no argument, put together of its parts, and a scan of it."""
    sums = """"stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 5, 1>,
      padding = dense<[[4, 0], [0, 0]]> : tensor<2x2xi64>}> ({
        ^bb0(%l: tensor<f32>, %r: tensor<f32>):
          %sum = stablehlo.add %l, %r : tensor<f32>
          stablehlo.return %sum : tensor<f32>
        }) : (tensor<5x2xf32>, tensor<f32>) -> tensor<5x2xf32>"""
    body = f"""
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %i = stablehlo.iota dim = 0 : tensor<5x2xf32>
      %j = stablehlo.iota dim = 1 : tensor<5x2xf32>
      %x = stablehlo.add %i, %j : tensor<5x2xf32>
      %s = {sums}
      %a = stablehlo.slice %x [0:5, 1:2] : (tensor<5x2xf32>) -> tensor<5x1xf32>
      %b = stablehlo.slice %x [0:5, 0:1] : (tensor<5x2xf32>) -> tensor<5x1xf32>
      %y = stablehlo.concatenate %a, %b, dim = 1
        : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x2xf32>
      return %s, %y : tensor<5x2xf32>, tensor<5x2xf32>"""
    signature = "(%n: tensor<1xf32>) -> (tensor<5x2xf32>, tensor<5x2xf32>)"
    found, rolled = run(body, signature, [numbers((2, 1))], tmp_path, partitions=2)
    x = np.add.outer(np.arange(5), np.arange(2))
    np.testing.assert_array_equal(found, np.stack([x.cumsum(0)] * 2))
    np.testing.assert_array_equal(rolled, np.stack([x[:, ::-1]] * 2))


@pytest.mark.each_cpu
def test_stops_when_all_devices_agree(tmp_path: Path) -> None:
    """The condition of the loop is a sum over all devices."""
    x = np.abs(numbers((4, 4), 3)) + 1
    body = f"""
      %r = stablehlo.while(%v = %x) : tensor<4xf32>
      cond {{
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %limit = stablehlo.constant dense<1.000000e+01> : tensor<f32>
        %s = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
        {sum_text("%t", "%s", "tensor<f32>")}
        %go = stablehlo.compare GT, %t, %limit, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      }} do {{
        %half = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
        %h = stablehlo.multiply %v, %half : tensor<4xf32>
        stablehlo.return %h : tensor<4xf32>
      }}
      return %r : tensor<4xf32>"""
    (result,) = run(body, "(%x: tensor<4xf32>) -> tensor<4xf32>", [x], tmp_path)
    expected = x
    while expected.sum() > 10:
        expected = expected / 2
    np.testing.assert_array_equal(result, expected)


def test_replicas_and_partitions(tmp_path: Path) -> None:
    """Two replicas of two partitions; groups over partitions of one replica."""
    x = numbers((4, 4), 4)
    groups = (
        f"{HANDLE}, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, "
        "use_global_device_ids"
    )
    body = f"""
      {sum_text("%s", "%x", "tensor<4xf32>", groups)}
      %p = stablehlo.partition_id : tensor<ui32>
      %r = stablehlo.replica_id : tensor<ui32>
      return %s, %p, %r : tensor<4xf32>, tensor<ui32>, tensor<ui32>"""
    signature = "(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<ui32>, tensor<ui32>)"
    summed, partition, replica = run(body, signature, [x], tmp_path, partitions=2, replicas=2)
    np.testing.assert_array_equal(summed, reference.all_reduce(x, "add", [[0, 1], [2, 3]]))
    assert partition.tolist() == [0, 1, 0, 1]
    assert replica.tolist() == [0, 0, 1, 1]


def test_constants_and_arguments_as_results(tmp_path: Path) -> None:
    """What no op computes; and a collective of a constant."""
    x = numbers((4, 4), 5)
    body = f"""
      %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      {sum_text("%s", "%c", "tensor<4xf32>")}
      %g = "stablehlo.all_gather"(%c) <{{all_gather_dim = 0 : i64, {ALL}}}>
        : (tensor<4xf32>) -> tensor<16xf32>
      return %x, %c, %x, %s, %g
        : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<16xf32>"""
    types = "tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<16xf32>"
    signature = f"(%x: tensor<4xf32>, %unused: tensor<2xf32>) -> ({types})"
    results = run(body, signature, [x, numbers((4, 2))], tmp_path)
    constant = np.array([1, 2, 3, 4], np.float32)
    expected = [x, [constant] * 4, x, [constant * 4] * 4, [np.tile(constant, 4)] * 4]
    for actual, want in zip(results, expected, strict=True):
        np.testing.assert_array_equal(actual, np.array(want))


@pytest.mark.each_cpu
def test_branch_on_a_replicated_flag(tmp_path: Path) -> None:
    x = numbers((4, 4), 6)
    body = f"""
      %r = "stablehlo.if"(%flag) ({{
        {sum_text("%s", "%x", "tensor<4xf32>")}
        stablehlo.return %s : tensor<4xf32>
      }}, {{
        %n = stablehlo.negate %x : tensor<4xf32>
        stablehlo.return %n : tensor<4xf32>
      }}) : (tensor<i1>) -> tensor<4xf32>
      return %r : tensor<4xf32>"""
    signature = f"(%x: tensor<4xf32>, %flag: tensor<i1> {REPLICATED}) -> tensor<4xf32>"
    for flag in (False, True):
        (result,) = run(body, signature, [x, np.full(4, flag)], tmp_path)
        expected = np.stack([x.sum(0)] * 4) if flag else -x
        np.testing.assert_array_equal(result, expected)


def test_branch_on_a_sharded_flag_is_refused(tmp_path: Path) -> None:
    body = f"""
      %r = "stablehlo.if"(%flag) ({{
        {sum_text("%s", "%x", "tensor<4xf32>")}
        stablehlo.return %s : tensor<4xf32>
      }}, {{
        stablehlo.return %x : tensor<4xf32>
      }}) : (tensor<i1>) -> tensor<4xf32>
      return %r : tensor<4xf32>"""
    signature = "(%x: tensor<4xf32>, %flag: tensor<i1>) -> tensor<4xf32>"
    with pytest.raises(headrace.HeadraceError, match="may differ between devices"):
        run(body, signature, [numbers((4, 4)), np.full(4, True)], tmp_path)


@pytest.mark.each_cpu
def test_donated_arguments_are_read_to_the_end(tmp_path: Path) -> None:
    """As ``jax.jit(..., donate_argnums=(0, 1))`` marks them; IREE's own use of it is wrong."""
    x, y = numbers((4, 4), 1), numbers((4, 4), 2)
    body = """
      %sum = stablehlo.add %x, %y : tensor<4xf32>
      %product = stablehlo.multiply %x, %y : tensor<4xf32>
      return %product, %sum : tensor<4xf32>, tensor<4xf32>"""
    signature = """(%x: tensor<4xf32> {tf.aliasing_output = 1 : i32},
                    %y: tensor<4xf32> {tf.aliasing_output = 0 : i32})
                   -> (tensor<4xf32>, tensor<4xf32>)"""
    product, total = run(body, signature, [x, y], tmp_path)
    np.testing.assert_array_equal(product, x * y)
    np.testing.assert_array_equal(total, x + y)


def test_groups_of_different_sizes_are_refused(tmp_path: Path) -> None:
    groups = f"{HANDLE}, replica_groups = dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>"
    body = sum_text("%s", "%x", "tensor<4xf32>", f"{groups}, use_global_device_ids")
    signature = "(%x: tensor<4xf32>) -> tensor<4xf32>"
    with pytest.raises(
        headrace.HeadraceError, match="needs channels, which a program for all devices lacks"
    ):
        run(f"{body}\nreturn %s : tensor<4xf32>", signature, [numbers((4, 4))], tmp_path)


@pytest.mark.each_cpu
def test_scatters_into_a_constant(tmp_path: Path) -> None:
    """The gradient of a sort: IREE cannot place a constant that all devices write to."""
    x = np.random.default_rng(7).permutation(64).reshape(4, 2, 8).astype(np.float32)
    body = """
      %iota = stablehlo.iota dim = 1 : tensor<2x8xi32>
      %sorted:2 = "stablehlo.sort"(%x, %iota) <{dimension = 1 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
        %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %less : tensor<i1>
      }) : (tensor<2x8xf32>, tensor<2x8xi32>) -> (tensor<2x8xf32>, tensor<2x8xi32>)
      %at = stablehlo.reshape %sorted#1 : (tensor<2x8xi32>) -> tensor<2x8x1xi32>
      %zero = stablehlo.constant dense<0.0> : tensor<2x8xf32>
      %r = "stablehlo.scatter"(%zero, %at, %sorted#0) <{
        scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
          input_batching_dims = [0], scatter_indices_batching_dims = [0],
          scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %sum = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %sum : tensor<f32>
      }) : (tensor<2x8xf32>, tensor<2x8x1xi32>, tensor<2x8xf32>) -> tensor<2x8xf32>
      return %r : tensor<2x8xf32>"""
    (result,) = run(body, "(%x: tensor<2x8xf32>) -> tensor<2x8xf32>", [x], tmp_path)
    np.testing.assert_array_equal(result, x)


@pytest.mark.each_cpu
def test_constants_that_change_places_in_a_loop(tmp_path: Path) -> None:
    """As ``jax.random`` rotates its keys; as blocks, IREE 3.13 lost their buffers."""
    x = numbers((4, 4), 8)
    body = """
      %a = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      %b = stablehlo.constant dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %r:4 = stablehlo.while(%i = %zero, %sum = %x, %p = %a, %q = %b)
          : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
        cond {
          %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %more : tensor<i1>
        } do {
          %s = stablehlo.add %sum, %p : tensor<4xf32>
          %n = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %n, %s, %q, %p
            : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
        }
      return %r#1 : tensor<4xf32>"""
    (result,) = run(body, "(%x: tensor<4xf32>) -> tensor<4xf32>", [x], tmp_path)
    np.testing.assert_array_equal(result, x + 12 * np.arange(1, 5, dtype=np.float32))


def delay_line(trips: str) -> str:
    """Three scalars of each device's own that change places, fed by a mean over
    all devices; ``trips`` computes %go of %i."""
    return f"""
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %f0 = stablehlo.constant dense<0.0> : tensor<f32>
      %f1 = stablehlo.reduce(%x init: %f0) applies stablehlo.add across dimensions = [0]
        : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
      %unit = stablehlo.constant dense<1.0> : tensor<f32>
      %quarter = stablehlo.constant dense<0.25> : tensor<f32>
      %two = stablehlo.constant dense<2.0> : tensor<f32>
      %f2 = stablehlo.multiply %f1, %two : tensor<f32>
      %four = stablehlo.constant dense<4.0> : tensor<f32>
      %f3 = stablehlo.multiply %f1, %four : tensor<f32>
      %r:5 = stablehlo.while(%i = %zero, %a = %f1, %b = %f2, %c = %f3, %y = %x)
          : tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<4096xf32>
        cond {{
          {trips}
          stablehlo.return %go : tensor<i1>
        }} do {{
          {sum_text("%t", "%a", "tensor<f32>")}
          %q = stablehlo.multiply %t, %quarter : tensor<f32>
          %p = stablehlo.add %q, %unit : tensor<f32>
          %d = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4096xf32>
          %s = stablehlo.add %y, %d : tensor<4096xf32>
          %n = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %n, %p, %a, %b, %s
            : tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<4096xf32>
        }}
      %b2 = stablehlo.multiply %r#2, %two : tensor<f32>
      %c4 = stablehlo.multiply %r#3, %four : tensor<f32>
      %av = stablehlo.broadcast_in_dim %r#1, dims = [] : (tensor<f32>) -> tensor<4096xf32>
      %bv = stablehlo.broadcast_in_dim %b2, dims = [] : (tensor<f32>) -> tensor<4096xf32>
      %cv = stablehlo.broadcast_in_dim %c4, dims = [] : (tensor<f32>) -> tensor<4096xf32>
      %ya = stablehlo.add %r#4, %av : tensor<4096xf32>
      %yb = stablehlo.add %ya, %bv : tensor<4096xf32>
      %yc = stablehlo.add %yb, %cv : tensor<4096xf32>
      return %yc : tensor<4096xf32>"""


COUNTED = """%limit = stablehlo.constant dense<5> : tensor<i32>
          %go = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>"""
# The trips so far, summed over all devices.
AGREED = f"""{sum_text("%m", "%i", "tensor<i32>")}
          %limit = stablehlo.constant dense<20> : tensor<i32>
          %go = stablehlo.compare LT, %m, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>"""


@pytest.mark.each_cpu
@pytest.mark.parametrize("trips", [COUNTED, AGREED], ids=["counted", "agreed"])
def test_scalars_that_change_places_in_a_loop(trips: str, tmp_path: Path) -> None:
    """IREE loses fences of such loops, and does not wait: mostly wrong without vm_branches."""
    x = numbers((4, 4096), 9)
    signature = "(%x: tensor<4096xf32>) -> tensor<4096xf32>"
    (result,) = run(delay_line(trips), signature, [x], tmp_path)
    a = x.sum(1)
    b, c, total = 2 * a, 4 * a, x
    for _ in range(5):
        a, b, c, total = np.full(4, a.sum() / 4 + 1), a, b, total + c[:, None]
    np.testing.assert_array_equal(result, total + (a + 2 * b + 4 * c)[:, None])
