"""Adding or removing one unit in the raw input moves the index by at most K, in any format.

Random messy tables with ids that are easily taken for each other, with and without one unit (or
one record): the two indexes differ by at most K in L1, and every public fact and every message is
the same. The secret key of the bounding is held fixed, so that both runs make the same choices.
"""

import csv
import json
from dataclasses import replace
from datetime import datetime
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dpviz
from dpviz.domain.calendar import moment
from dpviz.errors import DataError
from dpviz.private.load.roads import read_trips
from dpviz.private.load.sequences import read_places, read_sequences
from dpviz.roads.steps import Steps
from dpviz.roads.tables import road_graph
from dpviz.sequences.alphabet import Alphabet
from tests.private.load.stability import (
    BOX,
    CELLS,
    EDGES,
    IDS,
    WEEK,
    YEAR,
    bounds,
    check,
    database,
    delimited,
    distance,
    halves,
    moved,
    moved_sequences,
    moved_trips,
    often,
    put,
    typed,
    write,
)
from tests.vault import index_of, sequences_of, steps_of, trips_of

FORMATS = (
    "csv", "tsv", "csv.gz", "csv.zip", "jsonl", "json", "xlsx", "parquet", "whole.parquet",
    "geoparquet", "geojson", "gpkg", "shp", "feather", "fgb",
)  # fmt: skip
pytestmark = pytest.mark.usefixtures("one_key", "one_salt")


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_gives_the_same_index(form, folders):
    """Also for missing ids: a record without an id belongs to no unit."""
    people = ("1", "01", "ann", "")
    records = [(who, "0.25", cell) for who in people for cell in ("0.5", "0.75", "9")]
    write("csv", folders[0] / "a.csv", records)
    write(form, folders[1] / f"a.{form}", records)
    for read, total in (({}, 8), ({"unit": "who"}, 3), ({"unit": "who", "max_per_unit": 2}, 6)):
        one, two = (dpviz.load(next(each.glob(f"a.{end}")), BOX, **read)
                    for each, end in zip(folders, ("csv", form), strict=True))  # fmt: skip
        assert index_of(one).total == index_of(two).total == total
        assert distance(index_of(one), index_of(two)) == 0 or read == {"unit": "who"}


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("pickup_longitude,pickup_latitude\n0.5,0.5\n", "pickup_longitude, pickup_latitude"),
        ("LNG;Lat\n0,5;0,5\n", "LNG, Lat"),
        ("Längengrad\tBreitengrad\n0.5\t0.5\n", "Längengrad, Breitengrad"),
        ("经度,纬度\n0.5,0.5\n", "经度, 纬度"),
        ("id,the_geom\n1,POINT (0.5 0.5)\n2,POLYGON EMPTY\n", "the_geom"),
        ("id|wkt\n1|SRID=4326;POINT Z(0.5 0.5 9)\n2|POINT(secret)\n", "wkt"),
        (" \r\n\n\tx\ty\r\n1\t0.5\t0.5\r\n", "x, y"),
    ],
)
def test_usual_names_and_wkt_are_taken_and_said(tmp_path, text, taken):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    handle = dpviz.load(tmp_path / "a.csv", BOX)
    assert handle.columns == taken
    assert index_of(handle).total == 1
    assert index_of(handle).cells.tolist() == [[1 << 25, 1 << 25]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "domain", [YEAR, replace(YEAR, zone="Europe/Berlin"), WEEK], ids=["UTC", "zone", "week"]
)
@pytest.mark.parametrize("kind", ["us", "ns", "zoned", "zoned ns", "date", "seconds"])
def test_times_give_the_same_index_in_every_reader(domain, kind, folders):
    """Doubled and missing hours, and cycles; engines know UTC times and no cycles."""
    seconds = np.array([moment(each, domain.zone) for each in EDGES])
    when = pa.array(np.array(EDGES, "datetime64[us]"))
    if kind == "seconds":
        when = pa.array(seconds)
    elif kind == "date":
        when = when.cast(pa.date32(), safe=False)
    elif "zoned" in kind:
        when = pa.array(seconds.astype(np.int64) * 10**6, pa.timestamp("us", "Asia/Tokyo"))
    if "ns" in kind:
        when = when.cast(pa.timestamp("ns", when.type.tz))
    table = halves(who=pa.concat_arrays([when, pa.array([None], when.type)]))
    pq.write_table(table, folders[0] / "a.parquet")
    file = index_of(dpviz.load(folders[0] / "a.parquet", domain, bits=12))
    assert file.total == len(EDGES) - 1
    if domain is YEAR:
        assert distance(file, index_of(dpviz.load(folders[0], domain))) == 0
        url = database(folders[1] / "a.duckdb", visits=folders[0] / "a.parquet")
        assert distance(file, index_of(dpviz.load(url, domain, table="visits"))) == 0
    if kind != "date":
        points = [[0.5, 0.5, each] for each in seconds]
        assert distance(file, index_of(dpviz.from_points(points, domain)).coarsened(12)) == 0


