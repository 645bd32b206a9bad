"""RoadRelease: estimates of trips over a road graph, and what the release says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpviz.checks import require
from dpviz.errors import DomainError, ParameterError
from dpviz.lazy import geopandas, pa
from dpviz.releases.header import Header
from dpviz.releases.release import Release
from dpviz.releases.roads import columns
from dpviz.releases.roads.path_count import PathAnswers, path_count
from dpviz.roads.estimates import RoadEstimates
from dpviz.roads.paths import Paths

EVENTS = "events"
"""What records are called that are trips of one edge, that of the street nearest to their place."""


@dataclass(frozen=True, eq=False, repr=False)
class RoadRelease(RoadEstimates, Release):
    """Estimates over a road graph.

    Attributes:
        header: method, guarantee, budget; ``extra`` holds what the method learnt privately.
    """

    kind: ClassVar[str] = "roads"

    header: Header

    @property
    def records(self) -> str:
        """What is counted: trips, or events at places."""
        counted: str = self.header.extra.get("counted", "trips")
        return counted

    @property
    def limit(self) -> int | None:
        """L: edges kept of one trip; None for methods without one."""
        limit: int | None = self.header.extra.get("limit")
        return limit

    def count(self, queries: Paths, period: Any = None) -> PathAnswers:
        """Totals of trips over the edges of paths; an edge used twice counts twice.

        Args:
            queries: the paths.
            period: of a release with time, as :meth:`TimedRoadRelease.during` takes it.

        Raises:
            ParameterError: no paths.
            DataError: a sequence that is empty or not a path.
            DomainError: a period, of a release without time or not of whole steps.
        """
        require(queries, Paths, "queries", ParameterError)
        return path_count(self if period is None else self.during(period), queries)

    def during(self, period: Any) -> RoadRelease:
        """Of a release with time the part in a period.

        Raises:
            DomainError: this release has no time.
        """
        raise DomainError(f"period {period!r}: this release has no time, leave the period out")

    def to_geopandas(self) -> geopandas.GeoDataFrame:
        """One row per edge: line, ids, length, sub-domain, count and the sd of its noise."""
        return columns.to_geopandas(self)

    def to_arrow(self) -> pa.Table:
        """The table that :meth:`save` writes: a row per edge, then a row per tree node."""
        return columns.to_columns(self, self.header)
