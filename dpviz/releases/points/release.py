"""PointRelease: a decomposition with estimates, its public domain and what it says of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from dpviz.domain import Domain
from dpviz.errors import DomainError, ReleaseError
from dpviz.lazy import geopandas, pa
from dpviz.releases.header import Header
from dpviz.releases.points import columns
from dpviz.releases.points.quotient import Quotients
from dpviz.releases.points.range_count import RangeAnswers, box_count
from dpviz.releases.points.region_count import Regions, region_count, regions_of
from dpviz.releases.points.sample import sample
from dpviz.releases.points.sums import SumAnswers, Sums, box_sum, mean_of, values_of
from dpviz.releases.points.timeline import Timeline, less, timeline
from dpviz.releases.release import Release
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.haar import HaarNoise
from dpviz.trees.lattice import Float, Int


@dataclass(frozen=True, eq=False, repr=False)
class PointRelease(Release):
    """A decomposition, its public domain and its header; of a domain with values also its sums.

    Attributes:
        during: of a release with time the map of a part of its period, ``release.during(period)``:
            see :mod:`dpviz.releases.points.window`, from which the package sets it.
    """

    kind: ClassVar[str] = "points"
    during: ClassVar[Callable[[PointRelease, Any], PointRelease]]

    domain: Domain
    nodes: Decomposition
    header: Header
    sums: Sums | None = None

    def __post_init__(self) -> None:
        if self.nodes.dims != self.domain.dims:
            raise ReleaseError(f"{self.nodes.dims}-D nodes in a {self.domain.dims}-D domain")
        if (self.nodes.lo < 0).any() or (self.nodes.hi > self.domain.side).any():
            raise ReleaseError("nodes outside the domain's lattice")
        if (self.sums is None) != (self.domain.values is None):
            raise ReleaseError("sums and a clip of values go together")
        if self.sums is not None:
            self.sums.checked(self.nodes)
        _ = self.noise  # a header that does not fit the nodes is refused here

    @cached_property
    def noise(self) -> HaarNoise | None:
        """The exact noise of sums of nodes, where the header states one."""
        return HaarNoise.stated(self.header.noise, self.domain.side, self.nodes.lo, self.nodes.hi)

    def count(
        self, queries: ArrayLike, period: Any = None, kind: str | None = None
    ) -> RangeAnswers:
        """Estimated records in rectangles.

        Args:
            queries: shape (q, 2·dims) or (2·dims,), in the domain's CRS: all lower limits, then all
                upper limits (2-D: west, south, east, north). The part outside the domain is cut.
                Of a release with time also (q, 4): places alone.
            period: of a release with time: start and end (exclusive), in ISO 8601 (UTC unless it
                says otherwise), Python dates or seconds since 1970; all of it by default.
            kind: of a release of several kinds, one of them; all together by default.

        Raises:
            DomainError: a rectangle inside out, not finite or wholly outside the domain; a period
                likewise, or of a release without time; a kind likewise.
        """
        return self.count_boxes(*self._boxes(queries, period, kind))

    def difference(self, queries: ArrayLike, period: Any, other: Any) -> RangeAnswers:
        """How many records more rectangles have in one period than in another, of one release.

        The interval is for the noise of both: see :func:`~dpviz.releases.points.timeline.less`.

        Args:
            queries: as for :meth:`count`.
            period: as for :meth:`count`.
            other: a period likewise, whose count is taken off.

        Raises:
            DomainError: see :meth:`count`.
        """
        return less(self.count(queries, period), self.count(queries, other))

    def sum(self, queries: ArrayLike, period: Any = None, kind: str | None = None) -> SumAnswers:
        """Estimated sums of the clipped values in rectangles; arguments as for :meth:`count`.

        Raises:
            DomainError: a release without values; or as :meth:`count`.
        """
        values_of(self.domain)
        assert self.sums is not None
        return box_sum(self.nodes, self.sums, *self._boxes(queries, period, kind))

    def mean(self, queries: ArrayLike, period: Any = None, kind: str | None = None) -> Quotients:
        """Estimated means of the clipped values in rectangles, with Fieller's 95 % intervals.

        The interval is for the noise and for what cut leaves may cost, an ESTIMATE: of a mean of
        what was CLIPPED to the public limits and rounded to their grid, a bias that no interval
        shows. Where the count is not clear of zero there is no mean, and the interval is the whole
        clip.

        Raises:
            DomainError: as :meth:`sum`.
        """
        counts = self.count(queries, period, kind)
        return mean_of(self.domain, self.sum(queries, period, kind), counts)

    def _boxes(self, queries: ArrayLike, period: Any, kind: str | None) -> tuple[Int, Int]:
        """Lattice boxes of queries; arguments as for :meth:`count`."""
        if kind is not None:
            raise DomainError(f"kind {kind!r} of a release without kinds: leave it out")
        if period is not None or self.domain.time is not None:
            queries = self.domain.over(queries, period)
        return self.domain.boxes(queries)

    def timeline(
        self, rect: ArrayLike | None = None, every: str | None = None, period: Any = None
    ) -> Timeline:
        """Estimated records step by step, of a release with time.

        Args:
            rect: of places (west, south, east, north); the whole domain by default.
            every: a step such as ``1h``, ``1d``, ``1w`` or ``1mo``; one that suits the period by
                default.
            period: as for :meth:`count`.

        Raises:
            DomainError: see :meth:`count`; or no such step, or too many of them.
        """
        return timeline(self.domain, self.nodes, self.noise, rect, every, period)

    def count_boxes(self, lo: Int, hi: Int) -> RangeAnswers:
        """Estimated records in lattice boxes [lo, hi), int64 of shape (q, dims) each."""
        return box_count(self.nodes, self.noise, lo, hi)

    def count_regions(self, regions: Regions | Sequence[Any]) -> RangeAnswers:
        """Estimated records in regions (2-D), or in shapely polygons in the domain's CRS.

        See :mod:`dpviz.releases.points.region_count`; ``region_file`` reads a file.
        """
        if not isinstance(regions, Regions):
            regions = regions_of(regions, self.domain)
        return region_count(self.domain, self.nodes, self.noise, regions)

    def sample(self, n: int | None = None, seed: int | None = None) -> Float:
        """Synthetic points: free of charge; see :mod:`dpviz.releases.points.sample`."""
        return sample(self.domain, self.nodes, n, seed)

    @property
    def table(self) -> columns.Columns:
        """The nodes as files hold them, with what is said of each."""
        return columns.Columns(self.nodes, None, self.sums)

    def to_geopandas(self) -> geopandas.GeoDataFrame:
        """One row per node (2-D): rectangle, level, parent, leaf, count, variance, noise sd.

        With time also ``t0`` and ``t1``, its start and end (UTC).
        """
        return columns.to_geopandas(self.domain, self.table)

    def to_arrow(self) -> pa.Table:
        """The table that :meth:`save` writes: a row per node, breadth-first."""
        return columns.to_columns(self.domain, self.table, self.header)
