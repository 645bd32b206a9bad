"""Road graphs as OSMnx writes them and as tables of longitude and latitude bring them."""

import geopandas
import networkx as nx
import numpy as np
import pandas as pd
import pyproj
import pytest
import shapely

import dpviz
from dpviz.errors import DataError
from dpviz.private.load.roads import read_trips
from tests.commands import as_json, fails
from tests.geojson import feature
from tests.vault import trips_of

PUBLIC = ("--public", "--seed", 1, "--epsilon", 50)
NODES = {101: (10.0, 60.0), 102: (10.02, 60.0), 103: (10.02, 60.01), 104: (10.0, 60.01)}
BENT = [(10.0, 60.0), (10.005, 60.003), (10.02, 60.0)]
LOOP = [(10.0, 60.01), (9.999, 60.011), (9.999, 60.01), (10.0, 60.01)]
EDGES = [
    (101, 102, 0, {"osmid": "[7, 8]", "name": "['A', 'B']", "length": 1500.0}, BENT),
    (101, 102, 1, {"osmid": "9", "highway": "['primary', 'secondary']", "length": 1113.0}, None),
    (102, 101, 0, {"osmid": "[8, 7]", "name": "['A', 'B']", "length": 1500.0}, BENT[::-1]),
    (102, 103, 0, {"osmid": "10", "length": 1113.0}, None),
    (103, 102, 0, {"osmid": "10", "length": 1113.0}, None),
    (103, 104, 0, {"osmid": "10", "length": 1113.0, "reversed": "[True, False]"}, None),
    (104, 104, 0, {"osmid": "11", "length": 300.0}, LOOP),
]
"""An invented MultiDiGraph: ends, key, attributes and geometry, as OSMnx 2.1 wrote them."""
STREETS = ["101-102-0", "101-102-1", "102-103-0", "103-104-0", "104-104-0"]


def graphml(path, nodes=NODES, edges=EDGES, **facts):
    """Every attribute is text, as in :func:`osmnx.io.save_graphml`."""
    graph = nx.MultiDiGraph(**facts)
    for node, (x, y) in nodes.items():
        graph.add_node(node, x=str(x), y=str(y))
    for a, b, key, attributes, line in edges:
        shape = {} if line is None else {"geometry": shapely.LineString(line).wkt}
        graph.add_edge(a, b, key=key, **{k: str(v) for k, v in attributes.items()}, **shape)
    nx.write_graphml(graph, path)
    return path


def geopackage(path, directed, crs=4326):
    """The layers of :func:`osmnx.io.save_graph_geopackage`, which draws a line either way."""
    ids = list(NODES)
    points = [shapely.Point(NODES[node]) for node in ids]
    nodes = geopandas.GeoDataFrame({"osmid": ids}, geometry=points, crs=4326).to_crs(crs)
    nodes["x"], nodes["y"] = nodes.geometry.x, nodes.geometry.y
    nodes.to_file(path, layer="nodes", driver="GPKG")
    rows, lines = [], []
    for a, b, key, attributes, line in EDGES:
        if directed or (a, b) not in ((102, 101), (103, 102)):
            turned = not directed and a < b
            line = line or [NODES[a], NODES[b]]
            lines.append(shapely.LineString(line[::-1] if turned else line))
            rows.append({"u": a, "v": b, "key": key, **attributes})
    edges = geopandas.GeoDataFrame(rows, geometry=lines, crs=4326).to_crs(crs)
    edges.to_file(path, layer="edges", driver="GPKG")
    return path


def test_files_of_osmnx_have_their_streets_courses_lengths_and_crs(tmp_path):
    read = {
        "graphml": dpviz.read_graph(graphml(tmp_path / "g.graphml", crs="epsg:4326")),
        "directed": dpviz.read_graph(geopackage(tmp_path / "d.gpkg", directed=True)),
        "undirected": dpviz.read_graph(geopackage(tmp_path / "u.gpkg", directed=False)),
        "projected": dpviz.read_graph(geopackage(tmp_path / "p.gpkg", True, crs=32632)),
    }
    for name, graph in read.items():
        assert graph.edge_id.tolist() == STREETS, name
        assert graph.length.tolist() == [1500.0, 1113.0, 1113.0, 1113.0, 300.0]
        assert np.diff(graph.line_start).tolist() == [3, 2, 2, 2, 4]
        assert graph.crs == ("EPSG:32632" if name == "projected" else "EPSG:4326")
        first = graph.line_xy[graph.line_start[:-1]]  # each line runs from its first node
        np.testing.assert_allclose(first, graph.xy[graph.ends[:, 0]])
        if name != "undirected":
            assert graph.edge_rows(["102-101-0", "103-102-0"]).tolist() == [0, 2]
    for path in (tmp_path / "g.graphml", tmp_path / "d.gpkg"):
        directed = dpviz.read_graph(path, directed=True)
        assert sorted(directed.edge_id.tolist()) == sorted([*STREETS, "102-101-0", "103-102-0"])
    with pytest.raises(DataError, match="geometry that runs from its second node to its first"):
        dpviz.read_graph(tmp_path / "u.gpkg", directed=True)


def test_either_id_of_a_street_finds_it_in_trips_and_in_a_saved_release(tmp_path):
    graph = graphml(tmp_path / "g.graphml", crs="epsg:4326")
    steps = [("a", "101-102-0"), ("b", "102-101-0"), ("c", "103-102-0"), ("c", "102-101-0")]
    pd.DataFrame(steps, columns=["trip", "edge"]).to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "r.parquet"
    as_json(
        "build",
        tmp_path / "t.csv",
        "--graph",
        graph,
        *PUBLIC,
        "-o",
        out,
        "--set",
        "truncation=fixed",
        "--set",
        "limit=2",
    )
    answers = as_json("query", out, "--path=102-101-0", "--path=101-102-0")["answers"]
    assert [each["count"] for each in answers] == [3, 3]
    assert dpviz.read(out).frame.graph.twins == {"102-101-0": 0, "103-102-0": 2}
    kept = dpviz.read(out).frame.graph.subgraph([False, False, True, True, False])
    assert kept.twins == {"103-102-0": 0}


