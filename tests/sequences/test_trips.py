"""Trips as a whole: what they cost, how synthetic ones are drawn, what cannot be."""

import itertools
from collections import Counter

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from dpviz.build import build
from dpviz.errors import ParameterError, ReleaseError
from dpviz.methods.sequences import markov, trips
from dpviz.methods.sequences.base import SequenceTask
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.private.sequences import Sequences
from dpviz.releases.sequences import columns
from dpviz.sequences.alphabet import Alphabet
from dpviz.sequences.trips import TripModel, distances, longest_trip, step_rule
from dpviz.trees import posterior
from dpviz.trees.posterior import gamma_posterior

from .cases import ABC, public

LINE = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
"""Three symbols in a row: a step leads to a neighbour."""


def test_no_sequence_loses_more_than_epsilon_and_the_longest_lose_all(monkeypatch):
    """The loss of geometric noise is Σ |difference of counts| · rate: exact, for every sequence."""
    seen = []

    def watched(noise, share, counts, sensitivity=1):
        seen.append((share.epsilon / sensitivity, np.array(counts)))
        return true_geometric(noise, share, counts, sensitivity)

    true_geometric = trips.geometric
    monkeypatch.setattr(trips, "geometric", watched)
    monkeypatch.setattr(markov, "geometric", watched)

    def tables(rows, follows):
        seen.clear()
        task = SequenceTask(
            Sequences.of(rows), Alphabet(("a", "b", "c"), follows), Budget(0.7), SimulatedNoise(1)
        )
        trips.Trips(l_top=3).build(task)
        assert len(seen) == 3
        return list(seen)

    base = [[0, 1], [2, 1, 0, 1], [1]]
    for follows in (None, LINE):
        losses = []
        before = tables(base, follows)
        for size in range(1, 5):
            for row in itertools.product(range(3), repeat=size):
                if follows is not None and any(not LINE[a, b] for a, b in itertools.pairwise(row)):
                    continue
                after = tables([*base, list(row)], follows)
                losses.append(
                    sum(
                        rate * np.abs(new - old).sum()
                        for (rate, new), (_, old) in zip(after, before, strict=True)
                    )
                )
        assert max(losses) == pytest.approx(0.7, rel=1e-12)
        assert min(losses) < 0.7


def chances_by_hand(model, first, last, size):
    """P(way | ends and number of symbols) by enumeration of all ways."""
    step = model._ways[1]
    ways = {}
    for inner in itertools.product(range(model.size), repeat=max(size - 2, 0)):
        way = (first, *inner, last) if size > 1 else (first,)
        ways[way] = np.prod([step[a, b] for a, b in itertools.pairwise(way)])
    total = sum(ways.values())
    return {way: chance / total for way, chance in ways.items() if chance > 0}


def test_ways_are_drawn_as_enumeration_says():
    """A chi-square test of one fixed draw; every way, given its ends and its length."""
    rows = [[0, 1, 2], [0, 1, 0, 1, 2], [2, 1, 0], [1, 2], [0, 1], [1]] * 30
    model = build(public(rows, Alphabet(("a", "b", "c"), LINE)), "trips", 5.0, seed=1).model
    n = 30_000
    seen = Counter(tuple(row.tolist()) for row in model.sample(n, seed=1))
    total = model.pairs.sum()
    steps = distances(LINE)
    squares, free = 0.0, 0
    for first, last in itertools.product(range(3), repeat=2):
        weight = model.lengths[steps[first, last]] * (model._ways[:, first, last] > 0)
        for size in np.flatnonzero(weight) + 1:
            if size > 7:
                continue
            among = model.pairs[first, last] / total * weight[size - 1] / weight.sum()
            for way, chance in chances_by_hand(model, first, last, size).items():
                expected = n * among * chance
                if expected > 5:
                    squares += (seen[way] - expected) ** 2 / expected
                    free += 1
    assert free > 15
    assert scipy.stats.chi2.sf(squares, free) > 1e-6
    assert all(LINE[a, b] for way in seen for a, b in itertools.pairwise(way))


