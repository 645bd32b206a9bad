"""Expected errors come from public facts alone, and scale as theory says."""

import itertools

import numpy as np
import pandas as pd
import pytest

from dpviz import Domain, build, load, prior
from dpviz.errors import ParameterError
from dpviz.evaluation.synthetic_proxy import (
    expectation,
    expected_by_bound,
    retained_share,
    synthetic_proxy,
)
from dpviz.evaluation.truth import exact_counts, exact_total

DOMAIN = Domain.from_bounds([2.0, 48.0, 3.0, 49.0])


def rows_of(*asked, **how):
    """Expected errors by size."""
    return expectation(*asked, **how).rows


def test_a_synthetic_proxy_has_the_asked_size_and_lies_in_the_rectangle():
    handle = synthetic_proxy(DOMAIN, 5_000)
    assert exact_total(handle) == 5_000
    assert handle.public


@pytest.mark.slow
@pytest.mark.parametrize(
    "axis",
    [
        {"period": ("2024-03-01", "2024-04-01")},
        {"period": ("2019-01-01", "2024-01-01")},
        {"cycle": "week", "period": ("2024-01-01", "2024-02-26")},
    ],
)
def test_a_proxy_with_time_fills_the_period_and_sleeps_at_night(axis):
    """With 8,000 records every hour has 50 or more, 4 o'clock fewer than 17 o'clock."""
    domain = Domain.from_bounds([2.0, 48.0, 3.0, 49.0], time="when", **axis)
    handle = synthetic_proxy(domain, 8_000)
    assert exact_total(handle) >= 7_990  # rounding may move a place out of the rectangle
    start, end = domain.period
    thirds = np.linspace(start, end, 4)
    rects = [[2, 48, low, 3, 49, high] for low, high in itertools.pairwise(thirds)]
    assert min(exact_counts(handle, np.array(rects))) > 1_500
    hours = [
        sum(
            exact_counts(handle, np.array([[2, 48, at, 3, 49, at + 3_600]]))[0]
            for at in np.arange(start + 3_600 * hour, end, 86_400)
        )
        for hour in (3, 17)
    ]
    assert 3 * hours[0] < hours[1]
    rows = rows_of(domain, "privtree", 1.0, 8_000)
    assert all(0 < row.interval < np.inf for row in rows)


def test_cells_and_the_noise_of_a_twelfth_of_the_period_are_as_a_grid_has_them():
    """A grid of 8 × 8 cells on a square of 100 km, whose noise the price alone decides."""
    domain = Domain.from_bounds([0, 0, 100_000, 100_000], crs="EPSG:32631")
    seen = expectation(domain, "ugrid", 5.0, 200_000, cells=8)
    assert seen.cell == pytest.approx(12.5**2, rel=0.1)
    assert seen.windows is None
    timed = Domain.from_bounds(
        [2.0, 48.0, 3.0, 49.0], time="when", period=("2024-01-01", "2025-01-01")
    )
    cheap, dear = (expectation(timed, "ugrid", epsilon, 8_000, cells=6) for epsilon in (0.5, 1))
    assert cheap.windows.noise_sd == pytest.approx(2 * dear.windows.noise_sd, rel=0.05)


