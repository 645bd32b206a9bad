"""Cells of a public grid or of a release's leaves: the symbols of places."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.errors import DpvizError, ParameterError, ReleaseError
from dpviz.releases.counts import PointRelease
from dpviz.releases.header import Header
from dpviz.sequences.alphabet import Alphabet
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int

MOST_CELLS = 1024
"""Most cells of an alphabet: each context has a count per cell."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A public partition of a rectangle into boxes, the symbols of places.

    Attributes:
        domain: the public rectangle, 2-D.
        names: of the cells.
        lo, hi: boxes on the domain's lattice, int64 (k, 2), hi exclusive.
        origin: what a header says of where they come from, plain values.

    Raises:
        ReleaseError: the boxes overlap, or leave a part of the domain out.
    """

    domain: Domain
    names: tuple[str, ...]
    lo: Int
    hi: Int
    origin: dict[str, Any]

    def __post_init__(self) -> None:
        if self.domain.dims != 2:
            raise ReleaseError(f"sequences of cells need a 2-D domain, not {self.domain.dims}-D")
        if self.lo.shape != (len(self), 2) or self.hi.shape != self.lo.shape:
            raise ReleaseError("each cell needs a box: two lower and two upper limits")
        if (self.lo < 0).any() or (self.lo >= self.hi).any() or (self.hi > self.domain.side).any():
            raise ReleaseError("an empty cell, or one outside the domain")
        covered = int(np.prod(self.hi - self.lo, axis=1).sum())
        if covered != self.domain.side**2 or (self._raster < 0).any():
            raise ReleaseError("the cells overlap or leave gaps: take the leaves of another method")

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def _cuts(self) -> tuple[Int, Int]:
        """Sorted coordinates of the box borders, along each axis."""
        x, y = (np.unique(np.append(self.lo[:, axis], self.hi[:, axis])) for axis in (0, 1))
        return x, y

    @cached_property
    def _raster(self) -> Int:
        """Cell of each rectangle between neighbouring borders; −1 for no cell."""
        x, y = self._cuts
        raster = np.full((len(x) - 1, len(y) - 1), -1, dtype=np.int64)
        columns = np.searchsorted(x, np.column_stack([self.lo[:, 0], self.hi[:, 0]]))
        rows = np.searchsorted(y, np.column_stack([self.lo[:, 1], self.hi[:, 1]]))
        for cell, (west, east), (south, north) in zip(
            range(len(self)), columns.tolist(), rows.tolist(), strict=True
        ):
            raster[west:east, south:north] = cell
        return raster

    def symbol(self, lattice: Int) -> Int:
        """Cell of each place on the lattice, int64 (n,)."""
        at = [
            np.searchsorted(cuts, lattice[:, axis], side="right") - 1
            for axis, cuts in enumerate(self._cuts)
        ]
        return np.asarray(self._raster[at[0], at[1]])

    def alphabet(self, *, neighbours: bool) -> Alphabet:
        """The cells as symbols.

        Args:
            neighbours: whether a step leads to a cell that touches this one only: a public rule, at
                which records that break it are cut.
        """
        return Alphabet(self.names, _touching(self.lo, self.hi) if neighbours else None)

    @property
    def boxes(self) -> Float:
        """Boxes in the domain's CRS, float64 (k, 4)."""
        low, high = self.domain.to_coordinates(self.lo), self.domain.to_coordinates(self.hi)
        return np.hstack([low, high])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a header: the cells' origin, and all that :func:`cells_of` needs."""
        values = {**self.origin, "domain": self.domain.to_dict()}
        if "side" not in self.origin:
            values["boxes"] = np.hstack([self.lo, self.hi]).tolist()
        return values


