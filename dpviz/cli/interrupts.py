"""End a command by KeyboardInterrupt on Ctrl-C, SIGTERM or a closed terminal.

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
    """Install the signal handlers, also where a shell ignores SIGINT for background jobs.

    A SIGHUP that is ignored, as by nohup, stays ignored.
    """
    global _came
    _came = False
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, interrupt)


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """Handle a signal; a second one does not interrupt the clean-up after the first."""
    global _came
    _came = True
    if not isinstance(sys.exc_info()[1], KeyboardInterrupt):
        raise KeyboardInterrupt


def check() -> None:
    """Raise KeyboardInterrupt if a signal came; a library may have swallowed the first one."""
    if _came:
        raise KeyboardInterrupt


def came() -> bool:
    """Return whether a signal has arrived."""
    return _came


def leave(code: int) -> NoReturn:
    """End this process without the slow teardown of modules.

    A thread of Arrow's may abort the process there (apache/arrow#34314). Ctrl-C after completion is
    ignored.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _by_default()
    atexit._run_exitfuncs()
    for stream in sys.stdout, sys.stderr:
        with suppress(OSError):  # the reader closed the pipe
            stream.flush()
    os._exit(code)


def _by_default() -> None:
    """Restore the default handler of SIGTERM, for children that a library forks."""
    if signal.getsignal(signal.SIGTERM) is interrupt:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_by_default)