def test_the_error_of_a_month_is_as_a_release_shows_it_for_one_category_and_for_all():
    """Regression: it was the noise alone of one category, a quarter of what the page showed.

    The records are of five towns and uneven categories, and not of the synthetic city.
    """
    random, kinds, records = np.random.default_rng(5), ["a", "b", "c", "d"], 24_000
    domain = Domain.from_bounds(
        [0, 0, 1, 1], time="t", period=("2023-01-01", "2024-01-01"), kind="k", kinds=kinds
    )
    towns = random.choice(random.uniform(0.2, 0.8, (5, 2)), records)
    columns = dict(zip(("lon", "lat"), random.normal(towns, 0.07).T, strict=True))
    columns |= {"t": random.uniform(*domain.period, records)}
    columns |= {"k": random.choice(kinds, records, p=[0.4, 0.3, 0.2, 0.1])}
    data = load(pd.DataFrame(columns), domain, public=True)
    release = build(data, "ladder_tree", 1.0, seed=1, ledger=None)
    expected = expectation(domain.counts_only, "ladder_tree", 1.0, records // len(kinds))
    of_all = release.timeline(None, "1mo").total_error.mean()
    each = np.mean([release.of(kind).timeline(None, "1mo").total_error for kind in kinds])
    for forecast, shown in ((expected.window_error(4), of_all), (expected.window_error(), each)):
        assert shown / 1.5 < forecast < 1.5 * shown


def test_noise_halves_when_the_price_doubles():
    """The cells of a grid are given, so that only their noise depends on ε."""
    cheap, dear = (rows_of(DOMAIN, "ugrid", epsilon, 20_000, cells=32) for epsilon in (0.2, 0.4))
    for one, other in zip(cheap, dear, strict=True):
        assert one.count == other.count
        assert one.interval / other.interval == pytest.approx(2.0, rel=0.02)


def test_a_bound_costs_as_much_noise_as_a_price_divided_by_it():
    bounded = rows_of(DOMAIN, "ugrid", 1.0, 20_000, max_per_unit=4, cells=16)
    alone = rows_of(DOMAIN, "ugrid", 0.25, 20_000, cells=16)
    assert bounded == alone


def test_a_bound_that_leaves_too_little_for_one_record_is_named():
    """The message names the bound, not an epsilon that was never given."""
    line = "epsilon=1 for up to 1,000,000,000 records each: noise of such a scale hides everything"
    with pytest.raises(ParameterError, match=line):
        rows_of(DOMAIN, "ugrid", 1.0, 100, max_per_unit=10**9, cells=16)


def test_what_a_bound_leaves_out_is_part_of_the_error():
    """The table before a payment left it out, while the chart beside it did not."""
    some = rows_of(DOMAIN, "ugrid", 1.0, 20_000, max_per_unit=4, per_unit=8.0, cells=16)
    rows = rows_of(DOMAIN, "ugrid", 1.0, 20_000, max_per_unit=4, cells=16)
    for each, every in zip(some, rows, strict=True):
        assert each.count == pytest.approx(every.count, rel=0.1)
        assert each.left_out == pytest.approx(each.count * (1 - retained_share(4, 8.0)))
        assert each.error > max(each.left_out, every.left_out)
        assert every.left_out == 0
    (bound,) = (
        row
        for row in expected_by_bound(DOMAIN, "ugrid", 1.0, 20_000, 8.0, cells=16)
        if row.max_per_unit == 10
    )
    chosen = rows_of(DOMAIN, "ugrid", 1.0, 20_000, max_per_unit=10, per_unit=8.0, cells=16)
    assert bound.error == chosen[1].error
    assert chosen[1].size == "medium"


def test_the_share_kept_is_that_of_geometric_units():
    """Against a million drawn units: sd of the share below 0.0006, five of them allowed."""
    drawn = np.random.default_rng(0).geometric(1 / 6.0, 1_000_000)
    for bound in (1, 3, 10):
        measured = np.minimum(drawn, bound).sum() / drawn.sum()
        assert retained_share(bound, 6.0) == pytest.approx(measured, abs=0.003)


@pytest.mark.slow
def test_bounds_trade_noise_for_records():
    rows = expected_by_bound(DOMAIN, "privtree", 1.0, 100_000, 8.0)
    shares = [row.kept for row in rows]
    assert shares == sorted(shares)
    assert shares[-1] > 0.999
    best = min(rows, key=lambda row: row.error)
    assert 1 < best.max_per_unit < rows[-1].max_per_unit


def test_with_a_prior_records_lie_as_it_says_and_the_best_case_is_better():
    """Counts of the half with three quarters of the prior, and errors with and without it."""
    random = np.random.default_rng(2)
    places = random.random((8_000, 2)) ** [2, 1]
    low, high = np.array(DOMAIN.lower), np.array(DOMAIN.upper)
    public = prior(low + places * (high - low), DOMAIN)
    quarter = public.sample(40_000, np.random.default_rng(1)) >> np.uint64(2 * DOMAIN.bits - 1)
    # P(x² < ½) = .707; four standard errors of 40,000 draws and of the prior's 8,000.
    assert (quarter == 0).mean() == pytest.approx(0.707, abs=0.025)
    rows = rows_of(DOMAIN, "ladder_tree", 0.1, 20_000, prior=public)
    small = rows[0]
    assert small.at_best is not None
    assert small.at_best < small.error
    assert rows_of(DOMAIN, "ugrid", 1.0, 2_000, cells=16)[0].at_best is None
