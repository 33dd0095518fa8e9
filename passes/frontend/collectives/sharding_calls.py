"""What is left of a global program: refused, or dropped where it says nothing."""

from __future__ import annotations

from ....dialects import ir
from ....dialects.upstream.stablehlo import call_target
from ...rewriting import Pattern, Rewriter

SHARDING = "Sharding"
_BOUNDARIES = ("SPMDFullToShardShape", "SPMDShardToFullShape")
# Shardings that ask nothing of a partitioner.
_HARMLESS = ("", "{manual}", "{replicated}", "{maximal device=0}")
_HINT = (
    "headrace takes one device's program: write it with shard_map and export it by "
    "headrace.jax.to_stablehlo(fn, *args)"
)


def refuse_global_programs(module: ir.Operation, partitions: int) -> None:
    """Raises HeadraceError for a program that a partitioner has still to split.

    That is one with ops of Shardy's ``sdy`` dialect, with the boundaries of
    manual parts (the pass to-per-device removes them), or with a ``@Sharding``
    call that tiles a value over more than one partition.
    """
    for op in ir.walk(module):
        if op.name.startswith("sdy."):
            raise ir.error_at(op, f"'{op.name}' is an op of a global program; {_HINT}")
        target = call_target(op)
        if target in _BOUNDARIES:
            raise ir.error_at(
                op,
                f"'@{target}' is the boundary of a global program's manual part; "
                "run to-per-device first",
            )
        if target == SHARDING and partitions > 1 and _sharding(op) not in _HARMLESS:
            raise ir.error_at(op, f"'@{SHARDING}' asks for sharding {_sharding(op)}; {_HINT}")


def _sharding(op: ir.Operation) -> str:
    if "mhlo.sharding" not in op.attributes:
        return ""
    return ir.StringAttr(op.attributes["mhlo.sharding"]).value.strip()


class DropShardingCall(Pattern[list[ir.Value]]):
    """A sharding annotation is the identity in one device's program.

    Before: %y = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{manual}"}
    After:  %x
    """

    roots = ("stablehlo.custom_call",)

    def match(self, op: ir.Operation) -> list[ir.Value] | None:
        same_types = [v.type for v in op.operands] == [v.type for v in op.results]
        return list(op.operands) if call_target(op) == SHARDING and same_types else None

    def rewrite(self, op: ir.Operation, match: list[ir.Value], rewriter: Rewriter) -> None:
        rewriter.replace(op, match)