def north(folder, names="lon,lat"):
    """Two ways from A to B at 60° N: the shorter one in degrees is the longer one in metres."""
    nodes = "A,10,60\nB,10.01,60.01\nW1,10.04,60\nW2,10.04,60.01\nN1,10,60.032\nN2,10.01,60.032\n"
    (folder / "n.csv").write_text(f"node,{names}\n{nodes}")
    edges = "w1,A,W1\nw2,W1,W2\nw3,W2,B\nn1,A,N1\nn2,N1,N2\nn3,N2,B\n"
    (folder / "e.csv").write_text(f"edge,src,dst\n{edges}")
    return folder / "n.csv", folder / "e.csv"


def test_the_crs_is_that_of_the_file_or_of_its_columns_and_none_that_contradicts_it(tmp_path):
    assert dpviz.read_graph(*north(tmp_path)).crs == "EPSG:4326"
    for crs in ("EPSG:32632", "none"):
        message = fails(
            "build",
            "generate:9",
            "--graph",
            ",".join(map(str, north(tmp_path))),
            "--crs",
            crs,
            "-o",
            tmp_path / "r.parquet",
        )
        assert f"columns lon and lat hold degrees, and the CRS is {crs}" in message
    plane = north(tmp_path, "x,y")
    assert (dpviz.read_graph(*plane).crs, dpviz.read_graph(*plane, crs="none").crs) == ("", "")
    assert dpviz.read_graph(*plane, crs="EPSG:4258").crs == "EPSG:4258"
    line = feature(shapely.LineString([(555_776, 6_651_832), (556_891, 6_651_849)]))
    named = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::25832"}}
    text = pd.io.json.ujson_dumps({"type": "FeatureCollection", "crs": named, "features": [line]})
    (tmp_path / "g.geojson").write_text(text)
    graph = dpviz.read_graph(tmp_path / "g.geojson")
    assert graph.crs == "EPSG:25832"
    assert round(float(graph.length[0]), 1) == 1_115.5  # 1,115.1 in the plane
    stated = graphml(tmp_path / "g.graphml", crs="epsg:4326")
    for path, crs in ((stated, "EPSG:4326"), (tmp_path / "g.geojson", "EPSG:25832")):
        with pytest.raises(DataError, match=f"{path.name} is in {crs}, not in EPSG:3857"):
            dpviz.read_graph(path, crs="EPSG:3857")


def test_a_column_of_geometry_is_read_as_wkt_wkb_or_hexadecimal_and_refused_elsewhere(tmp_path):
    nodes = pd.DataFrame({"node": [1, 2], "lon": [10.0, 10.02], "lat": [60.0, 60.0]})
    nodes.to_csv(tmp_path / "n.csv", index=False)
    line = shapely.LineString(BENT)
    edges = pd.DataFrame({"src": [2], "dst": [1]})  # drawn from 1 to 2
    lengths = []
    for name, geometry in {"wkt": line.wkt, "hex": line.wkb_hex, "wkb": line.wkb}.items():
        path = tmp_path / f"{name}.parquet"
        edges.assign(geometry=[geometry]).to_parquet(path)
        graph = dpviz.read_graph(tmp_path / "n.csv", path)
        assert graph.line(0).tolist() == [list(each) for each in BENT[::-1]]
        lengths += graph.length.tolist()
    geopandas.GeoDataFrame(edges, geometry=[line], crs=4326).to_parquet(tmp_path / "geo.parquet")
    lengths += dpviz.read_graph(tmp_path / "n.csv", tmp_path / "geo.parquet").length.tolist()
    metres = pyproj.Geod(ellps="WGS84").line_length(*zip(*BENT, strict=True))
    np.testing.assert_allclose(lengths, metres, rtol=1e-9)
    path = tmp_path / "e.csv"
    for geometry, message in {
        "POINT (1 2)": "must be a LineString",
        "no line": "neither WKT nor WKB",
        "LINESTRING (60 10, 60 10.02)": "does not join its nodes",
    }.items():
        edges.assign(geometry=[geometry]).to_csv(path, index=False)
        with pytest.raises(DataError, match=message):
            dpviz.read_graph(tmp_path / "n.csv", path)
    srid = shapely.to_wkb(shapely.set_srid(line, 32632), include_srid=True, hex=True)
    edges.assign(geometry=[srid]).to_csv(path, index=False)
    with pytest.raises(
        DataError, match="columns lon and lat hold degrees, and the CRS is EPSG:32632"
    ):
        dpviz.read_graph(tmp_path / "n.csv", path)


def test_parallel_streets_of_another_course_or_length_are_two(tmp_path):
    edges = [(101, 102, 0, {"length": 1340}, BENT), (102, 101, 0, {"length": 1115}, None)]
    edges += [(102, 101, 1, {"length": 1341}, BENT[::-1]), (102, 101, 2, {"length": 1200}, None)]
    graph = dpviz.read_graph(graphml(tmp_path / "g.graphml", edges=edges, crs="epsg:4326"))
    assert graph.edge_id.tolist() == ["101-102-0", "102-101-0", "102-101-2"]
    assert graph.twins == {"102-101-1": 0}
    trips = read_trips(pd.DataFrame({"edges": [["102-101-1"], ["102-101-0"]]}), graph, name="t")
    assert trips_of(trips).edge.tolist() == [0, 1]
