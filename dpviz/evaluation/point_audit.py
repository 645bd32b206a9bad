"""The subject of audits on points: few cells of the unit square or cube, one record more."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dpviz.domain import Domain, default_columns
from dpviz.evaluation.subject import Neighbours, Subject
from dpviz.methods.points.base import PointMethod
from dpviz.private.index import PointIndex
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Int, overlaps

DEEP_LEVELS = 12
"""Levels of the deep chain: with two or four records beside every step of it."""

THRESHOLDS = ("threshold", "theta", "prune")
"""Parameters that are a number of records at which a method's decision changes."""


def point_subject(method: PointMethod, epsilon: float) -> Subject:
    """Builds of a spatial method, in two dimensions where it takes them."""
    dims = 2 if 2 in method.dims else method.dims[0]
    domain = Domain((0.0,) * dims, (1.0,) * dims, default_columns(dims))
    return Subject(
        list(point_cases(method, epsilon, domain)),
        feature_names(dims),
        method.build,
        lambda nodes, target: features(nodes, target, domain.side),
        method.structure(epsilon, dims),
    )


def feature_names(dims: int) -> list[str]:
    """Names of the features of :func:`features`, in order."""
    edges = [f"first cut on axis {axis} (share of the domain)" for axis in range(dims)]
    return [
        "nodes",
        "depth",
        "level of the record's leaf",
        "count of the record's leaf",
        "splits away from the record",
        "count of the whole domain",
        "count outside the record's leaf",
        "size of the record's leaf (halvings)",
        "count near the record (1/16 of each axis)",
        *edges,
    ]


def features(nodes: Decomposition, target: Int, side: int) -> list[float]:
    """Numbers of a release around the place of the record, one per name."""
    inside = ((nodes.lo <= target) & (target < nodes.hi)).all(axis=1)
    path = np.flatnonzero(inside)  # breadth-first: the last one is the leaf
    roots = nodes.levels[0].stop
    last = path[-1] if len(path) else 0
    inner = nodes.n_children > 0
    total = float(nodes.count[:roots].sum())
    sides = nodes.hi[last] - nodes.lo[last]
    block = side // 16
    low = target // block * block
    leaves = np.flatnonzero(~inner)
    common = overlaps(nodes.lo[leaves], nodes.hi[leaves], low, low + block)
    near = float(common / nodes.volume[leaves] @ nodes.count[leaves])
    return [
        float(len(nodes)),
        float(nodes.depth),
        float(len(path) - 1),
        float(nodes.count[last]),
        float(np.count_nonzero(inner) - np.count_nonzero(inner[path])),
        total,
        total - float(nodes.count[last]),
        float(nodes.dims * math.log2(side) - np.log2(sides.astype(np.float64)).sum()),
        near,
        *(nodes.hi[min(roots, len(nodes) - 1)] / side).tolist(),
    ]


def point_cases(method: PointMethod, epsilon: float, domain: Domain) -> Iterator[Neighbours]:
    """Neighbouring inputs; sizes follow the noise, which is of the order 1/ε."""
    dims, side = domain.dims, domain.side
    corner = np.full(dims, side // 5, dtype=np.int64)  # a place on no cell border of any level
    opposite = np.full(dims, side - 1 - side // 7, dtype=np.int64)

    def records(of_noise: float) -> int:
        return math.ceil(of_noise / epsilon)

    def case(name: str, cells: list[Int] | Int, weights: list[int], target: Int) -> Neighbours:
        table = np.asarray(cells, dtype=np.int64).reshape(len(weights), dims)
        larger = np.concatenate([table, target[None]])
        return Neighbours(
            name,
            PointIndex.from_cells(domain, larger, np.array([*weights, 1], dtype=np.int64)),
            PointIndex.from_cells(domain, table, np.array(weights, dtype=np.int64)),
            target,
        )

    yield case("no record, or one", [], [], corner)
    for size in (records(4), records(15)):
        yield case(f"{size} records at one place, or one more", [corner], [size], corner)
    for value in _thresholds(method):
        name = f"{value} records at one place (a threshold), or one more"
        yield case(name, [corner], [value], corner)
    beside = _sibling_cells(domain, corner)
    name = f"a chain of {DEEP_LEVELS} levels with {records(2)} beside each, or one more at its end"
    yield case(name, beside, [records(2)] * DEEP_LEVELS, corner)
    heap = [opposite - step for step in range(8)]
    yield case("an empty quadrant, or one record in it", heap, [records(25)] * 8, corner)
    half = records(10)
    yield case(
        "two equal heaps, or one record more in one", [corner, opposite], [half, half], corner
    )
    name = "the most loaded of four places, or one more there"
    others = [opposite, opposite // 2, opposite // 3]
    yield case(name, [corner, *others], [records(300), *[records(30)] * 3], corner)
    if not _thresholds(method):
        grid, size = _grid(domain, 4), records(15)
        yield case(f"16 places of {size} records, or one more at one", grid, [size] * 16, grid[0])
    # Many places with counts at a threshold reveal a noisy threshold; one chain has more levels.
    spread = _one_apart(domain)
    for size in _thresholds(method):
        name = f"{len(spread)} places of {size} records, one far from the rest, or one more there"
        yield case(name, spread, [size] * len(spread), spread[0])


def _thresholds(method: PointMethod) -> list[int]:
    values = [method.parameters().get(name) for name in THRESHOLDS]
    return sorted({int(value) for value in values if value is not None and 1 <= value <= 10_000})


def _sibling_cells(domain: Domain, corner: Int) -> Int:
    """One cell per level that shares every coarser cell with the corner, but not this one."""
    cells = np.repeat(corner[None], DEEP_LEVELS, axis=0)
    for level in range(DEEP_LEVELS):
        cells[level] ^= 1 << (domain.bits - 1 - level)
    return cells


def _grid(domain: Domain, across: int) -> Int:
    """One place in each cell of a grid over the first two axes (or across² along a line)."""
    dims, side = domain.dims, domain.side
    cells = np.full((across * across, dims), side // (3 * across), dtype=np.int64)
    steps = np.arange(across * across)
    if dims == 1:
        cells[:, 0] = (steps * 3 + 1) * (side // (3 * across * across))
    else:
        cells[:, 0] += steps // across * (side // across)
        cells[:, 1] += steps % across * (side // across)
    return cells


def _one_apart(domain: Domain) -> Int:
    """A grid of 64 places less those that share the first one's child of the root."""
    cells = _grid(domain, 8)
    half = cells >= domain.side // 2
    split: Int = cells[(half != half[0]).any(axis=1) | (np.arange(len(cells)) == 0)]
    return split
