"""The theorem of the ladder tree: exact path sums, and the loss of its looks by enumeration."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.domain import Domain
from dpviz.methods import method
from dpviz.methods.points import ladder_tree
from dpviz.methods.points.hot_grid import in_full_cells
from dpviz.methods.points.ladder_tree import LadderTree, unspent
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.trees.lattice import grid_edges
from tests.methods.cases import any_tree, path_totals, refinement, two_sided
from tests.strategies import indexes

SQUARE = Domain((0.0, 0.0), (1.0, 1.0))
REACH = 30
"""Noise beyond is left out of the enumeration: under e^-36 at the rates used."""


@pytest.mark.slow
@any_tree("ladder_tree")
def test_prices_of_every_path_add_up_to_at_most_epsilon(index, epsilon, chosen, seed):
    """Sums in fractions, without a tolerance, along every node's transcript."""
    share = Budget(epsilon).spend(epsilon, "test", theorem="test")
    tree, _, paid, _ = chosen.grow(index, share, SimulatedNoise(seed))
    totals = path_totals(tree.parent, paid)
    assert max(totals) <= Fraction(epsilon)
    # Each path spends its whole budget, except for amounts too small to measure with.
    assert min(totals) > 0.999 * epsilon - 1e-8


@settings(max_examples=50)
@given(
    index=indexes(dims=2),
    level=st.integers(0, 3),
    full=st.integers(1, 60),
    seed=st.integers(0, 2**32),
)
def test_a_record_moves_what_a_hot_grid_asks_by_at_most_two(index, level, full, seed):
    """The sensitivity that each question pays for; and what it counts."""
    cells = index.histogram([grid_edges(index.domain.side, 2**level)] * 2)
    expected = sum(w if w >= full else w**2 // full for w in cells.ravel().tolist())
    assert in_full_cells(index, level, full) == expected
    place = np.random.default_rng(seed).integers(0, index.domain.side, (1, index.domain.dims))
    for others in (1, full - 1, full):  # at a place that holds this many records
        many = index.merged(PointIndex.from_cells(index.domain, place, [others]))
        more = many.merged(PointIndex.from_cells(index.domain, place))
        moved = in_full_cells(more, level, full) - in_full_cells(many, level, full)
        assert 0 <= moved <= 2


@given(st.floats(1e-9, 1e4), st.floats(0, 1))
def test_the_remaining_budget_is_rounded_down(left, part):
    rate = part * left
    rest = float(unspent(np.array([left]), np.array([rate]))[0])
    assert Fraction(rest) >= 0
    assert Fraction(rest) + Fraction(rate) <= Fraction(left)


def chain(rates):
    """P(N_k = x | N_{k+1} = y) as matrices over noise from −REACH to REACH, coarse to fine."""
    at = np.arange(-REACH, REACH + 1)
    shift = at[:, None] - at
    chances = []
    for rate, finer in itertools.pairwise(rates):
        chances.append(refinement(rate, finer, 2 * REACH)[2 * REACH + shift])
    return chances


@pytest.mark.slow
@pytest.mark.parametrize(
    ("looks", "numbers"),
    [(2, {}), (2, {"DOUBT_BAND": 4.0, "RATE_GROWTH": 1.5}), (1, {"DOUBT_BAND": 9.0})],
)
def test_repeated_looks_lose_at_most_their_price(looks, numbers, monkeypatch):
    """Transcripts of one node: N₀ … N_k, and the count of rate B where it stops.

    One more record moves the log probability of a transcript by at most the rate of its last look,
    or by B at a stop. The finer counts, which are not published, are summed out.
    """
    for name, number in numbers.items():
        monkeypatch.setattr(ladder_tree, name, number)
    chosen = LadderTree(first=0.3, looks=looks)
    left = np.array([4.0])
    rates = chosen.look_rates(chosen.first * left, left)
    at = np.arange(-REACH, REACH + 1)
    steps = chain(rates[:, 0])
    rungs = len(rates)
    # Joint distribution of all nested counts, computed from the finest one; axes: coarsest first.
    noise = two_sided(rates[-1, 0], at)
    joint = noise
    for step in reversed(steps):
        joint = step.reshape(*step.shape, *[1] * (joint.ndim - 1)) * joint[None]
    window = np.arange(-12, 13) + REACH  # the part of the transcripts that is compared
    worst = {"goes on": -math.inf, "stops": -math.inf}
    visited = set()
    for seen in range(rungs - 1):
        # P(N_0 … N_seen): sum over the finer counts.
        marginal = joint.sum(axis=tuple(range(seen + 1, rungs)))
        values = np.array(list(itertools.product(window.tolist(), repeat=seen + 1))).T
        counts = at[values[[*range(seen + 1), *[seen] * (rungs - seen - 1)]]]
        rung, weight, limit = chosen.look(counts, np.repeat(rates, counts.shape[1], axis=1))
        ends_here = rung == seen  # otherwise it looks again, or stopped earlier
        visited |= set(rung[ends_here].tolist())
        fine = joint.sum(axis=tuple(range(seen + 1, rungs - 1)))
        stops = weight <= limit
        for what, chosen_rows, law, price in (
            ("goes on", ends_here & ~stops, marginal, rates[seen, 0]),
            ("stops", ends_here & stops, fine, rates[-1, 0]),
        ):
            rows = tuple(values[:, chosen_rows])
            before = tuple(values[:, chosen_rows] - 1)  # the same noisy counts with one record more
            p, q = law[rows], law[before]
            if what == "stops":
                p, q = p[:, window], q[:, window - 1]
            if p.size:
                worst[what] = max(worst[what], np.abs(np.log(p / q)).max() - price)
    assert len(visited) > 1  # some cases were uncertain and looked again
    # Tolerances: probability beyond REACH, and rounding. The losses equal the prices.
    assert all(-1e-9 < each < 1e-9 for each in worst.values())


def test_looking_again_depends_on_what_was_seen_only():
    chosen = method("ladder_tree")
    random = np.random.default_rng(4)
    n = 3000
    left = random.uniform(0.01, 2, n)
    rates = chosen.look_rates(random.uniform(0.01, 1, n) * left, left)
    noisy = np.cumsum(random.integers(-40, 41, (len(rates), n)), axis=0) + 60
    rung, weight, limit = chosen.look(noisy, rates)
    hidden = np.arange(len(rates))[:, None] > rung
    other = np.where(hidden, random.integers(-1000, 1000, noisy.shape), noisy)
    again = chosen.look(other, rates)
    for first, second in zip((rung, weight, limit), again, strict=True):
        np.testing.assert_array_equal(first, second)
    assert set(rung.tolist()) == {0, 1, 2, 3}


def test_rates_of_the_looks_rise_to_what_is_left(monkeypatch):
    monkeypatch.setattr(ladder_tree, "RATE_GROWTH", 3.0)
    monkeypatch.setattr(ladder_tree, "MAX_LOOK_SHARE", 0.5)
    chosen = LadderTree()
    left = np.array([1.0, 1.0, 1.0])
    rates = chosen.look_rates(np.array([0.01, 0.3, 1.0]), left)
    assert (np.diff(rates, axis=0) >= 0).all()
    assert rates[:, 0] == pytest.approx([0.01, 0.03, 0.09, 0.27, 1.0])
    assert rates[:, 1] == pytest.approx([0.3, 0.5, 0.5, 0.5, 1.0])
    assert rates[:, 2].tolist() == [1.0] * 5


@pytest.mark.slow
def test_few_records_do_not_end_in_one_box():
    """A root that could stop would, in one of five of these: its first look is that coarse."""
    index = PointIndex.from_points(SQUARE, np.random.default_rng(0).random((50, 2)) / 9)
    for seed in range(40):
        nodes = method("ladder_tree").build(index, Budget(0.05), SimulatedNoise(seed))
        assert len(nodes) >= 5
