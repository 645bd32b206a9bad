"""Graphs and trips from files, and the commands."""

import networkx as nx
import pandas as pd
import pytest
import shapely

from dpviz.errors import DataError, DomainError, ParameterError
from dpviz.private.load.roads import read_trips
from dpviz.releases.roads.graph_file import city, read_graph, workload_of
from tests.geojson import collection, feature
from tests.vault import trips_of

from .conftest import tables


@pytest.fixture
def files(odd, tmp_path):
    nodes, edges = tables(odd)
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    edges.to_parquet(tmp_path / "edges.parquet")
    return tmp_path


def test_graphml_keeps_parallel_edges_and_loops(odd, tmp_path):
    made = nx.MultiGraph()
    for name, (x, y) in zip(odd.node_id.tolist(), odd.xy.tolist(), strict=True):
        made.add_node(name, x=x, y=y)
    ends = odd.node_id[odd.ends].tolist()
    for name, (a, b), length in zip(odd.edge_id.tolist(), ends, odd.length.tolist(), strict=True):
        made.add_edge(a, b, edge=name, length=length)
    nx.write_graphml(made, tmp_path / "g.graphml")
    graph = read_graph(tmp_path / "g.graphml")
    assert sorted(graph.edge_id.tolist()) == sorted(odd.edge_id.tolist())
    loop = graph.edge_rows(["loop"])[0]
    assert graph.ends[loop, 0] == graph.ends[loop, 1]
    assert graph.length[graph.edge_rows(["ab2"])[0]] == 2.0
    made.add_node("bare")
    nx.write_graphml(made, tmp_path / "bare.graphml")
    with pytest.raises(DataError, match="not a finite number"):
        read_graph(tmp_path / "bare.graphml")
    (tmp_path / "bad.graphml").write_text("<graphml><")
    with pytest.raises(DataError, match="cannot be read as GraphML"):
        read_graph(tmp_path / "bad.graphml")


def test_coordinates_that_nothing_is_computed_with_are_refused_in_one_line(tmp_path):
    """Regression: coordinates overflowed in a length: a warning, and an error about the length."""
    table = tmp_path / "nodes.csv"
    table.write_text("node,x,y\na,-1.7e308,0\nb,1.7e308,1\n")
    (tmp_path / "edges.csv").write_text("src,dst\na,b\n")
    line = feature(shapely.LineString([(0, 0), (1e305, 1e305)]), length=3)
    (tmp_path / "g.geojson").write_text(collection([line]))
    for files in (("nodes.csv", "edges.csv"), ("g.geojson",)):
        with pytest.raises(DataError, match=r"not a finite number up to 1e\+12"):
            read_graph(*(tmp_path / name for name in files))


def test_the_built_in_streets_are_where_they_are():
    """A CRS was left aside, and the graph was in another than the one that was named."""
    assert read_graph("city", crs="EPSG:4326") is city()
    with pytest.raises(DataError, match="city is in EPSG:4326, not in EPSG:27700"):
        read_graph("city", crs="EPSG:27700")


def test_geojson_lines_join_at_equal_ends(tmp_path):
    features = [
        feature(shapely.LineString([(0, 0), (0.5, 0.2), (1, 0)]), id=7),
        feature(shapely.LineString([(1, 0), (1, 1)]), id=9),
    ]
    path = tmp_path / "g.geojson"
    path.write_text(collection(features))
    graph = read_graph(path)
    assert graph.edge_id.tolist() == [7, 9]
    assert len(graph.node_id) == 3
    assert len(graph.line(0)) == 3
    assert graph.crs == "EPSG:4326"
    assert read_graph(path, crs="EPSG:4326").crs == "EPSG:4326"
    with pytest.raises(DataError, match="is in EPSG:4326, not in EPSG:27700: leave it out"):
        read_graph(path, crs="EPSG:27700")
    features[0]["geometry"] = {"type": "LineString", "coordinates": ()}
    path.write_text(collection(features))
    with pytest.raises(DataError, match="has no coordinates"):
        read_graph(path)
    features[0]["geometry"] = {"type": "Point", "coordinates": (0, 0)}
    path.write_text(collection(features))
    with pytest.raises(DataError, match="must be a LineString"):
        read_graph(path)
    path.write_text('{"features": 1}')
    with pytest.raises(DataError, match="cannot be read as lines"):
        read_graph(path)


