"""Flows between areas: partition, exact loss with pruning by enumeration, coverage, room."""

import math
from itertools import product

import numpy as np
import pytest

import dpviz
from dpviz.errors import ParameterError, PrivacyError, ReleaseError
from dpviz.evaluation.area_audit import square
from dpviz.evaluation.audit import audit
from dpviz.methods.flows import pairs
from dpviz.methods.flows.pairs import PairCounts, exact_counts
from dpviz.private.budget import Budget
from dpviz.private.flows import FlowData, exact_flows
from dpviz.private.mechanisms.sources import SimulatedNoise
from dpviz.releases.axis import Axis
from dpviz.roads.steps import Steps
from tests.methods.test_areas import SQUARE, Scripted, grid, halves
from tests.trees.leaves import families

FLOWS = dpviz.Flows(grid(), square())
"""From 36 wards in two districts to four quarters in two halves of the same square."""


def commuters(n=3_000, seed=0):
    """Trips begin in one of two districts, most in few wards."""
    random = np.random.default_rng(seed)
    ends = np.column_stack([random.zipf(1.5, n) % 18, random.zipf(2, n) % 4])
    return FlowData("commuters", FLOWS, np.column_stack([np.zeros(n, int), ends]), public=True)


def exact(release, data):
    nodes, (cells, counts) = release.nodes, exact_flows(data)
    low, high = nodes.lo[:, None], nodes.hi[:, None]
    inside = ((cells[:, 1:] >= low) & (cells[:, 1:] < high)).all(axis=2)
    return inside @ counts


@pytest.mark.parametrize("name", ["pairs", "all-pairs"])
def test_children_partition_their_parents_and_add_up_to_the_last_digit(name):
    for seed in range(3):
        release = dpviz.build(commuters(), name, 0.5, seed=seed)
        assert release.nodes.is_partition()
        for row, children in families(release.nodes.parent):
            assert math.fsum(release.nodes.count[children]) == release.nodes.count[row]


def test_without_noise_pairs_and_sums_are_exact_and_empty_pairs_are_not_divided():
    data = commuters()
    release = dpviz.build(data, epsilon=1e7, seed=0)
    assert release.nodes.count.tolist() == exact(release, data).tolist()
    assert len(release.nodes) < len(dpviz.build(data, "all-pairs", 1e7, seed=0).nodes)
    table, (cells, counts) = release.table(), exact_flows(data)
    assert (table["count"] == table["whole"]).all()
    outs = table[(table["margin"] == "destinations") & (table["level"] == FLOWS.levels[-1])]
    assert outs["count"].tolist() == np.bincount(cells[:, 1], counts, FLOWS.shape[0]).tolist()
    ins = table[(table["margin"] == "origins") & (table["level"] == FLOWS.levels[-1])]
    assert ins["count"].tolist() == np.bincount(cells[:, 2], counts, FLOWS.shape[1]).tolist()
    assert table["count"].iloc[-1] == release.count([(None, None)]).count[0] == 3_000


def test_answers_of_pairs_are_those_of_the_table():
    release = dpviz.build(commuters(), epsilon=1.0, seed=1)
    table = release.table(FLOWS.levels[-1])
    asked = table[table["margin"] != "origins and destinations"]
    names = [
        tuple(None if each == "all" else each for each in pair)
        for pair in zip(asked["origin"], asked["destination"], strict=True)
    ]
    answers = release.count(names)
    np.testing.assert_allclose(answers.count, asked["count"], atol=1e-9)
    np.testing.assert_allclose(answers.noise_sd, asked["noise_sd"])
    pairs = asked[asked["margin"] == ""]
    parts = release.table(None, margins=False)["whole"]
    assert (pairs["whole"] >= 0).all()
    assert parts.sum() == release.table()["whole"].iloc[-1]


def test_exact_counts_are_those_of_a_naive_count():
    cells, counts = exact_flows(commuters())
    for level, ends in enumerate(([[0], [0]], [[1, 2, 1], [2, 1, 1]], [[9, 3], [3, 6]])):
        one, two = FLOWS.depths[level]
        asked = tuple(np.array(each) for each in ends)
        naive = [
            counts[
                (FLOWS.origins.ancestors(one)[cells[:, 1]] == origin)
                & (FLOWS.destinations.ancestors(two)[cells[:, 2]] == destination)
            ].sum()
            for origin, destination in zip(*asked, strict=True)
        ]
        assert exact_counts(FLOWS, level, asked, 1, cells, counts).tolist() == [naive]


