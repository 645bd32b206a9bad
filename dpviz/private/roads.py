"""RoadData: an opaque handle on private trips; only mechanisms see its exact counts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from dpviz.errors import DataError
from dpviz.private.handle import Handle
from dpviz.private.mechanisms.noise import Noise, uniform_below
from dpviz.releases.counts import RoadRelease
from dpviz.releases.roads.beyond_noise import EVENTS
from dpviz.roads.graph import Int, RoadGraph
from dpviz.roads.paths import Paths, distinct_keys
from dpviz.roads.steps import Steps

DISJOINT_STEPS = "steps are disjoint: a trip is in that of its start"
"""Reason why the histogram of each step may cost the whole of epsilon."""


class RoadData(Handle[RoadRelease]):
    """A handle on trips; with time also on the trips of each step.

    A trip starts in one step, so steps are disjoint and each may cost the whole of epsilon: see
    :mod:`dpviz.private.parallel`. The bound on a unit's trips holds over all steps together.

    Attributes:
        steps: the public steps of time; None where trips have no time.
        placed: for events, names of the columns read as their places; empty for trips.
        longest: public bound on the edges of a trip, 1 for events; None if only methods bound them.

    Raises:
        DataError: a trip off the graph, or a bound below 1.
        DomainError: more counts than a release holds.
    """

    kind: ClassVar[str] = "roads"
    records = "trips"

    def __init__(
        self,
        name: str,
        graph: RoadGraph,
        trips: Paths,
        *,
        public: bool = False,
        unit: str = "one trip",
        max_per_unit: int = 1,
        steps: Steps | None = None,
        step: Int | None = None,
        placed: str = "",
        facts: dict[str, Any] | None = None,
    ) -> None:
        if len(trips.edge) and (trips.edge.min() < 0 or trips.edge.max() >= len(graph)):
            raise DataError("a trip names an edge that the road graph lacks: use its edges")
        if placed:
            self.records = EVENTS
        super().__init__(name, public=public, unit=unit, max_per_unit=max_per_unit)
        self.graph, self.steps, self.placed = graph, steps, placed
        self.longest = 1 if placed else None
        self.facts = dict(facts or {}) | ({"counted": EVENTS} if placed else {})
        if self.longest and len(trips) and trips.length.max() > self.longest:
            raise DataError("an event is on several edges: give it one")
        self.__by_step: tuple[Paths, ...] = ()
        if steps is not None and step is not None:
            steps.require_room(len(graph))
            trips, self.__by_step = _split_by_step(trips, step, len(steps))
        self.__trips = _canonical(trips)

    @property
    def _trips(self) -> Paths:
        return self.__trips

    @property
    def _by_step(self) -> tuple[Paths, ...]:
        """The trips of each step; empty without time."""
        return self.__by_step

    @property
    def _frame(self) -> str:
        steps = "" if self.steps is None else f", {len(self.steps):,} steps of time"
        return f"{len(self.graph):,} edges{steps}"


def exact_visits(data: RoadData, steps: slice | None = None) -> Int:
    """Trips that contain each edge, int64 (m,), for public data only."""
    data.require_public()
    if steps is None:
        return visits(data._trips, len(data.graph))
    counted = [visits(trips, len(data.graph)) for trips in data._by_step[steps]]
    return np.asarray(np.sum(counted, axis=0), dtype=np.int64)


def length_histogram(trips: Paths, cap: int) -> Int:
    """Trips of 1, 2, … ``cap`` edges; longer ones count as ``cap``: private, int64 (cap,).

    One trip is in one bin: adding one changes the histogram by 1 in L1, replacing one by 2.
    """
    length = trips.length[trips.length > 0]
    return np.bincount(np.minimum(length, cap) - 1, minlength=cap).astype(np.int64)


def visits(trips: Paths, edges: int) -> Int:
    """Trips that contain each edge, each trip once: private, int64 (edges,)."""
    key = distinct_keys(trips.owner * edges + trips.edge)
    return np.bincount(key % edges, minlength=edges).astype(np.int64)


def truncated(trips: Paths, limit: int, noise: Noise, pick: str = "window") -> Paths:
    """Each trip cut to at most ``limit`` edges, independently of every other trip.

    Args:
        limit: most edges kept of one trip, so that it moves at most that many counts by one.
        pick: a "window" of consecutive edges, uniformly placed, or "random" edges of the trip.
    """
    length, item = trips.length, trips.place
    if pick == "window":
        begin = uniform_below(noise, np.maximum(length - limit, 0) + 1)
        since = item - np.repeat(begin, length)
        staying = (since >= 0) & (since < limit)
    else:
        order = np.lexsort([noise.words(len(item)), trips.owner])
        staying = np.zeros(len(item), dtype=np.bool_)
        staying[order] = item < limit  # both are grouped by trip
    return trips.only(staying)


def normalised_visits(trips: Paths, edges: int, unit: int) -> Int:
    """Visits, each weighted ⌊unit / distinct edges of the trip⌋: private, int64 (edges,).

    One trip adds at most ``unit`` in all.
    """
    key = distinct_keys(trips.owner * edges + trips.edge)
    distinct = np.bincount(key // edges, minlength=len(trips))
    weight = (unit // np.maximum(distinct, 1))[key // edges]
    return np.bincount(key % edges, weights=weight, minlength=edges).astype(np.int64)


def sampled_visits(trips: Paths, edges: int, noise: Noise) -> Int:
    """Visits when every trip keeps one random edge: private, int64 (edges,), sensitivity 1."""
    return visits(truncated(trips, 1, noise), edges)


def _split_by_step(trips: Paths, step: Int, count: int) -> tuple[Paths, tuple[Paths, ...]]:
    """The trips that start in any step, and the trips of each step; step −1 means none."""
    order = np.argsort(step, kind="stable")
    cuts = np.searchsorted(step[order], np.arange(count + 1))
    rows = [order[low:high] for low, high in pairwise(cuts.tolist())]
    inside = order[cuts[0] : cuts[-1]]
    return trips.take(inside), tuple(_canonical(trips.take(each)) for each in rows)


def _canonical(trips: Paths) -> Paths:
    """The nonempty trips in canonical order, independent of their input order."""
    driven = trips.take(np.flatnonzero(trips.length > 0))
    keys: Sequence[bytes] = [driven[row].astype(">i4").tobytes() for row in range(len(driven))]
    return driven.take(np.array(sorted(range(len(driven)), key=keys.__getitem__), dtype=np.int64))
