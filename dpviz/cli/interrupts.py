"""Ctrl-C reaches the work, wherever it is, and ends the process in a moment.

It raises an exception in whatever runs just then. If that is a callback of a compiled library
(pyarrow, for one, imports pandas in the middle of a conversion, and goes on without it whatever the
import raises), the exception is lost there. So it is raised again until it is on its way, and never
a second time while what it passes puts things in order. In a destructor it is lost as well; there
Python would write of it.

The system may hand the signal to any thread. The main one, where it waits in a system call, does
not wake of that: so a thread of its own hears of every signal, and wakes it.
"""

from __future__ import annotations

import _thread
import atexit
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import NoReturn

AGAIN = 0.05
"""Seconds after which a Ctrl-C that was lost is raised again."""

_interrupted = threading.Event()
_ended = threading.Event()
"""Of the work that is listened for: a later one has its own."""
_sending = _thread.allocate_lock()
"""Held while a Ctrl-C is raised again: once the work has ended, none is on its way any more."""
_woken = -1
"""Where the interpreter writes a byte for every signal; −1 where nobody listens."""
_owner = 0
"""The process that listens."""
_usual = sys.unraisablehook
"""What writes of other exceptions that nothing can catch."""


def listen() -> None:
    """From now on Ctrl-C ends the command, also where it was started with SIGINT ignored, and so
    do SIGTERM, by which systems and containers end what runs in them, and SIGHUP, of a terminal
    that closes; nohup, which has that ignored, goes on.
    """
    global _woken, _owner, _usual, _ended
    _interrupted.clear()
    if _woken < 0:
        _ended = threading.Event()
    _owner = os.getpid()
    if sys.unraisablehook is not _lost:
        _usual, sys.unraisablehook = sys.unraisablehook, _lost
    signal.signal(signal.SIGINT, interrupt)
    for each in _ending():
        signal.signal(each, _terminate)
    if hasattr(signal, "pthread_kill") and _woken < 0:
        heard, _woken = os.pipe()
        os.set_blocking(_woken, False)
        signal.set_wakeup_fd(_woken, warn_on_full_buffer=False)
        _thread.start_new_thread(_watch, (heard, _ended))


def interrupt(_number: int, frame: FrameType | None) -> None:
    """The handler of SIGINT."""
    if not _interrupted.is_set():
        _interrupted.set()
        # Unlike threading's, takes no lock that may be held.
        _thread.start_new_thread(_insist, (_ended,))
    dropping = frame is not None and frame.f_code is _lost.__code__  # and Python would write of it
    if not (dropping or _under_way(sys.exc_info()[1])):
        raise KeyboardInterrupt


def _ending() -> list[int]:
    """The signals beside SIGINT that end a command."""
    if not hasattr(signal, "SIGHUP") or signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        return [signal.SIGTERM]
    return [signal.SIGTERM, signal.SIGHUP]


def _terminate(number: int, frame: FrameType | None) -> None:
    """The handler of :func:`_ending`; a child that inherited it ends as one that did not."""
    if os.getpid() != _owner:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    interrupt(number, frame)


def check() -> None:
    """Raise KeyboardInterrupt if there was one, and it was lost on the way."""
    if _interrupted.is_set():
        raise KeyboardInterrupt


def hang_up_as_terminate() -> None:
    """SIGHUP does as SIGTERM from now on, for a server that has a handler of its own for that."""
    for each in _ending()[1:]:
        signal.signal(each, lambda *_: os.kill(os.getpid(), signal.SIGTERM))


def came() -> bool:
    """Whether there was a Ctrl-C, now that the work has ended: it is not raised again."""
    global _woken
    with _sending:
        _ended.set()
    if sys.unraisablehook is _lost:
        sys.unraisablehook = _usual
    woken, _woken = _woken, -1
    if woken >= 0:
        signal.set_wakeup_fd(-1)
        os.close(woken)  # which ends the watch
    return _interrupted.is_set()


def ignore() -> None:
    """From now on Ctrl-C does nothing: what has ended is not cancelled."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for each in _ending():
        signal.signal(each, signal.SIG_DFL)


def leave(code: int) -> NoReturn:
    """End this process, without taking apart module by module what ends with it anyway.

    Of worker processes, what they share is given back first.
    """
    ignore()
    pools = sys.modules.get("concurrent.futures.process")
    if pools is not None:
        pools._python_exit()
    atexit._run_exitfuncs()
    for stream in sys.stdout, sys.stderr:
        with suppress(OSError):  # whose reader has seen enough
            stream.flush()
    os._exit(code)


def _forked() -> None:
    """A child that a library forked tells nobody of its signals: the pipe is its parent's too."""
    global _sending
    _sending = _thread.allocate_lock()  # its parent's may be held
    if _woken >= 0:
        signal.set_wakeup_fd(-1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _lost(unraisable: sys.UnraisableHookArgs) -> None:
    """Nothing of a Ctrl-C in a destructor: it is raised again."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        _usual(unraisable)


def _watch(heard: int, ended: threading.Event) -> None:
    """Wait for signals that end the command, whichever thread they went to.

    Also after the first one: a server has handlers of its own, and hands it on when it has ended.
    One that is read late is of the work that has ended, not of what is listened for now.
    """
    with os.fdopen(heard, "rb", buffering=0) as signals:
        while number := signals.read(1):
            if number[0] in (signal.SIGINT, *_ending()) and os.getpid() == _owner:
                _insist(ended)


def _insist(ended: threading.Event) -> None:
    """Raise it in the main thread until the work has ended; each time where it is not under way."""
    main = threading.main_thread().ident or 0
    while True:
        time.sleep(AGAIN)
        with _sending:
            if ended.is_set() or signal.getsignal(signal.SIGINT) is not interrupt:
                return
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(main, signal.SIGINT)  # wakes it where it waits
            else:
                _thread.interrupt_main()


def _under_way(error: BaseException | None) -> bool:
    """Whether the main thread handles a KeyboardInterrupt, or what came of one."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None
