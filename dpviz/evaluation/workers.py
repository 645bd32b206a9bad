"""Worker processes of experiments and audits."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any


def worker_pool(
    processes: int, start: Callable[..., object] | None = None, *args: Any
) -> ProcessPoolExecutor:
    """Fresh interpreters, each of one thread, that end without a word at Ctrl-C.

    Args:
        processes: how many, at least 1.
        start: called in each of them before its first task.
        *args: of ``start``.
    """
    import multiprocessing

    fresh = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(processes, fresh, initializer=_begin, initargs=(start, args))


def _begin(start: Callable[..., object] | None, args: tuple[Any, ...]) -> None:
    import os
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent gets it too, and speaks for all
    os.environ["NUMBA_NUM_THREADS"] = "1"  # the workers share the cores already
    if start is not None:
        start(*args)
