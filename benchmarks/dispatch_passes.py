"""Time of the three dispatch passes beside IREE's own dispatch-creation pipeline.

    python benchmarks/dispatch_passes.py [--ops=20000] [--runs=3]

Modules of so many dispatchable ops: a straight line of elementwise ops and
matmuls, a chain and a fan-out of one value. For each the seconds of
``set-encodings``, ``form-dispatch-regions`` and ``fuse-encodings``, of IREE's
pipeline with data tiling, the ratio, and how ours grew from half as many ops
(2 is linear). Best of the runs, in one process.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

OURS = (
    "builtin.module(set-encodings{target=cpu},form-dispatch-regions{target=cpu},"
    "fuse-encodings{target=cpu experimental-multi-use-encoding-fusion=true})"
)
IREE = "builtin.module(iree-dispatch-creation-pipeline{data-tiling=true})"

TYPE = "tensor<256x256xf32>"
TANH = (
    "  %{r} = linalg.generic {{indexing_maps = [#id, #id], iterator_types = "
    '["parallel", "parallel"]}} ins({a} : {t}) outs(%e : {t}) {{\n'
    "  ^bb0(%x: f32, %o: f32):\n    %y = math.tanh %x : f32\n    linalg.yield %y : f32\n"
    "  }} -> {t}\n"
)
MATMUL = (
    "  %{r}f = linalg.fill ins(%zero : f32) outs(%e : {t}) -> {t}\n"
    "  %{r} = linalg.matmul ins({a}, %w : {t}, {t}) outs(%{r}f : {t}) -> {t}\n"
)


def program(ops: list[str], result: str) -> str:
    return (
        "#id = affine_map<(i, j) -> (i, j)>\n"
        f"func.func @main(%a: {TYPE}, %w: {TYPE}) -> {TYPE} {{\n"
        f"  %zero = arith.constant 0.0 : f32\n  %e = tensor.empty() : {TYPE}\n"
        f"{''.join(ops)}  return {result} : {TYPE}\n}}\n"
    )


def straight_line(count: int) -> str:
    """Three elementwise ops, then a matmul, and so on; each reads the last."""
    ops: list[str] = []
    last = "%a"
    for i in range(count):
        ops.append((MATMUL if i % 4 == 3 else TANH).format(r=f"v{i}", a=last, t=TYPE))
        last = f"%v{i}"
    return program(ops, last)


def chain(count: int) -> str:
    """Matmuls only, each of the last one's result."""
    ops = [
        MATMUL.format(r=f"v{i}", a=f"%v{i - 1}" if i else "%a", t=TYPE) for i in range(count // 2)
    ]
    return program(ops, f"%v{count // 2 - 1}")


def fan_out(count: int) -> str:
    """One value that half as many matmuls and as many elementwise ops read;
    the results are multiplied in turn, so that none is dead."""
    ops = [TANH.format(r="p", a="%a", t=TYPE)]
    last = "%p"
    for i in range(count // 2):
        ops.append(MATMUL.format(r=f"m{i}", a="%p", t=TYPE))
        ops.append(
            f"  %s{i} = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = "
            f'["parallel", "parallel"]}} ins(%m{i}, {last} : {TYPE}, {TYPE}) outs(%e : {TYPE}) {{\n'
            "  ^bb0(%x: f32, %z: f32, %o: f32):\n    %y = arith.mulf %x, %z : f32\n"
            f"    linalg.yield %y : f32\n  }} -> {TYPE}\n"
        )
        last = f"%s{i}"
    return program(ops, last)


SHAPES: dict[str, Callable[[int], str]] = {
    "straight line": straight_line,
    "chain": chain,
    "fan-out": fan_out,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--ops", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-iree", action="store_true", help="ours alone")
    arguments = parser.parse_args()
    print(f"{'module':<14} {'ops':>6} {'ours, s':>8} {'IREE, s':>8} {'ratio':>6} {'growth':>7}")
    for name, make in SHAPES.items():
        half = best(OURS, make(arguments.ops // 2), arguments.runs)
        text = make(arguments.ops)
        ours = best(OURS, text, arguments.runs)
        iree = None if arguments.no_iree else best(IREE, text, 1)
        cells = ("", "") if iree is None else (f"{iree:.2f}", f"{ours / iree:.2f}")
        print(
            f"{name:<14} {arguments.ops:>6} {ours:>8.2f} {cells[0]:>8} {cells[1]:>6} "
            f"{ours / half:>7.2f}",
            flush=True,
        )


def best(pipeline: str, text: str, runs: int) -> float:
    """The fewest seconds that the passes take on a fresh module."""
    from headrace.dialects.ir.bindings import make_context
    from headrace.dialects.ir.parsing import parse_module
    from headrace.passes.pipeline import Pipeline

    module = parse_module(text, "benchmark", make_context())
    seconds: list[float] = []
    for _ in range(runs):
        copy = module.clone().operation
        steps = Pipeline.parse(pipeline)
        start = time.process_time()
        steps.run(copy, verify_each=False)
        seconds.append(time.process_time() - start)
    return min(seconds)


if __name__ == "__main__":
    main()
