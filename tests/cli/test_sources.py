"""An option that a source has no use for is refused: nobody pays for what is left aside."""

import pytest

import dpviz
from dpviz.errors import DataError
from tests.cli.test_releases import fails

PLACES = ("places.csv", "--bounds=0,0,1,1", "--time", "time", "--unit", "who")
SYMBOLS = ("symbols.txt", "--alphabet", "a,b")


@pytest.mark.parametrize(
    ("command", "source", "unfit", "line"),
    [
        *(
            ("sequences", PLACES, unfit, f"{unfit[0]} is for symbols, --time for places")
            for unfit in (["--alphabet", "a,b"], ["--column", "x"], ["--drop-unknown"])
        ),
        *(
            (
                "sequences",
                SYMBOLS,
                unfit,
                f"{unfit[0].partition('=')[0]} is for places: name the column of the time",
            )
            for unfit in (
                *(["--side", "4"], ["--gap", "3"], ["--steps"], ["--bounds=0,0,1,1"]),
                *(["--cells", "9"], ["--leaves", "r.parquet"]),
            )
        ),
        ("sequences", PLACES, ["--cells", "9"], "--cells is of --leaves: give both"),
        ("sequences", ("city",), ["--cells", "9"], "--cells is of --leaves: give both"),
        ("sequences", PLACES, ["--leaves", "r.parquet", "--side", "4"], "in place of the grid"),
        *(
            (command, ("city",), unfit, f"{unfit[0]} is not for the built-in data")
            for command, several in (
                ("sequences", (["--alphabet", "a"], ["--column", "x"], ["--time", "t"])),
                ("sequences", (["--unit", "u"], ["--max-per-unit", "2"], ["--drop-unknown"])),
                ("roads", (["--crs", "EPSG:4326"], ["--components", "all"])),
                ("roads", (["--unit", "u"], ["--max-per-unit", "2"], ["--drop-unknown"])),
            )
            for unfit in several
        ),
    ],
)
def test_an_option_without_use_is_refused(
    command, source, unfit, line, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    words = (command, "build", *source, *unfit, "-o", "out.parquet")
    assert line in fails(capsys, monkeypatch, *words)
    assert list(tmp_path.iterdir()) == []


POINTS = ("points.csv", "--bounds=0,0,1,1")
TRIPS = ("trips.csv", "--graph", "streets.geojson")


@pytest.mark.parametrize(
    ("source", "unfit", "line"),
    [
        (POINTS, ["--gap", "3"], "--gap is for places in time, not for points"),
        (POINTS, ["--components", "all"], "--components is for trips, not for points"),
        (POINTS, ["--drop-unknown"], "--drop-unknown is for trips and symbols, not for points"),
        (TRIPS, ["--bounds=0,0,1,1"], "--bounds is for points and places in time, not for trips"),
        (TRIPS, ["--kind", "k", "--kinds", "a,b"], "--kind is for points, not for trips"),
        (SYMBOLS, ["--crs", "EPSG:4326"], "not for symbols"),
        (PLACES, ["--directed"], "--directed is for trips, not for places in time"),
    ],
)
def test_a_check_is_of_what_is_asked(source, unfit, line, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert line in fails(capsys, monkeypatch, "check", *source, *unfit)


def test_what_is_for_one_padding_is_refused_with_another(tmp_path, capsys, monkeypatch):
    words = ("match", "a.parquet", "b.parquet", "--within", "1", "--padding", "noisy")
    line = fails(capsys, monkeypatch, *words, "--failure", "0.1")
    assert "--failure is of --padding upward" in line


@pytest.mark.parametrize(
    ("kind", "unfit"),
    [
        ("sequences", {"unit": "person"}),
        ("sequences", {"drop_unknown": True}),
        ("sequences", {"time": "time"}),
        ("roads", {"unit": "person"}),
        ("roads", {"name": "mine"}),
        ("roads", {"drop_unknown": True}),
    ],
)
def test_python_refuses_what_the_built_in_data_have_no_use_for(kind, unfit):
    (name,) = unfit
    with pytest.raises(DataError, match=f"{name}.*leave it out"):
        dpviz.load("city", kind=kind, **unfit)
