"""One record more moves the index by at most one, in every format, and no word of a message.

Each source is read with and without the records of one unit, which hold whatever cells hold; and
with what no program expects, which is dropped by itself. This is done straight in this process:
what a child would hide, such as a crash, is seen here.
"""

import random
import struct
from functools import partial

import duckdb
import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import dpviz
from dpviz.errors import DataError
from dpviz.private.load.tables.base import point_coordinates
from tests.private.load.stability import (
    BOX,
    CELLS,
    IDS,
    LINES,
    TIMES,
    WEEK,
    YEAR,
    check,
    database,
    halves,
    layers_apart,
    outcome,
    places,
    typed,
    write,
)
from tests.vault import index_of, layers_of

pytestmark = pytest.mark.usefixtures("one_key", "in_this_process")
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


def files_of(folder, *tables, **how):
    """A Parquet file for each table, each in a folder of its own that is called rides."""
    paths = [folder / str(number) / "rides" / "a.parquet" for number in range(len(tables))]
    for path, table in zip(paths, tables, strict=True):
        path.parent.mkdir(parents=True)
        pq.write_table(table, path, **how)
    return paths


FORMATS = (
    "csv", "tsv", "csv.gz", "csv.xz", "csv.zst", "csv.zip", "jsonl", "json", "geojson", "parquet",
    "geoparquet", "feather", "gpkg", "shp", "fgb", "xlsx", "duckdb", "folder", "pandas", "objects",
    "polars", "geopandas",
)  # fmt: skip
TEXT = ("csv", "tsv", "csv.gz", "csv.xz", "csv.zst", "csv.zip", "jsonl", "json")
"""Formats in which a line may be invalid."""

ODD = (
    "None", "-inf", "1e308", "-1e308", "9" * 400, "½", "\t0.5", "0.5\x0b", "\ufeff0.5", "\u00a00.5",
    'a"b', '"', "|", "\\", "\x00", "\x1a", "\x85", "\u2028", "cafe\u0301", "CAFÉ", "z" * 3000,
    "2024-10-27T02:30:00", "2024-06-01T23:59:60", "10000-01-01", "-2024-01-01", "NaT", "[1]", "{}",
    "253402300800", "2024-06-01T08:00:00+25:00", "POINT(0.5 0.5)", "#N/A", "true",
)  # fmt: skip
"""Cells that a reader may stumble over, beside those that are easily taken for each other."""

KINDS = {"kind": "who", "kinds": ("1", "01", "caf\u00e9", "other")}
VALUES = {"value": "y", "clip": (-5, 20)}
ROLES = {
    "unit": (BOX, {"unit": "who"}),
    "another CRS": (dpviz.Domain((0, 0), (1e5, 1e5), ("x", "y"), "EPSG:3857"), {"crs": BOX.crs}),
    "kind": (dpviz.Domain.from_bounds([0, 0, 1, 1], ("x", "y"), **KINDS), {}),
    "all": (dpviz.Domain.from_bounds([0, 0, 1, 1], ("x", "y"), **KINDS, **VALUES), {"unit": "who"}),
    "time": (YEAR, {}),
    "cycle": (WEEK, {}),
}
"""What is read of the columns: of ``who``, which is an id, a kind or a time, and of the others."""

UNIT = "zed"


def cell(draw, form):
    """A cell, odd or not, that a writer of the format can write as it is."""
    text = draw.choice((*ODD, *IDS, *CELLS, *TIMES))
    if draw.random() < 0.3:
        place = draw.randrange(len(text) + 1)
        text = text[:place] + draw.choice("0123456789eE+-.,:TZ\"'\t\x7fé\u0301") + text[place:]
    if form == "shp":
        return text[:80]
    return "".join(each for each in text if form != "xlsx" or each.isprintable())


def neighbours(form, role, seed, folder):
    """Two sources, the second with one unit more, and the bound on it.

    Args:
        form: of the files, one of :data:`FORMATS`.
        role: of the columns, one of :data:`ROLES`.
        seed: of what they hold.
        folder: an empty one, to write to.
    """
    draw = random.Random(f"{form} {role} {seed}")
    usual = TIMES if role in ("time", "cycle") else IDS
    others = [(draw.choice(usual), *draw.choices(CELLS[:8], k=2)) for _ in range(10)]
    others = [each for each in others if each[0] != UNIT]
    bound = draw.randint(1, 3) if "unit" in ROLES[role][1] else None
    rows, lines = list(others), []
    for _ in range(1 if bound is None else draw.randint(1, 6)):
        who = cell(draw, form) if bound is None else UNIT
        if form in TEXT and draw.random() < 0.2:
            lines.append((draw.choice(LINES), who, draw.choice(CELLS)))
            continue
        odd = [cell(draw, form) if draw.random() < 0.5 else "0.5" for _ in "xy"]
        rows.insert(draw.randrange(len(rows) + 1), (who, *odd))
    return [placed(form, folder / "a", others, []), placed(form, folder / "b", rows, lines)], bound


