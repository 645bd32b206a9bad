"""Paths: many edge sequences as two columns; trips are paths, and so are queries."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError, ParameterError
from dpviz.roads.graph import Int, RoadGraph
from dpviz.trees.ragged import Ragged

COLUMNS = TRIP, EDGE, EDGES, NODES = "trip", "edge", "edges", "nodes"
"""Columns of tables of trips: a row per step, or lists."""


def trip_columns(columns: Container[str]) -> tuple[str, ...]:
    """Return the columns that hold trips; empty if the table has none.

    >>> trip_columns(["edge", "trip", "person"]), trip_columns(["trip", "lon", "lat"])
    (('trip', 'edge'), ())
    """
    forms = ((EDGES,), (NODES,), (TRIP, EDGE))
    return next((form for form in forms if all(each in columns for each in form)), ())


@dataclass(frozen=True, eq=False)
class Paths(Ragged):
    """Sequences of edge rows of a graph, one after another; both columns refuse writes.

    Attributes:
        name: name of a public workload that can be generated again; else empty.
    """

    name: str = ""

    def __post_init__(self) -> None:
        for name in ("start", "item"):
            column = np.array(getattr(self, name), dtype=np.int64)
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        if len(self.start) < 1 or self.start[0] != 0 or self.start[-1] != len(self.edge):
            raise DataError("offsets do not fit the edges: begin at 0, end at their number")
        if (np.diff(self.start) < 0).any():
            raise DataError("offsets decrease: give them in ascending order")

    @property
    def edge(self) -> Int:
        """Edge rows of all paths, repeats included, int64."""
        return self.item

    def take(self, rows: Int) -> Paths:
        """Some of the paths, in the order of ``rows``: no longer the workload of that name."""
        return replace(super().take(rows), name="")

    def sum(self, values: NDArray[np.float64] | Int) -> NDArray[np.float64]:
        """Sum of a value per edge row over each path, repeats included: float64 of shape (q,)."""
        total = np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype=np.float64)[self.edge])])
        before, after = total[self.start[:-1]], total[self.start[1:]]
        return np.asarray(after - before)


def distinct_keys(keys: Int) -> Int:
    """The distinct keys in order, int64: for keys that stand nearly so.

    NumPy looks each up in a table, which took sixty times as long for the edges of trip after trip.

    >>> distinct_keys(np.array([2, 1, 2])).tolist()
    [1, 2]
    """
    ordered = np.sort(keys, kind="stable")
    first = np.ones(len(ordered), dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def walk_nodes(graph: RoadGraph, paths: Paths) -> Int:
    """The node through which each item of ``paths.edge`` is left, int64; −1 in what is no path.

    A path enters an edge at one end (of a directed graph: the first) and leaves it at the other;
    parallel edges leave two choices at the start: the first possible one is taken.
    """
    ends = graph.ends
    length, first = paths.length, paths.start[:-1]
    # possible[i, b]: the walk can reach item i and leave its edge at end b.
    possible = np.zeros((len(paths.edge), 2), dtype=np.bool_)
    longest = int(length.max(initial=0))
    sides = (0,) if graph.directed else (0, 1)  # ends at which an edge may be entered
    possible[first[length > 0], 1 - np.array(sides)[:, None]] = True
    for step in range(1, longest):
        item = first[length > step] + step
        here, before = ends[paths.edge[item]], ends[paths.edge[item - 1]]
        for enter in sides:
            for leave in (0, 1):
                fits = possible[item - 1, leave] & (before[:, leave] == here[:, enter])
                possible[item, 1 - enter] |= fits
    left = np.full(len(paths.edge), -1, dtype=np.int64)
    last = first[length > 0] + length[length > 0] - 1
    side = np.where(possible[last, 1], 1, 0)
    works = possible[last].any(axis=1)
    left[last[works]] = ends[paths.edge[last[works]], side[works]]
    # Backwards: item i − 1 is left at the node where item i is entered.
    entered = np.full(len(paths.edge), -1, dtype=np.int64)
    entered[last[works]] = ends[paths.edge[last[works]], 1 - side[works]]
    ok = np.zeros(len(paths), dtype=np.bool_)
    ok[np.flatnonzero(length > 0)[works]] = True
    for step in range(longest - 1, 0, -1):
        rows = np.flatnonzero(ok & (length > step))
        item = first[rows] + step - 1
        node = entered[item + 1]
        edge = ends[paths.edge[item]]
        side = np.where(possible[item, 1] & (edge[:, 1] == node), 1, 0)
        left[item] = node
        entered[item] = edge[np.arange(len(item)), 1 - side]
    return left


def require_paths(graph: RoadGraph, paths: Paths) -> Int:
    """:func:`walk_nodes` of queries that must all be paths."""
    left = walk_nodes(graph, paths)
    empty = paths.length == 0
    if empty.any():
        raise DataError(f"query {int(np.argmax(empty))} is empty: name at least one edge")
    broken = np.flatnonzero(left[paths.start[1:] - 1] < 0)
    if len(broken):
        row = int(broken[0])
        shown = ", ".join(str(name) for name in graph.edge_id[paths[row]][:6])
        more = ", …" if len(paths[row]) > 6 else ""
        raise DataError(
            f"query {row} ({shown}{more}) is not a path: each edge must start where the one "
            "before it ends"
        )
    return left


def require_workload(workload: Paths) -> None:
    """Refuse an empty workload."""
    if len(workload) == 0 or not workload.length.any():
        raise ParameterError("the workload is empty: give at least one path query")


def paths_from_ids(graph: RoadGraph, sequences: Iterable[Sequence[object]], what: str) -> Paths:
    """Paths from sequences of edge ids."""
    listed = [np.asarray(each) for each in sequences]
    sizes = [len(each) for each in listed]
    flat = [name for each in listed for name in each.tolist()]
    rows = graph.edge_rows(flat) if flat else np.zeros(0, dtype=np.int64)
    start = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    if (rows < 0).any():
        at = int(np.argmax(rows < 0))
        row = int(np.searchsorted(start, at, side="right")) - 1
        raise DataError(
            f"{what} {row} names edge {flat[at]}, which the road graph lacks: "
            "use the ids of its edges"
        )
    return Paths(start, rows)