def test_old_parquet_times_beyond_nanoseconds_are_read_right(folders):
    """9999-12-31, which warehouses write for no end, was 1816-03-29."""
    years = 1, 1600, 2030, 3000, 9999
    when = pa.array([datetime(year, 12, 31) for year in years], pa.timestamp("us"))
    path = folders[0] / "a.parquet"
    pq.write_table(halves(who=when), path, use_deprecated_int96_timestamps=True)
    for period, inside in ((("1700-01-01", "2200-01-01"), 1), (("1500-01-01", "5000-01-01"), 3)):
        domain = dpviz.Domain.from_bounds([0, 0, 1, 1], ("x", "y"), time="who", period=period)
        assert index_of(dpviz.load(path, domain)).total == inside


@pytest.mark.slow
def test_an_engine_does_not_read_times_from_texts(folders):
    pq.write_table(typed([("2024-06-01", "0.5", "0.5")]), folders[0] / "a.parquet")
    with pytest.raises(DataError, match="column 'who' is not declared as a time in DuckDB"):
        dpviz.load(folders[0], YEAR)
    seconds = dpviz.Domain.from_bounds([0, 0, 1, 1], ("x", "y"), period=(0, 2), time="x")
    assert index_of(dpviz.load(folders[0], seconds)).total == 1


NAMELESS = [("", "0.5", "0.5")] * 3 + [("ann", "0.5", "0.5"), ("", "9", "0.5")]


@pytest.mark.slow
def test_records_without_an_id_are_dropped_by_every_other_reader(folders):
    """Tables, folders, frames, trips, symbols and places: only Ann's record is left."""
    here, there = folders
    table, numbers = typed(NAMELESS), pa.array([None, None, np.nan, 7.5, None], pa.float64())
    pq.write_table(table, here / "a.parquet")
    of_numbers = table.set_column(0, "who", numbers)
    for handle in (
        dpviz.load(here, BOX, unit="who", max_per_unit=3),
        dpviz.load(database(there / "a.duckdb", visits=table), BOX, table="visits", unit="who"),
        *(dpviz.load(each, BOX, unit="who", max_per_unit=3)
          for each in (table, table.to_pandas(), of_numbers, of_numbers.to_pandas())),
    ):  # fmt: skip
        assert index_of(handle).total == 1
    rows = [("", "1", "7"), ("ann", "1", "7"), ("ann", "", "7"), ("", "2", "7")]
    for form in ("csv", "parquet", "edges"):
        path = written_trips(here, [*rows[:2], rows[3]], form)
        assert len(trips_of(read_trips(path, GRAPH, unit="who", max_per_unit=3))) == 1
        path = written_visits(here, rows[:2], form.replace("edges", "visits"))
        data = read_sequences(path, Alphabet(("7",)), unit="who", max_per_unit=3)
        assert len(sequences_of(data)) == 1
    path = written_trips(here, rows, "csv")
    assert len(trips_of(read_trips(path, GRAPH, unit="who", max_per_unit=3))) == 1
    (here / "p.csv").write_text("who,x,y,when\n,0.5,0.5,2030-01-01\nann,0.5,0.5,2030-01-01\n")
    places = read_places(here / "p.csv", BOX, unit="who", time="when", side=3)
    assert len(sequences_of(places)) == 1