def placed(form, folder, rows, lines):
    """Write these rows and some invalid lines; return the source for :func:`dpviz.load`."""
    if form in ("pandas", "objects", "polars", "geopandas"):
        return framed(form, rows)
    inside = folder / "rides"
    inside.mkdir(parents=True)
    if form in ("duckdb", "folder"):
        pq.write_table(typed(rows, "words"), inside / "a.parquet")
    else:
        write(form, inside / f"a.{form}", rows, lines)
        return inside / f"a.{form}"
    if form == "folder":
        return inside
    return database(folder / "a.duckdb", rides=inside / "a.parquet")


def framed(library, rows):
    """The same as a table in memory; of objects, some are numbers and truth among texts."""
    if library == "geopandas":
        return places(rows)
    table = typed(rows)
    if library == "polars":
        return pytest.importorskip("polars").from_arrow(table)
    frame = table.to_pandas()
    if library == "objects":
        values = {"7": 7, "true": True, "": None, "0.5": 0.5}
        frame = frame.astype(object)
        frame["who"] = [values.get(who, who) for who in frame["who"]]
    return frame


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 202), marks=pytest.mark.campaign)]
)
@pytest.mark.parametrize("form", FORMATS)
def test_one_unit_more_moves_the_index_by_at_most_its_bound(form, seeds, one_salt, tmp_path):
    """Whatever its cells hold. With one record more, no message and no public fact changes."""
    quick = form in ("folder", "duckdb") and len(seeds) == 2  # eight queries each, so fewer cases
    roles, seeds = (["unit"], range(1, 2)) if quick else (ROLES, seeds)
    cases = [(role, seed, tmp_path / f"{role}{seed}") for seed in seeds for role in roles]
    results = [moved(form, *each) for each in cases]
    assert sum(each is not None for each in results) >= len(results) // 2  # most files are read
    assert any(results)  # and some units change the index


def moved(form, role, seed, folder):
    """Number of records that one unit moves; None if both files are refused alike."""
    (one, other), bound = neighbours(form, role, seed, folder)
    domain, options = ROLES[role]
    options = {**options, "max_per_unit": bound or 1}
    options |= {"table": "rides"} if form == "duckdb" else {}
    if form in ("folder", "duckdb"):
        options.pop("crs", None)
    (first, words), (second, same) = (
        outcome(lambda source=source: dpviz.load(source, domain, **options))
        for source in (one, other)
    )
    assert words == same, (role, seed)
    if first is None:
        return None
    distance = layers_apart(layers_of(first).counts, layers_of(second).counts)
    assert distance <= (bound or 1), (role, seed)
    if domain.values is not None:
        sums = layers_apart(layers_of(first).sums, layers_of(second).sums)
        assert sums <= (bound or 1) * domain.values.reach, (role, seed)
    return distance


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
    assert index_of(dpviz.load(paths[1], BOX)).total == 3


@pytest.mark.parametrize("shape", ODD_SHAPES.values(), ids=ODD_SHAPES)
def test_shapes_that_are_no_points_are_dropped_alone(shape, tmp_path):
    assert point_coordinates(np.array([POINT, shape], dtype=object))[0].tolist() == [0.5, 0.5]
    among_points(tmp_path, shape, POINT, pa.binary())


@pytest.mark.parametrize("odd", [b"\xff\xfe", "\u00e9".encode(), b"\xed\xa0\x80", b"00", b"", None])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_shapes_that_are_no_hexadecimal_text_are_dropped_alone(kind, odd, tmp_path):
    """Regression: one text that is not UTF-8 made the whole file "damaged"."""
    among_points(tmp_path, odd, POINT.hex().encode(), kind)


ODD = {"a word": "moon", "no letter": "\ud800", "an object": object(), "a pair": ("a", 1)}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("column", ["x", "who", "unread"])
@pytest.mark.parametrize("categories", [True, False])
def test_a_cell_of_another_type_than_its_column_affects_no_other(odd, column, categories):
    """Cells of many types in one column, which no format of files has, are each read by itself."""
    records = {"x": [0.5, 0.25], "y": [0.5, 0.5], "who": [1, 2], "unread": [1, 2]}
    more = {name: [*cells, odd if name == column else cells[0]] for name, cells in records.items()}
    frames = []
    for cells in (records, more):
        frames.append(pd.DataFrame(cells))
        if categories:
            frames[-1][column] = frames[-1][column].astype("category")
    check(lambda frame: dpviz.load(frame, BOX, unit="who"), frames, 1)


