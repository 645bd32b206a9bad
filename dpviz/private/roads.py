"""RoadData: an opaque handle on private trips, and the exact counts that only mechanisms see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from dpviz.errors import DataError
from dpviz.private.handle import Handle
from dpviz.private.mechanisms.noise import Noise
from dpviz.releases.roads.release import RoadRelease
from dpviz.roads.graph import Int, RoadGraph
from dpviz.roads.paths import Paths


class RoadData(Handle[RoadRelease]):
    """A handle on trips.

    Attributes:
        graph: the public road graph.

    Raises:
        DataError: a trip off the graph, or a bound below 1.
    """

    kind: ClassVar[str] = "roads"
    records: ClassVar[str] = "trips"

    def __init__(
        self,
        name: str,
        graph: RoadGraph,
        trips: Paths,
        *,
        public: bool = False,
        unit: str = "one trip",
        max_per_unit: int = 1,
        names: tuple[str, ...] = (),
    ) -> None:
        if len(trips.edge) and (trips.edge.min() < 0 or trips.edge.max() >= len(graph)):
            raise DataError("a trip names an edge that the road graph lacks: use its edges")
        super().__init__(name, public=public, unit=unit, max_per_unit=max_per_unit, names=names)
        self.graph = graph
        self.__trips = _canonical(trips)

    @property
    def _trips(self) -> Paths:
        return self.__trips

    @property
    def _frame(self) -> str:
        return f"{len(self.graph):,} edges"


def exact_visits(data: RoadData) -> Int:
    """Trips that contain each edge, int64 (m,), for public data only.

    Raises:
        PrivacyError: the data set is not declared public.
    """
    data.require_public()
    return visits(data._trips, len(data.graph))


def length_histogram(trips: Paths, cap: int) -> Int:
    """Trips of 1, 2, … ``cap`` edges, the last including longer ones: private, int64 (cap,).

    One trip is in one bin: adding one changes the histogram by 1 in L1, replacing one by 2.
    """
    length = trips.length[trips.length > 0]
    return np.bincount(np.minimum(length, cap) - 1, minlength=cap).astype(np.int64)


def visits(trips: Paths, edges: int) -> Int:
    """Trips that contain each edge, however often: private, int64 (edges,)."""
    key = np.unique(trips.owner * edges + trips.edge)
    return np.bincount(key % edges, minlength=edges).astype(np.int64)


def truncated(trips: Paths, limit: int, noise: Noise, pick: str = "window") -> Paths:
    """Each trip cut to at most ``limit`` edges, independently of every other trip.

    Args:
        trips: any trips.
        limit: most edges kept of one trip, so that it moves at most that many counts by one.
        noise: the source of the random choices.
        pick: a "window" of consecutive edges, uniformly placed, or "random" edges of the trip.
    """
    length = trips.length
    item = np.arange(len(trips.edge)) - np.repeat(trips.start[:-1], length)
    if pick == "window":
        slack = np.maximum(length - limit, 0).astype(np.uint64) + np.uint64(1)
        # The remainder of a 64-bit word is uniform but for 2^−64 · slack.
        begin = (noise.words(len(length)) % slack).astype(np.int64)
        since = item - np.repeat(begin, length)
        staying = (since >= 0) & (since < limit)
    else:
        order = np.lexsort([noise.words(len(item)), trips.owner])
        staying = np.zeros(len(item), dtype=np.bool_)
        staying[order] = item < limit  # items and order stand trip by trip
    start = np.concatenate([[0], np.cumsum(np.minimum(length, limit))])
    return Paths(start, trips.edge[staying])


def normalised_visits(trips: Paths, edges: int, unit: int) -> Int:
    """Each trip gives its distinct edges ⌊unit / their number⌋ each: private, int64 (edges,).

    One trip adds at most ``unit`` in all.
    """
    key = np.unique(trips.owner * edges + trips.edge)
    distinct = np.bincount(key // edges, minlength=len(trips))
    weight = (unit // np.maximum(distinct, 1))[key // edges]
    return np.bincount(key % edges, weights=weight, minlength=edges).astype(np.int64)


def sampled_visits(trips: Paths, edges: int, noise: Noise) -> Int:
    """Visits when every trip keeps one random edge: private, int64 (edges,), sensitivity 1."""
    return visits(truncated(trips, 1, noise), edges)


def _canonical(trips: Paths) -> Paths:
    """The trips in an order that does not depend on the order they came in; empty ones dropped."""
    driven = trips.take(np.flatnonzero(trips.length > 0))
    keys: Sequence[bytes] = [driven[row].astype(">i4").tobytes() for row in range(len(driven))]
    return driven.take(np.array(sorted(range(len(driven)), key=keys.__getitem__), dtype=np.int64))
