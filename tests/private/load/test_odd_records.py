"""One record that no program expects is dropped by itself: no other record, and no word, moves.

Each file is read with and without the record, straight in this process: what a child would hide,
such as a crash, is seen here.
"""

import json
import struct
from datetime import datetime
from functools import partial
from unittest.mock import patch
from uuid import UUID

import duckdb
import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DataError
from dpviz.files.sandbox import CAN_FORK
from dpviz.private.load.sequences import read_sequences
from dpviz.private.load.tables import geojson
from dpviz.private.load.tables.base import point_coordinates
from dpviz.sequences.alphabet import Alphabet
from tests.private.load.stability import (
    BOX,
    YEAR,
    check,
    halves,
    moved_sequences,
    outcome,
)

pytestmark = pytest.mark.usefixtures("one_key", "in_this_process")
MARK = "\ufeff".encode()
NAN = struct.pack("<dd", np.nan, np.nan)
ODD_SHAPES = {
    "an empty point": b"\1\1\0\0\0" + NAN,
    "an empty point with a height": b"\1\xe9\3\0\0" + NAN + NAN[:8],
    "a multipoint of an empty one": b"\1\4\0\0\0\1\0\0\0\1\1\0\0\0" + NAN,
    "half a number": b"\1\1\0\0\0" + struct.pack("<dd", np.nan, 0.5),
    "a curve": b"\1\x08\0\0\0\3\0\0\0" + bytes(48),
    "an unknown type": b"\1\x63\0\0\0" + bytes(16),
    "nested without end": b"\1\7\0\0\0\1\0\0\0" * 400_000,
    "more than it holds": b"\1\3\0\0\0\xff\xff\xff\xff",
    "no bytes": b"",
    "nothing": None,
}
POINT = shapely.to_wkb(shapely.Point(0.5, 0.5))


def both(folder, name, one, two):
    """Two files of one name, without and with the odd record."""
    paths = []
    for number, content in enumerate((one, two)):
        path = folder / str(number) / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        paths.append(path)
    return paths


def files_of(folder, *tables, **how):
    """A Parquet file for each table, each in a folder of its own that is called rides."""
    paths = [folder / str(number) / "rides" / "a.parquet" for number in range(len(tables))]
    for path, table in zip(paths, tables, strict=True):
        path.parent.mkdir(parents=True)
        pq.write_table(table, path, **how)
    return paths


@pytest.mark.parametrize("first", [MARK + b'"zed,0.5,0.5\n', MARK + b"zed,9,9\n", MARK + b"\n"])
def test_a_mark_of_byte_order_below_the_header(first, tmp_path):
    """The parser skips a mark where a block begins: it is of the first record, and stays."""
    others = MARK + b"ann,0.5,0.5\nann,0.5,0.5\n"
    head = b"who,x,y\n"
    paths = both(tmp_path, "a.csv", head + others, head + first + others)
    check(lambda path: dpviz.load(path, BOX, unit="who"), paths, 1)
    assert dpviz.load(paths[0], BOX, unit="who")._index.total == 2


def test_a_mark_of_byte_order_in_lines_of_symbols(tmp_path):
    others = MARK + b"a b\nb\n"
    paths = both(tmp_path, "a.txt", others, b"b b\n" + others)
    read = partial(read_sequences, alphabet=Alphabet(("a", "b")), name="s")
    check(read, paths, 1, moved_sequences)


def among_points(folder, odd, point, kind):
    """An odd shape among three points, in a column of a kind, moves none of them."""
    geo = b'{"primary_column": "geometry", "columns": {"geometry": {"geometry_types": []}}}'
    columns = [
        pa.array(shapes, pa.binary()).cast(kind, safe=False)
        for shapes in ([point] * 3, [point, odd, point, point])
    ]
    tables = [pa.table({"geometry": column}, metadata={b"geo": geo}) for column in columns]
    paths = files_of(folder, *tables)
    check(lambda path: dpviz.load(path, BOX), paths, 0)
    assert dpviz.load(paths[1], BOX)._index.total == 3


