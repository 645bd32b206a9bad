"""What a uniform grid would answer to rectangles, without building it: sums over its cells.

A release of a grid need not be made to know its answers: the noise of a sum follows from the
shares of the cells, and the rest from cumulative sums of exact counts. So every price is as cheap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpviz.build import DataHandle
from dpviz.evaluation.truth import exact_grid
from dpviz.trees.lattice import Float, Int, grid_edges


@dataclass(frozen=True)
class GridAnswers:
    """Answers of a grid to q rectangles, as columns of length q.

    Attributes:
        count: without noise, under the uniformity assumption.
        gain: variance of the noise, as a multiple of that of one cell.
    """

    count: Float
    gain: Float


def noise_variance(epsilon: float) -> float:
    """Of one count with two-sided geometric noise: 2a/(1 − a)², a = e^−ε.

    >>> round(noise_variance(0.01), 1), round(noise_variance(1.0), 4)
    (19999.8, 1.8413)
    """
    return 0.5 / math.sinh(min(epsilon, 700.0) / 2.0) ** 2  # beyond, no double holds the square


def grid_answers(proxy: DataHandle, cells: int, rects: Float) -> GridAnswers:
    """Answers of a grid of public records.

    Args:
        proxy: public records, 2-D.
        cells: per side.
        rects: float64 (q, 4).

    Raises:
        DomainError: a rectangle outside the domain.
        PrivacyError: the records are not public.
    """
    counts = exact_grid(proxy, cells).astype(np.float64)
    low, high = proxy.domain.boxes(rects)
    edges = grid_edges(proxy.domain.side, cells)
    runs = [_runs(edges, low[:, axis], high[:, axis]) for axis in range(2)]
    x, y = (((ends - starts) * shares**2).sum(axis=0) for starts, ends, shares in runs)
    return GridAnswers(_sums(counts, runs), x * y)


def _runs(edges: Int, low: Int, high: Int) -> tuple[Int, Int, Float]:
    """Along one axis the cells that rectangles touch, as three runs of one share each, (3, q)."""
    last = len(edges) - 2
    first = np.clip(np.searchsorted(edges, low, "right") - 1, 0, last)
    final = np.clip(np.searchsorted(edges, high, "left") - 1, 0, last)
    widths = np.diff(edges)
    one = first == final
    head = (np.minimum(edges[first + 1], high) - low) / widths[first]
    tail = np.where(one, 0.0, (high - edges[final]) / widths[final])
    starts = np.stack([first, first + 1, final])
    ends = np.stack([first + 1, np.maximum(final, first + 1), final + 1])
    return starts, ends, np.stack([head, np.ones(len(head)), tail])


def _sums(values: Float, runs: list[tuple[Int, Int, Float]]) -> Float:
    """Of every rectangle the sum of its cells' values times their shares."""
    cumulative = np.pad(values.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    (left, right, across), (below, above, along) = runs
    total = np.zeros(left.shape[1])
    for i in range(3):
        for j in range(3):
            block = (
                cumulative[right[i], above[j]]
                - cumulative[left[i], above[j]]
                - cumulative[right[i], below[j]]
                + cumulative[left[i], below[j]]
            )
            total += block * across[i] * along[j]
    return total
