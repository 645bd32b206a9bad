"""Events at places on their nearest streets: geometry, forms, stability and refusals."""

import itertools
import json
from functools import partial

import geopandas as gpd
import numpy as np
import pandas as pd
import pyproj
import pytest
import shapely
from hypothesis import given

import dpviz
from dpviz.errors import DataError
from dpviz.private.load.check import check_source
from dpviz.private.load.events import nearest_edges, surroundings
from dpviz.private.load.roads import read_trips
from dpviz.private.load.tally import Fact
from dpviz.roads.paths import Paths
from dpviz.roads.steps import Steps
from dpviz.roads.tables import road_graph
from tests.commands import fails, run
from tests.geojson import lines
from tests.private.load.stability import (
    bounds,
    check,
    delimited,
    moved_trips,
    of_unit,
    often,
    put,
    rows,
    units,
)
from tests.vault import steps_of, trips_of

GRAPH = road_graph(
    {"node": ["a", "b", "c", "d"], "x": [0.0, 1.0, 1.0, 0.0], "y": [0.0, 0.0, 1.0, 1.0]},
    {"edge": ["ab", "bc", "cd"], "src": ["a", "b", "c"], "dst": ["b", "c", "d"]},
)
"""Three sides of a square, in a plane of its own."""

LISBON = road_graph(
    {"node": [0, 1, 2], "lon": [-9.15, -9.14, -9.14], "lat": [38.72, 38.72, 38.73]},
    {"edge": ["across", "along"], "src": [0, 1], "dst": [1, 2]},
    crs="EPSG:4326",
)
EVENTS = pd.DataFrame(
    {
        "who": ["ann", "ann", "bob", "cy", "dee"],
        "lon": [-9.147, -9.1401, -9.14, -9.145, np.nan],
        "lat": [38.7201, 38.727, 38.729, 38.9, 38.72],
        "when": ["2024-03-04T08:00", "2024-03-05", "2024-03-05T23:59", "2024-03-04", "2024-03-04"],
    }
)
"""One across, two along, one far away, one without a place."""


def edges_of(data):
    return data.graph.edge_id[trips_of(data).edge].tolist()


def test_the_nearest_street_is_that_of_shapely_the_first_of_several_in_metres():
    rng = np.random.default_rng(7)
    nodes, ends = rng.random((40, 2)), rng.integers(0, 40, (60, 2))
    ends = np.concatenate([ends[ends[:, 0] != ends[:, 1]], [[3, 3]]])  # and a loop without extent
    table = {"src": ends[:, 0], "dst": ends[:, 1], "length": np.arange(1, len(ends) + 1)}
    graph = road_graph(
        {"node": np.arange(40), "x": nodes[:, 0], "y": nodes[:, 1]}, table, components="all"
    )
    places = rng.random((500, 2))
    apart = shapely.distance(
        shapely.points(places)[:, None], shapely.linestrings(nodes[ends])[None, :]
    )
    nearest = nearest_edges(graph, places)
    np.testing.assert_allclose(apart[np.arange(500), nearest], apart.min(axis=1), rtol=1e-12)
    twice = road_graph(
        {"node": [0, 1], "x": [0, 1], "y": [0, 0]},
        {"src": [0, 1, 0], "dst": [1, 0, 1], "length": [1, 2, 3]},
    )
    assert nearest_edges(twice, places).tolist() == [0] * 500
    # At 60° a degree of longitude is half as long: 0.015° from one street, 0.01° from another.
    north = road_graph(
        {"node": [0, 1, 2], "lon": [10.0, 10.0, 10.1], "lat": [60.0, 60.1, 60.1]},
        {"edge": ["west", "top"], "src": [0, 1], "dst": [1, 2]},
        crs="EPSG:4326",
    )
    assert nearest_edges(north, np.array([[10.015, 60.09]])).tolist() == [0]
    assert nearest_edges(north, np.empty((0, 2))).tolist() == []


def test_the_box_reaches_beyond_the_streets_by_a_middling_one():
    box = surroundings(GRAPH)
    assert (box.lower, box.upper, box.crs) == ((-1.0, -1.0), (2.0, 2.0), "")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "usual", "named", "wkt", "geojson", "gpkg", "frame"])
