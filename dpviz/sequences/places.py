"""Places on the way of a sequence of cells: it sees public boxes and drawn symbols only."""

from __future__ import annotations

import numpy as np

from dpviz.trees.lattice import Float, Int

ROUNDS = 3
"""Times that each place between the ends moves half-way to the middle of its neighbours."""


def drawn_places(boxes: Float, start: Int, symbol: Int, seed: int) -> tuple[Int, Float]:
    """A line for each sequence of cells, with a place in each: post-processing.

    Places are drawn evenly from their cells, as M. E. Gursoy et al. do (CCS 2018); those between
    the ends are then drawn towards a straight way, but stay in their cells: without that a line
    zigzags, and is too long. A sequence of one cell has two places.

    Args:
        boxes: west, south, east, north of each cell, float64 (|I|, 4).
        start: the symbols of sequence r are ``symbol[start[r]:start[r + 1]]``, int64 (n + 1,).
        symbol: int64.
        seed: makes the draw repeatable.

    Returns:
        Where each line starts, as ``start``, and the places, float64 (m, 2); sequences without a
        symbol have no line.

    >>> row = np.array([[0.0, 0, 1, 1], [1, 0, 2, 1]])
    >>> begin, xy = drawn_places(row, np.array([0, 2, 2, 3]), np.array([0, 1, 1]), seed=1)
    >>> begin.tolist(), (xy[:, 0] >= 1).tolist()
    ([0, 2, 4], [False, True, True, True])
    """
    length = np.diff(start)
    single = np.zeros(len(symbol), dtype=np.bool_)
    single[start[:-1][length == 1]] = True
    box = boxes[np.repeat(symbol, 1 + single)]
    length = np.maximum(length, 2)[length > 0]
    begin = np.concatenate([[0], np.cumsum(length)])
    low, high = box[:, :2], box[:, 2:]
    xy = low + (high - low) * np.random.default_rng(seed).random((len(box), 2))
    inner = np.ones(len(xy), dtype=np.bool_)
    inner[begin[:-1]] = inner[begin[1:] - 1] = False
    row = np.flatnonzero(inner)
    for _ in range(ROUNDS):
        middle = (xy[row - 1] + xy[row + 1]) / 2
        xy[row] = np.clip((xy[row] + middle) / 2, low[row], high[row])
    return begin, xy
