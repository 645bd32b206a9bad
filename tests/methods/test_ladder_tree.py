"""The theorem of the ladder tree: exact path sums, and the loss of its looks by enumeration."""

import itertools
import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.domain import Domain
from dpviz.evaluation.truth import exact_counts
from dpviz.methods import method
from dpviz.methods.points import ladder_tree
from dpviz.methods.points.hot_grid import in_full_cells
from dpviz.methods.points.ladder_tree import Ladder, LadderTree, unspent, within_parts
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.queries.workloads import workload
from dpviz.trees.decomposition import MAX_NODES
from dpviz.trees.lattice import grid_edges
from tests.methods.cases import any_tree, handle, path_totals, priced, refinement, two_sided
from tests.strategies import indexes

SQUARE = Domain((0.0, 0.0), (1.0, 1.0))
REACH = 30
"""Noise beyond is left out of the enumeration: under e^-36 at the rates used."""


@settings(max_examples=60)
@any_tree("ladder_tree")
def test_prices_of_every_path_add_up_to_at_most_epsilon(index, epsilon, chosen, seed):
    """In fractions, without a tolerance: every node's transcript, from the root to a leaf."""
    share = Budget(epsilon).spend(epsilon, "test", theorem="test")
    tree, _, paid, _ = chosen.grown(index, share, SimulatedNoise(seed))
    totals = path_totals(tree.parent, paid)
    assert max(totals) <= Fraction(epsilon)
    # Nothing is left unspent on any path, but what is too little to measure anything with.
    assert min(totals) > 0.999 * epsilon - 1e-8


@settings(max_examples=30)
@given(
    index=indexes(),
    epsilon=st.floats(0.01, 1e4),
    even=st.floats(0, 0.1),
    many=st.sampled_from([1e-9, 8000.0]),
    share=st.sampled_from([-1e9, 0.55]),
    cap=st.integers(1, 12),
    seed=st.integers(0, 2**32),
)
def test_the_question_and_every_path_add_up_to_at_most_epsilon(
    index, epsilon, even, many, share, cap, seed
):
    """In fractions, without a tolerance; with thresholds that nearly every answer passes, too."""
    chosen = LadderTree(max_depth=cap, even=even)
    with (
        patch.object(ladder_tree, "MANY_RECORDS", many),
        patch.object(ladder_tree, "EVEN", share),
        priced(ladder_tree, LadderTree) as (drawn, paths),
    ):
        chosen.build(index, Budget(epsilon), SimulatedNoise(seed))
    [(price, dearest)] = paths
    assert dearest <= price
    assert [draw[1:] for draw in drawn] == len(drawn) * [(1, 1)]
    assert len(drawn) <= (2 if index.domain.dims == 2 and even > 0 else 0)
    assert sum(price for price, *_ in drawn) + dearest <= Fraction(epsilon)


def cut_to_parts(held, part):
    """What a question of the ladder tree counts, cell by cell."""
    return sum(min(w, part) for w in held)


