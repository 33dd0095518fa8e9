"""The installed programs.

Ctrl-C is quiet from the first line on: loading the bindings takes a third of a
second, and a KeyboardInterrupt in an import would end in a traceback, or be
lost in native code. ``supervisor`` takes over once there is work to stop.
"""

import os
import signal
import sys
from importlib import import_module


def headrace_opt() -> int:
    return _start("headrace_opt")


def headrace_compile() -> int:
    return _start("headrace_compile")


def headrace_run() -> int:
    return _start("headrace_run")


def _start(name: str) -> int:
    if hasattr(os, "fork") and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))
    _open_closed_streams()
    return import_module(f".{name}", __package__).main()


def _open_closed_streams() -> None:
    """Streams that were closed exist, but reading or writing them is an error.

    Left closed, Python has None for them, and the next file that is opened
    gets their number, and what native code prints. What is said to a closed
    stderr is dropped.
    """
    for number, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # takes the lowest number that is free
            stream = os.fdopen(number, "w" if number else "r", closefd=False)
            setattr(sys, ("stdin", "stdout", "stderr")[number], stream)
