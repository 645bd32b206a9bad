"""Decomposition: a forest of boxes with estimates, as equal-length read-only columns.

The one core type. Nodes stand in breadth-first order, the children of a node next to each other, so
that a level is a slice and every method (trees, grids, wavelets) is queried, drawn and saved alike.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.errors import ReleaseError
from dpviz.progress import checkpoint
from dpviz.trees.lattice import STRIP_ROWS, Float, Int, overlaps, positions_within, rowwise, volumes

Int32 = NDArray[np.int32]

MAX_NODES = 8_000_000
"""Public cap on the nodes of a tree; reaching it fails a build, it never truncates."""

MAX_LEVELS = 256
"""Levels of the deepest tree: a public cap, so that a level is a uint8."""

EVEN, OVERLAPPING, IN_TIME, HIGH_DIMENSIONS, ADAPTED = 0.0, 0.12, 0.29, 0.5, 0.7
"""Parts of the leaves' errors that are common: see :attr:`Decomposition.coherence`."""

_WHOLE: dict[str, type[np.signedinteger[Any]]] = {
    "lo": np.int64,
    "hi": np.int64,
    "parent": np.int32,
}


@dataclass(frozen=True, eq=False, repr=False)
class Decomposition:
    """Columns over n nodes in breadth-first order; every column refuses writes.

    Attributes:
        lo, hi: boxes on the lattice, int64 of shape (n, d), hi exclusive.
        parent: index of the parent, int32; −1 for a root.
        count: estimate of the records in the box, float64, after consistency.
        variance: variance of the noise in ``count``, float64.
        assumed: for maps made from more axes, variance in each count due to the uniformity assumed
            along the omitted axes, float64; None otherwise.
        measured: on streets, variance of the noise of each node's own measurement, before least
            squares, float64; None otherwise. Where ``variance`` of a root without children is
            larger, the excess is an error that all such roots share, such as a noisy factor.
    """

    lo: Int
    hi: Int
    parent: Int32 | Int
    count: Float
    variance: Float
    assumed: Float | None = None
    measured: Float | None = None

    def __post_init__(self) -> None:
        for name, column in self.columns.items():
            self._set_column(name, column)
        self._check_nodes()
        self._check_estimates()

    @classmethod
    def of_halves(cls, **columns: ArrayLike) -> Decomposition:
        """Build from boxes made by halving one box; their structure is valid and is not checked."""
        nodes = object.__new__(cls)
        for name, column in columns.items():
            nodes._set_column(name, column)
        nodes._check_estimates()
        return nodes

    def _set_column(self, name: str, given: ArrayLike) -> None:
        checkpoint()
        column = _whole_numbers(name, given) if name in _WHOLE else _column_copy(given, np.float64)
        object.__setattr__(self, name, _frozen(column))

    def _check_estimates(self) -> None:
        n = len(self.parent)
        if self.count.shape != (n,) or self.variance.shape != (n,):
            raise ReleaseError("count and variance: give one value per node")
        if not (np.isfinite(self.count).all() and np.isfinite(self.variance).all()):
            raise ReleaseError("count and variance: give finite numbers")
        if (self.variance < 0).any():
            raise ReleaseError(f"negative variance {_rows(self.variance < 0)}: give numbers from 0")
        for name in ("assumed", "measured"):
            beside = getattr(self, name)
            if beside is not None and not (
                beside.shape == (n,) and ((beside >= 0) & (beside < np.inf)).all()
            ):
                raise ReleaseError(f"{name}: give one finite variance per node")

    def _check_nodes(self) -> None:
        """Check every structural property that queries rely on; files are checked here too."""
        n = len(self.parent)
        if not 1 <= n <= MAX_NODES:
            raise ReleaseError(f"{n:,} nodes: a decomposition has 1 to {MAX_NODES:,}")
        if self.lo.ndim != 2 or self.lo.shape != self.hi.shape or len(self.lo) != n:
            raise ReleaseError(f"lo {self.lo.shape} and hi {self.hi.shape}: give ({n}, d) each")
        empty = self.lo >= self.hi
        if empty.any():
            raise ReleaseError(f"empty boxes {_rows(empty.any(axis=1))}: give lo below hi")
        order = self.parent[1:] < self.parent[:-1]
        late = self.parent >= np.arange(n, dtype=np.int32)
        if order.any() or late.any() or self.parent[0] != -1:
            raise ReleaseError("nodes are not in breadth-first order: sort them by level")
        if len(self.levels) > MAX_LEVELS:
            raise ReleaseError(f"more than {MAX_LEVELS} levels: the tree is damaged")
        roots = self.levels[0].stop
        for start in range(roots, n, STRIP_ROWS):
            checkpoint()
            part = slice(start, start + STRIP_ROWS)
            above = self.parent[part]
            stray = self.lo[part] < _lattice_rows(self.lo, above)
            stray |= self.hi[part] > _lattice_rows(self.hi, above)
            if stray.any():
                raise ReleaseError(
                    "children outside their parent " + _rows(stray.any(axis=1), start)
                )

    def __len__(self) -> int:
        return len(self.parent)

    def __repr__(self) -> str:
        return f"Decomposition({len(self):,} nodes, {self.dims}-D)"

    @property
    def columns(self) -> dict[str, Any]:
        """Columns that are present, by name."""
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: column for name, column in every.items() if column is not None}

    @property
    def dims(self) -> int:
        """Number of dimensions."""
        return int(self.lo.shape[1])

    @cached_property
    def n_children(self) -> Int32:
        """Number of children per node, int32."""
        inner = self.parent[self.parent >= 0]
        return _frozen(np.bincount(inner, minlength=len(self)).astype(np.int32))

    @cached_property
    def first_child(self) -> Int32:
        """Index of the first child, int32; −1 for a leaf."""
        first = self.levels[0].stop + np.concatenate([[0], np.cumsum(self.n_children)[:-1]])
        return _frozen(np.where(self.n_children > 0, first, -1).astype(np.int32))

    @cached_property
    def level(self) -> NDArray[np.uint8]:
        """Distance from the root, uint8."""
        level = np.zeros(len(self), dtype=np.uint8)
        for depth, part in enumerate(self.levels):
            level[part] = depth
        return _frozen(level)

    @cached_property
    def levels(self) -> tuple[slice, ...]:
        """One slice of nodes per level, roots first."""
        return level_slices(self.parent, MAX_LEVELS + 1)  # one more is refused

    @property
    def leaf(self) -> NDArray[np.bool_]:
        """Mask of leaves, bool of shape (n,)."""
        return np.asarray(self.n_children == 0)

    @property
    def depth(self) -> int:
        """The deepest level; 0 where there are roots only."""
        return len(self.levels) - 1

    @cached_property
    def adjacent_nodes(self) -> Int32:
        """Neighbours of each node, see :func:`adjacent_nodes`."""
        return _frozen(adjacent_nodes(self.lo, self.parent, self.first_child, self.levels))

    @cached_property
    def volume(self) -> Int:
        """Exact volume of each box in lattice cells, int64."""
        return _frozen(volumes(self.lo, self.hi))

    @cached_property
    def coherence(self) -> float:
        """ρ: how far the leaves that an edge cuts err in one direction, from the boxes alone.

        The uniformity error's variance is Σuᵢ² + (ρΣuᵢ)² over leaves of largest variances uᵢ². Cuts
        that follow the records put long leaves around each town, its records at the inner ends of
        them: most of the error is common. Above two dimensions an edge cuts most leaves that a
        query meets, and these lie along the same few clusters; cells that are runs of a curve are
        cut where records change. Measured on built-in data: assets/docs/results/intervals.md.
        """
        inner, roots = ~self.leaf, self.levels[0].stop
        if not inner.any():
            return EVEN
        volume, starts = self.volume[roots:], self.first_child[inner] - roots
        if np.median(np.add.reduceat(volume, starts) / self.volume[inner]) > 1.001:
            return OVERLAPPING
        ratio = np.maximum.reduceat(volume, starts) / np.minimum.reduceat(volume, starts)
        doublings = np.log2(ratio)
        # Halvings (and grids, up to one lattice step) have siblings with volumes 1, 2, 4, …
        adapted = (doublings > 0.6) & (np.abs(doublings - np.rint(doublings)) > 0.02)
        if np.median(adapted) > 0:
            return ADAPTED
        if self.dims <= 2 and self.assumed is None:
            return EVEN
        if self._along_curve and ratio.max() == 1:
            return ADAPTED
        return IN_TIME if self.dims <= 3 else HIGH_DIMENSIONS

    @property
    def _along_curve(self) -> bool:
        """True if cells of one level differ in shape, as runs of a Hilbert curve do."""
        sides = self.hi - self.lo
        return any(bool((sides[part] != sides[part.start]).any()) for part in self.levels)

    def children(self, rows: Int) -> tuple[Int, Int]:
        """The children of some nodes, one after another.

        Returns:
            Per child, the position of its parent in ``rows``, and its own row; int64 (k,) each.
        """
        sizes = self.n_children[rows].astype(np.int64)
        above = np.repeat(np.arange(len(rows)), sizes)
        return above, self.first_child[rows[above]].astype(np.int64) + positions_within(sizes)

    def is_partition(self) -> bool:
        """Return whether the children of every inner node tile it: disjoint, filling its volume."""
        filled = np.zeros(len(self), dtype=np.int64)
        child = np.flatnonzero(self.parent >= 0)
        np.add.at(filled, self.parent[child], self.volume[child])
        inner = ~self.leaf
        if not np.array_equal(filled[inner], self.volume[inner]):
            return False
        for node in np.flatnonzero(inner):
            part = slice(self.first_child[node], self.first_child[node] + self.n_children[node])
            if self.n_children[node] > 64:
                # Volumes and containment suffice in practice; comparing all pairs would be slow.
                continue
            lo, hi = self.lo[part], self.hi[part]
            pairs = overlaps(lo[:, None], hi[:, None], lo[None], hi[None])
            if np.count_nonzero(pairs) != len(lo):
                return False
        return True

    def select(self, keep: ArrayLike) -> Decomposition:
        """The nodes where ``keep`` (bool) is true; a kept node's parent must be kept."""
        rows = np.flatnonzero(np.asarray(keep, dtype=np.bool_))
        renumbered = np.full(len(self) + 1, -1, dtype=np.int64)  # the last entry maps −1 to −1
        renumbered[rows] = np.arange(len(rows))
        columns = {name: column[rows] for name, column in self.columns.items()}
        columns["parent"] = renumbered[self.parent[rows]]
        return Decomposition(**columns)

    def replace(self, **columns: ArrayLike) -> Decomposition:
        """The same nodes with other columns, for instance estimates after consistency.

        Where only estimates change, cached properties of the nodes are kept.
        """
        if columns.keys() <= {"count", "variance", "measured"}:
            other = copy(self)
            for name, column in columns.items():
                other._set_column(name, column)
            other._check_estimates()
            return other
        return Decomposition(**{**self.columns, **columns})


