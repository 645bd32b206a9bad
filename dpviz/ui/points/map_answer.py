"""Map of a release and the answer to the drawn shape, for Explore and Publish."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import streamlit as st

from dpviz.domain import Domain
from dpviz.errors import DpvizError
from dpviz.exports.views import maps_of
from dpviz.releases.counts import AreaRelease, PointRelease, is_areas, is_points
from dpviz.releases.points.window import during
from dpviz.render import Camera, Mark, Scene, density_scale
from dpviz.render.cells import domain_bounds
from dpviz.render.scale import MAX_CLASSES, MIN_CLASSES, Scale
from dpviz.render.scene import Bounds
from dpviz.render.view import release_scene
from dpviz.ui.map import Shape, map_overlay, map_view
from dpviz.ui.map.component import Ring, begin_area, events
from dpviz.ui.points.answers import (
    MARGIN,
    answered,
    asked_polygon,
    asked_rectangle,
    covered_cells,
    history_table,
    note_repeated,
    overlaps,
    rectangle_form,
    show_answer,
    total_words,
)
from dpviz.ui.points.attributes import Look
from dpviz.ui.points.regions import districts_panel
from dpviz.ui.points.share import share_panel
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.frame import Panels, answer_card, map_container, show_card, tabs
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.method_form import title_of
from dpviz.ui.shared.panels import draw_hint
from dpviz.ui.shared.parts import rerun_fragment
from dpviz.ui.shared.presentation import counted_noun, words_of
from dpviz.ui.shared.text import plain, sentence
from dpviz.ui.shared.timeline import Window

WHOLE = "All areas"
"""Name of all areas together."""


@dataclass(frozen=True)
class LockedScale:
    """Scale that all maps of the same data keep; ``key`` of the data, None from an address."""

    scale: Scale
    key: str | None = None


def _viewpoint(name: str) -> tuple[float, ...] | None:
    place = permalink.number_list(name, 3)  # longitudes may exceed 180°, as around Fiji
    if place is None or abs(place[0]) > 540 or abs(place[1]) > 90 or not 0 <= place[2] <= 24:
        return None
    return place


CAMERA = permalink.Field("camera", _viewpoint, lambda seen: permalink.joined(seen, 5))


def _locked_scale(name: str) -> LockedScale | None:
    words = permalink.parameter(name)
    bounds = permalink.numbers(words, (words or "").count(",") + 1) or ()
    ascending = all(low < high for low, high in itertools.pairwise((0.0, *bounds)))
    fits = MIN_CLASSES <= len(bounds) <= MAX_CLASSES and ascending
    return LockedScale(Scale(bounds)) if fits else None


SCALE = permalink.Field(
    "scale",
    _locked_scale,
    lambda locked: ",".join(f"{bound:g}" for bound in locked.scale.bounds),
)
FIELDS = (permalink.RECT, permalink.RING, CAMERA, SCALE)


def scene_of(
    prefix: str,
    release: PointRelease,
    source: PointSource,
    tools: tuple[Literal["rect", "polygon"], ...] = ("rect", "polygon"),
    look: Look | None = None,
    every: PointRelease | None = None,
    periods: Sequence[Window] = (),
) -> Scene:
    """Scene of a 2-D release, rebuilt when the release, the look or the scale changes.

    At another ε or seed it keeps its scale, unless the visitor has unlocked it.

    ``every`` is the release with all its categories, which share one scale, and so do its
    ``periods``.
    """
    whole = every or release
    shared = partial(shared_scale, whole, periods)
    scale = locked_scale(prefix, source)
    if scale is None and look is None and not st.session_state.get(f"{prefix}.unlocked"):
        header = whole.header
        shown = source.key, header.method, whole.domain, header.extra.get("release_id"), periods
        scale = cached(f"{prefix}.scale.kept", shown, shared)

    def make() -> Scene:
        if look is None:
            made = release_scene([release], scale=scale or shared())
            made = replace(made, lock=scale is not None)
        else:
            made = look.of(release)
        title = f"{source.title} · {title_of(release.header.method)}"  # for pictures and tables
        return replace(made, tools=tools, title=made.title or title)

    return cached_scene(prefix, (release, look, scale), make, source)


def shared_scale(release: PointRelease, periods: Sequence[Window]) -> Scale:
    """Scale of all periods of a release in all its categories; without periods, of its map."""
    maps = [during(release, each) for each in periods] or [release]
    return density_scale(*maps_of(maps, [""] * len(maps), in_time=True)[0])


def locked_scale(prefix: str, source: PointSource) -> Scale | None:
    """Scale that the visitor has locked for these data; other data drop it."""
    place = f"{prefix}.scale"
    locked: LockedScale | None = st.session_state.get(place)
    if locked is None or locked.key not in (None, source.key):
        st.session_state[place] = None
        return None
    st.session_state[place] = replace(locked, key=source.key)
    return locked.scale


def cached_scene(prefix: str, asked: Any, make: Callable[[], Scene], source: PointSource) -> Scene:
    """Scene with the visitor's camera; rebuilt if its data or content changes."""
    place, question = f"{prefix}.scene", (source.key, asked)
    scene = at_last_camera(prefix, cached(place, question, make))
    st.session_state[place] = (question, scene)
    return scene


