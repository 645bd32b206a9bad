"""What a server's first visitor would wait for, loaded while they read the first page."""

from __future__ import annotations

from functools import cache
from threading import Thread, main_thread

PAUSE = 4.0
"""Seconds in which the first page has the machine to itself."""


@cache
def warm() -> Thread:
    """Load the compiled loops apart from the page; once for each process."""
    thread = Thread(target=_load, name="dpviz-warm")
    thread.start()
    return thread


def _load() -> None:
    main_thread().join(PAUSE)
    if not main_thread().is_alive():
        return  # the server has been stopped meanwhile
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
