"""Hierarchies of areas, from the names of finest areas and their ancestors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.trees.lattice import Int


def hierarchy(paths: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[Int, list[str], Int]:
    """Areas in breadth-first order, from the names of finest areas and their ancestors.

    ``paths``: paths of each finest area, a name for each level, coarsest first. Returns which path
    each finest area stands for, in order; names of all areas; row of each parent. Raises DataError:
    two finest areas of one name in the same area.

    >>> hierarchy([("N", "a"), ("S", "b"), ("N", "c")], ("side", "ward"))[1:]
    (['N', 'S', 'a', 'c', 'b'], array([-1, -1,  0,  0,  1]))
    """
    depth = len(names)
    chains = [[tuple(path[:level]) for level in range(1, depth + 1)] for path in paths]
    rank: dict[tuple[str, ...], int] = {}
    for chain in chains:
        for prefix in chain:
            rank.setdefault(prefix, len(rank))
    order = sorted(range(len(paths)), key=lambda row: [rank[each] for each in chains[row]])
    ((twice, times),) = Counter(chain[-1] for chain in chains).most_common(1)
    if times > 1:
        raise DataError(
            f"two areas are called {twice[-1]!r}: dissolve them, or name areas by another column"
        )
    number: dict[tuple[str, ...], int] = {(): -1}
    for level in range(depth):
        for row in order:
            number.setdefault(chains[row][level], len(number) - 1)
    del number[()]
    limits.REGIONS.check(len(number), "the list of areas")
    parent = [-1 if len(each) == 1 else number[each[:-1]] for each in number]
    return np.array(order), [each[-1] for each in number], np.array(parent)
