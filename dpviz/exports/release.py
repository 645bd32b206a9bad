"""HTML page of a release of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpviz.exports.facts import Mapped
from dpviz.exports.html import PLAIN, map_page
from dpviz.exports.presentation import Presentation
from dpviz.exports.scenes import scene_page
from dpviz.exports.stills import flat_maps
from dpviz.releases.areas.window import step_windows
from dpviz.releases.counts import is_areas
from dpviz.releases.points.window import has_windows, windows
from dpviz.releases.release import Release
from dpviz.render.scene import Bounds, Camera
from dpviz.render.view import MAX_RELEASES

MAX_MAPS = 100
"""Most maps of a page by time and category: it has fewer steps with more than seven categories."""


def release_page(
    release: Release,
    presentation: Presentation = PLAIN,
    rects: Sequence[Bounds] = (),
    camera: Camera | None = None,
    basemap: str = "",
) -> str:
    """Self-contained HTML page of a release of any kind; without a map it has tables.

    Args:
        release: a release of any kind; with time it becomes a series of windows.
        presentation: title, subtitle, noun and notes of the page.
        rects: see :func:`map_page`.
        camera: see :func:`map_page`.
        basemap: see :func:`map_page`.
    """
    seen: dict[str, Any] = {"rects": rects, "camera": camera, "basemap": basemap}
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


def _most_steps(release: Mapped) -> int:
    """Most steps of a page, each with a map of all categories and of each."""
    return min(MAX_RELEASES, max(MAX_MAPS // (1 + len(release.kinds)) - 1, 2))
