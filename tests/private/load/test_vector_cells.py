"""Cells of a GeoPackage or a Shapefile that are not what their column declares.

SQLite lets any text stand in any column, and a .dbf is all text: GDAL made a 0, or the first day
of 1970, of what cannot be read, so it was counted, at (0, 0) or as the unit "0".
"""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DataError
from dpviz.files import foreign, sandbox
from dpviz.private.load import bounding
from dpviz.private.load.tables.opening import open_table
from tests.private.load.stability import check, delimited, distance

BOX = dpviz.Domain((-1.0, -1.0), (20.0, 20.0), ("x", "y"))
NUMBERS = ("", "garbage", "12abc", "n/a", "1.5", "12,5", "1e1", "7", "inf", "nan", "0x5", "0", None)
TIMES = (
    "", "garbage", "2024-13-45T99:00:00Z", "12:30", "2024-07-01T08:00:00", "2024-07-01T08:00:00Z",
    "2024-07-01 08:00:00.250+02:00", "2024-07-01", "2024-02-30", "2024-7-1", "1717200000", None,
    "1717200000.5", "2024/07/01 08:00:00", "2024/07/01",
)  # fmt: skip
IDS = ("", "garbage", "12abc", "1.5", "12,5", None, "7")
"""Of which the last is a whole number."""


@pytest.fixture(autouse=True)
def one_key(monkeypatch):
    """Both runs draw the same key, and read in this process."""
    monkeypatch.setattr(bounding, "fresh_key", lambda: b"k" * 16)
    monkeypatch.setattr("dpviz.files.sandbox.CAN_FORK", False)


def points(count):
    import geopandas

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


def shapefile(path, kind, cells, column="x", decimals=0, gone=()):
    """Points with a column of these cells in the .dbf, and a number beside it; some deleted."""
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
        (b"*" if row in gone else b" ") + (cell or "").encode().rjust(width) + b"2".rjust(18)
        for row, cell in enumerate(cells)
    ]
    sizes = (len(cells)).to_bytes(4, "little") + (33 + len(header)).to_bytes(2, "little")
    start = b"\x03\x7c\1\1" + sizes + (1 + width + 18).to_bytes(2, "little") + bytes(20)
    path.with_suffix(".dbf").write_bytes(start + header + b"\r" + b"".join(records))
    return path


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
    assert one.total == two.total == 5
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
    assert one.total == two.total == 8
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
@settings(
    max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), database=None
)  # fmt: skip
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
