"""Series of releases: the weights of their nodes, against the theory, brute force and runs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpviz.releases.series import MONDAY, SHARES, finished_nodes, prices, weights
from dpviz.trees.consistency import geometric_variance, least_squares

YEAR = 365
START = MONDAY + 28 * 700
"""A first day on which four weeks begin."""


def year(days=YEAR):
    """Nodes of finished days at ε = 1, and their variances."""
    nodes = np.array(finished_nodes(START, START + days))
    price = prices(1.0)
    return nodes, geometric_variance([1 / price[size] for size in nodes[:, 1].tolist()])


def windows(size):
    first = START + np.arange(YEAR - size + 1)
    return np.c_[first, first + size]


def of_today(day):
    """Weights, in all nodes of the year, of the running total as known on a day."""
    nodes, variance = year()
    known = nodes.sum(axis=1) <= START + day
    made = np.zeros(len(nodes))
    made[known] = weights(nodes[known], variance[known], np.array([[START, START + day]]))[:, 0]
    return made


@pytest.fixture(scope="module")
def totals():
    """Weights of the running totals of a year, each as known on its own day."""
    return np.stack([of_today(day) for day in range(1, YEAR + 1)], axis=1)


def errors(made):
    """Root mean squared error over windows: by exact variances, and in 1,000 simulated years.

    Noise alone: a difference of geometric draws has the discrete Laplace distribution.
    """
    nodes, variance = year()
    price = prices(1.0)
    lost = np.array([1 - np.exp(-price[size]) for size in nodes[:, 1].tolist()])
    random = np.random.default_rng(0)
    draws = random.geometric(lost, (2, 1_000, len(lost)))
    noise = (draws[0] - draws[1]) @ made
    return np.sqrt((made**2 * variance[:, None]).sum(axis=0).mean()), np.sqrt((noise**2).mean())


def test_running_totals_of_a_year_have_the_stated_error(totals):
    """T16: nodes of 1, 7 and 28 days at ε = 1."""
    exact, simulated = errors(totals)
    assert exact == pytest.approx(12.5, rel=0.02)
    assert simulated == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize(("size", "stated"), [(1, 4.05), (7, 7.35), (28, 8.59)])
def test_windows_of_a_year_have_the_stated_error(size, stated):
    exact, simulated = errors(weights(*year(), windows(size)))
    assert exact == pytest.approx(stated, rel=0.02)
    assert simulated == pytest.approx(exact, rel=0.05)


def test_shares_are_cube_roots_of_the_nodes_in_a_running_total():
    day = np.arange(1, YEAR + 1)
    mean = {1: (day % 7).mean(), 7: (day % 28 // 7).mean(), 28: (day // 28).mean()}
    roots = {size: count ** (1 / 3) for size, count in mean.items()}
    for size, root in roots.items():
        assert float(SHARES[size]) == pytest.approx(root / sum(roots.values()), abs=1e-3)


def test_weights_are_those_of_least_squares_on_the_tree_of_four_weeks():
    """For one complete block the linear-time algorithm gives the same estimates and variances."""
    nodes = np.array(
        [(4, 28), *((4 + 7 * w, 7) for w in range(4)), *((4 + d, 1) for d in range(28))]
    )
    variance = np.random.default_rng(1).uniform(1, 9, 33)
    parent = np.r_[-1, np.zeros(4, int), 1 + np.arange(28) // 7]
    noisy = np.random.default_rng(2).normal(0, 9, 33)
    estimate, spread = least_squares(parent, noisy, variance)
    made = weights(nodes, variance, np.c_[nodes[:, 0], nodes.sum(axis=1)])
    assert_allclose(made.T @ noisy, estimate, atol=1e-9)
    assert_allclose((made**2).T @ variance, spread, atol=1e-9)


def test_a_lost_day_follows_from_its_week_and_two_lost_days_do_not():
    nodes, variance = year(14)
    asked = np.array([[START + 2, START + 3], [START, START + 7], [START, START + 14]])
    one = nodes[:, 1] != 1
    one |= nodes[:, 0] != START + 2
    assert not np.isnan(weights(nodes[one], variance[one], asked)).any()
    two = one & ((nodes[:, 1] != 1) | (nodes[:, 0] != START + 4))
    known = ~np.isnan(weights(nodes[two], variance[two], asked)).any(axis=0)
    assert known.tolist() == [False, True, True]


def test_final_sums_are_of_the_largest_nodes_that_end_in_time():
    nodes, variance = year(60)
    made = weights(nodes, variance, np.array([[START, START + 38]]), final=True)[:, 0]
    used = {tuple(node) for node in nodes[made == 1].tolist()}
    days = {(START + 35 + day, 1) for day in range(3)}
    assert used == {(START, 28), (START + 28, 7), *days}
    assert made.sum() == 5
