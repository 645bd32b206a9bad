"""Releases of trips by steps of time: a histogram of each step, and what they say together.

Steps are disjoint and the noise of each is its own, so counts and variances add up: the counts of
all the time, or of any whole steps, are sums. Post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import ReleaseError
from dpviz.lazy import geopandas, pa, pd
from dpviz.releases.header import Header
from dpviz.releases.roads import columns
from dpviz.releases.roads.columns import Trees
from dpviz.releases.roads.path_count import PathAnswers, path_count
from dpviz.releases.roads.release import RoadRelease
from dpviz.roads.decompose import Subdomains, separate
from dpviz.roads.graph import Float, Int, RoadGraph
from dpviz.roads.paths import Paths
from dpviz.roads.steps import Steps
from dpviz.trees.decomposition import Decomposition

OF_STEPS = "of_steps"
"""Where a header's ``extra`` says what methods learnt of each step."""


@dataclass(frozen=True)
class RoadTimeline(PathAnswers):
    """Answers to one path step by step, as columns of length k.

    Attributes:
        start, end: of each step (exclusive), datetime64 to the second, UTC; of a cycle timedelta64
            since its beginning.
    """

    start: NDArray[Any]
    end: NDArray[Any]


class TimedRoadRelease(RoadRelease):
    """A release of each step of time, and of all of them together.

    It answers as a release of all trips does, by sums of steps, whose noise adds up: with k steps
    the standard deviation of an answer for all the time is about √k times that of one release
    without time at the same ε. :meth:`of` is the release of one step.

    Attributes:
        steps: of time, public.
        releases: one for each step, in order.
    """

    steps: Steps
    releases: tuple[RoadRelease, ...]

    def __init__(
        self, graph: RoadGraph, trees: Sequence[Trees], steps: Steps, header: Header
    ) -> None:
        stated = header.extra.get(OF_STEPS) or [{}] * len(steps)
        if not len(trees) == len(stated) == len(steps):
            raise ReleaseError(f"{len(trees)} histograms: expected one for each step")
        common = {name: value for name, value in header.extra.items() if name != OF_STEPS}
        releases = tuple(
            RoadRelease(
                graph,
                *each,
                replace(header, extra={**common, **facts, "period": list(steps.words(step))}),
            )
            for step, (each, facts) in enumerate(zip(trees, stated, strict=True))
        )
        values = {"graph": graph, "steps": steps, "releases": releases, "header": header}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def addends(self) -> tuple[RoadRelease, ...]:
        """The release of each step."""
        return self.releases

    @cached_property
    def _together(self) -> Trees:
        """Trees with the sums, where those of all steps are alike; else each edge on its own."""
        first, *others = self.releases
        if all(_alike(first, each) for each in others):
            nodes, measured = first.nodes, np.sum([each.measured for each in self.releases], axis=0)
            count, variance = (
                np.sum([getattr(each.nodes, name) for each in self.releases], axis=0)
                for name in ("count", "variance")
            )
            return first.domains, nodes.replace(count=count, variance=variance), measured
        place = np.arange(len(self.graph))[:, None]
        variance = self.edge_noise_sd**2
        alone = np.full(len(place), -1)
        nodes = Decomposition(place, place + 1, alone, self.edge_count, variance)
        return separate(self.graph), nodes, variance

    @property
    def domains(self) -> Subdomains:
        """See the base."""
        return self._together[0]

    @property
    def nodes(self) -> Decomposition:
        """See the base: for pictures; answers come from the trees of each step."""
        return self._together[1]

    @property
    def measured(self) -> Float:
        """See the base."""
        return self._together[2]

    @cached_property
    def edge_count(self) -> Float:
        """See the base."""
        return np.asarray(np.sum([each.edge_count for each in self.releases], axis=0))

    @cached_property
    def edge_noise_sd(self) -> Float:
        """See the base."""
        variance = np.sum([each.edge_noise_sd**2 for each in self.releases], axis=0)
        return np.asarray(np.sqrt(variance))

    def of(self, step: int) -> RoadRelease:
        """The release of one step."""
        return self.releases[step]

    def during(self, period: Any) -> RoadRelease:
        """The part in a period of whole steps: of one step its release, else their sum.

        Args:
            period: start and end (exclusive), in ISO 8601 (of the steps' zone unless it says
                otherwise), Python dates or seconds; of a cycle such as ``Mon 08:00,Fri 18:00``.

        Raises:
            DomainError: no such period, one outside, or one that cuts a step.
        """
        part = self.steps.during(period)
        rows = self.steps.rows(part)
        chosen = self.releases[rows]
        if len(chosen) == 1:
            return chosen[0]
        extra = {k: v for k, v in self.header.extra.items() if k not in (OF_STEPS, "kept")}
        extra |= facts_of_steps(self.header.extra.get(OF_STEPS, [{}] * len(self.steps))[rows])
        trees = [(each.domains, each.nodes, each.measured) for each in chosen]
        return TimedRoadRelease(self.graph, trees, part, replace(self.header, extra=extra))

    def timeline(self, path: Int | Sequence[int], period: Any = None) -> RoadTimeline:
        """Totals of one path step by step.

        Args:
            path: edge rows of the graph.
            period: as for :meth:`during`; all steps by default.

        Raises:
            DataError: no path.
            DomainError: no such period.
        """
        part = self.steps if period is None else self.steps.during(period)
        asked = Paths.of([path])
        each = [path_count(one, asked) for one in self.releases[self.steps.rows(part)]]
        answers = {
            field.name: np.concatenate([getattr(one, field.name) for one in each])
            for field in fields(PathAnswers)
        }
        at = part.calendar.stamps(part.edges)
        return RoadTimeline(**answers, start=at[:-1], end=at[1:])

    def to_geopandas(self) -> geopandas.GeoDataFrame:
        """See the base: one row per edge and step, with its start and end ``t0`` and ``t1``."""
        frames = [columns.to_geopandas(each) for each in self.releases]
        times = columns.step_times(self.steps)
        return pd.concat(
            [
                frame.assign(**{name: each[step] for name, each in times.items()})
                for step, frame in enumerate(frames)
            ],
            ignore_index=True,
        )

    def to_arrow(self) -> pa.Table:
        """See the base: a block of rows for each step."""
        return columns.to_columns(self, self.header, self.steps)


