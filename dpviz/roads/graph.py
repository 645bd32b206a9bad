"""RoadGraph: the public network on which sequences run, as frozen columns.

Everything here is public: nodes, edges with their geometry and length. Edges are known by their id,
so that parallel edges and self-loops are ordinary. Roads go both ways unless the graph is directed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.lazy import scipy

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Ids = NDArray[Any]
"""Whole numbers (int64), or texts (objects): one long name must not set the width of all others."""
Made = TypeVar("Made")

MOST_REMEMBERED = 32
FARTHEST = 1e12
"""Of a coordinate: in any unit far beyond the Earth, and its square is still a number."""
COMPONENTS = ("refuse", "largest", "all")
FLOATS = ("xy", "length", "line_xy")


@dataclass(frozen=True, eq=False, repr=False)
class RoadGraph:
    """n nodes and m edges; every column refuses writes.

    Attributes:
        node_id: (n,) distinct whole numbers or strings.
        xy: (n, 2) coordinates in the units of ``crs``.
        edge_id: (m,) distinct whole numbers or strings.
        ends: (m, 2) row numbers of the two end nodes, int64; equal for a self-loop.
        length: (m,) positive lengths in any unit, float64; shortest paths use them.
        line_start: (m + 1,) offsets into ``line_xy``, int64.
        line_xy: (k, 2) geometry of the edges one after another, from the first end to the second.
        crs: the coordinate reference system, "" for a plane of its own.
        directed: whether an edge is passed from its first end to its second only.

    Raises:
        DataError: a column of the wrong shape, an id given twice, an end that is no node, or a
            coordinate or length that is not a finite number.
    """

    node_id: Ids
    xy: Float
    edge_id: Ids
    ends: Int
    length: Float
    line_start: Int
    line_xy: Float
    crs: str = ""
    directed: bool = False

    def __post_init__(self) -> None:
        try:
            columns = {name: as_ids(getattr(self, name)).copy() for name in ("node_id", "edge_id")}
            for names, dtype in ((("ends", "line_start"), np.int64), (FLOATS, np.float64)):
                columns |= {n: np.array(getattr(self, n), dtype, order="C", ndmin=1) for n in names}
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(
                "columns of a road graph are no arrays of ids and numbers: use dpviz.read_graph"
            ) from None
        for name, column in columns.items():
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        self._check()

    def _check(self) -> None:
        n, m = len(self.node_id), len(self.edge_id)
        limits.STREETS.check(max(n, m), "the road graph")
        if m == 0:
            raise DataError("the road graph has no edges: give at least one")
        shapes = {
            "xy": (n, 2),
            "ends": (m, 2),
            "length": (m,),
            "line_start": (m + 1,),
            "line_xy": (len(self.line_xy), 2),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise DataError(
                    f"road graph: {name} has shape {getattr(self, name).shape}, expected {shape}"
                )
        for what, ids in (("node", self.node_id), ("edge", self.edge_id)):
            values, times = np.unique(ids, return_counts=True)
            if len(values) < len(ids):
                raise DataError(
                    f"{what} id {values[times > 1][0]!s} is given twice: make it unique"
                )
        if (self.ends < 0).any() or (self.ends >= n).any():
            raise DataError("an edge ends at a node that does not exist")
        require_places(self.xy)
        require_places(self.line_xy)
        wrong = ~(np.isfinite(self.length) & (self.length > 0))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"edge {self.edge_id[row]} has length {self.length[row]:g}: give a positive number"
            )
        steps = np.diff(self.line_start)
        if self.line_start[0] != 0 or self.line_start[-1] != len(self.line_xy) or (steps < 2).any():
            raise DataError("the geometry of an edge needs at least two points")

    def __len__(self) -> int:
        return len(self.edge_id)

    def __repr__(self) -> str:
        return f"RoadGraph({len(self.node_id):,} nodes, {len(self):,} edges)"

    @cached_property
    def incidence(self) -> tuple[Int, Int]:
        """Edge ends at each node: offsets (n + 1,) and darts (2m,).

        Dart 2e is the first end of edge row e and 2e + 1 the second; a self-loop has both at one
        node.
        """
        flat = self.ends.ravel()
        order = np.argsort(flat, kind="stable")
        degree = np.bincount(flat, minlength=len(self.node_id))
        return np.concatenate([[0], np.cumsum(degree)]), order

    @cached_property
    def part(self) -> NDArray[np.int32]:
        """Connected part of each node, whatever the directions, int32 of shape (n,)."""
        n = len(self.node_id)
        ones = np.ones(len(self), dtype=np.int8)
        graph = scipy.sparse.coo_array((ones, (self.ends[:, 0], self.ends[:, 1])), shape=(n, n))
        return np.asarray(
            scipy.sparse.csgraph.connected_components(graph, directed=False)[1], dtype=np.int32
        )

    @property
    def n_components(self) -> int:
        """How many connected components have an edge."""
        return len(np.unique(self.part[self.ends[:, 0]]))

    def pair_keys(self, a: Int, b: Int) -> Int:
        """One number per pair of node rows, the same for (b, a) unless the graph is directed."""
        if not self.directed:
            a, b = np.minimum(a, b), np.maximum(a, b)
        return np.asarray(a * len(self.node_id) + b)

    def line(self, edge: int) -> Float:
        """Points (k, 2) of one edge row."""
        return self.line_xy[self.line_start[edge] : self.line_start[edge + 1]]

    def edge_rows(self, ids: ArrayLike) -> Int:
        """Row numbers of edge ids, −1 where the graph has no such edge; int64 of the same shape."""
        return _rows_of(self._edge_place, ids)

    def node_row(self, name: object) -> int:
        """Row number of one node id.

        Raises:
            DataError: the graph has no such node.
        """
        row = int(_rows_of(self._node_place, [str(name)])[0])
        if row < 0:
            raise DataError(
                f"node {str(name)[:40]} is not in the road graph: choose one of its nodes"
            )
        return row

    def remembered(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What was made of this graph under a key: kept as long as the graph, and no longer."""
        made: Made | None = self._memory.get(key)
        if made is None:
            if len(self._memory) >= MOST_REMEMBERED:
                self._memory.clear()
            made = self._memory[key] = make()
        return made

    @cached_property
    def _memory(self) -> dict[Hashable, Any]:
        return {}

    @cached_property
    def _edge_place(self) -> dict[Any, int]:
        return {name: row for row, name in enumerate(self.edge_id.tolist())}

    @cached_property
    def _node_place(self) -> dict[Any, int]:
        return {name: row for row, name in enumerate(self.node_id.tolist())}

    def keep(self, edges: ArrayLike) -> RoadGraph:
        """The graph of the edges where the mask (m,) is true, and the nodes that they touch."""
        rows = np.flatnonzero(np.asarray(edges, dtype=np.bool_))
        touched = np.unique(self.ends[rows])
        position = np.full(len(self.node_id), -1, dtype=np.int64)
        position[touched] = np.arange(len(touched))
        points, start = ragged_take(self.line_start, rows)
        return RoadGraph(
            self.node_id[touched],
            self.xy[touched],
            self.edge_id[rows],
            position[self.ends[rows]],
            self.length[rows],
            start,
            self.line_xy[points],
            self.crs,
            self.directed,
        )

    def connected(self, components: str = "refuse") -> RoadGraph:
        """This graph, if it is connected; otherwise as ``components`` says.

        Args:
            components: "refuse" a disconnected graph, keep its "largest" part, or keep "all".

        Raises:
            DataError: a disconnected graph, where that is refused.
        """
        if components not in COMPONENTS:
            raise DataError(f"components={components!r}: choose one of {', '.join(COMPONENTS)}")
        edge_part = self.part[self.ends[:, 0]]
        sizes = np.bincount(edge_part)
        if components == "all" or np.count_nonzero(sizes) == 1:
            return self
        if components == "refuse":
            shown = np.sort(sizes[sizes > 0])[::-1]
            listed = ", ".join(f"{size:,}" for size in shown[:3])
            raise DataError(
                f"the road graph falls into {len(shown)} parts ({listed}"
                f"{', …' if len(shown) > 3 else ''} edges): keep the largest (components=largest) "
                "or all of them (components=all)"
            )
        return self.keep(edge_part == np.argmax(sizes))


