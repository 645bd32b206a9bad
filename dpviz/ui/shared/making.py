"""Count of paid builds running on this server per owner, even if their page was closed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_running: Counter[str] = Counter()


@contextmanager
def making(owner: str) -> Iterator[None]:
    """Count a build of this owner as running within the block."""
    with _lock:
        _running[owner] += 1
    try:
        yield
    finally:
        with _lock:
            _running[owner] -= 1


def builds_of(owner: str) -> int:
    """Number of this owner's builds that are running."""
    with _lock:
        return _running[owner]
