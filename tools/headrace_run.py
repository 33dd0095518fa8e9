"""headrace-run: runs a program on CPU devices and compares its results."""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..compiler.driver import compile_with
from ..compiler.iree.element_types import Array, for_file, parse_tensor_type, relative_error
from ..compiler.iree.runtime import check_values, choose_function, load_functions, run_program
from ..compiler.metadata import FunctionInfo
from ..compiler.options import option_name
from ..dialects import ir
from .command_line import ArgumentParser, check_writable, file_name, run_supervised, write_output
from .compile_arguments import add_compile_arguments, compile_options, given_compile_arguments
from .mismatch_notes import Mismatch, Rerun, mismatch_notes
from .supervisor import Activity

_DESCRIPTION = """\
Runs a .vmfb that headrace-compile wrote, or compiles and runs a .mlir file, on
CPU devices in one process. The arrays of an .npz are taken in order, one per
argument, each with a leading device axis; bf16 and fp8 as exact float32 or
as the raw bytes that numpy writes for them.

The error of a result is max|a-b| / max|b|. Its default tolerance comes from
the result type with m mantissa bits: 2 * 2^-m up to 10 bits (bf16: 0.0156),
64 * 2^-m for f32 and f64 (f32: 7.6e-06), exact for integers."""


def main(argv: Sequence[str] | None = None) -> int:
    return run_supervised("headrace-run", lambda activity: _main(argv, activity))


def _main(argv: Sequence[str] | None, activity: Activity) -> int:
    parser = ArgumentParser("headrace-run", _DESCRIPTION)
    parser.add_argument("input", metavar="INPUT", type=file_name, help=".mlir or .vmfb")
    parser.add_argument("--inputs", metavar="IN.npz", type=file_name, help="the arguments")
    parser.add_argument(
        "--outputs", metavar="OUT.npz", type=file_name, help="write result0, result1, ..."
    )
    parser.add_argument(
        "--expect", metavar="EXP.npz", type=file_name, help="compare; exit 1 if off"
    )
    parser.add_argument("--rtol", metavar="R", help="tolerance for all results")
    add_compile_arguments(parser)
    parser.add_version()
    arguments = parser.parse_args(argv)
    if arguments.outputs is not None:
        check_writable(arguments.outputs)
    rtol = _tolerance(arguments.rtol)
    inputs = _read_npz(arguments.inputs) if arguments.inputs is not None else []
    expected = _read_npz(arguments.expect) if arguments.expect is not None else None
    compiled = None
    if not _is_program(arguments.input):
        source, options = Path(arguments.input), compile_options(arguments)
        compiled = compile_with(source, options, [activity])
    # Not before: it would stay if a compilation has to be killed.
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        if compiled is None:
            vmfb = _checked_program(arguments)
        else:
            compiled.save(vmfb := str(Path(folder, "program.vmfb")))
        function = choose_function(load_functions(vmfb), arguments.function)
        if expected is not None:
            types = [result.type for result in function.results]
            expected = check_values(expected, types, function.devices, ("expected", "result"))
        results = run_program(vmfb, function, inputs)
    if arguments.outputs is not None:
        write_output(arguments.outputs, _npz(results))
    mismatches = _report(function, results, expected, rtol)
    if mismatches:
        given = given_compile_arguments(arguments)
        files = (arguments.input, arguments.inputs, str(arguments.expect))
        rerun = Rerun(*files, given, is_compiled=compiled is None)
        for note in mismatch_notes(mismatches, function, rerun):
            print(ir.Diagnostic("note", note), file=sys.stderr)
    return 1 if mismatches else 0


def _checked_program(arguments: argparse.Namespace) -> str:
    """The input, which is a ``.vmfb``; HeadraceError for options that do not fit it."""
    given = given_compile_arguments(arguments)
    devices = given.pop("devices", None)
    given.pop("function", None)
    if given:
        raise ir.HeadraceError(
            f"{option_name(next(iter(given)))} has no effect on a .vmfb, which is compiled already"
        )
    functions = load_functions(arguments.input)
    compiled_for = choose_function(functions, arguments.function).devices
    if devices not in (None, compiled_for):
        raise ir.HeadraceError(
            f"'{arguments.input}' was compiled for {compiled_for} devices, not for {devices}"
        )
    return arguments.input


def _is_program(path: str) -> bool:
    """Whether it is compiled already, which the start of a zip archive tells."""
    if path.endswith(".vmfb"):
        return True
    try:
        with Path(path).open("rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError as error:
        raise ir.HeadraceError(f"cannot read '{path}': {error.strerror}") from None


def _tolerance(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise ir.HeadraceError(f"--rtol takes a number that is not negative, got '{text}'")
    return value


def _read_npz(path: str) -> list[Array]:
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            raise ir.HeadraceError(
                f"'{path}' holds one array; np.savez writes an .npz file of arrays"
            )
        with loaded as archive:
            entries: list[Array] = [archive[name] for name in archive.files]
            # Any other zip archive, a .vmfb among them, gives plain bytes.
            if not entries or any(isinstance(entry, bytes) for entry in entries):
                raise ir.HeadraceError(f"'{path}' is no .npz file of arrays")
            return entries
    except OSError as error:
        raise ir.HeadraceError(f"cannot read '{path}': {error.strerror or error}") from None
    except MemoryError:
        raise ir.HeadraceError(f"'{path}': its arrays do not fit into memory") from None
    except ir.HeadraceError:
        raise
    except Exception as error:  # of numpy, zipfile or a decompressor, on what the file holds
        raise ir.HeadraceError(f"'{path}' is no .npz file of arrays: {error}") from None


def _npz(results: Sequence[Array]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for index, result in enumerate(results):
            with archive.open(f"result{index}.npy", "w") as file:
                np.lib.format.write_array(file, for_file(result), allow_pickle=False)
    return buffer.getvalue()


def _report(
    function: FunctionInfo,
    results: Sequence[Array],
    expected: Sequence[Array] | None,
    rtol: float | None,
) -> list[Mismatch]:
    """Prints a line per result; those that are over their tolerance."""
    lines: list[str] = []
    found: list[Mismatch] = []
    for index, (result, info) in enumerate(zip(results, function.results, strict=True)):
        line = f"result{index}: {info.type} on {function.devices} devices"
        if expected is not None:
            tolerance = parse_tensor_type(info.type).element.tolerance if rtol is None else rtol
            error = relative_error(result, expected[index])
            verdict = "ok" if error <= tolerance else "FAILED"
            line += f", error {error:.3g}, tolerance {tolerance:.3g}: {verdict}"
            if not error <= tolerance:
                found.append(Mismatch(index, info.type, result, expected[index], error, tolerance))
        lines.append(f"{line}\n")
    write_output("-", "".join(lines).encode())
    return found
