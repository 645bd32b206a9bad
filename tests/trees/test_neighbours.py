"""Adjacent nodes of each cell, against brute force over all nodes."""

import numpy as np
import pytest

import dpviz
from dpviz.methods import method
from tests.methods.cases import handle


def around(nodes, low, side):
    """The node of this box, or else the leaf that holds it; −1 outside the domain."""
    high = low + side
    if (low < nodes.lo[0]).any() or (high > nodes.hi[0]).any():
        return -1
    same = (nodes.lo == low).all(axis=1) & (nodes.hi == high).all(axis=1)
    leaf = (nodes.lo <= low).all(axis=1) & (nodes.hi >= high).all(axis=1) & nodes.leaf
    return int(np.flatnonzero(same if same.any() else leaf)[0])


@pytest.mark.parametrize(
    ("dims", "axes"), [(1, None), (2, None), (2, 1), (3, None), (3, 2), (4, None), (4, 3)]
)
def test_beside_a_cell_is_its_own_size_or_the_leaf_around_that(dims, axes):
    """With all axes halved at once, or some of them in turn."""
    points = np.random.default_rng(dims).beta(0.5, 2.0, size=(400, dims))
    chosen = method("privtree", axes=axes)
    nodes = dpviz.build(handle(points, dims), chosen, 3.0, seed=2).nodes
    assert nodes.depth >= 3
    neighbours = nodes.adjacent_nodes
    assert neighbours.shape == (dims, 2, len(nodes))
    for node in range(0, len(nodes), 1 + len(nodes) // 150):
        size = nodes.hi[node] - nodes.lo[node]
        for axis in range(dims):
            step = np.where(np.arange(dims) == axis, size, 0)
            expected = [around(nodes, nodes.lo[node] + way * step, size) for way in (-1, 1)]
            assert neighbours[axis, :, node].tolist() == expected
