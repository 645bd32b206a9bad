"""Pictures of a release of any kind: for a report, or as files of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpviz.errors import ReleaseError
from dpviz.exports.facts import Mapped, label_of
from dpviz.exports.html import labels_of, points_of
from dpviz.exports.presentation import PLAIN, Presentation
from dpviz.exports.scenes import MAX_EDGES, release_scene
from dpviz.exports.views import maps_of
from dpviz.exports.words import default_title
from dpviz.releases.counts import CountRelease, PointRelease, is_areas, is_points, is_roads
from dpviz.releases.flows.release import is_flows
from dpviz.releases.points.marginal import marginal
from dpviz.releases.points.window import during
from dpviz.releases.release import Release
from dpviz.render.picture import Size, Words, comparison_png
from dpviz.render.scene import Bounds
from dpviz.render.scene_picture import scene_png
from dpviz.render.view import check


def flat_maps(
    releases: Sequence[Release], labels: Sequence[str] = ()
) -> tuple[list[Mapped], list[str]]:
    """2-D maps of releases, with their labels; empty if a single release has none.

    A release with time gives the map of its whole period. A release of trips gives two maps, of
    starts and of ends.

    Raises:
        ReleaseError: maps that cannot share a page.
    """
    first = releases[0]
    mapped = [each for each in releases if is_points(each) or is_areas(each)]
    if len(releases) == 1 and is_points(first):
        place = first.domain.without_time
        if place.dims == 4:
            return _ends(first), ["From", "To"]
        if place.dims != 2:
            return [], []
        if first.domain.time is not None:
            mapped = [during(first, first.domain.period)]
            labels = labels or [label_of(mapped[0])]
    if len(releases) == 1 and not mapped:
        return [], []
    if len(mapped) < len(releases):
        raise ReleaseError("only releases of points can be compared: give one release")
    check(mapped, 2)
    return mapped, labels_of(mapped, labels)


def _ends(release: PointRelease) -> list[Mapped]:
    """Maps of where trips start and where they end, under the same names of columns."""
    start, end = marginal(release, (0, 1)), marginal(release, (2, 3))
    domain = replace(end.domain, columns=start.domain.columns)
    return [start, CountRelease(replace(end.frame, domain=domain), end.nodes, end.header)]


def release_picture(
    releases: Sequence[Release],
    labels: Sequence[str] = (),
    rect: Bounds | None = None,
    presentation: Presentation = PLAIN,
    size: Size = "screen",
) -> bytes:
    """Picture of one release of any kind, or of two beside each other, as PNG.

    Raises:
        ReleaseError: a release without a map.
    """
    shown = presentation
    words = Words(shown.title or default_title(releases), shown.subtitle, shown.noun, shown.pins)
    maps, names = flat_maps(releases, labels)
    if maps:
        points = points_of(maps)
        scaled = maps_of(points, names)[0] if points else ()
        return comparison_png(maps, names, rect, words=words, scaled_as=scaled, size=size)
    drawn = _scene_picture(releases[0], words, size)
    if drawn is None:
        raise ReleaseError("this release has no map to draw: 'dpviz report' lists its counts")
    return drawn


def report_pictures(
    releases: Sequence[Release],
    labels: Sequence[str] = (),
    rect: Bounds | None = None,
    presentation: Presentation = PLAIN,
) -> list[tuple[str, bytes]]:
    """Pictures of a report with their names: one for each map, with categories one for each.

    The pictures have no title, subtitle and guarantee, since the page has them; those of categories
    have the classes of the first.
    """
    words = Words(noun=presentation.noun, pins=presentation.pins, with_status=False)
    maps, names = flat_maps(releases, labels)
    if not maps:
        drawn = _scene_picture(releases[0], words, "report")
        return [] if drawn is None else [(label_of(releases[0]), drawn)]
    points = points_of(maps)
    shown, titles = maps_of(points, names) if points else (maps, names)
    return [
        (
            title,
            comparison_png(
                [each],
                [title],
                rect,
                words=words if at == 0 else replace(words, pins=()),
                scaled_as=points_of(shown),
                size="report" if at < len(maps) else "small",
            ),
        )
        for at, (each, title) in enumerate(zip(shown, titles, strict=True))
    ]


def has_picture(release: Release) -> bool:
    """Return whether a release has a map that a picture can show."""
    if is_points(release):
        return release.domain.without_time.dims in (2, 4)
    if is_roads(release):
        return len(release.frame.graph) <= MAX_EDGES
    return is_areas(release) or is_flows(release) or "cells" in release.header.extra


def _scene_picture(release: Release, words: Words, size: Size) -> bytes | None:
    """Picture of streets or moves; None where there are no places."""
    scene = release_scene(release, words.noun)
    if scene is None:
        return None
    return scene_png(scene, label_of(release), release.header.privacy_status[1], words, size)
