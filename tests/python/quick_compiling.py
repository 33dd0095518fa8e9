"""iree-compile without its own checks between passes, for quick runs of the tests.

IREE verifies all IR after each of its passes, which is 10 to 25 % of its time.
What headrace hands it is verified when it is read, in any case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

import pytest
from headrace.compiler.iree import child as iree_child
from headrace.dialects.child_process import Ended

# Of so many programs one is compiled as users compile it.
ONE_IN = 8
_UNVERIFIED = "--verify=false"


@contextmanager
def compiling_quickly() -> Iterator[None]:
    """In this process only. A compilation that fails is done again with all checks, so that
    errors are those that users see."""
    run_measured = iree_child.run_measured

    def run(command: Sequence[str]) -> Ended:
        source = Path(command[1])
        if source.is_file() and crc32(source.read_bytes()) % ONE_IN:
            found = run_measured([*command, _UNVERIFIED])
            if found.status == 0:
                return found
        return run_measured(command)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(iree_child, "run_measured", run)
        yield
