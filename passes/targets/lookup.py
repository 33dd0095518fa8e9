"""Which targets there are, and how passes are told theirs."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...dialects import ir
from ..base import Pass
from . import cuda, rocm, vulkan
from .cpu import CPU, VMVX
from .target import Target

# By name, in the order of messages.
TARGETS = {t.name: t for t in (CPU, *rocm.TARGETS, *cuda.TARGETS, VMVX, *vulkan.TARGETS)}


def target_names() -> tuple[str, ...]:
    """All targets, cpu first."""
    return tuple(TARGETS)


def find_target(name: str) -> Target:
    """The target of that name; HeadraceError that lists the known ones."""
    if name not in TARGETS:
        raise ir.HeadraceError(f"unknown target '{name}'; known are {', '.join(TARGETS)}")
    return TARGETS[name]


def parse_target(text: str) -> Target:
    """The target of a pass's option: a name, or name and CPU feature as in ``cpu+bf16``.

    Raises HeadraceError for what is unknown.
    """
    name, plus, feature = text.partition("+")
    target = find_target(name)
    if not plus:
        return target
    variants = {f.name: variant for f, variant in target.variants.items()}
    if feature not in variants:
        known = ", ".join(variants) or "none"
        raise ir.HeadraceError(f"target '{name}' has no CPU feature '{feature}'; it has: {known}")
    return variants[feature]


@dataclass(frozen=True)
class TargetPass(Pass):
    """A pass that does something else for each target."""

    target: str = field(
        default="cpu",
        metadata={
            "help": "as in headrace-compile --target; cpu+bf16: for CPUs with bf16 instructions, "
            "cpu+no-f16c: without those for f16"
        },
    )

    @property
    def facts(self) -> Target:
        """What there is to know of the target; HeadraceError if it is unknown."""
        return parse_target(self.target)
