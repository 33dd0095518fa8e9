"""headrace's tools and FileCheck for lit, without the time that they take to start.

Loading the bindings and the passes takes more than most lit tests. This process loads
them once, and forks for each run of a tool; the programs of the tools that lit finds
hand it their arguments, folder, environment and streams, and wait for the exit
code. ``start`` is for lit.cfg.py.

Only lit's runs of the tools come here. How they start, and crash, is
tested with the installed programs (tests/python).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

TOOLS = {
    "headrace-opt": "headrace.tools.headrace_opt",
    "headrace-compile": "headrace.tools.headrace_compile",
    "headrace-run": "headrace.tools.headrace_run",
    "filecheck": "filecheck.main",
}
_LENGTH = 4

# It starts in 10 ms with neither site-packages nor Python's own socket module.
_CLIENT = """#!{python} -IS
import _socket, os, sys
s = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
s.connect({address!r})
words = [{tool!r}, os.getcwd(), str(len(sys.argv)), *sys.argv]
words += [f"{{k}}={{v}}" for k, v in os.environ.items()]
data = "\\0".join(words).encode(errors="surrogateescape")
fds = b"".join(n.to_bytes(4, sys.byteorder) for n in (0, 1, 2))
s.sendmsg([len(data).to_bytes({length}, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, fds)])
while data:
    data = data[s.send(data):]
for n in (0, 1, 2):
    os.close(n)
os._exit(s.recv(1)[0])
"""


def start() -> Path | None:
    """Starts the server for as long as this process lives; the folder of the tools.

    None where a process cannot fork.
    """
    if not hasattr(os, "fork"):
        return None
    folder = Path(tempfile.mkdtemp(prefix="headrace-lit-"))
    address = str(folder / "socket")
    server = subprocess.Popen(
        [sys.executable, __file__, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )

    def stop() -> None:
        assert server.stdin is not None
        server.stdin.close()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    assert server.stdout is not None
    if server.stdout.readline() != b"ready\n":
        raise RuntimeError("the server of lit's tools did not start")
    for tool in TOOLS:
        program = folder / tool
        program.write_text(
            _CLIENT.format(python=sys.executable, address=address, tool=tool, length=_LENGTH)
        )
        program.chmod(0o755)
    return folder


def _serve(address: str) -> None:
    """Until stdin ends, which it does with the process that started this one."""
    from headrace.passes.registry import pass_class, pass_names

    mains: dict[str, Callable[[], int]] = {t: import_module(m).main for t, m in TOOLS.items()}
    for name in pass_names():
        pass_class(name)  # imported once, not in each fork
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        os.write(1, b"ready\n")
        while True:
            ready, _, _ = select.select([listener, 0], [], [])
            if 0 in ready:
                return
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(connection, mains)
            connection.close()
            _reap()


def _reap() -> None:
    """Forgets the forks that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(connection: socket.socket, mains: dict[str, Callable[[], int]]) -> None:
    """Runs one tool, in the process that does nothing else, and ends it."""
    code = 70
    try:
        head, streams, _, _ = socket.recv_fds(connection, _LENGTH, 3)
        rest = int.from_bytes(head, "big")
        data = b""
        while len(data) < rest:
            data += connection.recv(rest - len(data))
        tool, folder, count, *words = data.decode(errors="surrogateescape").split("\0")
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        # Those of the server know whether it could seek in its own files.
        sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
        os.chdir(folder)
        sys.argv = words[: int(count)]
        os.environ.clear()
        os.environ.update(word.split("=", 1) for word in words[int(count) :])
        code = mains[tool]() or 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException as error:
        print(f"tool server: {error!r}", file=sys.stderr)
    finally:
        for flush in (sys.stdout.flush, sys.stderr.flush):
            flush()
        connection.send(bytes([code & 0xFF]))
        os._exit(0)


if __name__ == "__main__":
    _serve(sys.argv[1])
