"""``dpviz check``: exact facts for the owner, the same as reading finds, and its refusals."""

import json

import pandas as pd
import pytest

import dpviz
from dpviz.errors import DataError
from dpviz.private.load.check import CHECK_HEADING
from tests.commands import as_json, fails, refused, run
from tests.vault import index_of

BOX = "--bounds=0,0,1,1"
TABLE = """who,lon,lat
7,0.5,0.5
7,0.25,0.5
07,0.5,0.5
7,9,0.5
7,secret street,0.5
,0.5,0.5
"7,0.5,0.5
7,0.5
"""


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text(TABLE)
    return path


def test_check_states_exact_facts_of_points(visits):
    output = as_json("check", visits, BOX, "--unit", "who")
    assert "FOR THEIR OWNER'S EYES ONLY: NO PART OF ANY RELEASE" in output["heading"]
    assert output["read_as"] == "places: lon, lat"
    assert output["facts"] == {
        "records read": 8,
        "lines with another number of fields than the header: dropped": 1,
        "lines with an unclosed quote, or a quote inside a field: dropped": 1,
        "without a readable place: dropped": 1,
        "outside the area: dropped": 1,
        "without the id of a person: dropped": 1,
        "over the bound of their unit: dropped": 1,
        "kept": 2,
    }
    _, out, _ = run("check", visits, BOX)
    assert out.startswith("EXACT FACTS")
    assert "the first has no number in 'lon'; check the columns" in out
    assert "secret" not in out
    assert index_of(dpviz.load(visits, dpviz.Domain((0, 0), (1, 1)), unit="who")).total == 2


def test_check_says_what_stands_at_0_0_and_how_the_first_unreadable_time_is_written(tmp_path):
    """A format is declared already, so "declare the time format" would be no remedy."""
    (tmp_path / "a.csv").write_text("t,lon,lat\n2024-03-01,0,0\nunknown,0.5,0.5\n")
    words = ("--time", "t", "--period", "2024-01-01,2025-01-01", "--time-format", "iso")
    _, out, _ = run("check", tmp_path / "a.csv", BOX, *words)
    assert "1  at 0, 0: usually a missing place" in out
    assert (
        "(the first has the form xxxxxxx (x: any letter); declare another time format, if they are"
        in out
    )
    _, out, _ = run("check", tmp_path / "a.csv", "--bounds=0.4,0.4,1,1")
    assert "1  outside the area: dropped, 1 of them at 0, 0 (usually a missing place; check" in out
    assert "  at 0, 0" not in out  # the reasons add up
    (tmp_path / "b.csv").write_text("lon,lat\n")
    assert "The source has no records" in run("check", tmp_path / "b.csv", BOX)[1]


def test_check_states_exact_facts_of_trips_and_sequences(tmp_path):
    (tmp_path / "nodes.csv").write_text("node,x,y\n1,0,0\n2,1,0\n")
    (tmp_path / "edges.csv").write_text("edge,src,dst\n10,1,2\n")
    (tmp_path / "trips.csv").write_text("trip,edge\n1,10\n2,10\n2,moon\n,10\n")
    graph = f"{tmp_path}/nodes.csv,{tmp_path}/edges.csv"
    assert as_json("check", tmp_path / "trips.csv", "--graph", graph)["facts"] == {
        "records read": 4,
        "rows without the id of a record: dropped": 1,
        "with a street or symbol that the public graph or alphabet lacks: dropped": 1,
        "kept": 1,
    }
    (tmp_path / "s.txt").write_text("a b\nmoon\n")
    assert as_json("check", tmp_path / "s.txt", "--alphabet", "a,b")["facts"]["kept"] == 1


def test_check_states_exact_facts_of_places_in_time(tmp_path):
    """As ``build --time`` reads them."""
    (tmp_path / "p.csv").write_text(
        "who,lon,lat,when\na,0.5,0.5,0\na,0.5,0.5,3600\na,0.1,0.1,999999\n"
        "b,9,9,0\nb,0.5,0.5,soon\n,0.5,0.5,0\n"
    )
    words = ("--time", "when", "--unit", "who", "--gap", "2", "--time-format", "seconds")
    assert as_json("check", tmp_path / "p.csv", BOX, *words) == {
        "heading": CHECK_HEADING,
        "read_as": "places in time",
        "facts": {
            "records read": 6,
            "outside the area: dropped": 1,
            "without the id of a person: dropped": 1,
            "without a readable time: dropped": 1,
            "sequences made of them": 2,
            "over the bound of their unit: dropped": 1,
            "kept": 1,
        },
    }


def test_places_that_are_not_on_the_earth_are_apart_from_those_outside_the_area(tmp_path):
    (tmp_path / "a.csv").write_text("lon,lat\n0.5,0.5\n9,9\n0.5,999\n")
    facts = as_json("check", tmp_path / "a.csv", BOX)["facts"]
    assert facts["not on the Earth: dropped"] == facts["outside the area: dropped"] == 1


def test_another_time_format_is_advised_where_the_declared_one_reads_fewer(tmp_path):
    """Judged by the form of a time, never by its value; no advice once all times can be read."""
    (tmp_path / "a.csv").write_text("t,lon,lat\n03/31/2024 10:00 AM,0.5,0.5\n")
    words = ("check", tmp_path / "a.csv", BOX, "--time", "t", "--period", "2024-01-01,2025-01-01")
    _, out, err = run(*words)
    assert err == "note: times look like 99/99/9999 99:99 AM (9: any digit): try --time-format us\n"
    assert "1  without a readable time: dropped" in out
    _, out, err = run(*words, "--time-format", "us")
    assert err == ""
    assert "1  kept" in out


