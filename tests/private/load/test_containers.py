"""GeoPackage, Shapefile and workbooks: a row is what its library decodes, whatever other rows hold.

What GDAL makes of a cell of another kind than its column declares is written down here, so that a
new version that does otherwise is noticed.
"""

import sqlite3
import struct
import zipfile
from contextlib import closing
from datetime import date

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

import dpviz
from dpviz.errors import DataError
from dpviz.files import sandbox
from dpviz.private.load.tables.opening import open_table
from tests.commands import refused
from tests.private.load.stability import BOX, MAIN, check, packed, sheet

pytestmark = pytest.mark.usefixtures("one_key", "in_this_process")
POINT = shapely.Point(0.5, 0.5)
DAY_0 = date(1970, 1, 1)


def layer(path, shapes, crs="EPSG:4326", **how):
    """A file of one layer of these shapes."""
    options = {"layer": "a", "SPATIAL_INDEX": "NO"} if path.suffix == ".gpkg" else {}
    frame = geopandas.GeoDataFrame(geometry=list(shapes), crs=crs)
    if crs is None:
        with pytest.warns(UserWarning, match="'crs' was not provided"):
            frame.to_file(path, engine="pyogrio", **options, **how)
    else:
        frame.to_file(path, engine="pyogrio", **options, **how)
    return path


def geopackage(folder, declared, cells):
    """Points with a column x of these cells: SQLite takes a cell of any kind in any column."""
    path = layer(folder / "a.gpkg", [POINT] * len(cells))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"ALTER TABLE a ADD COLUMN x {declared}")
        rows = [(cell, key) for key, cell in enumerate(cells, 1)]
        db.executemany("UPDATE a SET x = ? WHERE fid = ?", rows)
    return path


def shapefile(folder, declared, cells):
    """Points with a column x of these cells: a .dbf is text of a fixed width."""
    path = layer(folder / "a.shp", [POINT] * len(cells))
    kind, width, decimals = declared[0], *map(int, declared[1:].split("."))
    field = b"x".ljust(11, b"\0") + kind.encode() + bytes(4) + bytes((width, decimals)) + bytes(14)
    sizes = struct.pack("<IHH", len(cells), 33 + len(field), 1 + width)
    head = b"\x03\x7c\1\1" + sizes + bytes(20) + field + b"\r"
    path.with_suffix(".dbf").write_bytes(head + b"".join(b" " + c.ljust(width) for c in cells))
    path.with_suffix(".cpg").write_text("CP1252")
    return path


def excel(folder, _, cells):
    """Rows of a sheet; a cell is the markup behind its place."""
    rows = (f'<row r="{at}"><c r="A{at}"{cell}</row>' for at, cell in enumerate(cells, 2))
    path = folder / "a.xlsx"
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="22"/><xf numFmtId="46"/></cellXfs>'
    styles = f'<styleSheet xmlns="{MAIN}">{styles}</styleSheet>'
    names = '<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row>'
    path.write_bytes(packed({"a": sheet(names + "".join(rows))}, styles))
    return path


