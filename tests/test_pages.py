"""The examples of the pages run, one after another, on files as the pages describe them."""

import re
import runpy
import shutil
import subprocess
import sys

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

from tests.commands import blocks, run_commands
from tests.readme import README, ROOT

EXAMPLES = {
    "answers.md": 7,
    "areas.md": 7,
    "calendar.md": 6,
    "commands.md": 2,
    "flows.md": 7,
    "kinds.md": 5,
    "plan.md": 5,
    "prior.md": 3,
    "publish.md": 11,
    "python.md": 0,
    "sequences.md": 4,
    "series.md": 5,
    "tables.md": 13,
    "time.md": 6,
    "tools.md": 2,
}
"""Commands on each page whose examples need files and built-in data only."""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The files that the pages name, in the folder where their examples run."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    n = 4_000
    table = pd.DataFrame(
        {
            "lon": np.r_[random.normal(-73.97, 0.03, n), random.uniform(14.4, 15.0, n)],
            "lat": np.r_[random.normal(40.76, 0.03, n), random.uniform(-24.1, -23.6, n)],
            "person": np.arange(2 * n) // 4,
            "rider": np.arange(2 * n) // 3,
            "mode": random.choice(["bike", "walk", "bus"], 2 * n),
            "fare": random.gamma(2, 6, 2 * n),
            "visited_at": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(random.integers(0, 366 * 86_400, 2 * n), "s"),
        }
    )
    table[["lon", "lat", "person", "mode", "visited_at", "fare"]].to_csv("visits.csv", index=False)
    october = table.visited_at.dt.strftime("10/%d/2024 %I:%M:%S %p")
    table.assign(pickup_datetime=october).to_csv("trips-us.csv", index=False)
    for name in ("pickups", "rides", "visits"):
        table.to_parquet(f"{name}.parquet")
    table.iloc[::2].to_parquet("last_year.parquet")
    table.iloc[::9].assign(addresses=20).to_csv("postcodes.csv", index=False)
    _write_wards()
    _write_commutes(table[n:])
    _write_population()
    _write_streets(random)


def _write_wards():
    """Thirty wards in five districts, with the column names that the page on areas uses."""
    west, south = np.meshgrid(np.arange(14.4, 14.95, 0.1), np.arange(-24.1, -23.65, 0.1))
    shapes = shapely.box(west, south, west + 0.1, south + 0.1).ravel()
    columns = {"country": "land", "district": [f"d{at // 6}" for at in range(30)]}
    frame = geopandas.GeoDataFrame(columns, geometry=shapes, crs=4326)
    frame["ward"] = [f"w{at}" for at in range(30)]
    frame.to_file("wards.gpkg")
    frame[["ward", "geometry"]].to_file("mine.gpkg")
    frame[["ward", "geometry"]].to_file("cities.gpkg", layer="wards")
    frame[["district", "geometry"]].to_file("cities.gpkg", layer="districts")


def _write_commutes(visits):
    """Trips between the wards, by place and by the names of both ends."""
    visits = visits.reset_index(drop=True)
    there = visits[["lon", "lat"]].to_numpy()
    ends = pd.DataFrame(
        np.hstack([there, there[::-1]]), columns=["start_lon", "start_lat", "end_lon", "end_lat"]
    )
    ward = np.arange(len(visits)) % 30
    ends["home"], ends["work"] = [f"w{at}" for at in ward], [f"w{at // 2}" for at in ward]
    ends.join(visits[["person", "mode", "visited_at"]]).to_csv("commutes.csv", index=False)


def _write_population():
    """Squares with inhabitants in the rectangle around New York."""
    west, south = np.meshgrid(np.arange(-74.3, -73.6, 0.1), np.arange(40.4, 41.0, 0.1))
    shapes = shapely.box(west, south, west + 0.1, south + 0.1).ravel()
    frame = geopandas.GeoDataFrame({"people": np.arange(len(shapes))}, geometry=shapes, crs=4326)
    frame.to_file("population.gpkg")


def _write_streets(random):
    """A square grid of streets, as tables and as lines, with trips and crashes on it."""
    side = 12
    at = np.arange(side * side)
    lon, lat = 10 + at % side / 1_000, 50 + at // side / 1_000
    pd.DataFrame({"node": at, "lon": lon, "lat": lat}).to_csv("nodes.csv", index=False)
    src = np.r_[at[at % side < side - 1], at[at < side * (side - 1)]]
    dst = src + np.repeat([1, side], len(src) // 2)
    edges = pd.DataFrame({"edge": np.arange(len(src)), "src": src, "dst": dst})
    edges.to_csv("edges.csv", index=False)
    lines = [
        shapely.LineString([(lon[a], lat[a]), (lon[b], lat[b])])
        for a, b in zip(src, dst, strict=True)
    ]
    geopandas.GeoDataFrame({"id": edges.edge}, geometry=lines, crs=4326).to_file("streets.geojson")
    places = {"lon": random.uniform(10, 10.01, 500), "lat": random.uniform(50, 50.01, 500)}
    pd.DataFrame(places).to_csv("crashes.csv", index=False)
    start = pd.Timestamp("2024-03-04") + pd.to_timedelta(random.integers(0, 7 * 86_400, 500), "s")
    trips = {"trip": np.arange(500), "edge": random.integers(0, len(src), 500), "start": start}
    pd.DataFrame(trips).assign(person=np.arange(500) // 2).to_csv("trips.csv", index=False)


@pytest.mark.parametrize("page", EXAMPLES)
def test_the_examples_of_a_page_run(page, files):
    path = ROOT / "assets" / "docs" / page
    assert len(run_commands(path)) == EXAMPLES[page]
    names: dict[str, object] = {}
    for example in blocks("python", path):
        exec("import dpviz\n" + example, names)


def test_the_program_with_types_runs(files, capsys, monkeypatch):
    program = ROOT / "assets" / "docs" / "quarters.py"
    monkeypatch.setattr(sys, "argv", [program.name, "visits.csv"])
    runpy.run_path(str(program), run_name="__main__")
    assert (
        len(re.findall(r"^(south|north)-(west|east): [\d,]+ \(", capsys.readouterr().out, re.M))
        == 4
    )


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_example_in_r_runs(files):
    page = ROOT / "assets" / "docs" / "tools.md"
    run_commands(page)
    (example,) = blocks("r", page)
    done = subprocess.run(["Rscript", "-e", example], capture_output=True, text=True)
    assert done.stdout == "30 5 TRUE \n", done.stderr


def test_the_examples_of_the_readme_run(files, capsys):
    assert len(run_commands(README)) == 3
    (example,) = blocks("python", README)
    exec(example, {})
    assert "differentially private, ε = 1" in capsys.readouterr().out
