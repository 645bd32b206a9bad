"""Independent pieces of one computation, run in parallel on the available cores.

NumPy releases Python's lock while it works on a long column, so threads are enough. Each piece
writes to its own rows, and nothing is added up across pieces: results do not depend on the number
of threads. Threads start and end with the call, so that none runs when a process forks; with one
core none is started.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import TypeVar

from dpviz.progress import Reports, checkpoint, listening

P = TypeVar("P")
R = TypeVar("R")

MAX_THREADS = 4
"""Most threads: more would wait for memory, and for each other between two steps."""


def parallel_map(work: Callable[[P], R], pieces: Iterable[P]) -> list[R]:
    """Apply ``work`` to the pieces in parallel: results in order, a checkpoint before each."""
    given, results = list(pieces), []
    threads = min(len(given), MAX_THREADS, cores())
    if threads < 2:
        for piece in given:
            checkpoint()
            results.append(work(piece))
        return results
    with ThreadPoolExecutor(threads) as pool:
        try:
            for future in [pool.submit(work, piece) for piece in given]:
                checkpoint()
                results.append(future.result())
        finally:
            pool.shutdown(cancel_futures=True)
    return results


def run_both(work: Callable[[], R], other: Callable[[], P]) -> tuple[R, P]:
    """Run two pieces in parallel and return both results: the first runs in this thread.

    Checkpoints of the first work as usual. If it raises, the other ends at its next checkpoint.
    """
    if cores() < 2:
        return work(), other()
    ended = False

    def end(*_: object) -> None:
        if ended:
            raise CancelledError

    def apart() -> P:
        with listening(Reports(end)):
            return other()

    with ThreadPoolExecutor(1) as pool:
        meanwhile = pool.submit(apart)
        try:
            return work(), meanwhile.result()
        finally:
            ended = True


def cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def strips(rows: int, size: int) -> list[slice]:
    """Rows in pieces of one size, the last one with the rest."""
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