@pytest.mark.parametrize("shape", ODD_SHAPES.values(), ids=ODD_SHAPES)
def test_shapes_that_are_no_points(shape, tmp_path):
    assert point_coordinates(np.array([POINT, shape], dtype=object))[0].tolist() == [0.5, 0.5]
    among_points(tmp_path, shape, POINT, pa.binary())


@pytest.mark.parametrize("odd", [b"\xff\xfe", "\u00e9".encode(), b"\xed\xa0\x80", b"00", b"", None])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_shapes_that_are_no_hexadecimal_text(kind, odd, tmp_path):
    """One that is no UTF-8 refused the whole file as damaged."""
    among_points(tmp_path, odd, POINT.hex().encode(), kind)


def test_a_shape_that_is_refused_delays_no_other(monkeypatch):
    """The library refuses all shapes of a block for one curve: they were then read one by one."""
    calls, read = [], shapely.from_wkb
    monkeypatch.setattr(shapely, "from_wkb", lambda *a, **k: calls.append(a) or read(*a, **k))
    shapes = [POINT] * 700 + [ODD_SHAPES["a curve"]] + [POINT] * 300
    assert np.isfinite(point_coordinates(np.array(shapes, dtype=object))).all(axis=1).sum() == 1000
    assert len(calls) < 30


@pytest.mark.skipif(not CAN_FORK, reason="no child has a limit of time")
@pytest.mark.parametrize("cell", ["9" * 100_000 + "x", "1." + "1" * 100_000 + "e"])
def test_a_long_row_of_digits_that_is_no_number(cell, tmp_path, monkeypatch):
    """It took hours, so that its file was refused; in CSV, nothing ended it."""
    monkeypatch.setattr("dpviz.files.sandbox.CAN_FORK", True)
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"x": 0.5, "y": 0.5}, {"x": 0.5, "y": cell}]))
    assert dpviz.load(path, BOX, columns=("x", "y"))._index.total == 1


@pytest.mark.skipif(not CAN_FORK, reason="only a child has calls of its own")
@pytest.mark.parametrize("calls", [0, 60, 300])
def test_a_cell_nested_deeper_than_the_calls_of_the_reader(calls, tmp_path, monkeypatch):
    """The child read it, and who waits for the child, such as an app, stood deeper than it does."""
    monkeypatch.setattr("dpviz.files.sandbox.CAN_FORK", True)

    def within(calls, read):
        return within(calls - 1, read) if calls else read()

    path = tmp_path / "a.json"
    for depth in (90, 300, 650, 900, 2000):
        records = [{"who": "ann", "x": 0.5, "y": 0.5}, {"who": "nest", "x": 0.5, "y": 0.5}]
        path.write_text(json.dumps(records).replace('"nest"', "[" * depth + "]" * depth))
        handle = within(calls, lambda: dpviz.load(path, BOX, columns=("x", "y"), unit="who"))
        assert handle._index.total == 1


NESTED = st.recursive(
    st.text('a"\\[]{},', max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text('"\\}', max_size=2), below),
    max_leaves=30,
)


@settings(max_examples=60)
@given(NESTED, st.integers(1, 4))
def test_what_is_nested_too_deep_is_null(value, most):
    def cut(value, depth=0):
        if isinstance(value, str):
            return value
        if depth == most:
            return None
        if isinstance(value, list):
            return [cut(each, depth + 1) for each in value]
        return {name: cut(each, depth + 1) for name, each in value.items()}

    with patch.object(geojson, "MOST_LEVELS", most):
        assert json.loads(geojson.shallow(json.dumps(value).encode())) == cut(value)


@pytest.mark.parametrize("text", [b"]]", b'["', b'"\\', b"[[[", b"{]}[", b""])
def test_marks_that_are_no_json_are_no_crash(text):
    with patch.object(geojson, "MOST_LEVELS", 1):
        assert isinstance(geojson.shallow(text), bytes)


