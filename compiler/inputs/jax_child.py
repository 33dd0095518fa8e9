"""The child process that reads what IREE's MLIR does not: stdin to stdout.

Reading bytecode of unknown origin may crash, and jaxlib brings an MLIR of its
own; both stay out of the user's process. The first byte of the answer says
whether per-device text follows, or an error message.
"""

from __future__ import annotations

import sys

from ...dialects import ir
from ...dialects.child_process import run_child
from .jax_handover import artifact_text, module_text

ARTIFACT = b"ML\xefR"
TEXT, ERROR = b"+", b"-"


def read_with_jax(program: bytes, name: str) -> str:
    """The per-device StableHLO text of a ``jax.export`` artifact, or of MLIR text that is for
    JAX to split or with Shardy's ops.

    Raises HeadraceError, naming ``name``, if JAX is not installed or the
    program cannot be read, and for programs that headrace does not take.
    """
    output = run_child([sys.executable, "-m", __name__], program).output
    answer = output[1:].decode(errors="replace")
    if output.startswith(TEXT):
        return answer
    if output.startswith(ERROR):
        raise ir.HeadraceError(f"'{name}': {answer.removeprefix('error: ')}")
    raise ir.HeadraceError(f"'{name}' is broken: reading it crashes jaxlib")


def main() -> None:
    program = sys.stdin.buffer.read()
    is_artifact = program.startswith(ARTIFACT)
    try:
        text = artifact_text(program) if is_artifact else module_text(program.decode())
        answer = TEXT + text.encode()
    except ImportError as error:
        what = "a jax.export artifact" if is_artifact else "a global program with shardings"
        takes = f"this is {what}, which takes JAX to read ({error}): pip install 'headrace[jax]'"
        answer = ERROR + takes.encode()
    except ir.HeadraceError as error:
        answer = ERROR + str(error).encode()
    sys.stdout.buffer.write(answer)


if __name__ == "__main__":
    main()
