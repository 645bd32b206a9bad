"""HTML page of a release of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dpviz.exports.html import PLAIN, map_page
from dpviz.exports.presentation import Presentation
from dpviz.exports.scenes import scene_page
from dpviz.releases.counts import CountRelease, PointRelease
from dpviz.releases.points.marginal import marginal
from dpviz.releases.points.window import windows
from dpviz.render.scene import Bounds, Camera


def release_page(
    release: Any,
    presentation: Presentation = PLAIN,
    rects: Sequence[Bounds] = (),
    camera: Camera | None = None,
) -> str:
    """Self-contained HTML page of a release of any kind.

    Args:
        release: a release of points (with time: a series of windows), trips, areas, roads or
            sequences.
        presentation: title, subtitle, noun and notes of the page.
        rects: see :func:`map_page`.
        camera: see :func:`map_page`.

    Raises:
        ReleaseError: a release of one, three or more than four dimensions.
    """
    maps: list[Any] = [release]
    labels: Sequence[str] = ()
    if release.kind in ("roads", "sequences"):
        return scene_page(release, presentation)
    if release.kind == "points" and release.domain.time is not None:
        maps, labels = windows(release)
    elif release.kind == "points" and release.domain.dims == 4:
        maps, labels = _ends(release), ("From", "To")
    return map_page(maps, labels=labels, rects=rects, presentation=presentation, camera=camera)


def _ends(release: PointRelease) -> list[PointRelease]:
    """Maps of where trips start and where they end, under the same names of columns."""
    start, end = marginal(release, (0, 1)), marginal(release, (2, 3))
    domain = replace(end.domain, columns=start.domain.columns)
    return [start, CountRelease(replace(end.frame, domain=domain), end.nodes, end.header)]
