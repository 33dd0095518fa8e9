"""What a compilation is asked for."""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from ..dialects import ir
from ..passes.loops.pipeline_collectives import mode_of_kinds
from ..passes.registry import suggestion
from .pipelines import Settings

Collectives = Literal["channel", "devices"]
OptLevel = Literal["O0", "O1", "O2", "O3"]
Emit = Literal["vmfb", "mlir"]
PipelineOrder = Literal["after-matmul", "before-matmul"]

# Counts of devices are i32 attributes.
_INT32_MAX = 2**31 - 1


@dataclass(frozen=True)
class CompileOptions:
    """The options of ``headrace-compile`` and of ``headrace.compile``.

    ``collectives`` is ``devices`` (one program for all devices) or
    ``channel`` (one program per device and process); None takes the target's
    default. ``devices`` is how many devices the program is for; None takes it
    from the module. ``pipeline_collectives`` holds ``kind:mode`` pairs, later
    ones win; ``pipeline_order`` says whether loops are pipelined after or
    before fp8 matmuls are formed; ``pipeline_budget`` is how many bytes more a
    loop may carry, None for any. ``experimental_multi_use_encoding_fusion``
    lets a dispatch store a value both plain and packed, which saves a launch
    and costs memory; it is for testing and may go away, and no other option
    turns it on. ``report`` asks for the part of the report that is read
    from IREE's own phases. Raises HeadraceError for a wrong value.
    """

    target: str = "cpu"
    cpu: str = field(default="host", metadata={"help": "CPU that target cpu compiles for"})
    collectives: Collectives | None = None
    devices: int | None = None
    function: str | None = None
    opt_level: OptLevel | None = None
    pipeline_collectives: tuple[str, ...] = ()
    pipeline_order: PipelineOrder = "after-matmul"
    pipeline_budget: int | None = None
    experimental_multi_use_encoding_fusion: bool = False
    emit: Emit = "vmfb"
    report: bool = False
    dump_ir: str | None = None
    iree_flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, known in _choices().items():
            value = getattr(self, name)
            if value is not None and value not in known:
                raise ir.HeadraceError(
                    f"{option_name(name)} must be one of {', '.join(known)}, got '{value}'"
                )
        if self.devices is not None and self.devices < 1:
            raise ir.HeadraceError(f"--devices must be at least 1, got {self.devices}")
        if self.devices is not None and self.devices > _INT32_MAX:
            raise ir.HeadraceError(f"--devices must be at most {_INT32_MAX}, got {self.devices}")
        if not self.cpu:
            raise ir.HeadraceError("--cpu takes the name of a CPU, or host, got ''")
        try:
            mode_of_kinds(self.pipeline_collectives)
        except ValueError as error:
            raise ir.HeadraceError(f"--pipeline-collectives: {error}") from None
        if self.pipeline_budget is not None and self.pipeline_budget < 0:
            raise ir.HeadraceError(
                f"--pipeline-budget must not be negative, got {self.pipeline_budget}"
            )
        for flag in self.iree_flags:
            if not flag.startswith("-"):
                raise ir.HeadraceError(f"--iree-flag takes a flag of iree-compile, got '{flag}'")

    @classmethod
    def make(cls, **values: Any) -> Self:
        """The options by name; HeadraceError for a name that is none."""
        names = [f.name for f in dataclasses.fields(cls)]
        for name in values:
            if name not in names:
                raise ir.HeadraceError(f"unknown option '{name}'{suggestion(name, names)}")
        for name in ("iree_flags", "pipeline_collectives"):
            given = values.get(name, ())
            values[name] = (given,) if isinstance(given, str) else tuple(given)
            if not all(isinstance(value, str) for value in values[name]):
                raise ir.HeadraceError(f"{name} takes strings, got {given!r}")
        for name in ("devices", "pipeline_budget"):
            given = values.get(name)
            if given is not None and (isinstance(given, bool) or not isinstance(given, int)):
                raise ir.HeadraceError(f"{name} takes an integer, got {given!r}")
        for name in ("experimental_multi_use_encoding_fusion", "report"):
            if not isinstance(values.get(name, False), bool):
                raise ir.HeadraceError(f"{name} takes True or False, got {values[name]!r}")
        return cls(**values)

    def settings(self, target: str, form: str, devices: int) -> Settings:
        """What these options ask of the passes."""
        return Settings(
            target,
            form,
            devices,
            modes=self.pipeline_collectives,
            budget=-1 if self.pipeline_budget is None else self.pipeline_budget,
            order=self.pipeline_order,
            experimental_multi_use_encoding_fusion=self.experimental_multi_use_encoding_fusion,
        )

    def as_json(self) -> dict[str, object]:
        """The options that the result depends on, for the report."""
        found = dataclasses.asdict(self)
        del found["target"], found["report"], found["dump_ir"]
        found["iree_flags"] = list(self.iree_flags)
        found["pipeline_collectives"] = list(self.pipeline_collectives)
        return found


def option_name(field_name: str) -> str:
    """``opt_level`` as it is written on the command line: ``--opt-level``."""
    return "--" + field_name.replace("_", "-")


def _choices() -> dict[str, tuple[str, ...]]:
    return {
        "collectives": typing.get_args(Collectives),
        "opt_level": typing.get_args(OptLevel),
        "emit": typing.get_args(Emit),
        "pipeline_order": typing.get_args(PipelineOrder),
    }
