"""Differences of two releases beyond their errors, and errors against exact counts.

A box of a difference is the coarser of the cells that each release shows; where these do not nest,
boxes are halves of the domain, added up. Errors, against exact cells of public records, are shown
in squares of one size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import ReleaseError
from dpviz.files.arrow import numbers
from dpviz.lazy import shapely
from dpviz.releases.counts import PointRelease
from dpviz.render.cells import adaptive, domain_bounds
from dpviz.render.colors import LAND, MORE_A, MORE_B, Themed
from dpviz.render.detail import whole_sd
from dpviz.render.legend import Legend, Swatch, scale_labels, surface_of
from dpviz.render.marks import count_column
from dpviz.render.projection import home_zoom
from dpviz.render.scale import Scale, between, scale_of
from dpviz.render.scene import Mark, Row, Scene
from dpviz.render.view import MAX_SIDE_BY_SIDE, check, domain_scene, side_by_side_scene
from dpviz.render.zoomed import STEPS, ZoomedBoxes
from dpviz.trees.lattice import Int

RISK = 0.05
"""Chance that a view shows any difference of two releases of the same records."""

SIDES = 4
"""Classes on either side."""

SQUARE_HALVINGS = 5
"""Halvings of the domain's sides that give the squares of an error map of the whole: 32 × 32."""

FINEST_HALVINGS = 7
"""Most halvings of the domain's sides for boxes of releases that do not nest."""


def difference_scene(
    releases: Sequence[PointRelease],
    labels: Sequence[str] = ("A", "B"),
) -> Scene:
    """The map of A − B.

    Args:
        releases: two of the same domain; 2-D.
        labels: one each.

    Raises:
        ReleaseError: not two releases, not 2-D, or not of one domain.
    """
    check(releases, 2)
    if len(releases) != 2:
        raise ReleaseError("one release: give two for a difference")
    mark, legend = difference(releases, labels)
    description = f"Map of the difference {labels[0]} − {labels[1]}, blank within its errors"
    domain = releases[0].domain
    return domain_scene(domain, [mark], legend, description, neutral=True)


def difference(releases: Sequence[PointRelease], labels: Sequence[str]) -> tuple[Mark, Legend]:
    """The boxes of A − B as one mark, and the legend."""
    domain = releases[0].domain

    def drawn(zoom: float) -> Sequence[NDArray[Any]]:
        lo, hi, least = zoom_boxes(releases, zoom)
        return lo, hi, *_compared(releases, lo, hi, least), np.full(len(lo), least)

    boxes, columns = ZoomedBoxes.of(domain, drawn)
    count_a, sd_a, count_b, sd_b, sd, clear, least = columns
    gap = count_a - count_b
    density = np.where(clear, gap / boxes.km2, 0.0)
    home = boxes.at_home & clear
    scale = scale_of(np.abs(density[home]), np.abs(gap[home]), most=SIDES)
    words = {
        "count_a": count_column(count_a, sd_a),
        "count_b": count_column(count_b, sd_b),
        "gap": count_column(gap, sd),
    }
    words |= {
        name: numbers(each.astype(np.float32))
        for name, each in (("sd_a", sd_a), ("sd_b", sd_b), ("sd", sd))
    }
    rows = (
        Row(labels[0], "count_a", noise_sd="sd_a"),
        Row(labels[1], "count_b", noise_sd="sd_b"),
        Row("Difference", "gap", noise_sd="sd"),
    )
    both, colors = [*(-each for each in reversed(scale.bounds)), *scale.bounds], _colors()
    mark = boxes.mark("difference", density, both, colors, words, rows, signed=True)
    sds = f"{least.max():.1f} standard deviations"
    blank = f"blank: the two differ by no more than the errors of so many cells ({sds})"
    swatches = (
        Swatch(f"more in A: {labels[0]}", MORE_A.map(itemgetter(2))),
        Swatch(f"more in B: {labels[1]}", MORE_B.map(itemgetter(2))),
    )
    surface = surface_of(scale)
    legend = _legend(scale, colors, f"A − B, records per {surface}", blank, surface.km2)
    return mark, replace(legend, swatches=swatches)


