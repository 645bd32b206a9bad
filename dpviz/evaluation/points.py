"""Errors of range queries on releases of public points."""

from __future__ import annotations

import time

import numpy as np

from dpviz.errors import ParameterError
from dpviz.evaluation.experiments import SECONDS, Build, Measures, method_of_text, timed_build
from dpviz.evaluation.truth import (
    SANITY,
    exact_counts,
    exact_total,
    relative_errors,
    sanity_bound,
)
from dpviz.methods.points.base import PointMethod
from dpviz.methods.request import chosen_method
from dpviz.private.handle import DataHandle
from dpviz.queries.workloads import Workload
from dpviz.releases.points.range_count import MIN_COMPILED


class PointBench:
    """Mean and median relative error and mean absolute error over each workload, and seconds.

    Args:
        data: public.
        workloads: range queries, one workload per size.
        sanity: the sanity bound as a share of the number of records.
    """

    def __init__(
        self, data: DataHandle, workloads: tuple[Workload, ...], sanity: float = SANITY
    ) -> None:
        if not workloads:
            raise ParameterError("no workloads to evaluate: give at least one")
        if not 0 < sanity < 1:
            raise ParameterError(f"sanity={sanity:g}: give a share between 0 and 1")
        self.data, self.workloads, self.sanity = data, workloads, sanity
        self._exact = {load.size: exact_counts(data, load.rects) for load in workloads}
        self._bound = sanity_bound(exact_total(data), sanity)

    def method(self, text: str) -> PointMethod:
        """The method of a name with parameters."""
        method: PointMethod = chosen_method(self.data, method_of_text(text), None, {})[0]
        return method

    def measures(self, task: Build) -> Measures:
        """Build once, answer every size."""
        release, seconds = timed_build(self.data, self.method(task.method), task)
        release.count(
            self.workloads[0].rects[:MIN_COMPILED]
        )  # load compiled code before the clock starts
        for load in self.workloads:
            started = time.perf_counter()
            answers = release.count(load.rects).count
            asked = time.perf_counter() - started
            exact = self._exact[load.size]
            relative = relative_errors(answers, exact, self._bound)
            yield load.size, "mean_relative_error", float(relative.mean())
            yield load.size, "median_relative_error", float(np.median(relative))
            yield load.size, "mean_absolute_error", float(np.abs(answers - exact).mean())
            yield load.size, SECONDS, seconds
            yield load.size, "query_seconds", round(asked, 6)
