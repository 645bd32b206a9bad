"""HTML page of a release of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpviz.exports.facts import Mapped
from dpviz.exports.html import map_page
from dpviz.exports.presentation import PLAIN, Presentation
from dpviz.exports.scenes import scene_page
from dpviz.exports.stills import flat_maps
from dpviz.releases.areas.window import step_windows
from dpviz.releases.counts import is_areas
from dpviz.releases.points.window import has_windows, windows
from dpviz.releases.release import Release
from dpviz.releases.series import Series
from dpviz.releases.series_days import day_windows
from dpviz.render.scene import Bounds, Camera
from dpviz.render.view import MAX_RELEASES

MAX_MAPS = 100
"""Most maps of a page by time and category: it has fewer steps with more than seven categories."""

MAX_DAYS = 28
"""Most days of a series on a page, the latest."""


def release_page(
    release: Release | Series,
    presentation: Presentation = PLAIN,
    rects: Sequence[Bounds] = (),
    camera: Camera | None = None,
    basemap: str = "",
) -> str:
    """Self-contained HTML page of a release of any kind; without a map it has tables.

    Args:
        release: a release of any kind; with time it becomes a series of windows. Or a series, with
            a map of all its days and of each of the latest.
        presentation: title, subtitle, noun and notes of the page.
        rects: see :func:`map_page`.
        camera: see :func:`map_page`.
        basemap: see :func:`map_page`.
    """
    seen: dict[str, Any] = {"rects": rects, "camera": camera, "basemap": basemap}
    if isinstance(release, Series):
        days, names = day_windows(release, _most_steps(release, MAX_DAYS))
        return map_page(days, labels=names, presentation=presentation, whole=days[0], **seen)
    if has_windows(release):
        steps, names = windows(release, _most_steps(release))
        return map_page(steps, labels=names, presentation=presentation, whole=release, **seen)
    if is_areas(release) and release.steps is not None:
        parts, names = step_windows(release, _most_steps(release))
        return map_page(parts, labels=names, presentation=presentation, whole=release, **seen)
    maps, labels = flat_maps([release])
    if not maps:
        return scene_page(release, presentation)
    whole = None if maps[0] is release else release
    return map_page(maps, labels=labels, presentation=presentation, whole=whole, **seen)


def _most_steps(release: Mapped | Series, most: int = MAX_RELEASES) -> int:
    """Most steps of a page, each with a map of all categories and of each."""
    return min(most, max(MAX_MAPS // (1 + len(release.kinds)) - 1, 2))
