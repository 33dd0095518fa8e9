"""lit configuration: .mlir tests under tests/, checked with FileCheck."""

import os
import shutil
import sys
from pathlib import Path

import lit.formats  # pyright: ignore

config = config  # type: ignore[name-defined]  # noqa: F821 - lit defines it
root = Path(__file__).parent

config.name = "headrace"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = str(root)
config.test_exec_root = str(root / "build" / "lit")
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "cases", "models", "python"]

# The tools of the environment that runs lit come first.
tools = Path(sys.executable).parent
config.environment["PATH"] = os.pathsep.join([str(tools), os.environ["PATH"]])
config.environment["PYTHONDONTWRITEBYTECODE"] = os.environ.get("PYTHONDONTWRITEBYTECODE", "")

# LLVM's own FileCheck where there is one, else PyPI's in Python; the tests
# keep to what both understand.
filecheck = os.environ.get("FILECHECK") or shutil.which("FileCheck") or str(tools / "filecheck")
config.substitutions.append((r"\bFileCheck\b", filecheck))
