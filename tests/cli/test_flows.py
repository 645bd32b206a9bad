"""Flows at the command line: check, build, query, timeline, export, code; refusals."""

import csv
from itertools import pairwise

import geopandas
import numpy as np
import pandas as pd
import pytest
from shapely import box

import dpviz
from dpviz.exports import release_page
from dpviz.planning.calls import code_of
from dpviz.private.flows import exact_flows
from dpviz.private.load import bounding
from tests.commands import as_json, refused, run

COLUMNS = ("sx", "sy", "ex", "ey")
ENDS = ("--from=sx,sy", "--to=ex,ey")
LEVELS = ("district", "ward")
WHEN = {"time": "at", "every": "1mo", "period": "2024-01-01,2024-07-01"}
PARTS = (*(f"--{name}={value}" for name, value in WHEN.items()), "--kind=mode", "--kinds=bike,walk")


def wards_file(path, rows=None, **changed):
    lines = np.linspace(0, 1, 4)
    wards = [
        {"ward": f"w{i}{j}", "district": f"d{i}", "geometry": box(left, low, right, high)}
        for i, (left, right) in enumerate(pairwise(lines))
        for j, (low, high) in enumerate(pairwise(lines))
    ]
    wards[4] |= changed
    geopandas.GeoDataFrame(wards, crs=4326).to_file(path)


def ward_of(points):
    return [f"w{int(x * 3)}{int(y * 3)}" for x, y in points]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flows")
    wards_file(folder / "wards.gpkg")
    random = np.random.default_rng(0)
    n = 1_200
    start = random.random((n, 2))
    end = (start + random.normal(0, 0.1, (n, 2))).clip(0.001, 0.999)
    table = pd.DataFrame(dict(zip(COLUMNS, np.column_stack([start, end]).T, strict=True)))
    table["home"], table["work"] = ward_of(start), ward_of(end)
    table["at"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 200, n), "D")
    table["mode"] = random.choice(["bike", "walk", "bus"], n)
    table["who"] = random.integers(0, 300, n)
    table.to_csv(folder / "trips.csv", index=False)
    return folder, table


def loaded(rows, areas, **how):
    return dpviz.load(rows, dpviz.Flows(areas), columns=COLUMNS, name="trips", **how)


@pytest.mark.slow
def test_flows_from_a_file_are_asked_and_exported(files, tmp_path, monkeypatch):
    folder, rows = files
    monkeypatch.chdir(folder)
    frame = ("trips.csv", "--areas=wards.gpkg", f"--levels={','.join(LEVELS)}", *ENDS, *PARTS)
    listed = rows[(rows["at"] < "2024-07-01") & (rows["mode"] != "bus")]
    assert as_json("check", *frame)["facts"]["kept"] == len(listed)
    output = str(tmp_path / "flows.parquet")
    built = as_json("build", *frame, "--epsilon=1e6", "--public", "--seed=0", "-o", output)
    assert built["steps"] == 6
    assert built["levels"]["district"] == 9
    pair = listed[(listed["home"] == "w11") & (listed["work"] == "w12")]
    march = pair[(pair["mode"] == "bike") & (pair["at"].dt.month == 3)]
    for options, expected in (
        (("--from=w11", "--to=w12"), len(pair)),
        (("--from=w11",), (listed["home"] == "w11").sum()),
        (("--to=d1",), listed["work"].str.startswith("w1").sum()),
        (("--from=w11", "--to=w12", "--kind=bike", "--period=2024-03-01,2024-04-01"), len(march)),
    ):
        assert as_json("query", output, *options)["answers"][0]["count"] == expected
    months = as_json("timeline", output, "--from=w11", "--to=w12")["timeline"]
    by_month = pair.groupby(pair["at"].dt.month).size().reindex(range(1, 7), fill_value=0)
    assert [each["count"] for each in months] == by_month.tolist()
    for ending in ("csv", "parquet", "geojson"):
        exported = tmp_path / f"pairs.{ending}"
        written = as_json("export", output, "-o", str(exported))["rows"]
        if ending == "csv":
            with exported.open() as file:
                table = list(csv.DictReader(file))
        else:
            read = pd.read_parquet if ending == "parquet" else geopandas.read_file
            table = read(exported)
        assert len(table) == written
    assert "measured 9 on level district" in run("info", output)[1]
    assert "point at" in release_page(dpviz.read(output))
    script = code_of(dpviz.read(output), "trips.csv")
    python = script.python(str(tmp_path / "again.parquet")).replace("'AREAS'", "'wards.gpkg'")
    exec(python.replace("simulate=True", "seed=0"), {})
    assert dpviz.read(tmp_path / "again.parquet").to_arrow().equals(dpviz.read(output).to_arrow())
    command = script.command(str(tmp_path / "third.parquet")).replace("AREAS", "wards.gpkg")
    assert run(*command.split()[1:])[0] == 0


