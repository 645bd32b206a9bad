"""Worker processes of experiments and audits: results come back as they are finished."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from dpviz.trees import cores

Task = TypeVar("Task")
Result = TypeVar("Result")

WARNINGS = "PYTHONWARNINGS"

_work: Callable[[Any], Any] | None = None  # of a worker process, set once as it begins


def finished(
    work: Callable[[Task], Result], tasks: Iterable[Task], processes: int
) -> Iterator[Result]:
    """Results of tasks as they are finished, from this process or from fresh ones.

    Closing the iterator (or an interrupt) cancels: tasks under way end, no other begins.

    Args:
        work: does one task; sent to each worker process once.
        tasks: plain values.
        processes: worker processes, each of one thread; 0 works in this one.
    """
    if processes < 1:
        yield from map(work, tasks)
        return
    _start_tracker()
    fresh = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, fresh, initializer=_begin, initargs=(work,))
    waiting = iter(tasks)
    running: set[Future[Result]] = set()
    try:
        with _undisturbed():
            running.update(pool.submit(_do, task) for task in islice(waiting, processes))
        while running:
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            running.update(pool.submit(_do, task) for task in islice(waiting, len(ended)))
            for future in ended:
                yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start_tracker() -> None:
    """Start the tracker of semaphores with its warnings off.

    A process that ends at Ctrl-C may have released a semaphore without telling the tracker.
    """
    before = os.environ.get(WARNINGS)
    os.environ[WARNINGS] = ",".join(filter(None, [before, "ignore:resource_tracker:UserWarning"]))
    try:
        resource_tracker.ensure_running()
    finally:
        del os.environ[WARNINGS]
        if before is not None:
            os.environ[WARNINGS] = before


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Start processes with SIGINT blocked: a starting interpreter would print a traceback."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(work: Callable[[Any], Any]) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent gets it too, and speaks for all
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ["NUMBA_NUM_THREADS"] = "1"  # the workers share the cores already
    cores.THREADS = 1
    _work = work


def _do(task: Any) -> Any:
    if _work is None:
        raise RuntimeError("the worker was not initialised")
    return _work(task)


def _end_with_parent() -> None:
    """End this worker if the parent is killed: nothing else ends one that waits for a task."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