def full_and_squares(held, full):
    """And one of the hot grid."""
    return sum(w if w >= full else w**2 // full for w in held)


@pytest.mark.parametrize(
    ("question", "by_cells", "most"),
    [(within_parts, cut_to_parts, 1), (in_full_cells, full_and_squares, 2)],
)
@settings(max_examples=50)
@given(
    index=indexes(dims=2),
    level=st.integers(0, 3),
    part=st.integers(1, 60),
    seed=st.integers(0, 2**32),
)
def test_a_record_moves_what_is_asked_by_at_most_its_sensitivity(
    index, level, part, seed, question, by_cells, most
):
    """The sensitivity that each question pays for; and what it counts."""
    cells = index.histogram([grid_edges(index.domain.side, 2**level)] * 2)
    assert question(index, level, part) == by_cells(cells.ravel().tolist(), part)
    place = np.random.default_rng(seed).integers(0, index.domain.side, (1, index.domain.dims))
    for others in (1, part - 1, part):  # at a place with so many
        many = index.merged(PointIndex.from_cells(index.domain, place, [others]))
        more = many.merged(PointIndex.from_cells(index.domain, place))
        assert 0 <= question(more, level, part) - question(many, level, part) <= most


def test_a_tree_begins_with_no_more_cells_than_the_public_cap_allows():
    """What was paid for is released, however many records times ε there are."""
    index = handle(np.random.default_rng(2).random((2000, 2)), 2)._index
    asked = method("ladder_tree", even=0.01)
    level = asked.even_level(index, Budget(3e9), SimulatedNoise(0), 2000.0)
    assert sum(4**each for each in range(level + 1)) <= MAX_NODES < 4 ** (level + 1)


def test_what_is_asked_of_very_many_records_has_a_price_that_can_be_paid():
    """At a price of 1e-15 no count could be measured, and what was paid so far would be lost."""
    budget = Budget(1.0)
    asked = method("ladder_tree", even=0.01)
    assert (
        asked.even_level(handle(np.zeros((9, 2)), 2)._index, budget, SimulatedNoise(0), 2e17) == 0
    )
    assert budget.left == 1.0 - 2.0**-30


def test_where_records_lie_evenly_a_tree_begins_with_a_grid():
    """Elsewhere, of few records, and where nobody asks, it begins with the root."""
    even = np.random.default_rng(1).random((40_000, 2))
    names = ("even", "towns", "few", "not asked")
    measured = {}

    def finish(self, tree, noisy, variance, doubts):
        measured[name] = np.isfinite(variance), tree.depth
        return Ladder.finish(self, tree, noisy, variance, doubts)

    with patch.object(LadderTree, "finish", finish):
        for name, points in zip(names, (even, even**3, even[:1000], even), strict=True):
            asked = 0.0 if name == "not asked" else 0.01
            release = dpviz.build(handle(points, 2), "ladder_tree", 1.0, seed=1, even=asked)
            assert release.header.parameters["even"] == asked
    seen, depth = measured["even"]
    level = round(1 + math.log2(40_000) / 4)
    assert level == 5
    assert not seen[depth < level].any()
    assert seen[depth == level].all()
    assert (depth == level).sum() == 4**level
    for name in names[1:]:
        seen, depth = measured[name]
        assert seen[0]


def test_an_even_tree_is_better_for_rectangles_anywhere():
    """Sixteen releases with each had 0.71 of the error, standard deviations of 4 % of it."""
    data = handle(np.random.default_rng(1).random((250_000, 2)), 2)
    rects = workload(data.domain, "medium", 300).rects
    exact = exact_counts(data, rects)
    error = {0.0: 0.0, 0.01: 0.0}
    for asked, seed in itertools.product(error, range(2)):
        release = dpviz.build(data, "ladder_tree", 0.8, seed=seed, even=asked)
        error[asked] += np.abs(release.count(rects).count - exact).mean()
    assert error[0.01] < 0.85 * error[0.0]


@given(st.floats(1e-9, 1e4), st.floats(0, 1))
def test_what_is_left_is_rounded_down(left, part):
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


@pytest.mark.parametrize(
    ("looks", "numbers"), [(2, {}), (2, {"BAND": 4.0, "UP": 1.5}), (1, {"BAND": 9.0})]
)
def test_the_loss_of_looking_by_exact_enumeration(looks, numbers, monkeypatch):
    """Every transcript of one node: N₀ … N_k, and the count of rate B where it stops.

    One more record moves the log probability of a transcript by at most the rate of its last look,
    or by B at a stop. The finer counts, which nobody sees, are summed out. Thresholds are a wild
    function of the first look.
    """
    for name, number in numbers.items():
        monkeypatch.setattr(ladder_tree, name, number)
    chosen = LadderTree(first=0.3, looks=looks)
    left = np.array([4.0])
    rates = chosen.rungs(chosen.first * left, left)
    at = np.arange(-REACH, REACH + 1)
    steps = chain(rates[:, 0])
    rungs = len(rates)
    # Joint law of all nested counts, by the finest one; axes: coarsest first.
    noise = two_sided(rates[-1, 0], at)
    joint = noise
    for step in reversed(steps):
        joint = step.reshape(*step.shape, *[1] * (joint.ndim - 1)) * joint[None]
    window = np.arange(-12, 13) + REACH  # transcripts that are compared: what is seen of them
    worst = {"goes on": -math.inf, "stops": -math.inf}
    visited = set()
    for seen in range(rungs - 1):
        # P(N_0 … N_seen): sum over the finer ones.
        marginal = joint.sum(axis=tuple(range(seen + 1, rungs)))
        values = np.array(list(itertools.product(window.tolist(), repeat=seen + 1))).T
        counts = at[values[[*range(seen + 1), *[seen] * (rungs - seen - 1)]]]
        rung, (weight, few) = np.zeros(counts.shape[1], np.int64), np.zeros((2, counts.shape[1]))
        for first in np.unique(counts[0]):
            same, times = counts[0] == first, 1.0 + 0.5 * (7 * first % 4)
            columns = chosen.look(counts[:, same], np.repeat(rates, same.sum(), axis=1), times)
            rung[same], weight[same], few[same] = columns
        ends_here = rung == seen  # else it looks further, or stopped looking before
        visited |= set(rung[ends_here].tolist())
        fine = joint.sum(axis=tuple(range(seen + 1, rungs - 1)))
        stops = weight <= few
        for what, chosen_rows, law, price in (
            ("goes on", ends_here & ~stops, marginal, rates[seen, 0]),
            ("stops", ends_here & stops, fine, rates[-1, 0]),
        ):
            rows = tuple(values[:, chosen_rows])
            before = tuple(values[:, chosen_rows] - 1)  # one record more, the same numbers
            p, q = law[rows], law[before]
            if what == "stops":
                p, q = p[:, window], q[:, window - 1]
            if p.size:
                worst[what] = max(worst[what], np.abs(np.log(p / q)).max() - price)
    assert len(visited) > 1  # it was in doubt, and looked again
    # The laws themselves: what is beyond REACH, and rounding. The prices are reached.
    assert all(-1e-9 < each < 1e-9 for each in worst.values())


def test_looking_again_depends_on_what_was_seen_only():
    chosen = method("ladder_tree")
    random = np.random.default_rng(4)
    n = 3000
    left = random.uniform(0.01, 2, n)
    rates = chosen.rungs(random.uniform(0.01, 1, n) * left, left)
    noisy = np.cumsum(random.integers(-40, 41, (len(rates), n)), axis=0) + 60
    rung, weight, few = chosen.look(noisy, rates)
    hidden = np.arange(len(rates))[:, None] > rung
    other = np.where(hidden, random.integers(-1000, 1000, noisy.shape), noisy)
    again = chosen.look(other, rates)
    for first, second in zip((rung, weight, few), again, strict=True):
        np.testing.assert_array_equal(first, second)
    assert set(rung.tolist()) == {0, 1, 2, 3}


def test_rates_of_the_looks_rise_to_what_is_left(monkeypatch):
    monkeypatch.setattr(ladder_tree, "UP", 3.0)
    monkeypatch.setattr(ladder_tree, "TOP", 0.5)
    chosen = LadderTree()
    left = np.array([1.0, 1.0, 1.0])
    rates = chosen.rungs(np.array([0.01, 0.3, 1.0]), left)
    assert (np.diff(rates, axis=0) >= 0).all()
    assert rates[:, 0] == pytest.approx([0.01, 0.03, 0.09, 0.27, 1.0])
    assert rates[:, 1] == pytest.approx([0.3, 0.5, 0.5, 0.5, 1.0])
    assert rates[:, 2].tolist() == [1.0] * 5


def test_few_records_do_not_end_in_one_box():
    """A root that could stop would, in one of five of these: its first look is that coarse."""
    index = PointIndex.from_points(SQUARE, np.random.default_rng(0).random((50, 2)) / 9)
    for seed in range(40):
        nodes = method("ladder_tree").build(index, Budget(0.05), SimulatedNoise(seed))
        assert len(nodes) >= 5
