"""Events at places: each is a trip of one edge, the nearest street of a public graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpviz.domain import Domain
from dpviz.domain.crs import DEGREES, known_crs
from dpviz.domain.zones import ZONE
from dpviz.errors import DataError
from dpviz.lazy import shapely
from dpviz.private.load.items import Items
from dpviz.private.load.names import coordinate_candidates, recognised_columns, wkt_column
from dpviz.private.load.points import read_records
from dpviz.private.load.selection import Selection
from dpviz.private.load.tables.base import Column, Table
from dpviz.private.load.tally import Tally
from dpviz.roads.graph import Float, Int, RoadGraph
from dpviz.roads.ground import local_plane
from dpviz.roads.steps import Steps
from dpviz.trees.lattice import STRIP_ROWS

if TYPE_CHECKING:
    from shapely import STRtree


def names_places(columns: Sequence[Column]) -> bool:
    """True if a table has a geometry, or columns with usual names of coordinates."""
    if any(each.kind == "geometry" for each in columns) or wkt_column(columns) is not None:
        return True
    return bool(coordinate_candidates(columns, Domain((0, 0), (1, 1))))


def _are_degrees(table: Table, columns: Sequence[str] | None) -> bool:
    """True if the coordinate columns are longitude and latitude, judged by their names."""
    if columns is None and not any(each.kind == "geometry" for each in table.columns):
        columns = recognised_columns(table.columns, Domain((0, 0), (1, 1)))
    return (
        columns is not None
        and len(columns) == 2
        and columns[-1].strip().casefold().startswith("lat")
    )


def read_events(
    opened: Table, graph: RoadGraph, chosen: Selection, *, steps: Steps | None = None, counts: Tally
) -> tuple[Items, str]:
    """Events in record order, and a description of the columns read as places.

    Stability 1 in records, and in units: where an event goes depends on its own place and on the
    public graph. One without a readable place is dropped, as is one outside the box around the
    streets, which reaches beyond them by a street of middling length.

    Coordinates in columns of longitude and latitude are in EPSG:4326 by default if the graph is
    not in degrees. ``steps`` name the time column, and ``counts`` receives the outcomes.

    Raises DataError: no places, or no way from their CRS to that of the graph.
    """
    crs = chosen.crs
    if crs is None and _are_degrees(opened, chosen.columns):
        crs = graph.crs if graph.crs and known_crs(graph.crs).is_geographic else DEGREES
    stated = crs if chosen.columns else opened.crs or crs
    if stated and not graph.crs:
        raise DataError(
            f"{opened.name}: the places are in {stated}, but the road graph has no CRS: name the "
            "CRS of the graph"
        )
    around = surroundings(graph, steps)
    moment = None if steps is None else steps.column
    chosen = replace(chosen, domain=around, crs=crs, time=moment)
    records = read_records(opened, chosen, counts)
    edge = nearest_edges(graph, records.points)
    return Items(
        np.arange(len(edge) + 1), edge, records.unit, records.ids, records.time
    ), records.columns


def surroundings(graph: RoadGraph, steps: Steps | None = None) -> Domain:
    """The box around the streets, extended on each side by the median street length."""
    street = np.median(np.hypot(*(graph.xy[graph.ends[:, 1]] - graph.xy[graph.ends[:, 0]]).T))
    low, high = graph.line_xy.min(axis=0) - street, graph.line_xy.max(axis=0) + street
    zone = ZONE if steps is None else steps.zone
    return Domain(tuple(low.tolist()), tuple(high.tolist()), crs=graph.crs, zone=zone)


def nearest_edges(graph: RoadGraph, points: Float) -> Int:
    """Row of the edge nearest to each point (n, 2), int64 (n,); the first of equally near ones.

    >>> from dpviz.roads.tables import road_graph
    >>> cross = road_graph({"node": [0, 1, 2], "x": [0, 1, 1], "y": [0, 0, 1]},
    ...                    {"src": [0, 1], "dst": [1, 2]})
    >>> nearest_edges(cross, np.array([[0.5, 0.1], [0.9, 0.5], [2.0, -1.0]])).tolist()
    [0, 1, 0]
    """
    plane, tree = graph.cached("streets by place", lambda: _by_place(graph))
    edge = np.full(len(points), len(graph), dtype=np.int64)
    for start in range(0, len(points), STRIP_ROWS):
        places = shapely.points(plane(points[start : start + STRIP_ROWS]))
        place, nearest = tree.query_nearest(places)  # all equally near lines, in any order
        np.minimum.at(edge, start + place, nearest)
    return edge


def _by_place(graph: RoadGraph) -> tuple[Callable[[Float], Float], STRtree]:
    """A projection to a plane for comparing distances, and an index of the graph's lines there."""
    plane = local_plane(graph.line_xy, graph.crs)
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.line_start))
    lines = shapely.linestrings(plane(graph.line_xy), indices=owner)
    return plane, shapely.STRtree(lines, node_capacity=4)  # faster than the default, 10