def error_scene(
    exact: PointRelease,
    releases: Sequence[PointRelease],
    labels: Sequence[str],
) -> Scene:
    """Maps of releases' errors in records, in squares of one size and on one scale.

    One square in twenty is darker than the third of four classes on the least accurate map.

    Args:
        exact: cells with exact counts of public records, at least as fine as the squares.
        releases: up to four of its domain; 2-D.
        labels: one each.

    Raises:
        ReleaseError: too many releases, not 2-D, or not of one domain.
    """
    check([exact, *releases], MAX_SIDE_BY_SIDE + 1)
    domain = exact.domain
    start = home_zoom(domain_bounds(domain))

    def drawn(zoom: float) -> Sequence[NDArray[Any]]:
        finer = min(
            sum(zoom >= start + step for step in STEPS) - 1, FINEST_HALVINGS - SQUARE_HALVINGS
        )
        lo, hi = _squares(domain.side, SQUARE_HALVINGS + finer)
        answers = [release.count_boxes(lo, hi) for release in releases]
        columns = [each for answer in answers for each in (answer.count, answer.noise_sd)]
        return lo, hi, exact.count_boxes(lo, hi).count, *columns

    boxes, (truth, *columns) = ZoomedBoxes.of(domain, drawn)
    errors = [count - truth for count in columns[::2]]
    worst = max(float(np.quantile(np.abs(each[boxes.at_home]), 0.95)) for each in errors)
    scale = between(max(worst, 0.01) / 8, max(worst, 0.01), SIDES)
    both, colors = [*(-each for each in reversed(scale.bounds)), *scale.bounds], _colors()
    marks = []
    each = zip(labels, errors, columns[::2], columns[1::2], strict=True)
    for at, (label, error, count, sd) in enumerate(each):
        words = {"count": count_column(count, sd), "sd": numbers(sd.astype(np.float32))}
        words |= {"exact": numbers(truth.astype(np.float32)), "gap": count_column(error, sd)}
        rows = (
            Row(label, "count", noise_sd="sd"),
            Row("Exact (public data)", "exact"),
            Row("Error", "gap"),
        )
        marks.append(boxes.mark(f"error-{at}", error, both, colors, words, rows, signed=True))
    legend = _legend(
        scale,
        colors,
        "Error in each square, records: − too few, + too many",
        f"blank: off by less than {scale_labels(scale)[0]}",
    )
    description = f"Map of errors, answer − exact: {'; '.join(labels)}"
    scene = domain_scene(domain, marks, legend, description, neutral=True)
    if len(releases) == 1:
        return replace(scene, labels=labels)
    return side_by_side_scene(scene, len(releases), "side", labels)


def _squares(side: int, halvings: int) -> tuple[Int, Int]:
    """Lattice squares (lo, hi) that tile a domain."""
    lo = np.indices((1 << halvings,) * 2).reshape(2, -1).T * (side >> halvings)
    return lo, lo + (side >> halvings)


def _compared(
    releases: Sequence[PointRelease], lo: Int, hi: Int, least: float
) -> tuple[NDArray[Any], ...]:
    """Counts and errors of A and B in boxes, and their difference's error and clarity.

    Each has shape (q,). Clear: from ``least`` standard deviations on, or the same tail.
    """
    a, b = (release.count_boxes(lo, hi) for release in releases)
    # Boxes of one release need not follow the cells of the other.
    sd_a, sd_b = (np.hypot(each.noise_sd, each.uniformity_sd) for each in (a, b))
    sd = np.hypot(sd_a, sd_b)
    clear = np.abs(a.count - b.count) >= least * whole_sd(sd)
    return a.count, sd_a, b.count, sd_b, sd, clear


