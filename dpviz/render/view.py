"""The usual map of one release, of several under one camera, or of a public prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from dpviz.domain import Domain
from dpviz.domain.rectangles import limits_text
from dpviz.errors import ReleaseError
from dpviz.releases.counts import AreaRelease, PointRelease
from dpviz.render.basemap import outlines
from dpviz.render.cells import cells, density_legend, density_scale, domain_bounds
from dpviz.render.legend import Legend
from dpviz.render.nearby import names_by_density
from dpviz.render.scale import Scale
from dpviz.render.scene import Camera, Mark, Scene
from dpviz.trees.guided import prior_cells
from dpviz.trees.prior import Prior

MAX_RELEASES = 12
"""Releases of a series."""

MAX_SIDE_BY_SIDE = 4
"""Maps beside each other."""


def release_scene(
    releases: Sequence[PointRelease],
    labels: Sequence[str] = ("",),
    *,
    mode: Literal["side", "swipe"] = "swipe",
    camera: Camera | None = None,
    scale: Scale | None = None,
) -> Scene:
    """Noisy densities on the base map, on one colour scale; ``scale`` as in :func:`series_scene`.

    Raises ReleaseError: more than :data:`MAX_SIDE_BY_SIDE` releases (to swipe: two), not 2-D, or
    not of one domain.
    """
    most = MAX_SIDE_BY_SIDE if mode == "side" else 2
    if len(releases) > most:
        raise ReleaseError(f"{len(releases)} releases: a map shows one, or up to {most} to compare")
    scene = series_scene(releases, labels, camera=camera, scale=scale)
    return scene if len(releases) == 1 else side_by_side_scene(scene, len(releases), mode, labels)


def side_by_side_scene(
    scene: Scene, many: int, mode: Literal["side", "swipe"], labels: Sequence[str]
) -> Scene:
    """Draw each of the first ``many`` marks on a map of its own, all others on each map."""
    marks = [mark.with_layer(side=at) for at, mark in enumerate(scene.marks[:many])]
    marks += scene.marks[many:]
    return replace(scene, marks=marks, mode=mode, labels=labels)


def series_scene(
    releases: Sequence[PointRelease],
    labels: Sequence[str] = ("",),
    *,
    camera: Camera | None = None,
    title: str = "",
    base: Sequence[Mark] | None = None,
    most: int = MAX_RELEASES,
    scale: Scale | None = None,
) -> Scene:
    """Several releases over each other, ``cells-0`` and on: the caller shows one or two.

    Raises ReleaseError: no release or too many, not 2-D, or not of one domain.

    Args:
        releases: releases of the same domain; 2-D.
        camera: initial view; the whole domain by default.
        title: title of the picture that the visitor may save.
        base: the ground, in place of the bundled one: see
            :func:`~dpviz.render.basemap_file.basemap_marks`.
        scale: classes of densities; those of all releases by default.
    """
    check(releases, most)
    scale = scale or density_scale(*releases)
    titles = labels if len(releases) > 1 else [""]
    maps = [
        cells(release, scale=scale, id=f"cells-{at}", title=label)
        for at, (release, label) in enumerate(zip(releases, titles, strict=True))
    ]
    texts = [release.header.privacy_status[1] for release in releases]
    if len(set(texts)) > 1:
        texts = [f"{label}: {text}" for label, text in zip(labels, texts, strict=True)]
    ground = outlines(domain_bounds(releases[0].domain)) if base is None else base
    return domain_scene(
        releases[0].domain,
        maps,
        density_legend(scale, releases),
        f"Map of noisy density: {'; '.join(dict.fromkeys(texts))}",
        camera=camera,
        base=names_by_density(ground, releases[0]),
        title=title,
    )


def domain_scene(
    domain: Domain,
    marks: Sequence[Mark],
    legend: Legend | None,
    description: str,
    *,
    camera: Camera | None = None,
    base: Sequence[Mark] | None = None,
    **options: Any,
) -> Scene:
    """Marks of a domain on its ground, or on another ``base``; other ``options`` of the scene."""
    bounds = domain_bounds(domain)
    return Scene(
        marks=[*marks, *(outlines(bounds) if base is None else base)],
        camera=camera or Camera(bounds=bounds),
        legend=legend,
        domain=bounds,
        description=description,
        **{"tools": ("rect",), **options},
    )


def film_scene(
    releases: Sequence[PointRelease],
    labels: Sequence[str],
    *,
    camera: Camera | None = None,
    scale: Scale | None = None,
) -> Scene:
    """Several releases as the frames of a film, which the map steps through by itself.

    ``releases``: see :func:`series_scene`, as for all that follow.
    """
    scene = series_scene(releases, labels, camera=camera, scale=scale)
    many = len(releases)
    frames = [mark.with_layer(frame=at) for at, mark in enumerate(scene.marks[:many])]
    marks = [*frames, *scene.marks[many:]]
    return replace(scene, marks=marks, film=tuple(labels))


def prior_scene(prior: Prior, release: PointRelease, name: str) -> Scene:
    """Density of a public prior, drawn as a release that holds it without noise."""
    nodes = prior_cells(prior, release.domain.side)
    scene = release_scene([replace(release, nodes=nodes)])
    assert scene.legend is not None
    legend = replace(
        scene.legend.counting("units of weight"),
        title="Public prior: weight per km²",
        blank=f"blank: under {scene.legend.labels[0]}",
        swatches=[each for each in scene.legend.swatches if not each.raw],
    )
    title = f"Public prior: {name}"
    return replace(scene, legend=legend, title=title, description="Map of a public prior")


def check(releases: Sequence[PointRelease | AreaRelease], most: int = MAX_RELEASES) -> None:
    """Refuse what cannot share one map."""
    if not 1 <= len(releases) <= most:
        shown = "one, or two to compare" if most == 2 else f"one, or a series of up to {most}"
        raise ReleaseError(f"{len(releases)} releases: a map shows {shown}")
    for release in releases:
        if release.kind not in ("points", "areas"):
            raise ReleaseError(f"a release of {release.kind}: this map shows points and areas only")
        if release.kind == "areas" and len(releases) > 1:
            raise ReleaseError(f"{len(releases)} releases, one of areas: give that alone")
        if release.domain.time is not None:
            raise ReleaseError(
                "a release with time has no map of its own: give a part of its period, "
                "release.during(period)"
            )
        if release.domain.dims != 2:
            dims = release.domain.dims
            raise ReleaseError(
                f"a release of {dims} dimensions has no map of its own: open it in 'dpviz app', "
                "which draws two maps of trips, or build a release of two of its columns"
                if dims > 1
                else "a release of one dimension has no map: query it, or export it as .csv"
            )
        both = releases[0].domain, release.domain
        if both[0].counts_only != both[1].counts_only:
            first, other = (f"{limits_text(each.bounds)} ({each.crs})" for each in both)
            raise ReleaseError(
                f"releases of different areas, {first} and {other}: choose two that were built "
                "over one public area"
                if first != other
                else "releases of one area with columns of other names: choose two with the same"
            )
