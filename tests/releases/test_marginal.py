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


@pytest.mark.parametrize("within", [None, [0.2, 0.1, 0.6, 0.9]])
def test_sums_of_cells_that_share_noise_are_no_surer_than_the_release(within):
    """64 x 64 cells in 4 x 4 leaves: each had the noise of its own part, as if they were alone."""
    points = np.random.default_rng(1).beta(2, 3, size=(5000, 4))
    release = dpviz.build(
        dpviz.from_points(points, DOMAIN, public=True), "ugrid", 1.0, seed=1, cells=4
    )
    seen = marginal(release, (0, 1), within=within)
    corners = np.sort(np.random.default_rng(2).uniform(0, 1, (50, 2, 2)), axis=1)
    rects = np.vstack([corners.reshape(-1, 4), [[0, 0, 1, 1], [0.25, 0.25, 0.75, 0.5]]])
    rects = np.round(rects * 64) / 64
    rects = rects[(rects[:, :2] < rects[:, 2:]).all(axis=1)]
    low, high = ([0, 0], [1, 1]) if within is None else (within[:2], within[2:])
    boxes = [[*rect[:2], *low, *rect[2:], *high] for rect in rects]
    assert (seen.count(rects).noise_sd >= release.count(boxes).noise_sd * (1 - 1e-6)).all()


def test_a_rectangle_at_the_other_end_restricts_it(trips):
    to = [0.25, 0.25, 0.5, 0.75]
    seen = marginal(trips, (0, 1), within=to, cells=8)
    whole = trips.count([0, 0, *to[:2], 1, 1, *to[2:]])
    assert seen.nodes.count[0] == pytest.approx(whole.count[0])
    assert seen.header.guarantee == trips.header.guarantee
    with pytest.raises(DomainError, match="inside out"):
        marginal(trips, (0, 1), within=[0.5, 0.5, 0.25, 0.75])
