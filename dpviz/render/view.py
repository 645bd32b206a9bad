"""The usual map of one release, or of two under one camera."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from dpviz.errors import ReleaseError
from dpviz.render.basemap import outlines, river
from dpviz.render.cells import cells, domain_bounds, scale_ends
from dpviz.render.legend import density_legend
from dpviz.render.marks import boxes
from dpviz.render.scene import Camera, Scene, Side

if TYPE_CHECKING:
    from dpviz.releases.points.release import PointRelease

SIDES: tuple[Side, Side] = ("left", "right")


def release_scene(
    releases: Sequence[PointRelease],
    labels: Sequence[str] = ("",),
    *,
    mode: Literal["side", "swipe"] = "swipe",
    camera: Camera | None = None,
) -> Scene:
    """Noisy densities on the base map, on one colour scale.

    Args:
        releases: one, or two of the same domain; 2-D.
        labels: one each, to tell two apart.
        mode: how two are shown.
        camera: where to look first; the whole domain by default.

    Raises:
        ReleaseError: not one or two releases, not 2-D, or not of one domain.
    """
    check(releases)
    bounds, ends = domain_bounds(releases[0].domain), scale_ends(*releases)
    two = len(releases) == 2
    maps = [
        cells(
            release,
            ends=ends,
            id=f"cells-{side}",
            side=side if two else None,
            title=label if two else "",
        )
        for release, label, side in zip(releases, labels, SIDES, strict=False)
    ]
    told = [
        f"{label}: {release.header.guarantee}" if two else release.header.guarantee
        for release, label in zip(releases, labels, strict=True)
    ]
    backdrop = [river()] if is_city(releases[0]) else []
    frame = boxes("domain", [bounds], themed=150, width=1.2)
    return Scene(
        marks=[*maps, frame, *outlines(bounds), *backdrop],
        camera=camera or Camera(bounds=bounds, key="domain"),
        legend=density_legend(ends),
        mode=mode if two else "single",
        labels=labels if two else (),
        tools=("rect",),
        domain=bounds,
        description=f"Map of noisy density: {'; '.join(told)}",
    )


def check(releases: Sequence[PointRelease]) -> None:
    """Refuse what cannot share one map.

    Raises:
        ReleaseError: see :func:`release_scene`.
    """
    if len(releases) not in (1, 2):
        raise ReleaseError(f"{len(releases)} releases: a map shows one, or two to compare")
    for release in releases:
        if release.domain.dims != 2:
            raise ReleaseError(
                f"a release of {release.domain.dims} dimensions has no map: "
                "share a 2-D one, for instance a marginal"
            )
        if release.domain != releases[0].domain:
            raise ReleaseError("the two releases have different domains: compare maps of one")


def is_city(release: PointRelease) -> bool:
    """Whether the public domain is the built-in city's, which has a river of its own."""
    from dpviz.datasets.geography import BOUNDS

    return tuple(release.domain.bounds) == tuple(BOUNDS)
