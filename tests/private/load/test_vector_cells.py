"""Cells of a GeoPackage or a Shapefile that are not what their column declares.

SQLite lets any text stand in any column, and a .dbf is all text: GDAL made a 0, or the first day
of 1970, of what cannot be read, so it was counted, at (0, 0) or as the unit "0".
"""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import geopandas
import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DataError
from dpviz.files import foreign, sandbox
from dpviz.private.load.tables.geopackage import _odd
from dpviz.private.load.tables.opening import open_table
from tests.private.load.stability import check, delimited, distance, often

pytestmark = pytest.mark.usefixtures("one_key", "in_this_process")
BOX = dpviz.Domain((-1.0, -1.0), (20.0, 20.0), ("x", "y"))
NUMBERS = ("", "garbage", "12abc", "n/a", "1.5", "12,5", "1e1", "7", "inf", "nan", "0x5", "0", None)
TIMES = (
    "", "garbage", "2024-13-45T99:00:00Z", "12:30", "2024-07-01T08:00:00", "2024-07-01T08:00:00Z",
    "2024-07-01 08:00:00.250+02:00", "2024-07-01", "2024-02-30", "2024-7-1", "1717200000", None,
    "1717200000.5", "2024/07/01 08:00:00", "2024/07/01",
)  # fmt: skip
IDS = ("", "garbage", "12abc", "1.5", "12,5", None, "7")
"""Of which the last is a whole number."""


def points(count):
    return geopandas.GeoDataFrame(geometry=[shapely.Point(1, 1)] * count, crs="EPSG:4326")


def geopackage(path, declared, cells, column="x"):
    """Points with a column of these cells, as SQLite takes them, and a number beside it."""
    path.unlink(missing_ok=True)
    points(len(cells) + 1).to_file(path, layer="a", engine="pyogrio", SPATIAL_INDEX="NO")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f'ALTER TABLE a ADD COLUMN "{column}" {declared}')
        db.execute("ALTER TABLE a ADD COLUMN y REAL DEFAULT 2")
        db.execute("DELETE FROM a WHERE fid = 1")  # so that a row's number is not its key
        rows = [(cell, key) for key, cell in enumerate(cells, 2)]
        db.executemany(f'UPDATE a SET "{column}" = ? WHERE fid = ?', rows)
    return path


def shapefile(path, kind, cells, column="x", decimals=0, gone=(), page="UTF-8"):
    """Points with a column of these cells in the .dbf, and a number beside it; some deleted.

    The .cpg names the code page of texts; there is none where that is None.
    """
    points(len(cells)).to_file(path, engine="pyogrio")
    width = 8 if kind == "D" else 24 if decimals else 18
    fields = [(column, kind, width, decimals), ("y", "N", 18, 0)]
    header = b"".join(
        name.encode().ljust(11, b"\0")
        + each.encode()
        + bytes(4)
        + bytes((size, digits))
        + bytes(14)
        for name, each, size, digits in fields
    )
    records = [
        (b"*" if row in gone else b" ") + padded(cell or "", kind, width) + b"2".rjust(18)
        for row, cell in enumerate(cells)
    ]
    sizes = (len(cells)).to_bytes(4, "little") + (33 + len(header)).to_bytes(2, "little")
    start = b"\x03\x7c\1\1" + sizes + (1 + width + 18).to_bytes(2, "little") + bytes(20)
    path.with_suffix(".dbf").write_bytes(start + header + b"\r" + b"".join(records))
    path.with_suffix(".cpg").unlink(missing_ok=True)
    if page:
        path.with_suffix(".cpg").write_text(page)
    return path


def padded(cell, kind, width):
    raw = cell if isinstance(cell, bytes) else cell.encode()
    return raw.ljust(width) if kind == "C" else raw.rjust(width)


def table(path, form, cells, column="x"):
    """A file of one column whose declared type is a part of the form."""
    if path.suffix == ".gpkg":
        return geopackage(path, form, cells, column)
    return shapefile(path, form[0], cells, column, int(form[2:] or 0))


def text(path, cells, column="x"):
    """The same as CSV."""
    lines = delimited([(cell or "", "2", "2") for cell in cells]).splitlines()
    path.write_text("\n".join([f"{column},y,z", *lines[1:]]))
    return path


