"""A cell is read by itself: the fast ways through a whole column say what a slow one does."""

import gzip
import re
from datetime import datetime, tzinfo
from decimal import Decimal
from math import isfinite, nan

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DataError
from dpviz.private.load import values
from dpviz.private.load.notation import PLAIN, Notation
from dpviz.private.load.tables.delimited import DelimitedText
from dpviz.private.load.values import numbers, times
from tests.private.load.stability import BOX, CELLS, IDS, workbook
from tests.vault import index_of

NUMBERS = st.one_of(
    st.sampled_from((*CELLS, *IDS, "infinity", "1e400", "1.7976931348623159e308", "1.e5", "-.5")),
    st.text("0123456789.,eE+- \t", max_size=8),
    st.floats().map(repr),
)
TIMES = st.one_of(
    st.sampled_from(
        ("0000-01-01", "0001-01-01", "0001-01-01T00:00+10:00", "9999-12-31T23:59:59-10:00", "2030",
         "2030-01", "20300101", "2030-01-01T24:00", "2030-01-01T08:00:60", "2030-W01-1", "2030-1-1",
         "2030-01-01T08:00:00.123456789", "2030-01-01T08+01", "2030-01-01Z", "2030-02-30",
         "2030/01/01", " 2030/01/01 08:00:00 ", "2030/02/30", "2030/1/1", "2030-01/01")
    ),
    st.datetimes().map(str),
    st.datetimes().map(lambda when: str(when).replace("-", "/")),
    st.text("0123456789-/:T Z+.", max_size=20),
)  # fmt: skip
PLAIN_TIMES = st.one_of(
    *(
        st.from_regex(re.compile(pattern.replace(r"\z", r"\Z"), re.ASCII))
        for pattern in (values._LOCAL, values._STATED)
    )
)


NOTATIONS = (
    Notation(), Notation(semicolons=True), Notation(decimal=","), Notation(thousands=","),
    Notation(decimal=",", thousands="."), Notation(decimal=",", thousands=" "),
)  # fmt: skip


def number_of(cell, notation=PLAIN):
    """The number in a text, as Python reads it."""
    word = cell.strip(" \t\n\v\f\r")
    if not re.fullmatch(notation.number, word):
        return nan
    number = float(word.replace(notation.thousands or "\0", "").replace(",", "."))
    return number if isfinite(number) else nan


def same(one, two):
    assert np.array_equal(np.asarray(one), np.asarray(two), equal_nan=True)


def apart(read, cells, other):
    """Read each cell alone, together, and beside an invalid one: assert equal, and return."""
    alone = [read([cell])[0] for cell in cells]
    same(read(cells), alone)
    same(read([*cells, other])[:-1], alone)
    return alone


@pytest.mark.slow
@given(st.lists(NUMBERS, min_size=1, max_size=5), st.sampled_from(NOTATIONS))
def test_each_text_is_read_as_a_number_by_itself(cells, notation):
    def read(column):
        return numbers(pa.array(column, pa.string()), "x", notation)

    same(apart(read, cells, "zed"), [number_of(cell, notation) for cell in cells])


@settings(max_examples=20)
@given(
    st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31)),
    st.sampled_from(
        (
            "%m/%d/%Y %I:%M:%S %p",
            "%d.%m.%Y %H:%M",
            "%Y%m%d%H%M%S",
            "%d %b %Y %H:%M:%S.%f",
            "%B %d, %Y",
        )
    ),
)
def test_times_of_a_pattern_are_those_of_strptime(when, pattern):
    cell = when.strftime(pattern)
    wanted = (datetime.strptime(cell, pattern) - datetime(1970, 1, 1)).total_seconds()
    notation = Notation(time_format=pattern)
    assert times(pa.array([cell, "soon"]), "t", "UTC", notation)[0] == pytest.approx(
        wanted, abs=1e-4
    )
    assert np.isnan(times([f"{cell} more"], "t", "UTC", notation)[0])


@pytest.mark.parametrize(
    ("form", "cell"),
    [
        ("us", "03/05/2024 10:00:00 PM"), ("us", "3-5-2024 22:00"), ("us", " 3/5/2024  10:00pm"),
        ("eu", "05/03/2024 22:00:00"), ("eu", "5.3.2024 10:00 p.m."),
        ("excel", "45356.9166666667"), ("excel", 45356.9166666667),
    ],
)  # fmt: skip
def test_a_named_format_reads_every_form_of_its_dates(form, cell):
    """Clocks of 12 and 24 hours; Excel counts the days of the zone's clocks."""
    for zone, hour in (("UTC", 22), ("Etc/GMT-1", 21)):
        moment = datetime(2024, 3, 5, hour) - datetime(1970, 1, 1)
        read = times(pa.array([cell]), "t", zone, Notation(time_format=form))
        assert read[0] == moment.total_seconds()


@pytest.mark.parametrize(("pattern", "cell"), [
    ("us", "02/30/2024 10:00:00 AM"), ("us", "02/28/2024 13:00:00 PM"),
    ("eu", "31/04/2024 10:00:00"), ("%y-%m-%d", "24-00-01"), ("iso", "2024-03-05 24:00"),
    ("us", b"\xff"), ("us", "infinity"),
])  # fmt: skip
def test_a_time_that_no_calendar_or_clock_has_is_none(pattern, cell):
    assert np.isnan(times(pa.array([cell]), "t", "UTC", Notation(time_format=pattern))[0])


