"""A program once it is one device's, with what the rest of a compilation asks of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dialects import ir
from ..passes.pipeline import Instrumentation
from ..passes.targets.target import Target
from . import metadata
from .inputs.contents import Contents
from .inputs.input_forms import make_per_device
from .inputs.program_checks import check_known, check_program
from .inputs.torch_programs import lower_torch
from .options import CompileOptions
from .pipelines import Settings


@dataclass(frozen=True)
class Program:
    """One device's program in StableHLO or linalg; ``module`` is for passes to rewrite.

    ``form`` is that of collectives, ``functions`` are the public ones with their types and
    shardings.
    """

    module: ir.Operation
    target: Target
    form: str
    devices: int
    functions: tuple[metadata.FunctionInfo, ...]
    settings: Settings


def read_program(
    module: ir.Operation, options: CompileOptions, target: Target, hooks: Sequence[Instrumentation]
) -> Program:
    """Brings a copy of ``module`` into that form; raises HeadraceError if it cannot be compiled."""
    form = options.collectives or target.collectives
    contents = make_per_device(Contents(module.clone().operation), hooks)
    devices = contents.device_count(options.devices)
    settings = options.settings(target.pass_target(options.cpu), form, devices)
    module = contents.module
    _select_function(module, options.function)
    check_known(contents)
    check_program(lower_torch(contents, settings.target, hooks))
    functions = metadata.describe_functions(module, target.name, form, devices)
    return Program(module, target, form, devices, tuple(functions), settings)


def _select_function(module: ir.Operation, name: str | None) -> None:
    """Makes all public functions but ``name`` private, so that they go."""
    functions = metadata.public_functions(module)
    names = [metadata.function_name(f) for f in functions]
    if not names:
        raise ir.HeadraceError("the module has no public function with a body")
    if name is None:
        return
    if name not in names:
        raise ir.HeadraceError(f"no public function '{name}'; there is: {', '.join(names)}")
    for function in functions:
        if metadata.function_name(function) != name:
            function.attributes["sym_visibility"] = ir.StringAttr.get("private")
