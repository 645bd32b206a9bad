import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz import CountRelease, Domain, Header
from dpviz.domain import LATTICE_BITS
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.points.box import Box
from dpviz.releases.points.range_count import MIN_COMPILED, box_count
from dpviz.trees.coherence import coherence
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.haar import HaarNoise
from dpviz.trees.shrinkage import nonnegative_counts
from tests.strategies import boxes, trees

HEADER = Header("test", {}, False, "NOT PRIVATE", 1.0)
WAVELETS = HaarNoise(1.0, 8, 64)


def release_of(nodes):
    domain = Domain((0.0,) * nodes.dims, (1.0,) * nodes.dims)
    return CountRelease(Box(domain), nodes, HEADER)


def brute_force(nodes, lo, hi, raw=False):
    """The definition, node by node: whole nodes answer, cut leaves give the share of their area.

    A cut leaf errs by s·(1 − s) of its squared count and its variance; of raw leaves that is of
    settled counts, and of what their noise may hide.
    """

    def visit(node):
        sides = np.minimum(nodes.hi[node], hi) - np.maximum(nodes.lo[node], lo)
        if (sides <= 0).any():
            return np.zeros(6)
        share = sides.prod() / (nodes.hi[node] - nodes.lo[node]).prod()
        if share == 1 or not nodes.n_children[node]:
            count, variance = nodes.count[node], nodes.variance[node]
            held = nonnegative_counts(nodes)[node] if raw else count
            signed = held * math.sqrt(share * (1 - share))
            unseen = variance * share * (1 - share)
            cut = max(signed, 0) ** 2 + (0 if raw else unseen)
            return np.array([count * share, variance * share**2, cut, 1, signed, unseen**2])
        return sum(map(visit, np.flatnonzero(nodes.parent == node)))

    count, variance, apart, visited, together, hidden = visit(0)
    common = coherence(nodes, nonnegative_counts(nodes) if raw else nodes.count)
    model = apart + (common * max(together, 0)) ** 2 + raw * math.sqrt(2 * hidden)
    return np.array([count, variance, model, visited])


@pytest.mark.slow
@pytest.mark.parametrize("dims", [2, 3, 4])
@settings(max_examples=40)
@given(data=st.data())
def test_both_walks_equal_brute_force(dims, data):
    """The compiled walk also handles raw leaves, which assume another uniformity."""
    nodes = data.draw(trees(dims))
    lo, hi = data.draw(boxes(64, dims))
    exact, raw = (
        np.array([brute_force(nodes, *box, of_raw) for box in zip(lo, hi, strict=True)])
        for of_raw in (False, True)
    )
    for times in (1, -(-MIN_COMPILED // len(lo))):  # few boxes, and enough for the compiled walk
        low, high, expected = (np.tile(each, (times, 1)) for each in (lo, hi, exact))
        answers = release_of(nodes).count_boxes(low, high)
        assert answers.count == pytest.approx(expected[:, 0], abs=1e-7)
        assert answers.noise_sd**2 == pytest.approx(expected[:, 1], abs=1e-7)
        assert answers.uniformity_sd**2 == pytest.approx(expected[:, 2], abs=1e-6)
        assert answers.nodes.tolist() == expected[:, 3].astype(int).tolist()
        uniformity = box_count(nodes, WAVELETS, low, high).uniformity_sd ** 2
        assert uniformity == pytest.approx(np.tile(raw[:, 2], times), abs=1e-6)


@given(trees())
def test_settled_counts_are_of_the_same_records_and_none_is_negative(nodes):
    held, inner = nonnegative_counts(nodes), ~nodes.leaf
    assert (held >= 0).all()
    assert held[0] == max(nodes.count[0], 0)
    child = nodes.parent >= 0
    sums = np.bincount(nodes.parent[child], held[child], len(nodes))
    assert sums[inner] == pytest.approx(held[inner], abs=1e-6)
    other = nodes.replace(count=nodes.count + 1.0)
    assert nonnegative_counts(other)[0] == max(
        nodes.count[0] + 1.0, 0
    )  # independent of the other nodes


@pytest.mark.slow
@given(trees())
def test_the_interval_has_the_stated_width(nodes):
    answers = release_of(nodes).count_boxes(np.array([[0, 0]]), np.array([[33, 17]]))
    half = INTERVAL_SDS * answers.noise_sd
    assert (answers.low <= answers.count - half).all()
    assert (answers.high >= answers.count + half).all()
    assert (answers.high - answers.low <= 2 * half + 2).all()


def test_a_single_laplace_draw_is_covered():
    assert np.log(20) / np.sqrt(2) == pytest.approx(INTERVAL_SDS, abs=2e-3)
    assert np.log(20) / np.sqrt(2) < INTERVAL_SDS


def test_a_box_that_snaps_to_nothing_holds_nothing():
    domain = Domain((0.0, 0.0), (1.0, 1.0))
    side = 2 ** LATTICE_BITS[2]
    nodes = Decomposition([[0, 0]], [[side, side]], [-1], [100.0], [1.0])
    answer = CountRelease(Box(domain), nodes, HEADER).count([0.5, 0.5, 0.5 + 1e-12, 0.6])
    assert answer.count.tolist() == [0]
    assert answer.nodes.tolist() == [0]


AT_ONCE = """
from threading import Thread
import numba, numpy as np, dpviz
square = dpviz.from_points(np.random.default_rng(0).random((5000, 2)), dpviz.Domain((0, 0), (1, 1)))
release = dpviz.build(square, epsilon=1.0)
rects = np.tile([0.1, 0.1, 0.8, 0.8], (3000, 1))
visitors = [Thread(target=lambda: [release.count(rects) for _ in range(4)]) for _ in range(3)]
for each in visitors:
    each.start()
for each in visitors:
    each.join()
print(numba.threading_layer())
"""


@pytest.mark.slow
def test_visitors_ask_at_once_where_numba_has_no_openmp():
    """Without a lock numba aborts each run: "Concurrent access has been detected"."""
    layer = {**os.environ, "NUMBA_THREADING_LAYER": "workqueue"}
    command = [sys.executable, "-c", AT_ONCE]
    done = subprocess.run(command, capture_output=True, text=True, env=layer)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "workqueue"
