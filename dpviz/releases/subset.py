"""Subset: the records of one count, and the weighted nodes that answer it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.errors import DataError, DomainError, ParameterError
from dpviz.releases.points.range_count import Cover, sums_of
from dpviz.roads.paths import Paths
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int


@dataclass(frozen=True, eq=False)
class Subset:
    """The records of one count.

    Attributes:
        place: of areas a name (``PARENT/NAME`` where several have it) or a rectangle; of points a
            rectangle; of streets the edge rows of one path; the whole domain by default.
        period: as for :meth:`CountRelease.count`; all of it by default.
        kind: one of the kinds; all together by default.
    """

    place: Any = None
    period: Any = None
    kind: str | None = None


def leaf_weights(nodes: Decomposition, cover: Cover) -> Float:
    """Weight of each leaf in the one sum of a cover, 0 for inner nodes, (n,)."""
    weight = np.bincount(cover.node, cover.share, minlength=len(nodes))
    for part in nodes.levels[1:]:
        weight[part] += weight[nodes.parent[part]]
    return np.where(nodes.leaf, weight, 0.0)


@dataclass(frozen=True)
class PartAnswer:
    """One count in one part: its noise variance, its uniformity error, the nodes that answer."""

    count: float
    variance: float
    uniformity_sd: float
    cover: Cover


def answer_to(part: Any, place: Any, period: Any, covers: dict[int, Cover]) -> PartAnswer:
    """Count one place in one part of a release.

    Raises DpvizError: a place that the frame does not know, or several places.

    Args:
        place: see :class:`Subset`.
        period: of points with time.
        covers: answers that parts of the same areas share, by the identity of the place.
    """
    nodes, frame = part.nodes, part.frame
    if frame.kind == "areas":
        if id(place) not in covers:
            covers[id(place)] = _cover_of_areas(frame, nodes, place, period)
        cover = covers[id(place)]
        count, variance, uniformity, _ = sums_of(nodes, None, cover, common=0.0)[0].tolist()
        return PartAnswer(count, variance, uniformity**0.5, cover)
    if frame.kind == "roads":
        if place is None:
            raise DomainError("no path: give the edges of one")
        questions = frame.questions(Paths.of([place]), period)
    else:
        questions = frame.questions(frame.everything if place is None else place, period)
    answers = part.answers_to(questions)
    if len(answers) != 1:
        raise ParameterError(f"{len(answers)} places in one subset: give one")
    count, noise_sd = float(answers.count[0]), float(answers.noise_sd[0])
    cover = frame.cover(nodes, questions)
    return PartAnswer(count, noise_sd**2, float(answers.uniformity_sd[0]), cover)


def _cover_of_areas(frame: Any, nodes: Decomposition, place: Any, period: Any) -> Cover:
    """Areas that answer one place: all, one by its name, or those of a rectangle."""
    if place is not None and not isinstance(place, str):
        cover: Cover = frame.cover(nodes, frame.questions(place, period))
        if cover.queries != 1:
            raise ParameterError(f"{cover.queries} places in one subset: give one")
        return cover
    if period is not None:
        raise DomainError(f"period {period!r}: this release has no time, leave the period out")
    rows = np.arange(nodes.levels[0].stop) if place is None else _area(frame, place)
    return Cover(np.zeros(len(rows), dtype=np.int64), rows, np.ones(len(rows)), 1)


def _area(frame: Any, name: str) -> Int:
    """Row of the area of a name, or of a parent's and its own, int64 (1,)."""
    rows = [row for row, each in enumerate(frame.names) if each == name]
    if not rows:
        above = frame.parent_names
        rows = [row for row, each in enumerate(frame.names) if f"{above[row]}/{each}" == name]
    if not rows:
        raise DataError(
            f"area {name!r}: not in this release; 'dpviz query --areas' lists its areas"
        )
    if len(rows) > 1:
        raise DataError(f"area {name!r}: {len(rows)} areas have this name: give PARENT/NAME")
    return np.array(rows)
