"""Sequences of edges: what is a path, shortest paths, generators."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import DataError, ParameterError
from dpviz.roads.generate import clustered_workload, commuter_trips, corridor_workload
from dpviz.roads.paths import (
    Paths,
    paths_from_ids,
    require_paths,
    require_workload,
    walk_nodes,
)
from dpviz.roads.routing import shortest_path

from .conftest import joined


def is_path(ends, edges, directed):
    """Oracle: try both directions of every edge, or the one there is."""
    ways = [{pair} if directed else {pair, pair[::-1]} for pair in (ends[edge] for edge in edges)]
    reachable = {b for _, b in ways[0]}
    for way in ways[1:]:
        reachable = {b for a, b in way if a in reachable}
    return bool(reachable)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=7),
    st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=6), min_size=1, max_size=5),
    st.booleans(),
)
def test_a_path_is_recognised_as_by_brute_force(ends, sequences, directed):
    graph = joined(ends, directed=directed)
    sequences = [[edge % len(ends) for edge in each] for each in sequences]
    paths = Paths.of(sequences)
    left = walk_nodes(graph, paths)
    for row, each in enumerate(sequences):
        part = left[paths.start[row] : paths.start[row + 1]]
        assert (part[-1] >= 0) == is_path(ends, each, directed)
        if part[-1] >= 0:  # the nodes are a walk: each leads from the one before along its edge
            for step in range(1, len(each)):
                assert sorted(ends[each[step]]) == sorted([part[step - 1], part[step]])


def test_an_invalid_path_is_named(streets):
    with pytest.raises(DataError, match=r"query 1 \(0, 50\) is not a path"):
        require_paths(streets, Paths.of([[0, 1], [0, 50]]))
    with pytest.raises(DataError, match="query 0 is empty"):
        require_paths(streets, Paths.of([[], [0, 1]]))
    with pytest.raises(DataError, match="trip 1 names edge 999, which the road graph lacks"):
        paths_from_ids(streets, [[0], [1, 999]], "trip")


@pytest.mark.parametrize("empty", [Paths.of([]), Paths.of([[]])])
def test_an_empty_workload_is_refused(empty):
    with pytest.raises(ParameterError, match="the workload is empty"):
        require_workload(empty)


def test_a_shortest_path_needs_two_joined_nodes(odd):
    assert odd.edge_id[shortest_path(odd, "a", "c")].tolist() in (["ab1", "bc"], ["da", "cd"])
    with pytest.raises(DataError, match="both ends of the path are node a"):
        shortest_path(odd, "a", "a")
    with pytest.raises(DataError, match="no path joins nodes 1 and 4"):
        shortest_path(joined([(1, 2), (3, 4)]), 1, 4)


@pytest.mark.parametrize("network", ["streets", "one_way"])
def test_generated_trips_and_workloads_are_paths_and_repeatable(network, request):
    graph = request.getfixturevalue(network)
    trips, again = (commuter_trips(graph, 300, mean_edges=4, hubs=9, seed=5) for _ in range(2))
    assert len(trips) == 300
    np.testing.assert_array_equal(trips.edge, again.edge)
    clustered = clustered_workload(graph, 6, pivots=20)
    for paths in (trips, clustered, corridor_workload(graph, 40)):
        require_paths(graph, paths)
    assert len(clustered) == 100
    assert clustered.length.max() == 6
    for row in range(len(clustered)):
        assert len(set(clustered[row].tolist())) == len(clustered[row])


@pytest.mark.parametrize(
    "call", [lambda g: commuter_trips(g, 0), lambda g: clustered_workload(g, 0)]
)
def test_generators_refuse_nothing(streets, call):
    with pytest.raises(ParameterError, match="give numbers from 1"):
        call(streets)