ODD = {"a word": "moon", "no letter": "\ud800", "an object": object(), "a pair": ("a", 1)}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("column", ["x", "who", "unread"])
@pytest.mark.parametrize("library", ["category", "inferred", "polars"])
def test_a_cell_that_is_of_another_type_than_the_column(odd, column, library):
    """Cells of many types in one column, which no format of files has, are each read by itself."""
    records = {"x": [0.5, 0.25], "y": [0.5, 0.5], "who": [1, 2], "unread": [1, 2]}
    more = {name: [*cells, odd if name == column else cells[0]] for name, cells in records.items()}
    frames = []
    for cells in (records, more):
        if library == "polars":
            polars = pytest.importorskip("polars")
            kinds = {column: polars.Object} if cells is more else {}
            frames.append(polars.DataFrame(cells, schema_overrides=kinds))
        else:
            frames.append(pd.DataFrame(cells))
            if library == "category":
                frames[-1][column] = frames[-1][column].astype("category")
    check(lambda frame: dpviz.load(frame, BOX, unit="who"), frames, 1)


CATEGORIES = {
    "times": ([datetime(2024, 1, 1), datetime(2024, 1, 2, 3)], ("2024-01-01 00:00:00", "other")),
    "numbers": ([1e-5, 0.5], ("1e-05", "0.5")),
    "whole numbers": ([1, 2], ("1", "2")),
    "truth": ([True, False], ("true", "other")),
    "texts": (["a", "b"], ("a", "b")),
}


@pytest.mark.parametrize("cells", CATEGORIES)
def test_a_category_decides_about_no_other(cells):
    """The type of all followed from one: their texts did, and whether they were refused."""
    values, kinds = CATEGORIES[cells]
    box = dpviz.Domain.from_bounds(BOX.bounds, ("x", "y"), kind="kind", kinds=kinds)
    frames = []
    for each in (values, [*values, "moon"], [*values, None]):
        half, kind = [0.5] * len(each), pd.Categorical(each)
        frames.append(pd.DataFrame({"x": half, "y": half, "kind": kind}))
    totals = [[each.total for each in dpviz.load(frame, box)._layers.counts] for frame in frames]
    assert totals[0] == [1, 1]
    more = "other" in kinds  # where whatever is of no listed kind belongs
    assert totals[1] == [1, 1 + more]
    assert totals[2][0] == 1
    for places in (("kind", "y"), ("x", "y")):
        for pair in (frames[:2], frames[::2]):
            check(lambda frame, at=places: dpviz.load(frame, BOX, columns=at), pair, 1)


@pytest.mark.parametrize("odd", ["ab", ["moon", 0.5], [0.5], [[0.5], 0.5], None, [10**400, 1], []])
def test_a_row_of_an_array_that_is_no_point(odd):
    others = [[0.5, 0.5], [0.25, 0.5]]
    check(partial(dpviz.from_points, domain=BOX), (others, [*others, odd]), 0)
    hidden = np.ma.masked_array([[0.5, 0.5], [0.5, 0.5]], [[0, 0], [0, 1]])
    assert dpviz.from_points(hidden, BOX)._index.total == 1


@pytest.mark.parametrize("points", [np.zeros((77, 3)), np.zeros(77), np.zeros((77, 2), bool), 77])
def test_an_array_of_another_shape_does_not_tell_how_many_rows(points):
    with pytest.raises(DataError, match="give a number for each of x, y") as caught:
        dpviz.from_points(points, BOX)
    assert "77" not in str(caught.value)


def test_an_empty_point_of_a_frame():
    shapes = [shapely.Point(0.5, 0.5), shapely.Point(), None, shapely.MultiPoint([(0.5, 0.5)])]
    frame = geopandas.GeoDataFrame(geometry=shapes, crs="EPSG:4326")
    assert dpviz.load(frame, BOX)._index.total == 2


