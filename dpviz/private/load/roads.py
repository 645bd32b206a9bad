"""Road graphs and trips from files, and the built-in city."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.errors import DataError, ParameterError
from dpviz.private.load.points import bound_contributions
from dpviz.private.roads import RoadData
from dpviz.roads.generate import clustered_workload, commuter_trips, corridor_workload
from dpviz.roads.graph import RoadGraph, road_graph
from dpviz.roads.paths import Paths, match_nodes, paths_from_ids

CITY_TRIPS = 45_000
CITY = "city"
"""Name of the built-in network and trips."""

ID_FIELDS = ("edge", "id", "osmid", "fid")


def read_graph(
    *sources: str | os.PathLike[str], crs: str = "", parts: str = "refuse", directed: bool = False
) -> RoadGraph:
    """A public road graph.

    Args:
        *sources: a table of nodes and a table of edges (CSV or Parquet; columns as in
            :func:`dpviz.roads.graph.road_graph`), or one GeoJSON file of lines, or one GraphML
            file (nodes with x and y, or lon and lat), or "city".
        crs: CRS of plain tables and GraphML, "" for a plane of its own; GeoJSON is in EPSG:4326.
        parts: what to do with a disconnected graph; see :meth:`RoadGraph.connected`.
        directed: whether edges run from ``src`` to ``dst`` only, or as their lines are drawn.

    Raises:
        DataError: a file that cannot be read as a road graph.
    """
    if len(sources) == 1 and str(sources[0]) == CITY:
        if directed:
            raise DataError("the built-in city's streets go both ways: leave out directed")
        return city()
    paths = [_existing(source) for source in sources]
    if len(paths) == 2:
        nodes, edges = (_columns(path) for path in paths)
        return road_graph(nodes, edges, crs=crs, parts=parts, directed=directed)
    if len(paths) != 1:
        raise DataError(f"{len(paths)} files for a road graph: give nodes and edges, or one file")
    ending = paths[0].suffix.lower()
    if ending in {".geojson", ".json"}:
        return graph_from_lines(paths[0], directed).connected(parts)
    if ending == ".graphml":
        return graph_from_graphml(paths[0], crs, directed).connected(parts)
    raise DataError(
        f"{paths[0].name}: one file must be .geojson or .graphml; tables come as nodes and edges"
    )


@lru_cache(maxsize=1)
def city() -> RoadGraph:
    """The built-in synthetic city's streets."""
    from dpviz.datasets import city_graph

    network = city_graph()
    nodes, edges = network.nodes_table(), network.edges_table()
    return road_graph(
        {name: nodes[name].to_numpy() for name in ("node", "lon", "lat")},
        {name: edges[name].to_numpy() for name in ("edge", "src", "dst", "length")},
        crs="EPSG:4326",
    )


@lru_cache(maxsize=1)
def city_trips() -> RoadData:
    """The built-in synthetic trips on the city's streets: public, nobody's real trips."""
    trips = RoadData(CITY, city(), commuter_trips(city(), CITY_TRIPS), public=True)
    trips.synthetic = True
    return trips


