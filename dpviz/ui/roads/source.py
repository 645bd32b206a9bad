"""Choose a road network and its trips: the built-in city, or one's own files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.build import CITY, RoadData, check_trips, file_types, load, read_graph
from dpviz.errors import DpvizError
from dpviz.roads.graph import COMPONENTS, RoadGraph
from dpviz.ui.shared.account import dataset_name
from dpviz.ui.shared.releases import Opened
from dpviz.ui.shared.sources import DataSource, NoRecords
from dpviz.ui.shared.text import plain
from dpviz.ui.shared.unit_form import unit_form
from dpviz.ui.shared.upload_form import data_choice, public_switch, read_once
from dpviz.ui.shared.uploads import upload_columns, upload_path

UPLOAD = "files"
STEPS = ("trip", "edge", "edges", "nodes")
"""Columns of trips that name no person."""
TITLES = {CITY: "Synthetic city, 45,000 trips", UPLOAD: "Your own files"}


RoadSource = DataSource
"""Trips on a graph behind a handle."""


@dataclass(frozen=True, eq=False, kw_only=True)
class OpenedRoads(NoRecords):
    """In place of trips, where a release was opened: its graph, and nothing of any record."""

    graph: RoadGraph


def opened_roads(opened: Opened) -> RoadSource:
    """The source of a release that was opened."""
    return RoadSource(data=OpenedRoads(graph=opened.release.graph), key=opened.key)


@st.cache_resource(show_spinner="Making the built-in city and its trips …")
def built_in() -> RoadData:
    """Synthetic and public, so that all visitors share it."""
    return load(CITY, kind="roads")


def road_source(prefix: str, start: str | None) -> RoadSource | None:
    """Selectors in the sidebar; None while files of one's own are not complete."""
    chosen = data_choice(prefix, "Roads and trips", TITLES, start)
    if chosen == CITY:
        st.caption("Streets of an invented city and commuter trips on them: nobody's real trips.")
        return RoadSource(data=built_in(), key=CITY, backdrop=True)
    return _upload(prefix)


def _upload(prefix: str) -> RoadSource | None:
    graph_files = st.file_uploader(
        "Public road graph",
        ["csv", "parquet", "geojson", "json", "graphml"],
        accept_multiple_files=True,
        key=f"{prefix}.graph",
        help="One GeoJSON file of lines, one GraphML file, or two tables: nodes (node, x, y) and "
        "edges (edge, src, dst, length).",
    )
    trips_file = st.file_uploader(
        "Trips",
        file_types(),
        key=f"{prefix}.trips",
        help="One row per step in order with columns trip and edge; or Parquet with a list column "
        "edges or nodes.",
    )
    components = st.selectbox(
        "A disconnected graph",
        COMPONENTS,
        key=f"{prefix}.components",
        help="Refuse it, keep its largest part, or keep all of it.",
    )
    directed = st.toggle(
        "Streets go one way",
        key=f"{prefix}.directed",
        help="From src to dst, or as their lines are drawn; otherwise both ways.",
    )
    public = public_switch(prefix, "upload", False)
    if not graph_files or trips_file is None:
        st.info("Choose a road graph and trips to begin.", icon=":material/upload_file:")
        return None
    unit, bound = None, 1
    if not public:
        unit, bound = unit_form(prefix, _columns(prefix, trips_file), record="trip", start=5)
    try:
        name = dataset_name(prefix, Path(trips_file.name).stem, public=public)
    except DpvizError as error:
        st.error(plain(error), icon=":material/error:")
        return None
    files = [*graph_files, trips_file]
    how: dict[str, Any] = {"unit": unit, "max_per_unit": bound}
    key = "|".join(
        [*(file.file_id for file in files), f"{components, directed, public, how}", name]
    )

    def read() -> RoadData:
        graph = _graph(prefix, graph_files, components=components, directed=directed)
        return load(path, graph, public=public, name=name, **how)

    try:
        path = upload_path(f"{prefix}.trips", trips_file)
        data = read_once(prefix, key, read, lambda data: check_trips(path, data.graph, **how))
    except DpvizError as error:
        st.error(plain(error), icon=":material/error:")
        return None
    return RoadSource(data=data, key=key)


def _columns(prefix: str, file: Any) -> list[str]:
    """Of the trips; a file that cannot be read has none, and says why when it is read."""
    try:
        columns = upload_columns(upload_path(f"{prefix}.trips", file))
    except DpvizError:
        return []
    return [column.name for column in columns if column.name not in STEPS]


def _graph(prefix: str, files: list[Any], *, components: str, directed: bool) -> RoadGraph:
    """Nodes come before edges."""
    ordered = sorted(files, key=lambda file: "node" not in file.name.lower())
    names = (f"{prefix}.{each}" for each in ("graph", "edges", "more"))
    paths = [upload_path(place, file) for place, file in zip(names, ordered, strict=False)]
    return read_graph(*paths, components=components, directed=directed)
