"""Public road graphs from files, the built-in city's, and public workloads on them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.checks import flag, require, require_path
from dpviz.datasets import city_graph
from dpviz.datasets.geography import CITY
from dpviz.domain.crs import DEGREES
from dpviz.errors import DataError, ParameterError
from dpviz.private.load.streets import graph_tables, table_columns
from dpviz.roads.generate import clustered_workload, corridor_workload
from dpviz.roads.graph import RoadGraph
from dpviz.roads.paths import Paths, paths_from_ids
from dpviz.roads.tables import agreed_crs, edge_columns, node_columns, road_graph

WORKLOAD = "clustered:10"
"""Public queries that a release on roads serves where none are named."""


def read_graph(
    *sources: str | os.PathLike[str],
    crs: str = "",
    components: str = "refuse",
    directed: bool = False,
) -> RoadGraph:
    """A public road graph.

    Args:
        *sources: a table of nodes and a table of edges (columns as in
            :func:`dpviz.roads.tables.road_graph`), or one file: GraphML or GeoPackage, as of OSMnx,
            or lines in GeoJSON, GeoPackage, Shapefile or GeoParquet; or "city".
        crs: of coordinates whose file states none; by default EPSG:4326 of longitude and latitude,
            and else, as by "none", a plane of their own.
        components: what to do with a disconnected graph; see :meth:`RoadGraph.connected`.
        directed: whether edges run from ``src`` to ``dst`` only, or as their lines are drawn.

    Raises:
        DataError: a file that cannot be read as a road graph.
        DomainError: the CRS is unknown, so that no release could be saved.
    """
    for each in sources:
        require_path(each, DataError, "source")
    require(crs, str, "crs", DataError)
    directed = flag(directed, "directed", DataError)
    if len(sources) == 1 and str(sources[0]) == CITY:
        agreed_crs(crs, DEGREES, "the built-in city")
        if directed:
            raise DataError("the built-in city's streets go both ways: leave out directed")
        return city()
    paths = [_existing(source) for source in sources]
    nodes: Any
    if len(paths) == 1:
        nodes, edges, stated = graph_tables(paths[0])
        crs = agreed_crs(crs, stated, paths[0].name)
    elif len(paths) == 2:
        (nodes, first), (edges, second) = (
            table_columns(path, needed)
            for path, needed in zip(paths, (node_columns, edge_columns), strict=True)
        )
        for path, stated in zip(paths, (first, second), strict=True):
            crs = agreed_crs(crs, stated, path.name)
    else:
        raise DataError(f"{len(paths)} files for a road graph: give nodes and edges, or one file")
    return road_graph(nodes, edges, crs=crs, components=components, directed=directed)


@lru_cache(maxsize=1)
def city() -> RoadGraph:
    """The built-in synthetic city's streets."""
    network = city_graph()
    nodes, edges = network.nodes_table(), network.edges_table()
    return road_graph(
        {name: nodes[name].to_numpy() for name in ("node", "lon", "lat")},
        {name: edges[name].to_numpy() for name in ("edge", "src", "dst", "length")},
        crs="EPSG:4326",
    )


def workload_of(text: str, graph: RoadGraph) -> Paths:
    """A public workload: ``clustered:LENGTH``, ``corridor``, or a file of ``query, edge`` rows.

    Raises:
        ParameterError: not one of these.
        DataError: a file that cannot be read as queries on this graph.
    """
    kind, _, number = text.partition(":")
    if kind == "clustered" and ((number.isdecimal() and number.isascii()) or not number):
        length = int(number or 10)
        return replace(clustered_workload(graph, length), name=f"clustered:{length}")
    if kind == "corridor" and not number:
        return replace(corridor_workload(graph), name="corridor")
    if not Path(text).is_file():
        raise ParameterError(
            f"workload {text!r}: give clustered:LENGTH, corridor, or a file of query and edge"
        )
    table, _ = table_columns(Path(text), lambda _: ("query", "edge"))
    _, number_of = np.unique(table["query"], return_inverse=True)
    order = np.argsort(number_of, kind="stable")
    cuts = np.flatnonzero(np.diff(number_of[order])) + 1
    edges: Sequence[Any] = np.split(np.asarray(table["edge"])[order], cuts)
    return paths_from_ids(graph, edges, "query")


def _existing(source: str | os.PathLike[str]) -> Path:
    path = Path(source)
    if not path.is_file():
        raise DataError(f"no file {path.name or os.fspath(source)!r}: check the name")
    return path