def _alike(one: RoadRelease, other: RoadRelease) -> bool:
    """Whether two releases have the same trees over the same paths."""
    pairs = [
        (one.domains.order, other.domains.order),
        (one.domains.start, other.domains.start),
        (one.nodes.lo, other.nodes.lo),
        (one.nodes.hi, other.nodes.hi),
        (one.nodes.parent, other.nodes.parent),
    ]
    return all(np.array_equal(*pair) for pair in pairs)


def road_release_of(
    graph: RoadGraph, trees: Sequence[Trees], steps: Steps | None, header: Header
) -> RoadRelease:
    """The release of trips with time or without."""
    if steps is not None:
        return TimedRoadRelease(graph, trees, steps, header)
    ((domains, nodes, measured),) = trees
    return RoadRelease(graph, domains, nodes, measured, header)


def facts_of_steps(extras: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A header's ``extra``: what holds of all steps once, and the rest for each."""
    first = extras[0]
    common = {
        name: value
        for name, value in first.items()
        if all(name in extra and extra[name] == value for extra in extras)
    }
    rest = [{k: v for k, v in extra.items() if k not in common} for extra in extras]
    estimated = [extra for extra in rest if "kept" in extra and "lengths" in extra]
    if estimated:
        common["kept"] = _kept_of_all(estimated)
    return {**common, OF_STEPS: rest} if any(rest) else common


def _kept_of_all(extras: Sequence[dict[str, Any]]) -> float:
    """The share of visits that truncation kept in all steps, from noisy lengths: an estimate.

    Of the steps that have one: those whose visits can be distinguished from noise.
    """
    retained, visits = np.zeros(len(extras)), np.zeros(len(extras))
    for step, extra in enumerate(extras):
        lengths = np.asarray(extra["lengths"], dtype=np.float64)
        retained[step] = extra["kept"]
        visits[step] = max(float(lengths @ np.arange(1, len(lengths) + 1)), 0.0)
    return round(float(retained @ visits / visits.sum()), 4) if visits.sum() > 0 else 1.0