ODD = {"7": 0, "word": 1, b"\xff\xfe": 2, 1.5: 3, 2**40: 4, None: 5, "2024-07-01": 6}
DBF = (b"7", b"word", b"1,5", b"", b"20240701", b"20241399", b"caf\xe9", b"a\0b")
CELLS = (
    '><v>7</v></c>', ' t="inlineStr"><is><t>word</t></is></c>', ' t="b"><v>1</v></c>', "/>",
    ' s="1"><v>45000.5</v></c>', ' t="e"><v>#N/A</v></c>', ' s="2"><v>1.5</v></c>',
)  # fmt: skip
TEXTS = [b"7", b"word", b"\xff\xfe", b"1.5", b"1099511627776", None, b"2024-07-01"]
DECODED = {
    (geopackage, "REAL"): [7, 0, 0, 1.5, 2**40, None, 2024],
    (geopackage, "INTEGER"): [7, 0, 0, 1, 2**40, None, 2024],
    (geopackage, "MEDIUMINT"): [7, 0, 0, 1, 0, None, 2024],
    (geopackage, "TEXT"): TEXTS,
    (geopackage, "DATETIME"): TEXTS,
    (geopackage, "DATE"): [*[DAY_0] * 5, None, date(2024, 7, 1)],
    (geopackage, "BOOLEAN"): [True, False, False, True, False, None, True],
    (shapefile, "N9.0"): [7, 0, 1, None, 20240701, 20241399, 0, 0],
    (shapefile, "N18.4"): [7, 0, 1, None, 20240701, 20241399, 0, 0],
    (shapefile, "D8.0"): [DAY_0, DAY_0, DAY_0, None, date(2024, 7, 1), *[DAY_0] * 3],
    (shapefile, "C9.0"): [b"7", b"word", b"1,5", None, *DBF[4:6], "caf\u00e9".encode(), b"a"],
    (excel, "text"): [b"7", b"word", b"true", None, b"2023-03-15 12:00:00", None, None],
}  # fmt: skip


@pytest.mark.parametrize(
    ("write", "declared"), DECODED, ids=lambda each: getattr(each, "__name__", each)
)
def test_a_cell_is_decoded_by_itself(write, declared, tmp_path):
    """Whatever other rows hold, also where it is no value of the type that its column declares."""
    cells = {geopackage: list(ODD), shapefile: list(DBF), excel: list(CELLS)}[write]

    def decoded(some):
        (tmp_path / "a.gpkg").unlink(missing_ok=True)
        blocks = open_table(write(tmp_path, declared, some)).blocks(["x"])
        return [value for block in blocks for value in as_bytes(block.columns["x"]).to_pylist()]

    expected = DECODED[write, declared]
    assert decoded(cells) == expected
    assert decoded(cells[::-2]) == expected[::-2]
    assert decoded(cells[1:2]) == expected[1:2]


def as_bytes(column):
    """Texts need not be UTF-8."""
    return column.cast("binary") if "string" in str(column.type) else column


def test_a_cell_that_is_no_number_is_missing_in_a_workbook(tmp_path):
    (block,) = open_table(excel(tmp_path, "", CELLS)).blocks(["x"], ["x"])
    assert np.isfinite(block.columns["x"]).tolist() == [True] + [False] * 6


HEAD = b"GP\0\1" + struct.pack("<i", 4326)
BLOBS = {
    "nothing": None,
    "no bytes": b"",
    "garbage": b"garbage",
    "a text": "POINT (0.5 0.5)",
    "a header alone": HEAD,
    "half a point": HEAD + shapely.to_wkb(POINT)[:12],
    "an empty point": HEAD + shapely.to_wkb(shapely.Point()),
    "an unknown type": HEAD + b"\1\x63\0\0\0" + bytes(16),
    "a curve": HEAD + b"\1\x08\0\0\0\3\0\0\0" + bytes(48),
    "nested without end": HEAD + b"\1\7\0\0\0\1\0\0\0" * 100_000,
    "a line": HEAD + shapely.to_wkb(shapely.LineString([(0, 0), (1, 1)])),
}


@pytest.mark.parametrize("declared", ["POINT", "GEOMETRY"])
@pytest.mark.parametrize("blob", BLOBS.values(), ids=BLOBS)
def test_a_shape_that_is_no_point_is_dropped_by_itself(blob, declared, tmp_path):
    path = layer(tmp_path / "a.gpkg", [POINT] * 4)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE gpkg_geometry_columns SET geometry_type_name = ?", [declared])
        db.execute("UPDATE a SET geom = ? WHERE fid = 2", [blob])
    assert dpviz.load(path, BOX)._index.total == 3


