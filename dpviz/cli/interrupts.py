"""Raise KeyboardInterrupt on Ctrl-C, SIGTERM or a closed terminal.

A library may swallow the exception: pyarrow imports pandas in the middle of a conversion, and
ignores whatever the import raises. So the signal is remembered, and :func:`check` raises the
exception again at each report of progress and before a payment.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

_interrupted = False


def install_handlers() -> None:
    """Install the signal handlers, even if a shell ignores SIGINT for background jobs.

    An ignored SIGHUP, as with nohup, stays ignored.
    """
    global _interrupted
    _interrupted = False
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, interrupt)


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """Handle a signal; a second one does not interrupt the clean-up after the first."""
    global _interrupted
    _interrupted = True
    if not isinstance(sys.exc_info()[1], KeyboardInterrupt):
        raise KeyboardInterrupt


def check() -> None:
    """Raise KeyboardInterrupt if a signal came; a library may have swallowed the first one."""
    if _interrupted:
        raise KeyboardInterrupt


def interrupted() -> bool:
    """Return whether a signal has arrived."""
    return _interrupted


def exit_process(code: int) -> NoReturn:
    """Exit without the slow teardown of modules, in which Arrow may abort (apache/arrow#34314).

    Ctrl-C is ignored from here on.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _restore_sigterm()
    atexit._run_exitfuncs()
    for stream in sys.stdout, sys.stderr:
        with suppress(OSError):  # the reader closed the pipe
            stream.flush()
    os._exit(code)


def _restore_sigterm() -> None:
    """Restore the default handler of SIGTERM in child processes that a library forks."""
    if signal.getsignal(signal.SIGTERM) is interrupt:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restore_sigterm)