def grid_cells(domain: Domain, side: int) -> Cells:
    """The cells of a public grid of side × side, named ``column-row`` from the south-west.

    Raises:
        ParameterError: another side than 2 to 64.

    >>> grid_cells(Domain((0, 0), (1, 1)), 2).names
    ('0-0', '0-1', '1-0', '1-1')
    """
    if not 2 <= side <= 64:
        raise ParameterError(f"a grid of {side} cells per side: give 2 to 64")
    corner = np.column_stack(np.divmod(np.arange(side * side), side))
    # The places with x · side // domain.side = i begin at ⌈i · domain.side / side⌉.
    lo, hi = (-(-(corner + step) * domain.side // side) for step in (0, 1))
    names = tuple(f"{column}-{row}" for column, row in corner.tolist())
    return Cells(domain, names, lo, hi, {"side": side})


def leaf_cells(release: PointRelease, most: int = 256) -> Cells:
    """Leaves or inner nodes of a release of places, at most ``most``, by noisy count.

    From the roots on, the node with the largest noisy count is opened as long as its children fit.
    It looks at the release only, so it costs nothing; what the release cost stands in ``origin``,
    and where both are about the same people the two prices add up.

    Args:
        release: of a method whose boxes tile the domain.
        most: cells, 2 to :data:`MOST_CELLS`.

    Raises:
        ParameterError: another number of cells, or too few for this release.
        ReleaseError: a release in other than 2-D, or of boxes that overlap.
    """
    if not 2 <= most <= MOST_CELLS:
        raise ParameterError(f"{most} cells: give 2 to {MOST_CELLS}")
    nodes, header = release.nodes, release.header
    opened = _opened(nodes, most)
    if len(opened) < 2:
        raise ParameterError(
            f"a release whose leaves do not fit into {most} cells: allow more, or choose one of a "
            "tree with a small fanout"
        )
    origin = {
        "release": header.method,
        "source": header.source,
        "epsilon": header.epsilon,
        "delta": header.delta,
        "unit": header.unit,
        "private": header.private,
        "guarantee": header.guarantee,
    }
    names = tuple(f"node-{node}" for node in opened.tolist())
    return Cells(release.domain, names, nodes.lo[opened], nodes.hi[opened], origin)


def cells_of(header: Header | dict[str, Any], names: tuple[str, ...]) -> Cells | None:
    """Cells of a release's symbols; None if the symbols are not places.

    Args:
        header: of a sequence release, or the public facts of a handle.
        names: of its alphabet.

    Raises:
        ReleaseError: the header is damaged.
    """
    values = (header.extra if isinstance(header, Header) else header).get("cells")
    if values is None:
        return None
    try:
        domain = Domain.from_dict(values["domain"])
        if "side" in values:
            return grid_cells(domain, int(values["side"]))
        boxes = np.array(values["boxes"], dtype=np.int64).reshape(-1, 4)
        origin = {key: value for key, value in values.items() if key not in ("domain", "boxes")}
        if not len(boxes) == len(names) <= MOST_CELLS:
            raise ReleaseError("each symbol needs a box")
        return Cells(domain, names, boxes[:, :2], boxes[:, 2:], origin)
    except DpvizError as error:
        raise ReleaseError(f"the cells in the header are damaged: {error}") from error
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ReleaseError("the cells in the header are damaged") from error


def _opened(nodes: Decomposition, most: int) -> Int:
    """Nodes left after repeatedly splitting the fullest one, at most ``most``; ascending."""
    count, first, children = nodes.count, nodes.first_child, nodes.n_children
    closed = np.flatnonzero(nodes.parent < 0).tolist()
    if len(closed) > most:
        return np.zeros(0, dtype=np.int64)
    queue = [(-float(count[node]), node) for node in closed if children[node]]
    heapq.heapify(queue)
    leaves, total = set(closed), len(closed)
    while queue:
        _, node = heapq.heappop(queue)
        if total + int(children[node]) - 1 > most:
            continue
        below = range(int(first[node]), int(first[node]) + int(children[node]))
        leaves.remove(node)
        leaves.update(below)
        total = len(leaves)
        for child in below:
            if children[child]:
                heapq.heappush(queue, (-float(count[child]), child))
    return np.array(sorted(leaves), dtype=np.int64)


def _touching(lo: Int, hi: Int) -> NDArray[np.bool_]:
    """Pairs of boxes that share an edge or a corner, bool (k, k)."""
    near = (lo[:, None] <= hi[None]) & (lo[None] <= hi[:, None])
    return np.asarray(near.all(axis=2) & ~np.eye(len(lo), dtype=np.bool_))
