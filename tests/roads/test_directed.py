"""One-way streets: walks, routes, matchings and releases follow the directions."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.build import build
from dpviz.errors import DataError
from dpviz.private.roads import RoadData, exact_visits
from dpviz.releases.roads.graph_file import read_graph
from dpviz.releases.store import from_arrow
from dpviz.roads.decompose import min_cut
from dpviz.roads.generate import clustered_workload, commuter_trips
from dpviz.roads.paths import Paths, require_paths
from dpviz.roads.routing import shortest_path
from dpviz.roads.tables import road_graph
from tests.commands import as_json, fails

from .conftest import joined, tables

pytestmark = pytest.mark.slow

several = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=10)


@given(several, st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=4), max_size=8))
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


def test_no_way_back_is_said():
    graph = joined([(0, 1), (1, 2)], directed=True)
    assert shortest_path(graph, 0, 2).tolist() == [0, 1]
    with pytest.raises(DataError, match="no path leads from node 2 to 0"):
        shortest_path(graph, 2, 0)
    with pytest.raises(DataError, match="is not a path"):
        require_paths(graph, Paths.of([[1, 0]]))


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
