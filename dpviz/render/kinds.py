"""Kinds of records on one map: which kind leads in a cell, or the share of one.

Cells are those of adaptive detail of all kinds together, so that an area that is coloured stands
out of its noise. Where none of its kinds leads by more than the errors of two, or the interval of a
share is wider than half of all that it can be, the cell has the answer of the smallest cell around
it that has one, hatched: a map is not blank where records are the most. A share is blank where the
map of all these records is: few records in a large cell would catch the eye first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpviz.files.arrow import numbers
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.quotient import Quotients, quotients
from dpviz.releases.points.range_count import box_count
from dpviz.render.cells import FAINT, adaptive, density_scale
from dpviz.render.colors import FRAME, GREY, LAND, MORE_A, MORE_B, Themed, along, stops
from dpviz.render.detail import NOISE_SDS, QUIET, exceeds_noise
from dpviz.render.legend import Legend, Swatch, blank_words, scale_labels, surface_of
from dpviz.render.marks import count_column
from dpviz.render.numbers import percent, percent_interval
from dpviz.render.scale import scale_of
from dpviz.render.scene import Mark, Row, Scene
from dpviz.render.view import domain_scene
from dpviz.render.zoomed import ZoomedBoxes
from dpviz.trees.consistency import sum_up
from dpviz.trees.lattice import Float, Int

STRENGTHS = 4
"""Classes of density, as strengths of a kind's colour."""

MIN_STRENGTH = 0.3
"""Smallest share of a kind's colour in the mix with the ground's colour."""

KIND_COLORS = Themed(
    stops("0d4f94 b4520a 17906c 5b2470 b09a1a 56606c"),
    stops("5aa0f2 ff9f4a 5fdcb3 9d6bd6 f4e08a 7d8aa0"),
)
"""Colours of the kinds with the most records, on light and on dark ground."""

SHARE_BOUNDS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
"""Lower bounds of the classes of a share."""

MAX_SHARE_WIDTH = 0.5
"""Largest width of the interval of a share that is given a colour."""


WIDER = " in the cells around"
"""Text after the answer of a coarser cell."""