@pytest.mark.parametrize("odd", ["ab", ["moon", 0.5], [0.5], [[0.5], 0.5], None, [10**400, 1], []])
def test_a_row_of_an_array_that_is_no_point_is_dropped_alone(odd):
    others = [[0.5, 0.5], [0.25, 0.5]]
    check(partial(dpviz.from_points, domain=BOX), (others, [*others, odd]), 0)
    hidden = np.ma.masked_array([[0.5, 0.5], [0.5, 0.5]], [[0, 0], [0, 1]])
    assert index_of(dpviz.from_points(hidden, BOX)).total == 1


@pytest.mark.parametrize("points", [np.zeros((77, 3)), np.zeros(77), np.zeros((77, 2), bool), 77])
def test_an_array_of_another_shape_does_not_tell_how_many_rows(points):
    with pytest.raises(DataError, match="give a number for each of x, y") as caught:
        dpviz.from_points(points, BOX)
    assert "77" not in str(caught.value)


def test_empty_points_of_a_frame_are_dropped():
    shapes = [shapely.Point(0.5, 0.5), shapely.Point(), None, shapely.MultiPoint([(0.5, 0.5)])]
    frame = geopandas.GeoDataFrame(geometry=shapes, crs="EPSG:4326")
    assert index_of(dpviz.load(frame, BOX)).total == 2


@pytest.mark.parametrize("kind", [pa.string(), pa.binary(), pa.binary_view(), pa.large_string()])
def test_bytes_that_are_no_text_affect_no_other_record(kind, tmp_path):
    """Used as an id, a kind or a time: SQLite, for one, stores such bytes in text columns."""
    domain = dpviz.Domain.from_bounds(
        YEAR.without_time.bounds, ("x", "y"), period="2024-01-01,2025-01-01", time="when",
        kind="kind", kinds=("bike", "other"),
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
    assert index_of(dpviz.load(paths[1], domain, unit="who", max_per_unit=2)).total == 2


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
        with pytest.raises(DataError, match="an id must be a number or text"):
            dpviz.load(source, BOX, unit="who", table=name)


@pytest.mark.parametrize("nothing", [b"NaN", b"Infinity", b"-Infinity", b"null"])
@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_a_json_value_that_is_no_id_is_no_unit(nothing, ending, tmp_path):
    """Python writes NaN for who has none: they would be one person."""
    rows = [b'{"x": 0.5, "y": 0.5, "who": %s}' % who for who in (nothing, nothing, b'"ann"')]
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"\n".join(rows) if ending == ".jsonl" else b"[" + b",".join(rows) + b"]")
    assert index_of(dpviz.load(path, BOX, unit="who", max_per_unit=2)).total == 1


@pytest.mark.parametrize(("value", "counted"), [(1e300, 2), (1.1e300, 1), (-1e308, 1)])
def test_a_value_that_is_too_large_is_none(value, counted):
    domain = dpviz.Domain.from_bounds((0, 0, 1, 1), ("x", "y"), value="v", clip=(0, 9))
    table = pa.table({"x": [0.5, 0.5], "y": [0.5, 0.5], "v": [value, 3.0]})
    assert index_of(dpviz.load(table, domain)).total == counted


@pytest.mark.parametrize(
    "odd", [pa.array([0, 2**62]).view(pa.timestamp("ms")), unchecked([b"ann", b"zo\xff"])]
)
def test_a_folder_that_duckdb_refuses_is_refused_in_one_line(odd, tmp_path):
    (file,) = files_of(tmp_path, halves(who=odd))
    with pytest.raises(DataError, match=r"DuckDB refused \(\w+\): check that [^\\]*$"):
        dpviz.load(file.parent, BOX, unit="who")
    assert index_of(dpviz.load(file.parent, BOX)).total == 2


@pytest.mark.parametrize("kind", ["category", "object"])
def test_a_far_date_of_a_data_frame_is_no_time_and_refuses_no_other(kind):
    """Regression: the library's own error named the year."""
    days = np.array(["2030-01-01"] * 3 + ["20000-01-01"], "datetime64[s]")
    frame = pd.DataFrame({"u": list("abcd"), "lon": 0.5, "lat": 0.5, "t": pd.Series(days)})
    frame["t"] = frame["t"].astype(kind)
    domain = dpviz.Domain.from_bounds([0, 0, 1, 1], time="t", period=("2029-01-01", "2031-01-01"))
    assert index_of(dpviz.load(frame, domain)).total == 3
