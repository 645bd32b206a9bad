"""RoadGraph: the public network on which sequences run, as frozen columns.

Everything here is public: nodes, edges with their geometry and length. Edges are known by their id,
so that parallel edges and self-loops are ordinary. Roads go both ways unless the graph is directed;
then one street that a file lists in both directions is one edge, under either id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.lazy import scipy
from dpviz.roads.ground import MAX_COORDINATE
from dpviz.trees.ragged import ragged_take

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Ids = NDArray[Any]
"""Whole numbers (int64), or texts as objects, so that one long name does not widen all others."""
Made = TypeVar("Made")

_WHOLE = re.compile("0|-?[1-9][0-9]{0,17}")

MAX_CACHED = 32
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
        length: (m,) positive lengths, float64, metres on the ground unless the file states others;
            shortest paths use them.
        line_start: (m + 1,) offsets into ``line_xy``, int64.
        line_xy: (k, 2) geometry of the edges one after another, from the first end to the second.
        crs: the coordinate reference system, "" for a plane of its own.
        directed: True if an edge is passed from its first end to its second only.
        twins: further ids, as text, of streets that a file lists more than once, and the row number
            of the edge of each.

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
    twins: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            columns = {name: as_ids(getattr(self, name)).copy() for name in ("node_id", "edge_id")}
            for names, dtype in ((("ends", "line_start"), np.int64), (FLOATS, np.float64)):
                columns |= {n: np.array(getattr(self, n), dtype, order="C", ndmin=1) for n in names}
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(
                "a column of the road graph is not an array of ids or numbers: use dpviz.read_graph"
            ) from None
        for name, column in columns.items():
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        object.__setattr__(self, "twins", MappingProxyType({**self.twins}))
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
        names = as_objects(self.edge_names) if self.twins else self.edge_id
        for what, ids in (("node", self.node_id), ("edge", names)):
            values, times = np.unique(ids, return_counts=True)
            if len(values) < len(ids):
                raise DataError(
                    f"{what} id {values[times > 1][0]!s} is given twice: make it unique"
                )
        if (self.ends < 0).any() or (self.ends >= n).any():
            raise DataError("an edge ends at an unknown node: add the node, or drop the edge")
        if not all(0 <= edge < m for edge in self.twins.values()):
            raise DataError("a second id names an unknown edge: add the edge, or drop the id")
        limits.NAME.check(max(map(len, self.twins), default=0), "an edge")
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
            raise DataError("the geometry of an edge has fewer than two points: add points")

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
        """Number of connected components that contain an edge."""
        return len(np.unique(self.part[self.ends[:, 0]]))

    def pair_keys(self, a: Int, b: Int) -> Int:
        """One number per pair of node rows, the same for (b, a) unless the graph is directed."""
        if not self.directed:
            a, b = np.minimum(a, b), np.maximum(a, b)
        return np.asarray(a * len(self.node_id) + b)

    def line(self, edge: int) -> Float:
        """Points (k, 2) of one edge row."""
        return self.line_xy[self.line_start[edge] : self.line_start[edge + 1]]

    @property
    def edge_names(self) -> list[str]:
        """Ids of the edges as text, then those of their twins."""
        return [*map(str, self.edge_id.tolist()), *self.twins]

    @property
    def named_edges(self) -> Int:
        """Row number of the edge that each of :attr:`edge_names` names."""
        return np.array([*range(len(self)), *self.twins.values()], dtype=np.int64)

    def edge_rows(self, ids: ArrayLike) -> Int:
        """Row numbers of edge ids, −1 where the graph has no such edge; int64 of the same shape."""
        return rows_of(self._edge_place, ids)

    def node_row(self, name: object) -> int:
        """Row number of one node id.

        Raises:
            DataError: the graph has no such node.
        """
        row = int(rows_of(self._node_place, [str(name)])[0])
        if row < 0:
            raise DataError(
                f"node {str(name)[:40]} is not in the road graph: choose one of its nodes"
            )
        return row

    def cached(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the result cached under a key, made if missing; the cache lives with the graph."""
        made: Made | None = self._memory.get(key)
        if made is None:
            if len(self._memory) >= MAX_CACHED:
                self._memory.clear()
            made = self._memory[key] = make()
        return made

    @cached_property
    def _memory(self) -> dict[Hashable, Any]:
        return {}

    @cached_property
    def _edge_place(self) -> dict[str, int]:
        return {**places_of(self.edge_id), **self.twins}

    @cached_property
    def _node_place(self) -> dict[str, int]:
        return places_of(self.node_id)

    def subgraph(self, edges: ArrayLike) -> RoadGraph:
        """The graph of the edges where the mask (m,) is true, and the nodes that they touch."""
        rows = np.flatnonzero(np.asarray(edges, dtype=np.bool_))
        touched = np.unique(self.ends[rows])
        position = np.full(len(self.node_id), -1, dtype=np.int64)
        position[touched] = np.arange(len(touched))
        points, start = ragged_take(self.line_start, rows)
        row = {edge: at for at, edge in enumerate(rows.tolist())}
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
            {name: row[edge] for name, edge in self.twins.items() if edge in row},
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
        return self.subgraph(edge_part == np.argmax(sizes))


def require_places(xy: Float) -> None:
    """Refuse coordinates that are not finite, or too large."""
    if not (np.abs(xy) <= MAX_COORDINATE).all():
        raise DataError(
            "a node or an edge has a coordinate that is not a finite number up to "
            f"{MAX_COORDINATE:g}: correct it, or drop the row"
        )


def as_ids(values: ArrayLike | Iterable[object]) -> Ids:
    """Ids as int64 where all are whole numbers, also as texts write them; else as texts.

    >>> as_ids(["1", "b"]).tolist(), as_ids([1.0, 2.0]).tolist(), as_ids(["1", "02"]).tolist()
    (['1', 'b'], [1, 2], ['1', '02'])
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
    """Values as an array of objects (n,).

    Each takes its own memory, not that of the longest.

    >>> as_objects(["a", "bc"]).dtype
    dtype('O')
    """
    items = list(values)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _is_whole(value: object) -> bool:
    if isinstance(value, str):
        return _WHOLE.fullmatch(value) is not None
    if isinstance(value, float):
        return value.is_integer() and abs(value) < 2**63
    return isinstance(value, (int, np.integer)) and abs(int(value)) < 2**63


def places_of(ids: Ids) -> dict[str, int]:
    """Row of each id, by its text."""
    return {str(name): row for row, name in enumerate(ids.tolist())}


def rows_of(place: dict[str, int], wanted: ArrayLike | Iterable[object]) -> Int:
    """Row of each wanted id; −1 if it is unknown."""
    ids = as_ids(wanted)
    rows = np.fromiter((place.get(str(each), -1) for each in ids.ravel().tolist()), np.int64)
    return rows.reshape(ids.shape)
