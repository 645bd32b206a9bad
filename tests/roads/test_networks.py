"""Random networks against networkx and pyproj: lengths, paths, counts, nearest streets."""

import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pyproj
import pytest
import shapely

import dpviz
from dpviz.private.load.events import nearest_edges
from tests.commands import as_json

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_this_process")]

GEOD = pyproj.Geod(ellps="WGS84")
NODES, MORE = 10, 8
PLACES = {
    "EPSG:4326": (25.0, 79.0),
    "EPSG:4258": (-8.0, 41.0),  # degrees in another datum
    "EPSG:32635": (27.0, 64.0),
    "EPSG:3857": (15.0, 70.0),  # a unit there is a third of a metre on the ground
    "EPSG:4087": (-20.0, 66.0),  # a plane twice as wide as the ground
    "EPSG:2263": (-74.0, 40.7),  # in feet
    "+proj=omerc +lat_0=60 +lonc=10 +alpha=30 +gamma=0 +ellps=WGS84 +type=crs": (10.0, 60.0),
}
"""Where each CRS is tried: longitude and latitude."""


class Network:
    """A connected network of bent streets, some of them parallel, in one CRS."""

    def __init__(self, seed, crs, directed):
        self.random, self.crs, self.directed = np.random.default_rng(seed), crs, directed
        lon, lat = PLACES[crs]
        local = f"+proj=aeqd +lat_0={lat} +lon_0={lon} +ellps=WGS84 +type=crs"
        known = pyproj.CRS.from_user_input(crs)
        self.from_local = pyproj.Transformer.from_crs(local, known, always_xy=True)
        self.to_degrees = pyproj.Transformer.from_crs(
            known, known.geodetic_crs, always_xy=True
        ).transform
        self.place = self.random.uniform(-2_000, 2_000, (NODES, 2))
        pairs = [(int(self.random.integers(0, at)), at) for at in range(1, NODES)]
        while len(pairs) < NODES - 1 + MORE:
            pairs.append(tuple(self.random.choice(NODES, 2, replace=False).tolist()))
        pairs.append(pairs[0])  # a parallel street, with other bends
        self.edges = {}
        for at, (a, b) in enumerate(pairs):
            share = np.sort(self.random.uniform(0.1, 0.9, at % 3 + 1))[:, None]
            bends = self.place[a] + share * (self.place[b] - self.place[a])
            bends += self.random.normal(0, 300, bends.shape)
            line = self._drawn(np.concatenate([self.place[[a]], bends, self.place[[b]]]))
            self.edges[f"e{at}"] = (a, b, line)
            if at % 2 == 0:  # both directions are listed
                self.edges[f"r{at}"] = (b, a, line[::-1])

    def _drawn(self, points):
        return np.column_stack(self.from_local.transform(*np.transpose(points)))

    def street(self, name):
        return name if self.directed else name.replace("r", "e")

    def length(self, name):
        return GEOD.line_length(*self.to_degrees(*self.edges[name][2].T))

    def write(self, folder):
        """The tables of nodes and edges; the geometry as WKT or as WKB."""
        x, y = self._drawn(self.place).T
        degrees = pyproj.CRS.from_user_input(self.crs).is_geographic
        names = ("lon", "lat") if degrees else ("x", "y")
        nodes = pd.DataFrame({"node": range(NODES), **dict(zip(names, (x, y), strict=True))})
        nodes.to_csv(folder / "nodes.csv", index=False)
        rows = [(name, a, b, shapely.LineString(line)) for name, (a, b, line) in self.edges.items()]
        edges = pd.DataFrame(rows, columns=["edge", "src", "dst", "geometry"])
        if self.directed:
            edges["geometry"] = shapely.to_wkb(edges["geometry"])
            edges.to_parquet(folder / "edges.parquet")
            return folder / "nodes.csv", folder / "edges.parquet"
        edges["geometry"] = shapely.to_wkt(edges["geometry"], rounding_precision=-1)
        edges.to_csv(folder / "edges.csv", index=False)
        return folder / "nodes.csv", folder / "edges.csv"

    def reference(self):
        """The same in networkx, the key of an edge its street."""
        graph = nx.MultiDiGraph() if self.directed else nx.MultiGraph()
        for name, (a, b, _) in self.edges.items():
            graph.add_edge(a, b, key=self.street(name), weight=self.length(name))
        return graph

    def shortest(self, graph, a, b):
        """Streets of the shortest path by networkx, and its length; None where none leads there."""
        if not nx.has_path(graph, a, b):
            return None
        nodes = nx.dijkstra_path(graph, a, b)
        best = [
            min(graph[one][two].items(), key=lambda each: each[1]["weight"])
            for one, two in itertools.pairwise(nodes)
        ]
        return [name for name, _ in best], sum(facts["weight"] for _, facts in best)

    def trips(self, graph, count):
        """Shortest paths between random nodes, whose streets have either of their ids."""
        trips = []
        while len(trips) < count:
            found = self.shortest(graph, *self.random.choice(NODES, 2, replace=False).tolist())
            if found is not None:
                trips.append([self._named(street) for street in found[0]])
        return trips

    def _named(self, street):
        twin = street.replace("e", "r")
        return (
            twin
            if not self.directed and twin in self.edges and self.random.random() < 0.5
            else street
        )

    def apart(self, points):
        """Metres from each point to each edge (n, m), by geodesics to places along it."""
        lines = [shapely.LineString(line) for _, _, line in self.edges.values()]
        share = np.linspace(0, 1, 400)
        along = shapely.line_interpolate_point(
            np.repeat(lines, 400), np.tile(share, len(lines)), normalized=True
        )
        lon, lat = self.to_degrees(*shapely.get_coordinates(along).T)
        here = [np.repeat(axis, len(lon)) for axis in self.to_degrees(*points.T)]
        there = [np.tile(axis, len(points)) for axis in (lon, lat)]
        metres = GEOD.inv(*here, *there)[2]
        return metres.reshape(len(points), len(lines), 400).min(axis=2)


