"""Tables of areas at the command line: check, build, query, timeline, info, share, export."""

import csv
from itertools import pairwise

import geopandas
import numpy as np
import pandas as pd
import pytest
from shapely import box

import dpviz
from tests.commands import as_json, refused, run

pytestmark = pytest.mark.slow

TABLE = (
    "--levels=district,ward", "--time=at", "--every=1mo", "--period=2024-01-01,2024-07-01",
    "--kind=mode", "--kinds=bike,walk", "--unit=who",
)  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    lines = np.linspace(0, 1, 4)
    rows = [
        {"ward": f"w{i}{j}", "district": f"d{i}", "geometry": box(left, low, right, high)}
        for i, (left, right) in enumerate(pairwise(lines))
        for j, (low, high) in enumerate(pairwise(lines))
    ]
    geopandas.GeoDataFrame(rows, crs=4326).to_file(folder / "wards.geojson")
    random = np.random.default_rng(0)
    n = 1_200
    table = pd.DataFrame(
        {
            "lon": random.random(n),
            "lat": random.random(n),
            "at": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 200, n), "D"),
            "mode": random.choice(["bike", "walk", "bus"], n),
            "who": random.integers(0, 300, n),
            "fare": random.integers(-5, 30, n) / 2,
        }
    )
    table.to_csv(folder / "visits.csv", index=False)
    return folder, table


def test_three_commands_make_a_table_and_it_is_asked(files, tmp_path):
    folder, rows = files
    frame = (str(folder / "visits.csv"), f"--areas={folder / 'wards.geojson'}", *TABLE)
    output = str(tmp_path / "table.parquet")
    facts = as_json("check", *frame)["facts"]
    listed = rows[(rows["at"] < "2024-07-01") & (rows["mode"] != "bus")]
    assert facts["kept"] < len(listed)
    built = as_json("build", *frame, "--max-per-unit=20", "--epsilon=1e6", "--public", "-o", output)
    assert built["steps"] == 6
    info = as_json("info", output)
    assert [each["purpose"] for each in info["budget"]] == ["level district", "level ward"]
    assert "6 steps of 1mo from 2024-01-01" in run("info", output)[1]
    exported = tmp_path / "table.csv"
    result = as_json("export", output, "-o", str(exported))
    with exported.open() as file:
        table = list(csv.DictReader(file))
    assert result["rows"] == len(table) == 9 * 3 * 7
    march = [each for each in table if each["start"] == "2024-03-01" and each["kind"] == "bike"]
    assert len(march) == 9
    expected = listed[(listed["mode"] == "bike") & (listed["at"].dt.month == 3)]
    assert sum(float(each["count"]) for each in march) == len(expected)
    answers = as_json(
        "query", output, "--areas", "--kind=bike", "--period=2024-03-01,2024-04-01"
    )["areas"]  # fmt: skip
    assert sum(each["count"] for each in answers if each["level"] == "ward") == len(expected)
    steps = as_json("timeline", output, "--area=d1")["timeline"]
    west = listed[(listed["lon"] > 1 / 3) & (listed["lon"] < 2 / 3)]
    assert [each["count"] for each in steps] == west.groupby(west["at"].dt.month).size().tolist()
    whole = as_json("timeline", output, "--kind=walk")["timeline"]
    assert sum(each["count"] for each in whole) == (listed["mode"] == "walk").sum()
    for ending in ("geojson", "geo.parquet"):
        shapes = tmp_path / f"t.{ending}"
        as_json("export", output, "--all-nodes", "-o", str(shapes))
        read = geopandas.read_parquet if ending.endswith("parquet") else geopandas.read_file
        assert len(read(shapes)) == 12 * 3 * 7
        assert read(shapes).crs.to_epsg() == 4326
    assert run("share", output, "-o", tmp_path / "t.html")[0] == 0
    code = as_json("info", output, "--code=all", "--source=visits.csv")
    assert "--every 1mo" in code["command"]
    assert "every='1mo'" in code["python"]


