"""Ctrl-C is remembered: compiled libraries swallow the exception that it raises.

It reaches whatever runs just then. If that is a callback of a compiled library (pyarrow, for one,
imports pandas in the middle of a conversion, and goes on without it whatever the import raises),
the exception is lost there. So the work asks again between its parts.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

_interrupted = threading.Event()


def listen() -> None:
    """From now on Ctrl-C ends the command, also where it was started with SIGINT ignored."""
    _interrupted.clear()
    signal.signal(signal.SIGINT, interrupt)


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """The handler of SIGINT."""
    _interrupted.set()
    raise KeyboardInterrupt


def check() -> None:
    """Raise KeyboardInterrupt if there was one, and it was lost on the way."""
    if _interrupted.is_set():
        raise KeyboardInterrupt