def zoom_boxes(releases: Sequence[PointRelease], zoom: float) -> tuple[Int, Int, float]:
    """Lattice boxes (lo, hi) at a zoom, and how many standard deviations stand out there.

    Of two boxes that overlap, the larger; where those of the two releases do not nest, see
    :func:`summed_boxes`.
    """
    boxes = []
    for release in releases:
        drawn = np.flatnonzero(adaptive(release).at(zoom))
        boxes.append((release.nodes.lo[drawn], release.nodes.hi[drawn]))
    around = [_volume_around(boxes[1 - k], boxes[k]) for k in range(2)]
    coarse = []
    for k, (lo, hi) in enumerate(boxes):
        volume = _volumes(lo, hi)
        coarse.append(volume >= around[k] if k == 0 else volume > around[k])
    boxes_of = [np.vstack([boxes[k][side][coarse[k]] for k in range(2)]) for side in range(2)]
    covered = int(_volumes(boxes_of[0], boxes_of[1]).sum())
    if covered != int(_volumes(*boxes[0]).sum()):
        halvings = round(np.log2(max(len(boxes[0][0]), 4)) / 2)
        return summed_boxes(releases, min(halvings, FINEST_HALVINGS))
    return boxes_of[0], boxes_of[1], least_sds(len(boxes_of[0]))


def least_sds(boxes: int) -> float:
    """Standard deviations from which one of so many differences stands out.

    By Bonferroni's inequality for errors with the tails of Laplace noise: normal errors, or 3 for
    each box, would show differences of the same records on most maps.
    """
    return float(np.log(boxes / RISK) / np.sqrt(2))


def summed_boxes(releases: Sequence[PointRelease], halvings: int) -> tuple[Int, Int, float]:
    """Boxes as in :func:`zoom_boxes`: halves of the domain's sides, so often halved, but four where
    no difference stands out, in any box within them, are one.

    All boxes of all sizes are looked at, each with errors of its own, so that no box is chosen
    for what it shows: one in which none stands out by itself may do so with its neighbours.
    """
    side = releases[0].domain.side
    least = least_sds(sum(4**level for level in range(halvings + 1)))
    boxes, below = [], np.zeros((1 << halvings, 1 << halvings), dtype=bool)
    inner = [below]
    for level in range(halvings, -1, -1):
        boxes.append(_squares(side, level))
        looks = _compared(releases, *boxes[-1], least)[-1]
        clear = below | looks.reshape(below.shape)
        if level:
            half = len(below) // 2
            below = clear.reshape(half, 2, half, 2).any(axis=(1, 3))
            inner.append(below)
    above = [*(each.repeat(2, axis=0).repeat(2, axis=1) for each in inner[1:]), np.ones((1, 1))]
    drawn = [(~one & (other > 0)).ravel() for one, other in zip(inner, above, strict=True)]
    lo, hi = (
        np.vstack([each[end][rows] for each, rows in zip(boxes, drawn, strict=True)])
        for end in (0, 1)
    )
    return lo, hi, least


def _volumes(lo: Int, hi: Int) -> Int:
    return np.asarray((hi - lo).prod(axis=1))


def _volume_around(others: tuple[Int, Int], boxes: tuple[Int, Int]) -> Int:
    """The volume of the box of ``others`` around the middle of each box."""
    lo, hi = others
    tree = shapely.STRtree(shapely.box(lo[:, 0], lo[:, 1], hi[:, 0], hi[:, 1]))
    middle = (boxes[0] + boxes[1]) / 2 + 1e-3  # inside one box, not on the edge of two
    asked, around = tree.query(shapely.points(middle), predicate="intersects")
    volume = np.zeros(len(middle), dtype=np.int64)
    volume[asked] = _volumes(lo, hi)[around]
    return volume


def _colors() -> Themed:
    """B strong to weak, the ground, A weak to strong."""
    return Themed(
        (*reversed(MORE_B.light), LAND.light, *MORE_A.light),
        (*reversed(MORE_B.dark), LAND.dark, *MORE_A.dark),
    )


def _legend(scale: Scale, colors: Themed, title: str, blank: str, km2: float = 1.0) -> Legend:
    """Legend of a signed map, of densities per so many km², or of counts."""
    words = scale_labels(scale, km2)
    labels = ["", *(f"−{word}" for word in reversed(words)), *words]
    return Legend(title=title, colors=colors, labels=labels, blank=blank)