def graph_from_lines(path: Path, directed: bool = False) -> RoadGraph:
    """A graph from GeoJSON lines: ends at the same coordinates are one node.

    Raises:
        DataError: no lines, or features that are not lines.
    """
    import json

    import shapely

    try:
        features = json.loads(path.read_text(encoding="utf-8"))["features"]
        lines = shapely.from_geojson([json.dumps(each["geometry"]) for each in features])
        properties = [each.get("properties") or {} for each in features]
    except (OSError, ValueError, KeyError, TypeError, shapely.errors.GEOSException):
        raise DataError(f"{path.name} is no GeoJSON feature collection of lines") from None
    if not len(lines) or any(shapely.get_type_id(line) != 1 for line in lines):
        raise DataError(f"{path.name}: every feature must be a LineString, and there must be one")
    xy, owner = shapely.get_coordinates(lines, return_index=True)
    start = np.searchsorted(owner, np.arange(len(lines) + 1))
    ends_xy = np.concatenate([xy[start[:-1]], xy[start[1:] - 1]])
    node_xy, rows = np.unique(ends_xy, axis=0, return_inverse=True)
    ends = rows.reshape(2, -1).T
    length = np.maximum(shapely.length(lines), 1e-12)
    if "length" in properties[0]:
        length = np.array([float(each.get("length", np.nan)) for each in properties])
    edge_id: Any = np.arange(len(lines))
    field = next((name for name in ID_FIELDS if name in properties[0]), None)
    if field is not None:
        edge_id = np.array([str(each.get(field)) for each in properties])
        if np.char.isdigit(edge_id).all() and np.char.str_len(edge_id).max() < 18:
            edge_id = edge_id.astype(np.int64)
    names = np.arange(len(node_xy))
    return RoadGraph(names, node_xy, edge_id, ends, length, start, xy, "EPSG:4326", directed)


def graph_from_graphml(path: Path, crs: str = "", directed: bool = False) -> RoadGraph:
    """A graph from GraphML; every edge of a multigraph is one edge.

    Its own word on directions is ignored: ``directed`` decides, and takes sources and targets.

    Raises:
        DataError: not GraphML, or nodes without coordinates.
    """
    import xml.etree.ElementTree as ET

    import networkx as nx

    try:
        found: Any = nx.read_graphml(path, force_multigraph=True)
    except (OSError, ET.ParseError, nx.NetworkXError, ValueError, KeyError, TypeError):
        raise DataError(f"{path.name} cannot be read as GraphML") from None
    names = list(found.nodes)
    data = [found.nodes[name] for name in names]
    x, y = ("lon", "lat") if data and "lon" in data[0] else ("x", "y")
    try:
        nodes: dict[str, Any] = {"node": names} | {
            axis: [float(each[axis]) for each in data] for axis in (x, y)
        }
    except (KeyError, TypeError, ValueError):
        raise DataError(
            f"{path.name}: a node lacks coordinates: give x and y, or lon and lat"
        ) from None
    listed = list(found.edges(keys=True, data=True))
    field = next((name for name in ID_FIELDS if listed and name in listed[0][3]), None)
    edges: dict[str, Any] = {
        "src": [each[0] for each in listed],
        "dst": [each[1] for each in listed],
    }
    identifiers = [str(each[3].get(field)) if field else str(each[2]) for each in listed]
    if len(set(identifiers)) == len(identifiers):
        edges["edge"] = identifiers
    if listed and all("length" in each[3] for each in listed):
        edges["length"] = [float(each[3]["length"]) for each in listed]
    return road_graph(nodes, edges, crs=crs, parts="all", directed=directed)


