"""--load-module: Python files that register passes."""

from __future__ import annotations

import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from ...dialects import ir


def load_module(path: str) -> None:
    """Runs a Python file, which adds its passes with ``register_pass``.

    Raises HeadraceError, with the line in that file, if it cannot be run.
    """
    file = Path(path)
    if not file.is_file():
        raise ir.HeadraceError(f"cannot read '{path}': no such file")
    name = f"headrace_module_{file.stem}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ir.HeadraceError(f"'{path}' is no Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except ir.HeadraceError:
        raise
    except (Exception, SystemExit) as error:
        raise ir.HeadraceError(
            f"cannot load '{path}'{_line(error, path)}: {type(error).__name__}: {error}"
        ) from error


def _line(error: BaseException, path: str) -> str:
    if isinstance(error, SyntaxError):
        return f" (line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(Path(path))]
    return f" (line {lines[-1]})" if lines else ""
