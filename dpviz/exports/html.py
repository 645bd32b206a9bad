"""A map in one HTML file: the app's own map with a release inside, for a USB stick.

The file holds deck.gl from the installed pydeck, the map's program, the ground and each release's
tree, so that a rectangle drawn in it is answered by the release as the engine would. Its
content security policy forbids all connections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Any

from dpviz.errors import ReleaseError
from dpviz.exports.facts import (
    Mapped,
    are_views_of_one,
    label_of,
)
from dpviz.exports.pack import Packer, base64_of, compressed, deck
from dpviz.exports.page import page
from dpviz.exports.places import findable
from dpviz.exports.presentation import PLAIN, Presentation
from dpviz.exports.tree import pack_tree, pack_windows
from dpviz.exports.views import ALL, EACH_STEP, attribute_views, level_views, maps_of, pack_areas
from dpviz.exports.words import default_title, words_of_page
from dpviz.releases.counts import AreaRelease, PointRelease, is_areas
from dpviz.releases.points.sums import ERROR_CORRELATION
from dpviz.releases.points.window import has_windows
from dpviz.releases.release import Release
from dpviz.render.areas import scene_of
from dpviz.render.basemap_file import basemap_marks
from dpviz.render.cells import density_legend, density_scale, domain_bounds, on_map
from dpviz.render.client.assemble import script, style
from dpviz.render.colors import every_palette
from dpviz.render.difference import difference
from dpviz.render.legend import with_noun
from dpviz.render.numbers import count_words
from dpviz.render.projection import degree_boxes, is_degrees
from dpviz.render.scene import Bounds, Camera, Scene, tables
from dpviz.render.view import MAX_RELEASES, check, series_scene

HEIGHT = 640
"""Height of the map in pixels, if the screen is high enough."""


def map_page(
    releases: Sequence[Mapped],
    *,
    labels: Sequence[str] = (),
    rects: Sequence[Bounds] = (),
    presentation: Presentation = PLAIN,
    camera: Camera | None = None,
    basemap: str = "",
    whole: Release | None = None,
) -> str:
    """A self-contained HTML page: one release, two to swipe between, or a series under a slider.

    For one release the reader chooses the view: with kinds, one kind or its share; with values,
    the mean; with areas, the level.

    Args:
        releases: up to :data:`~dpviz.render.view.MAX_RELEASES` of the same 2-D domain; from three
            releases on, the one with the smallest ε comes first. Or one release of areas.
        labels: one each; by default method and ε.
        rects: rectangles (west, south, east, north in degrees) whose answers the page shows.
        presentation: title, subtitle, noun and notes of the page.
        camera: initial view; the whole domain by default.
        basemap: a public file of streets, water and places, in place of the bundled ground.
        whole: see :func:`~dpviz.exports.words.words_of_page`.

    Raises:
        ReleaseError: no release or too many, not 2-D, or not of one domain.
        DomainError: a rectangle outside the domain.
    """
    rects = degree_boxes(rects)
    packed = packed_map(
        releases, labels, rects=rects, presentation=presentation, camera=camera, basemap=basemap,
        whole=whole,
    )  # fmt: skip
    words = words_of_page(packed.releases, packed.names, rects, presentation, whole)
    return viewer_page(packed.spec, packed.block, live=packed.live, **words)


def viewer_page(spec: dict[str, Any], block: bytes, *, live: bool = False, **words: Any) -> str:
    """Render a page with the viewer, its scene and further template values.

    Args:
        spec: see :class:`PackedMap`.
        block: see :class:`PackedMap`.
        live: True if the map answers rectangles.
        **words: see :func:`~dpviz.exports.words.words_of_page`.
    """
    return page(
        "map.html",
        spec=spec,
        style=style(),
        deck=base64_of(deck()),
        columns=base64_of(compressed(block)),
        program=script("hosts/file.js"),
        live=live,
        **words,
    )


def totals_of(releases: Sequence[Mapped]) -> list[str]:
    """Noisy total of each map of a page in words."""
    return [count_words(each.count(each.domain.bounds)) for each in releases]


@dataclass(frozen=True)
class PackedMap:
    """A map packed for the viewer in a browser, which draws it and may answer queries.

    Attributes:
        releases, names: in the order in which they are shown.
        live: True if the map answers rectangles; a domain not in degrees can only be viewed.
        spec: plain values; ``spec["columns"]`` says where each column lies in ``block``.
        block: the columns' bytes.
    """

    releases: Sequence[Mapped]
    names: Sequence[str]
    live: bool
    spec: dict[str, Any]
    block: bytes


def packed_map(
    releases: Sequence[Mapped],
    labels: Sequence[str] = (),
    *,
    rects: Sequence[Bounds] = (),
    presentation: Presentation = PLAIN,
    camera: Camera | None = None,
    basemap: str = "",
    height: int = HEIGHT,
    whole: Release | None = None,
) -> PackedMap:
    """Releases as the viewer takes them: see :func:`map_page`; ``height`` in pixels.

    With ``whole``, a release of which ``releases`` are steps, there is a map of each category in
    each step, and queries of points are answered by ``whole``.
    """
    many = are_views_of_one(releases)
    # The whole period comes before its steps; all steps of areas share one outline.
    check(releases[:1] if many and is_areas(releases[0]) else releases, MAX_RELEASES + many)
    names = labels_of(releases, labels)
    if len(releases) > 2:
        order = sorted(range(len(releases)), key=lambda at: releases[at].header.epsilon)
        releases, names = [releases[at] for at in order], [names[at] for at in order]
    first, packer = releases[0], Packer()
    live = is_degrees(first.domain.crs)  # the page's JavaScript answers in degrees
    base = basemap_marks(basemap, domain_bounds(first.domain)) if basemap else None
    title = presentation.title or default_title(releases[:1] if many else releases)
    seen: dict[str, Any] = {"camera": camera, "title": title, "base": base}
    if is_areas(first):
        scene, content = _areas(
            area_releases(releases), names, packer, live, seen, whole is not None
        )
    else:
        timed = whole if whole is not None and has_windows(whole) else None
        scene, content = _cells(points_of(releases), names, packer, live, seen, timed)
    if whole is not None and whole.kind == "points" and timed is None:
        content["totals"] = []  # that of trips, which the page states, is of both maps
    domain = first.domain
    pins = presentation.marks()
    packer.add_tables({mark.id: mark.table for mark in pins})
    scene = replace(scene, marks=[*scene.marks, *pins])
    spec = viewer_spec(scene, packer, releases) | {
        "height": height,
        "tools": list(scene.tools) if live else [],
        "domainBox": {"lower": domain.lower, "upper": domain.upper},
        "side": domain.side,
        "rects": [list(on_map(rect, domain)) for rect in rects],
        "records": presentation.noun or first.records,
        "places": findable(first) if live else None,
        **content,
    }
    name_records(spec, presentation.noun)
    return PackedMap(releases, names, live, spec, packer.block())


def viewer_spec(scene: Scene, packer: Packer, releases: Sequence[Release]) -> dict[str, Any]:
    """Values that the viewer needs for any map; enough for a map without queries."""
    return scene.to_dict() | {
        "height": HEIGHT,
        "epsilons": [each.header.epsilon for each in releases],
        "columns": packer.index,
        "contrast": None,
        "chooser": "",
        "whole": 0,
        **{key: [] for key in ("trees", "periods", "rects", "views")},
    }


def name_records(spec: dict[str, Any], noun: str) -> None:
    """Call the records by the owner's noun in all legends and in tooltips over areas."""
    owners = (spec, *spec["views"])
    legends = [spec["contrast"]]
    legends += [each.get(name) for each in owners for name in ("legend", "wholeLegend")]
    for legend in filter(None, legends if noun else ()):
        before = legend["noun"]
        legend |= {key: with_noun(legend[key], noun, before) for key in ("title", "blank", "noun")}
    for tooltip in spec["tooltips"].values() if spec.get("areas") else ():
        for row in tooltip["rows"]:
            row["label"] = with_noun(row["label"], noun)


