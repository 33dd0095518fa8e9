"""What a compilation is asked for."""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, Self

from ..dialects import ir
from ..passes.base import optional_type
from ..passes.loops.pipeline_collectives import KINDS, MODES, mode_of_kinds
from ..passes.registry import suggestion
from .pipelines import Settings

Collectives = Literal["channel", "devices"]
OptLevel = Literal["O0", "O1", "O2", "O3"]
Emit = Literal["vmfb", "mlir"]
PipelineOrder = Literal["after-matmul", "before-matmul"]

# Counts of devices are i32 attributes.
_INT32_MAX = 2**31 - 1


def _shown(help: str, metavar: str | None = None, **more: str) -> dict[str, str | None]:
    """What command lines say of a field."""
    return {"help": help, "metavar": metavar, **more}


@dataclass(frozen=True)
class CompileOptions:
    """The options of ``headrace-compile`` and of ``headrace.compile``.

    What each does its help text says; None takes the default that is named there. No other
    option turns ``experimental_multi_use_encoding_fusion`` on. ``report`` asks for the part of
    the report that is read from IREE's own phases. Raises HeadraceError for a wrong value.

    On command lines all have the name of their field, or ``flag``; those
    without a help text differ between the tools, and are theirs to write.
    """

    target: str = field(default="cpu", metadata=_shown("default: cpu", "T"))
    cpu: str = field(default="host", metadata=_shown("CPU for --target=cpu; default: host", "NAME"))
    collectives: Collectives | None = field(
        default=None,
        metadata=_shown(
            "devices: one program for all devices; channel: one per device, with RCCL/NCCL "
            "channels; default: devices for cpu and vmvx, else channel",
            "FORM",
        ),
    )
    devices: int | None = field(default=None, metadata=_shown("default: as the module says", "N"))
    function: str | None = field(
        default=None, metadata=_shown("this public function only; default: all", "NAME")
    )
    opt_level: OptLevel | None = field(default=None, metadata=_shown("handed to IREE", "O0..O3"))
    pipeline_collectives: tuple[str, ...] = field(
        default=(),
        metadata=_shown(
            "which collectives are moved between loop trips, e.g. all-reduce:off; kinds: all, "
            f"{', '.join(KINDS)}; modes: {', '.join(MODES)} (ops with headrace.pipeline only); "
            "may be repeated, the last one wins; default: all:on",
            "KIND:MODE",
        ),
    )
    pipeline_order: PipelineOrder = field(
        default="after-matmul",
        metadata=_shown(
            "after-matmul (default) or before-matmul: loops are pipelined after or before fp8 "
            "matmuls are formed",
            "ORDER",
        ),
    )
    pipeline_budget: int | None = field(
        default=None,
        metadata=_shown("how much more a loop may carry from trip to trip; default: any", "BYTES"),
    )
    experimental_multi_use_encoding_fusion: bool = field(
        default=False,
        metadata=_shown(
            "let a dispatch store a value both plain and packed, which saves a launch and costs "
            "memory; for testing, and may go away; --report says what it saved and added",
        ),
    )
    emit: Emit = "vmfb"
    report: bool = False
    iree_flags: tuple[str, ...] = field(
        default=(),
        metadata=_shown(
            "further flag for iree-compile, e.g. --iree-flag=--iree-llvmcpu-debug-symbols",
            "FLAG",
            flag="--iree-flag",
        ),
    )
    dump_ir: str | None = field(
        default=None, metadata=_shown("write the IR after each pass", "DIR")
    )

    def __post_init__(self) -> None:
        for option in compile_option_list():
            value = getattr(self, option.name)
            if option.choices and value is not None and value not in option.choices:
                known = ", ".join(option.choices)
                raise ir.HeadraceError(f"{option.flag} must be one of {known}, got '{value}'")
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
        known = {option.name: option for option in compile_option_list()}
        for name in values:
            if name not in known:
                raise ir.HeadraceError(f"unknown option '{name}'{suggestion(name, list(known))}")
        return cls(**{name: known[name].checked(value) for name, value in values.items()})

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
        found: dict[str, object] = dataclasses.asdict(self)
        del found["target"], found["report"], found["dump_ir"]
        lists = (option.name for option in compile_option_list() if option.is_list)
        return found | {name: list(getattr(self, name)) for name in lists}


@dataclass(frozen=True)
class CompileOption:
    """A field of ``CompileOptions``: what it takes, and how command lines write it."""

    name: str
    flag: str
    type: Any  # without None
    optional: bool
    metavar: str | None
    help: str  # empty for what differs between the tools

    @property
    def choices(self) -> tuple[str, ...]:
        return typing.get_args(self.type) if typing.get_origin(self.type) is Literal else ()

    @property
    def is_list(self) -> bool:
        return typing.get_origin(self.type) is tuple

    def checked(self, value: Any) -> Any:
        """``value``, of lists as a tuple; HeadraceError for one of another type."""
        if self.is_list:
            found: tuple[Any, ...] = (value,) if isinstance(value, str) else tuple(value)
            if not all(isinstance(part, str) for part in found):
                raise ir.HeadraceError(f"{self.name} takes strings, got {value!r}")
            return found
        kind = {int: "an integer", bool: "True or False"}.get(self.type)
        if kind and type(value) is not self.type and not (self.optional and value is None):
            raise ir.HeadraceError(f"{self.name} takes {kind}, got {value!r}")
        return value


@cache
def compile_option_list() -> tuple[CompileOption, ...]:
    """All of them, in the order of command lines."""
    hints = typing.get_type_hints(CompileOptions)
    return tuple(
        CompileOption(
            f.name,
            f.metadata.get("flag", "--" + f.name.replace("_", "-")),
            optional_type(hints[f.name]) or hints[f.name],
            optional_type(hints[f.name]) is not None,
            f.metadata.get("metavar"),
            f.metadata.get("help", ""),
        )
        for f in dataclasses.fields(CompileOptions)
    )


def option_name(field_name: str) -> str:
    """``opt_level`` as it is written on the command line: ``--opt-level``."""
    return next(option.flag for option in compile_option_list() if option.name == field_name)
