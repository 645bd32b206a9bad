"""Options that do not apply to the source are refused before payment."""

import duckdb
import geopandas
import pytest

import dpviz
from dpviz.errors import DataError
from tests.commands import fails, refused

POINTS = ("points.csv", "--bounds=0,0,1,1")
PLACES = (*POINTS, "--time=time", "--unit=who", "--side=4")
SYMBOLS = ("symbols.txt", "--alphabet=a,b")
TRIPS = ("trips.csv", "--graph=streets.geojson")
CITY, WALKS = ("city", "--graph=city"), ("city", "--side=8")


@pytest.mark.parametrize("command", ["build", "check", "evaluate"])
@pytest.mark.parametrize(
    ("source", "unfit", "line"),
    [
        (POINTS, ["--components=all"], "--components is for trips, not for points"),
        (POINTS, ["--drop-unknown"], "--drop-unknown is for trips and symbols, not for points"),
        (POINTS, ["--gap=3"], "sequences of places in time: give --time, --unit (the person)"),
        (
            POINTS,
            ["--graph=g.csv", "--steps"],
            "--steps are for different kinds of data",
        ),
        (TRIPS, ["--bounds=0,0,1,1"], "not for trips: leave it out"),
        (TRIPS, ["--bounds=0,0,1,1"], "--bounds is for points"),
        (SYMBOLS, ["--crs=EPSG:4326"], "not for symbols: leave it out"),
        (SYMBOLS, ["--time=t"], "not for symbols: leave it out"),
        (SYMBOLS, ["--decimal=."], "not for symbols: leave it out"),
        (PLACES, ["--directed"], "--directed is for trips"),
        (PLACES, ["--column=x"], "--column is for symbols, not for places in time"),
        (PLACES, ["--period=2024-01-01,2024-02-01"], "not for places in time: leave it out"),
    ],
)
def test_an_option_of_other_data_is_refused(command, source, unfit, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    more = {"build": ("-o", "out.parquet"), "evaluate": ("-o", "out.csv", "--public"), "check": ()}
    refused(tmp_path, (command, *source, *unfit, *more[command]), line)


@pytest.mark.parametrize(
    ("source", "unfit", "line"),
    [
        (POINTS, ["--areas=h3:8", "--workload=hot"], "not for areas: leave it out"),
        (POINTS, ["--levels=a"], "--levels is for areas and flows, not for points"),
        (TRIPS, ["--bits=9"], "--bits is for points and areas, not for trips"),
        (PLACES, ["--workload=hot"], "--workload is for points and trips"),
        *(
            (city, unfit, f"not for {built_in}: leave it out")
            for city, built_in in ((CITY, "the built-in trips"), (WALKS, "the built-in sequences"))
            for unfit in (["--unit=u"], ["--max-per-unit=2"], ["--drop-unknown"], ["--table=t"])
        ),
        (CITY, ["--components=all"], "not for the built-in trips: leave it out"),
        (WALKS, ["--time=t"], "not for the built-in sequences: leave it out"),
    ],
)
def test_a_build_refuses_an_option_without_use(source, unfit, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(tmp_path, ("build", *source, *unfit, "-o", "out.parquet"), line)


def test_failure_requires_upward_padding(tmp_path):
    words = ("match", "a.parquet", "b.parquet", "--within", "1", "--padding", "noisy")
    line = fails(*words, "--failure", "0.1")
    assert "--failure requires --padding upward" in line


@pytest.mark.parametrize(
    ("source", "kind", "unfit"),
    [
        ("city", "sequences", {"unit": "person"}),
        ("city", "sequences", {"drop_unknown": True}),
        ("city", "sequences", {"time": "time"}),
        ("city", "roads", {"unit": "person"}),
        ("city", "roads", {"name": "mine"}),
        ("city", "roads", {"drop_unknown": True}),
        ("generate:5", "roads", {"name": "mine"}),
    ],
)
def test_python_refuses_what_synthetic_data_have_no_use_for(source, kind, unfit):
    (name,) = unfit
    graph = dpviz.read_graph("city") if source != "city" else None
    with pytest.raises(DataError, match=f"{name}.*leave it out"):
        dpviz.load(source, graph, kind=kind, **unfit)


def test_built_in_points_have_their_own_crs_and_no_tables(tmp_path, monkeypatch):
    """Regression: their degrees were read as metres."""
    monkeypatch.chdir(tmp_path)
    box = "--bounds=1590000,-2740000,1690000,-2690000"
    for unfit in (["--crs", "EPSG:3857", box], ["--crs", "EPSG:3857"], ["--table", "t"]):
        words = ("build", "city-50k", "--public", *unfit, "-o", "out.parquet")
        line = f"error: {unfit[0][2:]} is not for the built-in data city-50k:"
        refused(tmp_path, words, line)


def test_built_in_points_are_projected_into_a_box_of_another_crs():
    degrees = dpviz.load("city-50k")
    west, south, east, north = degrees.domain.bounds
    corners = geopandas.GeoSeries.from_xy([west, east], [south, north], crs="EPSG:4326")
    box = dpviz.Domain.from_bounds(corners.to_crs("EPSG:3857").total_bounds, crs="EPSG:3857")
    built = dpviz.build(dpviz.load("city-50k", box), "ugrid", 1e6, seed=0, cells=2)
    assert built.count(box.bounds).count[0] == pytest.approx(50_000, rel=0.001)


@pytest.mark.parametrize(
    "options",
    [
        ("--graph=nodes.csv,edges.csv", "--workload=clustered:1"),
        ("--alphabet=a,b", "--column=edges"),
    ],
)
def test_a_database_gives_points_only(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes.csv").write_text("node,x,y\n1,0,0\n2,1,1\n")
    (tmp_path / "edges.csv").write_text("edge,src,dst\na,1,2\n")
    with duckdb.connect("city.duckdb") as database:
        database.execute("CREATE TABLE rides AS SELECT ['a'] AS edges FROM range(9)")
    words = ("build", "duckdb:///city.duckdb", *options, "-o", "r.parquet", "--table=rides")
    refused(tmp_path, words, "rides: a database gives points only, which it counts by cell: export")
