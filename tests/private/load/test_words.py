"""The text of a cell depends on that cell alone, not on its column, list or type."""

import math
import uuid
from datetime import datetime, time, timedelta, tzinfo
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.private.load.columns import MAX_LINE
from dpviz.private.load.words import _items, _text, listed_places, lists, texts
from tests.private.load.stability import BOX
from tests.private.load.test_values import apart
from tests.vault import index_of


@given(st.lists(st.binary(max_size=8) | st.text("ab ,;\t\v\x1c\u2003", max_size=8), max_size=5))
def test_each_list_of_texts_is_read_by_itself(cells):
    def read(column):
        start, items = lists(column, "edges")
        return [items[a:b].to_pylist() for a, b in pairwise(start.tolist())]

    bytes_of = [each.encode() if isinstance(each, str) else each for each in cells]
    assert read(pa.array(bytes_of, pa.binary())) == read(cells) == [_items(cell) for cell in cells]


def test_ids_of_python_values_are_their_texts_or_missing():
    one, two = uuid.UUID(int=1), uuid.UUID(int=2)
    ids = texts([Decimal("sNaN"), Decimal("1.50"), one, two, float("nan"), None], "who")
    assert ids.to_pylist() == [None, b"1.50", str(one).encode(), str(two).encode(), None, None]
    for column in (["", " ", None], pa.array(["", " ", None])):
        assert texts(column, "who").to_pylist() == [None, b" ", None]
    assert texts(pa.array([np.nan, 7.0, 0.1]), "who").to_pylist() == [None, b"7", b"0.1"]
    frame = pd.DataFrame({"who": [one, two], "x": 0.5, "y": 0.5})
    assert index_of(dpviz.load(frame, BOX, unit="who")).total == 2


FLOATS = (
    0.0, -0.0, 1.0, 0.1, 1e-4, 9.9e-5, 1e-5, 1.5e-7, 1e-9, 1e-10, 5e-324, 123456.0, 1.2e10,
    1234567890.5, 1e10 + 0.5, 1e15, 1e15 + 0.5, 2.0**53, 9999999999999998.0, 1e16, 1.1e16, 1e22,
    1.5e300, np.inf, np.nan, np.frombuffer(b"\1\0\0\0\0\0\xf0\x7f")[0],
)  # fmt: skip
"""Of every size, also a NaN that warns."""


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16])
@settings(max_examples=30)
@given(st.lists(st.floats(), max_size=20))
@example([*FLOATS, *(-each for each in FLOATS)])
def test_a_float_has_one_text(kind, cells):
    """Read by itself, beside others and in lists; a whole float has a whole number's text."""
    with np.errstate(all="ignore"):
        values = np.array(cells, dtype=kind)
    column = pa.array(values)
    words = texts(column, "who").to_pylist()
    assert words == [texts(column[at : at + 1], "who")[0].as_py() for at in range(len(column))]
    assert lists(pa.array([values], pa.list_(column.type)), "who")[1].to_pylist() == words
    for value, word in zip(values.astype(np.float64).tolist(), words, strict=True):
        assert (word is None) == math.isnan(value)
        assert word is None or float(word) == value == float(_text(value))
        if abs(value) < 2**53 and value == int(value) and (value or math.copysign(1, value) > 0):
            assert word == _text(value) == _text(int(value))


class Nowhere(tzinfo):
    """A zone that has nothing to say."""

    def utcoffset(self, when):
        raise RuntimeError("private")


def test_odd_python_values_are_ids_of_their_own_or_none():
    """A span of time was the whole number 7, or refused the whole table, as such a zone did."""
    odd = [
        *(
            np.timedelta64(7, "ns"),
            np.timedelta64(7, "s"),
            np.timedelta64("NaT", "s"),
            timedelta(7),
        ),
        *(datetime(2030, 1, 1, tzinfo=zone()) for zone in (tzinfo, Nowhere)),
        *(time(8, tzinfo=zone()) for zone in (tzinfo, Nowhere)),
    ]
    if np.finfo(np.longdouble).eps < np.finfo(np.float64).eps:
        odd.append(np.nextafter(np.longdouble(7), 8))
    plain = [7, "8", datetime(2030, 1, 1), time(8), np.longdouble(9)]
    words = [b"7", b"8", b"2030-01-01 00:00:00", b"08:00:00", b"9"]
    for each in odd:
        assert texts([*plain, each], "who").to_pylist() == [*words, None]


def test_a_long_text_is_no_list():
    """Regression: a list of 50 million symbols ended the build; no line over 1 MiB is read."""
    fits = "a " * (MAX_LINE // 2)
    cells = ["a b", fits, fits + "b", None, "b"]
    for column in (cells, pa.array(cells), [cell and cell.encode() for cell in cells]):
        start, items = lists(column, "edges")
        assert np.diff(start).tolist() == [2, MAX_LINE // 2, 0, 0, 1]
        assert items[-2:].to_pylist() == [b"a", b"b"]


def test_ids_of_type_uuid_are_their_texts_in_every_reader():
    """A UUID is its text, as Python and DuckDB write it, wherever in its column it stands."""
    ids = [
        *(uuid.UUID(int=each << 100 | each) for each in range(5)),
        None,
        uuid.UUID(int=2**128 - 1),
    ]
    stored = pa.array([each and each.bytes for each in ids], pa.binary(16))
    column = pa.ExtensionArray.from_storage(pa.uuid(), stored)
    words = [each and str(each).encode() for each in ids]
    assert texts(column, "who").to_pylist() == texts(ids, "who").to_pylist() == words
    assert texts(column[4:6], "who").to_pylist() == words[4:6]
    some = pa.DictionaryArray.from_arrays(pa.array([6, 5, None]), column)
    assert texts(some, "who").to_pylist() == [words[6], None, None]
    assert texts(pa.chunked_array([column, column[:0]]), "who").to_pylist() == words
    start, items = lists(pa.ListArray.from_arrays(pa.array([0, 2, 7], pa.int32()), column), "edges")
    assert (start.tolist(), items.to_pylist()) == ([0, 2, 7], words)
    assert texts(pa.array(["{", "1"]).cast(pa.json_()), "who").to_pylist() == [b"{", b"1"]
    assert texts(pa.array([1, None], pa.int8()).cast(pa.bool8()), "who").to_pylist() == [b"1", None]


def test_a_listed_name_is_matched_by_its_utf_8_bytes():
    """Names are UTF-8: in another encoding, as Windows-1252, accents match no listed name."""
    names = ("other", "caf\u00e9", "\u4e2d")

    def read(column):
        return listed_places(pa.array(column, pa.large_binary()), names)

    cells = [*(name.encode() for name in names), b"caf\xe9", b"\xff\xfe", None]
    assert apart(read, cells, b"\xff") == [0, 1, 2, -1, -1, -1]