def road_graph(
    nodes: dict[str, ArrayLike],
    edges: dict[str, ArrayLike],
    *,
    crs: str = "",
    components: str = "refuse",
    directed: bool = False,
) -> RoadGraph:
    """A road graph from two tables, with straight edges.

    Args:
        nodes: columns ``node, x, y`` (or ``lon, lat``).
        edges: columns ``src, dst``; ``edge`` (the id, row numbers by default) and ``length``
            (straight-line distance by default).
        crs: the coordinate reference system, "" for a plane of its own.
        components: what to do with a disconnected graph; see :meth:`RoadGraph.connected`.
        directed: whether edges run from ``src`` to ``dst`` only.

    Raises:
        DataError: a missing column, an edge that names a missing node, or see :class:`RoadGraph`.

    >>> square = road_graph({"node": [1, 2, 3], "x": [0, 1, 1], "y": [0, 0, 1]},
    ...                     {"edge": ["a", "b"], "src": [1, 2], "dst": [2, 3]})
    >>> square.ends.tolist(), square.length.tolist()
    ([[0, 1], [1, 2]], [1.0, 1.0])
    """
    _, x, y = needed = node_columns(nodes)
    for what, table, columns in (("node", nodes, needed), ("edge", edges, edge_columns(edges))):
        missing = [name for name in columns if name not in table]
        if missing:
            listed = ", ".join(map(repr, table)) or "none"
            raise DataError(f"the {what} table has no column {missing[0]!r}: it has {listed}")
    node_id = as_ids(nodes["node"])
    try:
        xy = np.column_stack([np.asarray(nodes[name], dtype=np.float64) for name in (x, y)])
    except (TypeError, ValueError):
        raise DataError(f"columns {x!r} and {y!r} of the nodes must be numbers, one each") from None
    require_places(xy)
    source = as_ids(edges["src"])
    edge_id = as_ids(edges["edge"]) if "edge" in edges else np.arange(len(source))
    place = {name: row for row, name in enumerate(node_id.tolist())}
    ends = np.column_stack([_rows_of(place, each) for each in (source, as_ids(edges["dst"]))])
    if len(edge_id) != len(ends):
        raise DataError(f"{len(edge_id)} edge ids for {len(ends)} edges: give one each")
    lost = (ends < 0).any(axis=1)
    if lost.any():
        row = int(np.argmax(lost))
        column = "src" if ends[row, 0] < 0 else "dst"
        named = as_ids(edges[column])[row]
        raise DataError(
            f"edge {edge_id[row]} names node {named}, which the node table lacks: "
            "add the node or drop the edge"
        )
    lines = xy[ends]
    if "length" in edges:
        length = np.asarray(edges["length"], dtype=np.float64)
    else:
        length = np.hypot(*(lines[:, 1] - lines[:, 0]).T)
        # Two nodes at one place, or a self-loop, still need a positive length.
        length = np.maximum(length, 1e-9 * max(float(length.max(initial=0.0)), 1e-300))
    start = np.arange(0, 2 * len(ends) + 1, 2)
    points = lines.reshape(-1, 2)
    graph = RoadGraph(node_id, xy, edge_id, ends, length, start, points, crs, directed)
    return graph.connected(components)


