"""Worker processes of experiments and audits."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

from dpviz import cores

WARNINGS = "PYTHONWARNINGS"


def worker_pool(
    processes: int, start: Callable[..., object] | None = None, *args: Any
) -> ProcessPoolExecutor:
    """Fresh interpreters, each of one thread, that end without a word at Ctrl-C.

    Args:
        processes: how many, at least 1.
        start: called in each of them before its first task.
        *args: of ``start``.
    """
    _start_tracker()
    return ProcessPoolExecutor(processes, _Fresh(), initializer=_begin, initargs=(start, args))


def _start_tracker() -> None:
    """Start what gives back the semaphores of a process that has died, and let it say nothing.

    Who leaves at Ctrl-C may have given one back and not come to tell it: it writes of that then.
    """
    before = os.environ.get(WARNINGS)
    os.environ[WARNINGS] = ",".join(filter(None, [before, "ignore:resource_tracker:UserWarning"]))
    try:
        resource_tracker.ensure_running()
    finally:
        del os.environ[WARNINGS]
        if before is not None:
            os.environ[WARNINGS] = before


class _Quiet(SpawnProcess):
    """A process that hears of Ctrl-C only when it knows what to do about it.

    While an interpreter starts, its own handler would write of it.
    """

    def start(self) -> None:
        """See the base; the process inherits what is blocked here."""
        if not hasattr(signal, "pthread_sigmask"):
            return super().start()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Fresh(SpawnContext):
    Process = _Quiet


def _begin(start: Callable[..., object] | None, args: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent gets it too, and speaks for all
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ["NUMBA_NUM_THREADS"] = "1"  # the workers share the cores already
    cores.THREADS = 1
    if start is not None:
        start(*args)


def _end_with_parent() -> None:
    """A parent that was killed sends no word, and a worker would wait for its next task."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
