"""One-way streets: walks, routes, matchings and releases follow the directions."""

import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.build import build
from dpviz.errors import DataError
from dpviz.private.roads import RoadData, exact_visits
from dpviz.releases.roads.graph_file import read_graph
from dpviz.releases.store import from_arrow
from dpviz.roads.decompose import min_cut, random_pairs
from dpviz.roads.generate import clustered_workload, commuter_trips, corridor_workload
from dpviz.roads.paths import Paths, require_paths, walk_nodes
from dpviz.roads.routing import Router, shortest_path
from dpviz.roads.tables import road_graph
from tests.commands import as_json, fails
from tests.geojson import lines

from .conftest import are_paths, joined, tables

SIDE = 8

several = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=10)


@pytest.fixture(scope="module")
def one_way():
    """A grid: streets east and north are one-way, every third one has a way back."""
    number = np.arange(SIDE * SIDE)
    x, y = number % SIDE, number // SIDE
    east, north = number[x < SIDE - 1], number[y < SIDE - 1]
    src = np.concatenate([east, north, east[::3] + 1, north[::3] + SIDE])
    dst = np.concatenate([east + 1, north + SIDE, east[::3], north[::3]])
    return road_graph({"node": number, "x": x, "y": y}, {"src": src, "dst": dst}, directed=True)


@given(several, st.lists(st.integers(0, 9), min_size=1, max_size=6))
def test_a_path_follows_the_directions(ends, raw):
    walk = [edge % len(ends) for edge in raw]
    left = walk_nodes(joined(ends, directed=True), Paths.of([walk]))
    leads_on = all(ends[a][1] == ends[b][0] for a, b in itertools.pairwise(walk))
    assert (left[-1] >= 0) == leads_on
    if leads_on:
        assert left.tolist() == [ends[edge][1] for edge in walk]


@given(several, st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_sub_domains_are_one_way_paths(ends, seed):
    graph = joined(ends, directed=True)
    for domains in (min_cut(graph, Paths.of([[0]])), random_pairs(graph, seed)):
        are_paths(graph, domains)


@given(several, st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=4), max_size=8))
@settings(max_examples=60, deadline=None)
def test_the_matching_of_a_pivot_is_the_best_bipartite_one(ends, raw):
    """At a star's centre: brute force over every way to join arriving with leaving edges."""
    arriving = [edge for edge in range(len(ends)) if edge % 2 == 0]
    leaving = [edge for edge in range(len(ends)) if edge % 2 == 1]
    if not leaving:
        return
    count = len(ends)
    nodes = {"node": range(count + 1), "x": range(count + 1), "y": [0] * (count + 1)}
    edges = {
        "src": [edge + 1 if edge % 2 == 0 else 0 for edge in range(count)],
        "dst": [0 if edge % 2 == 0 else edge + 1 for edge in range(count)],
    }
    star = road_graph(nodes, edges, directed=True)
    random = np.random.default_rng(len(raw))
    queries = [
        [int(random.choice(arriving)), int(random.choice(leaving))] for _ in range(3 * len(raw))
    ]
    workload = Paths.of(queries or [[0]])
    weight = Counter(map(tuple, queries))
    most = max(
        sum(weight[pair] for pair in zip(arriving, others, strict=False))
        for others in itertools.permutations([*leaving, *([-1] * len(arriving))], len(arriving))
    )
    cut = min_cut(star, workload)
    assert len(cut.runs(workload)[0]) == len(workload.edge) - most


def test_shortest_paths_equal_those_of_a_directed_networkx(one_way):
    reference = nx.DiGraph()
    reference.add_nodes_from(range(SIDE * SIDE))
    for (a, b), length in zip(one_way.ends.tolist(), one_way.length.tolist(), strict=True):
        reference.add_edge(a, b, weight=length)
    source = SIDE * SIDE // 2
    best = nx.single_source_dijkstra_path_length(reference, source)
    targets = np.array(sorted(set(best) - {source}))
    assert 10 < len(targets) < SIDE * SIDE - 1  # directions matter
    router = Router(one_way)
    _, before = router.tree(np.array([source]))
    paths = router.paths(before, np.zeros(len(targets), dtype=np.int64), targets)
    require_paths(one_way, paths)
    np.testing.assert_allclose(paths.sum(one_way.length), [best[node] for node in targets])


def test_no_way_back_is_said():
    graph = joined([(0, 1), (1, 2)], directed=True)
    assert shortest_path(graph, 0, 2).tolist() == [0, 1]
    with pytest.raises(DataError, match="no path leads from node 2 to 0"):
        shortest_path(graph, 2, 0)
    with pytest.raises(DataError, match="is not a path"):
        require_paths(graph, Paths.of([[1, 0]]))


def test_generated_trips_and_workloads_follow_the_directions(one_way):
    trips = commuter_trips(one_way, 300, mean_edges=4, hubs=9, seed=5)
    assert len(trips) == 300
    workload = clustered_workload(one_way, 6, pivots=20)
    assert workload.length.max() == 6
    for paths in (trips, workload, corridor_workload(one_way, 60)):
        require_paths(one_way, paths)


def test_a_release_keeps_its_directions_and_its_sums(one_way):
    data = RoadData("one-way", one_way, commuter_trips(one_way, 500, seed=1), public=True)
    workload = clustered_workload(one_way, 6, pivots=30)
    for method in ("event-histogram", "min+opt+tru", "random", "hm+tru"):
        release = build(data, method, 1e9, workload=workload, seed=1)
        truth = workload.sum(exact_visits(data))
        np.testing.assert_allclose(release.count(workload).count, truth, atol=1e-3)
    again = from_arrow(release.to_arrow())
    assert again.frame.graph.directed
    backwards = Paths.of([workload[0][::-1]])
    with pytest.raises(DataError, match="is not a path"):
        again.count(backwards)


def test_files_and_commands_take_the_option(one_way, tmp_path):
    files = (tmp_path / "nodes.csv", tmp_path / "edges.csv")
    for table, file in zip(tables(one_way), files, strict=True):
        table.to_csv(file, index=False)
    assert read_graph(*files, directed=True).directed
    assert not read_graph(*files).directed
    out = str(tmp_path / "r.parquet")
    graph = ",".join(map(str, files))
    built = as_json(*f"build generate:60 --graph {graph} --directed -o {out}".split())
    assert built["edges"] == len(one_way)
    assert as_json("query", out, "--path", "0,1")["answers"][0]["edges"] == 2
    assert "is not a path" in fails("query", out, "--path", "1,0")
    assert "streets go both ways" in fails("build", "city", "--graph=city", "--directed", "-o", out)


def test_lines_and_graphml_take_the_option(tmp_path):
    (tmp_path / "lines.geojson").write_text(lines([(0, 0), (1, 0)], [(1, 0), (1, 1)]))
    made = nx.DiGraph()
    for node, (x, y) in enumerate([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)]):
        made.add_node(str(node), x=x, y=y)
    made.add_edge("0", "1")
    made.add_edge("1", "2")
    nx.write_graphml(made, tmp_path / "graph.graphml")
    for name in ("lines.geojson", "graph.graphml"):
        graph = read_graph(tmp_path / name, directed=True)
        require_paths(graph, Paths.of([[0, 1]]))
        with pytest.raises(DataError, match="is not a path"):
            require_paths(graph, Paths.of([[1, 0]]))
        require_paths(read_graph(tmp_path / name), Paths.of([[1, 0]]))
