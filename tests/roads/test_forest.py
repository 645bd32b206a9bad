"""Sub-domains, trees and least squares against brute force."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.errors import ParameterError
from dpviz.releases.roads.graph_file import WORKLOAD, city, workload_of
from dpviz.roads import trees
from dpviz.roads.decompose import Subdomains, min_cut, random_pairs, separate
from dpviz.roads.forest import Forest, answer_variance, consistent
from dpviz.roads.paths import Paths
from dpviz.roads.prepared import prepared_plan
from tests.methods.cases import path_totals

from .conftest import are_paths, joined, star

BUILDERS = {
    "boost": lambda d, w: trees.boost(d),
    "opt": trees.optimised,
    "best": trees.best,
    "hm": trees.weighted_binary,
}


def matrix(forest):
    """M: one row per node, one column per position."""
    at = np.arange(len(forest.domains.order))
    return ((forest.lo[:, None] <= at) & (at < forest.hi[:, None])).astype(float)


def test_every_decomposition_is_a_partition_into_paths(streets, odd, workload):
    for graph, queries in ((streets, workload), (odd, Paths.of([[0, 2]]))):
        for domains in (separate(graph), min_cut(graph, queries), random_pairs(graph)):
            are_paths(graph, domains)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=10),
    st.integers(0, 1000),
    st.booleans(),
)
@settings(max_examples=100)
def test_any_multigraph_decomposes_into_paths(ends, seed, directed):
    graph = joined(ends, directed=directed)
    are_paths(graph, min_cut(graph, Paths.of([[0]])))
    are_paths(graph, random_pairs(graph, seed))


def test_min_cut_cuts_least_at_a_crossing():
    """Five edges at one node: every pairing by brute force."""
    crossing = star([1, 0, -1, 0, 2], [0, 1, 0, -1, 2])
    random = np.random.default_rng(7)
    for _ in range(20):
        pairs = [tuple(random.choice(5, 2, replace=False)) for _ in range(12)]
        queries = Paths.of(pairs)
        runs = len(min_cut(crossing, queries).runs(queries)[0])
        matchings = (
            {frozenset(order[:2]), frozenset(order[2:4])}
            for order in itertools.permutations(range(5))
        )
        joined = max(sum(frozenset(pair) in matching for pair in pairs) for matching in matchings)
        assert runs == 2 * len(pairs) - joined


def test_min_cut_uses_networkx_at_large_crossings():
    angle = np.arange(9)
    crossing = star(np.cos(angle), np.sin(angle))
    queries = Paths.of([[0, 5], [5, 0], [1, 7], [2, 3], [4, 8]])
    assert len(min_cut(crossing, queries).runs(queries)[0]) == 5
    assert len(min_cut(crossing, queries).start) - 1 == 5


def test_a_ring_is_cut_at_its_lightest_node(ring):
    queries = Paths.of([[0, 1], [1, 2], [3, 0]])  # no path continues from edge 2 to edge 3
    assert len(min_cut(ring, queries).runs(queries)[0]) == 3


def test_runs_of_a_query_add_up_to_its_distinct_edges(streets, workload):
    domains = min_cut(streets, workload)
    low, high, query = domains.runs(workload)
    assert (domains.path[low] == domains.path[high - 1]).all()
    total = np.bincount(query, weights=high - low, minlength=len(workload))
    distinct = [len(set(workload[row].tolist())) for row in range(len(workload))]
    np.testing.assert_array_equal(total, distinct)


@pytest.mark.parametrize("name", BUILDERS)
def test_no_edge_pays_more_than_the_budget(name, streets, workload):
    forest = BUILDERS[name](min_cut(streets, workload), workload)
    loss = path_totals(forest.parent, [1 / Fraction(each) for each in forest.relative_scale])
    assert max(loss) <= 1  # exact: fractions without a tolerance
    assert float(max(loss)) > 1 - 1e-12  # and no budget is wasted
    inner = np.flatnonzero(np.isin(np.arange(len(forest)), forest.parent))
    for node in inner:  # children tile their parent
        children = np.flatnonzero(forest.parent == node)
        assert forest.lo[children[0]] == forest.lo[node]
        assert forest.hi[children[-1]] == forest.hi[node]
        np.testing.assert_array_equal(forest.lo[children[1:]], forest.hi[children[:-1]])


def test_an_overspending_forest_is_refused():
    domains = Subdomains(np.arange(2), np.array([0, 2]))
    with pytest.raises(ParameterError, match="overspend"):
        Forest(
            domains,
            np.array([0, 0, 1]),
            np.array([2, 1, 2]),
            np.array([-1, 0, 0]),
            np.array([2.0, 1.9, 2.0]),
        )


@pytest.mark.parametrize("levels", [2, 3, 10])
def test_one_unit_in_the_last_place_too_much_is_refused(levels):
    chain = Subdomains(np.arange(1), np.array([0, 1]))
    where = np.zeros(levels, dtype=np.int64), np.ones(levels, dtype=np.int64)
    parent = np.arange(levels) - 1
    relative_scale = np.full(levels, float(levels))
    assert len(Forest(chain, *where, parent, relative_scale)) == levels
    relative_scale[-1] = math.nextafter(levels, 0)
    with pytest.raises(ParameterError, match="overspend"):
        Forest(chain, *where, parent, relative_scale)


@pytest.mark.parametrize("relative_scale", [0.0, -2.0, np.nan, np.inf])
def test_a_node_without_noise_is_refused(relative_scale):
    domains = Subdomains(np.arange(1), np.array([0, 1]))
    with pytest.raises(ParameterError, match="nodes with noise"):
        Forest(
            domains, np.zeros(1, int), np.ones(1, int), np.full(1, -1), np.array([relative_scale])
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILDERS)
def test_consistency_is_least_squares(name, streets, workload):
    forest = BUILDERS[name](min_cut(streets, workload), workload)
    random = np.random.default_rng(11)
    variance = forest.relative_scale**2
    noisy = random.normal(0, 50, len(forest))
    M = matrix(forest)
    weight = 1 / np.sqrt(variance)
    best, *_ = np.linalg.lstsq(M * weight[:, None], noisy * weight, rcond=None)
    nodes = consistent(forest, noisy, variance)
    np.testing.assert_allclose(nodes.count, M @ best, atol=1e-8)
    covariance = np.linalg.inv((M.T / variance) @ M)
    np.testing.assert_allclose(nodes.variance, np.diag(M @ covariance @ M.T), rtol=1e-8)
    q = random.integers(0, 3, len(streets)).astype(float)
    weights = np.zeros(len(forest))
    weights[forest.leaf_at] = q
    exact = q @ covariance @ q
    assert answer_variance(forest.parent, variance, weights) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("name", BUILDERS)
def test_workload_variance_is_that_of_least_squares(name, streets, workload):
    domains = min_cut(streets, workload)
    forest = BUILDERS[name](domains, workload)
    M = matrix(forest)
    covariance = np.linalg.inv((M.T / forest.relative_scale**2) @ M)
    low, high, _ = domains.runs(workload)
    exact = sum(covariance[a:b, a:b].sum() for a, b in zip(low, high, strict=True)) / len(workload)
    assert trees.workload_variance(forest, workload) == pytest.approx(exact, rel=1e-9)


def partitions(n, groups):
    return [(0, *cuts, n) for cuts in itertools.combinations(range(1, n), groups - 1)]


@pytest.mark.slow
@given(
    st.integers(2, 7),
    st.data(),
    st.lists(st.tuples(st.integers(0, 13), st.integers(1, 14)), min_size=1, max_size=8),
)
def test_regrouping_is_optimal(n, chosen, raw):
    from dpviz.roads.search import regroup

    groups = chosen.draw(st.integers(1, n))
    fine = np.arange(n + 1) * 2
    runs = [(min(a, b), max(a, b)) for a, b in raw if a != b] or [(0, 2)]
    low, high = (np.array(column) for column in zip(*runs, strict=True))

    def value(cuts):
        return sum(
            (b - a - 1) * sum(l <= fine[a] and h >= fine[b] for l, h in runs)
            for a, b in itertools.pairwise(cuts)
        )

    best = tuple(regroup(fine, groups, low, high, np.ones(len(low))).tolist())
    assert best in partitions(n, groups)
    assert value(best) == max(value(cuts) for cuts in partitions(n, groups))


def test_the_chosen_trees_are_never_worse_than_the_others(streets, workload):
    domains = min_cut(streets, workload)
    best = trees.workload_variance(trees.best(domains, workload), workload)
    for name in ("boost", "opt"):
        other = trees.workload_variance(BUILDERS[name](domains, workload), workload)
        assert best <= other * (1 + 1e-9)
    low, high, _ = domains.runs(workload)
    assert best <= (high - low).sum() / len(workload) * (1 + 1e-9)


def test_a_long_path_with_long_queries_gets_a_tree():
    domains = Subdomains(np.arange(64), np.array([0, 64]))
    workload = Paths.of([np.arange(64)] * 5)
    forest = trees.best(domains, workload)
    assert len(forest) > 64
    assert trees.workload_variance(forest, workload) < 20  # flat: 64


@pytest.mark.slow
def test_the_plan_that_comes_with_the_city_is_the_one_its_search_finds():
    graph = city()
    workload = workload_of(WORKLOAD, graph)
    plan = prepared_plan(graph, workload, "min", "best")
    assert plan is not None, "the file is out of date: run data/make_city_plan.py"
    found = trees.best(min_cut(graph, workload), workload)
    for name in ("lo", "hi", "parent", "relative_scale"):
        np.testing.assert_array_equal(getattr(plan.forest, name), getattr(found, name))
    np.testing.assert_array_equal(plan.forest.domains.order, found.domains.order)
    np.testing.assert_array_equal(plan.forest.domains.start, found.domains.start)
    assert plan.variance == pytest.approx(trees.workload_variance(found, workload))
    assert prepared_plan(graph, workload, "min", "opt") is None