def test_every_form_counts_the_same_streets_and_tells_the_owner_what_it_dropped(form, tmp_path):
    source, how = tmp_path / "a.csv", {}
    shapes = [
        None if np.isnan(lon) else shapely.Point(lon, lat)
        for lon, lat in zip(EVENTS.lon, EVENTS.lat, strict=True)
    ]
    if form in ("csv", "usual", "named"):
        names = {"usual": ("Longitude", "Latitude"), "named": ("east", "north")}
        renamed = dict(zip(("lon", "lat"), names.get(form, ("lon", "lat")), strict=True))
        EVENTS.rename(columns=renamed).to_csv(source, index=False)
        how = {"columns": ("east", "north")} if form == "named" else {}
    elif form == "wkt":
        EVENTS.assign(wkt=[shapely.to_wkt(each) for each in shapes]).drop(
            columns=["lon", "lat"]
        ).to_csv(source, index=False)
    else:
        frame = gpd.GeoDataFrame(EVENTS.drop(columns=["lon", "lat"]), geometry=shapes, crs=4326)
        if form == "frame":
            source = frame
        else:
            source = tmp_path / f"a.{form}"
            frame.to_crs(4326 if form == "geojson" else 3763).to_file(source)
    how["name"] = "events"
    data = dpviz.load(source, LISBON, **how)
    assert sorted(edges_of(data)) == ["across", "along", "along"]
    assert (data.unit, data.records, data.longest) == ("one event", "events", 1)
    tally, words = check_source(source, LISBON, **how)
    facts = tally.facts
    assert words.startswith("events, each on its nearest street: ")
    left_out = {each: facts[each] for each in facts if each.endswith("dropped")}
    assert sum(left_out.values()) == 2
    assert facts["with an empty place: dropped"] == 1
    assert facts["kept"] == 3
    of_person = dpviz.load(source, LISBON, unit="who", max_per_unit=2, **how)
    assert of_person.unit == "one who with at most 2 events"
    assert of_person.accounted_unit == "one who"
    assert len(trips_of(dpviz.load(source, LISBON, unit="who", **how))) == 2


@pytest.mark.parametrize("form", ["events", "trips", "places"])
def test_empty_times_are_told_apart_from_unreadable_ones(form):
    whole = {"trip": [1, 2, 3, 4], "edge": "along", "who": "ann"}
    rows = pd.DataFrame({"when": ["2024-03-04T10:00", "", None, "soon"], **whole})
    if form != "trips":
        rows = rows[["when", "who"]].assign(lon=EVENTS.lon[0], lat=EVENTS.lat[0])
    box, how = LISBON, {"steps": Steps.of("when", "2024-03-04,2024-03-06", "1d")}
    if form == "places":
        box, how = dpviz.Domain((-10, 38), (-9, 39)), {"time": "when", "unit": "who"}
    tally, _ = check_source(rows, box, **how)
    assert tally.dropped == {Fact.EMPTY_TIME: 2, Fact.NO_TIME: 1}


def test_an_event_is_in_the_step_of_its_time():
    steps = Steps.of("when", "2024-03-04,2024-03-06", "1d")
    data = read_trips(EVENTS, LISBON, steps=steps, name="events")
    assert [len(trips) for trips in steps_of(data)] == [1, 2]
    zoned = Steps.of("when", "2024-03-04,2024-03-06", "1d", "America/New_York")
    data = read_trips(EVENTS, LISBON, steps=zoned, name="e")
    assert [len(trips) for trips in steps_of(data)] == [1, 2]


@pytest.mark.usefixtures("one_key")
@often(20)
@given(rows, units, bounds)
def test_one_record_or_unit_more_moves_no_other(folders, records, unit, most):
    """Files are read as those of points are, which other tests hold in every format."""

    def write(folder, each):
        (folder / "table.csv").write_text(delimited(each))
        return folder / "table.csv"

    how, most = of_unit(unit, most)
    read = partial(read_trips, graph=GRAPH, name="t", columns=("x", "y"), **how)
    check(read, put(folders, records, unit, write), most, moved_trips)


def refused(**how):
    with pytest.raises(DataError) as error:
        read_trips(how.pop("source", EVENTS), how.pop("graph", LISBON), name="e", **how)
    return str(error.value)


def test_columns_of_json_are_named_and_never_guessed(tmp_path):
    """Regression: they were read as trips without edges: an empty release was paid for."""
    steps = [
        {"trip": trip, "edge": edge, "edges": [edge], "nodes": [0, 1], "lon": -9.145, "lat": 38.72}
        for trip, edge in ((1, "across"), (1, "along"), (2, "along"))
    ]
    taken = {
        ("edges",): [["across"], ["along"], ["along"]],
        ("nodes",): [["across"]] * 3,
        ("trip", "edge"): [["across", "along"], ["along"]],
        ("edge", "trip"): [["across", "along"], ["along"]],
        ("lon", "lat"): [["across"]] * 3,
    }
    for path in (tmp_path / "steps.json", tmp_path / "steps.jsonl"):
        lines = [json.dumps(each) for each in steps]
        path.write_text("\n".join(lines) if path.suffix == ".jsonl" else f"[{','.join(lines)}]")
        assert "does not declare its columns" in refused(source=path)
        for columns, wanted in taken.items():
            data = read_trips(path, LISBON, columns=columns, name="steps")
            starts, edges = trips_of(data).start, edges_of(data)
            read = [edges[a:b] for a, b in itertools.pairwise(starts)]
            assert read == wanted, (path, columns)
        for columns in (("edge",), ("trip", "edges"), ("edges", "lon")):
            assert "for trips, name edges, or nodes" in refused(source=path, columns=columns)
    table = tmp_path / "steps.csv"
    table.write_text("trip,edge\n1,across\n")
    assert edges_of(read_trips(table, LISBON, columns=("trip", "edge"))) == ["across"]
    assert "no column 'edges'" in refused(source=table, columns=("edges",))


