"""Public road graphs from files, the built-in city's, and public workloads on them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.arguments import typed
from dpviz.datasets import city_graph
from dpviz.datasets.geography import CITY
from dpviz.domain.crs import DEGREES, known_crs
from dpviz.errors import DataError, ParameterError
from dpviz.private.load.notation import Notation
from dpviz.private.load.streets import graph_from_graphml, graph_from_lines
from dpviz.private.load.tables.base import pick
from dpviz.private.load.tables.opening import open_table
from dpviz.private.load.values import number_of
from dpviz.private.load.words import texts
from dpviz.roads.generate import clustered_workload, corridor_workload
from dpviz.roads.graph import RoadGraph, edge_columns, node_columns, road_graph
from dpviz.roads.paths import Paths, paths_from_ids

_IDS = ("node", "edge", "src", "dst", "query")
_NUMBERS = ("x", "y", "lon", "lat", "length")
_WHOLE = re.compile(rb"0|-?[1-9][0-9]{0,17}")


@typed(DataError)
def read_graph(
    *sources: str | os.PathLike[str],
    crs: str = "",
    components: str = "refuse",
    directed: bool = False,
) -> RoadGraph:
    """A public road graph.

    Args:
        *sources: a table of nodes and a table of edges (CSV or Parquet; columns as in
            :func:`dpviz.roads.graph.road_graph`), or one GeoJSON file of lines, or one GraphML
            file (nodes with x and y, or lon and lat), or "city".
        crs: CRS of plain tables and GraphML, "" for a plane of its own; GeoJSON is in EPSG:4326.
        components: what to do with a disconnected graph; see :meth:`RoadGraph.connected`.
        directed: whether edges run from ``src`` to ``dst`` only, or as their lines are drawn.

    Raises:
        DataError: a file that cannot be read as a road graph.
        DomainError: nobody knows the CRS, in which no release could be kept.
    """
    elsewhere = bool(crs) and known_crs(crs) != known_crs(DEGREES)
    if len(sources) == 1 and str(sources[0]) == CITY:
        if directed or elsewhere:
            what = (
                "go both ways: leave out directed" if directed else f"are in {DEGREES}, not {crs}"
            )
            raise DataError(f"the built-in city's streets {what}")
        return city()
    paths = [_existing(source) for source in sources]
    if len(paths) == 2:
        nodes = public_columns(paths[0], node_columns)
        edges = public_columns(paths[1], edge_columns)
        return road_graph(nodes, edges, crs=crs, components=components, directed=directed)
    if len(paths) != 1:
        raise DataError(f"{len(paths)} files for a road graph: give nodes and edges, or one file")
    ending = paths[0].suffix.lower()
    if ending in {".geojson", ".json"}:
        if elsewhere:
            raise DataError(f"{paths[0].name}: GeoJSON is in {DEGREES}, not in {crs}: leave it out")
        return graph_from_lines(paths[0], directed).connected(components)
    if ending == ".graphml":
        return graph_from_graphml(paths[0], crs, directed).connected(components)
    raise DataError(
        f"{paths[0].name}: one file must be .geojson or .graphml; give two tables, nodes then edges"
    )


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
    table = public_columns(Path(text))
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
        raise DataError(f"no file {path.name or os.fspath(source)!r}: check the name")
    return path


def public_columns(
    path: Path, needed: Callable[[Container[str]], Sequence[str]] = lambda _: ()
) -> dict[str, Any]:
    """The columns of a PUBLIC table of a road graph or of queries.

    Ids are whole numbers where each is written as one, else text, so that no two of them meet.

    Args:
        path: of the table.
        needed: says of the names of its columns which ones it must have.

    Raises:
        DataError: a missing column or value, numbers that are none, or a file that is no table.
    """
    table = open_table(path)
    names = [column.name for column in table.columns]
    wanted = [name for name in names if name in (*_IDS, *_NUMBERS)]
    pick(table.columns, [*needed(names), *wanted], table.name)
    cells: dict[str, list[bytes | None]] = {name: [] for name in wanted}
    for block in table.blocks(wanted):
        for name in wanted:
            cells[name] += texts(block.columns[name], name).to_pylist()
    for name in wanted:
        if not all(cells[name]):
            raise DataError(f"{path.name}: column {name!r} has missing values: fill or drop them")
    notation = Notation(semicolons=table.semicolons)
    return {
        name: _public_column([each or b"" for each in cells[name]], name, notation)
        for name in wanted
    }


def _public_column(cells: list[bytes], name: str, notation: Notation) -> NDArray[Any]:
    if name in _NUMBERS:
        numbers = np.array([number_of(cell, notation) for cell in cells], dtype=np.float64)
        if np.isnan(numbers).any():
            raise DataError(f"column {name!r} must hold numbers, one each")
        return numbers
    if all(map(_WHOLE.fullmatch, cells)):
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    return np.array([cell.decode(errors="replace") for cell in cells], dtype=np.str_)
