"""Choose a road network and its trips: the built-in city, or uploaded files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.datasets.geography import CITY
from dpviz.private.load.data import load
from dpviz.private.roads import RoadData
from dpviz.releases.roads.graph_file import read_graph
from dpviz.render.roads import bounds
from dpviz.roads.generate import START
from dpviz.roads.graph import COMPONENTS, RoadGraph
from dpviz.roads.paths import COLUMNS, trip_columns
from dpviz.ui.points.columns_form import columns_form, period_form, time_choice
from dpviz.ui.shared import permalink
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import ErrorsShown
from dpviz.ui.shared.preflight import preflight_switch
from dpviz.ui.shared.releases import Opened
from dpviz.ui.shared.sources import DataSource, NoRecords
from dpviz.ui.shared.upload_form import Upload, data_choice, files_ready, public_switch
from dpviz.ui.shared.uploads import chosen_table, upload_columns, upload_path

UPLOAD = "files"
TITLES = {CITY: "Synthetic city, 45,000 trips", UPLOAD: "Your own files"}
ALL = "all"
IN_TIME: dict[str, dict[str, Any]] = {
    ALL: {},
    "day": {"time": START, "cycle": "day", "every": "4h"},
    "week": {"time": START, "cycle": "week", "every": "1d"},
}
"""Time settings by which the built-in trips may be counted."""
IN_WORDS = {ALL: "All", "day": "By hours", "week": "By weekday"}


RoadSource = DataSource
"""Trips on a graph behind a handle."""


@dataclass(frozen=True, eq=False, kw_only=True)
class OpenedRoads(NoRecords):
    """Source of an opened release: its graph, without trips or records."""

    graph: RoadGraph


def opened_roads(opened: Opened) -> RoadSource:
    """Source of a release that was opened.

    Raises:
        DomainError: no map shows its streets.
    """
    graph = opened.release.frame.graph
    bounds(graph)
    return RoadSource(data=OpenedRoads(graph=graph), key=opened.key, title=opened.title)


@st.cache_resource(show_spinner="Making the built-in city and its trips …")
def built_in(by: str = ALL) -> RoadData:
    """Built-in synthetic trips, shared by all visitors; ``by`` is a key of :data:`IN_TIME`."""
    data: RoadData = load(CITY, kind="roads", **IN_TIME[by])
    return data


def road_source(prefix: str) -> RoadSource | None:
    """Selectors of data; None while the uploaded files are incomplete."""
    chosen = data_choice(prefix, "Roads and trips", TITLES)
    if chosen == CITY:
        st.caption(
            "Streets of an invented city and commuter trips on them (synthetic: no real trips)."
        )
        asked = permalink.parameter("by")
        by = st.segmented_control(
            "Count trips",
            list(IN_TIME),
            default=permalink.one_of("time", asked, IN_TIME, ALL),
            format_func=IN_WORDS.__getitem__,
            required=True,
            key=f"{prefix}.by",
            help="With time, a trip counts in the step in which it starts. The steps are "
            "disjoint, so each gets the whole ε.",
        )
        key, title, link = f"{CITY}.{by}", TITLES[CITY], {"by": None if by == ALL else by}
        data = built_in(str(by))
        return RoadSource(data=data, key=key, title=title, link=link, backdrop=True)
    return _upload(prefix)


def _upload(prefix: str) -> RoadSource | None:
    graph_files = st.file_uploader(
        "Public road graph",
        accept_multiple_files=True,
        key=f"{prefix}.graph",
        help="One GraphML, GeoPackage or GeoJSON file, or two tables: nodes (node, x, y) and edges "
        "(edge, src, dst, length).",
    )
    trips_file = st.file_uploader(
        "Trips or events",
        key=f"{prefix}.trips",
        help="Trips: one row per step in order with columns trip and edge, or Parquet with a list "
        "column edges or nodes. Events: one row each, with its place; it counts on the nearest "
        "street.",
    )
    components = st.selectbox(
        "A disconnected graph",
        COMPONENTS,
        key=f"{prefix}.components",
        help="Refuse a disconnected graph, keep its largest part, or keep all of it.",
    )
    directed = st.toggle(
        "Streets go one way",
        key=f"{prefix}.directed",
        help="On: one way, from src to dst or as the lines are drawn. Off: both ways.",
    )
    public = public_switch(prefix)
    if not public:
        preflight_switch(prefix)
    ready = bool(graph_files) and trips_file is not None
    if not files_ready(prefix, ready, "Choose a road graph, and trips or events, to begin."):
        return None
    with ErrorsShown():
        graph = _graph(prefix, graph_files, components=components, directed=directed)
        path, place = upload_path(f"{prefix}.trips", trips_file), f"{prefix}.trips"
        table = chosen_table(place, path, trips_file)
        return _trips(Upload(prefix, path, trips_file, public, table), graph, graph_files)
    return None


def _trips(upload: Upload, graph: RoadGraph, graph_files: list[Any]) -> RoadSource | None:
    described = _trips_table(upload)
    if described is None:
        return None
    names, place = described
    records = "events" if "crs" in place else "trips"
    if "crs" in place and not graph.crs:
        place["crs"] = None
    without = (*(place.get("columns") or ()), time_choice(upload, names).get("time"))
    unit, name = upload.unit_and_name(names, records, start=5, without=without)
    clock = period_form(upload, names, trips=True)
    if name is None or clock is None:
        return None
    streets = [file.file_id for file in graph_files], graph.crs, len(graph), graph.directed
    return RoadSource(**upload.source(graph, place | unit, name, clock, key=streets))


def _trips_table(upload: Upload) -> tuple[list[str], dict[str, Any]] | None:
    """Possible unit columns, and the trip or place columns; None while the form is incomplete."""
    columns = upload_columns(upload.path, upload.table)
    names = [column.name for column in columns]
    stands = trip_columns(names)
    if not names or stands:
        placed = any(column.kind == "geometry" for column in columns)
        named = {} if placed or not names else {"columns": stands}  # JSON declares no columns
        return [name for name in names if name not in COLUMNS], named
    with st.expander("Places of events", icon=":material/place:", expanded=True):
        st.caption(
            "No columns of trips (trip and edge, edges, or nodes): each row is an event, and "
            "counts on the nearest street."
        )
        with ErrorsShown():
            coordinates = columns_form(upload, 2)
            if coordinates is not None:
                return names, coordinates[0]
    return None


def _graph(prefix: str, files: list[Any], **how: Any) -> RoadGraph:
    """Read the uploaded graph; ask for its CRS if the files do not state it."""
    ordered = sorted(files, key=lambda file: "node" not in file.name.lower())  # nodes before edges
    roles = ("nodes", "edges", "more") if files[1:] else ("graph",)  # names for messages
    places = (f"{prefix}.{role}" for role in roles)
    paths = [upload_path(place, file) for place, file in zip(places, ordered, strict=False)]
    asked = [[file.file_id for file in files], how]
    graph = cached(f"{prefix}.streets", asked, lambda: read_graph(*paths, **how))
    if not graph.crs:
        crs = st.text_input(
            "CRS of the streets",
            key=f"{prefix}.graph_crs",
            placeholder="none: a plane of its own",
            help="For instance EPSG:4326. The files state none.",
        ).strip()
        if crs:
            key = f"{prefix}.streets.crs"
            graph = cached(key, [*asked, crs], lambda: read_graph(*paths, crs=crs, **how))
    bounds(graph)  # raises if no map can show it
    return graph