def test_a_table_has_sums_beside_its_counts(files, tmp_path):
    folder, rows = files
    frame = (str(folder / "visits.csv"), f"--areas={folder / 'wards.geojson'}", *TABLE)
    output = str(tmp_path / "table.parquet")
    words = ("--sum=fare", "--clip=0,10", "--max-per-unit=40", "--public", "--epsilon=1e7")
    as_json("build", *frame, *words, "-o", output)
    listed = rows[(rows["at"] < "2024-07-01") & (rows["mode"] != "bus")]
    expected = listed["fare"].clip(0, 10).sum()
    as_json("export", output, "-o", str(tmp_path / "table.csv"))
    table = pd.read_csv(tmp_path / "table.csv")
    assert table[table["margin"].isna()]["sum"].sum() == pytest.approx(expected, abs=0.1)
    assert ((table["sum_low"] <= table["sum"]) & (table["sum"] <= table["sum_high"])).all()
    answers = as_json("query", output, "--areas")["areas"]
    wards = [each["sum"]["value"] for each in answers if each["level"] == "ward"]
    assert sum(wards) == pytest.approx(expected, abs=0.1)
    (whole,) = as_json("query", output, "--rect=-1,-1,2,2")["answers"]
    assert whole["sum"]["value"] == pytest.approx(expected, abs=0.1)
    assert whole["mean"]["value"] == pytest.approx(expected / len(listed), abs=0.01)
    assert "; sum " in run("query", output, "--areas")[1]
    assert "sums of fare, each value clipped to 0 to 10" in run("info", output)[1]
    assert run("share", output, "-o", tmp_path / "t.html")[0] == 0
    assert run("report", output, "-o", tmp_path / "r.html")[0] == 0


def test_areas_that_are_no_partition_are_refused_before_payment(files, tmp_path):
    folder, _ = files
    wards = geopandas.read_file(folder / "wards.geojson")
    output = ("-o", str(tmp_path / "table.parquet"))
    for row, column, value, message in (
        (4, "district", None, "row 5 has no 'district'"),
        (4, "geometry", box(0.1, 0.1, 0.9, 0.9), "overlap: a record may be in one area only"),
        (4, "ward", "w10", "two areas are called 'w10'"),
    ):
        wrong = wards.copy()
        wrong.loc[row, column] = value
        path = tmp_path / f"{column}.gpkg"
        wrong.to_file(path)
        words = (str(folder / "visits.csv"), f"--areas={path}", *TABLE, "--max-per-unit=4")
        refused(tmp_path, ("build", *words, *output), message)


def test_bad_tables_are_refused_before_payment(files, tmp_path):
    folder, _ = files
    frame = (str(folder / "visits.csv"), f"--areas={folder / 'wards.geojson'}")
    output = ("-o", str(tmp_path / "table.parquet"))
    for options, message in (
        (("--time=at", "--every=1mo"), "--time requires --period"),
        (("--time=at", "--period=2024-01-01,2024-07-01"), "--every is missing"),
        (("--every=1d",), "without a time"),
        (("--kind=mode",), "kind and kinds require each other"),
        (("--levels=city,ward",), "no column 'city'"),
        (("--time=at", "--every=1d", "--period=2024-01-01T00:00:01,2024-07-01"), "a whole day"),
        (("--sum=fare",), "value and clip require each other"),
        (("--sum=fare", "--clip=9,0"), "the lower one first"),
        (("--sum=fare", "--clip=0,9", "--sum-share=1"), "give a number from 0.01 to 0.99"),
        (("--sum-share=.5",), "without values: leave it out"),
    ):
        refused(tmp_path, ("build", *frame, *options, *output), message)
    release = dpviz.build(dpviz.load("city-50k"), areas="h3:5", seed=0)
    release.save(tmp_path / "plain.parquet")
    refused(tmp_path, ("timeline", tmp_path / "plain.parquet"), "no time axis")
