"""The map of a release of areas: a choropleth of one level, on the base map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpviz.releases.answers import Answers
from dpviz.releases.points.region_count import Regions
from dpviz.render.basemap import outlines
from dpviz.render.cells import domain_bounds
from dpviz.render.districts import district_marks
from dpviz.render.scene import Camera, Mark, Scene

if TYPE_CHECKING:
    from dpviz.releases.areas.release import AreaRelease


def areas_scene(
    release: AreaRelease,
    level: str | None = None,
    *,
    camera: Camera | None = None,
    base: Sequence[Mark] | None = None,
) -> Scene:
    """Noisy densities of the areas of a level.

    Args:
        release: of areas.
        level: the finest by default.
        camera: where to look first; the whole domain by default.
        base: the ground, in place of the bundled one.

    Raises:
        DataError: no such level.
    """
    areas, every = release.areas, release.answers
    part, domain = areas.rows(level), areas.domain
    shapes = areas.outlines(level)
    answers = Answers(every.count[part], every.noise_sd[part], every.low[part], every.high[part])
    regions = Regions(areas.names[part], shapes, np.ones(len(shapes)))
    marks, legend = district_marks(
        regions, answers, domain, noun="area", simplified=areas.resolution is None
    )
    bounds = domain_bounds(domain)
    return Scene(
        marks=[*marks, *(outlines(bounds) if base is None else base)],
        camera=camera or Camera(bounds=bounds, key="domain"),
        legend=legend,
        tools=("rect",),
        domain=bounds,
        description=f"Map of noisy density by area: {release.header.standing[1]}",
    )
