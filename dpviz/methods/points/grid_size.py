"""Number of cells of a grid, from a public or a noisy record count, within the public cap."""

from __future__ import annotations

import math

from dpviz.errors import ParameterError
from dpviz.private.budget import DISJOINT, Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, geometric
from dpviz.trees.decomposition import MAX_NODES


def uniform_side(n: float, epsilon: float, dims: int, c: float = 10.0) -> int:
    """UG's cells per side for n records: ⌈(nε/c)^{2/(d+2)}⌉, at least 1."""
    return max(1, math.ceil(math.pow(n * epsilon / c, 2 / (dims + 2))))


def most_cells(dims: int) -> int:
    """Cells per side at which a grid reaches the public cap on its cells."""
    return math.floor(math.pow(MAX_NODES // 2, 1 / dims) + 1e-9)


def checked_cells(owner: str, cells: int, dims: int) -> int:
    """The number of cells per side, or a refusal where the grid passes the public cap."""
    if cells > most_cells(dims):
        raise ParameterError(
            f"{owner}: {cells} cells per side are {cells**dims:,} cells in {dims} dimensions: "
            f"choose cells up to {most_cells(dims)}"
        )
    return cells


def checked_power(owner: str, name: str, power: int, dims: int, most: int) -> int:
    """log2 of the cells per side of a grid, or a refusal where it passes ``most``."""
    if power > most:
        raise ParameterError(
            f"{owner}: {name}={power}: 2^{power * dims} cells in {dims} dimensions: "
            f"choose up to {most}"
        )
    return power


def noisy_total(index: PointIndex, budget: Budget, noise: Noise, n_public: int | None) -> float:
    """Number of records for formulas that need one: the public n, or a noisy one for 1 % of ε.

    Returns at least 1. With a noisy n everything after it works on the rest of the budget.
    """
    if n_public is not None:
        return max(1.0, float(n_public))
    price = 0.01 * budget.epsilon
    share = budget.spend(price, "record count", mechanism="geometric", why=DISJOINT)
    noisy, _ = geometric(noise, share, [index.total])
    return max(1.0, float(noisy[0]))
