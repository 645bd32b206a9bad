"""Gates: noise is smoothed away, what stands out of it stays, and nothing is lost."""

import numpy as np
import pytest

import dpviz
from dpviz.methods import method
from dpviz.trees.consistency import sum_up
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


def test_gates_move_no_record_out_of_a_block():
    """What blocks hold is as it was measured: a bias there would add up in large queries."""
    even = np.random.default_rng(1).random((20_000, 2))  # so that no block is empty
    data = handle(np.concatenate([skewed_points(20_000, 2), even]), 2)
    parameters = {"seed": 1, "max_depth": 8, "slopes": False}
    plain = dpviz.build(data, "hot_grid", 1.0, gates=False, positive=False, **parameters).nodes
    nodes = dpviz.build(data, "hot_grid", 1.0, **parameters).nodes
    assert (nodes.count >= 0).all()
    np.testing.assert_allclose(nodes.count, sum_up(nodes.parent, nodes.count), atol=1e-6)
    np.testing.assert_array_equal(nodes.variance, plain.variance)
    blocks = nodes.levels[method("hot_grid").blocks(nodes)]
    assert len(range(*blocks.indices(len(nodes)))) == 64
    moved = np.abs(nodes.count - plain.count)
    assert moved[blocks].max() < 1e-6 * 40_000
    assert moved.max() > 1
