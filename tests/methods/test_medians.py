"""Private medians against exact distributions and brute force."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dpviz
from dpviz.methods import method
from dpviz.methods.points import kdtree
from dpviz.private.budget import Budget, on_sample
from dpviz.private.mechanisms.medians import (
    CellColumn,
    exact_cuts,
    exponential_cuts,
    log_weights,
    mean_cuts,
    smooth_cuts,
)
from dpviz.private.mechanisms.noise import SimulatedNoise, poisson_sample, uniform_below
from dpviz.private.mechanisms.sensitivity import medians_and_sensitivities
from tests.vault import index_of


def column(cells, lo, hi, times=1):
    """A column of cells, each a list of coordinates, some of them repeated; all this many times."""
    pairs = [np.unique(np.array(cell, dtype=np.int64), return_counts=True) for cell in cells]
    values, weights = (np.concatenate(part).astype(np.int64) for part in zip(*pairs, strict=True))
    sizes = np.tile([len(unique) for unique, _ in pairs], times)
    return CellColumn(
        np.tile(values, times),
        np.tile(weights, times),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.full(len(sizes), lo),
        np.full(len(sizes), hi),
    )


def odds(records, lo, hi, rate):
    """The exact distribution of the exponential mechanism over all cuts, one by one."""
    cuts = np.arange(lo + 1, hi)
    rank = (np.asarray(records)[None] < cuts[:, None]).sum(axis=1) if records else 0 * cuts
    weight = np.exp(-rate * np.abs(rank - len(records) / 2))
    return cuts, weight / weight.sum()


def share(epsilon, delta=0.0):
    return Budget(epsilon, delta).spend(epsilon, "medians", delta=delta)


RECORDS = [
    [],
    [3],
    [0, 0, 0],
    [9, 9, 9, 9],
    [1, 2, 2, 2, 2, 7, 8],
    [0, 1, 5, 5, 6, 9, 9, 9, 9, 9],
    list(range(10)),
]


@pytest.mark.parametrize("records", RECORDS, ids=str)
@pytest.mark.parametrize(("epsilon", "factor"), [(0.3, 1.0), (2.0, 1.0), (2.0, 0.5)])
def test_exponential_cuts_follow_the_exact_distribution(records, epsilon, factor):
    """A chi-square test over all cuts; false alarm 1e-6 for the 21 of them together."""
    trials = 20_000
    cells = column([records], 0, 10, trials)
    drawn = exponential_cuts(SimulatedNoise(11), share(epsilon), cells, factor)
    cuts, exact = odds(records, 0, 10, epsilon * factor)
    assert set(drawn) <= set(cuts)
    expected = exact * trials
    seen = np.bincount(drawn, minlength=11)[cuts]
    frequent = expected >= 5
    seen = np.append(seen[frequent], seen[~frequent].sum())
    expected = np.append(expected[frequent], expected[~frequent].sum())
    if expected[-1] < 5:  # rare outcomes are too few for the test: join them
        expected, seen = (np.append(part[:-2], part[-2:].sum()) for part in (expected, seen))
    assert stats.chisquare(seen, expected).pvalue > 1e-6 / 21


def test_one_record_changes_the_odds_by_the_claim():
    """Exact loss over all neighbours: at most ε, and the weights alone reach half of it."""
    epsilon, worst = 0.7, 0.0
    for records in RECORDS:
        _, before = odds(records, 0, 10, epsilon)
        for extra in range(10):
            _, after = odds([*records, extra], 0, 10, epsilon)
            worst = max(worst, np.abs(np.log(before / after)).max())
    assert 0.5 * epsilon <= worst <= epsilon + 1e-12


@pytest.mark.slow
def test_cells_of_one_level_are_drawn_independently_of_their_neighbours():
    """Cells of different sizes and limits in one call, against the same cell on its own."""
    crowd = [list(np.random.default_rng(1).integers(0, 1000, 400)), [], [999] * 50, [5, 6]]
    cells = column(crowd, 0, 1000)
    cuts = np.array([exponential_cuts(SimulatedNoise(s), share(1.0), cells) for s in range(400)])
    assert ((cuts >= 1) & (cuts <= 999)).all()
    for at, records in enumerate(crowd):
        where, exact = odds(records, 0, 1000, 1.0)
        # Kolmogorov–Smirnov is conservative for discrete distributions; false alarm below 1e-6.
        distance = np.abs(
            (np.sort(cuts[:, at])[None] <= where[:, None]).mean(axis=1) - np.cumsum(exact)
        ).max()
        assert distance < math.sqrt(math.log(2 / 1e-6) / (2 * 400))


@pytest.mark.slow
@given(st.lists(st.integers(0, 30), max_size=25), st.sampled_from([0.001, 0.05, 0.5, 3.0]))
def test_smooth_sensitivity_is_the_brute_force_maximum(records, xi):
    cells = column([records, records], 0, 31)
    values, cumulative, starts = cells.distinct()
    median, sigma = medians_and_sensitivities(values, cumulative, starts, cells.lo, cells.hi, xi)
    n = len(records)
    place = [0, *sorted(records), 31]
    m = (n + 1) // 2

    def x(i):
        return place[min(max(i, 0), n + 1)]

    best = max(
        math.exp(-k * xi) * max(x(m + t) - x(m + t - k - 1) for t in range(k + 2))
        for k in range(n + 1)
    )
    np.testing.assert_allclose(sigma, best, rtol=1e-9)
    np.testing.assert_array_equal(median, x(m))


@pytest.mark.slow
@given(st.lists(st.integers(0, 12), max_size=9), st.sampled_from([0.02, 0.3, 1.0]))
def test_smooth_sensitivity_is_smooth_and_above_the_local_one(records, xi):
    """Adding any record: |change of the median| ≤ σ, and σ changes by at most e^ξ."""

    cells = column([records, *([*records, extra] for extra in range(13))], 0, 13)
    values, cumulative, starts = cells.distinct()
    (median, *others), (sigma, *sigmas) = medians_and_sensitivities(
        values, cumulative, starts, cells.lo, cells.hi, xi
    )
    for other, other_sigma in zip(others, sigmas, strict=True):
        assert abs(other - median) <= min(sigma, other_sigma) + 1e-9
        assert abs(math.log(sigma / other_sigma)) <= xi + 1e-9


@pytest.mark.slow
def test_smooth_cuts_are_centred_and_as_wide_as_the_formula():
    """Interquartile range of 4,000 cuts within 15 %: far beyond 1e-6 for a correct scale."""
    records = list(range(1000, 9000, 10))
    epsilon, delta = 1.0, 1e-3
    cells = column([records], 0, 10_000, 4000)
    cuts = smooth_cuts(SimulatedNoise(2), share(epsilon, delta), cells)
    values, cumulative, starts = cells.distinct()
    xi = epsilon / (4 * (1 + math.log(2 / delta)))
    median, sigma = medians_and_sensitivities(values, cumulative, starts, cells.lo, cells.hi, xi)
    quarter = 2 * sigma[0] / epsilon * math.log(2)
    low, middle, high = np.quantile(cuts, [0.25, 0.5, 0.75])
    assert high - low == pytest.approx(2 * quarter, rel=0.15)
    assert middle == pytest.approx(median[0], abs=0.15 * quarter)


def test_mean_cuts_find_the_mean_and_stay_inside():
    records = list(np.random.default_rng(0).integers(200, 400, 5000))
    cells = column([records, [], [999]], 0, 1000)
    shares = Budget(4.0), Budget(4.0)
    cuts = mean_cuts(SimulatedNoise(1), tuple(b.spend(4.0, "half") for b in shares), cells)
    assert cuts[0] == pytest.approx(np.mean(records), abs=5)
    assert ((cuts >= 1) & (cuts <= 999)).all()


@pytest.mark.slow
@given(st.lists(st.integers(0, 20), max_size=30))
def test_exact_cuts_balance_best(records):
    cut = int(exact_cuts(column([records], 0, 21))[0])
    sorted_records = np.array(sorted(records))
    imbalance = [abs((sorted_records < x).sum() - len(records) / 2) for x in range(1, 21)]
    assert 1 <= cut <= 20
    assert imbalance[cut - 1] == min(imbalance)


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.5, 0.99])
def test_samples_keep_each_record_at_the_rate(rate):
    """Each count within 6 standard deviations of its binomial (false alarm 1e-8 for all)."""
    weights = np.array([1, 0, 30_000, 7, 90_000, 1])
    runs = np.array([poisson_sample(SimulatedNoise(seed), weights, rate) for seed in range(40)])
    assert (runs <= weights).all()
    spread = np.sqrt(40 * weights * rate * (1 - rate))
    assert (np.abs(runs.sum(axis=0) - 40 * weights * rate) <= 6 * spread + 5).all()


def test_samples_of_one_record_are_coin_flips():
    """20,000 isolated records in one draw: neighbours in the list are independent (4.9 sd)."""
    sampled = poisson_sample(SimulatedNoise(3), np.ones(20_000, dtype=np.int64), 0.3)
    pairs = (sampled[::2] & sampled[1::2]).sum()
    assert abs(pairs - 900) < 4.9 * math.sqrt(10_000 * 0.09 * 0.91)
    assert len(poisson_sample(SimulatedNoise(3), np.zeros(0, dtype=np.int64), 0.3)) == 0


def test_amplification_never_costs_more_than_was_paid():
    """Sums to 60 digits; plain rounding exceeded epsilon in the last place."""
    random = np.random.default_rng(4)
    epsilons, rates = 10 ** random.uniform(-4, 2.5, 500), 10 ** random.uniform(-4, 0, 500)
    with localcontext() as context:
        context.prec = 60
        for epsilon, rate in zip(epsilons, rates, strict=True):
            shares = [share(epsilon), share(epsilon / 3)]
            paid = sum(Decimal(part.epsilon) for part in shares)
            inner = sum(Decimal(part.epsilon) for part in on_sample(shares, rate))
            cost = (1 + Decimal(rate) * (inner.exp() - 1)).ln()
            assert cost <= paid
            assert cost >= paid * (1 - Decimal("1e-12"))


@pytest.mark.parametrize("rate", [1e-4, 0.01, 0.1])
def test_sums_and_counts_of_one_sample_are_amplified_together(rate, monkeypatch):
    """Regression: alone they cost ln(1 + p(e^{2ε} − 1)), and 2 ln(1 + p(e^ε − 1)) was paid."""
    seen = []

    def watched(noise, shares, column):
        seen.append(shares)
        return mean_cuts(noise, shares, column)

    monkeypatch.setattr(kdtree, "mean_cuts", watched)
    tree = method("kdtree", median="noisy_mean", sampling=rate, height=2)
    budget = Budget(1.0)
    tree.build(index_of(dpviz.load("city-50k")), budget, SimulatedNoise(1))
    paid = math.fsum(row.epsilon for row in budget.rows if "round" in row.purpose)
    cost = math.fsum(
        math.log1p(rate * math.expm1(sums.epsilon + counts.epsilon)) for sums, counts in seen
    )
    assert paid == pytest.approx(0.3)
    assert paid * (1 - 1e-9) <= cost <= paid


def test_uniform_integers_are_uniform_up_to_the_bound():
    """Chi-square over 7 values; false alarm 1e-6. Bounds of any size are respected."""
    drawn = uniform_below(SimulatedNoise(0), np.full(70_000, 7))
    assert stats.chisquare(np.bincount(drawn, minlength=7)).pvalue > 1e-6
    bounds = np.array([1, 2, 2**62])
    assert (uniform_below(SimulatedNoise(1), bounds) < bounds).all()


def test_a_pile_of_records_costs_no_digit_of_the_odds():
    """However far from both sides of the pile the middle of the ranks is, in units of 1/ε."""
    cuts, owner = np.array([3, 0, 7, 5]), np.array([0, 0, 0, 0])
    distance = np.array([2.0**39 + 1.0, 0.5, 2.0**39 + 0.5, 2.0**39 + 2.0])
    rate = 1.0 / 3.0
    weight = log_weights(cuts, distance, owner, np.array([0, 4]), rate)
    wanted = [math.log(n) - rate * far for n, far in ((3, 0.5), (7, 0.0), (5, 1.5))]
    assert weight[[0, 2, 3]] == pytest.approx(wanted, rel=1e-14)
    assert weight[1] == -np.inf
