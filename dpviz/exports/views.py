"""Views of an exported map besides noisy densities.

Shares of kinds, means of values, areas by level; and the areas that answer a rectangle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from dpviz.exports.pack import Packer
from dpviz.lazy import shapely
from dpviz.releases.areas.hexagons import level_titles
from dpviz.releases.counts import AreaRelease, PointRelease
from dpviz.render.areas import level_frames
from dpviz.render.kinds import overlay_scene, share_scene
from dpviz.render.legend import Legend
from dpviz.render.means import mean_marks
from dpviz.render.scene import Mark, Scene

STEPS = 2**32 - 1
"""Steps per side of the box, for corners of areas: a tenth of a millimetre in a city."""

ALL = "All categories"

EACH_STEP = "one scale for all steps"
"""Words of a legend that all steps of time share; the map of the whole period has its own."""

M = TypeVar("M", PointRelease, AreaRelease)


@dataclass(frozen=True)
class View:
    """View that the map may show instead of densities.

    Attributes:
        name: shown in the list of views.
        marks: marks of the view.
        legend: legend of the marks.
        neutral: see :class:`~dpviz.render.scene.Scene`.
        frames: the marks of each map of a series; empty if the marks are those of all.
        whole: legend of the maps of a whole period, where they have one of their own.
    """

    name: str
    marks: Sequence[Mark]
    legend: Legend
    neutral: bool = False
    frames: Sequence[Sequence[Mark]] = ()
    whole: Legend | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON for the map."""
        ids = [mark.id for mark in self.marks]
        legend = self.legend.to_dict()
        frames = [[mark.id for mark in frame] for frame in self.frames]
        view = {"name": self.name, "layers": ids, "legend": legend, "neutral": self.neutral}
        view["wholeLegend"] = self.whole and self.whole.to_dict()
        return view | ({"frames": frames} if frames else {})


def maps_of(
    releases: Sequence[M], names: Sequence[str], *, in_time: bool = False
) -> tuple[Sequence[M], Sequence[str]]:
    """Releases to draw and their names; with kinds, the whole release first, then each kind.

    Args:
        releases: one, several, or with ``in_time`` the steps of one release.
        names: one each.
        in_time: True to draw each kind in all steps, after the whole release in all steps.
    """
    kinds: tuple[str, ...] = releases[0].kinds
    if not kinds or (len(releases) > 1 and not in_time):
        return releases, names
    maps: list[Any] = [*releases, *(each.of(kind) for kind in kinds for each in releases)]
    if len(releases) == 1:
        return maps, [ALL, *kinds]
    return maps, [*names, *(f"{kind} · {name}" for kind in kinds for name in names)]


def attribute_views(releases: Sequence[PointRelease]) -> list[View]:
    """Views of a single release: leading kind, share of each kind, and mean of the values."""
    release = releases[0]
    if len(releases) > 1:
        return []
    views = []
    if release.kinds and len(release.kinds) > 1:
        views.append(_of_scene("Leading category", overlay_scene(release), "leading"))
        for at, kind in enumerate(release.kinds):
            views.append(_of_scene(f"Share of {kind}", share_scene(release, kind), f"share-{at}"))
    if release.domain.values is not None:
        mark, legend = mean_marks(release, "mean")
        views.append(View(legend.title, (mark,), legend))
    return views


def _of_scene(name: str, scene: Scene, prefix: str) -> View:
    """Cells of a scene, with column names that are unique in the file."""
    cells = [mark for mark in scene.marks if mark.layer.type == "CellLayer"]
    marks = [mark.with_layer(id=f"{prefix}-{mark.id}") for mark in cells]
    assert scene.legend is not None
    return View(name, marks, scene.legend, scene.neutral)


def level_views(releases: Sequence[AreaRelease], every: int = 0) -> list[View]:
    """Each level of a release at one time or several, and of each kind, the coarsest first.

    With ``every``, each map of so many is of the whole period, with classes of its own.
    """
    views = []
    titles = level_titles(releases[0].frame.levels)
    for at, level in enumerate(releases[0].frame.levels):
        ids = [f"level-{at}-{step}" for step in range(len(releases))]
        apart = range(0, len(releases), every) if every else range(0)
        frames: dict[int, Sequence[Mark]] = {}
        legends = []
        for rows in (apart, [row for row in range(len(releases)) if row not in apart]):
            if rows:
                some = [releases[row] for row in rows], level, [ids[row] for row in rows]
                made, legend = level_frames(*some)
                frames |= zip(rows, made, strict=True)
                legends.append(legend)
        *first, legend = legends
        if first:
            legend = legend.of(EACH_STEP)
        ordered = [frames[row] for row in range(len(releases))]
        marks = [mark for frame in ordered for mark in frame]
        name = titles[at]
        views.append(View(name, marks, legend, frames=ordered, whole=first[0] if first else None))
    return views


def pack_areas(packer: Packer, releases: Sequence[AreaRelease]) -> dict[str, Any]:
    """Add the outlines of the finest areas, and the estimates of all areas at each time.

    Returns:
        Further values that the page needs.
    """
    areas, domain = releases[0].frame, releases[0].domain
    part, owner = shapely.get_parts(areas.shapes, return_index=True)
    ring, of = shapely.get_rings(part, return_index=True)
    corner, at = shapely.get_coordinates(ring, return_index=True)
    low, high = np.array(domain.lower), np.array(domain.upper)
    place = np.clip((corner - low) / (high - low), 0.0, 1.0)
    starts = np.searchsorted(at, np.arange(len(ring) + 1))
    packer.add("areas.xy", np.rint(place * STEPS).astype(np.uint32), starts, delta=True)
    packer.add("areas.owner", owner[of].astype(np.int32))
    packer.add("areas.hole", (np.diff(of, prepend=-1) == 0).astype(np.uint8))  # first ring: outer
    packer.add("areas.parent", np.asarray(areas.parent, np.int32))
    for at, release in enumerate(releases):
        packer.add(f"areas.count{at}", np.asarray(release.nodes.count))
        packer.add(f"areas.variance{at}", np.asarray(release.nodes.variance))
    levels = [part.start for part in areas.slices]
    return {"starts": levels, "steps": STEPS, "frames": len(releases)}
