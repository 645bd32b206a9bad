"""Releases of records of several kinds: a tree for each kind, and what they say together.

Kinds are disjoint and the noise of each tree is its own, so counts and variances add up. The tree
of all kinds, for a map, is made from those of each: post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpviz.domain import Domain
from dpviz.domain.attributes import Kinds
from dpviz.errors import DomainError, ReleaseError
from dpviz.releases.header import Header
from dpviz.releases.points import columns
from dpviz.releases.points.quotient import Quotients, quotients
from dpviz.releases.points.range_count import RangeAnswers, answers_from, shared_variance
from dpviz.releases.points.region_count import Regions, regions_of
from dpviz.releases.points.release import PointRelease
from dpviz.releases.points.sums import SumAnswers, Sums, added
from dpviz.releases.points.timeline import Timeline
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.grid import breadth_first, grid_tree, rectangle_tree, renumbered
from dpviz.trees.haar import HaarNoise
from dpviz.trees.lattice import Float, Int, grid_edges

CELLS = 64
"""Per side of the grid that stands for all kinds where their cells together are no tree."""


class KindsRelease(PointRelease):
    """A release of each kind of a public list, and of all of them together.

    It answers as a release of all records does; :meth:`of` is the release of one kind.

    Attributes:
        releases: one of each kind, in the order of ``domain.kinds``.
        sums: None also where there are values: each kind's release has those of its nodes.
    """

    releases: tuple[PointRelease, ...]

    def __init__(
        self,
        domain: Domain,
        trees: Sequence[tuple[Decomposition, Sums | None]],
        header: Header,
    ) -> None:
        kinds = domain.kinds
        if kinds is None or len(trees) != len(kinds.names):
            raise ReleaseError(f"{len(trees)} trees: expected one for each kind")
        headers = (replace(header, extra={**header.extra, "kind": name}) for name in kinds.names)
        of_each = (
            PointRelease(domain.of_one_kind, nodes, about, sums)
            for (nodes, sums), about in zip(trees, headers, strict=True)
        )
        for name, value in (("domain", domain), ("header", header), ("releases", tuple(of_each))):
            object.__setattr__(self, name, value)

    @property
    def names(self) -> tuple[str, ...]:
        """The kinds."""
        assert self.domain.kinds is not None
        return self.domain.kinds.names

    def of(self, kind: str) -> PointRelease:
        """The release of one kind.

        Raises:
            DomainError: it is not listed.
        """
        assert self.domain.kinds is not None
        return self.releases[self.domain.kinds.number(kind)]

    def only(self, kinds: Sequence[str]) -> KindsRelease:
        """The release of some of the kinds.

        Raises:
            DomainError: one that is not listed, or is given twice.
        """
        assert self.domain.kinds is not None
        listed = Kinds(self.domain.kinds.column, tuple(kinds))
        trees = [(part.nodes, part.sums) for part in map(self.of, kinds)]
        return KindsRelease(replace(self.domain, kinds=listed), trees, self.header)

    @cached_property
    def nodes(self) -> Decomposition:
        """All kinds together: one tree where those of all kinds are of the same boxes. Otherwise in
        2-D a tree of the boxes of all where those nest, or a grid; in more dimensions the trees of
        all kinds side by side.
        """
        each = [part.nodes for part in self.releases]
        first = each[0]
        if all(_same_boxes(first, nodes) for nodes in each[1:]):
            added = {
                name: np.sum([nodes.columns[name] for nodes in each], axis=0)
                for name in ("count", "variance")
            }
            if first.assumed is not None:
                added["assumed"] = _together([nodes.columns["assumed"] for nodes in each])
            return first.replace(**added)
        every = self.table.nodes
        if self.domain.dims != 2:
            return every
        seen = rectangle_tree(np.hstack([every.lo, every.hi]), every.parent.astype(np.int64))
        if seen is None:
            edges = [grid_edges(self.domain.side, CELLS)] * 2
            empty = np.zeros((CELLS, CELLS))
            grid = grid_tree(edges, empty, empty)
            lo, hi, parent = grid.lo, grid.hi, grid.parent
        else:
            corner, parent = seen
            lo, hi = corner[:, :2], corner[:, 2:]
        answers = self.count_boxes(lo, hi)
        shared = shared_variance(every, every.variance, lo, hi)
        variance = np.maximum(shared, answers.noise_sd**2)
        assumed = None if every.assumed is None else answers.uniformity_sd**2
        return Decomposition(lo, hi, parent, answers.count, variance, assumed)

    @cached_property
    def noise(self) -> HaarNoise | None:
        """See the base: independent noise on one grid adds up."""
        alone = self.releases[0].noise
        return alone and replace(alone, variance=alone.variance * len(self.releases))

    def count(
        self, queries: ArrayLike, period: Any = None, kind: str | None = None
    ) -> RangeAnswers:
        """See the base; of all kinds together by default."""
        if kind is not None:
            return self.of(kind).count(queries, period)
        return _sum([part.count(queries, period) for part in self.releases])

    def sum(self, queries: ArrayLike, period: Any = None, kind: str | None = None) -> SumAnswers:
        """See the base; of all kinds together by default."""
        if kind is not None:
            return self.of(kind).sum(queries, period)
        return added([part.sum(queries, period) for part in self.releases])

    def count_boxes(self, lo: Int, hi: Int) -> RangeAnswers:
        """See the base."""
        return _sum([part.count_boxes(lo, hi) for part in self.releases])

    def count_regions(self, regions: Regions | Sequence[Any]) -> RangeAnswers:
        """See the base."""
        if not isinstance(regions, Regions):
            regions = regions_of(regions, self.domain)
        return _sum([part.count_regions(regions) for part in self.releases])

    def regions_by_kind(self, regions: Regions) -> dict[str, tuple[RangeAnswers, Quotients]]:
        """Of each kind its counts in regions, and its shares of all kinds there."""
        every = {name: self.of(name).count_regions(regions) for name in self.names}
        return {
            name: (counts, share_of(counts, [every[other] for other in every if other != name]))
            for name, counts in every.items()
        }

    def timeline(
        self, rect: ArrayLike | None = None, every: str | None = None, period: Any = None
    ) -> Timeline:
        """See the base."""
        lines = [part.timeline(rect, every, period) for part in self.releases]
        return Timeline(**vars(_sum(lines)), start=lines[0].start, end=lines[0].end)

    def share(
        self, queries: ArrayLike, kind: str, of: Sequence[str] | None = None, period: Any = None
    ) -> Quotients:
        """The share of one kind of the records in rectangles, with its 95 % interval.

        By Fieller's theorem, for the noise and for what cut leaves may cost: an ESTIMATE, as of
        :class:`~dpviz.releases.points.range_count.RangeAnswers`.

        Args:
            queries: as for :meth:`count`.
            kind: the numerator.
            of: the kinds of the denominator, all by default; ``kind`` is one of them anyway.
            period: as for :meth:`count`.

        Raises:
            DomainError: a kind that is not listed; or as :meth:`count`.
        """
        one = self.count(queries, period, kind)
        names = dict.fromkeys(self.names if of is None else of)
        rest = [self.count(queries, period, name) for name in names if name != kind]
        return share_of(one, rest)

    @cached_property
    def table(self) -> columns.Columns:
        """See the base: the nodes of all kinds, breadth-first."""
        each = [part.nodes for part in self.releases]
        sizes = [len(nodes) for nodes in each]
        starts = np.cumsum([0, *sizes[:-1]])
        parents = [
            np.where(nodes.parent < 0, -1, nodes.parent + start)
            for nodes, start in zip(each, starts, strict=True)
        ]
        parent = np.concatenate(parents)
        order = breadth_first(parent)
        rest: dict[str, Any] = {
            name: np.concatenate([nodes.columns[name] for nodes in each])[order]
            for name in each[0].columns
            if name != "parent"
        }
        kind = np.repeat(np.arange(len(each)), sizes)[order]
        nodes = Decomposition(**rest, parent=renumbered(parent, order))
        every = [part.sums for part in self.releases if part.sums is not None]
        sums = None
        if every:
            sums = Sums(
                *(
                    np.concatenate([getattr(each, name) for each in every])[order]
                    for name in ("sum", "variance")
                )
            )
        return columns.Columns(nodes, kind, sums)


def release_of(domain: Domain, content: columns.Columns, header: Header) -> PointRelease:
    """A release from the columns of a file.

    Args:
        domain: its public frame.
        content: what it says of each node.
        header: of the release.

    Raises:
        ReleaseError: a node of another kind than its parent, or a kind without a node.
    """
    nodes, kind, sums = content
    if kind is None or domain.kinds is None:
        return PointRelease(domain, nodes, header, sums)
    if sums is not None:
        sums.checked(nodes)
    child = np.flatnonzero(nodes.parent >= 0)
    if (kind[child] != kind[nodes.parent[child]]).any():
        raise ReleaseError("a node is of another kind than its parent")
    of_each = (kind == number for number in range(len(domain.kinds.names)))
    trees = [
        (nodes.select(at), None if sums is None else Sums(sums.sum[at], sums.variance[at]))
        for at in of_each
    ]
    return KindsRelease(domain, trees, header)


def share_of(one: RangeAnswers, rest: Sequence[RangeAnswers]) -> Quotients:
    """The share of one kind's counts, of those of it and of other kinds.

    Each count errs by noise and by cut leaves, independently of the other kinds: where these lie
    alike in a leaf, shares stay as they are, and the interval is wider than need be.
    """
    variances = [each.noise_sd**2 + each.uniformity_sd**2 for each in (one, *rest)]
    total = np.sum([each.count for each in (one, *rest)], axis=0)
    of_one, of_all = variances[0], np.sum(variances, axis=0)
    return quotients(one.count, total, (of_one, of_all, of_one), limits=(0.0, 1.0))


def _same_boxes(one: Decomposition, other: Decomposition) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("parent", "lo", "hi")
    )


def _sum(every: Sequence[RangeAnswers]) -> RangeAnswers:
    """Answers on disjoint records with noise of their own, added up.

    Noise is independent. How unevenly records lie in the cells that an edge cuts is not: kinds
    share streets and towns, so the standard deviations of that add up.
    """
    count, noise, spread, nodes = (
        np.array([getattr(each, name) for each in every], dtype=np.float64)
        for name in ("count", "noise_sd", "uniformity_sd", "nodes")
    )
    columns = [count.sum(axis=0), (noise**2).sum(axis=0), _together(spread**2)]
    return answers_from(np.column_stack([*columns, nodes.sum(axis=0)]))


def _together(variances: ArrayLike) -> Float:
    """The variance of a sum whose parts (k, n) move together: their standard deviations add up."""
    return np.asarray(np.sqrt(variances).sum(axis=0) ** 2)


def require_kinds(release: PointRelease) -> KindsRelease:
    """The release, if it is one of kinds.

    Raises:
        DomainError: it is not.
    """
    if not isinstance(release, KindsRelease):
        raise DomainError("this release has no kinds: leave the kind out")
    return release