GRAPH = road_graph(
    {"node": ["1", "01", "caf\u00e9", "zed"], "x": [0, 1, 1, 0], "y": [0, 0, 1, 1]},
    {"edge": ["1", "01", "1.0", "7"], "src": ["1", "01", "caf\u00e9", "zed"],
     "dst": ["01", "caf\u00e9", "zed", "1"]},
)  # fmt: skip
STEPS = ("1", "01", "1.0", "7", "moon", "", "caf\u00e9", "zed")
steps = st.lists(
    st.tuples(st.sampled_from(IDS[:12]), st.sampled_from(IDS[:6]), st.sampled_from(STEPS)),
    max_size=20,
)
"""Rows (person, trip, step): persons use each other's numbers of trips."""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet", "edges", "nodes", "jsonl"])
def test_one_trip_more_moves_the_counts_by_at_most_its_bound(form, folders):
    @often(10)
    @given(steps, st.sampled_from(IDS[:12]), bounds, st.booleans())
    @example([(who, "1", STEPS[0]) for who in IDS[:12]], "1", 1, False)
    @example([("7", "1", "7"), ("1", "1", "moon")], "1", 1, False)
    @example([("7", "1", "7"), ("7", "2", "1"), ("1", "2", "7"), ("1", "1", "7")], "1", 1, False)
    def run(records, unit, most, drop):
        write = partial(written_trips, form=form)
        check(
            lambda path: read_trips(
                path, GRAPH, unit="who", max_per_unit=most, drop_unknown=drop, name="t",
                columns=("edges",) if form == "jsonl" else None,
            ),
            put(folders, records, unit, write),
            most,
            moved_trips,
        )  # fmt: skip

    run()


CLOCKS = (
    "1709510400", "2024-03-04T08:00", "2024-03-05", "2024-03-04T08:00+05:00", "noon", "", "nan",
    "inf", "1e999", "2025-01-01", "2024-03-31T02:30", "9" * 30, "\u0662",
)  # fmt: skip
BY_DAY = Steps.of("when", "2024-03-04,2024-04-04", "1d", "Europe/Berlin")
BY_HOUR = Steps.of("when", "2024-03-04,2024-04-04", "6h", "Europe/Berlin", "week")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "by"),
    [("csv", BY_DAY), ("parquet", BY_HOUR), ("jsonl", BY_DAY), ("edges", BY_HOUR)],
    ids=["csv by day", "parquet by hour", "jsonl by day", "edges by hour"],
)
def test_one_trip_more_moves_the_counts_of_steps_by_at_most_its_bound(form, by, folders):
    """Invalid times of one unit affect no other unit: at most K trips move in all steps."""

    @often(8)
    @given(st.lists(st.tuples(steps, st.sampled_from(CLOCKS)), max_size=5),
           st.sampled_from(IDS[:12]), bounds)  # fmt: skip
    @example([([("1", "1", "7"), ("1", "1", "1")], "noon"), ([("7", "1", "7")], "1709510400")],
             "1", 1)  # fmt: skip
    @example([([("7", str(each), "7")], "2024-03-05") for each in range(5)], "7", 2)
    def run(timed, unit, most):
        records = [(*row, when) for rows, when in timed for row in rows]
        check(
            lambda path: read_trips(
                path, GRAPH, unit="who", max_per_unit=most, steps=by, name="t",
                columns=("edges",) if form == "jsonl" else None,
            ),
            put(folders, records, unit, partial(timed_trips, form=form)),
            most,
            lambda one, two: sum(map(moved, steps_of(one), steps_of(two))),
        )  # fmt: skip

    run()


def test_trips_by_their_nodes_are_in_the_step_of_their_time():
    """Regression: their times were lost; all counted in no step, and a build failed once paid."""
    edges, nodes = [["1"], ["1", "01"], ["7"], ["7"]], [["1", "01"], ["1", "01", "caf\u00e9"]]
    nodes += [["zed", "1"]] * 2
    when = ["2024-03-04T08:00", "2024-03-05", "2024-03-05", "noon"]
    tables = [
        pa.table({name: pa.array(lists, pa.list_(pa.string())), "when": when})
        for name, lists in (("edges", edges), ("nodes", nodes))
    ]
    one, two = (read_trips(each, GRAPH, steps=BY_DAY, name="t") for each in tables)
    assert [len(trips) for trips in steps_of(two)[:3]] == [1, 2, 0]
    assert not any(map(moved, steps_of(one), steps_of(two)))
    assert moved_trips(one, two) == 0


