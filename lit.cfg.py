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
config.excludes = ["Inputs", "cases", "forms", "models", "python"]

# The tools of the environment that runs lit come first, before them those that need no start.
tools = Path(sys.executable).parent
sys.path.insert(0, str(root / "tests"))
from tool_server import start  # noqa: E402

served = start()
folders = [str(tools), os.environ["PATH"]]
config.environment["PATH"] = os.pathsep.join([*([str(served)] if served else []), *folders])
config.environment["PYTHONDONTWRITEBYTECODE"] = os.environ.get("PYTHONDONTWRITEBYTECODE", "")

# LLVM's own FileCheck where there is one, else PyPI's in Python; the tests
# keep to what both understand.
filecheck = os.environ.get("FILECHECK") or shutil.which("FileCheck") or "filecheck"
config.substitutions.append((r"\bFileCheck\b", filecheck))