def require_places(xy: Float) -> None:
    """Refuse coordinates that nothing can be computed with.

    Raises:
        DataError: one that is not a finite number, or too large.
    """
    if not (np.abs(xy) <= FARTHEST).all():
        raise DataError(
            f"a node or an edge has a coordinate that is not a finite number up to {FARTHEST:g}"
        )


def node_columns(names: Container[str]) -> tuple[str, str, str]:
    """What a table of nodes must have, of the columns that it has: the id and the coordinates.

    >>> node_columns(["node", "lon", "lat"]), node_columns(["id"])
    (('node', 'lon', 'lat'), ('node', 'x', 'y'))
    """
    return ("node", "lon", "lat") if "lon" in names and "x" not in names else ("node", "x", "y")


def edge_columns(_names: Container[str]) -> tuple[str, str]:
    """What a table of edges must have: the ids of both ends."""
    return "src", "dst"


def as_ids(values: ArrayLike | Iterable[object]) -> Ids:
    """Ids as int64 where all are whole numbers, else as texts.

    Raises:
        DataError: a text that is longer than a name may be.

    >>> as_ids(["1", "b"]).tolist(), as_ids([1.0, 2.0]).tolist()
    (['1', 'b'], [1, 2])
    """
    array = values if isinstance(values, np.ndarray) else as_objects(values)
    if array.dtype.kind in "iuf" and (np.abs(array) < 2**63).all() and (array == array // 1).all():
        return array.astype(np.int64)
    items = array.ravel().tolist()
    if array.dtype.kind == "O" and all(map(_is_whole, items)):
        return np.array([int(each) for each in items], dtype=np.int64).reshape(array.shape)
    texts = [each if isinstance(each, str) else str(each) for each in items]
    limits.NAME.check(max(map(len, texts), default=0), "a node or an edge")
    return as_objects(texts).reshape(array.shape)


def as_objects(values: Any) -> NDArray[Any]:
    """Values as an array of objects (n,): each takes its own memory, and not that of the longest.

    >>> as_objects(["a", "bc"]).dtype
    dtype('O')
    """
    items = list(values)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _is_whole(value: object) -> bool:
    if isinstance(value, float):
        return value.is_integer() and abs(value) < 2**63
    return isinstance(value, (int, np.integer)) and abs(int(value)) < 2**63


def ragged_take(start: Int, rows: Int) -> tuple[Int, Int]:
    """Places of the items of some rows of a ragged column, and the offsets of the result."""
    sizes = (start[1:] - start[:-1])[rows]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    shift = start[:-1][rows] - offsets[:-1]
    places = np.arange(offsets[-1]) + np.repeat(shift, sizes)
    return places, offsets


def _rows_of(place: dict[Any, int], wanted: ArrayLike | Iterable[object]) -> Int:
    """Row of each wanted id, −1 where there is none; numbers written as text are understood."""
    asked = as_ids(wanted)
    items = asked.ravel().tolist()
    if place and isinstance(next(iter(place)), str):
        items = [str(each) for each in items]
    elif asked.dtype.kind == "O":
        items = [int(each) if re.fullmatch(r"-?[0-9]{1,17}", each) else None for each in items]
    rows = np.fromiter((place.get(each, -1) for each in items), np.int64, len(items))
    return rows.reshape(asked.shape)
