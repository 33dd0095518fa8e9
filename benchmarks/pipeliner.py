"""What pipelining costs: seconds in headrace's passes, and how much IR grows.

    python benchmarks/pipeliner.py

Synthetic loops gather 1 to 64 weights per trip, multiply by each, and have
bodies of 100 to 10,000 ops; half of the weights' gradients are also scattered
and stored, so that both directions are at work. Each row has the time of the
passes that look at loops (best of three) and the number of ops before and
after. Cost is to grow with the body and no faster: the last column of a group
is the time per op of its largest body over that of its 1,000-op body (limit
2). A last row is the real program llama8b_scan, with the whole of headrace.
"""

from __future__ import annotations

import gzip
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from headrace.compiler import pipelines
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.passes.pipeline import Pipeline

MODEL = Path(__file__).with_name("inputs") / "llama8b_scan.mlir.gz"
COLLECTIVES = (1, 4, 16, 64)
BODIES = (100, 1_000, 10_000)
REPEATS = 3
LIMIT = 2.0
PASSES = "hoist-collectives,pipeline-collectives,align-collectives"

_GROUPS = "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"
_SHARD, _WHOLE, _STACK = "tensor<4x16xf32>", "tensor<16x16xf32>", "tensor<8x4x16xf32>"


@dataclass(frozen=True)
class Row:
    collectives: int
    body: int
    seconds: float
    before: int
    after: int

    def line(self) -> str:
        return (
            f"{self.collectives:>11} {self.body:>8} {self.seconds:>9.3f} {self.before:>8} "
            f"{self.after:>8} {self.after / self.before:>7.2f}"
        )


def synthetic_loop(collectives: int, body: int) -> str:
    """A loop of 8 trips with about ``body`` ops, gathers and scatters included."""
    scatters = collectives // 2
    stacks = "".join(f", %o{k} = %stack" for k in range(scatters))
    types = ", ".join([_WHOLE, *[_STACK] * scatters])
    lines: list[str] = []
    value, made = "%h", 0
    fill = max(0, body // collectives - 4)
    for k in range(collectives):
        lines += [
            f"%s{k} = tensor.extract_slice %w{k}[%i, 0, 0] [1, 4, 16] [1, 1, 1] "
            f": {_STACK} to {_SHARD}",
            f'%g{k} = "headrace.all_gather"(%s{k}) {{dim = 0 : i64, pipelined = false, '
            f"{_GROUPS}}} : ({_SHARD}) -> {_WHOLE}",
            f"%m{k} = linalg.matmul ins({value}, %g{k} : {_WHOLE}, {_WHOLE}) "
            f"outs(%x : {_WHOLE}) -> {_WHOLE}",
        ]
        value = f"%m{k}"
        for _ in range(fill):
            lines.append(f"%e{made} = arith.addf {value}, %x : {_WHOLE}")
            value, made = f"%e{made}", made + 1
        if k < scatters:
            lines += [
                f'%r{k} = "headrace.reduce_scatter"({value}) {{dim = 0 : i64, reduction = "add", '
                f"pipelined = false, {_GROUPS}}} : ({_WHOLE}) -> {_SHARD}",
                f"%n{k} = tensor.insert_slice %r{k} into %o{k}[%i, 0, 0] [1, 4, 16] [1, 1, 1] "
                f": {_SHARD} into {_STACK}",
            ]
    yields = ", ".join([value, *(f"%n{k}" for k in range(scatters))])
    weights = "".join(f", %w{k}: {_STACK}" for k in range(collectives))
    text = "\n    ".join(lines)
    return f"""
func.func @main(%x: {_WHOLE}, %stack: {_STACK}{weights}) -> ({types}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %loop:{1 + scatters} = scf.for %i = %c0 to %c8 step %c1
      iter_args(%h = %x{stacks}) -> ({types}) {{
    {text}
    scf.yield {yields} : {types}
  }}
  return {", ".join(f"%loop#{k}" for k in range(1 + scatters))} : {types}
}}
"""


def measure(collectives: int, body: int) -> Row:
    module = parse_module(synthetic_loop(collectives, body), "loop", ir.make_context())
    best, after = float("inf"), module
    for _ in range(REPEATS):
        after = module.clone().operation
        pipeline = Pipeline.parse(f"builtin.module({PASSES})")
        start = time.perf_counter()
        pipeline.run(after)
        best = min(best, time.perf_counter() - start)
    _check_pipelined(after)
    return Row(collectives, body, best, len(ir.walk(module)), len(ir.walk(after)))


def _check_pipelined(module: ir.Operation) -> None:
    loops = [op for op in ir.walk(module) if op.name == "scf.for"]
    moved = [op for loop in loops for op in ir.walk(loop) if "pipelined" in op.attributes]
    if not moved or any("pipelined = true" not in str(op) for op in moved):
        raise SystemExit("a collective of the synthetic loop was not pipelined")


def measure_model() -> str:
    text = gzip.decompress(MODEL.read_bytes()).decode()
    steps = pipelines.default_pipeline("gfx950", "channel", 8)
    without = steps.replace(",pipeline-collectives", "").replace(",align-collectives", "")
    sizes: list[int] = []
    seconds: list[float] = []
    for pipeline in (without, steps):
        best = float("inf")
        for _ in range(REPEATS):
            module = parse_module(text, MODEL.name, ir.make_context())
            start = time.perf_counter()
            Pipeline.parse(pipeline).run(module)
            best = min(best, time.perf_counter() - start)
        seconds.append(best)
        sizes.append(len(ir.walk(module)))
    return (
        f"llama8b_scan, all passes: {seconds[0]:.3f} s and {sizes[0]} ops without the pipeliner, "
        f"{seconds[1]:.3f} s and {sizes[1]} ops with it ({sizes[1] / sizes[0]:.2f} x)"
    )


def main() -> int:
    print(f"{'collectives':>11} {'body':>8} {'seconds':>9} {'ops':>8} {'after':>8} {'growth':>7}")
    good = True
    for collectives in COLLECTIVES:
        rows = [measure(collectives, body) for body in BODIES if body >= 5 * collectives]
        for row in rows:
            print(row.line(), flush=True)
        large, medium = rows[-1], rows[-2]
        ratio = (large.seconds / large.before) / (medium.seconds / medium.before)
        good = good and ratio <= LIMIT
        print(f"    time per op, {large.body} over {medium.body}: {ratio:.2f} (limit {LIMIT})")
    print(measure_model())
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
