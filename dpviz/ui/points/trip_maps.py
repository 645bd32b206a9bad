"""Two linked maps of trips, pickups and drop-offs, and the count between two rectangles."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from dpviz.domain import Domain
from dpviz.errors import DpvizError
from dpviz.evaluation.truth import exact_counts
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.marginal import marginal
from dpviz.render import Camera, Scene, cells, density_legend, density_scale
from dpviz.render.basemap import outlines
from dpviz.render.cells import domain_bounds
from dpviz.render.legend import Legend
from dpviz.render.nearby import place_rows
from dpviz.render.numbers import count_words
from dpviz.render.projection import from_degrees
from dpviz.render.scale import Scale
from dpviz.render.scene import Bounds
from dpviz.ui.map import Shape, map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.points.answers import CUT, MARGIN, error_lines, in_domain, numbers_of, rectangle_form
from dpviz.ui.points.cells_table import table_of_places
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.frame import show_card
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.parts import rerun_fragment
from dpviz.ui.shared.text import sentence

ENDS = (("from", "Pickups", (0, 1)), ("to", "Drop-offs", (2, 3)))
CELLS = 64
FIELDS = tuple(replace(permalink.RECT, name=end) for end, _, _ in ENDS)


@fragment
def maps_and_answer(prefix: str, release: PointRelease, source: PointSource) -> None:
    """Show two maps and the answer; drawing reruns this fragment only."""
    rects: dict[str, Bounds | None] = {
        end: _usable(release, axes, st.session_state.get(f"{prefix}.{end}"))
        for end, _, axes in ENDS
    }
    with st.container(key="dpviz-answer-line"):
        _answer(release, source, rects["from"], rects["to"])
    if any(rects.values()):
        show_card(rects)
    columns = st.container(key="dpviz-pair").columns(2, gap="medium")
    others = {"from": rects["to"], "to": rects["from"]}
    seen: dict[str, PointRelease | DpvizError] = {
        end: _seen(release, axes, others[end]) for end, _, axes in ENDS
    }
    drawn = [each for each in seen.values() if not isinstance(each, DpvizError)]
    scale = density_scale(*drawn) if drawn else None
    for column, (end, title, _) in zip(columns, ENDS, strict=True):
        with column:
            ends = seen[end]
            verb = {"from": "end", "to": "begin"}[end]
            of_those = f" of trips that {verb} in the other rectangle" if others[end] else ""
            st.markdown(f"**{title}**{of_those}")
            if scale is None or isinstance(ends, DpvizError):
                st.warning(sentence(ends), icon=":material/crop_free:")
                continue
            scene = _scene(ends, scale, source, title)
            legend = density_legend(scale, drawn, noun="trips")
            if column is not columns[0]:  # one legend for both: the other only names what it counts
                legend = Legend(title="", noun=legend.noun)
            scene = replace(scene, legend=replace(legend, palettes=None))  # neither changes colours
            name = f"{prefix}.map.{end}"
            map_view(scene, key=name, on_shape=partial(_drawn, prefix, end))
            typed = rectangle_form(f"{prefix}.{end}", rects[end], scene.domain or (0, 0, 1, 1))
            rect = rects[end]
            map_overlay(name, shape=Shape(rect=rect) if rect else None)
            if typed is not None:
                st.session_state[f"{prefix}.{end}"] = typed
                rerun_fragment()
    permalink.write_address(prefix, FIELDS)


def _seen(
    release: PointRelease, axes: tuple[int, int], other: Bounds | None
) -> PointRelease | DpvizError:
    """One end of the trips whose other end lies in a rectangle, or why it cannot be shown."""
    try:
        within = None if other is None else from_degrees(other, release.domain.crs)
        return marginal(release, axes, within, CELLS)
    except DpvizError as error:
        return error


def _usable(release: PointRelease, axes: tuple[int, int], rect: Bounds | None) -> Bounds | None:
    """Rectangle of one map; None, after a warning, if it lies outside the domain."""
    if rect is None:
        return None
    domain = release.domain
    lower, upper = (tuple(side[axis] for axis in axes) for side in (domain.lower, domain.upper))
    return None if in_domain(rect, Domain(lower, upper, crs=domain.crs)) is None else rect


def _answer(
    release: PointRelease, source: PointSource, start: Bounds | None, end: Bounds | None
) -> None:
    """Show the answer in a line above the maps, or what to do."""
    if start is None and end is None:
        st.markdown(
            "How many trips lead from one place to another? Press ▭ **Draw** and mark where they "
            "begin, where they end, or both."
        )
        return
    try:
        domain, crs = release.domain, release.domain.crs
        a, b = (
            (*domain.lower[at : at + 2], *domain.upper[at : at + 2])
            if rect is None
            else from_degrees(rect, crs)
            for rect, at in ((start, 0), (end, 2))
        )
        question = [*a[:2], *b[:2], *a[2:], *b[2:]]
        answers = release.count(question)
    except DpvizError as error:
        st.warning(sentence(error), icon=":material/crop_free:")
        return
    asked = "from here to there" if start and end else f"that {'begin' if start else 'end'} here"
    words = [f"Trips {asked}: **{count_words(answers)}**"]
    if source.public:
        exact = int(exact_counts(source.data, question)[0])
        words.append(f"exact, from public data: **{exact:,}**")
    words += error_lines(numbers_of(answers)).replace("**", "").split("  \n")
    st.markdown(" · ".join(words), help=f"{MARGIN}. {CUT.format('cell')}")


def _scene(seen: PointRelease, scale: Scale, source: PointSource, title: str) -> Scene:
    """Map of one end, in classes that both maps share."""
    bounds = domain_bounds(seen.domain)
    return Scene(
        marks=[cells(seen, scale=scale), *outlines(bounds)],
        camera=Camera(bounds=bounds),
        tools=("rect",),
        domain=bounds,
        title=f"{source.title} · {title}",
        description=f"{title}: {seen.header.privacy_status[1]}",
    )


def _drawn(prefix: str, end: str) -> None:
    shape = events(f"{prefix}.map.{end}").shape
    st.session_state[f"{prefix}.{end}"] = shape.rect if shape else None


def ends_table(release: PointRelease) -> None:
    """Show how many trips begin and end around each named place, for those who see no map."""
    tables = cached(
        "trips.table",
        release,
        lambda: [place_rows(marginal(release, axes, None, CELLS)) for _, _, axes in ENDS],
    )
    for (_, title, _), rows in zip(ENDS, tables, strict=True):
        st.markdown(f"**{title}** by named place, densest first")
        if rows:
            table_of_places(rows)
        else:
            st.caption("No place of this area has a name on the map.")
