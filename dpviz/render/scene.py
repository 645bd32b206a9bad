"""Scene: everything one map shows, as values.

A mark is one pydeck layer whose accessors are bound to columns of an Arrow table, so that geometry
travels as binary columns and never as JSON. A scene is marks, a camera, a legend and what the
visitor may do. Any page builds a scene; the map component shows it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pyarrow as pa
import pydeck

from dpviz.datasets.basemap import PLACES as TOWNS
from dpviz.datasets.basemap import SHAPES
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.render.colors import theme_json
from dpviz.render.legend import Legend
from dpviz.render.projection import within_mercator

Bounds = tuple[float, float, float, float]


BUNDLED, COUNTRIES, PLACES = "ocean", "countries", "places"
"""The lowest mark of the bundled base map, its names of countries, and those of towns."""


@dataclass(frozen=True)
class Row:
    """One line of a tooltip: a label and a column of the mark's table, or a fixed text.

    ``noise_sd`` names the column of the noise's standard deviation: the value is then rounded to
    what the noise allows and followed by ± the 95 % half-width.
    """

    label: str
    column: str = ""
    noise_sd: str = ""
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A pydeck layer drawn from the columns of a table.

    Attributes:
        layer: any deck.gl layer by name, with its constant properties. Its id names the mark.
        table: columns, one row per object. Lists of pairs are paths.
        bind: accessor (``getPath``, ``getBounds``, …) to column.
        title, rows: the tooltip; no rows, no tooltip.
        levels: the deepest level of a tree's cells, for the depth control; 0 has none.
        raw_table: makes the table with the rows that only the raw view draws; None: there are none.
    """

    layer: pydeck.Layer
    table: pa.Table
    bind: Mapping[str, str]
    title: str = ""
    rows: Sequence[Row] = ()
    levels: int = 0
    raw_table: Callable[[], pa.Table] | None = None

    @property
    def id(self) -> str:
        """The layer's id."""
        return str(self.layer.id)

    def with_layer(self, **properties: Any) -> Mark:
        """The same with other properties of its layer."""
        layer = copy(self.layer)
        for name, value in properties.items():
            setattr(layer, name, value)
        return replace(self, layer=layer)


@dataclass(frozen=True)
class Camera:
    """Initial view of the map: ``bounds`` (west, south, east, north) to fit, or centre and zoom.

    The visitor's own movements are kept until ``key`` changes; by default it names the bounds, so
    that a camera belongs to an area.
    """

    bounds: Bounds | None = None
    longitude: float = 0.0
    latitude: float = 0.0
    zoom: float = 1.0
    key: str = ""

    def __post_init__(self) -> None:
        if self.bounds is not None and not self.key:
            object.__setattr__(self, "key", ",".join(f"{side:.6f}" for side in self.bounds))

    def to_dict(self) -> dict[str, Any]:
        """JSON for the map."""
        if self.bounds is not None:
            return {"bounds": list(within_mercator(self.bounds)), "key": self.key}
        return {
            "longitude": self.longitude,
            "latitude": self.latitude,
            "zoom": self.zoom,
            "key": self.key,
        }


