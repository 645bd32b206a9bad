"""The query shapes of figures 5 and 6 of the ICDE paper on our data, and their errors.

G. Cormode et al., ICDE 2012, §8.1: 600 queries of each shape whose exact answer is not zero, the
median relative error, no sanity bound.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dpviz.domain import Domain
from dpviz.evaluation.experiments import SECONDS, Experiment, run
from dpviz.evaluation.points import PointBench
from dpviz.evaluation.rows import MeasureRow
from dpviz.evaluation.truth import nonempty_queries
from dpviz.private.handle import DataHandle
from dpviz.private.load.data import load
from dpviz.progress import Progress
from dpviz.queries.workloads import Workload, workload

DATA = "city-1m"
METRIC = "median_relative_error"
QUERIES = 600
DRAWS = 20
"""Queries drawn for each one used: some thin ones hold no record."""

SHAPES = {"(1, 1)": (1, 1), "(5, 5)": (5, 5), "(10, 10)": (10, 10), "(15, 0.2)": (15, 0.2)}
"""Sides in degrees on the paper's domain."""

PAPER_SIDES = (124.82 - 103.00, 49.00 - 31.33)
"""Sides of the paper's domain in degrees: ours has the same shapes as shares of its own sides."""

UNBOUNDED = 1e-9
"""A sanity bound, as a share of the records, that is under one record."""


def queries(handle: DataHandle, shapes: Iterable[str], seed: int) -> tuple[Workload, ...]:
    """Queries with an answer, one workload per shape, named as in the paper."""
    asked = []
    for shape in shapes:
        drawn = workload(handle.domain, sides(handle.domain, shape), DRAWS * QUERIES, seed)
        asked.append(Workload(shape, nonempty_queries(handle, drawn, QUERIES).rects))
    return tuple(asked)


def sides(domain: Domain, shape: str) -> str:
    """A shape of the paper as sides in our domain's units, as workloads write them."""
    ours = np.subtract(domain.upper, domain.lower)
    return "x".join(f"{side:.6g}" for side in ours * np.divide(SHAPES[shape], PAPER_SIDES))


def measure_errors(
    methods: tuple[str, ...],
    epsilons: tuple[float, ...],
    shapes: Iterable[str],
    repeats: int,
    seed: int,
    progress: Progress,
) -> list[MeasureRow]:
    """The error of every method at every ε on every shape."""
    handle = load(DATA)
    bench = PointBench(handle, queries(handle, shapes, seed), UNBOUNDED)
    plan = Experiment(methods, epsilons, repeats, seed)
    finished = run(bench, plan, progress=progress)
    return [row for rows in finished for row in rows if row.measure in (METRIC, SECONDS)]
