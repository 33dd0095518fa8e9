"""headrace: brings sharded fp8 models to IREE.

    import headrace

    result = headrace.compile("model.mlir", target="gfx950", report=True)
    result.save("model.vmfb")

    program = headrace.compile("model.mlir").load()
    y = program(x, w)

Importing the package is cheap: the bindings are loaded on first use.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing's own takes 10 ms to import; type checkers go by the name
if TYPE_CHECKING:
    from typing import Any

    from .compiler.driver import (
        CompileResult,
        compile_program as compile,  # noqa: A004 - headrace.compile
    )
    from .compiler.iree.loaded import DeviceArray, LoadedProgram, LoadedProgram as load
    from .compiler.options import CompileOptions
    from .dialects.errors import HeadraceError

__all__ = [
    "CompileOptions",
    "CompileResult",
    "DeviceArray",
    "HeadraceError",
    "LoadedProgram",
    "compile",
    "load",
]

_HOME = {
    "CompileOptions": (".compiler.options", "CompileOptions"),
    "CompileResult": (".compiler.driver", "CompileResult"),
    "DeviceArray": (".compiler.iree.loaded", "DeviceArray"),
    "HeadraceError": (".dialects.errors", "HeadraceError"),
    "LoadedProgram": (".compiler.iree.loaded", "LoadedProgram"),
    "compile": (".compiler.driver", "compile_program"),
    "load": (".compiler.iree.loaded", "LoadedProgram"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'headrace' has no attribute '{name}'")
    module, attribute = _HOME[name]
    return getattr(import_module(module, __name__), attribute)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