FORMS = {
    "REAL": "a.gpkg", "DOUBLE": "a.gpkg", "INTEGER": "a.gpkg", "MEDIUMINT": "a.gpkg",
    "TEXT": "a.gpkg", "N 0": "a.shp", "N 15": "a.shp", "F 15": "a.shp",
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_numbers_are_those_of_csv(form, tmp_path):
    path = table(tmp_path / FORMS[form], form, NUMBERS)
    one = dpviz.load(path, BOX, columns=("x", "y"))._index
    two = dpviz.load(text(tmp_path / "a.csv", NUMBERS), BOX, columns=("x", "y"))._index
    assert one.total == two.total == 4
    assert distance(one, two) == 0


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize("declared", ["DATETIME", "DATE", "TEXT"])
def test_times_are_those_of_csv(declared, zone, tmp_path):
    """Those that state no zone are of the given one: GDAL took them for times of UTC."""
    domain = dpviz.Domain.from_bounds(
        [0, 0, 5, 5], ("y", "z"), period="1969-01-01,2030-01-01", time="when", every="1h", zone=zone
    )
    path = geopackage(tmp_path / "a.gpkg", declared, TIMES, "when")
    other = text(tmp_path / "a.csv", TIMES, "when")
    one, two = dpviz.load(path, domain)._index, dpviz.load(other, domain, columns=("y", "z"))._index
    assert one.total == two.total == 4
    of_time = [np.sort(index.cells[:, 2]) for index in (one, two)]
    assert np.array_equal(*of_time)


def test_dates_of_a_shapefile(tmp_path):
    domain = dpviz.Domain.from_bounds(
        [0, 0, 5, 5], ("x", "y"), period="1969-01-01,2030-01-01", time="when", every="1d"
    )
    cells = ("garbage!", "20241345", "2024-7-1", "20240230", "", None, "20240701")
    path = shapefile(tmp_path / "a.shp", "D", cells, "when")
    assert dpviz.load(path, domain)._index.total == 1


UNITS = {
    "INTEGER": "a.gpkg", "MEDIUMINT": "a.gpkg", "BOOLEAN": "a.gpkg", "N 0": "a.shp",
}  # fmt: skip


@pytest.mark.parametrize("form", UNITS)
def test_what_is_no_whole_number_is_no_id_of_a_column_of_them(form, tmp_path):
    cells = (*IDS[:-1], "1") if form == "BOOLEAN" else IDS
    path = table(tmp_path / UNITS[form], form, cells, "who")
    for most in (1, 9):
        assert dpviz.load(path, BOX, unit="who", max_per_unit=most)._index.total == 1
    assert dpviz.load(path, BOX)._index.total == len(IDS)


def test_numbers_that_are_longer_than_a_column_declares_stay_apart(tmp_path):
    """GDAL keeps 32 bits of them: two ids may be one."""
    path = geopackage(tmp_path / "a.gpkg", "MEDIUMINT", (7, 7 + 2**32, 7 + 2**33), "x")
    (_, block) = open_table(path).blocks(["x"], ["x"])
    assert block.columns["x"].tolist() == [7, 7 + 2**32, 7 + 2**33]
    assert dpviz.load(path, BOX, unit="x", max_per_unit=9)._index.total == 1


ALIKE = {
    "TEXT": ("a", "a\0", "a\0b", "a\0c", b"a\0d"),
    "BLOB": (b"a", b"a\0b", "a\0c", 1 + 2**-52, 1.0),
    "DATETIME": (1 + 2**-52, 1 + 2**-51, 1.0, "a\0b", "a\0c"),
    "FLOAT": (2.0**24, 2.0**24 + 1, 1e39, 1e40, 1e-50, 2e-50, 0.1, float(np.float32(0.1))),
    "NUMERIC": (2**53, 2**53 + 1, 2**53 + 3, 0.5, -(2**53), -(2**53) - 1),
    "MEDIUMINT": (1, 2),
}  # fmt: skip
"""Of each type, ids that GDAL makes one, or makes shorter."""


@pytest.mark.parametrize("declared", ALIKE)
def test_ids_of_a_geopackage_stay_apart(declared, tmp_path):
    cells = ALIKE[declared]
    path = geopackage(tmp_path / "a.gpkg", declared, cells, "who")
    assert dpviz.load(path, BOX, unit="who")._index.total == len(cells)


def test_an_id_that_is_like_another_up_to_a_nul_moves_no_record_of_it(tmp_path):
    paths = []
    for name, people in (("one", ["a"]), ("two", ["a", "a\0b"])):
        (tmp_path / name).mkdir()
        paths.append(geopackage(tmp_path / name / "a.gpkg", "TEXT", people * 9, "who"))
    check(lambda path: dpviz.load(path, BOX, unit="who", max_per_unit=3), paths, 3)


def test_texts_of_a_geopackage_in_utf_16_are_refused(tmp_path):
    """By the file's header: SQLite makes one letter of several halves of one."""
    path, other = geopackage(tmp_path / "a.gpkg", "TEXT", ("a",), "who"), tmp_path / "b.gpkg"
    with closing(sqlite3.connect(path)) as db, closing(sqlite3.connect(other)) as copy, copy:
        copy.execute("PRAGMA encoding = 'UTF-16le'")
        copy.executescript("\n".join(db.iterdump()))
        copy.execute(f"PRAGMA application_id = {0x47504B47}")
    with pytest.raises(DataError, match="holds texts in UTF-16: write it again in UTF-8"):
        dpviz.load(other, BOX, unit="who")


def test_numbers_that_a_float32_holds_are_read_by_gdal():
    """So that a usual column of them is as fast as others."""
    random = np.random.default_rng(1)
    bits = random.integers(0, 2**32, 5000, dtype=np.uint32).view(np.float32)
    bits = bits[np.isfinite(bits)].astype(float)
    usual = bits[(abs(bits) > 2e-38) & (abs(bits) < 3e38)].tolist()
    beside = np.nextafter(bits, np.inf).tolist()
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE t (x FLOAT)")
        count = f"SELECT count(*) FROM t WHERE {_odd('float32', 't.x')}"
        db.executemany("INSERT INTO t VALUES (?)", [(each,) for each in (*usual, 0.0, None)])
        assert db.execute(count).fetchone() == (0,)
        db.executemany("INSERT INTO t VALUES (?)", [(each,) for each in beside])
        assert db.execute(count).fetchone() == (len(beside),)


PAGES = (
    None,
    "UTF-8",
    "UTF-8-SIG",
    "ISO-8859-1",
    "1252",
    "CP1252",
    "ASCII",
    "CP932",
    "LDID/19",
    "NONSENSE",
)
ODD_BYTES = (
    b"a", b" a", b"  a", b"a\0b", b"a\0c", b"a\x81", b"a\x8d", b"a\x83", b"a\x84", b"\xc3\xa9",
    b"\xe9", b"\xc3\x81", b"\xc1", b"\xff", b"\xfe", b"\xed\xb2\x81", b"\x81", b"\xfa\x54",
    b"\x81\xca", b"\xee\xf9", b"\xef\xbb\xbfa", b"\xef\xbb\xbf",
)  # fmt: skip
"""Of which CP932 has three for one sign."""


@pytest.mark.parametrize("page", PAGES)
def test_texts_of_a_shapefile_stay_apart(page, tmp_path):
    """A NUL cut them, blanks before them were gone, and so were bytes that the code page lacks."""
    cells = (*ODD_BYTES, b"", b"a".ljust(18, b"\0"))
    path = shapefile(tmp_path / "a.shp", "C", cells, "who", page=page)
    assert dpviz.load(path, BOX, unit="who")._index.total == len(ODD_BYTES)


@pytest.mark.parametrize("page", [None, "UTF-8", "CP1252", "ANSI 1251", "LDID/201", "88595"])
def test_texts_of_a_shapefile_are_those_of_their_code_page(page, tmp_path):
    kind = "caf\u00e9" if page in (None, "UTF-8", "CP1252") else "\u0430"
    codec = {None: "cp1252", "88595": "iso8859-5"}.get(page, page if kind != "\u0430" else "cp1251")
    cells = (kind.encode(codec), b"", b"\x98", b"other")
    path = shapefile(tmp_path / "a.shp", "C", cells, "kind", page=page)
    domain = dpviz.Domain.from_bounds(BOX.bounds, ("x", "y"), kind="kind", kinds=(kind, "none"))
    assert dpviz.load(path, domain)._layers.counts[0].total == 1


@pytest.mark.parametrize(("kind", "decimals"), [("N", 0), ("N", 15), ("F", 15)])
def test_numbers_of_a_shapefile_stay_apart(kind, decimals, tmp_path):
    """As ids; a float64 holds the first sixteen digits of such."""
    cells = ("9007199254740992", "9007199254740993", "7", "8\0a", "8\0b", "9007199254740992.6")
    path = shapefile(tmp_path / "a.shp", kind, (*cells, "07", "7.", "zed"), "who", decimals)
    for most, total in ((1, 4 if decimals else 3), (9, 6 if decimals else 5)):
        assert dpviz.load(path, BOX, unit="who", max_per_unit=most)._index.total == total
    domain = dpviz.Domain.from_bounds(BOX.bounds, ("x", "y"), kind="who", kinds=("7", "none"))
    assert dpviz.load(path, domain)._layers.counts[0].total == 3


def test_a_deleted_record_of_a_shapefile_moves_no_other(tmp_path):
    path = shapefile(tmp_path / "a.shp", "N", ("abc", "1", "abc", "3"), gone={0, 1})
    (_, block) = open_table(path).blocks(["x"], ["x"], geometry=True)
    assert np.array_equal(block.columns["x"], [np.nan, 3], equal_nan=True)


@pytest.mark.skipif(not sandbox.CAN_FORK, reason="two SQLites in one process undo their locks")
def test_rows_that_are_not_yet_in_the_file_are_read(tmp_path, monkeypatch):
    """Such as of a GeoPackage that is open in QGIS: they wait in a journal beside it."""
    monkeypatch.undo()
    path = geopackage(tmp_path / "a.gpkg", "REAL", ("1",))
    with closing(sqlite3.connect(path)) as db, closing(sqlite3.connect(path)) as reader:
        db.execute("PRAGMA journal_mode = wal")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM a").fetchall()  # as long as this lasts
        db.execute("UPDATE a SET x = 'garbage'")
        db.commit()
        assert dpviz.load(path, BOX, columns=("x", "y"))._index.total == 0
        db.execute("CREATE VIEW endless AS SELECT * FROM a")
        db.commit()
        with pytest.raises(DataError, match="holds a view"):
            dpviz.load(path, BOX)


def test_no_message_on_a_cell_says_what_it_holds(tmp_path):
    path = geopackage(tmp_path / "a.gpkg", "DATETIME", ("secret-home-12",), "when")
    with pytest.raises(DataError, match="column 'when' holds timestamp") as refused:
        dpviz.load(path, BOX, columns=("when", "y"))
    assert "secret" not in str(refused.value)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE b (x REAL, y REAL, geom POINT)")
        db.execute("INSERT INTO b SELECT 'secret-home-12', y, geom FROM a")
        db.execute("UPDATE gpkg_contents SET table_name = 'b'")
        db.execute("UPDATE gpkg_geometry_columns SET table_name = 'b'")
    with pytest.raises(DataError, match="has a table without a primary key") as refused:
        dpviz.load(path, BOX, columns=("x", "y"), table="b")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("form", FORMS)
@often(5)
@given(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=8), st.booleans())
def test_one_cell_moves_no_other(form, tmp_path, cells, of_unit):
    """Whatever it holds, whether it is a coordinate or an id."""
    paths = []
    for name, each in (("one", cells), ("two", cells[:-1] or [None])):
        (tmp_path / name).mkdir(exist_ok=True)
        paths.append(table(tmp_path / name / FORMS[form], form, each))
    read = {"unit": "x", "max_per_unit": 9} if of_unit else {"columns": ("x", "y")}
    check(lambda path: dpviz.load(path, BOX, **read), paths, 1)


def test_a_geopackage_whose_changes_cannot_be_read_is_not_called_damaged(tmp_path, monkeypatch):
    """As in a folder that cannot be written: SQLite makes a third file beside the two."""
    path, others = tmp_path / "a.gpkg", iter(("", "-wal"))

    def shut(path):
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(foreign, "database", shut)
    for words in ("it is damaged", "has changes in a file beside it, a.gpkg-wal, which"):
        Path(f"{path}{next(others)}").touch()
        with pytest.raises(DataError, match=re.escape(words)):
            foreign.refuse_computing(path, path.name)
