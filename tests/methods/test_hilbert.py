"""Hilbert codes against a second implementation and their defining properties."""

import numpy as np
import pytest

from dpviz.methods.points.hilbert_rtree import interval_boxes
from dpviz.trees.lattice import hilbert, hilbert_run_boxes, unhilbert, volumes


@pytest.mark.parametrize(("order", "dims"), [(6, 1), (5, 2), (3, 3), (2, 4), (3, 4)])
def test_the_curve_visits_every_cell_once_in_steps_of_one(order, dims):
    codes = np.arange(1 << (order * dims))
    cells = unhilbert(codes, order, dims)
    np.testing.assert_array_equal(hilbert(cells, order), codes)
    assert len(np.unique(cells, axis=0)) == len(codes)
    assert (np.abs(np.diff(cells, axis=0)).sum(axis=1) == 1).all()


@pytest.mark.parametrize(("order", "dims"), [(52, 1), (26, 2), (20, 3), (15, 4)])
def test_the_curve_is_inverted_on_the_finest_grids(order, dims):
    """There and back, to a neighbour in one step, and in the block that leading bits say."""
    cells = np.random.default_rng(0).integers(0, 1 << order, (1000, dims))
    codes = hilbert(cells, order)
    np.testing.assert_array_equal(unhilbert(codes, order, dims), cells)
    beside = unhilbert(codes ^ np.uint64(1), order, dims)
    assert (np.abs(beside - cells).sum(axis=1) == 1).all()
    for bits in range(1, order, 5):
        blocks = hilbert(cells >> bits, order - bits)
        np.testing.assert_array_equal(blocks, codes >> np.uint64(dims * bits))


@pytest.mark.parametrize(("order", "dims"), [(6, 1), (5, 2), (3, 3), (3, 4)])
def test_aligned_runs_are_boxes(order, dims):
    cells = unhilbert(np.arange(1 << (order * dims)), order, dims)
    for bits in range(order * dims + 1):
        runs = cells.reshape(1 << bits, -1, dims)
        lo, hi = hilbert_run_boxes(np.arange(1 << bits), bits, order, dims)
        np.testing.assert_array_equal(lo, runs.min(axis=1))
        np.testing.assert_array_equal(hi, runs.max(axis=1) + 1)
        assert (volumes(lo, hi) == runs.shape[1]).all()


@pytest.mark.parametrize("order", [1, 2, 4])
def test_boxes_of_intervals_bound_them_tightly(order):
    cells = unhilbert(np.arange(4**order), order, 2)
    ends = np.array([(a, b) for a in range(4**order) for b in range(a + 1, 4**order + 1)])
    ends = ends[np.random.default_rng(0).permutation(len(ends))[:500]]
    ends = np.concatenate([ends, [[0, 4**order]]])
    lo, hi = interval_boxes(ends[:, 0], ends[:, 1], order)
    for row, (a, b) in enumerate(ends):
        np.testing.assert_array_equal(lo[row], cells[a:b].min(axis=0))
        np.testing.assert_array_equal(hi[row], cells[a:b].max(axis=0) + 1)
