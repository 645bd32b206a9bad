"""Worst-case neighbouring inputs of a method: each a few lattice cells, and one record more."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.domain import Domain
from dpviz.methods.points.base import PointMethod
from dpviz.trees.lattice import Int

DEEP = 12
"""Levels of the deep chain: with two or four records beside every step of it."""

THRESHOLDS = ("threshold", "theta", "prune")
"""Parameters whose value is a number of records at which a method changes its mind."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Two data sets that differ by one record.

    Attributes:
        name: what it is, in words.
        cells: lattice cells of the smaller one, int64 of shape (m, dims).
        weights: records at each, int64 of shape (m,).
        target: the cell of the one record that the larger one has more, int64 of shape (dims,).
    """

    name: str
    cells: Int
    weights: Int
    target: Int


def neighbours(method: PointMethod, epsilon: float, domain: Domain) -> Iterator[Neighbours]:
    """The inputs that an audit tries; sizes follow the noise, which is of the order 1/ε."""
    dims, side = domain.dims, domain.side
    corner = np.full(dims, side // 5, dtype=np.int64)  # a place off the lines of every level
    far = np.full(dims, side - 1 - side // 7, dtype=np.int64)

    def records(of_noise: float) -> int:
        return math.ceil(of_noise / epsilon)

    def case(name: str, cells: list[Int] | Int, weights: list[int], target: Int) -> Neighbours:
        table = np.asarray(cells, dtype=np.int64).reshape(len(weights), dims)
        return Neighbours(name, table, np.asarray(weights, dtype=np.int64), target)

    yield case("no record, or one", [], [], corner)
    for size in (records(4), records(15)):
        yield case(f"{size} records at one place, or one more", [corner], [size], corner)
    for value in _thresholds(method):
        name = f"{value} records at one place (a threshold), or one more"
        yield case(name, [corner], [value], corner)
    beside = _beside(domain, corner)
    name = f"a chain of {DEEP} levels with {records(2)} beside each, or one more at its end"
    yield case(name, beside, [records(2)] * DEEP, corner)
    heap = [far - step for step in range(8)]
    yield case("an empty quadrant, or one record in it", heap, [records(25)] * 8, corner)
    half = records(10)
    yield case("two equal heaps, or one record more in one", [corner, far], [half, half], corner)
    name = "the most loaded of four places, or one more there"
    others = [far, far // 2, far // 3]
    yield case(name, [corner, *others], [records(300), *[records(30)] * 3], corner)
    if not _thresholds(method):
        grid, size = _grid(domain, 4), records(15)
        yield case(f"16 places of {size} records, or one more at one", grid, [size] * 16, grid[0])
    # Many places at a threshold show where a noisy one lies; the one that is alone has more levels.
    apart = _one_apart(domain)
    for size in _thresholds(method):
        name = f"{len(apart)} places of {size} records, one far from the rest, or one more there"
        yield case(name, apart, [size] * len(apart), apart[0])


def _thresholds(method: PointMethod) -> list[int]:
    values = [method.parameters().get(name) for name in THRESHOLDS]
    return sorted({int(value) for value in values if value is not None and 1 <= value <= 10_000})


def _beside(domain: Domain, corner: Int) -> Int:
    """One cell per level that shares every coarser cell with the corner, but not this one."""
    cells = np.repeat(corner[None], DEEP, axis=0)
    for level in range(DEEP):
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
