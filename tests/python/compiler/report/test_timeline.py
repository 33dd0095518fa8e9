"""The estimated time of a loop's trip, before and after pipelining."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import headrace
import pytest
from headrace.compiler.report.timeline import LoopWork, read_loop_work, timeline
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.targets.lookup import find_target, target_names
from model_programs import MODELS


def loops(model: str, **options: Any) -> list[dict[str, Any]]:
    result = headrace.compile(MODELS / model / "model.mlir", emit="mlir", **options)
    found: Any = result.report["timeline"]
    assert "estimate" in found["note"]
    assert found["chip"]
    return found["loops"]


def test_hidden_behind_the_matmul() -> None:
    """fsdp_scan on one device: 32 x 256 x 256 products, a shard from 3 neighbours."""
    rates = find_target("gfx950").rates
    compute, gather = 2 * 32 * 256 * 256 / rates.flops(8), 3 * 64 * 256 / rates.received_bytes
    (loop,) = loops("fsdp_scan", target="gfx950")
    assert loop["trips"] == 5
    assert loop["compute_seconds"] == pytest.approx(compute)
    assert loop["communication_seconds"] == pytest.approx(gather)
    assert loop["before"] == pytest.approx({"seconds": compute + gather, "exposed_seconds": gather})
    assert loop["after"] == pytest.approx(
        {"seconds": max(compute, gather), "exposed_seconds": gather - compute}
    )
    assert loop["bound"] == "communication"


def test_decoded_operands_are_multiplied_at_the_decoded_rate() -> None:
    (loop,) = loops("fsdp_scan", target="sm_80")
    assert loop["compute_seconds"] == pytest.approx(
        2 * 32 * 256 * 256 / find_target("sm_80").rates.flops(16)
    )
    (loop,) = loops("fsdp_scan", target="cpu")
    assert loop["compute_seconds"] == pytest.approx(
        2 * 32 * 256 * 256 / find_target("cpu").rates.flops(32)
    )
    assert loop["bound"] == "compute"
    assert loop["after"]["exposed_seconds"] == 0


@pytest.mark.parametrize(
    ("model", "options"),
    [("tp_mlp", {}), ("fsdp_scan", {"pipeline_collectives": "all:off"})],
)
def test_nothing_is_hidden_of_what_is_not_pipelined(model: str, options: dict[str, str]) -> None:
    (loop,) = loops(model, **options)
    assert loop["before"] == loop["after"]
    assert loop["after"]["exposed_seconds"] == loop["communication_seconds"] > 0


def test_a_loop_without_collectives_is_left_out() -> None:
    assert loops("invariant_gather") == []


def test_kinds_of_products_add_up() -> None:
    work = LoopWork(3, {8: 10**12, 32: 10**12}, pipelined_bytes=10**9, other_bytes=10**9)
    rates = find_target("sm_90").rates
    found: Any = asdict(timeline([work], "sm_90"))["loops"]
    compute, half = 1e12 / rates.flops(8) + 1e12 / rates.flops(32), 1e9 / rates.received_bytes
    assert found[0]["compute_seconds"] == pytest.approx(compute)
    # What is not pipelined is exposed whatever there is to compute.
    assert found[0]["after"]["exposed_seconds"] == pytest.approx(half)
    assert found[0]["after"]["seconds"] == pytest.approx(compute + half)


def test_unknown_sizes_are_null() -> None:
    found: Any = asdict(timeline([LoopWork(None, known=False)], "cpu"))["loops"]
    assert found == [
        {
            "trips": None,
            "compute_seconds": None,
            "communication_seconds": None,
            "before": None,
            "after": None,
            "bound": None,
        }
    ]


@pytest.mark.parametrize("target", target_names())
def test_every_target_has_rates(target: str) -> None:
    rates = find_target(target).rates
    assert 0 < rates.flops(32) <= rates.flops(16) <= rates.flops(8)
    assert rates.received_bytes > 0


NESTED = """
func.func @f(%x: tensor<8x8xf32>, %w: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> (tensor<8x8xf32>) {
    %g = "headrace.all_gather"(%w) {dim = 0 : i64, pipelined = PIPELINED,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x8xf32>) -> tensor<8x8xf32>
    %s = scf.for %j = %c0 to %c3 step %c1 iter_args(%b = %a) -> (tensor<8x8xf32>) {
      %m = linalg.matmul ins(%b, %g : tensor<8x8xf32>, tensor<8x8xf32>)
        outs(%x : tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %m : tensor<8x8xf32>
    }
    scf.yield %s : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}
"""


@pytest.mark.parametrize("pipelined", [False, True])
def test_loops_inside_count_as_often_as_they_run(pipelined: bool) -> None:
    text = NESTED.replace("PIPELINED", str(pipelined).lower())
    (work,) = read_loop_work(parse_module(text, "test", ir.make_context()))
    assert work.trips == 5
    assert work.flops == {32: 3 * 2 * 8 * 8 * 8}
    assert (work.pipelined_bytes, work.other_bytes) == ((128, 0) if pipelined else (0, 128))
    assert work.known


def test_rates_are_in_flops_and_bytes() -> None:
    rates = find_target("sm_80").rates
    assert [rates.flops(width) for width in (8, 16, 32)] == [312e12, 312e12, 19.5e12]
    assert rates.received_bytes == 300e9
