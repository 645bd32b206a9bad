"""The public graph: what is refused, ids, parts."""

import numpy as np
import pytest

from dpviz.errors import DataError
from dpviz.roads.graph import as_ids
from dpviz.roads.tables import road_graph

NODES = {"node": [1, 2, 3, 4], "x": [0, 1, 2, 3], "y": [0, 0, 0, 0]}


def test_a_disconnected_graph_needs_a_decision():
    edges = {"edge": [1, 2, 3], "src": [1, 3, 3], "dst": [2, 4, 4], "length": [1, 1, 2]}
    with pytest.raises(DataError, match=r"falls into 2 parts \(2, 1 edges\).*components=largest"):
        road_graph(NODES, edges)
    assert road_graph(NODES, edges, components="all").edge_id.tolist() == [1, 2, 3]
    largest = road_graph(NODES, edges, components="largest")
    assert largest.edge_id.tolist() == [2, 3]
    assert largest.node_id[largest.ends].tolist() == [[3, 4], [3, 4]]
    with pytest.raises(DataError, match="components='some': choose one of"):
        road_graph(NODES, edges, components="some")


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ({"edge": [1, 1], "src": [1, 2], "dst": [2, 3]}, "edge id 1 is given twice"),
        ({"src": [], "dst": []}, "no edges"),
        ({"src": [1], "dst": [2], "length": [-1.0]}, "edge 0 has length -1"),
        ({"src": [1], "dst": [2], "length": [np.nan]}, "edge 0 has length nan"),
        ({"src": [1]}, "no column 'dst'"),
        ({"edge": [30], "src": [3], "dst": [99]}, "edge 30 names node 99, which the node table"),
    ],
)
def test_bad_edges_get_one_clear_line(edges, message):
    with pytest.raises(DataError, match=message):
        road_graph(NODES, edges)


def test_bad_nodes_get_one_clear_line():
    with pytest.raises(DataError, match="node id 1 is given twice"):
        road_graph({**NODES, "node": [1, 1, 3, 4]}, {"src": [3], "dst": [4]})
    with pytest.raises(DataError, match="the node table has no column 'node': it has 'edge', 'x'"):
        road_graph({"edge": [1], "x": [0]}, {"src": [3], "dst": [4]})
    with pytest.raises(DataError, match="not a finite number"):
        road_graph({**NODES, "x": [0, np.inf, 2, 3]}, {"src": [3], "dst": [4]})


def test_parallel_edges_and_self_loops_are_edges(odd):
    assert len(odd) == 6
    offset, dart = odd.incidence
    at_c = dart[offset[odd.node_row("c")] : offset[odd.node_row("c") + 1]]
    assert sorted(odd.edge_id[at_c // 2].tolist()) == ["bc", "cd", "loop", "loop"]


def test_ids_are_found_whatever_their_type(odd, streets):
    assert odd.edge_rows(["loop", "nowhere", "ab1"]).tolist() == [5, -1, 0]
    assert streets.edge_rows([3, 10_000]).tolist() == [3, -1]
    assert streets.edge_rows(["3", "x", "-1"]).tolist() == [3, -1, -1]
    assert streets.node_row("12") == streets.node_row(12) == 12
    with pytest.raises(DataError, match="node zz is not in the road graph"):
        odd.node_row("zz")


def test_numbers_that_no_int64_holds_are_ids_as_texts():
    assert as_ids(np.array([1e30, 2.0])).tolist() == ["1e+30", "2.0"]
    assert as_ids(np.array([2**64 - 1, 5], dtype=np.uint64)).tolist() == [str(2**64 - 1), "5"]
    assert as_ids(np.array([np.nan, np.inf])).tolist() == ["nan", "inf"]
    assert as_ids(np.array([7.0, -3.0])).tolist() == [7, -3]