@pytest.mark.parametrize("kind", [0, 5, 8, 99])
def test_a_record_of_a_shapefile_of_another_type_is_dropped_by_itself(kind, tmp_path):
    path = layer(tmp_path / "a.shp", [POINT] * 4)
    content = bytearray(path.read_bytes())
    content[136:140] = struct.pack("<i", kind)  # of the second record
    path.write_bytes(content)
    assert dpviz.load(path, BOX)._index.total == 3


@pytest.mark.parametrize("form", ["gpkg", "shp"])
def test_a_multipoint_of_one_point_is_that_point(form, tmp_path):
    shapes = [shapely.MultiPoint([(0.5, 0.5)]), shapely.MultiPoint([(0.1, 0.1), (0.2, 0.2)])]
    assert dpviz.load(layer(tmp_path / f"a.{form}", shapes), BOX)._index.total == 1


@pytest.mark.parametrize("form", ["gpkg", "shp"])
@pytest.mark.parametrize(
    ("shape", "kind"),
    [(POINT.buffer(0.1), "Polygon"), (shapely.LineString([(0, 0), (1, 1)]), "LineString")],
)
def test_a_layer_that_declares_other_shapes_is_refused_before_payment(shape, kind, form, tmp_path):
    path = layer(tmp_path / f"a.{form}", [shape])
    line = f"a.{form} holds {kind}: only points can be read; take centroids, or give polygons"
    words = ("build", path, "--bounds", "0,0,1,1", "-o", tmp_path / "out.parquet")
    refused(tmp_path, words, f"{line} as areas=… (--areas)")


def test_of_a_layer_of_any_shapes_the_points_are_read(tmp_path):
    shapes = [POINT, POINT.buffer(0.1), shapely.MultiPoint([POINT])]
    path = layer(tmp_path / "a.gpkg", shapes, geometry_type="Unknown")
    assert dpviz.load(path, BOX)._index.total == 2


@pytest.mark.parametrize("form", ["gpkg", "shp"])
def test_the_crs_of_a_layer_is_used_and_asked_for_where_there_is_none(form, tmp_path):
    mercator = shapely.Point(111_319.49, 111_325.14)  # longitude and latitude 1
    (tmp_path / "one").mkdir()
    path = layer(tmp_path / "one" / f"a.{form}", [mercator], crs="EPSG:3857")
    assert dpviz.load(path, dpviz.Domain((0.9, 0.9), (1.1, 1.1)))._index.total == 1
    path = layer(tmp_path / f"a.{form}", [POINT], crs=None)
    with pytest.raises(DataError, match=r"does not state its CRS: name it with crs=… \(--crs\)"):
        dpviz.load(path, BOX)
    assert dpviz.load(path, BOX, crs="EPSG:4326")._index.total == 1


@pytest.mark.parametrize("number", [0, -1])
def test_a_crs_that_a_geopackage_calls_undefined_is_none(number, tmp_path):
    """GDAL calls number 0 a geographic CRS, whose points were taken for longitude and latitude."""
    path = layer(tmp_path / "a.gpkg", [POINT])
    with closing(sqlite3.connect(path)) as db, db:
        for table in ("gpkg_contents", "gpkg_geometry_columns"):
            db.execute(f"UPDATE {table} SET srs_id = ?", [number])
    with pytest.raises(DataError, match="does not state its CRS"):
        dpviz.load(path, BOX)


def test_the_only_record_of_a_shapefile_decides_nothing(tmp_path):
    """With several columns, one without records was called damaged."""
    domain = dpviz.Domain.from_bounds(BOX.bounds, ("x", "y"), kind="kind", kinds=("bike", "other"))
    paths = []
    for rows in (0, 1):
        columns = {name: pd.array(["bike"] * rows, "string") for name in ("kind", "note", "who")}
        frame = geopandas.GeoDataFrame(columns, geometry=[POINT] * rows, crs=BOX.crs)
        paths.append(tmp_path / str(rows) / "a.shp")
        paths[-1].parent.mkdir()
        frame.to_file(paths[-1], geometry_type="Point", engine="pyogrio")
    check(lambda path: dpviz.load(path, domain, unit="who"), paths, 1)


