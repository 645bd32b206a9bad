"""The experiments of the event-histogram paper (figures 6 to 13), on public trips only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dpviz.evaluation.experiments import SECONDS, Build, Measures, method_of_text, timed_build
from dpviz.evaluation.rows import MeasureRow
from dpviz.evaluation.rows import summary as row_summary
from dpviz.evaluation.truth import exact_visits
from dpviz.methods.request import chosen_method
from dpviz.methods.roads.base import RoadMethod
from dpviz.private.roads import RoadData
from dpviz.releases.counts import RoadRelease
from dpviz.roads.generate import clustered_workload, corridor_workload
from dpviz.roads.graph import Float
from dpviz.roads.paths import Paths

LENGTHS = (2, 10, 20, 30, 40, 50)
CORRIDOR = "corridor"
ERROR, ZERO = "mean_squared_error", "zero_squared_error"
EACH_STEP = ", each step"
"""Ends the name of a measure that is the mean over every step of time."""

METHODS = (
    # Figures 6 and 7, truncation.
    *("basic", "basic-paper", "freqitem", "ngram_truncation", "gs", "normalization", "dwork"),
    *("min+opt+tru", "random"),  # 8 and 9, decomposition
    *("boost", "min+best+tru"),  # 10 and 11, trees, with basic and min+opt+tru
    *("hm", "hm+tru"),  # 12 and 13, weighted levels, with min+opt+tru
)
"""The methods of each pair of figures (Oldenburg, San Joaquin)."""


class RoadBench:
    """Mean squared error of the paper's workloads, and that of answering zero.

    Clustered workloads by length, and shortest paths as corridors: public. Every workload has a
    release of its own, which is tuned for it. Of trips with time there are errors for all the time,
    which is the sum of the steps, and for the mean over steps.

    Args:
        data: public.
        lengths: numbers of edges of the clustered queries.
    """

    def __init__(self, data: RoadData, lengths: Iterable[int] = LENGTHS) -> None:
        self.data = data
        steps = 0 if data.steps is None else len(data.steps)
        self._exact = exact_visits(data)
        self._of_steps = [exact_visits(data, slice(step, step + 1)) for step in range(steps)]
        self._workloads: dict[str, Paths] = {
            f"clustered-{length}": clustered_workload(data.graph, length) for length in lengths
        }
        self._workloads[CORRIDOR] = corridor_workload(data.graph)

    def method(self, text: str) -> RoadMethod:
        """The method of a name or combination, with parameters."""
        chosen = method_of_text(text, "roads")
        method: RoadMethod = chosen_method(self.data, chosen, self._workloads[CORRIDOR], {})[0]
        return method

    def measures(self, task: Build) -> Measures:
        """Build for every workload, and ask it."""
        method = self.method(task.method)
        for name, workload in self._workloads.items():
            release, seconds = timed_build(self.data, method, task, workload=workload)
            truth = workload.sum(self._exact)
            yield name, ERROR, _error(release, workload, truth)
            yield name, ZERO, float(np.mean(truth**2))
            yield name, SECONDS, seconds
            if release.limit is not None:
                yield name, "limit", float(release.limit)
            if self._of_steps:
                truths = [workload.sum(each) for each in self._of_steps]
                pairs = zip(release.parts, truths, strict=True)
                errors = [_error(each, workload, exact) for each, exact in pairs]
                yield name, f"{ERROR}{EACH_STEP}", float(np.mean(errors))
                yield name, f"{ZERO}{EACH_STEP}", float(np.mean(np.square(truths)))


def summary(rows: Iterable[MeasureRow]) -> list[dict[str, Any]]:
    """Means per workload, ε and method; those over steps of time as a workload of their own."""
    entries = []
    for row in row_summary(rows):
        for suffix in ("", EACH_STEP):
            if ERROR + suffix in row:
                entry = {"workload": row["size"] + suffix, "epsilon": row["epsilon"]}
                entry |= {"method": row["method"], "repeats": row["repeats"]}
                entries.append(entry | {key: row[key + suffix] for key in (ERROR, ZERO)})
    workloads = list(dict.fromkeys(entry["workload"] for entry in entries))
    return sorted(entries, key=lambda e: (workloads.index(e["workload"]), -e["epsilon"]))


def _error(release: RoadRelease, workload: Paths, truth: Float) -> float:
    return float(np.mean((workload.sum(release.answers.count) - truth) ** 2))