def level_slices(parent: ArrayLike, most: int | None = None) -> tuple[slice, ...]:
    """One slice of nodes per level of a breadth-first parent column (−1 for roots), roots first.

    ``most`` limits the number of levels.
    """
    parent = np.asarray(parent)
    whole = parent.dtype.type  # a key of another type would copy the column for each level
    start, stop = 0, int(parent.searchsorted(whole(0)))
    slices: list[slice] = []
    while start < stop and len(slices) != most:
        slices.append(slice(start, stop))
        start, stop = stop, int(parent.searchsorted(whole(stop)))
    return tuple(slices)


def is_leaf(parent: ArrayLike) -> NDArray[np.bool_]:
    """Mask of nodes without children in a parent column (−1 for roots), bool (n,)."""
    parent = np.asarray(parent)
    leaf = np.ones(len(parent), dtype=np.bool_)
    leaf[parent[parent >= 0]] = False
    return leaf


def _whole_numbers(name: str, values: ArrayLike) -> NDArray[np.signedinteger[Any]]:
    """The column as integers; a cast alone would wrap around, and make numbers of NaN."""
    values = np.asarray(values)
    limits = np.iinfo(_WHOLE[name])
    if (
        values.size
        and values.dtype != _WHOLE[name]
        and (
            values.dtype.kind not in "iu" or values.min() < limits.min or values.max() > limits.max
        )
    ):
        raise ReleaseError(f"{name}: give whole numbers up to {limits.max:,}")
    return _column_copy(values, _WHOLE[name])


