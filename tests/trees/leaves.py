"""The leaves of a tree of Morton cells, found by the curve; and the families of any tree."""

from collections.abc import Iterator

import numpy as np

from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Int, morton


def located(nodes: Decomposition, cells: Int) -> Int:
    """The leaf that holds each lattice cell, (n, 2): leaves are runs of the Morton curve."""
    leaves = np.flatnonzero(nodes.leaf)
    starts = morton(nodes.lo[leaves])
    order = np.argsort(starts)
    rank = np.searchsorted(starts[order], morton(cells), side="right") - 1
    return np.asarray(leaves[order][rank])


def families(parent: Int) -> Iterator[tuple[int, Int]]:
    """Each node that has children, and these, one by one."""
    for row in np.unique(parent[parent >= 0]):
        yield row, np.flatnonzero(parent == row)
