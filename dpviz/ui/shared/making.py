"""Whose paid builds run on this server now, whatever has become of the page that ordered them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_running: Counter[str] = Counter()


@contextmanager
def making(owner: str) -> Iterator[None]:
    """A build of this owner's runs within."""
    with _lock:
        _running[owner] += 1
    try:
        yield
    finally:
        with _lock:
            _running[owner] -= 1


def builds_of(owner: str) -> int:
    """How many builds of this owner's run now."""
    with _lock:
        return _running[owner]
