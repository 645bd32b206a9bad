"""Built-in data sets: as described, repeatable, no person in a sea or river."""

import numpy as np
import pandas as pd
import pytest

from dpviz.datasets import DATASETS, city_graph, dataset, persons
from dpviz.datasets.geography import habitable, river_y, to_plane
from dpviz.errors import DataError


@pytest.mark.slow
@pytest.mark.parametrize("name", DATASETS)
def test_a_built_in_data_set_is_as_described(name):
    row = dataset(name)
    points = row.points()
    assert points.shape == (row.size, row.domain.dims)
    assert points.dtype == np.float64
    _, inside = row.domain.to_lattice(points)
    assert inside.all()
    assert "synthetic" in row.source
    for column in (row.unit, row.time):
        assert column is None or len(row.table()[column]) == row.size


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DATASETS.keys() - {"city-250k", "city-1m", "trips-200k"}))
def test_a_built_in_data_set_is_repeatable(name):
    """The smallest of each group of data sets that differ in size only."""
    row, again = dataset(name), dataset(name).make()
    for column, values in row.table().items():
        np.testing.assert_array_equal(values, again[column])
        with pytest.raises(ValueError, match="read-only"):
            values[0] = values[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["city-50k", "city-250k", "trips-50k", "persons", "year"])
def test_nobody_stands_in_the_sea_the_river_or_the_park(name):
    data = dataset(name)
    place = data.domain.without_time.dims
    places = to_plane(data.points()[:, :place].reshape(-1, 2))
    assert habitable(places).all()


def test_the_city_is_heavy_tailed():
    points = dataset("city-250k").points()
    cells, _ = dataset("city-250k").domain.to_lattice(points)
    counts = np.bincount((cells >> 17) @ [512, 1], minlength=512 * 512)
    assert (counts == 0).mean() > 0.85
    assert counts.max() > 100 * np.median(counts[counts > 0])


def test_trips_are_mostly_short_and_sometimes_long():
    start, end = (
        to_plane(dataset("trips-50k").points().reshape(-1, 2)).reshape(-1, 2, 2).swapaxes(0, 1)
    )
    distance = np.hypot(*(end - start).T)
    assert np.median(distance) < 5
    assert (distance > 20).mean() > 0.01


def test_an_unknown_name_lists_those_that_exist():
    with pytest.raises(DataError, match="no built-in data set 'paris': choose from city-250k"):
        dataset("paris")


def test_the_street_network_is_connected_and_sound():
    import networkx

    network = city_graph()
    nodes, edges = network.nodes_table(), network.edges_table()
    graph = networkx.Graph(network.edges.tolist())
    assert graph.number_of_nodes() == len(nodes) > 5_000
    assert networkx.is_connected(graph)
    assert (edges["length"] > 0).all()
    assert (network.edges[:, 0] != network.edges[:, 1]).all()
    assert network.lines().shape == (len(edges), 2, 2)
    np.testing.assert_allclose(
        network.lines()[:, 0], nodes[["lon", "lat"]].to_numpy()[edges["src"]]
    )


def test_only_main_roads_cross_the_river():
    network = city_graph()
    assert network.bridge.any()
    assert network.main[network.bridge].all()
    a, b = network.xy[network.edges].swapaxes(0, 1)
    crosses = (a[:, 1] > river_y(a[:, 0])) != (b[:, 1] > river_y(b[:, 0]))
    assert network.main[crosses].all()


def test_persons_keep_a_routine():
    tracks = pd.DataFrame(persons.sightings(200))
    assert list(tracks.columns) == ["person", "time", "lon", "lat"]
    assert tracks["person"].nunique() == 200
    assert tracks.equals(tracks.sort_values(["person", "time"], kind="stable"))
    last = tracks.groupby(["person", tracks["time"].dt.day])[["lon", "lat"]].last()
    assert (last.groupby("person").std().median() < 1e-3).all()  # each day ends at home


def test_the_year_has_a_festival_and_an_outage():
    data = dataset("year")
    table = data.table()
    day = np.floor((table["time"] - data.domain.period[0]) / 86_400).astype(int)
    days = np.bincount(day, minlength=365)
    assert len(days) == 365
    assert np.argmax(days) == 165  # the 15th of June
    east = np.hypot(*(to_plane(np.c_[table["lon"], table["lat"]]) - [0.5, -4.9]).T) < 3.5
    assert np.flatnonzero(np.bincount(day[east], minlength=365) == 0).tolist() == [280, 281, 282]
    weekday = days.reshape(-1)[: 52 * 7].reshape(52, 7).sum(axis=0)  # starting on a Tuesday
    assert weekday[[4, 5]].max() < weekday[[0, 1, 2, 3, 6]].min()