@pytest.mark.parametrize(
    ("bounds", "crs", "line"),
    [
        ("2.2,48.8,2.5,48.9", "EPSG:3857", "look like degrees, but EPSG:3857 counts in metres"),
        ("40.45,-74.3,41,-73.6", "EPSG:4326", "would with latitude and longitude swapped"),
        ("51.3,-0.5,51.7,0.3", "EPSG:4326", "would with latitude and longitude swapped"),
        ("-74.3,40.45,-73.6,41", "EPSG:4326", None),
        ("-10,30,-5,35", "EPSG:4326", None),  # Morocco; swapped coordinates would be on land too
        ("-40,30,-39,31", "EPSG:4326", None),  # in the open sea either way
        ("2.4e5,6.2e6,2.8e5,6.3e6", "EPSG:3857", None),
        ("2.5e5,5.8e6,4.5e5,5.9e7", "EPSG:25833", "far beyond the area of use of EPSG:25833"),
        ("2.5e5,5.8e6,4.5e5,5.9e6", "EPSG:25833", None),
        ("-9.4e5,-1.3e6,-1.6e5,-9.2e5", "EPSG:5514", None),  # Czechia, in another datum
        ("-1e7,-1e7,2e7,2e7", "EPSG:3035", "far beyond the area of use of EPSG:3035"),
        ("-10,40,10,95", "EPSG:4326", "far beyond the area of use of EPSG:4326"),
        ("-180,-90,180,90", "EPSG:4326", None),
        ("170,-20,190,-10", "EPSG:4326", "those of -180 to -170 are left out"),
        ("-190,-20,-170,-10", "EPSG:4326", "those of 170 to 180 are left out"),
        ("-20037508,-20037508,20037508,20037508", "EPSG:3857", None),
    ],
)
def test_a_slip_in_the_public_box_is_one_line_of_warning(visits, bounds, crs, line):
    """A warning on standard error, from the bounds alone: exit code and facts do not change."""
    code, out, err = run("check", visits, f"--bounds={bounds}", "--crs", crs, "--json")
    assert code == 0
    assert json.loads(out)["facts"]["records read"] == 8
    assert err.count("warning: ") == (line is not None)
    assert line is None or line in err
    assert "secret" not in err


def test_unsupported_checks_are_refused_in_one_line(visits, tmp_path):
    (tmp_path / "result.csv").write_text("cell,n_00c0ffee\n1,2\n")
    for words, line in (
        ([tmp_path / "result.csv", BOX], "holds counts per cell, not records"),
        (["duckdb:///nowhere", BOX], "name one with table=… (--table)"),
        (
            [visits, BOX, "--side=8"],
            "sequences of places in time: give --time, --unit (the person)",
        ),
        ([visits, "--side", "8", "--alphabet", "a,b"], "are for different kinds of data"),
        (["persons"], "there is nothing to check"),
    ):
        assert line in fails("check", *words)


def test_a_bound_without_a_unit_or_out_of_range_is_refused(visits, tmp_path):
    line, five = "at most 5 records per unit, but no unit: name its column too", "--max-per-unit=5"
    for command in (["check", visits], ["build", visits, "-o", tmp_path / "r.parquet"]):
        refused(tmp_path, (*command, BOX, five), line)
        many = (*command, BOX, "--unit", "who", "--max-per-unit", 10**21)
        refused(tmp_path, many, "give 1 or more, up to 1,000,000")


def test_a_table_in_memory_is_sent_to_the_right_door():
    frame = pd.DataFrame({"x": [0.5], "y": ["12 Acacia Avenue"]})
    with pytest.raises(DataError, match=r"give it to dpviz.load") as caught:
        dpviz.from_points(frame, dpviz.Domain((0, 0), (1, 1)))
    assert "Acacia" not in str(caught.value)
    assert index_of(dpviz.load(frame, dpviz.Domain((0, 0), (1, 1)))).total == 0


def test_places_in_json_are_sequences_once_their_columns_are_named(tmp_path):
    """Regression: the refusal named an option that the command did not have."""
    places = tmp_path / "p.json"
    places.write_text('[{"who": "a", "east": 0.5, "north": 0.5, "when": 0}]')
    words = ("build", places, BOX, "--time=when", "--unit=who", "--side=8", "--public")
    assert "(--columns)" in fails(*words, "-o", tmp_path / "r.parquet")
    made = as_json(*words, "--columns=east,north", "-o", tmp_path / "r.parquet")
    assert made["symbols"] == 64


def test_a_build_says_which_columns_it_took(tmp_path):
    """The schema's word, on standard error; nothing where the owner named them."""
    (tmp_path / "a.csv").write_text("LNG;Lat;z\n0,5;0,5;1\n")
    words = ("build", tmp_path / "a.csv", BOX, "-o")
    assert "note: 'a' is read as places from LNG, Lat\n" in run(*words, tmp_path / "r.parquet")[2]
    named = run(*words, tmp_path / "s.parquet", "--columns", "LNG,Lat")
    assert named[0] == 0
    assert "read as places" not in named[2]
    # No usable line, and no message reveals that.
    (tmp_path / "track.txt").write_text("<gpx>\n</gpx>\n")
    words = ("build", tmp_path / "track.txt", "--alphabet=a,b", "-o")
    note = "note: 'track' is read as one sequence per line, since it is a .txt file"
    assert note in run(*words, tmp_path / "t.parquet")[2]
    refused(tmp_path, (*words, tmp_path / "u.parquet", "--epsilon=0"), "error: epsilon=0.0: give a")
