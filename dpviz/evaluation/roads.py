"""The experiments of the event-histogram paper (figures 6 to 13), on public trips only."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace

import numpy as np

from dpviz.build import RoadData, build, positive_epsilon
from dpviz.evaluation.truth import exact_visits
from dpviz.files.writing import csv_text
from dpviz.progress import Progress
from dpviz.releases.counts import RoadRelease
from dpviz.roads.generate import clustered_workload, corridor_workload
from dpviz.roads.graph import Float, Int
from dpviz.roads.paths import Paths

LENGTHS = (2, 10, 20, 30, 40, 50)
EPSILONS = (1.0, 0.1, 0.01)
REPEATS = 10
CORRIDOR = "corridor"
EACH_STEP = ", each step"
"""Ends the name of a workload where it is asked of every step of time."""

METHODS = (
    # Figures 6 and 7, truncation.
    *("basic", "basic-paper", "freqitem", "ngram_truncation", "gs", "normalization", "dwork"),
    *("min+opt+tru", "random"),  # 8 and 9, decomposition
    *("boost", "min+best+tru"),  # 10 and 11, trees, with basic and min+opt+tru
    *("hm", "hm+tru"),  # 12 and 13, weighted levels, with min+opt+tru
)
"""The methods of each pair of figures (Oldenburg, San Joaquin)."""


@dataclass(frozen=True)
class RoadErrorRow:
    """One release: the mean squared error of a workload, and that of answering zero."""

    workload: str
    length: float
    epsilon: float
    method: str
    repeat: int
    mean_squared_error: float
    zero_squared_error: float
    limit: int | None
    seconds: float


def workloads(data: RoadData, lengths: Iterable[int]) -> dict[str, Paths]:
    """The paper's clustered workloads by length, and shortest paths as corridors. Public."""
    clustered = {
        f"clustered-{length}": clustered_workload(data.graph, length) for length in lengths
    }
    return {**clustered, CORRIDOR: corridor_workload(data.graph)}


def experiment(
    data: RoadData,
    *,
    methods: Sequence[str] = METHODS,
    lengths: Sequence[int] = LENGTHS,
    epsilons: Sequence[float] = EPSILONS,
    repeats: int = REPEATS,
    seed: int | None = 0,
    progress: Progress | None = None,
) -> Iterator[RoadErrorRow]:
    """Every combination, one row per release, as it is done.

    With a seed the noise is simulated and repeatable; without one it is as of a release. Of trips
    with time, a row for all the time, which is the sum of the steps, and one for the mean over
    steps.

    Raises:
        PrivacyError: the trips are not declared public.
        ParameterError: an epsilon that is not positive and finite, before any release.
    """
    epsilons = list(map(positive_epsilon, epsilons))  # all of them, before the first release
    exact, of_steps = exact_visits(data), _of_steps(data)
    asked = workloads(data, lengths)
    settings = list(itertools.product(methods, epsilons, range(repeats)))
    total, done = len(asked) * len(settings), 0
    for name, workload in asked.items():
        truth, truths = workload.sum(exact), [workload.sum(each) for each in of_steps]
        zero = float(np.mean(truth**2))
        length = round(float(workload.length.mean()), 2)
        for method, epsilon, repeat in settings:
            started = time.perf_counter()
            shifted = None if seed is None else seed + repeat
            release = build(data, method, epsilon, workload=workload, seed=shifted)
            seconds = round(time.perf_counter() - started, 4)
            error = _error(release, workload, truth)
            setting = name, length, epsilon, method, repeat
            row = RoadErrorRow(*setting, error, zero, release.limit, seconds)
            yield row
            if truths:
                errors = [
                    _error(each, workload, exactly)
                    for each, exactly in zip(release.parts, truths, strict=True)
                ]
                yield replace(
                    row,
                    workload=f"{name}{EACH_STEP}",
                    mean_squared_error=float(np.mean(errors)),
                    zero_squared_error=float(np.mean(np.square(truths))),
                )
            done += 1
            if progress is not None:
                progress(done / total, f"{name}, {method}, ε = {epsilon:g}")


def _of_steps(data: RoadData) -> list[Int]:
    """Exact visits in each step of time; none without time."""
    steps = 0 if data.steps is None else len(data.steps)
    return [exact_visits(data, slice(step, step + 1)) for step in range(steps)]


def _error(release: RoadRelease, workload: Paths, truth: Float) -> float:
    return float(np.mean((workload.sum(release.answers.count) - truth) ** 2))


def as_csv(rows: Iterable[RoadErrorRow]) -> str:
    """Rows with a header line."""
    return csv_text([field.name for field in fields(RoadErrorRow)], map(astuple, rows))


def summary(rows: Iterable[RoadErrorRow]) -> list[dict[str, object]]:
    """Mean error per workload, ε and method, beside that of answering zero."""
    groups: dict[tuple[str, float, str], list[RoadErrorRow]] = {}
    for row in rows:
        groups.setdefault((row.workload, row.epsilon, row.method), []).append(row)
    return [
        {
            "workload": workload,
            "epsilon": epsilon,
            "method": method,
            "mean_squared_error": float(np.mean([row.mean_squared_error for row in group])),
            "zero_squared_error": group[0].zero_squared_error,
            "repeats": len(group),
        }
        for (workload, epsilon, method), group in groups.items()
    ]
