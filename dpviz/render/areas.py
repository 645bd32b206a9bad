"""The map of a release of areas: a choropleth of one level, on the base map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.lazy import shapely
from dpviz.releases.answers import Answers
from dpviz.releases.areas.table import area_sums
from dpviz.releases.counts import AreaRelease
from dpviz.releases.points.region_count import Regions
from dpviz.releases.points.sums import values_of
from dpviz.render.districts import district_frames, shapes_in_degrees, square_km
from dpviz.render.legend import Legend
from dpviz.render.nearby import area_labels
from dpviz.render.scene import Mark, Scene
from dpviz.render.view import domain_scene
from dpviz.trees.lattice import Float


def level_of(release: AreaRelease, level: str | None = None) -> tuple[Regions, Answers]:
    """The areas of a level, the finest by default, and their counts."""
    areas = release.frame
    part = areas.rows_of(level)
    shapes = areas.outlines(level)
    inside = np.ones(len(shapes))
    if areas.resolution is not None:
        inside = hexagon_shares(shapes, release.domain)
    return Regions(areas.names[part], shapes, inside), release.answers.rows(part)


def hexagon_shares(shapes: NDArray[np.object_], domain: Domain) -> Float:
    """Shares of hexagons that the box takes in, (n,): cut ones against the largest of all."""
    whole = shapely.contains_properly(shapely.box(*domain.bounds), shapes)
    size = square_km(shapes_in_degrees(shapes, domain))
    return np.where(whole, 1.0, size / size.max())


def level_frames(
    releases: Sequence[AreaRelease], level: str | None, ids: Sequence[str], *, sums: bool = False
) -> tuple[list[tuple[Mark, ...]], Legend]:
    """The areas of a level at several times as marks, and their legend; an id for each drawn one.

    With ``sums`` they show sums of values in place of counts.
    """
    first = releases[0]
    part = first.frame.rows_of(level)
    names = tuple(area_labels(first.frame, first.header.source)[part])
    regions = replace(level_of(first, level)[0], names=names)
    answers: list[Any] = [area_sums(each) if sums else each.answers for each in releases]
    return district_frames(
        regions,
        [each.rows(part) for each in answers],
        first.domain,
        ids,
        noun="area",
        simplified=first.frame.resolution is None,
        counted=f"sum of {values_of(first.domain).column}" if sums else first.records,
    )


def areas_scene(
    release: AreaRelease,
    level: str | None = None,
    *,
    sums: bool = False,
    alike: Sequence[AreaRelease] = (),
) -> Scene:
    """Noisy densities or sums of a level, by default the finest; ``alike`` share its classes."""
    (marks,), legend = level_frames([release, *alike], level, ["district"], sums=sums)
    return scene_of(release, marks, legend)


def scene_of(
    release: AreaRelease,
    marks: Sequence[Mark],
    legend: Legend,
    **options: Any,
) -> Scene:
    """Marks of areas on the base map; see :func:`areas_scene`."""
    description = f"Map of noisy density by area: {release.header.privacy_status[1]}"
    return domain_scene(release.domain, marks, legend, description, **options)
