"""Ctrl-C, SIGTERM and a terminal that closes end a command, by a KeyboardInterrupt.

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
    """Let the signals end the command from now on.

    This includes a SIGINT that was ignored at the start, as shells do for background jobs. A SIGHUP
    that is ignored, as by nohup, stays ignored.
    """
    global _came
    _came = False
    for each in (signal.SIGINT, *_ending()):
        signal.signal(each, interrupt)


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


def hang_up_as_terminate() -> None:
    """SIGHUP does as SIGTERM from now on, for a server that has a handler of its own for that."""
    for each in _ending()[1:]:
        signal.signal(each, lambda *_: os.kill(os.getpid(), signal.SIGTERM))


def ignore() -> None:
    """Ignore Ctrl-C after completion, and let the other signals end the process at once."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _by_default()


def leave(code: int) -> NoReturn:
    """End this process without the interpreter's teardown of modules, which takes time.

    Resources that worker processes share are released first.
    """
    ignore()
    pools = sys.modules.get("concurrent.futures.process")
    if pools is not None:
        pools._python_exit()
    atexit._run_exitfuncs()
    for stream in sys.stdout, sys.stderr:
        with suppress(OSError):  # its reader has closed the pipe
            stream.flush()
    os._exit(code)


def _ending() -> list[int]:
    """The signals beside SIGINT that end a command."""
    if not hasattr(signal, "SIGHUP") or signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        return [signal.SIGTERM]
    return [signal.SIGTERM, signal.SIGHUP]


def _by_default() -> None:
    for each in _ending():
        signal.signal(each, signal.SIG_DFL)


def _forked() -> None:
    """A child that a library forked dies of the signals that end its parent."""
    if signal.getsignal(signal.SIGTERM) is interrupt:
        _by_default()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
