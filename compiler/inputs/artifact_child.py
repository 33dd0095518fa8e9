"""The child process that reads a ``jax.export`` artifact: stdin to stdout.

Reading bytecode of unknown origin may crash, and jaxlib brings an MLIR of its
own; both stay out of the user's process. The first byte of the answer says
whether per-device text follows, or an error message.
"""

from __future__ import annotations

import sys

from ...dialects import ir
from ...dialects.child_process import run_child
from .jax_handover import artifact_text

TEXT, ERROR = b"+", b"-"


def read_artifact(artifact: bytes, name: str) -> str:
    """The per-device StableHLO text of a portable artifact.

    Raises HeadraceError, naming ``name``, if JAX is not installed or the
    artifact cannot be read, and for programs that headrace does not take.
    """
    output = run_child([sys.executable, "-m", __name__], artifact).output
    answer = output[1:].decode(errors="replace")
    if output.startswith(TEXT):
        return answer
    if output.startswith(ERROR):
        raise ir.HeadraceError(f"'{name}': {answer.removeprefix('error: ')}")
    raise ir.HeadraceError(f"'{name}' is broken: reading it crashes jaxlib")


def main() -> None:
    artifact = sys.stdin.buffer.read()
    try:
        answer = TEXT + artifact_text(artifact).encode()
    except ImportError as error:
        answer = (
            f"this is a jax.export artifact, which takes JAX to read ({error}): "
            "pip install 'headrace[jax]'"
        ).encode()
        answer = ERROR + answer
    except ir.HeadraceError as error:
        answer = ERROR + str(error).encode()
    sys.stdout.buffer.write(answer)


if __name__ == "__main__":
    main()
