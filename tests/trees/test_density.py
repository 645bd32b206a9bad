"""The density inside leaves."""

import math

import numpy as np
import pytest

from dpviz.build import build
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.density import MAX_LOG_RATIO, MIN_SDS, POWER, refine
from tests.methods.cases import children_add_up, handle


def test_slopes_move_records_towards_the_denser_neighbour_and_keep_every_total():
    random = np.random.default_rng(5)
    data = handle(random.beta(1.0, 4.0, size=(20_000, 2)), 2)
    flat, sloped = (build(data, "ladder_tree", 1.0, seed=1, slopes=each) for each in (False, True))
    assert len(sloped.nodes) > len(flat.nodes)
    boxes = np.hstack(
        [data.domain.to_coordinates(flat.nodes.lo), data.domain.to_coordinates(flat.nodes.hi)]
    )
    np.testing.assert_allclose(
        sloped.count(boxes).count, flat.count(boxes).count, rtol=1e-9, atol=1e-6
    )
    # Density falls from west to east, so records move west inside their leaves.
    assert western(sloped.nodes) < western(flat.nodes)


def western(nodes):
    middle = 0.5 * (nodes.lo[:, 0] + nodes.hi[:, 0])
    return float((nodes.count * middle)[nodes.leaf].sum())


@pytest.mark.parametrize("dims", [1, 2])
@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 100.0])
def test_sub_cells_share_out_their_leaf(dims, epsilon):
    """Positive, finite, and a leaf's own count, from no record to a thousand in one place."""
    for points in (np.empty((0, dims)), np.full((1, dims), 0.3), np.full((1000, dims), 0.7)):
        nodes = build(handle(points, dims), "ladder_tree", epsilon, seed=1).nodes
        assert np.isfinite(nodes.count).all()
        assert (nodes.count >= 0).all()
        children_add_up(nodes)


def test_a_mirror_image_has_the_mirror_image_of_the_slopes():
    """On a tree of three sizes of leaves: each meets larger, smaller and equal neighbours."""
    nodes = uneven()
    turned = uneven(mirror=True)
    there = {tuple(lo): count for lo, count in leaf_counts(refine(turned))}
    for (x, y), count in leaf_counts(refine(nodes)):
        assert there[y, x] == pytest.approx(count, rel=1e-12)


def uneven(mirror=False):
    """A square of 16 × 16, its corner (0, 0) divided twice, with counts; or its transpose."""
    boxes, parent = [(0, 0, 16)], [-1]
    for size, above in ((8, 0), (4, 1)):
        boxes += [(x, y, size) for x in (0, size) for y in (0, size)]
        parent += [above] * 4
    low = np.array([[x, y] for x, y, _ in boxes])
    side = np.array([[size] for _, _, size in boxes])
    count = np.array([0.0, 0.0, 7.0, 30.0, 0.0, 5.0, 1.0, 11.0, 2.0])
    count[1] = count[5:].sum()
    count[0] = count[1:5].sum()
    if mirror:
        count = count[[0, 1, 3, 2, 4, 5, 7, 6, 8]]
    return Decomposition(low, low + side, np.array(parent), count, np.ones(9))


def leaf_counts(nodes):
    rows = np.flatnonzero(nodes.leaf)
    return [((int(x), int(y)), nodes.count[row]) for row in rows for x, y in [nodes.lo[row]]]


def test_a_leaf_leans_to_where_there_are_more():
    """30 records: 19 in smaller cells to the west, none to the north, the edge elsewhere."""
    quarter = dict(leaf_counts(refine(uneven())))
    west = 1.0 / (1.0 + (30.0 / 19.0) ** POWER)
    north = 1.0 / (1.0 + math.exp(MAX_LOG_RATIO * POWER))
    assert quarter[8, 0] == pytest.approx(30.0 * west * (1.0 - north))
    assert quarter[12, 4] == pytest.approx(30.0 * (1.0 - west) * north)


def test_a_leaf_leans_less_where_noise_is_large():
    """As above, with two more deviations of 1 for every leaf; four of the smaller cells count."""
    quarter = dict(leaf_counts(refine(uneven(), 2.0)))
    west = 1.0 / (1.0 + (32.0 / 27.0) ** POWER)
    north = 1.0 / (1.0 + (32.0 / 2.0) ** POWER)
    assert quarter[8, 0] == pytest.approx(30.0 * west * (1.0 - north))
    assert quarter[12, 4] == pytest.approx(30.0 * (1.0 - west) * north)


def test_a_leaf_that_is_little_beside_its_noise_stays_whole():
    nodes = uneven()
    leaf = (nodes.lo == [8, 0]).all(axis=1)
    for ratio, pieces in ((1.01, 1), (0.99, 4)):
        variance = np.where(leaf, (ratio * nodes.count / MIN_SDS) ** 2, nodes.variance)
        inside = [low for low, _ in leaf_counts(refine(nodes.replace(variance=variance)))]
        assert sum(x >= 8 > y for x, y in inside) == pieces
