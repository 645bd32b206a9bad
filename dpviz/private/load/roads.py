"""Read trips on road graphs from files, or take those of the built-in city."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from dpviz.datasets.geography import CITY
from dpviz.errors import DataError
from dpviz.private.handle import unit_in_words
from dpviz.private.load.events import names_places, read_events
from dpviz.private.load.items import Form, Items, bounded_items, known_items, read_items
from dpviz.private.load.notation import PLAIN, Notation
from dpviz.private.load.selection import Selection, checked_bound
from dpviz.private.load.source import File, source_of
from dpviz.private.load.tables.base import Table, column_list, pick
from dpviz.private.load.tables.opening import open_table
from dpviz.private.load.tally import Fact, Tally
from dpviz.private.roads import RoadData
from dpviz.releases.roads.graph_file import city
from dpviz.roads.generate import START, WEEK, commuter_starts, commuter_trips
from dpviz.roads.graph import RoadGraph
from dpviz.roads.paths import COLUMNS, NODES, TRIP, Paths, trip_columns
from dpviz.roads.steps import Steps

CITY_TRIPS = 45_000


@lru_cache(maxsize=1)
def city_trips() -> RoadData:
    """The built-in synthetic trips on the city's streets: public, as they are not real trips."""
    return synthetic(CITY, city(), city_paths())


@lru_cache(maxsize=1)
def city_paths() -> Paths:
    """Routes of the built-in trips."""
    return commuter_trips(city(), CITY_TRIPS)


def synthetic(name: str, graph: RoadGraph, made: Paths, steps: Steps | None = None) -> RoadData:
    """Synthetic commuter trips; with steps, by the times at which they start.

    Raises DataError: steps by another column than theirs.
    """
    step = None
    if steps is not None:
        if steps.column != START:
            raise DataError(
                f"time={steps.column!r}: the synthetic trips have the column {START!r}, from "
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
    columns: Sequence[str] | None = None,
    crs: str | None = None,
    steps: Steps | None = None,
    notation: Notation = PLAIN,
    counts: Tally | None = None,
) -> RoadData:
    """Read trips, or events at places, into a handle. An event is a trip of one edge.

    Stability, from parse to handle: one trip more or less in the source is at most one more or
    less here; with a unit, one unit more or less changes at most ``max_per_unit`` trips. A trip is
    the rows of one (unit, trip), so that two persons may use the same numbers.

    With steps of time a trip is in the step of its start: the time in its row, or in the first of
    its rows. Cells are typed one by one, so the step follows from the trip alone, and a trip
    without a readable time within the period is dropped like one outside. The bound of a unit holds
    over all steps together.

    Arguments are those of :func:`dpviz.load`, with ``steps`` of time by the column of the start.
    ``generate:N`` generates N synthetic trips with the time column ``start``. ``counts`` receives
    the outcome of every trip.
    """
    checked_bound(unit, max_per_unit)
    counts = Tally() if counts is None else counts
    source = source_of(source, table)
    named_by = str(source.path) if isinstance(source, File) else ""
    generated = re.fullmatch(r"generate:([0-9]{1,9})", named_by)
    if generated:
        given = {"unit": unit, "columns": columns, "crs": crs, "drop_unknown": drop_unknown or None}
        given |= {"name": name, "table": table}
        for each, value in given.items():
            if value is not None:
                raise DataError(f"{each}={value!r} is not for synthetic trips: leave it out")
        return synthetic("generated", graph, commuter_trips(graph, int(generated[1])), steps)
    if steps is not None:
        steps.require_room(len(graph))
    opened, placed, form = open_table(source), "", _named_form(columns)
    if form is None and (columns is not None or _holds_events(opened)):
        if drop_unknown:
            raise DataError("drop_unknown is for trips that name their edges: leave it out")
        traces = opened.declares and TRIP in [column.name for column in opened.columns]
        if unit is None and traces:
            raise DataError(
                f"{opened.name} has several places for each trip, and each place would be a "
                f"privacy unit: give the edges of each trip, as map matching finds them, or bound "
                f"its places (unit={TRIP})"
            )
        chosen = Selection(None, columns, crs, unit, public=public, notation=notation)
        items, placed = read_events(opened, graph, chosen, steps=steps, counts=counts)
    elif crs is not None:
        raise DataError(f"crs={crs!r} is for places, {opened.name} has trips: leave it out")
    else:
        items = _listed(opened, form, graph, unit, steps, notation, public, drop_unknown, counts)
    items = bounded_items(_started(items, steps, counts), max_per_unit, counts, public=public)
    record = "event" if placed else "trip"
    facts = {"columns": list(columns or ()), "drop_unknown": drop_unknown}
    return RoadData(
        source.name if name is None else name,
        graph,
        Paths(items.start, items.item),
        public=public,
        unit=unit_in_words(unit, max_per_unit, record + "s"),
        max_per_unit=max_per_unit,
        steps=steps,
        step=None if steps is None or items.when is None else steps.of_moments(items.when),
        placed=placed,
        facts={each: value for each, value in facts.items() if value},
    )


