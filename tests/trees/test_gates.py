"""Gates: what leaves see of their surroundings, and what stays as it was."""

from pathlib import Path

import numpy as np
import pytest

import dpviz
from dpviz.methods import method
from dpviz.trees import gates, network
from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.gates import (
    CENTRE,
    COUNTS,
    FEATURES,
    SMOOTHERS,
    STEPS,
    STRAIGHT,
    WIDE,
    Raster,
    blocks_of,
    gated,
    inside,
    neighbours,
    softmax,
)
from dpviz.trees.network import Network
from tests.methods.cases import children_add_up, handle
from tests.training.network import beginning


@pytest.fixture(scope="module")
def nodes() -> Decomposition:
    """A hot grid whose leaves have many sizes."""
    random = np.random.default_rng(3)
    points = np.concatenate([random.random((3000, 2)), 0.3 + 0.01 * random.random((3000, 2))])
    points = np.concatenate([points, np.full((2000, 2), 0.99999)])
    chosen = method("hot_grid", slopes=False, gates=False)
    return dpviz.build(handle(points, 2), chosen, 1.0, seed=1).nodes


def full(counts: np.ndarray) -> Decomposition:
    """A tree of equal leaves with these counts, (2^k, 2^k)."""
    levels, lo, hi, parent, start = int(np.log2(len(counts))), [], [], [], 0
    for level in range(levels + 1):
        code = np.arange(4**level)
        bits = code[:, None] >> 2 * np.arange(level)
        cells = np.stack(
            [(bits >> 1 & 1) @ 2 ** np.arange(level), (bits & 1) @ 2 ** np.arange(level)]
        )
        lo.append(cells.T << levels - level)
        hi.append(cells.T + 1 << levels - level)
        parent.append(start - 4 ** max(level - 1, 0) + code // 4 if level else np.array([-1]))
        start += len(code)
    values = np.zeros(start)
    values[-len(code) :] = counts[lo[-1][:, 0], lo[-1][:, 1]]
    columns = np.concatenate(lo), np.concatenate(hi), np.concatenate(parent)
    return Decomposition(*columns, sum_up(columns[2], values), np.ones(start))


def some_network(seed: int = 0) -> Network:
    random = np.random.default_rng(seed)
    shapes = (FEATURES, 8), (8,), (8, len(SMOOTHERS) + 1), (len(SMOOTHERS) + 1,)
    return Network.of([random.normal(0, 0.5, shape) for shape in shapes])


def moved(nodes: Decomposition, block: int, network: Network) -> np.ndarray:
    columns = nodes.parent, nodes.count, nodes.variance
    return gated(*columns, side=0.0045, block=block, network=network)


def test_neighbours_are_the_cells_beside_or_the_leaves_around_them(nodes):
    around, side = neighbours(nodes.parent), nodes.hi[0].max()
    assert len(np.unique(nodes.level[nodes.leaf])) > 4
    width = nodes.hi - nodes.lo
    for row, step in zip(around, STEPS, strict=True):
        low = nodes.lo + width * np.array(step)
        within = ((low >= 0) & (low < side)).all(axis=1)
        np.testing.assert_array_equal(row[~within], np.flatnonzero(~within))
        beside = row[within]
        assert (nodes.lo[beside] <= low[within]).all()
        assert (nodes.hi[beside] >= (low + width)[within]).all()
        assert (nodes.leaf[beside] | (nodes.level[beside] == nodes.level[within])).all()


def test_surroundings_are_counts_of_the_cells_around():
    counts = np.random.default_rng(1).normal(5.0, 3.0, (16, 16))
    nodes = full(counts)
    leaf = np.flatnonzero((nodes.lo == [6, 9]).all(axis=1) & nodes.leaf)
    seen = Raster.of(nodes.parent, nodes.count, nodes.variance, 0.1).surroundings(leaf)
    expected = [counts[6 + across, 9 + along] for across, along in STEPS]
    expected += [counts[6 + 2 * STEPS[each][0], 9 + 2 * STEPS[each][1]] for each in STRAIGHT]
    triangle = np.array([1, 2, 3, 2, 1])
    weights = triangle[:, None] * triangle / 81
    expected += [counts[6, 9], (counts[4:9, 7:12] * weights).sum()]
    expected += [counts[6:8, 8:10].mean(), counts[4:10, 6:12].mean(), counts[0:12, 4:16].mean()]
    np.testing.assert_allclose(seen.counts[:, 0], expected, rtol=1e-4)
    np.testing.assert_array_equal(seen.finer, 0)
    assert seen.features().shape == (1, FEATURES)


def test_smoothers_are_means():
    np.testing.assert_allclose(
        SMOOTHERS.sum(axis=1), [1.0] * (len(SMOOTHERS) - 1) + [0.0], rtol=1e-6
    )
    assert len(np.unique(SMOOTHERS, axis=0)) == len(SMOOTHERS)
    assert SMOOTHERS[0, CENTRE] == 1
    assert SMOOTHERS.shape[1] == COUNTS == WIDE.stop


def test_blocks_keep_what_they_held(nodes):
    block = int(nodes.level[nodes.leaf].min()) - 3
    count = moved(nodes, block, some_network())
    leaves = np.flatnonzero(nodes.leaf)
    assert np.abs(count - nodes.count)[leaves].max() > 1
    above = nodes.level <= block
    np.testing.assert_allclose(count[above], nodes.count[above], atol=1e-3)
    children_add_up(nodes.replace(count=count))
    held = np.bincount(blocks_of(nodes.parent, block)[leaves], nodes.count[leaves])
    np.testing.assert_allclose(held, nodes.count[nodes.levels[block]], atol=1e-6)


def test_moves_inside_a_block_add_up_to_nothing():
    moved, block = np.array([3.0, -1.0, 5.0]), np.array([0, 0, 1])
    corrected = inside(moved, np.array([3.0, 1.0, 2.0]), block)
    np.testing.assert_allclose(corrected, [1.5, -1.5, 0.0])


def test_gates_that_choose_the_leaf_itself_change_nothing(nodes):
    network = beginning((FEATURES, len(SMOOTHERS) + 1), 0)
    network.biases[0][0] = gates.STEEPEST
    np.testing.assert_allclose(moved(nodes, 2, network), nodes.count, rtol=1e-6, atol=1e-3)


def test_shares_add_up_to_one_whatever_the_network_says():
    logits = np.array([[0.0, 1.0], [1e9, 0.0], [-1e9, -1e9]], dtype=np.float32)
    share = softmax(logits)
    np.testing.assert_allclose(share.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(share[1:], [[1, 0], [0.5, 0.5]], atol=1e-6)


def test_weights_are_small_and_of_the_right_shape():
    assert Path(network.__file__).with_name("gates.npz").stat().st_size < 60_000
    trained = network.trained("gates")
    assert (trained.weights[0].shape[0], len(trained.biases[-1])) == (FEATURES, len(SMOOTHERS) + 1)
