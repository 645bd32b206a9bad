"""The usual map of one release, or of two under one camera."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from dpviz.errors import ReleaseError
from dpviz.render.basemap import outlines
from dpviz.render.cells import cells, density_legend, density_scale, domain_bounds
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
    detail: Literal["adaptive", "raw"] = "adaptive",
    palette: str = "tide",
    title: str = "",
) -> Scene:
    """Noisy densities on the base map, on one colour scale.

    Args:
        releases: one, or two of the same domain; 2-D.
        labels: one each, to tell two apart.
        mode: how two are shown.
        camera: where to look first; the whole domain by default.
        detail: what the map begins with; its own switch changes it.
        palette: a name in :data:`~dpviz.render.colors.PALETTES`.
        title: of the picture that the visitor may save.

    Raises:
        ReleaseError: not one or two releases, not 2-D, or not of one domain.
    """
    check(releases)
    bounds, scale = domain_bounds(releases[0].domain), density_scale(*releases)
    two = len(releases) == 2
    maps = [
        cells(
            release,
            scale=scale,
            id=f"cells-{side}",
            side=side if two else None,
            title=label if two else "",
            palette=palette,
        )
        for release, label, side in zip(releases, labels, SIDES, strict=False)
    ]
    told = [
        f"{label}: {release.header.guarantee}" if two else release.header.guarantee
        for release, label in zip(releases, labels, strict=True)
    ]

    return Scene(
        marks=[*maps, *outlines(bounds)],
        camera=camera or Camera(bounds=bounds, key="domain"),
        legend=density_legend(scale, releases, palette=palette),
        mode=mode if two else "single",
        labels=labels if two else (),
        tools=("rect",),
        domain=bounds,
        raw=detail == "raw",
        title=title,
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
