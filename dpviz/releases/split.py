"""SplitRelease: a release with a part for each kind of records in each step of time.

A record is in one part, and the noise of each part is drawn independently: so an answer is the sum
of the answers of the parts, and its variance the sum of their variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpviz.domain.attributes import Kinds
from dpviz.errors import ReleaseError
from dpviz.releases.answers import Answers, RangeAnswers, SumAnswers, Timeline, difference, total
from dpviz.releases.axis import Axis, common_extra
from dpviz.releases.counts import CountRelease, F
from dpviz.releases.header import Header
from dpviz.releases.points.sums import Sums
from dpviz.roads.paths import Paths
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.grid import breadth_first, renumbered
from dpviz.trees.haar import HaarNoise
from dpviz.trees.lattice import Int


class SplitRelease(CountRelease[F]):
    """A release with a part for each kind, for each step of time, or for each kind in each step.

    It answers as a release of all records does, by sums of its parts: with k parts the standard
    deviation of an answer is about √k times that of one release of all at the same ε.

    Attributes:
        by: the axis along which it is split.
        parts: one release for each part, in the order of the axis.
        frame: of all records; its domain states the kinds, which those of the parts lack.
        sums: always None; each part has the sums of its nodes.
    """

    by: Axis
    _parts: tuple[CountRelease[F], ...]
    _same_boxes: bool
    """True if the trees of all parts have the same boxes."""

    def __init__(
        self, by: Axis, trees: Sequence[tuple[F, Decomposition, Sums | None]], header: Header
    ) -> None:
        if len(trees) != len(by):
            raise ReleaseError(f"{len(trees)} trees for {by}: expected {len(by)}")
        parts = tuple(
            CountRelease(frame, nodes, replace(header, extra=extra), sums)
            for (frame, nodes, sums), extra in zip(trees, by.extras(header.extra), strict=True)
        )
        same = all(same_boxes(parts[0].nodes, part.nodes) for part in parts[1:])
        frame: Any = parts[0].frame.sum_frame([part.frame for part in parts], same)
        if by.kinds is not None and "domain" in vars(frame):
            frame = replace(frame, domain=replace(frame.domain, kinds=by.kinds))
        fields = {"by": by, "header": header, "frame": frame, "_parts": parts, "_same_boxes": same}
        vars(self).update(fields)  # assigns although the class is frozen

    @property
    def parts(self) -> tuple[CountRelease[F], ...]:
        """One release for each part, in the order of the axis."""
        return self._parts

    def answers_to(self, questions: Any) -> RangeAnswers:
        """Sum of the answers of all parts."""
        return total([part.answers_to(questions) for part in self.parts], self.header.interval_sds)

    def sum_boxes(self, lo: Int, hi: Int) -> SumAnswers:
        """Estimated sums of values in lattice boxes, over all parts."""
        return total([part.sum_boxes(lo, hi) for part in self.parts])

    @cached_property
    def answers(self) -> Answers:
        """Counts of all cells, areas or streets, over all parts."""
        if self.kind == "points":  # parts have different cells
            return self.frame.answers(self.nodes, self.header.interval_sds)
        return total([part.answers for part in self.parts], self.header.interval_sds)

    def of(self, kind: str) -> CountRelease[F]:
        """The release of one kind.

        Raises:
            DomainError: no such kind.
        """
        if self.by.kinds is None:
            return super().of(kind)
        row = self.by.kinds.number(kind)
        return self._selected(replace(self.by, kinds=None), self.by.rows[[row]])

    def part_rows(self, period: Any = None, kind: str | None = None) -> Int:
        """Rows of the parts of a kind (first axis) in the steps of a period (second axis)."""
        rows = self.by.rows
        if kind is not None:
            if self.by.kinds is None:
                return super().part_rows(period, kind)
            rows = rows[[self.by.kinds.number(kind)]]
        if period is not None and self.by.steps is not None:
            rows = rows[:, self.by.steps.rows(self.by.steps.restricted_to(period))]
        return rows

    def difference(self, queries: ArrayLike, period: Any, other: Any) -> RangeAnswers:
        """Records in one period minus those in another; parts in both periods cancel."""
        if self.by.steps is None:
            return total([part.difference(queries, period, other) for part in self.parts])
        one, two = self.part_rows(period), self.part_rows(other)
        asked = self.frame.questions(queries)
        none = self.parts[0].answers_to(asked)
        none = replace(none, **{name: 0 * column for name, column in vars(none).items()})
        first, second = (
            total(
                [none, *(self.parts[row].answers_to(asked) for row in rows)],
                self.header.interval_sds,
            )
            for rows in (np.setdiff1d(one, two), np.setdiff1d(two, one))
        )
        return RangeAnswers(
            **vars(difference(first, second, np.zeros(len(first)))),
            uniformity_sd=first.uniformity_sd + second.uniformity_sd,
            nodes=first.nodes + second.nodes,
        )

    def only(self, kinds: Sequence[str]) -> CountRelease[F]:
        """The release of some of the kinds."""
        if self.by.kinds is None:
            return super().only(kinds)
        listed = Kinds(self.by.kinds.column, tuple(kinds))
        rows = list(map(self.by.kinds.number, kinds))
        return self._selected(replace(self.by, kinds=listed), self.by.rows[rows])

    def during(self, period: Any) -> CountRelease[F]:
        """The release of the steps in a period; of one step, it is not split by time."""
        if self.by.steps is None:
            return super().during(period)
        steps = self.by.steps.restricted_to(period)
        rows = self.by.rows[:, self.by.steps.rows(steps)]
        return self._selected(replace(self.by, steps=steps if len(steps) > 1 else None), rows)

    def _selected(self, by: Axis, rows: Int) -> CountRelease[F]:
        """The release of some parts, with its axis; a lone part without an axis is itself."""
        parts = [self.parts[row] for row in rows.ravel().tolist()]
        if by == Axis():
            return parts[0]
        labels = {"kind"} if by.kinds is not None else set()
        labels |= {"period"} if by.steps is not None else set()
        extras = [
            {name: value for name, value in part.header.extra.items() if name not in labels}
            for part in parts
        ]
        trees = [(part.frame, part.nodes, part.sums) for part in parts]
        return SplitRelease(by, trees, replace(self.header, extra=common_extra(extras)))

    def timeline(self, query: Any = None, every: str | None = None, period: Any = None) -> Timeline:
        """Estimated records step by step; split by time, the sum of the parts of each step."""
        if self.by.steps is None:
            return super().timeline(query, every, period)
        steps = self.by.steps if period is None else self.by.steps.restricted_to(period)
        if self.kind == "roads":
            query = Paths.of([query])
        asked = self.frame.questions(self.frame.everything if query is None else query)
        each = [
            total([self.parts[row].answers_to(asked) for row in rows], self.header.interval_sds)
            for rows in self.by.rows.T[self.by.steps.rows(steps)].tolist()
        ]
        columns = {
            name: np.concatenate([vars(answers)[name] for answers in each])
            for name in vars(each[0])
        }
        ends = steps.calendar.stamps(steps.edges)
        return Timeline(**columns, start=ends[:-1], end=ends[1:])

    @cached_property
    def nodes(self) -> Decomposition:
        """Nodes of all parts together, for maps; answers come from the trees of each part.

        Where all trees have the same boxes, their columns are added up; otherwise the frame merges
        them.
        """
        if not self._same_boxes:
            return self.frame.common_nodes(self)
        first = self.parts[0].nodes
        each = [part.nodes.columns for part in self.parts]
        columns: dict[str, Any] = {
            name: np.sum([part[name] for part in each], axis=0)
            for name in ("count", "variance", "measured")
            if name in each[0]
        }
        # Errors from uneven cells are not independent between parts, so sds add up.
        if first.assumed is not None:
            columns["assumed"] = np.sum([np.sqrt(part["assumed"]) for part in each], axis=0) ** 2
        return first.replace(**columns)

    @cached_property
    def noise(self) -> HaarNoise | None:
        """Exact noise of sums of nodes in all parts: independent noise on one grid adds up."""
        alone = self.parts[0].noise
        return alone and replace(alone, variance=alone.variance * len(self.parts))

    @cached_property
    def joined_nodes(self) -> Decomposition:
        """Nodes of all parts as one forest, breadth-first."""
        each = [part.nodes for part in self.parts]
        starts = np.cumsum([0, *map(len, each[:-1])])
        parent = np.concatenate(
            [
                np.where(nodes.parent < 0, -1, nodes.parent + start)
                for nodes, start in zip(each, starts, strict=True)
            ]
        )
        order = breadth_first(parent)
        columns: dict[str, Any] = {
            name: np.concatenate([nodes.columns[name] for nodes in each])[order]
            for name in each[0].columns
            if name != "parent"
        }
        return Decomposition(**columns, parent=renumbered(parent, order))


def count_release(
    by: Axis | None, trees: Sequence[tuple[F, Decomposition, Sums | None]], header: Header
) -> CountRelease[F]:
    """A release of one tree (``by`` None), or of a tree for each part of an axis, in its order."""
    if by is not None:
        return SplitRelease(by, trees, header)
    ((frame, nodes, sums),) = trees
    return CountRelease(frame, nodes, header, sums)


def same_boxes(one: Decomposition, other: Decomposition) -> bool:
    """Return whether two trees have the same boxes and parents."""
    names = ("parent", "lo", "hi")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
