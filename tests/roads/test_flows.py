"""Flows of streets: what is measured, what it costs, and that it beats single edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpviz.build import build
from dpviz.evaluation.truth import exact_visits
from dpviz.methods.roads import flows
from dpviz.methods.roads.base import RoadTask
from dpviz.methods.roads.flows import USUAL_LOSS, factors, shrunk_loss
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.private.roads import RoadData
from dpviz.roads.decompose import Subdomains, chains
from dpviz.roads.generate import clustered_workload, commuter_trips
from dpviz.roads.paths import Paths
from dpviz.roads.streets import street_costs, streets, use_classes
from dpviz.roads.tables import road_graph

from .conftest import grid


def bent(side, pieces):
    """A grid whose every street has ``pieces`` edges between two crossings."""
    blocks = grid(side)
    xy, ends = [*blocks.xy.tolist()], []
    for a, b in blocks.ends.tolist():
        inner = [len(xy) + part for part in range(pieces - 1)]
        share = np.arange(1, pieces)[:, None] / pieces
        xy += (blocks.xy[a] + share * (blocks.xy[b] - blocks.xy[a])).tolist()
        ends += list(zip([a, *inner], [*inner, b], strict=True))
    x, y = zip(*xy, strict=True)
    src, dst = zip(*ends, strict=True)
    return road_graph({"node": range(len(xy)), "x": x, "y": y}, {"src": src, "dst": dst})


def test_streets_end_where_more_than_two_edges_meet(odd):
    sizes = np.diff(chains(bent(4, 3)).start)
    corners = 4  # a place where two streets of the grid meet
    assert sorted(sizes.tolist()) == [3] * (24 - 2 * corners) + [6] * corners
    joined = chains(odd)
    assert sorted(joined.order.tolist()) == list(range(len(odd)))
    rows = np.split(odd.edge_id[joined.order], joined.start[1:-1])
    assert {frozenset(row.tolist()) for row in rows} == {
        frozenset(each) for each in (["ab1"], ["ab2"], ["bc"], ["cd", "da"], ["loop"])
    }


def test_costs_are_those_of_dense_matrices():
    """Noise and hidden steps of every query by matrices, one street of five edges and one alone."""
    domains = Subdomains(np.arange(6), np.array([0, 5, 6]))
    workload = Paths.of([[0, 1, 2], [2], [3, 4, 5], [0, 1, 2, 3, 4]])
    spread = np.full((5, 5), 1 / 5)
    steps = np.tril(np.ones((5, 5)))[:, 1:]  # counts of the steps along the street
    wanted = np.zeros(3)
    single = [[edge] for edge in range(5)]
    for row, weight in [(r, 1.0) for r in range(4)] + [(r, 1e-3) for r in range(4, 9)]:
        edges = [*workload.edge[workload.start[row] : workload.start[row + 1]]] if row < 4 else []
        edges = edges or single[row - 4]
        q = np.isin(np.arange(5), edges).astype(float)
        error = q - q @ spread
        wanted += weight * np.array([q @ q, (q.sum() / 5) ** 2, ((error @ steps) ** 2).sum()])
    costs = street_costs(domains, workload)
    sums = [costs.noise_per_edge[0], costs.noise_per_street[0], costs.spreading_error[0]]
    np.testing.assert_allclose(sums, wanted)
    assert costs.spreading_error[1] == 0
    assert costs.noise_per_edge[1] == costs.noise_per_street[1]
    assert costs.worth_merging(1.0, 0.0).tolist() == [True, False]
    assert costs.worth_merging(1.0, 1e9).tolist() == [False, False]


def test_a_street_is_one_node_or_one_for_each_edge():
    domains = Subdomains(np.array([2, 0, 1, 3]), np.array([0, 3, 4]))
    forest = streets(domains, np.array([True, False]))
    assert forest.totals(np.array([1, 10, 100, 1000])).tolist() == [111, 1000]
    forest = streets(domains, np.array([False, True]))
    assert forest.totals(np.array([1, 10, 100, 1000])).tolist() == [100, 1, 10, 1000]


def test_classes_share_the_uses_of_the_workload():
    workload = Paths.of([[0, 1, 2]] * 6 + [[3, 4]] * 9)
    classes = use_classes(workload, 6, 2)
    assert classes.tolist() == [1, 1, 1, 0, 0, 1]
    assert (use_classes(Paths.of([[0]]), 4, 3) == [2, 2, 2, 2]).all()


def test_a_factor_is_a_measured_loss_as_far_as_it_is_sure():
    lost, visits = np.array([200.0, 20.0, -9.0, 1e9]), np.array([1000.0, 1000.0, 500.0, 10.0])
    sharp, sure = factors(lost, 1e-6, visits)
    np.testing.assert_allclose(sharp, [1.2, 1.02, 1.0, 3.0], rtol=1e-6)
    assert sure.max() < 1e-3
    vague, unsure = factors(lost, 1e18, visits)
    assert unsure.min() > 0.99
    np.testing.assert_allclose(vague, 1 + shrunk_loss(np.maximum(lost, 0) / 1e9, unsure), rtol=1e-6)
    assert shrunk_loss(0.7, 1e9) == pytest.approx(USUAL_LOSS)
    assert shrunk_loss(0.7, 0.0) == 0.7


class Steady(SimulatedNoise):
    """Random words that depend on the call alone: earlier trips are cut alike beside one more."""

    def words(self, size):
        self.calls = getattr(self, "calls", 0) + 1
        random = np.random.default_rng(self.calls)
        return random.integers(0, 2**64 - 1, size, np.uint64, endpoint=True)


STREET = road_graph(
    {"node": range(7), "x": range(7), "y": [0] * 7}, {"src": range(6), "dst": range(1, 7)}
)
ANY = st.lists(st.integers(0, 5), min_size=1, max_size=9)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(ANY, max_size=4), ANY, st.integers(0, 2**32), st.integers(0, 60))
def test_the_loss_of_every_transcript_is_within_the_price(others, trip, seed, height):
    """Exactly: with the noisy numbers given, neighbours differ by Σ |difference| · rate at most.

    Given what was released before, a geometric mechanism loses exactly that in its worst output.
    The trips are any edges in any order, repeats and jumps included; the transcript is anything.
    """
    epsilon = 1.3

    def run(trips):
        seen: list[tuple[NDArray[np.int64], float]] = []
        random = np.random.default_rng(seed)

        def given_output(_noise, share, counts, sensitivity=1.0):
            seen.append((np.asarray(counts), share.use() / sensitivity))
            return random.integers(-height, 3 * height + 1, len(counts)), np.ones(len(counts))

        workload = Paths.of([[0, 1, 2, 3], [2, 3]])
        task = RoadTask(STREET, Paths.of(trips), workload, Budget(epsilon), Steady(0))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(flows, "geometric", given_output)
            flows.Flows(max_length=7).build(task)
        return seen

    more, fewer = run([*others, trip]), run(others)
    assert [len(counts) for counts, _ in more] == [len(counts) for counts, _ in fewer]
    loss = sum(
        rate * np.abs(one - other).sum()
        for (one, rate), (other, _) in zip(more, fewer, strict=True)
    )
    assert loss <= epsilon * (1 + 1e-12)


@pytest.fixture(scope="module")
def town():
    graph = bent(9, 3)
    trips = commuter_trips(graph, 4000, mean_edges=9, hubs=60, seed=2)
    return RoadData("town", graph, trips, public=True), clustered_workload(
        graph, 10, pivots=60, per_pivot=3, seed=4
    )


@pytest.mark.parametrize(("epsilon", "share"), [(0.1, 0.75), (0.5, 0.35), (1.0, 0.4)])
def test_flows_beat_single_edges(town, epsilon, share):
    """Four fixed draws each: a fixed number, not a chance."""
    data, workload = town
    truth = workload.sum(exact_visits(data))

    def error(method):
        releases = [build(data, method, epsilon, workload=workload, seed=k) for k in range(4)]
        return float(
            np.mean([(workload.sum(each.answers.count) - truth) ** 2 for each in releases])
        )

    assert error("flows") < share * error("basic")


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_intervals_hold_where_a_factor_is_noisy(epsilon):
    """Trips of one edge lose nothing, yet a usual loss is assumed of them: 40 to 80 % held.

    Of 40 releases with five answers each; false alarm below 1e-6 where 95 % hold, as answers of
    one release err together.
    """
    random, graph = np.random.default_rng(0), grid(8)
    trips = Paths.of([[int(edge)] for edge in random.integers(0, len(graph), 6_000)])
    data, asked = RoadData("t", graph, trips, public=True), clustered_workload(graph, 6, seed=0)
    five = Paths.of([asked[row] for row in range(5)])
    exact = np.array([exact_visits(data)[five[row]].sum() for row in range(5)])
    held = []
    for seed in range(40):
        answer = build(data, "flows", epsilon, seed=seed, workload=asked).count(five)
        held.append((answer.low <= exact) & (exact <= answer.high))
    assert np.mean(held) > 0.85


def test_without_noise_every_edge_has_its_count(town):
    data, workload = town
    release = build(data, "flows", 1e9, workload=workload, seed=1)
    np.testing.assert_allclose(release.answers.count, exact_visits(data), atol=1e-3)
    assert (release.nodes.volume == 1).all()
    assert release.header.extra["factors"] == [1.0] * 3


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 10.0])
def test_no_flow_is_negative(epsilon):
    """Without the cut at 0 at least two of these seeds would give negative flows."""
    graph = bent(4, 3)
    data = RoadData("bent", graph, commuter_trips(graph, 50), public=True)
    workload = clustered_workload(graph, 4)
    releases = [build(data, "flows", epsilon, workload=workload, seed=seed) for seed in range(8)]
    assert min(float(release.answers.count.min()) for release in releases) >= 0


@pytest.mark.parametrize("directed", [False, True])
def test_odd_networks_and_odd_trips_are_measured(odd, directed):
    """Parallel edges, a loop, a ring, a second part; trips that turn, repeat and jump."""
    nodes = {
        "node": [*odd.node_id, "e", "f"],
        "x": [*odd.xy[:, 0], 5, 6],
        "y": [*odd.xy[:, 1], 5, 5],
    }
    ends = np.concatenate([odd.node_id[odd.ends], [["e", "f"]]])
    edges = {"edge": [*odd.edge_id, "ef"], "src": ends[:, 0], "dst": ends[:, 1]}
    edges["length"] = np.arange(1.0, len(ends) + 1)
    graph = road_graph(nodes, edges, components="all", directed=directed)
    trips = Paths.of([[0, 1, 0], [5, 5, 5], [6], [], [0, 2, 3, 4, 1, 2], [6, 0, 3]] * 5)
    data = RoadData("odd", graph, trips, public=True)
    release = build(data, "flows", 1e9, workload=Paths.of([[0, 2], [6], [5]]), seed=1)
    np.testing.assert_allclose(release.answers.count, exact_visits(data), atol=1e-3)
    secret = RoadData("odd", graph, trips)
    assert build(secret, "flows", 0.5, workload=Paths.of([[0, 2]])).header.private
