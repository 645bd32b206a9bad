"""How loops are compiled: where their code is kept, and how their threads wait for the next call.

Imported lazily: numba costs 1.6 s at import.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numba as nb

# Threads of OpenMP sleep when a loop is done; whoever has set another way keeps it. By itself each
# keeps its core busy for a while, in case another loop follows. Where visitors, or tests, share the
# cores, a call that takes 0.3 ms then waited 15 ms for its own threads. The library reads this when
# it is loaded, which is before the first loop with threads runs.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def compiled(*, parallel: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """A loop that numba compiles at its first call and keeps on disk for the next process.

    Where nothing can be kept (the package cannot be written to, nor can the user's folder of
    caches) each process compiles for itself.
    """

    def compile_later(loop: Callable[..., Any]) -> Any:
        try:
            return nb.njit(cache=True, parallel=parallel, nogil=True)(loop)
        except RuntimeError:  # no folder that can be written to
            return nb.njit(parallel=parallel, nogil=True)(loop)

    return compile_later
