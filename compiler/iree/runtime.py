"""Runs compiled programs on CPU devices: ``headrace-run``'s engine."""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...dialects import ir
from ...dialects.child_process import run_child
from ...passes.targets.lookup import TARGETS
from ..metadata import KEY, FunctionInfo
from .element_types import Array, TensorType, parse_tensor_type, to_element_type

_CHILD = Path(__file__).with_name("runtime_child.py")


def load_functions(vmfb: str | Path) -> dict[str, FunctionInfo]:
    """What a ``.vmfb`` that headrace wrote says of its functions, by name.

    Raises HeadraceError for a file that cannot be read or is incomplete, and
    for one without headrace's metadata.
    """
    path = Path(vmfb)
    check_complete(path)
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        answer = _run_child({"action": "inspect", "vmfb": str(path.resolve())}, folder, str(vmfb))
    return read_functions(answer["functions"], str(vmfb))


def check_complete(vmfb: str | Path) -> None:
    """Raises HeadraceError for a file that cannot be read, and for one that is cut off."""
    try:
        with Path(vmfb).open("rb") as file:
            whole = zipfile.is_zipfile(file)
    except OSError as error:
        raise ir.HeadraceError(f"cannot read '{vmfb}': {error.strerror}") from None
    # A .vmfb ends in a zip directory, which a truncated one lacks.
    if not whole:
        raise ir.HeadraceError(f"'{vmfb}' is not a complete .vmfb file")


def read_functions(
    reflections: Mapping[str, Mapping[str, str]], name: str
) -> dict[str, FunctionInfo]:
    """What the reflection attributes of a program's functions say; HeadraceError without ours."""
    found = {
        function: FunctionInfo.from_json(reflection[KEY])
        for function, reflection in reflections.items()
        if KEY in reflection
    }
    if not found:
        raise ir.HeadraceError(f"'{name}' has no headrace metadata: was headrace-compile used?")
    return found


def choose_function(functions: Mapping[str, FunctionInfo], name: str | None) -> FunctionInfo:
    """The named function, or the only one, or ``main``."""
    if name is None:
        if len(functions) == 1:
            return next(iter(functions.values()))
        name = "main"
    if name not in functions:
        raise ir.HeadraceError(f"no function '{name}'; there is: {', '.join(functions)}")
    return functions[name]


def run_program(vmfb: str | Path, function: FunctionInfo, inputs: Sequence[Array]) -> list[Array]:
    """Runs a program on as many ``local-task`` devices as it was compiled for.

    ``inputs`` are in argument order, each ``[devices, *shape]``; so are the
    results. Raises HeadraceError for inputs that do not fit, for a program
    that this machine cannot run, and for one that fails or crashes.
    """
    check_runs_here(function)
    types = [argument.type for argument in function.arguments]
    arguments = check_values(inputs, types, function.devices, ("input", "argument"))
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        job = {
            "action": "invoke",
            "vmfb": str(Path(vmfb).resolve()),
            "function": function.name,
            "devices": function.devices,
            "arguments": _write_arguments(function, arguments, Path(folder)),
            "results": function.devices * len(function.results),
            "folder": folder,
        }
        answer = _run_child(job, folder, str(vmfb))
        return _read_results(function, answer["shapes"], Path(folder))


def check_runs_here(function: FunctionInfo) -> None:
    """Raises HeadraceError for a program that CPU devices do not run."""
    runs_here = [target.name for target in TARGETS.values() if target.runs_here]
    if function.target not in runs_here:
        raise ir.HeadraceError(
            f"the program is for {function.target}; CPU devices run programs for "
            f"{' and '.join(runs_here)} (compile with --target=cpu)"
        )
    if function.form == "channel" and function.devices > 1:
        raise ir.HeadraceError(
            "the program has its collectives in channel form, which CPU devices do not run; "
            "compile with --collectives=devices"
        )


def check_values(
    arrays: Sequence[Array], types: Sequence[str], devices: int, words: tuple[str, str]
) -> list[Array]:
    """Arrays of ``[devices, *shape]`` in the element types of MLIR ``types``; HeadraceError,
    in those ``words``, if they do not fit."""
    word, role = words
    if len(arrays) != len(types):
        raise ir.HeadraceError(
            f"expected {len(types)} {word} arrays, one per {role}, got {len(arrays)}"
        )
    found: list[Array] = []
    for index, (array, text) in enumerate(zip(arrays, types, strict=True)):
        type_, what = parse_tensor_type(text), f"{word} {index}"
        _check_shape(array, type_, devices, what)
        found.append(to_element_type(array, type_.element, what))
    return found


def _check_shape(array: Array, type_: TensorType, devices: int, what: str) -> None:
    if array.ndim and array.shape[0] == devices and type_.accepts(array.shape[1:]):
        return
    want = ["?" if size is None else str(size) for size in type_.shape]
    raise ir.HeadraceError(
        f"{what}: expected shape [{', '.join([str(devices), *want])}] "
        f"({devices} devices, {type_} each), got {list(array.shape)}"
    )


def _write_arguments(
    function: FunctionInfo, arguments: Sequence[Array], folder: Path
) -> list[dict[str, Any]]:
    """Device by device, as the compiled function takes them."""
    found: list[dict[str, Any]] = []
    for device in range(function.devices):
        for index, (array, info) in enumerate(zip(arguments, function.arguments, strict=True)):
            element = parse_tensor_type(info.type).element
            file = folder / f"argument{device}_{index}.raw"
            np.ascontiguousarray(array[device]).tofile(file)
            found.append(
                {
                    "file": str(file),
                    "device": device,
                    "shape": list(array.shape[1:]),
                    "storage": element.storage.str,
                    "element_type": element.runtime,
                }
            )
    return found


def _read_results(
    function: FunctionInfo, shapes: Sequence[Sequence[int]], folder: Path
) -> list[Array]:
    count = len(function.results)
    found: list[Array] = []
    for index, info in enumerate(function.results):
        dtype = parse_tensor_type(info.type).element.dtype
        parts = [
            np.fromfile(folder / f"result{position}.raw", np.uint8).view(dtype).reshape(shape)
            for position, shape in enumerate(shapes)
            if position % count == index
        ]
        if any(part.shape != parts[0].shape for part in parts):
            raise ir.HeadraceError(f"result {index} has different shapes on different devices")
        found.append(np.stack(parts))
    return found


def _run_child(job: dict[str, Any], folder: str, vmfb: str) -> dict[str, Any]:
    """Runs a job in a process of its own; HeadraceError if that fails or dies."""
    request, reply = Path(folder, "job.json"), Path(folder, "answer.json")
    request.write_text(json.dumps({**job, "answer": str(reply)}))
    child = run_child([sys.executable, "-W", "ignore", str(_CHILD), str(request)])
    if not reply.is_file():
        last = child.errors.decode(errors="replace").strip().splitlines()[-1:]
        raise ir.HeadraceError(f"running '{vmfb}' crashed ({child.reason})", *last)
    answer: dict[str, Any] = json.loads(reply.read_text())
    if "error" in answer:
        first = str(answer["error"]).strip().splitlines()[0]
        what = "cannot load" if job["action"] == "inspect" else "running failed:"
        raise ir.HeadraceError(f"{what} '{vmfb}': {first}")
    return answer