def test_names_of_areas_count_as_their_places_do(files):
    folder, rows = files
    flows = dpviz.Flows(dpviz.read_areas(folder / "wards.gpkg", levels=LEVELS))
    named = dpviz.load(rows, flows, columns=("home", "work"), name="trips", public=True)
    placed = loaded(rows, flows.origins, public=True)
    for one, other in zip(exact_flows(named), exact_flows(placed), strict=True):
        np.testing.assert_array_equal(one, other)
    assert exact_flows(named)[1].sum() == 1_200


@pytest.mark.parametrize("most", [1, 3])
def test_one_person_more_moves_the_counts_of_a_file_by_at_most_k(files, tmp_path, most):
    """And odd records of that person drop by themselves."""
    folder, rows = files
    areas = dpviz.read_areas(folder / "wards.gpkg", levels=LEVELS)
    many = rows.head(20).assign(who="zed", sx=0.5, at="2024-02-01", mode="bike")
    odd = many.head(3).assign(sx=["", "7", "nan"], mode="bike")
    how = {"unit": "who", "max_per_unit": most, **WHEN}

    def counts(*blocks):
        path = tmp_path / "more.csv"
        pd.concat(blocks).to_csv(path, index=False)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(bounding, "fresh_key", lambda: b"k" * 16)
            data = loaded(path, areas, **how)
        cells, weights = data._counted
        dense = np.zeros((6, 9, 9), dtype=int)
        dense[tuple(cells.T)] = weights
        return dense

    before = counts(rows)
    assert (counts(odd, rows) == before).all()
    assert np.abs(counts(many, odd, rows) - before).sum() == most
    assert (counts(rows[::-1]) == before).all()


@pytest.mark.slow
def test_bad_flows_are_refused_before_payment(files, tmp_path, monkeypatch):
    folder, _ = files
    monkeypatch.chdir(folder)
    wards_file(tmp_path / "overlapping.gpkg", geometry=box(0.1, 0.1, 0.9, 0.9))
    wards_file(tmp_path / "orphan.gpkg", district=None)
    wards_file(tmp_path / "twice.gpkg", ward="w00")
    levels, output = f"--levels={','.join(LEVELS)}", ("-o", str(tmp_path / "flows.parquet"))
    wards = ("--areas=wards.gpkg", levels)
    for options, message in (
        ((f"--areas={tmp_path / 'overlapping.gpkg'}", levels, *ENDS), "overlap"),
        ((f"--areas={tmp_path / 'orphan.gpkg'}", levels, *ENDS), "has no 'district'"),
        ((f"--areas={tmp_path / 'twice.gpkg'}", levels, "--from=home", "--to=work"), "'w00'"),
        ((*wards, "--from=sx,sy", "--to=ex,no"), "no column 'no'"),
        ((*wards, "--from=sx,sy"), "--from is for flows: give --areas, --from and --to"),
        (("--bounds=0,0,1,1", *ENDS), "--from is for flows: give --areas, --from and --to"),
        ((*wards, "--from=sx,sy", "--to=work"), "--from and --to: give one column of names"),
        (
            (*wards, *ENDS, "--sum=who", "--clip=0,5"),
            "--sum is for points and areas, not for flows",
        ),
        ((*wards, *ENDS, "--time=at", "--every=1d"), "--time requires --period"),
        ((*wards, *ENDS, "--set=growth=0"), "give a number from 0.1"),
        ((*wards, *ENDS, "--to-areas=h3:99"), "give a resolution from 0 to 15"),
    ):
        refused(tmp_path, ("build", "trips.csv", *options, *output), message)
    path = str(tmp_path / "made.parquet")
    run("build", "trips.csv", *wards, *ENDS, "--public", "-o", path)
    refused(tmp_path, ("query", path), "nothing to answer: give one of --from, --to")
    refused(tmp_path, ("query", path, "--from=w99"), "no area 'w99'")
    refused(tmp_path, ("query", path, "--rect=0,0,1,1"), "--rect is for points and areas, not")
    refused(tmp_path, ("timeline", path), "no time axis")