@pytest.mark.slow
@pytest.mark.parametrize("growth", [1.0, 2.0])
def test_the_exact_loss_with_pruning_is_epsilon_by_enumeration(growth):
    """One pair of wholes and four pairs of halves, divided from a noisy count of 5 on.

    Every outcome with one record more comes from other draws without it, whose probability differs
    by the rates of the counts that it moves and that are measured: the whole loss, and it is ε.
    """
    areas = dpviz.Areas(SQUARE, ("whole", "half"), ("0", "1", "2"), np.array([-1, 0, 0]), halves())
    flows, epsilon = dpviz.Flows(areas), 0.7
    method = PairCounts(growth=growth, threshold=4.9 * epsilon / (1 + growth))
    losses, sizes = set(), set()
    cells = np.array([[0, 0, 0], [0, 0, 1]])

    def built(counts, draws):
        noise = Scripted(draws)
        nodes, counts = method.build(flows, 1, cells, np.array(counts), Budget(epsilon), noise)
        return (len(nodes), *counts[0].tolist()), np.array(noise.rates)

    for draws in product(range(-2, 3), range(-1, 2), range(-1, 2), range(-1, 2), range(-1, 2)):
        outcome, rates = built([4, 1], draws)
        hidden = np.array(draws) - [1, 1, 0, 0, 0]
        assert built([5, 1], hidden.tolist())[0] == outcome
        used = len(rates)
        losses.add(round(float(rates @ (np.abs(hidden) - np.abs(draws))[:used]), 12))
        sizes.add(outcome[0])
    assert sizes == {1, 5}
    assert max(losses) == pytest.approx(epsilon, abs=1e-12)
    assert min(losses) == pytest.approx(-epsilon, abs=1e-12)
    assert max(losses) <= epsilon


def test_one_record_more_moves_one_pair_of_each_level_by_one():
    """Children add up in each part, for any pairs."""
    cells = np.random.default_rng(0).integers(0, 4, (50, 3)) % [2, 36, 4]
    one, two = (FlowData("x", FLOWS, rows, public=True) for rows in (cells, cells[1:]))
    for level in range(len(FLOWS.depths)):
        origin = destination = np.array([-1])
        for above in range(level + 1):
            _, origin, destination = FLOWS.below(above, origin, destination)
        more, less = (
            exact_counts(FLOWS, level, (origin, destination), 2, *exact_flows(data))
            for data in (one, two)
        )
        assert np.abs(more - less).sum() == 1


class Careless(PairCounts):
    """Measures every level at nine times all that there is."""

    name = "careless pairs"

    def build(self, flows, parts, cells, counts, budget, noise):
        return super().build(flows, parts, cells, counts, Budget(9 * budget.epsilon), noise)


@pytest.mark.slow
def test_an_audit_refutes_a_method_that_overspends_and_not_ours():
    """Both from 400 runs; either goes wrong with probability below 1e-4, the seed is fixed."""
    assert not audit(PairCounts(), 1.0, trials=400).violates
    assert audit(Careless(), 1.0, trials=400).violates


def test_intervals_cover():
    """95 % intervals of all pairs, sums and the total in 60 releases, measured pairs or not.

    Nodes of one release share noise, so that 92 % is far below what chance gives.
    """
    data, hits, totals = commuters(), [], []
    for seed in range(60):
        release = dpviz.build(data, epsilon=1.0, seed=seed)
        answers, truth = release.answers, exact(release, data)
        hits += ((answers.low <= truth) & (truth <= answers.high)).tolist()
        whole = release.count([(None, None)])
        totals.append(whole.low[0] <= 3_000 <= whole.high[0])
    assert np.mean(hits) > 0.92
    assert sum(totals) >= 50  # of 60 intervals at 95 %: false alarm below 1e-3


def test_the_largest_pairs_are_divided_where_there_is_room_for_some(monkeypatch):
    monkeypatch.setattr(pairs, "MAX_COUNTS", 1 + 4 + 2 * 18 * 2)
    release = dpviz.build(commuters(), epsilon=10.0, seed=0)
    nodes = release.nodes
    divided, whole = nodes.n_children[1:5] > 0, nodes.count[1:5]
    assert divided.sum() == 2
    assert whole[divided].min() > whole[~divided].max()


