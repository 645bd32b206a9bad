"""SplitRelease: a release with a part for each kind of records, or for each step of time.

The parts are of disjoint records and the noise of each is its own, so counts and variances add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.domain.attributes import Kinds
from dpviz.errors import ReleaseError
from dpviz.releases.answers import Answers, RangeAnswers, SumAnswers, Timeline, total
from dpviz.releases.axis import Axis, ByKind, ByStep, during
from dpviz.releases.counts import CountRelease, F
from dpviz.releases.header import Header
from dpviz.releases.points.sums import Sums
from dpviz.roads.paths import Paths
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.grid import breadth_first, renumbered
from dpviz.trees.haar import HaarNoise
from dpviz.trees.lattice import Int


class SplitRelease(CountRelease[F]):
    """A release with a part for each kind, or for each step of time.

    It answers as a release of all records does, by sums of its parts: with k parts the standard
    deviation of an answer is about √k times that of one release of all at the same ε.

    Attributes:
        by: the axis along which it is split.
        frame: of all records; those of parts lack the kinds.
        sums: None also where there are values: each part has those of its nodes.
    """

    by: Axis
    _parts: tuple[CountRelease[F], ...]
    _alike: bool
    """True if the trees of all parts have the same boxes."""

    def __init__(
        self,
        by: Axis,
        trees: Sequence[tuple[F, Decomposition, Sums | None]],
        header: Header,
    ) -> None:
        if len(trees) != len(by):
            raise ReleaseError(f"{len(trees)} trees: expected one for each {by.column}")
        extras = by.extras(header.extra)
        parts = tuple(
            CountRelease(frame, nodes, replace(header, extra=extra), sums)
            for (frame, nodes, sums), extra in zip(trees, extras, strict=True)
        )
        alike = all(same_boxes(parts[0].nodes, part.nodes) for part in parts[1:])
        frame: Any = parts[0].frame.common([part.frame for part in parts], alike)
        if isinstance(by, ByKind):
            frame = replace(frame, domain=replace(frame.domain, kinds=by.kinds))
        stated = {"by": by, "header": header, "frame": frame, "_parts": parts, "_alike": alike}
        vars(self).update(stated)

    @property
    def parts(self) -> tuple[CountRelease[F], ...]:
        """One release for each kind or step."""
        return self._parts

    def only(self, kinds: Sequence[str]) -> CountRelease[F]:
        """The release of some of the kinds."""
        if not isinstance(self.by, ByKind):
            return super().only(kinds)
        listed = ByKind(Kinds(self.by.kinds.column, tuple(kinds)))
        return SplitRelease(listed, list(map(_tree, map(self.of, kinds))), self.header)

    @cached_property
    def nodes(self) -> Decomposition:
        """Nodes of all parts together, for maps; answers come from the trees of each part.

        Where all trees have the same boxes, their columns are added up; otherwise the frame merges
        them.
        """
        if not self._alike:
            return self.frame.together(self)
        first = self.parts[0].nodes
        each = [part.nodes.columns for part in self.parts]
        columns: dict[str, Any] = {
            name: np.sum([part[name] for part in each], axis=0)
            for name in ("count", "variance", "measured")
            if name in each[0]
        }
        if first.assumed is not None:  # parts are uneven in the same places, so sds add up
            columns["assumed"] = np.sum([np.sqrt(part["assumed"]) for part in each], axis=0) ** 2
        return first.replace(**columns)

    @cached_property
    def noise(self) -> HaarNoise | None:
        """Exact noise of sums of nodes in all parts: independent noise on one grid adds up."""
        alone = self.parts[0].noise
        return alone and replace(alone, variance=alone.variance * len(self.parts))

    def answers_to(self, questions: Any) -> RangeAnswers:
        """Sum of the answers of all parts."""
        return total([part.answers_to(questions) for part in self.parts])

    @cached_property
    def answers(self) -> Answers:
        """Counts of all cells, areas or streets, over all parts."""
        if self.kind == "points":  # parts have different cells
            return self.frame.answers(self.nodes)
        return total([part.answers for part in self.parts])

    def sum_boxes(self, lo: Int, hi: Int) -> SumAnswers:
        """Estimated sums of values in lattice boxes, over all parts."""
        return total([part.sum_boxes(lo, hi) for part in self.parts])

    def timeline(self, query: Any = None, every: str | None = None, period: Any = None) -> Timeline:
        """Estimated records step by step; split by time, each step's own release answers."""
        if not isinstance(self.by, ByStep):
            return super().timeline(query, every, period)
        steps = self.by.steps if period is None else self.by.steps.during(period)
        given = Paths.of([query]) if self.kind == "roads" else query
        asked = self.frame.questions(self.domain.bounds if given is None else given)
        each = [part.answers_to(asked) for part in self.parts[self.by.steps.rows(steps)]]
        columns = {
            name: np.concatenate([vars(one)[name] for one in each]) for name in vars(each[0])
        }
        ends = steps.calendar.stamps(steps.edges)
        return Timeline(**columns, start=ends[:-1], end=ends[1:])

    def during(self, period: Any) -> CountRelease[F]:
        """The part in a period: the release of one step, or the sum of several steps."""
        if not isinstance(self.by, ByStep):
            return super().during(period)
        by, rows, extra = during(self.by, self.header.extra, period)
        chosen = self.parts[rows]
        if len(chosen) == 1:
            return chosen[0]
        return SplitRelease(by, list(map(_tree, chosen)), replace(self.header, extra=extra))

    @cached_property
    def side_by_side(self) -> Decomposition:
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
        rest: dict[str, Any] = {
            name: np.concatenate([nodes.columns[name] for nodes in each])[order]
            for name in each[0].columns
            if name != "parent"
        }
        return Decomposition(**rest, parent=renumbered(parent, order))


def count_release(
    by: Axis | None, trees: Sequence[tuple[F, Decomposition, Sums | None]], header: Header
) -> CountRelease[F]:
    """A release of one tree, or of one tree for each part of an axis."""
    if by is not None:
        return SplitRelease(by, trees, header)
    ((frame, nodes, sums),) = trees
    return CountRelease(frame, nodes, header, sums)


def same_boxes(one: Decomposition, other: Decomposition) -> bool:
    """Return whether two trees have the same boxes and parents."""
    names = ("parent", "lo", "hi")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def _tree(release: CountRelease[F]) -> tuple[F, Decomposition, Sums | None]:
    return release.frame, release.nodes, release.sums
