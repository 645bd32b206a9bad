"""Gates: noise is smoothed away, what stands out of it stays, and nothing is lost."""

import numpy as np
import pytest

import dpviz
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.gates import drawn, gated

from ..methods.cases import handle, skewed_points


def test_an_even_raster_is_smoothed_and_a_peak_stays():
    random = np.random.default_rng(1)
    noisy = 10 + random.laplace(0, 10, (64, 64))
    smooth = drawn(noisy, 200.0)
    assert smooth.std() < 0.6 * noisy.std()
    assert smooth.sum() == pytest.approx(noisy.sum(), rel=0.05)
    noisy[20, 30] += 5000
    assert drawn(noisy, 200.0)[20, 30] == pytest.approx(noisy[20, 30], rel=0.02)


def test_without_noise_nothing_moves():
    raster = np.random.default_rng(2).poisson(3.0, (32, 32)).astype(float)
    np.testing.assert_allclose(drawn(raster, 0.0), raster, atol=1e-9)
    assert (drawn(raster * 0, 0.0) == 0).all()


def test_leaves_of_any_level_are_drawn_on_a_raster_of_their_own():
    """One quadrant is divided once more: with a flat density every leaf keeps its own."""
    side = 1 << 10
    half, quarter = side // 2, side // 4
    lo = [[0, 0], [0, 0], [0, half], [half, 0], [half, half]]
    hi = [[side, side], [half, half], [half, side], [side, half], [side, side]]
    lo += [[half, half], [half, half + quarter], [half + quarter, half], [half + quarter] * 2]
    hi += [[x + quarter, y + quarter] for x, y in lo[5:]]
    count = [16, 4, 4, 4, 4, 1, 1, 1, 1]
    parent = [-1, 0, 0, 0, 0, 4, 4, 4, 4]
    nodes = Decomposition(lo, hi, parent, count, np.ones(9))
    np.testing.assert_allclose(gated(nodes, 2.0), count)


def test_the_hot_grid_keeps_its_total_and_stays_non_negative():
    data = handle(skewed_points(5000, 2), 2)
    gates, plain = (
        dpviz.build(data, "hot_grid", 0.5, seed=1, max_depth=7, slopes=False, gates=gates).nodes
        for gates in (True, False)
    )
    assert (gates.count >= 0).all()
    assert gates.count[gates.leaf].sum() == pytest.approx(gates.count[0])
    assert gates.count[0] == pytest.approx(plain.count[0])
    np.testing.assert_array_equal(gates.variance, plain.variance)
    assert np.abs(gates.count - plain.count).max() > 1
