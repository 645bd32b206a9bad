import numpy as np
import pytest

import dpviz
from dpviz.errors import DomainError
from dpviz.releases.points.marginal import marginal

DOMAIN = dpviz.Domain((0.0,) * 4, (1.0,) * 4)


@pytest.fixture(scope="module")
def trips():
    points = np.random.default_rng(0).beta(2, 3, size=(5000, 4))
    handle = dpviz.from_points(points, DOMAIN, public=True)
    return dpviz.build(handle, "privtree", 2.0, seed=1)


@pytest.mark.parametrize("axes", [(0, 1), (2, 3)])
def test_cells_are_range_counts_of_the_release(trips, axes):
    seen = marginal(trips, axes, cells=8)
    assert seen.nodes.count[0] == pytest.approx(trips.nodes.count[0])
    assert seen.nodes.is_partition()
    for cell in ([0.25, 0.5, 0.375, 0.625], [0.0, 0.0, 0.125, 0.125]):
        low, high = np.zeros(4), np.ones(4)
        low[list(axes)], high[list(axes)] = cell[:2], cell[2:]
        whole = trips.count([*low, *high])
        flat = seen.count(cell)
        assert flat.count[0] == pytest.approx(whole.count[0])
        assert flat.noise_sd[0] >= whole.noise_sd[0] * (1 - 1e-9)


def test_a_rectangle_at_the_other_end_restricts_it(trips):
    to = [0.25, 0.25, 0.5, 0.75]
    seen = marginal(trips, (0, 1), within=to, cells=8)
    whole = trips.count([0, 0, *to[:2], 1, 1, *to[2:]])
    assert seen.nodes.count[0] == pytest.approx(whole.count[0])
    assert seen.header.guarantee == trips.header.guarantee
    with pytest.raises(DomainError, match="inside out"):
        marginal(trips, (0, 1), within=[0.5, 0.5, 0.25, 0.75])