HATCHED = Swatch("hatched: of the cells around", FRAME, hatch=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class KindCounts:
    """Counts of the kinds in n areas.

    Attributes:
        count: count of each kind, float64 (kinds, n).
        variance: likewise, of the noise and of the uniformity error, as a box of all kinds may cut
            a cell of one.
        quiet: true for areas that cannot be distinguished from empty ones, (n,).
    """

    count: Float
    variance: Float
    quiet: NDArray[np.bool_]

    @property
    def total(self) -> Float:
        """Counts of all kinds together, float64 (n,)."""
        return np.asarray(self.count.sum(axis=0))


@dataclass(frozen=True, eq=False, kw_only=True)
class KindCells(ZoomedBoxes, KindCounts):
    """Cells drawn at some zooms: n boxes, each with the counts of the area that it is part of.

    Attributes:
        km2: area in km², float64 (n,).
        node: node of the tree for each box, int64 (n,).
    """

    node: Int
    release: PointRelease

    @property
    def home(self) -> NDArray[np.bool_]:
        """True for boxes drawn when the whole domain is in view, except quiet ones."""
        return np.asarray(self.at_home & ~self.quiet)

    def of_nodes(self, node: Int) -> KindCounts:
        """Counts in nodes of the tree."""
        nodes = self.release.nodes
        member, alone = np.arange(len(node)), np.ones(len(node), dtype=bool)
        each = [
            _grouped(part, nodes.lo[node], nodes.hi[node], member, alone)
            for part in self.release.parts
        ]
        count, noise, cut = (np.array(column) for column in zip(*each, strict=True))
        quiet = ~exceeds_noise(count.sum(axis=0), noise.sum(axis=0))
        return KindCounts(count=count, variance=noise + cut, quiet=quiet)


Answer = Callable[[KindCounts], tuple[Sequence[NDArray[Any]], NDArray[np.bool_]]]
"""A map's texts about areas, columns of shape (n,), and whether there are any."""


def answered(
    cells: KindCells, answer: Answer
) -> tuple[list[NDArray[Any]], NDArray[np.bool_], NDArray[np.bool_]]:
    """Answers of boxes; where one has none, that of the smallest node around that has one.

    Quiet boxes are left as they are, but for those in dense ground.

    Returns:
        The columns of the answers, which boxes have one, and which have that of another node, (n,).
    """
    given, clear = answer(cells)
    columns, borrowed = [np.array(each) for each in given], np.zeros(len(clear), dtype=bool)
    enclosed = adaptive(cells.release).enclosed[cells.node]
    rows, parent = np.flatnonzero(~clear & (~cells.quiet | enclosed)), cells.release.nodes.parent
    node = parent[cells.node[rows]].astype(np.int64)
    while (node >= 0).any():
        rows, node = rows[node >= 0], node[node >= 0]
        wider, back = np.unique(node, return_inverse=True)
        values, good = answer(cells.of_nodes(wider))
        done = good[back]
        for column, value in zip(columns, values, strict=True):
            column[rows[done]] = value[back[done]]
        borrowed[rows[done]] = True
        rows, node = rows[~done], parent[node[~done]].astype(np.int64)
    return columns, clear | borrowed, borrowed


def kind_cells(release: PointRelease) -> KindCells:
    """The boxes of adaptive detail of all kinds, and the kinds in each."""
    nodes, adapted = release.nodes, adaptive(release)

    def drawn(zoom: float) -> Sequence[NDArray[Any]]:
        rows = np.flatnonzero(adapted.at(zoom))
        lo, hi = nodes.lo[rows], nodes.hi[rows]
        _, member = np.unique(adapted.group[rows], return_inverse=True)
        alone = np.bincount(member)[member] == 1
        each = [_grouped(part, lo, hi, member, alone) for part in release.parts]
        count, noise, cut = (np.array(column).T for column in zip(*each, strict=True))
        return lo, hi, adapted.km2[rows], count, noise, cut, adapted.kind[rows] == QUIET, rows

    boxes, (km2, count, noise, cut, quiet, node) = ZoomedBoxes.of(release.domain, drawn)
    quiet = quiet | ~exceeds_noise(count.sum(axis=1), noise.sum(axis=1))
    variance = noise + cut
    own: dict[str, Any] = vars(boxes) | {"km2": km2, "node": node, "release": release}
    return KindCells(**own, count=count.T, variance=variance.T, quiet=quiet)


def _grouped(
    part: PointRelease, lo: Int, hi: Int, member: Int, alone: NDArray[np.bool_]
) -> tuple[Float, Float, Float]:
    """Counts of one kind per area, and the variances of their noise and uniformity error.

    Each has shape (boxes,): a box has the values of the area that it is part of. Boxes within one
    leaf share its noise, so each gets its part of the leaf's variance by surface: their sum is at
    least the variance that the leaf's noise has in all of them. Variances of the uniformity error,
    an ESTIMATE, add up as if leaves erred independently.
    """
    answers, nodes = part.count_boxes(lo, hi), part.nodes
    count, cut = (_added(member, each) for each in (answers.count, answers.uniformity_sd**2))
    if part.noise is not None:  # stated for the whole grid: standard deviations add up
        return count, _added(member, answers.noise_sd) ** 2, cut
    weight = np.where(nodes.leaf, nodes.variance, 0.0)
    shared = box_count(replace(nodes, count=sum_up(nodes.parent, weight)), None, lo, hi).count
    variance = np.where(alone, answers.noise_sd**2, np.maximum(shared, answers.noise_sd**2))
    return count, _added(member, variance), cut


def _added(member: Int, values: Float) -> Float:
    """Sum over the area of each box, (boxes,)."""
    sums: Float = np.bincount(member, values).astype(np.float64)
    return sums[member]


def overlay_scene(release: PointRelease) -> Scene:
    """The map of the kind that leads in each cell, the stronger the more records there are.

    Args:
        release: 2-D, without time.
    """
    cells = kind_cells(release)
    (leader,), clear, borrowed = answered(cells, _leader_of)
    order = np.argsort(-np.array([part.nodes.count[0] for part in release.parts]), kind="stable")
    shown = order[: len(KIND_COLORS.light)]
    density = np.where(cells.quiet & ~borrowed, 0.0, cells.total / cells.km2)
    scale = scale_of(density[cells.home], cells.total[cells.home], most=STRENGTHS)
    rows = [
        Row("Leads", "leads"),
        *(
            Row(release.kinds[kind], f"count_{at}", noise_sd=f"sd_{at}")
            for at, kind in enumerate(shown)
        ),
    ]
    leading = np.where(
        clear, np.array(release.kinds, dtype=object)[leader], "none beyond the errors"
    )
    leading = np.where(borrowed, leading + WIDER, leading)
    columns = {"leads": pa.array(leading.tolist(), pa.string()), **_counts(cells, shown)}
    look: dict[str, Any] = {"fixed": True, "strength": np.where(borrowed, FAINT, 1.0)}
    layers = {
        f"kind-{at}": (clear & (leader == kind), _strengths(at)) for at, kind in enumerate(shown)
    }
    rest = ~np.any([mask for mask, _ in layers.values()], axis=0)
    layers["kind-none"] = (rest, _grey())
    marks = [
        cells.mark(id_, density, scale.bounds, colors, columns, rows, where=mask, **look)
        for id_, (mask, colors) in layers.items()
    ]
    several = len(release.kinds) > len(shown)
    swatches = [Swatch(release.kinds[kind], _strengths(at, 1)) for at, kind in enumerate(shown)]
    other = (
        "another category, or none beyond the errors" if several else "none leads beyond the errors"
    )
    surface = surface_of(scale)
    legend = Legend(
        title=f"Leading category; stronger: more records per {surface}",
        colors=_grey(),
        labels=scale_labels(scale, surface.km2),
        blank=blank_words(scale),
        swatches=(*swatches, Swatch(other, GREY.map(itemgetter(3))), HATCHED),
    )
    description = "Map of the category that leads in each cell"
    return _scene(release, marks, legend, description)


def _leader_of(cells: KindCounts) -> tuple[tuple[Int], NDArray[np.bool_]]:
    leader, clear = leaders(cells)
    return (leader,), clear


def leaders(cells: KindCounts) -> tuple[Int, NDArray[np.bool_]]:
    """The kind with the most records of each cell, and whether it leads by more than the errors."""
    leader = np.argmax(cells.count, axis=0)
    at = np.arange(len(leader))
    if len(cells.count) == 1:
        return leader, ~cells.quiet
    rest = cells.count.copy()
    rest[leader, at] = -np.inf
    second = np.argmax(rest, axis=0)
    lead = cells.count[leader, at] - cells.count[second, at]
    sd = np.sqrt(cells.variance[leader, at] + cells.variance[second, at])
    return leader, ~cells.quiet & (lead > 0) & (lead >= NOISE_SDS * sd)


def share_scene(
    release: PointRelease,
    kind: str,
    of: Sequence[str] | None = None,
) -> Scene:
    """The map of the share of one kind, with honest intervals.

    Args:
        release: 2-D, without time.
        of: the kinds of the denominator, all by default; ``kind`` is one of them anyway.
    """
    rest = [name for name in (release.kinds if of is None else of) if name != kind]
    pair = release.only([kind, *rest])
    cells = kind_cells(pair)
    (share, low, high, some), _, borrowed = answered(cells, _share_of)
    enough = some & (~cells.quiet | borrowed)
    wide = enough & (high - low > MAX_SHARE_WIDTH)
    scale, detail = density_scale(pair), adaptive(pair)
    density = (detail.total / detail.km2)[cells.node]
    shown = enough & ((density >= scale.bounds[0]) | detail.enclosed[cells.node])
    against = rest[0] if len(rest) == 1 else "all others" if of is None else "the others"
    two = replace(
        cells,
        count=np.vstack([cells.count[0], cells.count[1:].sum(axis=0)]),
        variance=np.vstack([cells.variance[0], cells.variance[1:].sum(axis=0)]),
    )
    texts = [
        percent_interval(*ends) + (WIDER if wider else "") if known else "too few records"
        for *ends, known, wider in zip(share, low, high, enough, borrowed, strict=True)
    ]
    columns = {"share": pa.array(texts, pa.string()), **_counts(two, np.arange(2))}
    rows = [
        Row(f"Share of {kind}", "share"),
        Row(kind, "count_0", noise_sd="sd_0"),
        Row(against, "count_1", noise_sd="sd_1"),
    ]
    colors, zero = _share_colors(), np.zeros(len(enough))
    strength = np.where(borrowed, FAINT, 1.0)
    look: dict[str, Any] = {"colors": colors, "columns": columns, "rows": rows, "fixed": True}
    look |= {"strength": strength}
    value = np.where(enough, share, 0.0)
    marks = [
        cells.mark("share", value, SHARE_BOUNDS, where=shown & ~wide, **look),
        cells.mark("wide", zero - 1.0, (1.0,), where=shown & wide, hatched=True, **look),
        cells.mark("too-few", zero, (1.0,), where=~shown, **look),
    ]
    surface, most = surface_of(scale), percent(MAX_SHARE_WIDTH)
    least, *_ = scale_labels(scale, surface.km2)
    legend = Legend(
        title=f"Share of {kind} against {against}",
        colors=colors,
        labels=[percent(bound) for bound in SHARE_BOUNDS],
        blank=f"blank: under {least} records per {surface}, or too few to tell",
        swatches=(replace(HATCHED, label=f"{HATCHED.label}, or interval over {most}"),),
    )
    description = f"Map of the share of {kind} against {against}"
    return _scene(release, marks, legend, description)


def shares(cells: KindCounts) -> Quotients:
    """The share of the first kind in each area, with its 95 % interval."""
    variance, total = cells.variance[0], cells.variance.sum(axis=0)
    return quotients(cells.count[0], cells.total, (variance, total, variance), limits=(0.0, 1.0))


def _share_of(cells: KindCounts) -> tuple[tuple[NDArray[Any], ...], NDArray[np.bool_]]:
    """Shares, the ends of their intervals, whether there is one; and whether it says something."""
    answers = shares(cells)
    narrow = answers.enough & ~cells.quiet & (answers.high - answers.low <= MAX_SHARE_WIDTH)
    return (answers.value, answers.low, answers.high, answers.enough), narrow


def _counts(cells: KindCells, kinds: Int) -> dict[str, pa.Array]:
    columns = {}
    for at, kind in enumerate(kinds):
        sd = np.sqrt(cells.variance[kind])
        columns[f"count_{at}"] = count_column(cells.count[kind], sd)
        columns[f"sd_{at}"] = numbers(sd.astype(np.float32))
    return columns


def _strengths(at: int, classes: int = STRENGTHS) -> Themed:
    """Colours of a kind, from near the ground to its own; with one class, that alone."""
    ramps = []
    for theme in ("light", "dark"):
        ends = (LAND.of(theme), KIND_COLORS.of(theme)[at])
        ramp = [
            tuple(each) for each in along(ends, np.linspace(MIN_STRENGTH, 1, STRENGTHS)).tolist()
        ]
        ramps.append(tuple(ramp) if classes > 1 else ramp[-1])
    return Themed(*ramps)


def _grey() -> Themed:
    return GREY.map(itemgetter(slice(1, 1 + STRENGTHS)))


def _share_colors() -> Themed:
    """The other kind strong to weak, then weak to strong."""
    other, this = MORE_B.map(itemgetter(3, 2, 0)), MORE_A.map(itemgetter(0, 2, 3))
    return Themed(other.light + this.light, other.dark + this.dark)


def _scene(
    release: PointRelease,
    marks: Sequence[Mark],
    legend: Legend,
    description: str,
) -> Scene:
    said = f"{description}: {release.header.privacy_status[1]}"
    look: dict[str, Any] = {"tools": ("rect", "polygon"), "neutral": True}
    return domain_scene(release.domain, marks, legend, said, **look)
