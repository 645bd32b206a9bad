"""Tools for chapters: public built-in data, cached releases, maps, charts with tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dpviz.build import build
from dpviz.evaluation.lesson import METRES_PER_DEGREE, IsolatedRecord, isolated_record, records
from dpviz.exports.facts import strength
from dpviz.releases.counts import PointRelease
from dpviz.render import (
    Camera,
    Legend,
    Mark,
    Scene,
    boxes,
    cells,
    density_legend,
    density_scale,
    points,
)
from dpviz.render.basemap import outlines
from dpviz.render.cells import domain_bounds
from dpviz.render.numbers import odds
from dpviz.render.scale import Scale
from dpviz.ui.map import Shape, map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.points.source_form import built_in
from dpviz.ui.shared import permalink
from dpviz.ui.shared.charts import GREY, legend_look

HEIGHT, LARGE, LEGEND_HEIGHT = 380, 470, 70
"""Pixels of a chapter's map, of one beside its question, and of its legend: at 1280 by 720."""

LINE, AXIS = 23, 88
"""Pixels of a labelled bar and of all else of its chart, in presenter mode."""

LETTERS, PRESENTER_LETTERS = 16, 20
"""Pixels of a chart's letters at a desk, and in presenter mode."""

PRESENTER_MAP, PRESENTER_CHART = 1.2, 1.08
"""Factors of heights in presenter mode: larger letters need room."""

INK = ("#3a424a", "#cdd3d8")
"""Colour of a chart's words and thin lines on a light page, and on a dark one."""

PERSON = (120, 130, 140)
"""Colour of a record on the map, light or dark."""

SUSPECT = (213, 94, 0)
"""Colour of the person, or of the cell, that a chapter is about."""

SQUARE = (0, 114, 178)
"""Colour of the rectangle that is counted."""

DASHED = {"strokeDash": [5, 4], "color": GREY}
LIMIT = {**DASHED, "strokeWidth": 2}
"""Styles of a plain rule, and of an emphasised one."""

WITHOUT, WITH = "without the record", "with the record"
Rect = tuple[float, float, float, float]


