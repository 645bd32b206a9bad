import math

import numpy as np
import pytest
from hypothesis import given

from dpviz.trees.coherence import FINER_FACTOR, MOMENTS, _parent_deviations, coherence
from dpviz.trees.decomposition import ADAPTED, IN_TIME, Decomposition
from tests.strategies import trees


def brute_force(nodes):
    """The definition: parent by parent and moment by moment."""
    whole = nodes.hi[0, 2] - nodes.lo[0, 2]
    moments = nodes.lo[0, 2] + whole * np.arange(1, MOMENTS + 1) / (MOMENTS + 1)
    moved, model = np.zeros(MOMENTS), np.zeros(MOMENTS)
    for node in np.flatnonzero(~nodes.leaf):
        child = np.flatnonzero(nodes.parent == node)
        ends = set(nodes.hi[child, 2].tolist()) - {int(nodes.hi[node, 2])}
        if not nodes.leaf[child].all() or len(ends) != 1:
            continue
        (cut,) = ends
        low, high, held = nodes.lo[node, 2], nodes.hi[node, 2], nodes.count[node]
        share = (cut - low) / (high - low)
        height = np.interp(moments, [low, cut, high], [0.0, 1.0, 0.0], left=0.0, right=0.0)
        moved += height * (nodes.count[child[nodes.hi[child, 2] == cut]].sum() - share * held)
        model += height * max(held, 0.0) * np.sqrt(share * (1 - share))
    most = (model**2).sum()
    return np.sqrt((moved**2).sum() / most) if most > 0 else 0.0


@given(trees(3, side=32))
def test_common_errors_of_leaves_equal_brute_force(nodes):
    both = _parent_deviations(nodes, nodes.count), brute_force(nodes)
    assert min(both[0], 1.0) == pytest.approx(min(both[1], 1.0), rel=1e-6, abs=1e-9)


def halved(moved):
    """16 columns of places, halved in time, each with 100 records; some have moved."""
    at = np.arange(16)
    low = np.stack([at, np.zeros(16, int), np.zeros(16, int)], axis=1)
    one = np.array([1, 64, 64])
    upper = low + np.array([0, 0, 32])
    lo = np.concatenate([[[0, 0, 0]], low, np.stack([low, upper], axis=1).reshape(-1, 3)])
    ends = np.stack([low + np.array([1, 64, 32]), low + one], axis=1).reshape(-1, 3)
    hi = np.concatenate([[[16, 64, 64]], low + one, ends])
    parent = np.concatenate([[-1], np.zeros(16, int), np.repeat(1 + at, 2)])
    halves = np.stack([50 + moved, 50 - moved], axis=1).ravel()
    count = np.concatenate([[1600], np.full(16, 100), halves])
    return Decomposition(lo, hi, parent, count, np.ones(len(count)))


def test_a_day_is_hidden_in_long_leaves_and_parents_raise_what_is_common():
    both_ways = halved(20.0 * (-1) ** np.arange(16))
    assert coherence(both_ways, both_ways.count) == both_ways.coherence == IN_TIME
    one_way = halved(np.full(16, 10.0))
    assert coherence(one_way, one_way.count) == pytest.approx(FINER_FACTOR * 10 / 50)
    more = halved(np.full(16, 40.0))
    assert coherence(more, more.count) == ADAPTED
    even = halved(np.zeros(16))
    assert coherence(even, even.count, day=2.0) == pytest.approx(2 / 32)
    uneven = halved(np.full(16, 1.0))
    assert coherence(uneven, uneven.count, day=2.0) == pytest.approx(math.hypot(0.04, 2 / 32))
