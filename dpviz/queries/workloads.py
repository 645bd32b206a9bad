"""Workloads: seeded random range queries over a public domain.

A workload depends on the domain, a size and a seed, never on the records.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

import numpy as np

from dpviz.domain import Domain
from dpviz.errors import ParameterError
from dpviz.lists import number
from dpviz.trees.lattice import Float

SIZES = {
    "small": (0.0001, 0.001),
    "medium": (0.001, 0.01),
    "large": (0.01, 0.1),
    "huge": (0.1, 1.0),
}
"""Shares of the domain's volume, lower limit included: the bands of PrivTree (SIGMOD 2016, §6.1),
and the largest one of InLN_DPSD."""

ASPECT = 4.0
"""The longest side is at most this many times the shortest, in shares of the domain's sides."""


@dataclass(frozen=True, eq=False)
class Workload:
    """Range queries of one size.

    Attributes:
        size: "small", "medium", "large", "huge", or sides in the domain's units such as "15x0.2".
        rects: float64 of shape (q, 2·dims): all lower limits, then all upper limits.
    """

    size: str
    rects: Float

    def __len__(self) -> int:
        return len(self.rects)


def workload(domain: Domain, size: str, queries: int = 10_000, seed: int = 0) -> Workload:
    """Random range queries: volume and shape log-uniform, position uniform.

    The volume is log-uniform over the band of :data:`SIZES`; the sides' logarithms are uniform over
    all shapes in which no side (as a share of the domain's) is more than four times another: in 2-D
    that is an aspect ratio log-uniform in [1/4, 4]. A shape that does not fit into the domain is
    drawn towards the cube until it does. A size written as sides, "15x0.2", has these sides in the
    domain's units.

    >>> nyc = Domain((-74.30, 40.45), (-73.60, 41.00))
    >>> workload(nyc, "large", queries=3, seed=1).rects.shape
    (3, 4)
    """
    if queries < 1:
        raise ParameterError(f"queries={queries}: give at least 1")
    # The size is part of the seed, so that adding a size to an experiment changes no other size.
    random = np.random.default_rng([seed, zlib.crc32(size.encode())])
    low, high = np.array(domain.lower), np.array(domain.upper)
    sides = _sides(domain, size, queries, random) * (high - low)
    corner = low + random.random((queries, domain.dims)) * (high - low - sides)
    return Workload(size, np.concatenate([corner, np.minimum(corner + sides, high)], axis=1))


def _sides(domain: Domain, size: str, queries: int, random: np.random.Generator) -> Float:
    """Side lengths as shares of the domain's sides, shape (queries, dims)."""
    if size not in SIZES:
        return np.broadcast_to(_fixed_sides(domain, size), (queries, domain.dims))
    low, high = np.log(SIZES[size])
    volume = low + random.random(queries) * (high - low)
    # Uniform over shapes: any axis may be the shortest, the others are up to ASPECT longer.
    longer = random.random((queries, domain.dims)) * math.log(ASPECT)
    longer[np.arange(queries), random.integers(domain.dims, size=queries)] = 0.0
    shape = longer - longer.mean(axis=1, keepdims=True)
    cube = volume / domain.dims
    room = np.divide(-cube, shape.max(axis=1), out=np.ones(queries), where=shape.max(axis=1) > 0)
    sides: Float = np.exp(cube[:, None] + shape * np.minimum(room, 1.0)[:, None])
    return sides


def _fixed_sides(domain: Domain, size: str) -> Float:
    try:
        sides = np.array([number(word) for word in size.split("x")])
    except ValueError:
        raise ParameterError(
            f"size {size!r}: choose one of {', '.join(SIZES)}, or sides such as 15x0.2"
        ) from None
    share = sides / np.subtract(domain.upper, domain.lower) if len(sides) == domain.dims else sides
    if len(sides) != domain.dims or not ((share > 0) & (share <= 1)).all():
        raise ParameterError(
            f"size {size!r}: give {domain.dims} positive sides that fit into the domain"
        )
    return np.asarray(share, dtype=np.float64)
