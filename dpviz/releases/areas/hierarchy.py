"""Hierarchies of areas from the names of each finest one and of those above it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.trees.lattice import Int


def hierarchy(paths: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[Int, list[str], Int]:
    """Breadth-first areas from the names of each finest one and of those above it.

    Args:
        paths: of each finest area, a name for each level, coarsest first.
        names: of the levels.

    Returns:
        Which path each finest area stands for, in order; names of all areas; row of each parent.

    Raises:
        DataError: two finest areas of one name in the same area.

    >>> hierarchy([("N", "a"), ("S", "b"), ("N", "c")], ("side", "ward"))[1:]
    (['N', 'S', 'a', 'c', 'b'], array([-1, -1,  0,  0,  1]))
    """
    depth = len(names)
    ranks: list[dict[tuple[str, ...], int]] = [{} for _ in names]
    for path in paths:
        for level, rank in enumerate(ranks):
            rank.setdefault(tuple(path[: level + 1]), len(rank))
    order = sorted(
        range(len(paths)),
        key=lambda row: [ranks[at][tuple(paths[row][: at + 1])] for at in range(depth)],
    )
    if len(ranks[-1]) != len(paths):
        ((twice, _),) = Counter(map(tuple, paths)).most_common(1)
        raise DataError(
            f"two areas are called {twice[-1]!r}: dissolve them, or name areas by another column"
        )
    above: dict[tuple[str, ...], int] = {(): -1}
    rows: list[str] = []
    parent: list[int] = []
    for level in range(depth):
        prefixes = dict.fromkeys(tuple(paths[row][: level + 1]) for row in order)
        numbered = {prefix: len(rows) + at for at, prefix in enumerate(prefixes)}
        rows += [prefix[-1] for prefix in prefixes]
        parent += [above[prefix[:-1]] for prefix in prefixes]
        above = numbered
    limits.REGIONS.check(len(rows), "the list of areas")
    return np.array(order), rows, np.array(parent)