def at_last_camera(prefix: str, scene: Scene) -> Scene:
    """Scene at the visitor's last camera, for a map that is new on the page.

    A camera belongs to the area where it was used first, also if the address has kept it.
    """
    place, area = CAMERA.place(prefix), scene.camera.key
    seen: tuple[float, ...] | None = st.session_state.get(place)
    begin_area(f"{prefix}.map", area)
    if seen is None:
        return scene
    areas: dict[str | None, str] = st.session_state.setdefault(f"{place}.areas", {})
    if areas.setdefault(permalink.joined(seen, 5), area) != area:
        st.session_state[place] = None
        return scene
    if events(f"{prefix}.map").camera is not None:
        return scene
    longitude, latitude, zoom = seen
    camera = Camera(longitude=longitude, latitude=latitude, zoom=zoom, key=area)
    return scene if scene.camera == camera else replace(scene, camera=camera)


def ask_on_map(
    prefix: str,
    release: PointRelease | AreaRelease,
    source: PointSource,
    answer: Callable[[], list[Mark]],
    scene: Scene,
    *,
    fields: Sequence[permalink.Field],
    panels: Panels,
    others: Mapping[str, str | None] | None = None,
    flat: PointRelease | None = None,
) -> None:
    """Show the map, the answer to the drawn shape on it, and a row of tabs below.

    Call it last in a fragment: a typed rectangle reruns the fragment.

    Args:
        prefix: prefix of the page's keys.
        release: the queried release.
        source: source of its records.
        answer: shows the answer; returns its marks for the map.
        scene: the map.
        fields: fields of the map that the address stores.
        panels: functions that draw the page's own tabs, by title.
        others: further parameters of the address.
        flat: the release of points on the map, for counts by district.
    """
    name, legend = f"{prefix}.map", None
    rect, ring = question(prefix)
    words = words_of(prefix, release)
    if words.title:
        scene = replace(scene, title=words.title)
    if words.noun and scene.legend is not None:
        scene = replace(scene, legend=scene.legend.counting(words.noun))
    with map_container():
        map_view(
            at_last_camera(prefix, scene),
            key=name,
            on_shape=partial(query_drawn_shape, prefix),
            on_scale=partial(_lock, prefix),
        )
        keep_camera(prefix, scene)
        with answer_card():
            with st.container():  # keeps the form below it open when its content changes
                marks = answer()
            typed = rectangle_form(prefix, rect, domain_bounds(release.domain))
    if rect or ring:
        show_card(rect or ring)
    every: Panels = {**panels, "History": partial(history_table, prefix, release, source)}
    history, files = answered(prefix, release, source), panels["Share"]

    def share() -> None:
        share_panel(prefix, [release], history=history)
        files()

    every["Share"] = share
    if flat is not None:
        whole = release if is_points(release) else flat
        noun = words.noun or flat.records
        every["Districts"] = partial(districts_panel, prefix, flat, whole, noun)
    given = tabs(prefix, every, always=("Districts", "Share"))
    if flat is not None:
        districts, legend = given["Districts"]
        marks = [*districts, *marks]
    shape = Shape(rect=rect, ring=ring) if rect or ring else None
    map_overlay(name, marks=marks, shape=shape, legend=legend)
    permalink.write_address(prefix, fields, others)
    if typed is not None:
        set_query(prefix, typed)


