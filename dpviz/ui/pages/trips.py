"""Trips: pickup and drop-off on two linked maps; how many go from here to there."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.build import build
from dpviz.domain import Domain
from dpviz.errors import DpvizError
from dpviz.evaluation.truth import exact_counts
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.points.marginal import marginal
from dpviz.releases.points.release import PointRelease
from dpviz.render import Camera, Scene, cells, density_legend, density_scale, rounded
from dpviz.render import with_noise as words
from dpviz.render.basemap import outlines
from dpviz.render.cells import domain_bounds
from dpviz.render.projection import from_degrees
from dpviz.ui.map import Shape, map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.points.answers import Rect, rectangle_form
from dpviz.ui.points.downloads import download_buttons
from dpviz.ui.points.source_form import Source, source_form
from dpviz.ui.shared import permalink
from dpviz.ui.shared.method_form import Choice, method_form
from dpviz.ui.shared.prices import price_list
from dpviz.ui.shared.skeleton import Slots, run
from dpviz.ui.shared.text import plain

TITLE, ICON, ORDER = "Trips", ":material/trip_origin:", 5
KEY = "trips"
ENDS = (("from", "Pickups", (0, 1)), ("to", "Drop-offs", (2, 3)))
CELLS = 64


def page() -> None:
    """The page."""
    run(
        Slots(
            key=KEY,
            records="trips",
            restore=_restore,
            source=lambda: source_form(
                KEY,
                4,
                permalink.parameter("data"),
                sensitive=permalink.parameter("sensitive") == "1",
            ),
            choose=lambda source: method_form(
                KEY,
                4,
                public=source.public,
                start=permalink.parameter("method") or "privtree",
                saved=permalink.pairs("set"),
            ),
            build=lambda source, choice, **how: build(
                source.handle, choice.name, choice.epsilon, **choice.parameters, **how
            ),
            adopt=lambda opened: Source(None, opened.title, opened.key),
            empty=lambda: st.caption("Choose a file of trips and its area in the sidebar."),
            before=lambda source: None,
            show=_show,
            link=lambda source, choice: {
                "data": source.name,
                "method": choice.name,
                "set": ";".join(f"{name}:{value}" for name, value in choice.parameters.items()),
            },
        )
    )


def _restore() -> None:
    for end, _, _ in ENDS:
        st.session_state[f"{KEY}.{end}"] = permalink.number_list(end, 4)


def _show(release: PointRelease, source: Source, choice: Choice | None) -> None:
    _maps_and_answer(release, source)
    with st.expander("How the budget was spent", icon=":material/payments:"):
        price_list(release.header)
    with st.expander("Download this release", icon=":material/download:"):
        download_buttons(KEY, release)


@st.fragment
def _maps_and_answer(release: PointRelease, source: Source) -> None:
    """Two maps and the answer: drawing reruns this part only."""
    rects: dict[str, Rect | None] = {
        end: _usable(release, title, axes, st.session_state[f"{KEY}.{end}"])
        for end, title, axes in ENDS
    }
    _answer(release, source, rects["from"], rects["to"])
    columns = st.columns(2, gap="medium")
    others = {"from": rects["to"], "to": rects["from"]}
    for column, (end, title, axes) in zip(columns, ENDS, strict=True):
        with column:
            other = others[end]
            other_end = {
                "from": "that end in the other rectangle",
                "to": "that begin in the other one",
            }
            st.markdown(f"**{title}**" + (f" of trips {other_end[end]}" if other else ""))
            try:
                within = None if other is None else from_degrees(other, release.domain.crs)
                scene = _scene(marginal(release, axes, within, CELLS), source, title)
            except DpvizError as error:
                st.warning(plain(error), icon=":material/crop_free:")
                continue
            name = f"{KEY}.map.{end}"
            map_view(scene, key=name, height=460, on_shape=partial(_drawn, end))
            typed = rectangle_form(f"{KEY}.{end}", rects[end], scene.domain or (0, 0, 1, 1))
            rect = rects[end]
            map_overlay(name, shape=Shape(rect=rect) if rect else None)
            permalink.write({end: permalink.joined(rect)})
            if typed is not None:
                st.session_state[f"{KEY}.{end}"] = typed
                st.rerun(scope="fragment")
    permalink.keep(KEY)


def _usable(
    release: PointRelease, title: str, axes: tuple[int, int], rect: Rect | None
) -> Rect | None:
    """The rectangle of one map; None, and a word about it, where it has no place in the domain."""
    if rect is None:
        return None
    domain = release.domain
    lower, upper = (tuple(side[axis] for axis in axes) for side in (domain.lower, domain.upper))
    try:
        Domain(lower, upper, crs=domain.crs).boxes(from_degrees(rect, domain.crs))
    except DpvizError as error:
        st.warning(plain(f"{title}: {error}"), icon=":material/crop_free:")
        return None
    return rect


def _answer(release: PointRelease, source: Source, start: Rect | None, end: Rect | None) -> None:
    if start is None and end is None:
        st.caption(
            "Draw a rectangle on Pickups (from) and one on Drop-offs (to). With one of them "
            "drawn, the other map shows the other end of just those trips."
        )
        return
    try:
        whole = domain_bounds(release.domain)
        crs = release.domain.crs
        a, b = (from_degrees(rect or whole, crs) for rect in (start, end))
        question = [*a[:2], *b[:2], *a[2:], *b[2:]]
        answers = release.count(question)
    except DpvizError as error:
        st.warning(plain(error), icon=":material/crop_free:")
        return
    half = INTERVAL_SDS * float(answers.noise_sd[0])
    spread = INTERVAL_SDS * float(answers.uniformity_sd[0])
    with st.container(horizontal=True, gap="large"):
        st.metric("Trips from here to there", words(float(answers.count[0]), half), width="content")
        st.metric(
            "Error from cut cells (estimate)", f"± {rounded(spread, spread)}", width="content"
        )
        st.metric("Built from cells", f"{int(answers.nodes[0]):,}", width="content")
        if source.public:
            exact = int(exact_counts(source.handle, question)[0])
            st.metric("Exact (public data)", f"{exact:,}", width="content")


def _scene(seen: PointRelease, source: Source, title: str) -> Scene:
    bounds = domain_bounds(seen.domain)
    scale = density_scale(seen)
    return Scene(
        marks=[cells(seen, scale=scale), *outlines(bounds)],
        camera=Camera(bounds=bounds, key=source.key),
        legend=density_legend(scale, [seen], title="Trips per km²"),
        tools=("rect",),
        domain=bounds,
        description=f"{title}: {seen.header.guarantee}",
    )


def _drawn(end: str) -> None:
    shape = events(f"{KEY}.map.{end}").shape
    st.session_state[f"{KEY}.{end}"] = shape.rect if shape else None
