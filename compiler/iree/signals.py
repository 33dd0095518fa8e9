"""What a child process died of."""

from __future__ import annotations

import signal


def signal_name(number: int) -> str:
    """``SIGSEGV`` and the like; real-time signals have numbers only."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
