"""Road graphs and trips from files, and the built-in city."""

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
from dpviz.crs import DEGREES, known_crs
from dpviz.datasets.geography import CITY
from dpviz.errors import DataError, ParameterError
from dpviz.private.handle import within
from dpviz.private.load.items import Form, Items, bounded_items, read_items
from dpviz.private.load.selection import checked_bound
from dpviz.private.load.streets import graph_from_graphml, graph_from_lines
from dpviz.private.load.tables import Table, named, open_table
from dpviz.private.load.tables.base import listed, pick
from dpviz.private.load.tally import Fact, Tally
from dpviz.private.load.values import number_of, texts
from dpviz.private.roads import RoadData
from dpviz.roads.generate import (
    START,
    WEEK,
    clustered_workload,
    commuter_starts,
    commuter_trips,
    corridor_workload,
)
from dpviz.roads.graph import RoadGraph, edge_columns, node_columns, road_graph
from dpviz.roads.paths import Paths, paths_from_ids
from dpviz.roads.steps import Steps

CITY_TRIPS = 45_000

TRIP, EDGE, EDGES, NODES = "trip", "edge", "edges", "nodes"
"""Columns of trips."""

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
    if crs:
        known_crs(crs)
    if len(sources) == 1 and str(sources[0]) == CITY:
        if directed:
            raise DataError("the built-in city's streets go both ways: leave out directed")
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
        if crs and known_crs(crs) != known_crs(DEGREES):
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
    return _synthetic(CITY, city(), _city_paths())


def city_trips_in(steps: Steps) -> RoadData:
    """The same by steps of time, in which they start.

    Raises:
        DataError: steps by another column than theirs.
    """
    return _synthetic(CITY, city(), _city_paths(), steps)


@lru_cache(maxsize=1)
def _city_paths() -> Paths:
    return commuter_trips(city(), CITY_TRIPS)


def _synthetic(name: str, graph: RoadGraph, made: Paths, steps: Steps | None = None) -> RoadData:
    """Commuter trips that are nobody's; with steps, by the times at which they start."""
    step = None
    if steps is not None:
        if steps.column != START:
            raise DataError(
                f"time={steps.column!r}: the made-up trips have the column {START!r}, from "
                f"{WEEK[0]} to {WEEK[1]}: name it"
            )
        step = steps.of_moments(commuter_starts(made))
    trips = RoadData(name, graph, made, public=True, steps=steps, step=step)
    trips.synthetic = True
    return trips


def read_trips(
    source: Any,
    graph: RoadGraph,
    *,
    unit: str | None = None,
    max_per_unit: int = 1,
    public: bool = False,
    drop_unknown: bool = False,
    name: str | None = None,
    table: str | None = None,
    steps: Steps | None = None,
    counts: Tally | None = None,
) -> RoadData:
    """Trips into a handle.

    Stability, from parse to handle: one trip more or less in the source is at most one more or
    less here; with a unit, one unit more or less changes at most ``max_per_unit`` trips. A trip is
    the rows of one (unit, trip), so that two persons may use the same numbers.

    With steps of time a trip is in that of its start: the time in its row, or of a trip in several
    rows in the first of them. The column is typed cell by cell, so its step follows from the trip
    alone, and one without a readable time within the period is dropped like what lies outside. The
    bound of a unit holds over all steps together.

    Args:
        source: a file of any format, ``duckdb:///FILE``, or a table in memory. One row per step in
            order, with columns ``trip`` and ``edge``; or one row per trip with a column of lists,
            ``edges``, or ``nodes`` to be matched. ``generate:N`` makes N synthetic trips up.
        graph: the public road graph; its ids are compared as text.
        unit: column that names the privacy unit (a person); by default a trip is the unit.
        max_per_unit: with ``unit``, at most this many trips of each are kept, chosen at random.
        public: whether the owner declares every trip public.
        drop_unknown: leave out steps on edges that the graph lacks, instead of the whole trip. Of
            public trips, one that names such an edge is an error.
        name: the owner's name for the data set, also in the ledger; by default the file's.
        table: of a database.
        steps: public steps of time, by the column of the start; of ``generate:N`` that is
            ``start``.
        counts: receives what became of the trips.

    Raises:
        DataError: the source cannot be read as trips.
    """
    checked_bound(unit, max_per_unit)
    counts = Tally() if counts is None else counts
    generated = re.fullmatch(r"generate:([0-9]{1,9})", str(source))
    if generated:
        return _synthetic("generated", graph, commuter_trips(graph, int(generated[1])), steps)
    if steps is not None:
        steps.require_room(len(graph))
    opened = open_table(source, table)
    others = [unit, None if steps is None else steps.column]
    form = _form(opened, [each for each in others if each is not None])
    of_nodes = form.item == NODES
    names = [str(each) for each in (graph.node_id if of_nodes else graph.edge_id).tolist()]
    time = None if steps is None else (steps.column, steps.zone)
    items = read_items(opened, form, names, unit, counts, time)
    lost = np.bincount(items.owner, items.item < 0, minlength=len(items)) > 0
    if of_nodes:
        items, lost = _matched(graph, items)
    elif public and lost.any() and not drop_unknown:
        raise DataError(
            f"trip {int(np.argmax(lost))} names an edge that the road graph lacks: use the ids of "
            "its edges, or drop unknown ones (drop_unknown)"
        )
    elif drop_unknown:
        counts.add(Fact.STEPS, np.count_nonzero(items.item < 0))
        items, lost = items.only(items.item >= 0), np.zeros(len(items), dtype=np.bool_)
    counts.add(Fact.UNKNOWN, np.count_nonzero(lost))
    items = _started(items.take(np.flatnonzero(~lost)), steps, counts)
    items = bounded_items(items, max_per_unit, counts, public=public)
    return RoadData(
        named(source, table) if name is None else name,
        graph,
        Paths(items.start, items.item),
        public=public,
        unit="one trip" if unit is None else f"one {unit}{within(max_per_unit, 'trips')}",
        max_per_unit=max_per_unit,
        steps=steps,
        step=None if steps is None or items.when is None else steps.of_moments(items.when),
    )


