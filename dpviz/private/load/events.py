"""Events at places: each is a trip of one edge, that of the nearest street of a public graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.domain import Domain
from dpviz.domain.crs import metres_per_unit
from dpviz.domain.zones import ZONE
from dpviz.errors import DataError
from dpviz.lazy import shapely
from dpviz.private.load.items import Items
from dpviz.private.load.names import coordinate_candidates, wkt_column
from dpviz.private.load.notation import PLAIN, Notation
from dpviz.private.load.points import layout, read_records
from dpviz.private.load.tables.base import Column, Table
from dpviz.private.load.tally import Tally
from dpviz.roads.graph import Float, Int, RoadGraph
from dpviz.roads.steps import Steps
from dpviz.trees.lattice import STRIP

if TYPE_CHECKING:
    from shapely import STRtree


def names_places(columns: Sequence[Column]) -> bool:
    """Whether a table has a geometry, or columns that usually hold places."""
    if any(each.kind == "geometry" for each in columns) or wkt_column(columns) is not None:
        return True
    return bool(coordinate_candidates(columns, Domain((0, 0), (1, 1))))


def read_events(
    source: Any,
    opened: Table,
    graph: RoadGraph,
    *,
    columns: Sequence[str] | None = None,
    crs: str | None = None,
    unit: str | None = None,
    public: bool = False,
    table: str | None = None,
    steps: Steps | None = None,
    notation: Notation = PLAIN,
    counts: Tally,
) -> tuple[Items, str]:
    """Events in the order of their records, and what was taken for their places.

    Stability 1 in records, and in units: where an event goes depends on its own place and on the
    public graph. One without a readable place is dropped, as is one outside the box around the
    streets, which reaches beyond them by a street of middling length.

    Args:
        source: of the events, and ``opened`` the same.
        opened: for what its schema says.
        graph: the public streets.
        columns: of the coordinates, or one of WKT; None takes the geometry or usual names.
        crs: of plain columns, and of geometry that states none; the graph's by default.
        unit: column of the privacy unit.
        public: whether the data are public, so that axes that look swapped may be reported.
        table: of a database or a file of several.
        steps: of time, whose column is read.
        notation: how text is read.
        counts: receives what became of the records.

    Raises:
        DataError: no places, or no way from their CRS to that of the graph.
    """
    stated = opened.crs or crs
    if stated and not graph.crs:
        raise DataError(
            f"{opened.name}: places in {stated}, and a road graph in a plane of its own: name the "
            "CRS of the graph"
        )
    around = surroundings(graph, steps)
    moment = None if steps is None else steps.column
    form: Any = {"columns": columns, "crs": crs, "unit": unit, "time": moment, "notation": notation}
    how = layout(opened, around, **form)
    records = read_records(source, around, public=public, table=table, counts=counts, **form)
    edge = nearest_edges(graph, records.points)
    return Items(np.arange(len(edge) + 1), edge, records.unit, records.ids, records.time), how.words


def surroundings(graph: RoadGraph, steps: Steps | None = None) -> Domain:
    """The box of the streets, and on each side as much more as a street of middling length has."""
    street = np.median(np.hypot(*(graph.xy[graph.ends[:, 1]] - graph.xy[graph.ends[:, 0]]).T))
    low, high = graph.line_xy.min(axis=0) - street, graph.line_xy.max(axis=0) + street
    zone = ZONE if steps is None else steps.zone
    return Domain(tuple(low.tolist()), tuple(high.tolist()), crs=graph.crs, zone=zone)


def nearest_edges(graph: RoadGraph, points: Float) -> Int:
    """The row of the edge that is nearest to each point (n, 2), in metres where the graph's CRS has
    any: int64 (n,), of edges that are as near the first one.

    >>> from dpviz.roads.graph import road_graph
    >>> cross = road_graph({"node": [0, 1, 2], "x": [0, 1, 1], "y": [0, 0, 1]},
    ...                    {"src": [0, 1], "dst": [1, 2]})
    >>> nearest_edges(cross, np.array([[0.5, 0.1], [0.9, 0.5], [2.0, -1.0]])).tolist()
    [0, 1, 0]
    """
    scale, tree = graph.remembered("streets by place", lambda: _by_place(graph))
    edge = np.full(len(points), len(graph), dtype=np.int64)
    for start in range(0, len(points), STRIP):
        places = shapely.points(points[start : start + STRIP] * scale)
        place, nearest = tree.query_nearest(places)  # all that are as near, in any order
        np.minimum.at(edge, start + place, nearest)
    return edge


def _by_place(graph: RoadGraph) -> tuple[Float, STRtree]:
    """What makes the graph's coordinates comparable, and its lines in these."""
    scale = np.ones(2)
    if graph.crs:
        middle = (graph.line_xy[:, 1].min() + graph.line_xy[:, 1].max()) / 2
        scale = np.array([float(each) for each in metres_per_unit(graph.crs, middle)])
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.line_start))
    lines = shapely.linestrings(graph.line_xy * scale, indices=owner)
    return scale, shapely.STRtree(lines, node_capacity=4)  # half again as fast as 10, shapely's own
