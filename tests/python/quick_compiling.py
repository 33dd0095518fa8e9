"""iree-compile for quick runs of the tests: without its checks between passes, each program once.

IREE verifies all IR after each of its passes, which is 10 to 25 % of its time.
What headrace hands it is verified when it is read, in any case. And several tests compile the
same models: what one process of the run has compiled, the others take.
"""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from zlib import crc32

import pytest
from headrace.compiler.iree import child as iree_child
from headrace.dialects.child_process import Ended

# Of so many programs one is compiled as users compile it.
ONE_IN = 8
_UNVERIFIED = "--verify=false"
_PHASES = "--dump-compilation-phases-to="


@contextmanager
def compiling_quickly(folder: Path) -> Iterator[None]:
    """In this process only; ``folder`` is for all processes of one run of the tests.

    A compilation that fails is done again with all checks, so that errors are those that users
    see.
    """
    run_measured = iree_child.run_measured

    def compiled(command: Sequence[str]) -> Ended:
        if crc32(Path(command[1]).read_bytes()) % ONE_IN:
            found = run_measured([*command, _UNVERIFIED])
            if found.status == 0:
                return found
        return run_measured(command)

    def run(command: Sequence[str]) -> Ended:
        if not Path(command[1]).is_file():
            return run_measured(command)
        kept = _Kept.of(command, folder)
        if kept is None:
            return compiled(command)
        found = kept.restored()
        if found is None:
            found = compiled(command)
            if found.status == 0:
                kept.keep(found)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(iree_child, "run_measured", run)
        yield


@dataclass(frozen=True)
class _Kept:
    """What a compilation writes, and a folder with what an equal one wrote, if there was one."""

    folder: Path
    output: Path
    phases: Path | None

    @classmethod
    def of(cls, command: Sequence[str], folder: Path) -> _Kept | None:
        """None where more is written than the program and its phases."""
        _, source, *flags, _, output = command
        asked = [flag.removeprefix(_PHASES) for flag in flags if flag.startswith(_PHASES)]
        flags = [flag for flag in flags if not flag.startswith(_PHASES)]
        if any("/" in flag for flag in flags):
            return None
        key = sha256(Path(source).read_bytes() + "\0".join(flags).encode()).hexdigest()
        return cls(folder / key, Path(output), Path(asked[0]) if asked else None)

    def restored(self) -> Ended | None:
        phases = self.folder / "phases"
        if not self.folder.is_dir() or (self.phases is not None and not phases.is_dir()):
            return None
        shutil.copyfile(self.folder / "output", self.output)
        if self.phases is not None:
            shutil.copytree(phases, self.phases)
        return pickle.loads((self.folder / "ended").read_bytes())

    def keep(self, ended: Ended) -> None:
        if not self.output.is_file():
            return
        made = Path(mkdtemp(dir=self.folder.parent))
        shutil.copyfile(self.output, made / "output")
        if self.phases is not None:
            shutil.copytree(self.phases, made / "phases")
        (made / "ended").write_bytes(pickle.dumps(ended))
        with suppress(OSError):  # another process was first
            os.rename(made, self.folder)
