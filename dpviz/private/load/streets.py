"""Public road graphs from one file: GeoJSON lines, GraphML. A child process parses them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.files.sandbox import confined
from dpviz.lazy import nx, pa, shapely
from dpviz.roads.graph import RoadGraph, as_ids, require_places, road_graph

ID_FIELDS = ("edge", "id", "osmid", "fid")
"""Properties that may hold the id of an edge, the first one that is there."""

_BROKEN = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What damaged files make of the parsers."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def graph_from_lines(path: Path, directed: bool = False) -> RoadGraph:
    """A graph from GeoJSON lines: ends at the same coordinates are one node.

    Raises:
        DataError: no lines, features that are not lines, or more than the limits.
    """
    table = _asked("lines", path, "shapely")
    lines = shapely.from_wkb(table["line"].to_pylist())
    xy, owner = shapely.get_coordinates(lines, return_index=True)
    require_places(xy)
    start = np.searchsorted(owner, np.arange(len(lines) + 1))
    ends_xy = np.concatenate([xy[start[:-1]], xy[start[1:] - 1]])
    node_xy, rows = np.unique(ends_xy, axis=0, return_inverse=True)
    ends = rows.reshape(2, -1).T
    length = np.maximum(shapely.length(lines), 1e-12)
    if "length" in table.column_names:
        length = table["length"].to_numpy()
    edge_id: Any = np.arange(len(lines))
    if "edge" in table.column_names:
        ids = table["edge"].to_pylist()
        whole = all(re.fullmatch("[0-9]{1,17}", each) for each in ids)
        edge_id = as_ids([int(each) for each in ids] if whole else ids)
    names = np.arange(len(node_xy))
    return RoadGraph(names, node_xy, edge_id, ends, length, start, xy, "EPSG:4326", directed)


def graph_from_graphml(path: Path, crs: str = "", directed: bool = False) -> RoadGraph:
    """A graph from GraphML; every edge of a multigraph is one edge.

    Its own word on directions is ignored: ``directed`` decides, and takes sources and targets.

    Raises:
        DataError: not GraphML, nodes without coordinates, or more than the limits.
    """
    columns = _asked("network", path, "networkx").to_pylist()[0]
    nodes = {name: columns[name] for name in ("node", "x", "y", "lon", "lat") if name in columns}
    edges = {name: columns[name] for name in ("src", "dst", "edge", "length") if name in columns}
    return road_graph(nodes, edges, crs=crs, components="all", directed=directed)


def _asked(task: str, path: Path, library: str) -> Any:
    size = path.stat().st_size
    limits.FILE.check(size, path.name)
    needs = ("pyarrow", library)
    place = str(path.absolute())
    return confined(f"{__name__}:{task}", place, where=path.name, size=size, needs=needs)


def lines(place: str) -> Any:
    """In the child: lines as WKB, with their ids and lengths where the file has them."""
    name, content = Path(place).name, Path(place).read_bytes()
    limits.JSON_OBJECTS.check(content.count(b"{"), name)
    limits.JSON_VALUES.check(content.count(b",") + content.count(b":"), name)
    try:
        features = json.loads(content.decode("utf-8"))["features"]
        shapes = shapely.from_geojson([json.dumps(each["geometry"]) for each in features])
        properties = [each.get("properties") or {} for each in features]
        columns: dict[str, Any] = {}
        if "length" in properties[0]:
            columns["length"] = [float(each.get("length", np.nan)) for each in properties]
        field = next((each for each in ID_FIELDS if each in properties[0]), None)
        if field is not None:
            columns["edge"] = [_identifier(each.get(field)) for each in properties]
    except (*_BROKEN, shapely.errors.GEOSException):
        raise DataError(f"{name} is no GeoJSON feature collection of lines") from None
    if not len(shapes) or any(shapely.get_type_id(each) != 1 for each in shapes):
        raise DataError(f"{name}: every feature must be a LineString, and there must be one")
    if shapely.is_empty(shapes).any():
        raise DataError(f"{name}: a LineString has no coordinates: leave it out")
    if None in columns.get("edge", ()):
        raise DataError(f"{name}: {field!r} of a line is neither text nor number: give each an id")
    limits.STREETS.check(len(shapes), name)
    return pa.table({"line": pa.array(shapely.to_wkb(shapes).tolist(), pa.binary()), **columns})


def _identifier(value: object) -> str | None:
    """An id as text; None for what is neither text (half a surrogate pair is none) nor a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value)
    return None if _SURROGATE.search(text) else text


def network(place: str) -> Any:
    """In the child: one row with lists of nodes, their coordinates, and edges."""
    import xml.etree.ElementTree as ET

    name, content = Path(place).name, Path(place).read_bytes()
    limits.XML_ELEMENTS.check(content.count(b"<") - content.count(b"</"), name)
    if b"<!ENTITY" in content:
        raise DataError(f"{name} declares entities, which compute: write plain GraphML")
    try:
        graph: Any = nx.read_graphml(place, force_multigraph=True)
    except (*_BROKEN, ET.ParseError, nx.NetworkXError):
        raise DataError(f"{name} cannot be read as GraphML") from None
    data = [graph.nodes[node] for node in graph.nodes]
    x, y = ("lon", "lat") if data and "lon" in data[0] else ("x", "y")
    try:
        columns: dict[str, Any] = {axis: [float(each[axis]) for each in data] for axis in (x, y)}
    except (KeyError, TypeError, ValueError):
        raise DataError(f"{name}: a node lacks coordinates: give x and y, or lon and lat") from None
    columns["node"] = [str(node) for node in graph.nodes]
    listed = list(graph.edges(keys=True, data=True))
    columns["src"] = [str(each[0]) for each in listed]
    columns["dst"] = [str(each[1]) for each in listed]
    field = next((each for each in ID_FIELDS if listed and each in listed[0][3]), None)
    identifiers = [str(each[3].get(field)) if field else str(each[2]) for each in listed]
    if len(set(identifiers)) == len(identifiers):
        columns["edge"] = identifiers
    if listed and all("length" in each[3] for each in listed):
        try:
            columns["length"] = [float(each[3]["length"]) for each in listed]
        except (TypeError, ValueError):
            raise DataError(f"{name}: a length is no number: give numbers") from None
    return pa.table({each: pa.array([values]) for each, values in columns.items()})
