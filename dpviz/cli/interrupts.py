"""Ctrl-C, SIGTERM and a terminal that closes end a command by a KeyboardInterrupt.

A callback of a compiled library may lose the exception: pyarrow, for one, imports pandas in the
middle of a conversion, and goes on without it whatever the import raises. So the signal is
remembered, and :func:`check` raises it again at each report of progress and before a payment.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

_came = False


def listen() -> None:
    """Let the signals end the command, also a SIGINT that a shell's background job ignores.

    A SIGHUP that is ignored, as by nohup, stays ignored.
    """
    global _came
    _came = False
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, interrupt)


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """Handler of the signals; a second one does not disturb what the first one has put in order."""
    global _came
    _came = True
    if not isinstance(sys.exc_info()[1], KeyboardInterrupt):
        raise KeyboardInterrupt


def check() -> None:
    """Raise KeyboardInterrupt if there was a signal, which may have been lost on its way."""
    if _came:
        raise KeyboardInterrupt


def came() -> bool:
    """Return whether a signal has arrived."""
    return _came


def leave(code: int) -> NoReturn:
    """End this process without the interpreter's teardown of modules, which takes time.

    A thread of Arrow's may abort the process there (apache/arrow#34314). Ctrl-C after completion is
    ignored.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _by_default()
    atexit._run_exitfuncs()
    for stream in sys.stdout, sys.stderr:
        with suppress(OSError):  # its reader has closed the pipe
            stream.flush()
    os._exit(code)


def _by_default() -> None:
    """Let SIGTERM end this process at once, as in a child that a library forked."""
    if signal.getsignal(signal.SIGTERM) is interrupt:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_by_default)