def test_a_time_is_no_number_by_its_declared_type(tmp_path):
    path = geopackage(tmp_path, "DATETIME", ["secret-home-12"])
    with pytest.raises(DataError, match="column 'x' holds timestamp") as refused:
        dpviz.load(path, BOX, columns=("x", "x"))
    assert "secret" not in str(refused.value)


@pytest.mark.skipif(not sandbox.CAN_FORK, reason="two SQLites in one process undo their locks")
def test_rows_that_are_not_yet_in_the_file_are_read(tmp_path, monkeypatch):
    """Such as of a GeoPackage that is open in QGIS: they wait in a journal beside it."""
    monkeypatch.undo()
    path = geopackage(tmp_path, "REAL", [1])
    with closing(sqlite3.connect(path)) as db, closing(sqlite3.connect(path)) as reader:
        db.execute("PRAGMA journal_mode = wal")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM a").fetchall()  # as long as this lasts
        db.execute("UPDATE a SET geom = NULL")
        db.commit()
        assert dpviz.load(path, BOX)._index.total == 0
        db.execute("CREATE VIEW endless AS SELECT * FROM a")
        db.commit()
        with pytest.raises(DataError, match="holds a view"):
            dpviz.load(path, BOX)


REFUSED = {
    "an error of another program": ' t="e"><v>#SPILL!</v></c>',
    "a text that is not there": ' t="s"><v>99</v></c>',
    "a type that is none": ' t="word"><v>1</v></c>',
    "a number that is none": ' t="n"><v>secret</v></c>',
    "a duration beyond all bounds": ' s="2"><v>-1e308</v></c>',
}


@pytest.mark.parametrize("cell", REFUSED.values(), ids=REFUSED)
def test_a_workbook_that_its_library_refuses_is_refused_in_one_line(cell, tmp_path, capfd):
    path = excel(tmp_path, "", ["><v>7</v></c>", cell])
    with pytest.raises(DataError, match=r"^a\.xlsx cannot be read as a workbook: it is damaged"):
        list(open_table(path).blocks(["x"]))


def test_a_sheet_of_opendocument_is_read(tmp_path):
    path = tmp_path / "a.ods"
    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    cell = '<table:table-cell office:value-type="{0}"{1}><text:p>{2}</text:p></table:table-cell>'
    names = "".join(cell.format("string", "", name) for name in "xy")
    half = cell.format("float", ' office:value="0.5"', "0.5")
    rows = "".join(f"<table:table-row>{row}</table:table-row>" for row in (names, half * 2))
    text = f'<table:table table:name="a">{rows}</table:table>'
    text = f"<office:body><office:spreadsheet>{text}</office:spreadsheet></office:body>"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml", f"<office:document-content{spaces}>{text}</office:document-content>"
        )
    assert dpviz.load(path, BOX)._index.total == 1


ENCRYPTED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
"""How a workbook begins that a password protects, and every .xls."""


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.xls", ENCRYPTED, "cannot be read as a workbook: it is damaged"),
        ("a.xlsx", ENCRYPTED, "is damaged, or protected by a password: save it without one"),
        (
            "a.ods",
            b"x,y\n0.5,0.5\n",
            "is not a workbook, as its name says: it looks like delimited",
        ),
        ("a.ods", None, "cannot be read as a workbook: it is damaged"),
        ("a.zip", None, "is a zip archive with no CSV file and no Shapefile: zip one of them"),
        ("a.docx", None, "is a zip archive with no CSV file and no Shapefile: zip one of them"),
    ],
)
def test_a_file_that_is_something_else_is_named_as_such(name, content, words, tmp_path):
    path = tmp_path / name
    if content is None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("other.xml", "<a/>")
    else:
        path.write_bytes(content)
    with pytest.raises(DataError, match=rf"^{name} {words}"):
        dpviz.load(path, BOX)