@dataclass
class Room:
    """Inputs of a chapter, and its outputs on the page.

    Attributes:
        key: chapter name, the prefix of its widgets' keys.
        data: name of a built-in public data set.
        epsilon: value of the page's slider.
        seed: seed of the simulated noise.
        presenting: True for large letters, for a lecture room.
        guess: the visitor's prediction; empty until it is made.
        map_side: container of the map.
        tables: charts as tables, by caption; the page shows them.
        notes: small print about what is revealed; the page shows it, too.
        link: the chapter's own parameters of the address.
        controls: names of its controls in the address.
        chosen: controls changed from their start values, also for the address.
    """

    key: str
    data: str
    epsilon: float
    seed: int
    presenting: bool = False
    guess: str = ""
    map_side: Any = st
    tables: dict[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    link: dict[str, str | None] = field(default_factory=dict)
    controls: list[str] = field(default_factory=list)
    chosen: dict[str, str] = field(default_factory=dict)

    @property
    def revealed(self) -> bool:
        """True once a prediction was made; before that, a chapter shows only its map."""
        return bool(self.guess)

    @property
    def handle(self) -> Any:
        """Handle of the data; they are public, so exact answers may be shown."""
        return built_in(self.data)

    @property
    def bounds(self) -> Rect:
        """West, south, east, north of the domain, in degrees."""
        return domain_bounds(self.handle.domain)

    @property
    def isolated(self) -> IsolatedRecord:
        """Isolated record that a move of a square by a few metres reveals."""
        return _isolated(self.data)

    @property
    def map_key(self) -> str:
        """Widget key of the chapter's one map."""
        return f"{self.key}.map"

    def release(self, method: str, **parameters: Any) -> PointRelease:
        """Release of the data with this ε and seed, cached."""
        return released(self.data, method, self.epsilon, self.seed, parameters)

    def scene(
        self,
        *marks: Mark,
        release: PointRelease | None = None,
        camera: Rect | None = None,
        scale: Scale | None = None,
        **options: Any,
    ) -> Scene:
        """Map scene of marks over the cells of a release, if given, on the city's outlines.

        The cells have their own density classes, unless a scale is given.
        """
        legend: Legend | None = None
        below: list[Mark] = []
        if release is not None:
            scale = scale or density_scale(release)
            below, legend = [cells(release, scale=scale)], density_legend(scale, [release])
        return Scene(
            marks=[*below, *outlines(self.bounds), *marks],
            camera=Camera(bounds=camera or self.bounds, key=f"{self.key}.{self.data}.{camera}"),
            domain=self.bounds,
            **{"legend": legend, "description": "Map of the chapter", **options},
        )

    def one_more(self) -> Scene:
        """Map scene of the people around one square, and of one more person in it."""
        (west, south, east, north), seen = self.isolated.rect, around(self.isolated, 40.0)
        return self.scene(
            boxes("square", [self.isolated.rect], color=SQUARE, width=3),
            points("people", records(self.handle, seen), color=PERSON, radius=6),
            points("person", [((west + east) / 2, (south + north) / 2)], color=SUSPECT, radius=9),
            camera=seen,
            plane=True,  # no degrees: the square says how long 200 metres are
            description="The people around one square of 200 metres, and one more in it",
        )

    def show(self, scene: Scene, words: str, above: int = 0, **heard: Callable[[], None]) -> None:
        """Show the map below ``above`` pixels of controls, then words, which a phone shows last."""
        with self.map_side:
            alone = LARGE if not (self.revealed or self.presenting) else HEIGHT
            height = alone - above - (LEGEND_HEIGHT if scene.legend else 0)
            pixels = round(height * (PRESENTER_MAP if self.presenting else 1))
            map_view(scene, key=self.map_key, height=pixels, tiles=False, **heard)
            with st.container(key=f"{self.key}.aside"):
                st.caption(words)

    def show_rect(self, *marks: Mark, words: str, **options: Any) -> Rect:
        """Show the chapter's map with a rectangle that can be redrawn; return the rectangle."""
        place = f"{self.key}.rect"
        if place not in st.session_state:
            asked = permalink.rectangle("rect")
            good = asked is not None and _meets(asked, self.bounds)
            st.session_state[place] = asked if good else middle(self.bounds)
            if not good:
                permalink.refused("rect", permalink.parameter("rect"))

        def drawn() -> None:
            shape = events(self.map_key).shape
            if shape and shape.rect and _meets(shape.rect, self.bounds):
                st.session_state[place] = shape.rect

        scene = self.scene(*marks, tools=("rect",), **options)
        self.show(scene, words, on_shape=drawn)
        rect: Rect = st.session_state[place]
        with self.map_side:
            map_overlay(self.map_key, shape=Shape(rect=rect))
        self.link["rect"] = permalink.joined(rect)
        return rect

    def choose(
        self,
        widget: Callable[..., Any],
        label: str,
        name: str,
        offered: Sequence[Any],
        start: Any,
        **look: Any,
    ) -> Any:
        """Draw a control that starts with the value in the address, and return its value.

        Before a prediction is made the control is not drawn, and has its first value.

        Args:
            widget: a toggle, a slider of whole numbers, or a widget with options.
            label: label of the control.
            name: name of the control, in the address.
            offered: all values of the control.
            start: the first value.
            look: other arguments of the widget.
        """
        key = f"{self.key}.{name}"
        self.controls.append(name)
        if key in st.session_state:
            value = st.session_state[key]
        else:
            asked, offers = permalink.pairs("at").get(name), {str(each): each for each in offered}
            value = offers[permalink.one_of(f"{name} =", asked, offers, str(start))]
        if value != start:
            self.chosen[name] = str(value)
        if not self.revealed:
            return value
        st.session_state[key] = value
        ends = {st.toggle: (), st.slider: (offered[0], offered[-1])}
        page = self.key.partition(".")[0]
        look = {"on_change": trust_session, "args": (page,), **look}
        return widget(label, *ends.get(widget, (offered,)), key=key, **look)

    @property
    def ink(self) -> str:
        """Colour of a chart's words and thin lines on the visitor's page, light or dark."""
        return INK[st.context.theme.type == "dark"]

    @property
    def letters(self) -> int:
        """Pixels of a chart's letters."""
        return PRESENTER_LETTERS if self.presenting else LETTERS

    @property
    def chart_look(self) -> dict[str, Any]:
        """Settings of every chart: little padding, and letters of one size in pixels."""
        words = {"labelFontSize": self.letters, "labelColor": self.ink}
        title = {"titleFontSize": self.letters, "titleColor": self.ink}
        return {
            "mark": {"tooltip": True},
            "point": {"opacity": 1},
            "axis": {"titlePadding": 6, **words, **title},
            "legend": {"offset": 6, "padding": 0, "rowPadding": 4, **words},
        }

    def named(self, name: str, colours: Mapping[str, str], **look: Any) -> dict[str, Any]:
        """Nominal colour channel of a chart, with a legend that fits its width."""
        scale = {"domain": list(colours), "range": list(colours.values())}
        legend = legend_look(list(colours), self.letters, **look)
        return {"field": name, "type": "nominal", "scale": scale, "legend": legend}

    def chart(
        self,
        caption: str,
        rows: Sequence[Mapping[str, Any]],
        height: int,
        *layers: Mapping[str, Any],
        bars: int = 0,
    ) -> None:
        """Show Vega-Lite layers under a caption, and keep the rows for the page's tables.

        ``bars`` is the number of horizontal bars that have labels, which must not overlap.
        """
        with st.container(gap="xsmall"):
            st.markdown(f"**{caption}**")
            padding = {"bottom": 4, "right": self.letters}  # room for half of the last label
            look = {"padding": padding, "config": self.chart_look}
            if self.presenting:
                height = max(round(height * PRESENTER_CHART), bars * LINE + AXIS if bars else 0)
            st.vega_lite_chart(list(rows), {**look, "layer": list(layers)}, height=height)
        self.tables[caption] = rows


@st.cache_resource(max_entries=64, show_spinner=False)
def released(
    data: str, method: str, epsilon: float, seed: int, parameters: Mapping[str, Any]
) -> PointRelease:
    """Simulated release of public built-in data, cached for all visitors."""
    release: PointRelease = build(built_in(data), method, epsilon, seed=seed, **parameters)
    return release


@st.cache_data(max_entries=8, show_spinner="Looking for somebody alone …")
def _isolated(data: str) -> IsolatedRecord:
    return isolated_record(built_in(data))


def factor_words(epsilon: float) -> str:
    """State the largest factor of the odds at this ε, and how strong a guarantee that is.

    >>> factor_words(10.0)
    'At ε = 10 this factor is at most 22,026: a weak guarantee.'
    """
    return f"At ε = {epsilon:g} this factor is at most {odds(epsilon)}: {strength(epsilon)}."


def of_100(number: float) -> str:
    """Number out of a hundred as text: whole, except close to none or all.

    >>> of_100(23.2), of_100(0.4), of_100(99.9996)
    ('23', '0.4', '99.9996')
    """
    if 0.995 <= number <= 99:
        return f"{number:.0f}"
    if number < 1:
        return f"{number:.1g}"
    return f"{number:.6g}" if number < 99.999_99 else "nearly 100"


def trust_session(page: str) -> None:
    """Keep the open chapter in the next run: a browser may send the address of the one before."""
    st.session_state.pop(f"{page}.written", None)


def middle(bounds: Rect) -> Rect:
    """Rectangle near the middle of the domain, a fifth of each side long."""
    west, south, east, north = bounds
    x, y = west + 0.45 * (east - west), south + 0.5 * (north - south)
    across, up = 0.2 * (east - west) / 2, 0.2 * (north - south) / 2
    return x - across, y - up, x + across, y + up


def around(isolated: IsolatedRecord, metres: float) -> Rect:
    """Square of an isolated record, widened by some metres on each side."""
    west, south, east, north = isolated.rect
    wide, high = metres * isolated.step, metres / METRES_PER_DEGREE
    return west - wide, south - high, east + wide, north + high


def layer(mark: str, look: Mapping[str, Any] | None = None, **channels: Any) -> dict[str, Any]:
    """Chart layer that draws all rows as marks of one type."""
    return {"mark": {"type": mark, **(look or {})}, "encoding": channels}


def rule(look: Mapping[str, Any], values: Sequence[Mapping[str, Any]], **channels: Any) -> Any:
    """Chart layer of lines across the chart, with its own values."""
    return {"data": {"values": values}, **layer("rule", look, **channels)}


def axis(name: str, title: str, **more: Any) -> dict[str, Any]:
    """Quantitative channel; ``scale`` and ``axis`` are merged in."""
    look = {"title": title, "gridOpacity": 0.35, **more.pop("axis", {})}
    return {"field": name, "type": "quantitative", "axis": look, **more}


def ordinal(name: str, title: str) -> dict[str, Any]:
    """Ordinal channel for a few whole numbers."""
    return {"field": name, "type": "ordinal", "axis": {"title": title, "labelAngle": 0}}


def _meets(rect: Sequence[float], bounds: Rect) -> bool:
    west, south, east, north = bounds
    return rect[0] < east and rect[2] > west and rect[1] < north and rect[3] > south
