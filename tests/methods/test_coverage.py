"""Honest intervals: on boxes that follow the nodes, 95 % intervals cover at least 95 %."""

import math

import numpy as np
import pytest

import dpviz
from dpviz.methods import METHODS, of_kind

DOMAIN = dpviz.Domain((0.0, 0.0), (1.0, 1.0))
REPEATS, BOXES = 4, 1500
PRIVATE = sorted(
    name
    for name, cls in of_kind("points").items()
    if cls.guarantee != "none" and 2 in cls.dims and not cls.overlapping
)


@pytest.fixture(scope="module")
def skewed():
    random = np.random.default_rng(0)
    centres = random.random((40, 2))
    points = centres[random.integers(0, 40, 30_000)] + random.normal(size=(30_000, 2)) * 0.02
    return dpviz.from_points(np.clip(points, 0, 1), DOMAIN, public=True)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("name", PRIVATE)
def test_intervals_of_nodes_cover(name, epsilon, skewed):
    """False alarm below 1e-6 per case for independent boxes; most are disjoint leaves."""
    cls = METHODS[name]
    coarse = {"log_grid": 12} if "log_grid" in cls.knobs() else {}
    parameters = {**coarse, **cls.measured}
    covered = []
    for seed in range(REPEATS):
        release = dpviz.build(skewed, name, epsilon, seed=seed, **parameters)
        random = np.random.default_rng(seed)
        rows = random.integers(0, len(release.nodes), BOXES)
        lo, hi = release.nodes.lo[rows], release.nodes.hi[rows]
        exact = skewed._index.box_counts(lo, hi)
        answers = release.count_boxes(lo, hi)
        covered.append((answers.low <= exact) & (exact <= answers.high))
    allowance = 4.9 * math.sqrt(0.05 * 0.95 / (REPEATS * BOXES))
    assert np.mean(covered) >= 0.95 - allowance