def read_trips(
    source: str | os.PathLike[str],
    graph: RoadGraph,
    *,
    unit: str | None = None,
    max_per_unit: int = 1,
    public: bool = False,
    drop_unknown: bool = False,
    name: str | None = None,
) -> RoadData:
    """Trips from a file into a handle.

    Args:
        source: CSV or Parquet. One row per step in order, with columns ``trip`` and ``edge``; or
            (Parquet) one row per trip with a list column ``edges``, or ``nodes`` to be matched.
        graph: the public road graph.
        unit: column that names the privacy unit (a person); by default a trip is the unit.
        max_per_unit: with ``unit``, at most this many trips of each are kept, chosen at random.
        public: whether the owner declares every trip public.
        drop_unknown: leave out steps on edges that the graph lacks, instead of refusing them.
        name: the owner's name for the data set, also in the ledger; by default the file's.

    Raises:
        DataError: the file cannot be read as trips on this graph.
    """
    path = _existing(source)
    table = _columns(path)
    keys = table.get(unit) if unit is not None else None
    if unit is not None and keys is None:
        raise DataError(f"{path.name} has no column {unit!r}: it has {', '.join(table)}")
    if "edges" in table:
        listed = [list(each) for each in table["edges"]]
    elif "nodes" in table:
        trips = match_nodes(graph, [list(each) for each in table["nodes"]])
        listed = []
    elif "trip" in table and "edge" in table:
        _, first, number = np.unique(table["trip"], return_index=True, return_inverse=True)
        order = np.argsort(number, kind="stable")
        cuts = np.searchsorted(number[order], np.arange(1, len(first)))
        listed = [part.tolist() for part in np.split(np.asarray(table["edge"])[order], cuts)]
        keys = None if keys is None else np.asarray(keys)[first]
    else:
        raise DataError(
            f"{path.name} has columns {', '.join(table)}: trips need trip and edge, or edges, "
            "or nodes"
        )
    if "nodes" not in table:
        trips = _known(graph, listed, public, drop_unknown)
    if keys is not None:
        codes = np.unique(np.asarray([str(key) for key in keys]), return_inverse=True)[1]
        trips = trips.take(bound_contributions(codes.astype(np.int64), max_per_unit))
    return RoadData(
        path.stem if name is None else name,
        graph,
        trips,
        public=public,
        unit="one trip" if unit is None else f"one {unit} with at most {max_per_unit} trips",
        max_per_unit=1 if unit is None else max_per_unit,
    )


def _known(graph: RoadGraph, listed: list[list[object]], public: bool, drop_unknown: bool) -> Paths:
    """Trips by edge ids; the message on an unknown edge names it on public data only."""
    if drop_unknown:
        rows = [graph.edge_rows(np.array([str(name) for name in each])) for each in listed]
        return Paths.of([each[each >= 0] for each in rows])
    try:
        return paths_from_ids(graph, listed, "trip")
    except DataError:
        if public:
            raise
        raise DataError(
            "a trip names an edge that the road graph lacks: use the ids of its edges, or drop "
            "unknown ones (drop_unknown)"
        ) from None


def workload_of(text: str, graph: RoadGraph) -> Paths:
    """A public workload: ``clustered:LENGTH``, ``corridor``, or a file of ``query, edge`` rows.

    Raises:
        ParameterError: not one of these.
        DataError: a file that cannot be read as queries on this graph.
    """
    kind, _, number = text.partition(":")
    if kind == "clustered" and (number.isdigit() or not number):
        return clustered_workload(graph, int(number or 10))
    if kind == "corridor" and not number:
        return corridor_workload(graph)
    if not Path(text).is_file():
        raise ParameterError(
            f"workload {text!r}: give clustered:LENGTH, corridor, or a file of query and edge"
        )
    table = _columns(Path(text))
    if "query" not in table or "edge" not in table:
        raise DataError(f"{Path(text).name}: a workload needs the columns query and edge")
    _, number_of = np.unique(table["query"], return_inverse=True)
    order = np.argsort(number_of, kind="stable")
    cuts = np.flatnonzero(np.diff(number_of[order])) + 1
    edges: Sequence[Any] = np.split(np.asarray(table["edge"])[order], cuts)
    return paths_from_ids(graph, edges, "query")


def _existing(source: str | os.PathLike[str]) -> Path:
    path = Path(source)
    if not path.is_file():
        raise DataError(f"no file {path.name!r}: check the name")
    return path


def _columns(path: Path) -> dict[str, Any]:
    """All columns of a CSV or Parquet file; lists stay lists."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    try:
        if path.suffix.lower() in {".parquet", ".pq"}:
            table = pq.read_table(path, partitioning=None)
        else:
            table = pyarrow.csv.read_csv(path)
    except (pa.ArrowException, OSError, ValueError):
        raise DataError(f"{path.name} cannot be read as CSV or Parquet") from None
    for name in table.column_names:
        if table[name].null_count:
            raise DataError(f"{path.name}: column {name!r} has missing values: fill or drop them")
    return {
        name: column.to_pylist()
        if pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
        else column.to_numpy()
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
