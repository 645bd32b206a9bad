"""Compilation of loops by numba: the code cache on disk, and threads that share the machine.

Imported lazily: numba costs 1.6 s at import.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from threading import Lock
from typing import Any

import numba as nb
import numpy as np

# Make the threads of OpenMP sleep after a loop, unless the user has set a policy. By default each
# keeps its core busy for a while, in case another loop follows. If visitors, or tests, share the
# cores, a call of 0.3 ms then waits 15 ms for its own threads. The library reads the setting when
# it is loaded, which is before the first parallel loop.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

_alone = Lock()
_threaded = False
"""True once loops have run with threads in this process."""
_forked = False
"""True if they had in a process that this one was forked from: OpenMP would end this one."""


def compiled(*, parallel: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """A loop that numba compiles at its first call and keeps on disk for the next process.

    Where nothing can be kept (the package cannot be written to, nor can the user's folder of
    caches) each process compiles for itself. A parallel one is called as :func:`_serialised` says.
    """

    def compile_later(loop: Callable[..., Any]) -> Any:
        try:
            kernel = nb.njit(cache=True, parallel=parallel, nogil=True)(loop)
        except RuntimeError:  # no writable folder
            kernel = nb.njit(parallel=parallel, nogil=True)(loop)
        return _serialised(kernel, loop) if parallel else kernel

    return compile_later


def _serialised(kernel: Any, loop: Callable[..., Any]) -> Callable[..., Any]:
    """Serialise the calls of a parallel kernel and give it read-only columns.

    Each call uses every core as it is. Where numba finds no OpenMP, as on many Macs, two calls at
    once from different threads end the whole process. So does a call in a process that was forked
    after one: there, the same loop has one thread.
    """
    alone = cache(lambda: nb.njit(nogil=True)(loop))

    @wraps(loop)
    def call(*columns: Any) -> Any:
        global _threaded
        given = tuple(map(_read_only, columns))
        if _forked:
            return alone()(*given)
        with _alone:
            _threaded = True
            return kernel(*given)

    call.__wrapped__ = kernel
    return call


def _read_only(column: Any) -> Any:
    """A view that refuses writes: numba compiles once more, for seconds, for arrays that do not."""
    if isinstance(column, np.ndarray):
        column = column.view()
        column.flags.writeable = False
    return column


def _in_child() -> None:
    global _alone, _forked
    _alone = Lock()  # the parent's lock may be held
    _forked = _forked or _threaded


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