def test_what_cannot_be_is_never_drawn():
    """No way leads from c; a and b take turns, so that their parity is fixed."""
    rule = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0]], dtype=bool)
    alphabet = Alphabet(("a", "b", "c"), rule)
    assert distances(rule).tolist() == [[0, 1, 1], [1, 0, 2], [-1, -1, 0]]
    for rows, epsilon in ([], 0.1), ([[0, 1, 0, 1]] * 50, 0.5), ([[2]], 1.0):
        model = build(public(rows, alphabet), "trips", epsilon, seed=5, l_top=6).model
        for row in model.sample(2000, seed=1):
            assert 1 <= len(row) <= 6
            assert all(rule[a, b] for a, b in itertools.pairwise(row.tolist()))
    assert {len(row) for row in model.sample(500, seed=1, longest=2)} == {1, 2}
    for many in -1, 10**12:
        with pytest.raises(ParameterError, match="give a number from 0 to 10,000,000"):
            model.sample(many)


def test_tables_have_a_public_cap_and_a_corrupted_file_is_refused():
    assert longest_trip(3, 20) == 20
    assert longest_trip(3, 10_000) == 200
    assert longest_trip(1024, 200) < 30
    assert step_rule(None, 1).tolist() == [[True]]
    release = build(public([[0, 1, 2]] * 40), "trips", 1.0, seed=1)
    model = release.model
    table = columns.to_columns(ABC, model, release.header)
    stated = {"alphabet": ["a", "b", "c"], "model": "trips", "lengths": model.lengths.tolist()}
    _, again = columns.from_columns(table, dict(stated))
    assert isinstance(again, TripModel)
    assert np.array_equal(again.pairs, model.pairs)
    assert [r.tolist() for r in again.sample(9, 1)] == [r.tolist() for r in model.sample(9, 1)]
    for wrong in ([[1.0, -1.0]], [[float("nan")]], [1.0], [[1.0], [1.0]], [[0.0] * 201]):
        with pytest.raises(ReleaseError):
            columns.from_columns(table, {**stated, "lengths": wrong})


def test_many_counts_are_weighed_by_kinds_and_come_out_the_same(monkeypatch):
    random = np.random.default_rng(6)
    mean = random.gamma(0.5, 6.0, 900) + 1e-3
    noisy = np.rint(random.poisson(mean) + random.laplace(0, 2.0, 900))
    one_by_one = gamma_posterior(noisy, 2.0, mean, least=1e-3)
    monkeypatch.setattr(posterior, "ROWS", 450)  # the shape is chosen by every other count
    by_kinds = gamma_posterior(noisy, 2.0, mean, least=1e-3)
    for one, other in zip(one_by_one, by_kinds, strict=True):
        np.testing.assert_allclose(other, one, rtol=0.02)


def test_distances_of_any_step_and_up_to_a_limit():
    size = 40
    free = step_rule(None, size)
    assert np.array_equal(distances(free), 1 - np.eye(size))
    row = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    assert np.array_equal(distances(row == 1), row)
    assert np.array_equal(distances(row == 1, 7), np.where(row <= 7, row, -1))


@pytest.mark.parametrize("noisy", [-4.0, 11.0, 30.0, 400.0])
@pytest.mark.parametrize("shape", [0.4, 2.5])
def test_the_posterior_near_and_far_above_the_noise(noisy, shape):
    scale, guess = 2.0, max(noisy, 6.0)
    law = scipy.stats.gamma(shape, scale=guess / shape)

    def moment(k):
        def weighted(count):
            return count**k * law.pdf(count) * np.exp(-abs(count - noisy) / scale)

        ends = [1e-3, *((noisy,) if noisy > 0 else ()), max(noisy, 0) + 60 * scale]
        return sum(
            scipy.integrate.quad(weighted, low, high, limit=300)[0]
            for low, high in itertools.pairwise(ends)
        )

    mean, variance = gamma_posterior(
        np.array([noisy]), scale, np.array([guess]), least=1e-3, shapes=(shape,)
    )
    wanted = moment(1) / moment(0)
    assert mean[0] == pytest.approx(wanted, rel=0.02)
    assert variance[0] == pytest.approx(moment(2) / moment(0) - wanted**2, rel=0.12)


def test_a_model_whose_ways_would_fill_the_memory_is_refused():
    """Of 1,000 symbols and 200 steps they take 1.6 GB: more than any method makes."""
    size = 1_000
    child = np.full(size + 2, -1)
    child[0] = 1
    tables = {"pairs": np.zeros((size, size)), "lengths": np.ones((1, longest_trip(size, 200) + 1))}
    with pytest.raises(ReleaseError, match="numbers of symbols by distance, at most 25"):
        TripModel(child, np.zeros((size + 2, size + 1)), 1.0, **tables)
