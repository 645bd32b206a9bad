"""GeoPackage, Shapefile and workbooks: a row is what its library decodes."""

import sqlite3
import struct
import zipfile
from contextlib import closing

import geopandas
import pandas as pd
import pytest
import shapely

import dpviz
from dpviz.errors import DataError
from dpviz.files import sandbox
from dpviz.private.load.tables.opening import tables_in
from tests.commands import refused
from tests.private.load.stability import BOX, check
from tests.vault import index_of

pytestmark = pytest.mark.usefixtures("one_key", "in_this_process")
POINT = shapely.Point(0.5, 0.5)
LINE = shapely.LineString([(0.25, 0.5), (9, 9), (0.5, 0.75)])


def layer(path, shapes, crs="EPSG:4326", **how):
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


HEAD = b"GP\0\1" + struct.pack("<i", 4326)
BLOBS = {
    "a text": "POINT (0.5 0.5)",
    "a header alone": HEAD,
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
    assert index_of(dpviz.load(path, BOX)).total == 3


@pytest.mark.parametrize("form", ["gpkg", "shp"])
def test_a_multipoint_of_one_point_is_that_point(form, tmp_path):
    shapes = [shapely.MultiPoint([(0.5, 0.5)]), shapely.MultiPoint([(0.1, 0.1), (0.2, 0.2)])]
    assert index_of(dpviz.load(layer(tmp_path / f"a.{form}", shapes), BOX)).total == 1


@pytest.mark.parametrize("form", ["gpkg", "shp"])
@pytest.mark.parametrize(
    ("shape", "line"),
    [
        (POINT.buffer(0.1), "holds Polygon: only points can be read; polygons are areas to count"),
        (LINE, "several columns may be the coordinates, 'start_x', 'start_y' or 'end_x', 'end_y'"),
    ],
)
def test_a_layer_that_declares_other_shapes_is_refused_before_payment(shape, line, form, tmp_path):
    path = layer(tmp_path / f"a.{form}", [shape])
    words = ("build", path, "--bounds", "0,0,1,1", "-o", tmp_path / "out.parquet")
    refused(tmp_path, words, line)


def test_of_a_layer_of_any_shapes_the_points_are_read(tmp_path):
    shapes = [POINT, POINT.buffer(0.1), shapely.MultiPoint([POINT])]
    path = layer(tmp_path / "a.gpkg", shapes, geometry_type="Unknown")
    assert index_of(dpviz.load(path, BOX)).total == 2


@pytest.mark.parametrize("form", ["gpkg", "shp"])
def test_the_crs_of_a_layer_is_used_and_asked_for_where_there_is_none(form, tmp_path):
    mercator = shapely.Point(111_319.49, 111_325.14)  # longitude and latitude 1
    (tmp_path / "one").mkdir()
    path = layer(tmp_path / "one" / f"a.{form}", [mercator], crs="EPSG:3857")
    assert index_of(dpviz.load(path, dpviz.Domain((0.9, 0.9), (1.1, 1.1)))).total == 1
    path = layer(tmp_path / f"a.{form}", [POINT], crs=None)
    with pytest.raises(DataError, match=r"does not state its CRS: name it with crs=… \(--crs\)"):
        dpviz.load(path, BOX)
    assert index_of(dpviz.load(path, BOX, crs="EPSG:4326")).total == 1


@pytest.mark.parametrize("number", [0, -1])
def test_a_crs_that_a_geopackage_calls_undefined_is_none(number, tmp_path):
    """GDAL calls number 0 a geographic CRS, whose points were taken for longitude and latitude."""
    path = layer(tmp_path / "a.gpkg", [POINT])
    with closing(sqlite3.connect(path)) as db, db:
        for table in ("gpkg_contents", "gpkg_geometry_columns"):
            db.execute(f"UPDATE {table} SET srs_id = ?", [number])
    with pytest.raises(DataError, match="does not state its CRS"):
        dpviz.load(path, BOX)


def test_a_shapefile_of_one_record_has_the_declared_types(tmp_path):
    """Regression: with several columns, a file without records was called damaged."""
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
    with pytest.raises(
        DataError, match=r"column 'x' of .* is declared as times, not as"
    ) as refused:
        dpviz.load(path, BOX, columns=("x", "x"))
    assert "secret" not in str(refused.value)


@pytest.mark.slow
@pytest.mark.skipif(not sandbox.CAN_FORK, reason="two SQLites in one process undo their locks")
def test_rows_that_are_not_yet_in_the_file_are_read(tmp_path, monkeypatch):
    """For instance of a GeoPackage open in QGIS: they wait in a journal beside it."""
    monkeypatch.undo()
    path = geopackage(tmp_path, "REAL", [1])
    with closing(sqlite3.connect(path)) as db, closing(sqlite3.connect(path)) as reader:
        db.execute("PRAGMA journal_mode = wal")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM a").fetchall()  # keeps the write-ahead log open
        db.execute("UPDATE a SET geom = NULL")
        db.commit()
        assert index_of(dpviz.load(path, BOX)).total == 0
        db.execute("CREATE VIEW endless AS SELECT * FROM a")
        db.commit()
        with pytest.raises(DataError, match="holds a view"):
            dpviz.load(path, BOX)


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
    assert index_of(dpviz.load(path, BOX)).total == 1


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


KML = """<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>
<Folder><name>rides</name>{}</Folder></Document></kml>"""
PLACEMARK = (
    "<Placemark><name>{}</name>{}<Point><coordinates>{},0.5</coordinates></Point></Placemark>"
)
GPX = """<?xml version="1.0"?><gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">
<wpt lat="0.5" lon="0.25"><name>ann</name></wpt>
<trk><name>a</name><trkseg><trkpt lat="0.5" lon="0.5"/><trkpt lat="0.5" lon="9"/></trkseg></trk>
<trk><name>b</name><trkseg><trkpt lat="0.75" lon="0.5"/></trkseg></trk></gpx>"""


def kml(path, *more):
    """Two placemarks of ann, and more; the last may have a field of its own."""
    marks = [PLACEMARK.format("ann", "", at) for at in (0.25, 0.5)]
    text = KML.format("".join([*marks, *more]))
    if path.suffix == ".kmz":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("doc.kml", text)
    else:
        path.write_text(text)
    return path


@pytest.mark.parametrize("ending", ["kml", "kmz"])
def test_a_field_of_one_placemark_is_no_column_of_kml(ending, tmp_path):
    field = '<ExtendedData><Data name="secret"><value>1</value></Data></ExtendedData>'
    paths = [tmp_path / each / f"a.{ending}" for each in ("one", "two")]
    for path in paths:
        path.parent.mkdir()
    kml(paths[0])
    kml(paths[1], PLACEMARK.format("bob", field, 0.5))
    read = {"unit": "Name", "max_per_unit": 2}
    assert index_of(dpviz.load(paths[0], BOX, **read)).total == 2
    check(lambda path: dpviz.load(path, BOX, **read), paths, 1)
    check(lambda path: dpviz.load(path, BOX, unit="secret"), paths, 0)


def test_layers_of_gpx_are_waypoints_and_points_of_tracks(tmp_path):
    path = tmp_path / "a.gpx"
    path.write_text(GPX)
    assert tables_in(path) == ("waypoints", "route_points", "track_points")
    with pytest.raises(DataError, match="several layers of points: name one as its table"):
        dpviz.load(path, BOX)
    assert index_of(dpviz.load(path, BOX, table="waypoints", unit="name")).total == 1
    tracks = {"table": "track_points", "unit": "track_fid", "max_per_unit": 9}
    assert index_of(dpviz.load(path, BOX, **tracks)).total == 2


@pytest.mark.parametrize("ending", ["gpx", "kml", "kmz", "fgb", "feather"])
def test_a_damaged_file_is_one_line(ending, tmp_path):
    path = tmp_path / f"a.{ending}"
    path.write_bytes(b"moon")
    with pytest.raises(DataError, match=rf"^a\.{ending} is not \w+, as its name says"):
        dpviz.load(path, BOX)
    head = {"gpx": b"<gpx>", "kml": b"<kml", "fgb": b"fgb\x03fgb\x00", "feather": b"ARROW1\0\0"}
    path.write_bytes(head.get(ending, b"PK\x03\x04") + b"<secret")
    with pytest.raises(DataError, match=rf"^a\.{ending} (cannot be read as \w+: it is|has no la)"):
        dpviz.load(path, BOX)


TRIPS = dpviz.Domain((0,) * 4, (1,) * 4)
PARTS = shapely.MultiLineString([[(0.25, 0.5), (9, 9)], [(5, 5), (0.5, 0.75)]])
METRES = 111_319.49079327358
"""Length of a degree of longitude in EPSG:3857."""


@pytest.mark.parametrize("shape", [LINE, PARTS], ids=["line", "several parts"])
@pytest.mark.parametrize("form", ["gpkg", "shp", "fgb", "parquet", "feather"])
def test_a_line_is_a_trip_from_its_first_to_its_last_point(form, shape, tmp_path):
    path = tmp_path / f"a.{form}"
    if form in ("parquet", "feather"):
        getattr(geopandas.GeoDataFrame(geometry=[shape], crs=4326), f"to_{form}")(path)
    else:
        layer(path, [shape])
    one = dpviz.load(path, TRIPS)
    assert one.columns == "start_x, start_y, end_x, end_y"
    other = dpviz.from_points([[0.25, 0.5, 0.5, 0.75]], TRIPS)
    assert index_of(one).codes.tolist() == index_of(other).codes.tolist()


def test_ends_of_lines_are_in_the_crs_of_the_file_and_lines_without_ends_are_dropped(tmp_path):
    far = shapely.transform(LINE, lambda xy: xy * METRES)
    path = layer(tmp_path / "a.gpkg", [far, None, shapely.LineString()], crs="EPSG:3857")
    box = dpviz.Domain((0,) * 4, (2,) * 4)
    one, other = dpviz.load(path, box), dpviz.from_points([[0.25, 0.5, 0.5, 0.75]], box)
    distance = index_of(one).codes.astype(float) - index_of(other).codes.astype(float)
    assert len(distance) == 1
    assert index_of(dpviz.load(path, BOX, columns=("end_x", "end_y"))).total == 1


def test_a_track_of_gpx_is_a_trip(tmp_path):
    path = tmp_path / "a.gpx"
    path.write_text(GPX.replace('lon="9"', 'lon="0.25"'))
    assert (
        index_of(dpviz.load(path, TRIPS, table="tracks", unit="name")).total == 1
    )  # b is one point