def test_whole_numbers_are_read_by_their_digits_where_a_format_says_so():
    """Other numbers are seconds; a column of timestamps takes no format."""
    column = pa.array([20240305, None])
    assert times(column, "t")[0] == 20240305
    assert times(column, "t", "UTC", Notation(time_format="iso"))[0] == 1_709_596_800
    with pytest.raises(DataError, match="which needs no time format: leave it out"):
        times(pa.array([datetime(2024, 3, 5)]), "t", "UTC", Notation(time_format="iso"))


@pytest.mark.slow
@settings(max_examples=40)
@given(
    cells=st.lists(st.one_of(PLAIN_TIMES, TIMES, NUMBERS, st.none()), min_size=1, max_size=8),
    zone=st.sampled_from(("UTC", "Europe/Berlin", "America/St_Johns")),
)
@example(["0000-01-01", "2030-01-01"], "UTC")
@example(["0000-12-31T23:59-10:00", "2030-01-01Z", "2030-01-01T00:00Z", "1e3"], "UTC")
@example(["2030-10-27T02:30", "2030-03-31 02:30", "2030-10-27T02:30+02:00", "7"], "Europe/Berlin")
def test_plain_times_are_read_the_same_beside_odd_ones(cells, zone):
    """Regression: year 0 was a valid time if every other cell was valid."""

    def read(column):
        return times(pa.array(column, pa.string()), "when", zone)

    same(apart(read, cells, "soon"), apart(read, cells, "2030-01-01"))


@pytest.mark.slow
@settings(max_examples=40)
@given(cells=st.lists(NUMBERS.filter(lambda cell: not set(cell) & set("\t")), min_size=1))
def test_each_number_of_delimited_text_is_read_by_itself(tmp_path_factory, cells):
    path = tmp_path_factory.getbasetemp() / "numbers.csv"

    def read(column):
        lines = [f'a,"{cell}"\n' for cell in column]
        path.write_text("who,x\n" + "".join(lines), encoding="utf-8")
        table = DelimitedText(path)
        table.expect_numbers(["x"])
        blocks = list(table.blocks(["x"]))
        return np.concatenate([numbers(each.columns["x"], "x") for each in blocks])

    same(apart(read, cells, "zed"), [number_of(cell) for cell in cells])


FEATURE = (
    b'{"type":"Feature","properties":{"who":"%s"},'
    b'"geometry":{"type":"Point","coordinates":[0.5,0.5]}}'
)


@pytest.mark.parametrize("who", [b"caf\xe9", b"a\tb", b"a\nb", b"\\ud800", b"\xff\xfe"])
def test_one_feature_with_odd_bytes_costs_no_other(tmp_path, who):
    path = tmp_path / "a.geojson"
    features = b",".join(FEATURE % each for each in (b"ann", b"zo\xc3\xab", who))
    path.write_bytes(b'{"type":"FeatureCollection","features":[' + features + b"]}")
    assert index_of(dpviz.load(path, BOX, unit="who")).total == 3


def test_a_row_longer_than_the_first_is_not_told(tmp_path):
    lines = set()
    for row in (("ann", "0.5", "0.5"), ("ann", "0.5", "0.5", "more", "cells")):
        (tmp_path / "a.xlsx").write_bytes(workbook([("who", "x", "y"), row]))
        with pytest.raises(DataError) as refused:
            dpviz.load(tmp_path / "a.xlsx", BOX, unit="zed")
        lines.add(str(refused.value))
    assert lines == {"no column 'zed' in a.xlsx: it has 'who', 'x', 'y'"}


def test_the_first_compressed_json_line_is_a_record(tmp_path):
    """The first record was taken for a header, and its values stood in the message."""
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"who": "secret", "x": 0.5, "y": "0.5"}\nno\n'))
    assert index_of(dpviz.load(path, BOX)).total == 1
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b'[{"x": 0.5, "y": 0.5}]'))
    assert index_of(dpviz.load(tmp_path / "a.json.gz", BOX, columns=("x", "y"))).total == 1
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(b"PAR1"))
    with pytest.raises(DataError, match=r"^a\.parquet\.gz is a compressed Parquet: unpack it"):
        dpviz.load(tmp_path / "a.parquet.gz", BOX)


@pytest.mark.parametrize(("digits", "scale"), [(12, 7), (38, 10), (20, -2)])
def test_a_decimal_is_the_nearest_number_to_it(digits, scale):
    """The same as its text in CSV and its value in engines: rounding may change the cell."""
    whole = np.random.default_rng(digits).integers(-(10 ** min(digits, 17)), 10**12, 500).tolist()
    cells = [Decimal(each).scaleb(-scale) for each in whole]
    column = pa.array([*cells, None], pa.decimal128(digits + 6 if digits < 30 else 38, scale))
    assert numbers(column, "x")[:-1].tolist() == [float(each) for each in cells]
    assert np.isnan(numbers(column, "x")[-1])


def test_a_python_value_that_fails_is_a_missing_value():
    """A number whose conversion raises, and a zone that does not say how far it is ahead."""

    class Odd:
        def __float__(self):
            raise RuntimeError("odd")

    moment = datetime(2030, 1, 1)
    same(numbers([0.5, Odd(), 1, True, Decimal("2.5"), " 3 "], "x"), [0.5, nan, 1, nan, 2.5, 3])
    same(times([moment, moment.replace(tzinfo=tzinfo())], "t"), [1_893_456_000, nan])
