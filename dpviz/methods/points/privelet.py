"""Privelet*: noise on the coefficients of a Haar wavelet transform of a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpviz.domain import Domain
from dpviz.methods.points.base import PointMethod, parameter, register
from dpviz.methods.points.grid_size import checked_power, most_cells
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, geometric
from dpviz.progress import checkpoint
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.grid import grid_tree
from dpviz.trees.haar import HaarNoise
from dpviz.trees.lattice import Float, Int, grid_edges


@register
@dataclass(frozen=True, kw_only=True)
class Privelet(PointMethod):
    """A grid rebuilt from noisy Haar coefficients, so that large ranges carry little noise.

    X. Xiao, G. Wang, J. Gehrke: Differential Privacy via Wavelet Transforms. ICDE 2010
    (Privelet*, ordinal dimensions).

    Privacy: along one axis of m = 2^k cells a coefficient times its weight is an integer, the sum
    of a dyadic block's left half minus its right half, or the total; one record moves 1 + k of them
    by one. Over d axes it moves Π(1 + log2 m_i) by one, which is the exact L1 sensitivity under
    add/remove; geometric noise of that scale over ε covers them all. (The paper's 2ρ/ε is for
    replacing a record.) The inverse transform is post-processing.

    Do not use it for small cells of interest: the noise of one cell is that of a whole transform.

    >>> from dpviz.methods import method
    >>> method("Privelet*").sensitivity((1024, 1024)), method("privelet").sensitivity((32,) * 4)
    (121, 1296)
    """

    name: ClassVar[str] = "privelet"
    title: ClassVar[str] = "Wavelets (Privelet*)"
    paper: ClassVar[str] = (
        "X. Xiao, G. Wang, J. Gehrke: Differential Privacy via Wavelet Transforms. ICDE 2010"
    )
    presets: ClassVar[dict[str, dict[str, object]]] = {"Privelet*": {}}
    tiny: ClassVar[dict[str, object]] = {"log_cells": 2}
    advice: ClassVar[str] = "Small rectangles, skewed data, and more than two dimensions."

    log_cells: int | None = parameter(
        None, "log2 of the cells per side; 2^20 cells in all by default", 1, 20, optional=True
    )

    def check(self, domain: Domain) -> None:
        """Refuse a number of cells above the public cap."""
        self._power(domain.dims)

    def _power(self, dims: int) -> int:
        """log2 of the cells per side."""
        most = most_cells(dims).bit_length() - 1
        return checked_power(self.name, "log_cells", self.log_cells or 20 // dims, dims, most)

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        dims = index.domain.dims
        power = self._power(dims)
        cells = 1 << power
        edges = [grid_edges(index.domain.side, cells)] * dims
        coefficients = haar(index.histogram(edges))
        sensitivity = self.sensitivity(coefficients.shape)
        share = budget.spend(
            budget.left,
            "wavelet coefficients",
            mechanism="geometric",
            why=f"sensitivity {sensitivity} of all coefficients together, in L1",
        )
        noisy, variance = geometric(noise, share, coefficients, sensitivity)
        nodes = grid_tree(edges, inverse_haar(noisy), np.zeros(noisy.shape))
        factor = block_variances(power)[nodes.level] ** dims
        return nodes.replace(variance=factor * variance.flat[0])

    def noise_model(self, nodes: Decomposition) -> dict[str, Any]:
        """See :class:`dpviz.trees.haar.HaarNoise`; the root's count is one coefficient."""
        side, step = (int(nodes.hi[row, 0] - nodes.lo[row, 0]) for row in (0, -1))
        return HaarNoise(float(nodes.variance[0]), side // step, side).to_dict()

    def sensitivity(self, shape: tuple[int, ...]) -> int:
        """L1 sensitivity of the integer coefficients of a grid of this shape: Π(1 + log2 m_i)."""
        return math.prod(1 + (side - 1).bit_length() for side in shape)


def haar(values: ArrayLike) -> Int:
    """Integer Haar coefficients: along each axis the total, then left − right of dyadic blocks.

    ``values``: counts, every side a power of two. Returns int64 of the same shape; along an axis:
    the total, the whole's difference, the two halves', and so on.

    >>> haar([5, 1, 2, 0]).tolist()
    [8, 4, 4, 2]
    """
    result = np.asarray(values, dtype=np.int64)
    for axis in range(result.ndim):
        sums = np.moveaxis(result, axis, -1)
        details = []
        while sums.shape[-1] > 1:
            checkpoint()
            left, right = sums[..., 0::2], sums[..., 1::2]
            details.append(left - right)
            sums = left + right
        result = np.moveaxis(np.concatenate([sums, *details[::-1]], axis=-1), -1, axis)
    return result


def inverse_haar(coefficients: ArrayLike) -> Float:
    """Cell values of Haar coefficients, float64; the inverse of :func:`haar`.

    >>> inverse_haar([8, 4, 4, 2]).tolist()
    [5.0, 1.0, 2.0, 0.0]
    """
    result = np.asarray(coefficients, dtype=np.float64)
    for axis in range(result.ndim):
        details = np.moveaxis(result, axis, -1)
        sums = details[..., :1]
        while sums.shape[-1] < details.shape[-1]:
            checkpoint()
            width = sums.shape[-1]
            difference = details[..., width : 2 * width]
            halves = np.empty((*sums.shape[:-1], 2 * width))
            halves[..., 0::2] = (sums + difference) / 2
            halves[..., 1::2] = (sums - difference) / 2
            sums = halves
        result = np.moveaxis(sums, -1, axis)
    return np.ascontiguousarray(result)


def block_variances(power: int) -> Float:
    """Variance of a dyadic block's sum along one axis, by depth, for unit noise on coefficients.

    A half is (block ± difference)/2, so v₀ = 1 and v_{j+1} = (v_j + 1)/4; over several axes the
    factors multiply. They are right for one block; of sums, :mod:`dpviz.trees.haar` knows.
    """
    values = [1.0]
    for _ in range(power):
        values.append((values[-1] + 1.0) / 4.0)
    return np.array(values)
