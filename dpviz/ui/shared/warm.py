"""What a server's first visitor would wait for, loaded while their browser starts or they read."""

from __future__ import annotations

import importlib
from functools import cache
from threading import Thread, main_thread

FIRST = ("dpviz.ui.shared.shell", "scipy.spatial", "scipy.sparse.csgraph")
"""Modules: the pages, and what the built-in city is made with."""

PAUSE = 4.0
"""Seconds in which the first page has the machine to itself."""


@cache
def preload() -> Thread:
    """Import the pages, and what makes the first map, while the first browser starts.

    Imports alone: who needs a module meanwhile waits for this very import, and nothing is done
    twice. Once for each process.
    """
    thread = Thread(target=_import, name="dpviz-preload", daemon=True)
    thread.start()
    return thread


def _import() -> None:
    for name in FIRST:
        importlib.import_module(name)


@cache
def warm() -> Thread:
    """Load the compiled loops apart from the page; once for each process."""
    thread = Thread(target=_load, name="dpviz-warm")
    thread.start()
    return thread


def _load() -> None:
    main_thread().join(PAUSE)
    if main_thread().is_alive():  # else the server has been stopped meanwhile
        loops()


def loops() -> None:
    """Ask what walks both compiled loops, of nobody's records."""
    import numpy as np

    from dpviz.build import build, from_points
    from dpviz.domain import Domain
    from dpviz.evaluation.truth import exact_counts
    from dpviz.releases.points.range_count import BULK

    domain = Domain((0.0, 0.0), (1.0, 1.0))
    nobody = from_points(np.zeros((0, 2)), domain, public=True)
    questions = np.tile(domain.bounds, (BULK, 1))
    exact_counts(nobody, questions)
    build(nobody, epsilon=1.0, seed=0, ledger=None).count(questions)