def _started(items: Items, steps: Steps | None, counts: Tally) -> Items:
    """The trips that start in one of the steps."""
    if steps is None or items.when is None:
        return items
    unread = np.isnan(items.when)
    outside = (steps.of_moments(items.when) < 0) & ~unread
    counts.add(Fact.NO_TIME, np.count_nonzero(unread))
    counts.add(Fact.OUTSIDE, np.count_nonzero(outside))
    return items.take(np.flatnonzero(~unread & ~outside))


def _form(table: Table, others: Sequence[str]) -> Form:
    """Where the steps stand, by the names of the columns; there are some others."""
    existing = [column.name for column in table.columns]
    if not table.declares:  # no record decides what the columns are
        return Form(EDGES)
    pick(table.columns, others, table.name)
    for each in (EDGES, NODES):
        if each in existing:
            return Form(each)
    if {TRIP, EDGE} <= set(existing) or not existing:
        return Form(EDGE, TRIP)
    raise DataError(
        f"{table.name} has columns {listed(table.columns)}: trips need trip and edge, or edges, "
        "or nodes"
    )


def _matched(graph: RoadGraph, items: Items) -> tuple[Items, NDArray[np.bool_]]:
    """Nodes as edges, each step the shortest that joins two; and which trips cannot be matched.

    A trip is lost that names a node which the graph lacks, or two in a row that no edge joins.
    """
    key = graph.pair_keys(*graph.ends.T)
    order = np.lexsort([graph.length, key])
    keys, first = np.unique(key[order], return_index=True)
    edges, owner = order[first], items.owner
    stays = np.ones(len(items.item), dtype=np.bool_)
    stays[items.start[1:][np.diff(items.start) > 0] - 1] = False  # the last node leads nowhere
    at = np.flatnonzero(stays)
    one, two = items.item[at], items.item[at + 1] if len(at) else items.item[at]
    wanted = graph.pair_keys(one, two)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    wrong = (keys[place] != wanted) | (one < 0) | (two < 0)
    edge = np.full(len(items.item), -1, dtype=np.int64)
    edge[at] = np.where(wrong, -1, edges[place])
    broken = (edge < 0) & stays | (items.item < 0)
    lost = np.bincount(owner, broken, minlength=len(items)) > 0
    steps = Items(items.start, edge, items.unit, items.ids).only(stays)
    return steps, np.asarray(lost)


def workload_of(text: str, graph: RoadGraph) -> Paths:
    """A public workload: ``clustered:LENGTH``, ``corridor``, or a file of ``query, edge`` rows.

    Raises:
        ParameterError: not one of these.
        DataError: a file that cannot be read as queries on this graph.
    """
    kind, _, number = text.partition(":")
    if kind == "clustered" and (number.isdigit() or not number):
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
        raise DataError(f"no file {path.name!r}: check the name")
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
    return {name: _public_column([each or b"" for each in cells[name]], name) for name in wanted}


def _public_column(cells: list[bytes], name: str) -> NDArray[Any]:
    if name in _NUMBERS:
        numbers = np.array([number_of(cell) for cell in cells], dtype=np.float64)
        if np.isnan(numbers).any():
            raise DataError(f"column {name!r} must hold numbers, one each")
        return numbers
    if all(map(_WHOLE.fullmatch, cells)):
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    return np.array([cell.decode(errors="replace") for cell in cells], dtype=np.str_)
