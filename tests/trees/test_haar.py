"""Noise of Privelet's sums: against the matrices of its transform, and against draws."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.errors import ReleaseError
from dpviz.methods.points.privelet import inverse_haar
from dpviz.releases.points.marginal import marginal
from dpviz.releases.points.range_count import MIN_COMPILED
from dpviz.releases.store import from_arrow
from dpviz.trees.haar import HaarNoise
from tests.headers import header_of, with_header
from tests.methods.cases import handle

POWER = 3
CELLS = 1 << POWER


@cache
def data(dims):
    return handle(np.random.default_rng(dims).beta(2, 3, size=(500, dims)), dims)


def built(dims, power=POWER, seed=0, epsilon=1.0):
    return dpviz.build(data(dims), "privelet", epsilon, seed=seed, log_cells=power)


RELEASES = {dims: built(dims) for dims in (1, 2, 3, 4)}
COEFFICIENTS = np.stack([inverse_haar(row) for row in np.eye(CELLS)], axis=1)
COVARIANCE = COEFFICIENTS @ COEFFICIENTS.T
"""Of the cells of one axis, for unit noise on the coefficients."""


def exact(release, weights):
    """Variance of a weighted sum of cells, weights of shape (8,) * dims, by the matrices."""
    spread = weights
    for axis in range(weights.ndim):
        spread = np.moveaxis(np.tensordot(COVARIANCE, spread, axes=(1, axis)), 0, axis)
    return release.nodes.variance[0] * float((weights * spread).sum())


def shares(low, high):
    """Share of each cell of an axis inside [low, high), limits in 0..1."""
    lines = np.arange(CELLS)
    return np.clip(np.minimum(high * CELLS, lines + 1) - np.maximum(low * CELLS, lines), 0, 1)


@pytest.mark.slow
@settings(max_examples=80)
@given(st.sampled_from([1, 2, 3, 4]), st.integers(0, 2**32 - 1))
def test_any_box_has_the_variance_of_the_matrices(dims, seed):
    """Edges are anywhere: multiples of 1/64, an eighth of a cell."""
    random = np.random.default_rng(seed)
    edges = np.sort([random.choice(65, 2, replace=False) for _ in range(dims)], axis=1) / 64
    weights = np.ones(())
    for low, high in edges:
        weights = np.multiply.outer(weights, shares(low, high))
    release = RELEASES[dims]
    for times in (1, MIN_COMPILED):
        answers = release.count(np.tile(edges.T.ravel(), (times, 1)))
        assert answers.noise_sd**2 == pytest.approx(exact(release, weights), rel=1e-9)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
def test_any_region_has_the_variance_of_the_matrices(seed):
    random = np.random.default_rng(seed)
    corners = random.random((5, 2))
    cells = random.random((CELLS, CELLS)) < 0.3
    shape = shapely.union_all(
        [
            shapely.convex_hull(shapely.MultiPoint(corners)),
            *(shapely.box(*np.array([x, y, x + 1, y + 1]) / CELLS) for x, y in np.argwhere(cells)),
        ]
    )
    x, y = np.meshgrid(np.arange(CELLS), np.arange(CELLS), indexing="ij")
    frames = shapely.box(x / CELLS, y / CELLS, (x + 1) / CELLS, (y + 1) / CELLS)
    weights = shapely.area(shapely.intersection(frames, shape)) * CELLS**2
    release = RELEASES[2]
    answer = release.count_regions([shape, shapely.box(5, 5, 6, 6), shape])
    assert answer.noise_sd[[0, 2]] ** 2 == pytest.approx(exact(release, weights), rel=1e-6)
    assert answer.noise_sd[1] == 0.0


def test_a_file_keeps_the_noise_of_wavelets():
    release = RELEASES[4]
    after = from_arrow(release.to_arrow())
    assert after.noise == release.noise
    assert release.noise.cells == CELLS


@pytest.mark.parametrize("cells", [4, CELLS, 32])
@pytest.mark.parametrize("within", [None, (0.2, 0.3, 0.7, 1.0)])
def test_rectangles_on_a_marginal_have_the_noise_of_their_boxes(cells, within):
    release = RELEASES[4]
    seen = marginal(release, (0, 2), within, cells)
    others = (0.0, 0.0, 1.0, 1.0) if within is None else within
    random = np.random.default_rng(cells)
    edges = [np.sort(random.choice(cells + 1, 2, replace=False)) / cells for _ in range(40)]
    for (x, right), (y, top) in itertools.pairwise(edges):
        box = [x, others[0], y, others[1], right, others[2], top, others[3]]
        assert seen.count([x, y, right, top]).noise_sd == pytest.approx(release.count(box).noise_sd)


@pytest.mark.parametrize(
    "facts",
    [
        [],
        "haar",
        {"kind": "fourier"},
        {"kind": "haar"},
        {"kind": "haar", "variance": 1.0, "cells": True},
        {"kind": "haar", "variance": 1.0, "cells": 0},
        {"kind": "haar", "variance": 1.0, "cells": 6},
        {"kind": "haar", "variance": 1.0, "cells": 2**20},
        {"kind": "haar", "variance": 1.0, "cells": 10**400},
        {"kind": "haar", "variance": -1.0, "cells": 8},
        {"kind": "haar", "variance": math.nan, "cells": 8},
        {"kind": "haar", "variance": 10**400, "cells": 8},
    ],
)
def test_a_header_that_does_not_fit_the_nodes_is_refused(facts):
    table = RELEASES[2].to_arrow()
    header = {**header_of(table), "noise": facts}
    with pytest.raises(ReleaseError, match=r"noise|the header is damaged: it holds"):
        from_arrow(with_header(table, header))


def test_nodes_finer_than_any_grid_are_refused():
    """Grids have at most 2^22 cells: a region on a finer one would exhaust memory."""
    side = RELEASES[2].domain.side
    lo = np.array([[0, 0], [side >> 12, 0]])
    facts = {"kind": "haar", "variance": 1.0, "cells": 8}
    assert HaarNoise.from_facts(facts, side, 2 * lo, 2 * lo) is not None
    with pytest.raises(ReleaseError, match="another grid"):
        HaarNoise.from_facts(facts, side, lo, lo)