def _listed(
    table: Table,
    form: Form | None,
    graph: RoadGraph,
    unit: str | None,
    steps: Steps | None,
    notation: Notation,
    public: bool,
    drop_unknown: bool,
    counts: Tally,
) -> Items:
    """Read trips that list edges or nodes, from the owner's declared columns if given."""
    for option, value in notation.declared.items():
        if option != "time_format" or steps is None:
            raise DataError(f"{option}={value!r} does not apply to these trips: leave it out")
    others = [unit, None if steps is None else steps.column]
    form = _form(table, form, [each for each in others if each is not None])
    of_nodes = form.item == NODES
    names = [*map(str, graph.node_id.tolist())] if of_nodes else graph.edge_names
    time = None if steps is None else (steps.column, steps.zone, notation)
    items = read_items(table, form, names, unit, counts, time)
    if not of_nodes:
        edges = np.where(items.item < 0, -1, graph.named_edges[items.item])
        items = replace(items, item=edges)
        return known_items(items, drop_unknown, counts, _UNKNOWN if public else "")
    return known_items(_matched(graph, items), False, counts, "")


_UNKNOWN = (
    "trip {} names an edge that the road graph lacks: use the ids of its edges, or drop unknown "
    "ones (drop_unknown)"
)


def _started(items: Items, steps: Steps | None, counts: Tally) -> Items:
    """The trips that start in one of the steps."""
    if steps is None or items.when is None:
        return items
    read, started = np.isfinite(items.when), steps.of_moments(items.when) >= 0
    counts.add(Fact.EMPTY_TIME, np.count_nonzero(np.isinf(items.when)))
    counts.add(Fact.NO_TIME, np.count_nonzero(np.isnan(items.when)))
    counts.add(Fact.OUTSIDE_PERIOD, np.count_nonzero(read & ~started))
    return items.take(np.flatnonzero(started))


def _holds_events(table: Table) -> bool:
    """True if rows are events: they have columns of places and no columns of trips.

    Without declared columns, as in GeoJSON, the geometry decides; records never do.
    """
    if not table.declares:
        return any(column.kind == "geometry" for column in table.columns)
    names = [column.name for column in table.columns]
    return not trip_columns(names) and names_places(table.columns)


def _named_form(columns: Sequence[str] | None) -> Form | None:
    """Form of the steps in the declared columns; None for events or no declaration.

    Raises DataError: other columns beside those of trips, or too few.
    """
    if columns is None or {*columns}.isdisjoint(COLUMNS):
        return None
    stands = trip_columns(columns)
    if {*columns} != {*stands}:
        raise DataError(
            f"columns={', '.join(columns)}: for trips, name edges, or nodes, or trip and edge; for "
            "events, their coordinates"
        )
    return _form_of(stands)


def _form_of(stands: Sequence[str]) -> Form:
    """Form of the steps in the columns that :func:`~dpviz.roads.paths.trip_columns` returns."""
    *group, item = stands
    return Form(item, *group)


def _form(table: Table, named: Form | None, others: Sequence[str]) -> Form:
    """Form of the steps: as declared, or recognised by column names; check ``others`` exist."""
    existing = [column.name for column in table.columns]
    if not table.declares:  # records must not decide the columns
        if named is None:
            raise DataError(
                f"{table.name} does not declare its columns: name those of trips "
                "(edges, or nodes, or trip, edge), or the coordinates of events, with columns=… "
                "(--columns)"
            )
        return named
    needed = [] if named is None else [*filter(None, (named.group, named.item))]
    pick(table.columns, [*needed, *others], table.name, first_line=table.first_line)
    if named is not None:
        return named
    if stands := trip_columns(existing):
        return _form_of(stands)
    if not existing:  # an empty file is an empty data set
        return _form_of(COLUMNS[:2])
    there = f"columns {column_list(table.columns)}"
    if table.first_line:  # the first line may be a record: not shown
        there = "no columns of trips in its first line"
    raise DataError(
        f"{table.name} has {there}: trips need trip and edge, or edges, or nodes; events at places "
        "name their coordinates (columns=…, --columns)"
    )


def _matched(graph: RoadGraph, items: Items) -> Items:
    """Convert nodes to edges: each step is the shortest edge between two nodes.

    A step is −1 if the graph lacks a node of it, or has no edge between the two.
    """
    key = graph.pair_keys(*graph.ends.T)
    order = np.lexsort([graph.length, key])
    keys, first = np.unique(key[order], return_index=True)
    edges = order[first]
    stays = np.ones(len(items.item), dtype=np.bool_)
    # No step starts at the last node of a trip.
    stays[items.start[1:][np.diff(items.start) > 0] - 1] = False
    at = np.flatnonzero(stays)
    one, two = items.item[at], items.item[at + 1] if len(at) else items.item[at]
    wanted = graph.pair_keys(one, two)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    wrong = (keys[place] != wanted) | (one < 0) | (two < 0)
    edge = np.full(len(items.item), -1, dtype=np.int64)
    edge[at] = np.where(wrong, -1, edges[place])
    return replace(items, item=edge).only(stays)
