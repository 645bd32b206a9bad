"""Areas at the command line: from files of records and districts to answers and exports."""

import csv
from itertools import pairwise

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shapely import box

import dpviz
from dpviz.errors import ReleaseError
from dpviz.private.areas import AreaData
from tests.commands import as_json, refused, run
from tests.vault import counts_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wards(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wards")
    lines = np.linspace(0, 1, 5)
    rows = [
        {
            "code": f"W{i}{j}",
            "district": "north" if j > 1 else "south",
            "country": "land",
            "people": i + j,
            "geometry": box(left, low, right, high),
        }
        for i, (left, right) in enumerate(pairwise(lines))
        for j, (low, high) in enumerate(pairwise(lines))
    ]
    path = folder / "wards.gpkg"
    geopandas.GeoDataFrame(rows, crs=4326).to_file(path)
    return path


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    xy = np.random.default_rng(0).beta(2, 5, (2_000, 2))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["lon", "lat", "who"])
        writer.writerows([*each, row % 200] for row, each in enumerate(xy.tolist()))
    return path


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


LEVELS = ("--levels", "country,district,code")


def built(visits, wards, output, *options):
    return as_json("build", visits, "--areas", wards, "-o", output, *options)


def test_build_query_info_and_export_keep_the_contract(visits, wards, tmp_path):
    output = tmp_path / "r.parquet"
    facts = built(visits, wards, output, *LEVELS, "--epsilon", "1", "--unit", "who")
    assert set(facts) == {"areas", "levels", "epsilon", "guarantee", "seconds"}
    assert facts["levels"] == {"country": 1, "district": 2, "code": 16}
    rows = as_json("query", output, "--areas")["areas"]
    assert [set(row) for row in rows] == [{"level", "name", "parent", "count", "low", "high"}] * 19
    assert [row["level"] for row in rows] == ["country", *["district"] * 2, *["code"] * 16]
    for row in rows[:3]:
        assert row["count"] == sum(e["count"] for e in rows if e["parent"] == row["name"])
    names = [row["name"] for row in rows[3:1:-1]]
    named = as_json("query", output, *(f"--area={name}" for name in names))["areas"]
    assert named == rows[3:1:-1]
    answer = as_json("query", output, "--rect=0,0,0.6,1")["answers"][0]
    assert answer["uniformity_sd"] > 0
    assert "with cut areas" in run("query", output, "--rect=0,0,0.6,1")[1]
    info = as_json("info", output)
    assert info["levels"] == facts["levels"]
    assert [row["purpose"] for row in info["budget"]] == [
        f"level {name}" for name in info["levels"]
    ]
    for name, every, size in (("a.csv", (), 16), ("b.csv", ("--all-nodes",), 19)):
        assert run("export", output, "-o", tmp_path / name, *every)[0] == 0
        table = rows_of(tmp_path / name)
        assert len(table) == size
        assert {"level", "name", "parent", "count", "low", "high"} <= set(table[0])
    for name, layer in (("a.gpkg", "dpviz"), ("a.geojson", None)):
        assert run("export", output, "-o", tmp_path / name)[0] == 0
        frame = geopandas.read_file(tmp_path / name, layer=layer)
        assert {"name", "count", "low", "high"} <= set(frame.columns)
        assert len(frame) == 16


def test_control_characters_in_names_are_printed_as_escapes(visits, tmp_path):
    rows = [{"name": "ward\x1b[2J\r\u202eA\nB", "geometry": box(0, 0, 1, 1)}]
    geopandas.GeoDataFrame(rows, crs=4326).to_file(tmp_path / "wards.gpkg")
    output = tmp_path / "r.parquet"
    built(visits, tmp_path / "wards.gpkg", output, "--name", "name", "--epsilon", "1")
    code, out, _ = run("query", output, "--areas")
    assert code == 0
    assert out.startswith(r"name ward\x1b[2J\r\u202eA\nB: ")
    assert not {"\x1b", "\r", "\u202e"} & set(out)
    (row,) = as_json("query", output, "--areas")["areas"]
    assert row["name"] == rows[0]["name"]