@pytest.mark.parametrize("kind", [pa.string(), pa.binary(), pa.binary_view(), pa.large_string()])
def test_bytes_that_are_no_text(kind, tmp_path):
    """As an id, a kind or a time: SQLite keeps such in columns of text, and so others."""
    domain = dpviz.Domain.from_bounds(
        YEAR.place.bounds, ("x", "y"), period="2024-01-01,2025-01-01", time="when", kind="kind",
        kinds=("bike", "other"),
    )  # fmt: skip
    odd, tables = b"\xff\xfe\x80", []
    good = {"who": b"ann", "when": b"2024-06-01", "kind": b"bike"}
    for rows in ([good] * 2, [good, dict.fromkeys(good, odd), good]):
        columns = {name: pa.array([row[name] for row in rows], pa.binary()) for name in good}
        plain = {"x": pa.array([0.5] * len(rows)), "y": pa.array([0.5] * len(rows))}
        view = pa.BinaryArray.from_buffers if kind in (pa.string(), pa.binary()) else None
        typed = {
            name: view(kind, len(rows), column.buffers()) if view else as_kind(column, kind)
            for name, column in columns.items()
        }
        tables.append(pa.table({**typed, **plain}))
    paths = files_of(tmp_path, *tables)
    check(lambda path: dpviz.load(path, domain, unit="who", max_per_unit=2), paths, 0)
    assert dpviz.load(paths[1], domain, unit="who", max_per_unit=2)._index.total == 2


def as_kind(column, kind):
    """The same bytes in a column of another type."""
    if kind == pa.binary_view():
        return column.cast(kind)
    start = np.frombuffer(column.buffers()[1], np.int32)[: len(column) + 1].astype(np.int64)
    return pa.Array.from_buffers(
        kind, len(column), [None, pa.py_buffer(start), column.buffers()[2]]
    )


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.int64()),
        pa.duration("s"),
        pa.timestamp("s", "Nowhere/Else"),
        pa.uuid(),
        pa.json_(),
        pa.fixed_shape_tensor(pa.int8(), [1]),
    ],
)
def test_a_type_that_is_refused_is_refused_of_nobody(kind, tmp_path):
    """Otherwise the refusal would tell that somebody is in the file."""
    words = {}
    values = {"extension<arrow.uuid>": b"\xff" * 16, "extension<arrow.json>": "{"}
    for rows in (0, 1):
        stored = getattr(kind, "storage_type", kind)
        value = [1] if stored.num_fields else values.get(str(kind), 5)
        one = pa.array([value] * rows, stored)
        if stored != kind:
            one = pa.ExtensionArray.from_storage(kind, one)
        table = halves(who=one)
        pq.write_table(table, tmp_path / "a.parquet")
        for source in (table, tmp_path / "a.parquet"):
            read = partial(dpviz.load, source, BOX, unit="who", name="a")
            words.setdefault(type(source), []).append(outcome(read)[1])
    assert all(one == two for one, two in words.values())


@pytest.mark.parametrize("odd", [b"\xff" * 16, None], ids=["no text", "none"])
def test_a_uuid_decides_about_no_other(odd, tmp_path):
    """They were bytes of texts, which one that is no UTF-8 refused to all; now as in a folder."""
    usual = [f"0123456789abcde{each}".encode() for each in range(3)]
    kind = str(UUID(bytes=usual[1]))
    box = dpviz.Domain.from_bounds(BOX.bounds, ("x", "y"), kind="who", kinds=(kind, "other"))
    tables = []
    for rows in (usual, [*usual, odd]):
        ids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array(rows, pa.binary(16)))
        tables.append(halves(who=ids))
    paths = files_of(tmp_path, *tables)
    units = len(usual) + (odd is not None)
    for pair in ([path.parent for path in paths], paths, tables):
        check(partial(dpviz.load, domain=BOX, unit="who", name="a"), pair, 1)
        assert dpviz.load(pair[1], BOX, unit="who", name="a")._index.total == units
        counts = [dpviz.load(each, box, name="a")._layers.counts[0].total for each in pair]
        assert counts == [1, 1]


def unchecked(words):
    """Bytes as texts."""
    return pa.Array.from_buffers(pa.string(), len(words), pa.array(words, pa.binary()).buffers())