def test_flows_that_do_not_fit_are_one_line(monkeypatch):
    data = commuters()
    cases = [
        ({"method": "areas"}, "works on areas"),
        ({"areas": grid()}, "areas= is for points, the data are flows"),
        ({"workload": "hot"}, "has no parameter 'workload'"),
        ({"growth": 0.0}, "give a number from 0.1 to 100"),
    ]
    for options, line in cases:
        with pytest.raises(ParameterError, match=line):
            dpviz.build(data, **options)
    monkeypatch.setattr(pairs, "MIN_SHARE", 1e-3)
    with pytest.raises(
        ParameterError, match="growth=100 over 3 levels leaves almost no epsilon for one"
    ):
        dpviz.build(data, growth=100.0)
    monkeypatch.setattr(pairs, "MAX_COUNTS", 100)
    with pytest.raises(ParameterError, match=r"149 pairs of areas .* use method pairs"):
        dpviz.build(data, "all-pairs")
    other = dpviz.hexagons(3, dpviz.Domain((0.0, 0.0), (1.0, 1.0), crs="EPSG:3857"))
    with pytest.raises(dpviz.DpvizError, match="different coordinate systems"):
        dpviz.Flows(grid(), other)
    with pytest.raises(PrivacyError):
        exact_flows(FlowData("secret", FLOWS, np.zeros((1, 3), dtype=int)))


@pytest.mark.parametrize("query", [[0, 0, 1, 1], "1", 5, [("1",)], [("1", 2)]], ids=str)
def test_questions_that_are_not_pairs_of_names_are_refused(query):
    with pytest.raises(dpviz.DpvizError, match="is not a pair: give"):
        dpviz.build(commuters(), seed=0).count(query)


def test_flows_have_no_synthetic_points():
    """Lattice positions of pairs were taken for places: numbers without a meaning."""
    release = dpviz.build(commuters(), epsilon=1.0, seed=1)
    with pytest.raises(ReleaseError, match="a release of flows cannot be sampled"):
        release.sample(5)


def test_two_pairs_are_compared_and_steps_make_a_timeline(tmp_path):
    random = np.random.default_rng(0)
    cells = np.column_stack([random.integers(0, 3, 900), random.integers(0, 4, (900, 2))])
    steps = Steps.of("at", "2024-01-01,2024-01-04", "1d")
    data = FlowData("days", dpviz.Flows(square()), cells, by=Axis(steps=steps), public=True)
    release = dpviz.build(data, epsilon=1e7, seed=0)
    days = np.bincount(cells[:, 0]).tolist()
    assert release.timeline().count.tolist() == days
    one, other = (np.count_nonzero((cells[:, 1:] == pair).all(axis=1)) for pair in ((0, 1), (2, 3)))
    assert release.compare(("sw", "nw"), ("se", "ne")).value == one - other
    again = dpviz.read(release.save(tmp_path / "days.parquet"))
    assert again.to_arrow().equals(release.to_arrow())
    assert again.during("2024-01-02,2024-01-03").count([(None, None)]).count.tolist() == days[1:2]


def test_pairs_that_do_not_divide_their_parents_are_refused():
    release = dpviz.build(commuters(), epsilon=1.0, seed=0)
    nodes = release.nodes
    missing = nodes.select(np.arange(len(nodes)) < len(nodes) - 1)
    with pytest.raises(dpviz.DpvizError, match=r"pairs of level ward to quarter: expected"):
        FLOWS.check(missing)
    wide = dpviz.Flows(grid(40, ("country", "district", "ward")))
    with pytest.raises(dpviz.DpvizError, match="not pairs of areas"):
        wide.check(nodes.select(nodes.level == 0))


def test_noise_of_many_parts_is_drawn_for_the_same_pairs():
    cells = np.random.default_rng(0).integers(0, 4, (500, 3))
    nodes, counts = PairCounts().build(
        FLOWS, 4, *exact_flows(FlowData("x", FLOWS, cells, public=True)), Budget(1e6),
        SimulatedNoise(0),
    )  # fmt: skip
    assert counts.shape == (4, len(nodes))
    assert counts[:, nodes.level == 0].ravel().tolist() == np.bincount(cells[:, 0]).tolist()