def test_a_geopackage_of_several_layers_is_not_replaced(visits, wards, tmp_path):
    output, layered = tmp_path / "r.parquet", tmp_path / "layered.gpkg"
    built(visits, wards, output, *LEVELS)
    frame = geopandas.read_file(wards)
    frame.to_file(layered, layer="wards")
    frame.set_geometry(frame.representative_point()).to_file(layered, layer="pumps")
    before = layered.read_bytes()
    with pytest.raises(
        ReleaseError, match=r"layered\.gpkg holds 2 layers, which would be lost: name a"
    ):
        dpviz.export(dpviz.read(output), layered)
    assert layered.read_bytes() == before
    layered.unlink()
    frame.to_file(layered, layer="wards")  # the only one may be replaced
    assert len(geopandas.read_file(dpviz.export(dpviz.read(output), layered), layer="dpviz")) > 0


def test_hexagons_are_counted_in_whole_numbers(visits, tmp_path):
    output = tmp_path / "h.parquet"
    facts = built(visits, "h3:5", output, "--bounds=0,0,1,1", "--set", "whole=true")
    assert set(facts["levels"]) == {"h3:3", "h3:4", "h3:5"}
    rows = as_json("query", output, "--areas")["areas"]
    assert all(row["count"] == int(row["count"]) >= 0 for row in rows)


def test_unfit_options_are_one_line_and_nothing_is_paid(visits, wards, tmp_path):
    output = tmp_path / "r.parquet"
    build = ("build", visits, "-o", output, "--ledger", tmp_path / "ledger.sqlite")
    box = "--bounds=0,0,1,1"
    counted = tmp_path / "folder"
    counted.mkdir()
    pq.write_table(pa.table({"lon": [0.5], "lat": [0.5]}), counted / "a.parquet")
    for words, line in [
        ((*build, "--areas", "h3:5"), "give --bounds"),
        ((*build, "--areas", "h3:x", box), "a resolution from 0 to 15"),
        ((*build, "--areas", "h3:5", box, "--name", "code"), "H3 names its cells"),
        ((*build, "--areas", wards, "--levels", "country,town"), "no column 'town'"),
        ((*build, "--areas", wards, "--method", "privtree"), "choose one of areas"),
        ((*build, box, "--method", "areas"), "method areas works on areas, the data are points"),
        ((*build, box, "--levels", "a,b"), "--levels is for areas and flows, not for points"),
        ((*build, "--areas", wards, "--bounds=0,0,0.5,0.5"), "reaches out of the bounds"),
        ((*build, "--areas", wards, "--time", "t", "--period", "2024,2025"), "--every is missing"),
        (("build", counted, *build[2:], "--areas", wards, box, "--bits", 16), "in several areas"),
    ]:
        refused(tmp_path, words, line)
    built(visits, wards, output, "--name", "code")
    for words, line in [
        (("query", output), "--areas"),
        (("query", output, "--regions", wards), "--regions is for points, not for areas"),
        (("query", output, "--areas", "--rect=0,0,1,1"), "give one"),
        (("sample", output, "-o", tmp_path / "s.csv"), "a release of areas"),
        (("timeline", output), "this release has no time axis"),
        (("share", output, output, "-o", tmp_path / "x.html"), "give that alone"),
    ]:
        refused(tmp_path, words, line)


@pytest.mark.parametrize("most", [1, 3])
def test_a_unit_more_in_the_file_moves_at_most_its_bound(visits, wards, tmp_path, most):
    """Records on borders, outside and unreadable: the areas' counts differ by at most K."""
    lines = visits.read_text().splitlines()
    more = ["0.25,0.5,zed", "0.9,0.9,zed", "7,7,zed", "x,y,zed", ",,zed", "0.1,0.2,zed"]
    (tmp_path / "more.csv").write_text("\n".join([lines[0], *more, *lines[1:]]) + "\n")
    areas = dpviz.read_areas(wards)
    counts = [
        counts_of(
            AreaData(
                dpviz.load(path, areas.domain, unit="who", max_per_unit=most, public=True), areas
            )
        )
        for path in (visits, tmp_path / "more.csv")
    ]
    assert np.abs(counts[1] - counts[0]).sum() == min(most, 3)
