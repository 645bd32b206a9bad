"""A road graph from tables of nodes and edges, whatever file they stand in."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.domain.crs import DEGREES, known_crs
from dpviz.errors import DataError
from dpviz.lazy import shapely
from dpviz.roads.graph import (
    Float,
    Ids,
    Int,
    RoadGraph,
    as_ids,
    as_objects,
    places_of,
    require_places,
    rows_of,
)
from dpviz.roads.ground import line_lengths
from dpviz.trees.ragged import ragged_take

PLANE = "none"
"""CRS of a plane of its own, as an option states it."""
WKB = (b"\0", b"\1", b"0", "0")
"""First characters of WKB and of its hexadecimal form; WKT never starts with them."""
ALIASES = {"node": "osmid", "src": "u", "dst": "v"}
"""Column names in files of OSMnx."""


def road_graph(
    nodes: Mapping[str, ArrayLike] | None,
    edges: Mapping[str, ArrayLike],
    *,
    crs: str = "",
    components: str = "refuse",
    directed: bool = False,
) -> RoadGraph:
    """A road graph from a table of nodes and one of edges.

    Edges of the same ends and course, straight ones of the same length too, are one street of an
    undirected graph: the later ones are further ids of the first.

    Raises DataError: a missing column, an edge that names a missing node, a geometry that does not
    join its nodes, a CRS that contradicts the columns, or see :class:`RoadGraph`.

    Args:
        nodes: columns ``node`` (or ``osmid``), and ``x, y``, or ``lon, lat``, which are in
            EPSG:4326; None where ends of lines at the same coordinates are one node.
        edges: columns ``src, dst`` (or ``u, v``). ``geometry``, lines or None, WKT or WKB: the
            course of an edge, which is straight by default. ``length``: by default that of the
            course, in metres on the ground, or in units of a plane of its own. The id is ``edge``
            or ``id``; or with a ``key``, as OSMnx writes them, ``u-v-key``; or ``osmid`` or
            ``fid``; row numbers by default.
        crs: CRS of the coordinates and the geometry; "" for a plane of its own unless they are
            longitude and latitude; "none" for a plane of its own.
        components: treatment of a disconnected graph; see :meth:`RoadGraph.connected`.
        directed: whether edges run from ``src`` to ``dst`` only, or as lines without nodes are
            drawn.

    >>> square = road_graph({"node": [1, 2, 3], "x": [0, 1, 1], "y": [0, 0, 1]},
    ...                     {"edge": ["a", "b"], "src": [1, 2], "dst": [2, 3]})
    >>> square.ends.tolist(), square.length.tolist()
    ([[0, 1], [1, 2]], [1.0, 1.0])
    """
    edge_id = _edge_ids(edges)
    lines = as_lines(edges["geometry"]) if "geometry" in edges else None
    for srid in [] if lines is None else np.unique(shapely.get_srid(lines)):
        if srid > 0:
            crs = agreed_crs(crs, f"EPSG:{srid}", "the geometry of the edges")
    crs = _crs_of(crs, nodes or {})
    if nodes is None:
        if lines is None or shapely.is_missing(lines).any():
            raise DataError("a street has no line: give each a geometry, or a table of nodes too")
        xy, ends = _joined(lines)
        node_id: Ids = np.arange(len(xy))
    else:
        node_id, xy = _nodes(nodes)
        ends = _ends(node_id, edges, edge_id)
    start, line_xy = _courses(xy, ends, lines, edge_id, directed)
    require_places(line_xy)
    if "length" in edges:
        length = _numbers(edges["length"], "length", "edges")
    else:
        length = line_lengths(line_xy, start, crs) if len(ends) else np.zeros(0)
        # Two nodes at one place, or a self-loop, still need a positive length.
        length = np.maximum(length, 1e-9 * max(float(length.max(initial=0.0)), 1e-300))
    if len(length) != len(ends):
        raise DataError(f"{len(length)} lengths for {len(ends)} edges: give one each")
    street = np.arange(len(ends)) if directed else _streets(ends, length, start, line_xy)
    first = np.flatnonzero(street == np.arange(len(ends)))
    row = np.searchsorted(first, street)
    others = np.flatnonzero((street != np.arange(len(ends))) & (edge_id != edge_id[street]))
    pairs = {*zip(map(str, edge_id[others]), row[others].tolist(), strict=True)}
    twins = dict(sorted(pairs))
    if len(twins) < len(pairs):
        raise DataError("an edge id is given to several streets: make it unique")
    points, start = ragged_take(start, first)
    graph = RoadGraph(
        node_id, xy, edge_id[first], ends[first], length[first], start, line_xy[points],
        crs, directed, twins,
    )  # fmt: skip
    return graph.connected(components)


def as_lines(values: ArrayLike) -> NDArray[Any]:
    """Shapely lines (m,) of a column of WKT, WKB, hexadecimal WKB or lines; None where missing.

    Raises DataError: a geometry that cannot be read, or is no single line.
    """
    cells: list[Any] = [
        None if _missing(each) else each for each in np.asarray(values, object).tolist()
    ]
    lines = np.array([*cells, None], dtype=object)[:-1]
    given = np.flatnonzero([isinstance(each, (str, bytes)) for each in cells])
    binary = np.array([cells[row][:1] in WKB for row in given], dtype=np.bool_)
    try:
        for rows, read in ((given[~binary], shapely.from_wkt), (given[binary], shapely.from_wkb)):
            if len(rows):
                lines[rows] = read(lines[rows])
    except (shapely.errors.GEOSException, TypeError, ValueError, NotImplementedError):
        raise DataError("a geometry of the edges is neither WKT nor WKB: write it as one") from None
    single = (shapely.get_type_id(lines) == 5) & (shapely.get_num_geometries(lines) == 1)
    lines[single] = shapely.get_geometry(lines[single], 0)
    there = ~shapely.is_missing(lines)
    if (shapely.get_type_id(lines[there]) != 1).any():
        raise DataError("every geometry of an edge must be a LineString: split or drop the others")
    if shapely.is_empty(lines[there]).any():
        raise DataError("a LineString has no coordinates: leave it out")
    return lines


def _missing(value: Any) -> bool:
    return value is None or value in ("", b"") or (isinstance(value, float) and np.isnan(value))


def agreed_crs(given: str, stated: str, what: str) -> str:
    """The CRS that a file states, or the given one where it states none; "" for neither.

    Raises DataError: the file states another CRS than the given one.
    """
    if not stated:
        return given
    known = known_crs(stated)
    degrees = known.equals(known_crs(DEGREES), ignore_axis_order=True)
    name = DEGREES if degrees else known.to_string()
    plane = given.strip().lower() == PLANE
    if plane or (given and not known.equals(known_crs(given), ignore_axis_order=True)):
        raise DataError(f"{what} is in {name[:60]}, not in {given}: leave it out")
    return name


def _crs_of(crs: str, nodes: Container[str]) -> str:
    """The CRS of coordinates in columns of these names."""
    plane = crs.strip().lower() == PLANE
    if node_columns(nodes)[1] == "lon":
        if plane or (crs and not known_crs(crs).is_geographic):
            raise DataError(
                f"columns lon and lat hold degrees, and the CRS is {crs}: leave it out, or call "
                "them x and y"
            )
        return crs or DEGREES
    return "" if plane else crs


def _edge_ids(edges: Mapping[str, ArrayLike]) -> Ids:
    """Ids of edges, (m,)."""
    columns = id_columns(edges)
    if not columns:
        first = next((edges[each] for each in edge_columns(edges) if each in edges), ())
        return np.arange(len(np.asarray(first)))
    ids = [_ids(edges, each, "edge") for each in columns]
    if len(ids) == 1:
        return ids[0]
    return as_objects("-".join(map(str, each)) for each in zip(*ids, strict=True))


def _ids(table: Mapping[str, ArrayLike], name: str, what: str) -> Ids:
    values = np.asarray(table[name])
    if values.dtype == object and any(each is None for each in values.tolist()):
        raise DataError(f"column {name!r} of the {what}s has missing values: fill or drop them")
    return as_ids(values)


def _nodes(nodes: Mapping[str, ArrayLike]) -> tuple[Ids, Float]:
    """Ids (n,) and coordinates (n, 2) of a table of nodes."""
    name, x, y = needed = node_columns(nodes)
    _require_columns("node", nodes, needed)
    xy = np.column_stack([_numbers(nodes[name], name, "nodes") for name in (x, y)])
    require_places(xy)
    return _ids(nodes, name, "node"), xy


def _ends(node_id: Ids, edges: Mapping[str, ArrayLike], edge_id: Ids) -> Int:
    """Row numbers (m, 2) of the nodes that edges join."""
    needed, place = edge_columns(edges), places_of(node_id)
    _require_columns("edge", edges, needed)
    named = [_ids(edges, each, "edge") for each in needed[:2]]
    ends = np.column_stack([rows_of(place, each) for each in named])
    if len(edge_id) != len(ends):
        raise DataError(f"{len(edge_id)} edge ids for {len(ends)} edges: give one each")
    lost = (ends < 0).any(axis=1)
    if lost.any():
        row = int(np.argmax(lost))
        node = named[0 if ends[row, 0] < 0 else 1][row]
        raise DataError(
            f"edge {edge_id[row]} names node {node}, which the node table lacks: "
            "add the node or drop the edge"
        )
    return ends


def _require_columns(what: str, table: Mapping[str, ArrayLike], needed: Iterable[str]) -> None:
    missing = [name for name in needed if name not in table]
    if missing:
        listed = ", ".join(map(repr, table)) or "none"
        raise DataError(f"the {what} table has no column {missing[0]!r}: it has {listed}")


def _numbers(values: ArrayLike, name: str, what: str) -> Float:
    try:
        return np.array(values, dtype=np.float64)  # None becomes NaN
    except (TypeError, ValueError):
        raise DataError(
            f"column {name!r} of the {what} does not hold numbers: give one number per row"
        ) from None


def _joined(lines: NDArray[Any]) -> tuple[Float, Int]:
    """Nodes (n, 2) at the distinct ends of lines, and the rows (m, 2) of those that each joins."""
    tips = np.concatenate([shapely.get_point(lines, at) for at in (0, -1)])
    places = shapely.get_coordinates(tips)
    require_places(places)
    xy, rows = np.unique(places, axis=0, return_inverse=True)
    return xy, rows.reshape(2, -1).T


def _courses(
    xy: Float, ends: Int, lines: NDArray[Any] | None, edge_id: Ids, directed: bool
) -> tuple[Int, Float]:
    """Offsets (m + 1,) and points of the edges' courses, each from its first end to its second."""
    chords = xy[ends]
    if lines is None:
        return np.arange(0, 2 * len(ends) + 1, 2), chords.reshape(-1, 2)
    if len(lines) != len(ends):
        raise DataError(f"{len(lines)} geometries for {len(ends)} edges: give one each")
    lines = np.where(shapely.is_missing(lines), shapely.linestrings(chords), lines)
    tips = np.stack([shapely.get_coordinates(shapely.get_point(lines, at)) for at in (0, -1)], 1)
    gaps = [np.hypot(*(tips[:, order] - chords).T).T.sum(axis=1) for order in ([0, 1], [1, 0])]
    disjoint = np.minimum(*gaps) > np.maximum(
        shapely.length(lines), 1e-6 * np.ptp(xy, axis=0).max()
    )
    if disjoint.any():
        raise DataError(
            f"edge {edge_id[np.argmax(disjoint)]} has a geometry that does not join its nodes: "
            "give both in one CRS, x before y"
        )
    against = gaps[1] < gaps[0]
    if directed and against.any():
        raise DataError(
            f"edge {edge_id[np.argmax(against)]} has a geometry that runs from its second node to "
            "its first: write the graph as a directed one, or leave directed out"
        )
    lines[against] = shapely.reverse(lines[against])
    points, owner = shapely.get_coordinates(lines, return_index=True)
    return np.searchsorted(owner, np.arange(len(lines) + 1)), points


