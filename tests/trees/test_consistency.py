import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.trees.consistency import combine, families, least_squares, prune, sum_up
from tests.strategies import trees

pytestmark = pytest.mark.slow


def leaf_matrix(nodes):
    """Row v: which leaves lie below node v."""
    leaves = np.flatnonzero(nodes.leaf)
    matrix = np.zeros((len(nodes), len(leaves)))
    for column, leaf in enumerate(leaves):
        node = leaf
        while node >= 0:
            matrix[node, column] = 1
            node = nodes.parent[node]
    return matrix


@given(trees(), st.data())
def test_least_squares_equals_the_dense_solution(nodes, data):
    n = len(nodes)
    spread = np.array(data.draw(st.lists(st.floats(0.1, 50), min_size=n, max_size=n)))
    unmeasured = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n))) & ~nodes.leaf
    weight = np.where(unmeasured, 0.0, 1 / spread)
    matrix = leaf_matrix(nodes)
    normal = matrix.T @ (weight[:, None] * matrix)
    leaves = np.linalg.solve(normal, matrix.T @ (weight * nodes.count))
    covariance = matrix @ np.linalg.inv(normal) @ matrix.T
    count, variance = least_squares(nodes.parent, nodes.count, np.where(unmeasured, np.inf, spread))
    assert count == pytest.approx(matrix @ leaves, abs=1e-6)
    assert variance == pytest.approx(np.diag(covariance), rel=1e-9)
    # The intervals rely on this: disjoint nodes are never positively correlated.
    disjoint = matrix @ matrix.T == 0
    assert (covariance[disjoint] <= 1e-9).all()


@given(trees())
def test_sums_are_the_sums_of_leaves(nodes):
    sums = sum_up(nodes.parent, nodes.count)
    assert sums == pytest.approx(leaf_matrix(nodes) @ nodes.count[nodes.leaf], abs=1e-8)
    assert (sums[nodes.leaf] == nodes.count[nodes.leaf]).all()


@pytest.mark.parametrize("sizes", [[1], [4] * 5, [2, 4], [2, 2, 1, 3], [3, 2], [17, 17]])
def test_families_of_equal_and_of_different_sizes_are_added_up(sizes):
    """Below a root: to the bit as one after the other."""
    inner = 1 + np.arange(len(sizes))
    parent = np.concatenate([[-1], np.zeros(len(sizes), np.int64), np.repeat(inner, sizes)])
    values = np.random.default_rng(0).normal(size=len(parent))
    level = families(parent)[1]
    members = values[level.part]
    assert level.inner.tolist() == inner.tolist()
    assert level.sums(members).tolist() == np.bincount(parent[level.part] - 1, members).tolist()
    assert level.each(inner).tolist() == parent[level.part].tolist()


@given(trees(), st.floats(0, 300, exclude_min=True))
def test_pruning_cuts_below_small_nodes_only(nodes, threshold):
    pruned = prune(nodes, threshold)
    inner = ~pruned.leaf
    assert (pruned.count[inner] >= threshold).all()

    def survives(node):
        above = nodes.parent[node]
        return above < 0 or (nodes.count[above] >= threshold and survives(above))

    assert len(pruned) == sum(survives(node) for node in range(len(nodes)))


def test_a_limited_weight_keeps_its_honest_variance():
    estimate, variance = combine([10.0, 10.0], [1.0, 1.0], [16.0, 16.0], [2.0, 2.0], [0.5, 1.0])
    assert estimate == pytest.approx([13.0, 12.0])
    assert variance == pytest.approx([0.75, 2 / 3])