def question(prefix: str) -> tuple[Bounds | None, Ring | None]:
    """Return the current query: a rectangle or a polygon, the other being None."""
    rect: Bounds | None = st.session_state.get(f"{prefix}.rect")
    return rect, None if rect else st.session_state.get(f"{prefix}.ring")


def drawn_answer(
    prefix: str,
    release: PointRelease | AreaRelease,
    source: PointSource,
    *,
    window: tuple[float, float] | None = None,
    then: str = ".",
    title: str = "Draw a rectangle",
) -> list[Mark]:
    """Show the answer to the drawn shape, or total and hint; return marks of the answer's cells.

    Args:
        prefix: prefix of the page's keys.
        release: the queried release.
        source: source of its records.
        window: in time.
        then: rest of the hint's sentence, see :func:`draw_hint`.
        title: title of the hint.
    """
    rect, ring = question(prefix)
    try:
        if ring and is_points(release) and window is None:
            asked = asked_polygon(release, source, ring)
        elif rect is not None:
            asked = asked_rectangle(release, source, rect, window)
        else:
            if window is None:  # of a window the row above the map says it
                noun = counted_noun(prefix, release)
                kind = release.header.extra.get("kind")
                every = WHOLE if is_areas(release) else f"All {noun}"
                named = every if kind is None else f"{noun[:1].upper()}{noun[1:]} of {kind}"
                st.metric(f"{plain(named)} (noisy)", total_words(release), help=MARGIN)
                note_repeated(release)
            draw_hint(prefix, then, title)
            return []
    except DpvizError as error:
        st.warning(sentence(error), icon=":material/crop_free:")
        return []
    outlined = window is None and is_points(release)
    show_answer(prefix, release, source, asked, outlined=outlined)
    return covered_cells(release, asked.nodes()) if window is None and is_points(release) else []


def set_query(prefix: str, rect: Bounds) -> None:
    """Make the rectangle the current query, and rerun the fragment that answers it."""
    st.session_state[f"{prefix}.rect"], st.session_state[f"{prefix}.ring"] = rect, None
    rerun_fragment()


def clear_distant_shape(prefix: str, source: PointSource, *domains: Domain) -> None:
    """Clear a shape that was drawn on other data and lies outside the domains shown now.

    A shape from the address is kept: the page says that it lies outside.
    """
    before = st.session_state.get(f"{prefix}.of_data")
    st.session_state[f"{prefix}.of_data"] = source.key
    rect: Bounds | None = st.session_state.get(f"{prefix}.rect")
    ring: Ring = st.session_state.get(f"{prefix}.ring") or ()
    if before in (None, source.key) or not (rect or ring):
        return
    xs, ys = (rect[::2], rect[1::2]) if rect else zip(*ring, strict=True)
    box = min(xs), min(ys), max(xs), max(ys)
    if not all(overlaps(box, domain) for domain in domains):
        st.session_state[f"{prefix}.rect"] = st.session_state[f"{prefix}.ring"] = None


def query_drawn_shape(prefix: str) -> None:
    """Make the shape drawn on the map the current query."""
    shape = events(f"{prefix}.map").shape
    st.session_state[f"{prefix}.rect"] = shape.rect if shape else None
    st.session_state[f"{prefix}.ring"] = shape.ring if shape else None


def _lock(prefix: str) -> None:
    """Keep the scale of the map, or no longer."""
    bounds = events(f"{prefix}.map").scale
    locked = LockedScale(Scale(tuple(bounds))) if bounds else None
    st.session_state[f"{prefix}.scale"] = locked
    st.session_state[f"{prefix}.unlocked"] = locked is None


def keep_camera(prefix: str, scene: Scene) -> None:
    """Store the camera on the scene's area, so that the map reopens at the visitor's last view."""
    camera, place = events(f"{prefix}.map").camera, CAMERA.place(prefix)
    if camera:
        seen = camera["longitude"], camera["latitude"], camera["zoom"]
        st.session_state[place] = seen
        areas = st.session_state.setdefault(f"{place}.areas", {})
        areas[permalink.joined(seen, 5)] = scene.camera.key
