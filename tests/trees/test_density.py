"""The density inside leaves."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpviz.build import build, from_points
from dpviz.domain import Domain
from dpviz.trees.density import leaf_order, located


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3]))
def test_a_cell_is_located_in_the_leaf_that_contains_it(seed, dims):
    random = np.random.default_rng(seed)
    domain = Domain.from_bounds([0.0] * dims + [1.0] * dims)
    points = random.beta(0.5, 2.0, size=(300, dims))
    handle = from_points(points, domain, public=True)
    nodes = build(handle, "privtree", 5.0, seed=seed).nodes
    cells = random.integers(0, domain.side, size=(50, dims))
    there = located(leaf_order(nodes), cells)
    assert nodes.leaf[there].all()
    assert ((cells >= nodes.lo[there]) & (cells < nodes.hi[there])).all()


def test_slopes_move_records_towards_the_denser_neighbour_and_keep_every_total():
    random = np.random.default_rng(5)
    domain = Domain.from_bounds([0.0, 0.0, 1.0, 1.0])
    handle = from_points(random.beta(1.0, 4.0, size=(20_000, 2)), domain, public=True)
    flat = build(handle, "privtree", 1.0, seed=1, slopes=False)
    sloped = build(handle, "privtree", 1.0, seed=1, slopes=True)
    assert len(sloped.nodes) > len(flat.nodes)
    boxes = np.hstack([domain.to_coordinates(flat.nodes.lo), domain.to_coordinates(flat.nodes.hi)])
    np.testing.assert_allclose(
        sloped.count(boxes).count, flat.count(boxes).count, rtol=1e-9, atol=1e-6
    )
    # The density falls from west to east, so records move west inside their leaves.
    assert western(sloped.nodes) < western(flat.nodes)


def western(nodes):
    middle = 0.5 * (nodes.lo[:, 0] + nodes.hi[:, 0])
    return float((nodes.count * middle)[nodes.leaf].sum())