def _column_copy(values: ArrayLike, kind: Any) -> NDArray[Any]:
    """Copy the values into a column; one that is read-only already is shared."""
    values = np.asarray(values)
    shared = values.base is None and not values.flags.writeable
    return np.array(values, dtype=kind, order="C", copy=None if shared else True)


def _frozen(column: NDArray[np.generic]) -> NDArray:  # type: ignore[type-arg]
    column.flags.writeable = False
    return column


def _lattice_rows(boxes: Int, rows: Int32 | Int) -> Int:
    """Some rows of (n, d) lattice numbers."""
    return np.asarray(rowwise(boxes)[rows].view(np.int64).reshape(len(rows), -1))


def _rows(wrong: ArrayLike, first: int = 0) -> str:
    rows = np.flatnonzero(wrong) + first
    shown = " ".join(str(row) for row in rows[:5])
    return f"at rows [{shown}{' …' if len(rows) > 5 else ''}]"


def adjacent_nodes(
    lo: Int, parent: Int32 | Int, first_child: Int32, levels: tuple[slice, ...]
) -> Int32:
    """Neighbour of each node across each side, int32 (d, 2, n).

    A neighbour is the node of the same size, or the leaf around that place, across the lower and
    the upper side of each axis; −1 at the domain's edge. A family's members lie beside each other;
    what lies beyond is a child of what lies beside their parent.

    The tree has one root; in each level all splits halve the same axes, once each, and have their
    children in the same order. Its columns are those of a decomposition.
    """
    there = np.full((lo.shape[1], 2, len(lo)), -1, dtype=np.int32)
    for part in levels[1:]:
        fanout = int(parent[part].searchsorted(parent[part.start], "right"))
        above = parent[part][::fanout]
        first = np.arange(part.start, part.stop, fanout, dtype=np.int32)
        family = lo[part.start : part.start + fanout]
        bits = [1 << place for place in range(fanout.bit_length() - 1)]
        for axis, both in enumerate(there):
            checkpoint()
            # The bit of a member's number that states its side of the middle, if there is one.
            bit = next((bit for bit in bits if family[bit, axis] > family[0, axis]), 0)
            for upper, column in enumerate(both):
                beyond, rows = column.take(above), column[part].reshape(-1, fanout)
                child = first_child.take(beyond)
                divided = (beyond >= 0) & (child >= 0)
                for corner in range(fanout):
                    if bit and bool(corner & bit) != bool(upper):
                        rows[:, corner] = first + (corner ^ bit)
                    else:
                        rows[:, corner] = np.where(divided, child + (corner ^ bit), beyond)
    return there