def _streets(ends: Int, length: Float, start: Int, line_xy: Float) -> Int:
    """Row of the first edge of the same ends and course, in any direction, int64 (m,).

    Straight edges of two lengths are two streets: their courses may not be known.
    """
    street = np.arange(len(ends))
    low, high = np.sort(ends, axis=1).T
    _, pair, times = np.unique(
        low * (ends.max(initial=0) + 1) + high, return_inverse=True, return_counts=True
    )
    first: dict[tuple[int, bytes, str], int] = {}
    for row in np.flatnonzero(times[pair] > 1).tolist():
        line = line_xy[start[row] : start[row + 1]]
        course = min(line.tobytes(), line[::-1].tobytes())
        metres = f"{length[row]:.6g}" if len(line) == 2 else ""
        street[row] = first.setdefault((int(pair[row]), course, metres), row)
    return street


def node_columns(names: Container[str]) -> tuple[str, str, str]:
    """Columns to read of a table of nodes: the id and the coordinates.

    >>> node_columns(["node", "lon", "lat"]), node_columns(["osmid", "x", "y", "lon", "lat"])
    (('node', 'lon', 'lat'), ('osmid', 'x', 'y'))
    """
    x, y = ("lon", "lat") if "lon" in names and "x" not in names else ("x", "y")
    return _name("node", names), x, y


def edge_columns(names: Container[str]) -> tuple[str, ...]:
    """Columns to read of a table of edges: both ends, and those of the id, length and geometry.

    >>> edge_columns(["u", "v", "key", "osmid", "geometry"])
    ('u', 'v', 'key', 'geometry')
    """
    ends = _name("src", names), _name("dst", names)
    optional = [each for each in ("length", "geometry") if each in names]
    return tuple(dict.fromkeys([*ends, *id_columns(names), *optional]))


def id_columns(names: Container[str]) -> tuple[str, ...]:
    """Columns that the ids of edges are made of; none for row numbers."""
    made = (_name("src", names), _name("dst", names), "key")
    forms: tuple[tuple[str, ...], ...] = (("edge",), ("id",), made, ("osmid",), ("fid",))
    return next((form for form in forms if all(each in names for each in form)), ())


def _name(column: str, names: Container[str]) -> str:
    """The name of a column, which files of OSMnx call otherwise."""
    return ALIASES[column] if column not in names and ALIASES[column] in names else column
