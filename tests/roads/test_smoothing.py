"""Smoothing along streets, and what equations of flow cannot do."""

import numpy as np
import pytest

from dpviz import build
from dpviz.evaluation.truth import exact_visits
from dpviz.releases.roads.beyond_noise import beyond_noise
from dpviz.roads.paths import Paths
from dpviz.roads.smoothing import SHAPES, neighbours, posterior, smoothed
from dpviz.trees import posterior as gamma
from tests.commands import as_json, run


def test_straight_on_counts_more_than_a_corner(streets, odd):
    near = neighbours(streets)
    for edge, other, weight in zip(near.edge, near.other, near.weight, strict=True):
        (node,) = set(streets.ends[edge]) & set(streets.ends[other])
        degree = int((streets.ends == node).sum())
        level = [abs(np.subtract(*streets.ends[each])) == 1 for each in (edge, other)]
        if degree == 2:
            assert weight == 1
        else:
            assert (weight > 0.8) if level[0] == level[1] else (weight < 0.2)
    assert (neighbours(odd).edge != neighbours(odd).other).all()
    value = np.arange(len(streets), dtype=float)
    changed = value.copy()
    changed[7] += 1e-3 * len(streets)
    moved = near.mean(changed) - near.mean(value)
    assert moved[7] < 1e-4  # only through the mean of all edges, never directly


def test_many_counts_are_weighed_by_kinds_and_come_out_the_same(monkeypatch):
    random = np.random.default_rng(6)
    mean = random.gamma(0.5, 6.0, 900) + 1e-3
    noisy = np.rint(random.poisson(mean) + random.laplace(0, 2.0, 900))

    def weighed():
        return gamma.gamma_posterior(noisy, 2.0, mean, least=1e-3, shapes=SHAPES)

    one_by_one = weighed()
    # Blocks of 450 counts: the shape is fitted to every other count.
    monkeypatch.setattr(gamma, "ROWS", 450)
    for one, other in zip(one_by_one, weighed(), strict=True):
        np.testing.assert_allclose(other, one, rtol=0.02)


@pytest.mark.slow
def test_the_prior_of_a_class_adds_up_to_its_counts(streets):
    """Counts cut at 0 are too large on average: with noise far above them all would grow."""
    random = np.random.default_rng(3)
    exact = np.full(len(streets), 6.0)
    near, classes = neighbours(streets), np.arange(len(streets)) % 2
    exact[classes == 1] = 12.0
    errors = []
    for given in (None, classes):
        totals = np.zeros(2)
        for _ in range(40):
            noisy = exact + random.laplace(0, 12.0, len(exact))
            totals += np.bincount(classes, posterior(noisy, 12.0, near, given)[0])
        errors.append(np.abs(totals / 40 / np.bincount(classes, exact) - 1).max())
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize(("scale", "share"), [(5.0, 0.75), (15.0, 0.45)])
def test_smoothing_takes_noise_away(data, workload, scale, share):
    """Eight fixed draws: the mean squared error over all is a fixed number, not a chance."""
    exact = exact_visits(data).astype(np.float64)
    truth, near = workload.sum(exact), neighbours(data.graph)
    random = np.random.default_rng(0)
    rough = smooth = 0.0
    for _ in range(8):
        noisy = exact + random.laplace(0, scale, len(exact))
        counts, _ = smoothed(noisy, 2 * scale**2, near, workload)
        rough += float(np.mean((workload.sum(noisy) - truth) ** 2))
        smooth += float(np.mean((workload.sum(counts) - truth) ** 2))
    assert smooth < share * rough


def test_exact_counts_are_left_alone(data, workload):
    exact = exact_visits(data).astype(np.float64)
    counts, share = smoothed(exact, 1e-18, neighbours(data.graph), workload)
    assert share == 0
    np.testing.assert_array_equal(counts, exact)
    assert smoothed(np.ones(len(data.graph)), 4.0, neighbours(data.graph), Paths.of([]))[1] == 0


def test_smoothing_gives_way_where_truncation_took_as_much(streets):
    """Noise and prior pull answers down together with what is lost: the more lost, the less."""
    random = np.random.default_rng(8)
    noisy = random.gamma(1.0, 30.0, len(streets)) + random.laplace(0, 15, len(streets))
    workload = Paths.of([np.argsort(-noisy)[:12]])  # the fullest edges: all pulled down
    near = neighbours(streets)
    shares = [smoothed(noisy, 450.0, near, workload, share)[1] for share in (1.0, 0.97, 0.7)]
    assert shares[0] > shares[1] >= shares[2] == 0


@pytest.mark.slow
def test_errors_outside_the_interval_are_stated_beside_every_answer(data, workload, tmp_path):
    """Every command states truncation, smoothing and sharing, which no interval covers."""
    words = {
        "basic": ["Trips are cut to", "visits are counted (an estimate)"],
        "flows": ["towards what neighbouring streets make likely", "Some streets share one count"],
        "gs": ["streets are cut to as many", "Some streets share one count"],
        "dwork": ["streets are cut to as many"],
    }
    for method, wanted in words.items():
        release = build(data, method, 4.0, workload=workload, seed=4)
        sentences = beyond_noise(release)
        assert all(any(word in each for each in sentences) for word in wanted), sentences
        assert ("neighbouring" in " ".join(sentences)) == (method == "flows")
        assert not any("cut to" in each for each in beyond_noise(release, truncation=False))
    out = release.save(tmp_path / "r.parquet")
    asked = ["query", out, f"--path={data.graph.edge_id[0]}"]
    assert as_json(*asked)["in_no_interval"] == sentences
    assert f"In no interval: {sentences[0]}" in run(*asked)[1]