@pytest.mark.parametrize("seed", range(14))
def test_lengths_paths_counts_and_nearest_streets_are_those_of_networkx_and_pyproj(seed, tmp_path):
    """Each CRS with directions and without."""
    network = Network(seed, [*PLACES][seed % len(PLACES)], directed=seed % 2 == 1)
    files = network.write(tmp_path)
    graph = dpviz.read_graph(*files, crs=network.crs, directed=network.directed)
    streets = {network.street(name) for name in network.edges}
    assert sorted(graph.edge_id.tolist()) == sorted(streets)
    lengths = [network.length(name) for name in graph.edge_id.tolist()]
    np.testing.assert_allclose(graph.length, lengths, rtol=1e-7)

    reference = network.reference()
    trips = network.trips(reference, 60)
    pd.DataFrame({"edges": trips}).to_parquet(tmp_path / "trips.parquet")
    data = dpviz.load(tmp_path / "trips.parquet", graph, public=True)
    release = dpviz.build(data, "dwork", 1e9, max_length=NODES, seed=1)
    release.save(tmp_path / "release.parquet")
    pairs = network.random.choice(NODES, (8, 2))
    wanted = [(a, b, network.shortest(reference, a, b)) for a, b in pairs.tolist() if a != b]
    wanted = [each for each in wanted if each[2] is not None]
    asked = [f"--between={a},{b}" for a, b, _ in wanted]
    answers = as_json("query", tmp_path / "release.parquet", *asked)["answers"]
    counted = [name for trip in trips for name in {network.street(each) for each in trip}]
    for answer, (_, _, (path, length)) in zip(answers, wanted, strict=True):
        assert answer["path"] == path
        np.testing.assert_allclose(graph.length[graph.edge_rows(path)].sum(), length, rtol=1e-7)
        assert answer["count"] == sum(counted.count(name) for name in path)

    points = network._drawn(network.random.uniform(-2_000, 2_000, (12, 2)))
    apart = network.apart(points)
    chosen = graph.edge_id[nearest_edges(graph, points)].tolist()
    names = [*network.edges]
    metres = apart[np.arange(len(points)), [names.index(name) for name in chosen]]
    assert (metres < apart.min(axis=1) + 3.0).all()  # positions along a street are metres apart