def test_no_message_on_trips_names_a_node_or_a_number(tmp_path):
    """A node that the graph lacks, and two that no edge joins, once stood in the error."""
    lists = [["1", "secret-home-12"], ["1", "café"], ["1", "01"]]
    table = pa.table({"nodes": pa.array(lists, pa.list_(pa.string()))})
    pq.write_table(table, tmp_path / "a.parquet")
    assert len(trips_of(read_trips(tmp_path / "a.parquet", GRAPH))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet", "visits", "jsonl", "lines"])
def test_one_unit_more_moves_the_sequences_by_at_most_its_bound(form, folders):
    alphabet = Alphabet(STEPS[:4] + STEPS[6:], np.eye(6, k=1, dtype=bool) | np.eye(6, dtype=bool))

    @often(10)
    @given(steps, st.sampled_from(IDS[:12]), bounds, st.booleans())
    @example([(who, "1", STEPS[0]) for who in IDS[:12]], "1", 1, False)
    @example([("7", "1", "7"), ("1", "1", "moon")], "1", 1, False)
    @example([("7", "1", "7"), ("7", "2", "1"), ("1", "2", "7"), ("1", "1", "7")], "1", 1, False)
    def run(records, unit, most, drop):
        write = partial(written_visits, form=form)
        read = {} if form == "lines" else {"unit": "who", "max_per_unit": most}
        column = "visits" if form == "jsonl" else None
        gone = len({each[:2] for each in records if each[0] == unit})
        check(
            lambda path: read_sequences(
                path, alphabet, columns=(column,), drop_unknown=drop, name="s", **read,
            ),
            put(folders, records, unit, write),
            most if form != "lines" else gone,
            moved_sequences,
        )  # fmt: skip

    run()


UNTIMED = [
    ("1", "0.5", "0.5", "soon"),
    *(
        (who, place, place, when)
        for who in IDS[1:9]
        for place, when in (("0.1", "0"), ("0.5", "1e9"), ("0.9", "2e9"))
    ),
]
"""The first unit is in no sequence; each later one has one of three."""


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            st.sampled_from(IDS[:12]),
            st.sampled_from(CELLS),
            st.sampled_from(CELLS),
            st.sampled_from(("0", "100", "2030-01-01", "2030-01-01T08:00Z", "soon", "", "1e9")),
        ),
        max_size=20,
    ),
    st.sampled_from(IDS[:12]),
    bounds,
)
@example(UNTIMED, "1", 1)
@example([("7", "0.5", "0.5", when) for when in ("-1e308", "1e308")], "7", 1)  # no warning either
@often(20)
def test_one_person_more_moves_sequences_of_places_by_at_most_the_bound(
    folders, records, unit, most
):
    def write(folder, each):
        lines = delimited([row[:3] for row in each]).splitlines()
        times = ["when", *(row[3] for row in each)]
        text = "".join(f"{line},{time}\n" for line, time in zip(lines, times, strict=True))
        (folder / "t.csv").write_text(text)
        return folder / "t.csv"

    check(
        lambda path: read_places(
            path, BOX, unit="who", time="when", side=3, max_per_unit=most, gap=50.0,
            neighbours=True,
        ),
        put(folders, records, unit, write),
        most,
        moved_sequences,
    )  # fmt: skip


def written(folder, records, form, names, lists):
    """Rows of steps, or records with lists of them and the time of the first, as a file."""
    columns, rows = names, [dict(zip(names, row, strict=True)) for row in records]
    if form not in ("csv", "parquet"):
        who, record, step, *others = names
        lists = lists if form in ("jsonl", "lines") else form
        columns, grouped = (who, lists, *others), {}
        for row in rows:
            first = grouped.setdefault((row[who], row[record]), {**row, lists: []})
            first[lists].append(row[step])
        rows = [{name: each[name] for name in columns} for each in grouped.values()]
    kinds = {lists: pa.list_(pa.string())}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in columns])
    table = pa.Table.from_pylist(rows, schema)
    ending = {"csv": "csv", "jsonl": "jsonl", "lines": "txt"}.get(form, "parquet")
    path = folder / f"steps.{ending}"
    if form == "csv":
        with path.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([names, *records])
    elif form == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    elif form == "lines":
        path.write_text("".join(" ".join(row[lists]) + "\n" for row in rows))
    else:
        pq.write_table(table, path)
    return path


written_trips = partial(written, names=("who", "trip", "edge"), lists="edges")
timed_trips = partial(written, names=("who", "trip", "edge", "when"), lists="edges")
written_visits = partial(written, names=("who", "sequence", "symbol"), lists="visits")