def _cells(
    releases: Sequence[PointRelease],
    labels: Sequence[str],
    packer: Packer,
    live: bool,
    seen: dict[str, Any],
    whole: PointRelease | None = None,
) -> tuple[Scene, dict[str, Any]]:
    """Scene of cells, and the values that the page needs besides it."""
    maps, names = maps_of(releases, labels, in_time=len(releases) > 1 and whole is not None)
    periods = _in_time(releases)
    whole_period = range(0, len(maps), len(releases)) if periods.get("whole") else range(0)
    scale = density_scale(*(each for at, each in enumerate(maps) if at not in whole_period))
    scene = series_scene(maps, names, **seen, most=max(MAX_RELEASES, len(maps)), scale=scale)
    apart = None
    if whole_period and scene.legend is not None:  # its densities are far above those of steps
        first = maps[:: len(releases)]
        scale = density_scale(*first)
        apart = density_legend(scale, first)
        look = {"bounds": list(scale.bounds), "palettes": every_palette(len(scale))}
        marks = [
            mark.with_layer(**look) if at in whole_period else mark
            for at, mark in enumerate(scene.marks)
        ]
        scene = replace(scene, marks=marks, legend=scene.legend.of(EACH_STEP))
    contrast = None
    if len(releases) == 2 and not any("period" in each.header.extra for each in releases):
        mark, contrast = difference(releases, names)
        scene = replace(scene, marks=[*scene.marks[:2], mark, *scene.marks[2:]])
    views = attribute_views(releases)
    more = [mark for view in views for mark in view.marks]
    scene = replace(scene, marks=[*scene.marks[: len(maps)], *more, *scene.marks[len(maps) :]])
    derived = [f"cells-{at}" for at in range(len(maps)) if live]
    packer.add_tables(tables([mark for mark in scene.marks if mark.id not in derived], raw=True))
    values = releases[0].domain.values
    return scene, {
        "trees": [pack_tree(packer, f"tree{at}", each) for at, each in enumerate(maps) if live],
        "windows": whole and pack_windows(packer, whole, releases) if live else None,
        "totals": totals_of(maps),
        **_listed(releases, labels),
        **periods,
        "wholeLegend": apart and apart.to_dict(),
        "contrast": contrast and contrast.to_dict(),
        "views": [view.to_dict() for view in views],
        "chooser": "Map" if views else "",
        "values": values
        and {"column": values.column, "limits": values.limits, "alike": ERROR_CORRELATION},
    }


