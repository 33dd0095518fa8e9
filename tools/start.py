"""The installed programs.

Ctrl-C is quiet from the first line on: loading the bindings takes a third of a
second, and a KeyboardInterrupt in an import would end in a traceback, or be
lost in native code. ``supervisor`` takes over once there is work to stop.
"""

import os
import signal
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
    return import_module(f".{name}", __package__).main()