def test_what_does_not_fit_is_said_in_one_line(tmp_path):
    trace = EVENTS.assign(trip=[1, 1, 1, 2, 2])
    assert "each place would be a privacy unit" in refused(source=trace)
    assert len(trips_of(read_trips(trace, LISBON, unit="trip", name="e"))) == 1
    assert "drop_unknown is for trips" in refused(drop_unknown=True)
    assert "no column 'none'" in refused(columns=("lon", "none"))
    walks = pd.DataFrame({"trip": [1], "edge": ["across"]})
    assert "is for places" in refused(source=walks, crs="EPSG:4326")
    assert "the road graph has no CRS" in refused(graph=GRAPH, crs="EPSG:4326")
    points = gpd.GeoDataFrame(geometry=gpd.points_from_xy(EVENTS.lon, EVENTS.lat), crs=4326)
    points.to_file(tmp_path / "p.gpkg")
    assert "the road graph has no CRS" in refused(source=tmp_path / "p.gpkg", graph=GRAPH)
    assert "events at places name their coordinates" in refused(source=walks[["edge"]])
    for name, value in {"unit": "who", "columns": ("x", "y"), "crs": "EPSG:4326"}.items():
        assert "is not for synthetic trips" in refused(source="generate:9", **{name: value})
    with pytest.raises(DataError, match="an event is on several edges"):
        dpviz.private.roads.RoadData("e", GRAPH, Paths.of([[0, 1]]), placed="x, y")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["event-histogram", "freqitem", "flows", "gs", "dwork"])
def test_no_method_adds_noise_for_trips_longer_than_an_event(method):
    """The noise is that of trips which are known to be on one street, whatever the method's Δ."""
    workload = Paths.of([[0], [1]])
    data = dpviz.load(EVENTS, LISBON, public=True, name="e")
    release = dpviz.build(data, method, 1.0, workload=workload, simulate=True, seed=3)
    assert release.records == "events"
    assert release.limit == 1
    assert release.header.unit == "one event"
    walks = pd.DataFrame({"trip": [1, 2, 3], "edge": ["across", "along", "along"]})
    trips = dpviz.load(walks, LISBON, public=True, name="w")
    cut = {"workload": workload, "max_length": 1}
    same = dpviz.build(trips, method, 1.0, simulate=True, seed=3, **cut)
    assert release.answers.noise_sd.tolist() == same.answers.noise_sd.tolist()
    assert same.records == "trips"


@pytest.mark.slow
def test_the_command_reads_events_and_its_release_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVIZ_LEDGER", str(tmp_path / "ledger.sqlite"))
    EVENTS.to_csv("events.csv", index=False)
    streets = lines([(-9.15, 38.72), (-9.14, 38.72)], [(-9.14, 38.72), (-9.14, 38.73)])
    (tmp_path / "streets.geojson").write_text(streets)
    build = ["build", "events.csv", "--graph", "streets.geojson", "--workload", "corridor"]
    assert run(*build, "--workload", "clustered:1", "--unit", "who", "-o", "r.parquet")[0] == 0
    release = dpviz.read("r.parquet")
    assert (release.records, release.header.unit) == ("events", "one who with at most 1 event")
    checked = run("check", "events.csv", "--graph", "streets.geojson", "--columns", "lon,lat")
    assert "read as events, each on its nearest street: lon, lat" in checked[1]
    city = fails("build", "city", "--graph=city", "--columns=lon,lat", "-o", "c.parquet")
    assert "not for the built-in trips: leave it out" in city


def test_columns_of_longitude_and_latitude_are_degrees_whatever_the_crs_of_the_streets():
    """Regression: degrees were read as metres of the graph's CRS, and all events were dropped."""
    x, y = pyproj.Transformer.from_crs(4326, 32629, always_xy=True).transform(*LISBON.xy.T)
    edges = {"edge": ["across", "along"], "src": [0, 1], "dst": [1, 2]}
    metres = road_graph({"node": [0, 1, 2], "x": x, "y": y}, edges, crs="EPSG:32629")
    assert sorted(edges_of(read_trips(EVENTS, metres, name="e"))) == ["across", "along", "along"]
    plane = road_graph({"node": [0, 1, 2], "x": x, "y": y}, edges)
    assert "name the CRS of the graph" in refused(graph=plane)
