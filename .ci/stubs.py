"""Writes type stubs of the bindings to .stubs, for pyright.

The wheel has none for ir, passmanager and rewrite; nanobind's own generator
reads them off the installed modules, so they always fit the pinned version.
"""

from __future__ import annotations

import contextlib
import io
import re
from importlib import import_module
from pathlib import Path

from nanobind.stubgen import StubGen

NATIVE = "iree.compiler._mlir_libs._mlir"
TARGET = Path(__file__).parent.parent / ".stubs" / "iree" / "compiler"

# The public Context is made in Python; the generator only sees an import.
CONTEXT = """
class Context:
    allow_unregistered_dialects: bool
    emit_error_diagnostics: bool
    current: "Context"
    def __enter__(self) -> "Context": ...
    def __exit__(self, *args: object) -> None: ...
    def attach_diagnostic_handler(
        self, handler: Callable[[Diagnostic], bool]
    ) -> DiagnosticHandler: ...
    def enable_multithreading(self, enable: bool) -> None: ...
    def is_registered_operation(self, name: str) -> bool: ...
    @property
    def dialects(self) -> Dialects: ...
"""

# Where the generator knows less than we do.
CORRECTIONS = (
    (r"^from iree\.compiler\._mlir_libs import Context.*\n", CONTEXT),
    (r"^_Context: TypeAlias = Context\n", ""),
    (r"^(    TypeVar,)$", ""),
    (r"^(from typing_extensions import)", r"from typing_extensions import TypeVar\n\1"),
    (r"^(_T = TypeVar\(\"_T\", bound=Type)\)", r"\1, default=Type, covariant=True)"),
    (r"def locations\(self\) -> list\[object\]", "def locations(self) -> list[Location]"),
    (r"def set_type\(self, type: _T\):", "def set_type(self, type: Type) -> None:"),
    # Declared ops have a typed `result`; of other ops take results[0].
    (r"^    @property\n    def result\(self\).*\n(        .*\n|\n)*", ""),
    # Untyped overrides of what Sequence already says.
    (r"^    def __(getitem__\(self, key|len__\(self), /\):\n .*\n", ""),
)


def stub_text(name: str) -> str:
    module = import_module(f"{NATIVE}.{name}")
    generator = StubGen(module, include_private=True)
    with contextlib.redirect_stdout(io.StringIO()):
        generator.put(module)
    text = generator.get()
    # The generated names point at the native module; users import the public one.
    text = re.sub(r"^import (_mlir|iree\.compiler\._mlir_libs).*\n", "", text, flags=re.M)
    # Where the generator knows less than we do.
    for pattern, better in CORRECTIONS:
        text = re.sub(pattern, better, text, flags=re.M)
    prefix = rf"(?:{re.escape(NATIVE)}|_mlir)\.ir\."
    if name == "ir":
        return re.sub(prefix, "", text)
    return "from iree.compiler import ir\n" + re.sub(prefix, "ir.", text)


def main() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in ("ir", "passmanager", "rewrite"):
        (TARGET / f"{name}.pyi").write_text(stub_text(name))


if __name__ == "__main__":
    main()
