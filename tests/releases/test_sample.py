"""Synthetic points reproduce a release's counts, and are marked as what they are."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.errors import ParameterError, ReleaseError
from dpviz.evaluation.truth import exact_counts, exact_total
from dpviz.exports.export import MARK, save_sample
from dpviz.releases.counts import CountRelease
from dpviz.releases.points.sample import sampling_counts, systematic
from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import Decomposition
from tests.trees.leaves import located

DOMAIN = dpviz.Domain.from_bounds([0.0, 0.0, 4.0, 2.0])
POINTS = np.random.default_rng(1).beta(2, 6, size=(5_000, 2)) * [4, 2]
RELEASE = dpviz.build(dpviz.from_points(POINTS, DOMAIN, public=True), "privtree", 1.0, seed=2)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.integers(0, 20_000), st.integers(0, 2**32 - 1))
def test_every_leaf_gets_its_share_to_the_whole_number(n, seed):
    points = RELEASE.sample(n, seed)
    assert points.shape == (n, 2)
    cells, inside = DOMAIN.to_lattice(points)
    assert inside.all()
    drawn = np.bincount(located(RELEASE.nodes, cells), minlength=len(RELEASE.nodes))
    nodes = RELEASE.nodes
    weight = sampling_counts(nodes)
    drawn, due = sum_up(nodes.parent, drawn), sum_up(nodes.parent, weight)
    assert (np.abs(drawn - n * due / due[0]) < 1.0 + 1e-6).all()  # leaves and inner nodes alike


@pytest.mark.slow
@pytest.mark.parametrize("method", ["privtree", "ugrid", "kdtree", "ladder_tree", "hilbert_rtree"])
def test_the_default_size_is_the_noisy_total(method):
    """Cutting each negative leaf at zero would draw 11,032 points of 2,000 on the grid."""
    data = dpviz.from_points(POINTS[:2_000], DOMAIN, public=True)
    cells = {"cells": 64} if method == "ugrid" else {}
    release = dpviz.build(data, method, 0.2, seed=3, **cells)
    nodes = release.nodes
    total = nodes.count[nodes.levels[0]].sum()
    assert len(release.sample(seed=1)) == round(total)
    weight = sampling_counts(nodes)
    assert (weight >= 0).all()
    assert (weight[~nodes.leaf] == 0).all()
    assert weight.sum() == pytest.approx(total)


def test_many_small_leaves_are_not_left_empty():
    """Sixty-three leaves of 0.3 and one of 1,000: on the average each gets its exact share.

    A leaf's number is one of two neighbouring ones. By Hoeffding's inequality the mean of 2,000 of
    them is off by 0.068 or more in any of 64 leaves with probability under 1e-6.
    """
    weight = np.full(64, 0.3)
    weight[40] = 1000.0
    random = np.random.default_rng(5)
    drawn = np.array([systematic(weight, 1019, random) for _ in range(2000)])
    due = 1019 * weight / weight.sum()
    assert (drawn.sum(axis=1) == 1019).all()
    assert np.abs(drawn.mean(axis=0) - due).max() < 0.0684


def test_sampled_points_are_uniform_inside_a_leaf():
    """Kolmogorov–Smirnov of one leaf's x: false alarm below 1e-6 at 2.7/√n."""
    nodes = Decomposition([[0, 0]], [[DOMAIN.side] * 2], [-1], [1.0], [0.0])
    x = np.sort(CountRelease(RELEASE.frame, nodes, RELEASE.header).sample(20_000, 3)[:, 0]) / 4.0
    gap = np.abs(x - np.arange(len(x)) / len(x)).max()
    assert gap < 2.7 / np.sqrt(len(x))


@pytest.mark.parametrize("ending", ["parquet", "csv", "geojson", "gpkg"])
def test_a_file_of_points_reads_back_as_a_source(tmp_path, ending):
    path = tmp_path / f"points.{ending}"
    assert save_sample(RELEASE, path, 200, seed=1) == 200
    handle = dpviz.load(path, DOMAIN, public=True)
    assert exact_total(handle) == 200
    left = exact_counts(handle, [0, 0, 2, 2])[0]
    assert left == (RELEASE.sample(200, 1)[:, 0] < 2).sum()
    if ending == "parquet":
        note = json.loads(pq.read_schema(path).metadata[MARK])
        assert note["synthetic"] is True
        assert note["guarantee"] == RELEASE.header.guarantee


def test_four_dimensions_go_to_tables_only(tmp_path):
    domain = dpviz.Domain.from_bounds([0.0] * 4 + [1.0] * 4)
    points = np.random.default_rng(0).random((500, 4))
    release = dpviz.build(dpviz.from_points(points, domain, public=True), "privtree", 1.0, seed=1)
    assert save_sample(release, tmp_path / "trips.csv", 50, 1) == 50
    with pytest.raises(ReleaseError, match="2-D points only"):
        save_sample(release, tmp_path / "trips.gpkg", 50, 1)


def test_bad_requests_are_one_line_and_write_nothing(tmp_path):
    for n, seed, message in [
        (-1, 1, "-1 points"),
        (2.5, 1, "2.5 points: give a whole number"),
        ("5", 1, "5 points"),
        (5, -1, "seed=-1: give a"),
    ]:
        with pytest.raises(ParameterError, match=message):
            RELEASE.sample(n, seed)
    with pytest.raises(ReleaseError, match="cannot write"):
        save_sample(RELEASE, tmp_path / "points.xlsx")
    empty = Decomposition([[0, 0]], [[DOMAIN.side] * 2], [-1], [-3.0], [2.0])
    with pytest.raises(ReleaseError, match="nothing to sample"):
        CountRelease(RELEASE.frame, empty, RELEASE.header).sample(5)
    assert CountRelease(RELEASE.frame, empty, RELEASE.header).sample().shape == (0, 2)
    assert list(tmp_path.iterdir()) == []
