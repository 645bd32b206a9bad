import dataclasses
import struct

import pandas as pd
import pyarrow.parquet as pq
import pytest

import dpviz
from tests.commands import as_json, fails, refused, run
from tests.headers import header_of, with_header

pytestmark = pytest.mark.slow


@pytest.fixture
def releases(tmp_path):
    city = dpviz.load("city-50k")
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for seed, path in enumerate(paths):
        dpviz.save(dpviz.build(city, epsilon=0.1 + seed, seed=seed), path)
    return paths


def test_share_writes_one_file_that_says_what_it_is(releases, tmp_path):
    output = tmp_path / "demo.html"
    rect = "--rect=14.5,-24.0,14.7,-23.8"
    facts = as_json("share", *releases, "-o", output, rect, "--title", "A & B")
    assert facts["output"] == str(output)
    assert facts["bytes"] == output.stat().st_size < 5e6
    assert all(text.startswith("NOT PRIVATE") for text in facts["guarantees"])
    text = output.read_text(encoding="utf-8")
    assert "<h1>A &amp; B</h1>" in text
    assert str(tmp_path) not in text


def test_share_refuses_in_one_line_and_writes_nothing(releases, tmp_path):
    output = tmp_path / "demo.html"
    for words, wrong in (
        ([releases[0], "-o", tmp_path / "demo.htm"], "give a file that ends in .html"),
        ([releases[0]] * 13 + ["-o", output], "13 releases: a map shows one, or a series of up to"),
        ([releases[0], "-o", output, "--rect=1,2,3"], "give four numbers"),
        ([releases[0], "-o", output, "--rect=0,0,1,1"], "lies outside the domain"),
        ([tmp_path / "none.parquet", "-o", output], "no such file"),
        ([releases[0], "-o", tmp_path / "nowhere" / "demo.html"], "folder does not exist"),
    ):
        refused(tmp_path, ("share", *words), wrong)


LOCAL = 'LOCAL_CS["a factory",UNIT["metre",1]]'
NOWHERE = "have no longitude and latitude, which GeoJSON is in: write a GeoPackage"


@pytest.mark.parametrize(
    ("crs", "words", "exported"),
    [
        ("EPSG:3035", "EPSG:3035 has no place on the Earth for some of these", NOWHERE),
        (LOCAL, "cannot transform CRS 'a factory' to 'WGS 84'", NOWHERE),
        ("EPSG:9x9x", "CRS 'EPSG:9x9x' is unknown", "CRS 'EPSG:9x9x' is unknown"),
    ],
    ids=["too wide", "a plane of its own", "unknown"],
)
def test_coordinates_without_a_place_on_the_earth_are_refused_on_maps(
    crs, words, exported, tmp_path
):
    """Its counts are answered, and a notebook says what it is in words."""
    plane = dpviz.Domain((-1e7, -1e7), (2e7, 2e7), columns=("x", "y"), crs=crs)
    known = plane if crs != "EPSG:9x9x" else dataclasses.replace(plane, crs=LOCAL)
    release = dpviz.build(
        dpviz.from_points([[4.3e6, 3.2e6]], known, public=True), epsilon=1.0, seed=1
    )
    assert "<table>" in release._repr_html_()
    table = release.to_arrow()
    header = header_of(table)
    header["domain"]["crs"] = crs
    path = tmp_path / "r.parquet"
    pq.write_table(with_header(table, header), path)
    assert run("query", path, "--rect=0,0,1e6,1e6")[0] == 0
    for command, ending in (("share", "html"), ("report", "html"), ("picture", "png")):
        refused(tmp_path, (command, path, "-o", tmp_path / f"map.{ending}"), words)
    refused(tmp_path, ("export", path, "-o", tmp_path / "cells.geojson"), exported)
    if exported is NOWHERE:
        assert run("export", path, "-o", tmp_path / "cells.gpkg")[0] == 0


def test_report_and_picture_are_files_of_their_kind(releases, tmp_path):
    page, image = tmp_path / "report.html", tmp_path / "map.png"
    rect = "--rect=14.5,-24.0,14.7,-23.8"
    assert run("report", releases[0], "-o", page, rect)[0] == 0
    assert "<h1>" in page.read_text(encoding="utf-8")
    assert run("picture", *releases, "-o", image, rect)[0] == 0
    assert struct.unpack(">8xII", image.read_bytes()[8:24]) == (1920, 1080)
    titled = tmp_path / "titled.png"
    assert run("picture", releases[0], "-o", titled, "--title=A city", "--size=print")[0] == 0
    assert struct.unpack(">8xII", titled.read_bytes()[8:24]) == (3508, 2480)
    message = fails("picture", releases[0], "-o", tmp_path / "map.jpg")
    assert "give a file that ends in .png" in message


def test_the_guarantee_of_a_release_with_time_is_printed_once(tmp_path):
    """Regression: the guarantee was printed for every step, as if each step cost its own ε."""
    box = dpviz.Domain.from_bounds([0, 0, 1, 1], time="at", period="2024-03-04,2024-03-06")
    data = dpviz.load(pd.DataFrame({"lon": [0.5], "lat": [0.5], "at": ["2024-03-05"]}), box)
    timed, plain, page = (tmp_path / name for name in ("t.parquet", "r.parquet", "map.html"))
    dpviz.build(data, "ugrid", 1.0, cells=2, ledger=None).save(timed)
    dpviz.build(
        dpviz.from_points([[0.5, 0.5]], box.without_time, name="p"),
        "ugrid",
        1.0,
        cells=2,
        ledger=None,
    ).save(plain)
    assert len(as_json("share", timed, "-o", page)["guarantees"]) == 1
    line = "one of these releases has time: give the part that is drawn, such as --period 2024"
    assert line in fails("share", timed, timed, "-o", page)
    assert line in fails("share", plain, timed, "-o", page)
    period = ["--period", "2024-03-04,2024-03-05"]
    assert "this release has no time" in fails("share", plain, timed, "-o", page, *period)


def test_a_release_at_an_epsilon_beyond_doubles_is_shared(tmp_path):
    """e^1000 is no double."""
    square = dpviz.Domain((10.0, 50.0), (11.0, 51.0))
    people = dpviz.from_points([[10.5, 50.5]], square, name="people")
    dpviz.build(people, "ugrid", 1000.0, ledger=None).save(tmp_path / "r.parquet")
    assert run("share", tmp_path / "r.parquet", "-o", tmp_path / "map.html")[0] == 0
    assert "= 10^434." in (tmp_path / "map.html").read_text(encoding="utf-8")