def _listed(releases: Sequence[Mapped], labels: Sequence[str]) -> dict[str, Any]:
    """Names of the releases or steps, and of the categories that each has a map for."""
    kinds = releases[0].kinds if len(releases) == 1 or are_views_of_one(releases) else ()
    return {"names": labels, "categories": [ALL, *kinds] if kinds else []}


def _in_time(releases: Sequence[Mapped]) -> dict[str, Any]:
    """Periods of the maps, as in the app's addresses.

    ``whole`` is 1 if the first map is of the whole period. Empty if the maps are not of periods of
    one release.
    """
    if not are_views_of_one(releases) or "period" not in releases[0].header.extra:
        return {}
    periods = [each.header.extra["period"] for each in releases]
    first, *steps = periods
    return {
        "whole": int(first[1] == steps[-1][1]),
        "periods": [",".join(each) for each in periods],
    }


def _areas(
    releases: Sequence[AreaRelease],
    labels: Sequence[str],
    packer: Packer,
    live: bool,
    seen: dict[str, Any],
    in_time: bool,
) -> tuple[Scene, dict[str, Any]]:
    """Scene of areas, level by level, and the values that the page needs besides it."""
    maps, _ = maps_of(releases, labels, in_time=in_time)
    periods = _in_time(releases)
    views = level_views(maps, len(releases) if periods.get("whole") else 0)
    marks = [mark for view in views for mark in view.marks]
    scene = scene_of(releases[0], marks, views[-1].legend, **seen)
    packer.add_tables(scene.tables)
    return scene, {
        **_listed(releases, labels),
        **periods,
        "totals": totals_of(maps),
        "areas": pack_areas(packer, maps) if live else None,
        "views": [view.to_dict() for view in views],
        "view": len(views) - 1,
        "chooser": "Level" if len(views) > 1 else "",
    }


def points_of(releases: Sequence[Mapped]) -> list[PointRelease]:
    """Releases as points; :func:`~dpviz.render.view.check` has refused areas beside others."""
    return [each for each in releases if not is_areas(each)]


def area_releases(releases: Sequence[Mapped]) -> list[AreaRelease]:
    """The releases of areas among these."""
    return [each for each in releases if is_areas(each)]


def labels_of(releases: Sequence[Mapped], labels: Sequence[str] = ()) -> list[str]:
    """Given labels of the releases, or distinct default labels.

    Raises:
        ReleaseError: not one name each.
    """
    if labels:
        if len(labels) != len(releases):
            raise ReleaseError(f"{len(labels)} labels for {len(releases)} releases: give one each")
        return list(labels)
    names = [label_of(each) for each in releases]
    if len(set(names)) < len(names):
        return [f"{side}: {name}" for side, name in zip(ascii_uppercase, names, strict=False)]
    return names