@pytest.mark.parametrize("odd", [b"zo\xff", b"\xed\xa0\x80"])
def test_a_text_among_categories_refuses_no_other(odd, tmp_path):
    """A file of Parquet could not be read because of one of them."""
    tables = []
    for words in ([b"ann", b"zoe"], [b"ann", b"zoe", odd]):
        who = pa.DictionaryArray.from_arrays(pa.array(range(len(words))), unchecked(words))
        tables.append(halves(who=who))
    check(partial(dpviz.load, domain=BOX, unit="who", name="a"), files_of(tmp_path, *tables), 1)


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.struct({"a": pa.string()})])
def test_an_id_of_several_values_is_refused_wherever_it_is(kind, tmp_path):
    """Two of them may have one text: in a folder, or a table of DuckDB, they were one unit."""
    cell = [["a", "b"], {"a": "b"}][pa.types.is_struct(kind)]
    table = halves(who=pa.array([cell] * 3, kind))
    (path,) = files_of(tmp_path, table)
    with duckdb.connect(str(tmp_path / "a.duckdb")) as db:
        db.execute(f"CREATE TABLE visits AS SELECT * FROM read_parquet('{path}')")
    tables = {path: None, path.parent: None, f"duckdb:///{tmp_path}/a.duckdb": "visits"}
    for source, name in tables.items():
        with pytest.raises(DataError, match="an id is a number or a text"):
            dpviz.load(source, BOX, unit="who", table=name)


def test_two_values_of_one_text_are_one_unit_of_a_table(tmp_path):
    """The units are counted in parts: one of them must not be in two parts."""
    with duckdb.connect(str(tmp_path / "a.duckdb")) as db:
        db.execute("CREATE TABLE visits (who UNION(a INTEGER, b VARCHAR), x DOUBLE, y DOUBLE)")
        for who in range(10):
            for tag, value in (("a", who), ("b", f"'{who}'")):
                db.execute(f"INSERT INTO visits VALUES (union_value({tag} := {value}), 0.5, 0.5)")
    url = f"duckdb:///{tmp_path}/a.duckdb"
    assert dpviz.load(url, BOX, table="visits", unit="who")._index.total == 10


ODD_NAMES = {
    "half of a pair": b'{"k\\ud800": 1, "x": 0.5, "y": 0.5, "who": "zed"}',
    "a byte that is no text": b'{"\xff": 1, "x": 0.5, "y": 0.5, "who": "zed"}',
    "5,000 of them": (
        b'{"x": 0.5, "y": 0.5, "who": "zed", '
        + b", ".join(b'"k%d": 1' % number for number in range(5_000))
        + b"}"
    ),
}


@pytest.mark.parametrize("kind", ["array", "lines", "features"])
@pytest.mark.parametrize("odd", ODD_NAMES.values(), ids=ODD_NAMES)
def test_names_of_the_first_object_decide_nothing(odd, kind, tmp_path, monkeypatch):
    """Also in the child, whose answer has to hold them."""
    monkeypatch.setattr("dpviz.files.sandbox.CAN_FORK", CAN_FORK)
    good = b'{"x": 0.5, "y": 0.5, "who": "ann"}'
    ending, before, between, after = {
        "array": (".json", b"[", b",", b"]"),
        "lines": (".jsonl", b"", b"\n", b"\n"),
        "features": (".geojson", b'{"type": "FeatureCollection", "features": [', b",", b"]}"),
    }[kind]
    wrap = b'{"type": "Feature", "geometry": null, "properties": %s}'
    rows = [wrap.replace(b"%s", each) if kind == "features" else each for each in (odd, good)]
    first, last = (before + between.join(every) + after for every in (rows, [rows[1], rows[0]]))
    totals = [
        dpviz.load(path, BOX, unit="who", columns=("x", "y"))._index.total
        for path in both(tmp_path, f"a{ending}", first, last)
    ]
    broken = kind == "lines" and b"\xff" in odd  # a line that is no text is left out
    assert totals == [1, 1] if broken else [2, 2]