def test_trips_are_read_from_every_form(odd, tmp_path):
    listed = [["ab1", "bc"], ["da"], ["da", "ab2", "bc"]]
    steps = [(t, edge) for t, each in enumerate(listed) for edge in each]
    pd.DataFrame(steps, columns=["trip", "edge"]).to_csv(tmp_path / "long.csv", index=False)
    pd.DataFrame({"edges": listed, "person": ["x", "x", "y"]}).to_parquet(
        tmp_path / "lists.parquet"
    )
    pd.DataFrame({"nodes": [["a", "b"], ["d", "a", "b"]]}).to_parquet(tmp_path / "nodes.parquet")
    for name in ("long.csv", "lists.parquet"):
        trips = trips_of(read_trips(tmp_path / name, odd))
        read = sorted(odd.edge_id[trips[row]].tolist() for row in range(len(trips)))
        assert read == sorted(listed)
    assert trips_of(read_trips(tmp_path / "nodes.parquet", odd)).length.sum() == 3
    capped = read_trips(tmp_path / "lists.parquet", odd, unit="person", max_per_unit=1)
    assert len(trips_of(capped)) == 2
    assert capped.unit == "one person with at most 1 trip"
    with pytest.raises(DataError, match=r"no column 'who' in lists.parquet"):
        read_trips(tmp_path / "lists.parquet", odd, unit="who")


def test_a_trip_on_an_unknown_edge_is_dropped_unless_it_is_public(odd, tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame({"trip": [1, 1, 2], "edge": ["bc", "moon", "da"]}).to_csv(path, index=False)
    with pytest.raises(DataError, match="trip 0 names an edge that the road graph lacks") as error:
        read_trips(path, odd, public=True)
    assert "moon" not in str(error.value)
    assert [odd.edge_id[each] for each in trips_of(read_trips(path, odd)).edge] == ["da"]
    assert len(trips_of(read_trips(path, odd, drop_unknown=True)).edge) == 2


def test_one_trip_number_of_two_persons_is_two_trips(odd, tmp_path):
    """Rows were once grouped by the trip's number alone, and one person took over the others."""
    path = tmp_path / "t.csv"
    others = [(f"p{k}", k, "bc") for k in range(200)]
    thief = [("thief", k, "da") for k in range(200)]
    for rows in (others, thief + others):
        pd.DataFrame(rows, columns=["who", "trip", "edge"]).to_csv(path, index=False)
        trips = trips_of(read_trips(path, odd, unit="who"))
        assert (odd.edge_id[trips.edge] == "bc").sum() == 200
        assert len(trips) == 200 + (rows is not others)


@pytest.mark.slow
def test_workloads_are_read_by_word_and_from_files(streets, tmp_path):
    assert workload_of("clustered:4", streets).length.max() == 4
    assert len(workload_of("corridor", streets)) > 900
    path = tmp_path / "w.csv"
    pd.DataFrame({"query": [5, 5, 2], "edge": [0, 1, 3]}).to_csv(path, index=False)
    assert workload_of(str(path), streets).length.tolist() == [1, 2]
    with pytest.raises(ParameterError, match="workload 'some': give clustered"):
        workload_of("some", streets)


def test_a_graph_in_a_crs_that_nobody_knows_is_refused_before_trips_are_read(tmp_path):
    """:func:`dpviz.build` would refuse it only after all trips have been read."""
    (tmp_path / "nodes.csv").write_text("node,x,y\na,0,0\nb,1,0\n")
    (tmp_path / "edges.csv").write_text("edge,src,dst\n1,a,b\n")
    with pytest.raises(DomainError, match="CRS 'EPSG:9x9x' is unknown"):
        read_graph(tmp_path / "nodes.csv", tmp_path / "edges.csv", crs="EPSG:9x9x")
