"""CountRelease: estimated counts of the nodes of a box, of areas or of streets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Generic

import numpy as np
from numpy.typing import ArrayLike
from typing_extensions import TypeIs, TypeVar

from dpviz.domain import Domain
from dpviz.errors import DomainError, ReleaseError
from dpviz.lazy import geopandas, pa, pd
from dpviz.releases.answers import Answers, RangeAnswers, SumAnswers, Timeline, answers_from
from dpviz.releases.areas.partition import Areas
from dpviz.releases.areas.table import area_timeline, table_of
from dpviz.releases.axis import Axis
from dpviz.releases.comparisons import Comparisons
from dpviz.releases.files import with_header
from dpviz.releases.flows.frame import Flows
from dpviz.releases.flows.table import flow_table
from dpviz.releases.frame import Frame
from dpviz.releases.header import Header
from dpviz.releases.points.box import Box
from dpviz.releases.points.quotient import Quotients, share_of
from dpviz.releases.points.region_count import Regions, regions_of
from dpviz.releases.points.sample import sample
from dpviz.releases.points.sums import Sums, mean_of, sums_in, values_of
from dpviz.releases.points.timeline import step_boxes
from dpviz.releases.release import Release
from dpviz.releases.roads.streets import Streets
from dpviz.roads.paths import Paths
from dpviz.roads.steps import Steps
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.haar import HaarNoise
from dpviz.trees.lattice import Float, Int

F = TypeVar("F", bound=Frame, default=Any)
Pairs = Sequence[tuple[str | None, str | None]]


@dataclass(frozen=True, eq=False, repr=False)
class CountRelease(Comparisons, Release, Generic[F]):
    """Estimated counts of the nodes of a public frame.

    Attributes:
        frame: a box of space and time, a partition into areas, or a network of streets.
        nodes: nodes that divide it, with estimates.
        sums: sums of values in each node; None without values.
        by: the axis along which it is split; None if it has one part.
        map_during: map of a part of the period, of points; the package sets it from
            :mod:`dpviz.releases.points.window`.

    Raises:
        ReleaseError: nodes, sums or a stated noise that do not fit the frame.
    """

    map_during: ClassVar[Callable[[Any, Any], Any]]

    frame: F
    nodes: Decomposition
    header: Header
    sums: Sums | None = None
    by: Axis | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.frame.check(self.nodes)
        values = self.frame.domain.values if self.kind in (Box.kind, Areas.kind) else None
        if (self.sums is None) != (values is None):
            raise ReleaseError("sums and a clip of values require each other: give both")
        if self.sums is not None:
            self.sums.checked(self.nodes)
        _ = self.noise  # refuses a header that does not fit the nodes

    @property
    def kind(self) -> str:
        """Kind of the records, that of the frame."""
        return self.frame.kind

    @property
    def domain(self) -> Domain:
        """The public box of the records.

        Raises:
            DomainError: records on streets.
        """
        return self.frame.domain

    @property
    def parts(self) -> tuple[CountRelease[F], ...]:
        """Releases that add up to this one; itself if it has one part."""
        return (self,)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of the kinds; empty for a release that is not split by kind."""
        return self.by.kinds.names if self.by is not None and self.by.kinds is not None else ()

    @property
    def steps(self) -> Steps | None:
        """Steps of time; None for a release that is not split by time."""
        return None if self.by is None else self.by.steps

    @cached_property
    def noise(self) -> HaarNoise | None:
        """Exact noise of sums of nodes, if the header states one; else None."""
        return self.frame.noise(self.header.noise, self.nodes)

    @property
    def records(self) -> str:
        """Plural noun of what is counted; persons who can be counted several times are visits."""
        counted: str = self.header.extra.get("counted", "trips")
        if self.header.persons:
            return "visits" if self.header.repeated else "persons"
        return counted if self.kind == "roads" else "records"

    @property
    def limit(self) -> int | None:
        """Largest number of edges kept of one trip, L; None for methods without truncation."""
        limit: int | None = self.header.extra.get("limit")
        return limit

    def count(
        self, queries: ArrayLike | Paths | Pairs, period: Any = None, kind: str | None = None
    ) -> RangeAnswers:
        """Estimated records in rectangles, from area to area, or on the edges of paths.

        Args:
            queries: of points and areas rectangles, shape (q, 2·dims) or (2·dims,), in the domain's
                CRS: all lower limits, then all upper limits (2-D: west, south, east, north). The
                part outside the domain is cut. Of a release with time also (q, 4): places alone.
                On streets paths; an edge used twice counts twice. Of flows pairs of names, or None.
            period: period of a release with time: start and end (exclusive), in ISO 8601 (UTC
                unless it says otherwise), Python dates or seconds since 1970; all of it by default.
            kind: kind of a release of several kinds, one of them; all together by default.

        Raises:
            DomainError: a rectangle inside out, not finite or wholly outside the domain; a period
                likewise, or of a release without time; a kind likewise.
            ParameterError: on streets, no paths.
            DataError: a sequence of edges that is empty or not a path.
        """
        if kind is not None:
            return self.of(kind).count(queries, period)
        if period is not None and self.steps is not None:
            return self.during(period).count(queries)
        return self.answers_to(self.frame.questions(queries, period))

    def answers_to(self, questions: Any) -> RangeAnswers:
        """Answers to questions in the frame's form."""
        sums = self.frame.sums(self.nodes, self.noise, questions)
        return answers_from(sums, self.header.interval_sds)

    def count_boxes(self, lo: Int, hi: Int) -> RangeAnswers:
        """Estimated records in lattice boxes [lo, hi), int64 of shape (q, dims) each."""
        return self.answers_to((lo, hi))

    def count_regions(self, regions: Regions | Sequence[Any]) -> RangeAnswers:
        """Estimated records in regions (2-D), or in shapely polygons in the domain's CRS.

        See :mod:`dpviz.releases.points.region_count`; ``region_file`` reads a file.
        """
        if not isinstance(regions, Regions):
            regions = regions_of(regions, self.domain)
        return self.answers_to(regions)

    @cached_property
    def answers(self) -> Answers:
        """The counts of all areas or streets with their 95 % intervals for the noise."""
        return self.frame.answers(self.nodes, self.header.interval_sds)

    def part_rows(self, period: Any = None, kind: str | None = None) -> Int:
        """Rows of the parts of a kind (first axis) in the steps of a period (second axis).

        Raises:
            DomainError: no such kind, or no such steps.
        """
        if kind is not None:
            self.of(kind)
        return np.zeros((1, 1), dtype=np.int64)

    def sum(self, queries: ArrayLike, period: Any = None, kind: str | None = None) -> SumAnswers:
        """Estimated sums of the clipped values in rectangles; arguments as for :meth:`count`.

        Raises:
            DomainError: a release without values; or as :meth:`count`.
        """
        if kind is not None:
            return self.of(kind).sum(queries, period)
        values_of(self.domain)
        if period is not None and self.steps is not None:
            return self.during(period).sum(queries)
        return self.sum_boxes(*self.frame.questions(queries, period))

    def sum_boxes(self, lo: Int, hi: Int) -> SumAnswers:
        """Estimated sums of values in lattice boxes [lo, hi), for a release with values."""
        assert self.sums is not None
        return sums_in(self.frame, self.nodes, self.sums, (lo, hi))

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

    def share(
        self, queries: ArrayLike, kind: str, of: Sequence[str] | None = None, period: Any = None
    ) -> Quotients:
        """Share of one kind among the records in rectangles, with its 95 % interval.

        By Fieller's theorem, for the noise and for what cut leaves may cost: an ESTIMATE, as of
        :class:`~dpviz.releases.answers.RangeAnswers`.

        Args:
            queries: as for :meth:`count`.
            kind: the numerator.
            of: the kinds of the denominator, all by default; ``kind`` is one of them anyway.
            period: as for :meth:`count`.

        Raises:
            DomainError: a kind that is not listed; or as :meth:`count`.
        """
        one = self.count(queries, period, kind)
        names = dict.fromkeys(self.kinds if of is None else of)
        return share_of(one, [self.count(queries, period, name) for name in names if name != kind])

    def timeline(self, query: Any = None, every: str | None = None, period: Any = None) -> Timeline:
        """Estimated records step by step, for a release with time.

        Args:
            query: a rectangle of places (west, south, east, north), the whole domain by default; on
                streets the edges of one path.
            every: a step such as ``1h``, ``1d``, ``1w`` or ``1mo``; one that suits the period by
                default. On streets steps are those of the release.
            period: as for :meth:`count`.

        Raises:
            DomainError: see :meth:`count`; or no such step, or too many of them.
        """
        boxes, ends = step_boxes(self.domain, query, every, period)
        return Timeline(**vars(self.count_boxes(*boxes)), start=ends[:-1], end=ends[1:])

    def timeline_of(self, area: str, period: Any = None) -> Timeline:
        """Estimated records of one area step by step, for a release of areas with time.

        Args:
            area: its name; areas above the finest have one too.
            period: as for :meth:`count`.

        Raises:
            DataError: no area of that name, or several.
            DomainError: a release without steps of time.
        """
        if not is_areas(self) or self.steps is None:
            raise DomainError("this release has no steps of time: build it with every (--every)")
        part = self if period is None else self.during(period)
        return area_timeline(part, part.steps or self.steps.restricted_to(period), area)

    def during(self, period: Any) -> CountRelease[F]:
        """The part of a release in a period: on streets whole steps, of points a map of places.

        See :mod:`dpviz.releases.points.window`.

        Raises:
            DomainError: no axis is time, no such period, or one that cuts a step of streets.
        """
        if not is_points(self):
            raise DomainError(f"period {period!r}: this release has no time, leave the period out")
        return self.map_during(period)  # type: ignore[no-any-return]

    def of(self, kind: str) -> CountRelease[F]:
        """The release of one kind.

        Raises:
            DomainError: no such kind.
        """
        raise DomainError(f"kind {kind!r} of a release without kinds: leave it out")

    def only(self, kinds: Sequence[str]) -> CountRelease[F]:
        """The release of some of the kinds.

        Raises:
            DomainError: one that is not listed, or is given twice.
        """
        raise DomainError("this release has no kinds: leave the kind out")

    def sample(self, n: int | None = None, seed: int | None = None) -> Float:
        """Synthetic points of one of points; costs no ε: :mod:`dpviz.releases.points.sample`."""
        if not is_points(self):
            raise ReleaseError(f"a release of {self.kind} cannot be sampled: give one of points")
        return sample(self.domain, self.nodes, n, seed)

    @property
    def joined_nodes(self) -> Decomposition:
        """The nodes of all parts as one forest, breadth-first."""
        return self.nodes

    def rows(self, level: str | None = "all", *, shapes: bool = True) -> pd.DataFrame:
        """One row per cell, area or street of each part, with its kind or its step of time.

        Args:
            level: see :meth:`Frame.rows`.
            shapes: likewise.
        """
        if self.kind == Flows.kind or (is_areas(self) and self.by is not None):
            return self.table(level, shapes=shapes)
        tables = [part.frame.rows(part, level, shapes=shapes) for part in self.parts]
        if self.by is not None:
            labels = self.by.labels().items()
            tables = [
                rows.assign(**{name: each[at] for name, each in labels})
                for at, rows in enumerate(tables)
            ]
        return pd.concat(tables, ignore_index=True) if len(tables) > 1 else tables[0]

    def table(
        self, level: str | None = "all", *, shapes: bool = False, margins: bool = True
    ) -> pd.DataFrame:
        """One row per area or pair of areas, kind and step: :func:`table_of`, :func:`flow_table`.

        Args:
            level: the name of one level of areas; None for the finest, "all" for all of them.
            shapes: as a GeoDataFrame, with the outline of each area or the line of each pair.
            margins: add the sums over all kinds, over all steps and over both.

        Raises:
            ReleaseError: a release of another kind.
            DataError: no such level.
        """
        table = {Areas.kind: table_of, Flows.kind: flow_table}.get(self.kind)
        if table is None:
            raise ReleaseError(f"a release of {self.kind} has no table: give one of areas or flows")
        return table(self, level, shapes=shapes, margins=margins)

    def to_geopandas(self, level: str | None = "all") -> geopandas.GeoDataFrame:
        """One row per cell, area or street: shape, count, noise sd and labels.

        Args:
            level: level of areas, the name of one; None for the finest, "all" for all of them.

        Raises:
            ReleaseError: the release has no shapes on a map.
            DataError: no such level.
        """
        return self.rows(level)

    def to_arrow(self) -> pa.Table:
        """The table that :meth:`save` writes: one row per node, after the rows of any streets.

        Rows are ordered part by part.
        """
        blocks = [
            pa.table(part.frame.columns(part.nodes, part.sums, first=at == 0))
            for at, part in enumerate(self.parts)
        ]
        table, facts = pa.concat_tables(blocks), self.parts[0].frame.facts()
        columns = dict(zip(table.column_names, table.columns, strict=True))
        if self.by is not None:
            part = np.repeat(np.arange(len(blocks)), list(map(len, blocks)))
            columns |= {name: pa.array(each[part]) for name, each in self.by.labels().items()}
            facts |= self.by.to_dict()
        return with_header(columns, self.kind, self.header, facts, **self.frame.geo())


PointRelease = CountRelease[Box]
AreaRelease = CountRelease[Areas]
RoadRelease = CountRelease[Streets]


def is_points(release: Release) -> TypeIs[PointRelease]:
    """Return whether a release is of points in a box."""
    return release.kind == Box.kind


def is_areas(release: Release) -> TypeIs[AreaRelease]:
    """Return whether a release is of areas."""
    return release.kind == Areas.kind


def domain_of(release: Release) -> Domain | None:
    """The public box of the records; None on streets and for sequences."""
    return release.domain if is_points(release) or is_areas(release) else None


def is_roads(release: Release) -> TypeIs[RoadRelease]:
    """Return whether a release is of trips or events on streets."""
    return release.kind == Streets.kind