@pytest.mark.parametrize("nothing", [b"NaN", b"Infinity", b"-Infinity", b"null"])
@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_what_is_no_id_in_json_is_no_unit(nothing, ending, tmp_path):
    """Python writes NaN for who has none: they would be one person."""
    rows = [b'{"x": 0.5, "y": 0.5, "who": %s}' % who for who in (nothing, nothing, b'"ann"')]
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"\n".join(rows) if ending == ".jsonl" else b"[" + b",".join(rows) + b"]")
    assert dpviz.load(path, BOX, unit="who", max_per_unit=2)._index.total == 1


@pytest.mark.parametrize(("value", "counted"), [(1e300, 2), (1.1e300, 1), (-1e308, 1)])
def test_a_value_that_is_too_large_is_none_in_every_reader(value, counted, tmp_path):
    """Engines dropped what files clipped."""
    domain = dpviz.Domain.from_bounds((0, 0, 1, 1), ("x", "y"), value="v", clip=(0, 9))
    path = tmp_path / "days" / "a.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({"x": [0.5, 0.5], "y": [0.5, 0.5], "v": [value, 3.0]}), path)
    for source in (path, path.parent):
        assert dpviz.load(source, domain, bits=8)._index.total == counted


@pytest.mark.parametrize(
    "odd", [pa.array([0, 2**62]).view(pa.timestamp("ms")), unchecked([b"ann", b"zo\xff"])]
)
def test_a_folder_that_duckdb_refuses_is_refused_in_one_line(odd, tmp_path):
    (file,) = files_of(tmp_path, halves(who=odd))
    with pytest.raises(DataError, match=r"DuckDB refused \(\w+\): check that [^\\]*$"):
        dpviz.load(file.parent, BOX, unit="who")
    assert dpviz.load(file.parent, BOX)._index.total == 2


def test_json_of_another_encoding_is_read_as_it_is_in_utf_8(tmp_path):
    """A letter whose byte is a bracket made a record that is nested too deep cost all others."""
    one = '{"u":"\N{CJK UNIFIED IDEOGRAPH-5B40}","x":0.5,"y":0.5}'
    deep = '{"u":' + "[" * 3_000 + "]" * 3_000 + ',"x":0.5,"y":0.5}'
    paths = both(
        tmp_path,
        "a.json",
        *(f"[{','.join(each)}]".encode("utf-16-le") for each in ([one] * 5, [one] * 5 + [deep])),
    )
    box = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
    check(lambda path: dpviz.load(path, box, columns=("x", "y")), paths, 1)
    assert dpviz.load(paths[1], box, columns=("x", "y"))._index.total == 6


@pytest.mark.parametrize("kind", ["category", "object"])
def test_a_far_date_of_a_data_frame_is_no_time_and_refuses_no_other(kind):
    """Its library's own error named the year."""
    days = np.array(["2030-01-01"] * 3 + ["20000-01-01"], "datetime64[s]")
    frame = pd.DataFrame({"u": list("abcd"), "lon": 0.5, "lat": 0.5, "t": pd.Series(days)})
    frame["t"] = frame["t"].astype(kind)
    domain = dpviz.Domain.from_bounds([0, 0, 1, 1], time="t", period=("2029-01-01", "2031-01-01"))
    assert dpviz.load(frame, domain)._index.total == 3


ODD_ROWS = {
    "a text": ["x", 0.5],
    "no number": [3j, 0.4],
    "a long text": ["x" * 10**6, 1],
    "one": [1],
}


@pytest.mark.parametrize("odd", ODD_ROWS.values(), ids=ODD_ROWS)
def test_a_row_of_a_list_decides_about_no_other(odd):
    """NumPy takes one type for all: truth was a number or none, and all as wide as the widest."""
    box, rows = dpviz.Domain((0, 0), (1, 1)), [[True, 0.5], [0.5, 0.5], np.float32([0.1, 0.2])]
    few, more = (dpviz.from_points([*rows, *each], box)._index for each in ([], [odd]))
    assert few.total == more.total == 2
    np.testing.assert_array_equal(few.codes, more.codes)