@dataclass(frozen=True)
class Animation:
    """Animated layers run from ``start`` to ``end``, in the unit of their times, in ``seconds``."""

    start: float
    end: float
    seconds: float = 20.0


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A map to show: its marks, camera, legend and controls.

    Attributes:
        marks: drawn in this order, the first at the bottom.
        camera: initial view.
        legend: or None.
        mode: one map; several beside each other; or one over another with a divider to swipe. In
            the two last, marks made with ``side`` belong to the map of this number, all others to
            each.
        labels: names of the maps.
        tools: shapes the visitor may draw: ``rect``, ``polygon``.
        picks: whether a click on a mark reaches Python.
        domain: west, south, east, north of the whole, for the button that goes back to it.
        clock: for animated layers.
        film: names of the frames; layers with a ``frame`` are seen one at a time.
        description: the map in one sentence, for screen readers.
        raw: whether cells are first shown raw, not in adaptive detail.
        neutral: shapes are drawn in the colour of words, where the map itself has warm colours.
        lock: whether the classes are kept for the maps that follow; None: not offered.
        plane: what is drawn lies nowhere on the Earth: no degrees, no kilometres, no street map.
        title: above a saved picture; the description where it is empty.
    """

    marks: Sequence[Mark]
    camera: Camera
    legend: Legend | None = None
    mode: Literal["single", "side", "swipe"] = "single"
    labels: Sequence[str] = ()
    tools: Sequence[Literal["rect", "polygon"]] = ()
    picks: bool = False
    domain: Bounds | None = None
    clock: Animation | None = None
    film: Sequence[str] = ()
    description: str = "Map"
    title: str = ""
    raw: bool = False
    neutral: bool = False
    lock: bool | None = None
    plane: bool = False
    tables: dict[str, pa.Table] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ids = [mark.id for mark in self.marks]
        if len(set(ids)) < len(ids):
            raise ValueError(f"two marks share an id: {', '.join(sorted(ids))}")
        object.__setattr__(self, "tables", tables(self.marks, raw=self.raw))

    def to_dict(self) -> dict[str, Any]:
        """JSON for the map; the tables travel beside it."""
        return {
            **layers_json(self.marks),
            "camera": self.camera.to_dict(),
            "legend": self.legend and self.legend.to_dict(),
            "mode": self.mode,
            "labels": list(self.labels),
            "tools": list(self.tools),
            "picks": self.picks,
            "domain": self.domain and list(within_mercator(self.domain)),
            "clock": self.clock and vars(self.clock),
            "film": {"labels": list(self.film)} if self.film else None,
            "levels": max((mark.levels for mark in self.marks), default=0),
            "label": self.description,
            "title": self.title,
            "credit": credit(self.marks),
            "raw": self.raw,
            "neutral": self.neutral,
            "lock": self.lock,
            "plane": self.plane,
            "theme": theme_json(),
            "interval": INTERVAL_SDS,
        }


def credit(marks: Sequence[Mark]) -> str:
    """Credits for the ground and the names that are bundled; empty for an invented city's."""
    ids = {mark.id for mark in marks}
    ground = [f"ground: {SHAPES}"] if BUNDLED in ids else []
    return "; ".join([*ground, f"names: {TOWNS}"] if PLACES in ids else ground)


def tables(marks: Sequence[Mark], *, raw: bool = False) -> dict[str, pa.Table]:
    """One table per mark, in one chunk each: the map reads its buffers in place.

    ``raw``: with the rows that only the raw view draws.
    """
    made = {mark.id: mark.raw_table() if raw and mark.raw_table else mark.table for mark in marks}
    return {name: table.combine_chunks() for name, table in made.items()}


def layers_json(marks: Sequence[Mark]) -> dict[str, Any]:
    """Layers, bindings and tooltips as the map reads them, columns named ``mark.column``."""
    return {
        # Without pydeck's Deck, which opens six widgets.
        "layers": [json.loads(mark.layer.to_json()) for mark in marks],
        "bind": {
            mark.id: {accessor: f"{mark.id}.{column}" for accessor, column in mark.bind.items()}
            for mark in marks
        },
        "tooltips": {
            mark.id: {"title": mark.title, "rows": [_row(mark.id, row) for row in mark.rows]}
            for mark in marks
            if mark.rows or mark.layer.type == "CellLayer"
        },
    }


def _row(mark: str, row: Row) -> dict[str, str]:
    if row.text:
        return {"label": row.label, "text": row.text}
    named = {"label": row.label, "value": f"{mark}.{row.column}"}
    if row.noise_sd:
        named["sd"] = f"{mark}.{row.noise_sd}"
    return named
