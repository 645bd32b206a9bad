"""Declared formats of numbers, times and points in text, and reports of dropped records."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz.planning.calls import code_of
from tests.commands import as_json, refused, run

BOX = "--bounds=-88,41,-87,42"
PUBLIC = ("--public", "--seed", 1, "--epsilon", 1e6, "--method", "quadtree", "--set", "height=3")
PERIOD = ("--time", "t", "--period", "2024-03-01,2024-04-01")
PLACES = [(41.1 + row / 200, -87.9 + row / 200) for row in range(100)]
DECLARED = ("--time-format", "%d %b %y, %H.%M")


def written(folder, header, row):
    """A file of a hundred records, each with its place."""
    lines = [header, *(row.format(lat=lat, lon=lon) for lat, lon in PLACES)]
    (folder / "a.csv").write_text("\n".join(lines) + "\n")
    return folder / "a.csv"


def built(source, folder, *words):
    """JSON and standard error of a build, and the release."""
    code, out, err = run("build", source, BOX, *words, "-o", folder / "r.parquet", "--json")
    assert code == 0, err
    return out, err, dpviz.read(folder / "r.parquet")


@pytest.mark.parametrize(
    ("cell", "options", "kept"),
    [
        ("2024-03-05 10:00:00 UTC", (), 100),
        ("2024-03-31 23:30:00 -0100", (), 0),
        ("2024-03-05T10:00:00Z", (), 100),
        ("20240305", (), 100),
        ("1709632800", (), 0),
        ("1709632800", ("--time-format", "seconds"), 100),
        ("1709632800000", ("--time-format", "milliseconds"), 100),
        ("03/05/2024 10:00:00 AM", (), 0),
        ("03/05/2024 10:00:00 AM", ("--time-format", "us"), 100),
        ("05/03/2024 10:00:00", ("--time-format", "eu"), 100),
        ('"5 Mar 24, 9.05"', DECLARED, 100),
    ],
)
def test_times_are_iso_8601_or_as_declared(tmp_path, cell, options, kept):
    source = written(tmp_path, "t,lon,lat", f"{cell},{{lon}},{{lat}}")
    _, err, release = built(source, tmp_path, *PUBLIC, *PERIOD, *options)
    assert release.count([-88, 41, -87, 42]).count[0] == pytest.approx(kept, abs=1)
    unread = "100 without a readable time (the first has the form" in err
    assert unread == (kept == 0 and "-0100" not in cell)


@pytest.mark.parametrize(
    ("separator", "cell", "options", "total"),
    [
        (",", '"1,250"', ("--thousands", ","), 125_000),
        (",", '"1,250"', ("--decimal", ","), 125),
        (",", '"1,250"', (), 0),
        (",", "$950", (), 0),
        (";", "1,250", (), 125),
        (";", "1.250,5", ("--decimal", ",", "--thousands", "."), 125_050),
        (";", "1.250", ("--decimal", ","), 0),
    ],
)
def test_a_comma_is_read_as_declared(tmp_path, separator, cell, options, total):
    """Between semicolons a decimal comma needs no declaration."""
    row = f"{{lon:.3f}},{{lat:.3f}},{cell}"
    if separator == ";":
        row = row.replace(",", ";", 2)
    if "--decimal" in options:  # coordinates use the same notation
        row = row.replace("{lon:.3f}", '"-87,5"').replace("{lat:.3f}", '"41,5"')
    source = written(tmp_path, "lon,lat,fare".replace(",", separator), row)
    options = (*options, "--sum", "fare", "--clip", "0,2000", "--grid", 0.25)
    _, err, release = built(source, tmp_path, *PUBLIC, *options)
    assert release.sum([-88, 41, -87, 42]).sum[0] == pytest.approx(total, abs=1)
    assert ("100 without a readable value" in err) == (total == 0)


@pytest.mark.parametrize(("cell", "order"), [
    ("({lat}, {lon})", "lat,lon"), ("POINT({lon} {lat})", "lon,lat"), ("{lat} {lon}", "lat,lon")
])  # fmt: skip
def test_points_in_one_column_need_their_order(tmp_path, cell, order):
    source = written(tmp_path, "id,location", f'0,"{cell}"')
    words = ("build", source, BOX, "--epsilon", 1, "-o", tmp_path / "r.parquet")
    refused(tmp_path, words, "or one that holds whole points with order=… (--order)")
    refused(tmp_path, (*words, "--columns", "location"), "'location' holds both coordinates: give")
    release = built(source, tmp_path, *PUBLIC, "--columns", "location", "--order", order)[2]
    assert release.count([-88, 41, -87.5, 41.5]).count[0] == pytest.approx(80, abs=1)
    code = code_of(release, str(source))
    assert f"--columns location --order {order}" in code.command()
    assert f"columns=('location',), order='{order}'" in code.python()


def test_several_candidate_coordinate_columns_are_refused(tmp_path):
    header = "pickup_longitude,pickup_latitude,dropoff_longitude,dropoff_latitude"
    source = written(tmp_path, header, "{lon},{lat},0,0")
    words = ("build", source, BOX, "--epsilon", 1, "-o", tmp_path / "r.parquet")
    choices = "'pickup_longitude', 'pickup_latitude' or 'dropoff_longitude', 'dropoff_latitude'"
    refused(tmp_path, words, f"several columns may be the coordinates, {choices}: name them")
    chosen = ("--columns", "pickup_longitude,pickup_latitude")
    assert '"kept": 100' in built(source, tmp_path, *PUBLIC, *chosen)[0]


@pytest.mark.parametrize(
    ("header", "row", "reason"),
    [
        ("lon,lat", "{lon},{lat},", "100 lines with another number of fields than the header"),
        ("lon,lat,note", "{lon},{lat}", "100 lines with another number of fields than the header"),
        ("lat,lon,at", '{lat},{lon},"1 Main\nSt"', "100 lines with an unclosed quote"),
        ("lon,lat", "9,9", "100 outside the area (check the area"),
    ],
)
def test_a_public_build_without_records_states_the_reasons(tmp_path, header, row, reason):
    source = written(tmp_path, header, row)
    out, err, _ = built(source, tmp_path, *PUBLIC)
    assert f" 0 kept; dropped: {reason}" in err or f"; {reason}" in err
    assert '"kept": 0' in out


def test_a_build_of_sensitive_records_says_no_number_of_those_dropped(tmp_path):
    source = written(tmp_path, "lon,lat", "{lon},{lat},")
    words = ("build", source, BOX, "--epsilon", 1, "-o", tmp_path / "r.parquet")
    code, _, err = run(*words)
    assert code == 0
    assert "note: 'dpviz check' shows the owner what was dropped\n" in err
    assert "100" not in err


def test_a_warning_begins_above_five_percent_of_dropped_records(tmp_path):
    """Up to five of a hundred."""
    for outside, warned in ((5, False), (6, True)):
        source = written(tmp_path, "lon,lat", "{lon},{lat}")
        lines = source.read_text().splitlines()
        lines[1 : outside + 1] = ["0,0"] * outside
        source.write_text("\n".join(lines))
        out, err, _ = built(source, tmp_path, *PUBLIC)
        assert ("warning" in err) == warned
        assert f'"kept": {100 - outside}' in out


@pytest.mark.parametrize("milliseconds", [False, True])
def test_an_engine_reads_declared_types_and_refuses_notations_of_text(tmp_path, milliseconds):
    """Milliseconds in a column of numbers are no text: it counts those that a file counts."""
    (tmp_path / "a").mkdir()
    lat, lon = np.array(PLACES).T
    moments = np.full(100, 1_709_632_800_000 if milliseconds else 1_709_632_800)
    pq.write_table(pa.table({"t": moments, "lon": lon, "lat": lat}), tmp_path / "a" / "a.parquet")
    options = ("--time-format", "milliseconds") if milliseconds else ()
    for source in (tmp_path / "a", tmp_path / "a" / "a.parquet"):
        assert '"kept": 100' in built(source, tmp_path, *PUBLIC, *PERIOD, *options)[0]
    (tmp_path / "r.parquet").unlink()
    for option in (("--time-format", "us"), ("--decimal", ","), ("--order", "lat,lon")):
        words = ("build", tmp_path / "a", BOX, *PERIOD, *option, "-o", tmp_path / "r.parquet")
        refused(tmp_path, words, "applies to text, which DuckDB would read by other rules")
    check = as_json("check", tmp_path / "a", BOX, *PERIOD, *options)
    assert check["facts"] == {"records read": 100, "kept": 100}


@pytest.mark.parametrize(
    ("option", "line"),
    [
        (
            ("--time-format", "%Q"),
            "time_format='%Q': give iso, us, eu, seconds, milliseconds, excel",
        ),
        (("--time-format", "%m/%d"), "time_format='%m/%d': give the year, month and day once"),
        (("--time-format", "us"), "time_format='us' requires a column of times: name it too"),
        (("--thousands", "."), "thousands='.' is the decimal mark too"),
        (("--decimal", ";"), "decimal=';': give one of '.', ','"),
        (
            ("--order", "lat,lon"),
            "order='lat,lon' requires a single column of points",
        ),
    ],
)
def test_an_unusable_notation_is_refused_before_payment(tmp_path, option, line):
    source = written(tmp_path, "lon,lat", "{lon},{lat}")
    words = ("build", source, BOX, *option, "--epsilon", 1, "-o", tmp_path / "r.parquet")
    refused(tmp_path, words, line)
