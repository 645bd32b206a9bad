"""Exact noise of sums of cells that were rebuilt from noisy Haar coefficients.

Such cells are correlated: negatively along an axis, so that the variances of a rectangle's nodes
add up to far too much, and positively across a diagonal, so that those of a slanted region's nodes
add up to too little. The coefficients are independent, and the exact variance is cheap: one term a
level of the transform.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import ReleaseError
from dpviz.trees.lattice import Float, Int

KIND = "haar"
"""The name of this noise in a release's header."""

MAX_CELLS_LOG2 = 22
"""Public cap on the cells of a grid, so that a header cannot ask for endless memory."""


@dataclass(frozen=True)
class HaarNoise:
    """Independent noise of one variance on the Haar coefficients of a grid of equal cells.

    X. Xiao, G. Wang, J. Gehrke: Differential Privacy via Wavelet Transforms. ICDE 2010, §5-6: the
    transform of several axes is the product of transforms of one, hence so are the covariances.

    Along one axis of ``side`` lattice lines, let D be the left half minus the right half of a
    dyadic block of length b. Half of D lies evenly in the left half, minus half of it in the right
    one, so the sum over [0, s) has the weight min(t, b − t) / b on D where s cuts the block at t
    from its start, and none where s lies outside; its weight on the total is s / side. A line cuts
    one block a level, so a sum has 1 + log2(cells) coefficients in it.

    Attributes:
        variance: variance of one coefficient's noise, in records squared.
        cells: per axis, a power of two.
        side: lattice lines per axis.
    """

    variance: float
    cells: int
    side: int

    @classmethod
    def from_facts(cls, facts: Any, side: int, lo: Int, hi: Int) -> HaarNoise | None:
        """Read the noise model from a release's header; None if it states none.

        Raises ReleaseError: noise that this version does not know, or of another grid.

        Args:
            facts: the header's entry: empty, or kind, variance and cells.
            lo: boxes of the release's nodes, shape (n, d).
        """
        if facts == {}:
            return None
        if not isinstance(facts, dict) or facts.get("kind") != KIND:
            raise ReleaseError("the header's noise is of no known kind: update dpviz")
        variance: Any = facts.get("variance")
        cells: Any = facts.get("cells")
        most = 1 << MAX_CELLS_LOG2 // lo.shape[1]
        if type(cells) is not int or not 1 <= cells <= most or cells & (cells - 1):
            raise ReleaseError("the header's noise has no grid: the release is damaged")
        if type(variance) not in (int, float) or not 0 <= variance <= 1e300:
            raise ReleaseError("the header's noise has no variance: the release is damaged")
        step = side // most
        if (lo % step).any() or (hi % step).any():
            raise ReleaseError("the header's noise is of another grid: the release is damaged")
        return cls(float(variance), cells, side)

    def to_dict(self) -> dict[str, Any]:
        """The entry of the header."""
        return {"kind": KIND, "variance": self.variance, "cells": self.cells}

    def marginal(self, lo: Int, hi: Int, cells: int, side: int) -> HaarNoise:
        """Noise of the counts over the grid of a marginal, of 2^i ``cells`` per axis.

        A grid that is coarser cuts no block of the finer levels; one that is finer adds no noise.
        ``lo`` and ``hi``: limits over the other axes, (d − 2,).
        """
        return HaarNoise(
            self.variance * float(self.span(lo, hi).prod()), min(self.cells, cells), side
        )

    def of_boxes(self, lo: Int, hi: Int) -> Float:
        """Variance of the counts of lattice boxes [lo, hi), int64 of shape (q, d), edges anywhere.

        A cell that is cut gives the share of its volume, as everywhere.
        """
        spans = [self.span(*line) for line in zip(lo.T, hi.T, strict=True)]
        return np.asarray(self.variance * np.prod(spans, axis=0))

    def span(self, lo: Int, hi: Int) -> Float:
        """Variance of the sums over [lo, hi) along one axis, for unit noise on the coefficients.

        >>> noise = HaarNoise(variance=1.0, cells=2, side=2)
        >>> noise.span(np.array([0, 1, 0]), np.array([1, 2, 2])).tolist()
        [0.5, 0.5, 1.0]
        """
        shares: Float = ((hi - lo) / self.side) ** 2
        for same, start, end in self._weights(lo, hi):
            shares += np.where(same, (end - start) ** 2, start**2 + end**2)
        return shares

    def covariance(self, first: Int, second: Int) -> Float:
        """Covariance of the sums over [0, first) and [0, second) along one axis, unit coefficients.

        >>> noise = HaarNoise(variance=1.0, cells=2, side=2)
        >>> noise.covariance(np.array([1, 2, 1]), np.array([1, 2, 2])).tolist()
        [0.5, 1.0, 0.5]
        """
        product: Float = (first / self.side) * (second / self.side)
        for same, one, other in self._weights(first, second):
            product += same * one * other
        return product

    def of_two_boxes(self, lo: Int, hi: Int, other_lo: Int, other_hi: Int) -> Float:
        """Covariance of the counts of pairs of lattice boxes, int64 of shape (q, d) each."""
        product: Float = np.full(len(lo), self.variance)
        for start, end, first, last in zip(lo.T, hi.T, other_lo.T, other_hi.T, strict=True):
            to_end = self.covariance(end, last) - self.covariance(end, first)
            product *= to_end - self.covariance(start, last) + self.covariance(start, first)
        return product

    def _weights(self, first: Int, second: Int) -> Iterator[tuple[NDArray[np.bool_], Float, Float]]:
        """A level: whether two lines cut the same block, and the weight of its difference in each.

        The shapes of the lines broadcast.
        """
        for level in range(self.cells.bit_length() - 1):
            length = self.side >> level
            starts = first % length, second % length
            one, other = (np.minimum(start, length - start) / length for start in starts)
            yield first // length == second // length, one, other

    def of_region(self, lo: Int, hi: Int, share: Float) -> float:
        """Variance of a weighted sum of disjoint nodes in two dimensions.

        A sum is one of prefix sums: each node gives its share, with signs, at its four corners.

        Args:
            lo: boxes of the nodes, int64 of shape (k, 2).
            share: contribution of each node, shape (k,).
        """
        lines, corners = [], []
        for axis in range(2):
            edges, place = np.unique(np.stack([lo[:, axis], hi[:, axis]]), return_inverse=True)
            lines.append(edges)
            corners.append(place.reshape(2, -1))
        weights = np.zeros((len(lines[0]), len(lines[1])))
        for x in range(2):
            for y in range(2):
                np.add.at(weights, (corners[0][x], corners[1][y]), (-1) ** (x + y) * share)
        first, second = (self.covariance(line[:, None], line) for line in lines)
        return self.variance * max(float(np.sum(weights * (first @ weights @ second))), 0.0)
