"""Small files that expand to huge ones: refused in one line before memory is taken."""

import gzip
import inspect
import lzma
import re
import sqlite3
import tracemalloc
import zipfile
from contextlib import closing
from pathlib import Path

import duckdb
import geopandas
import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import dpviz
from dpviz.errors import DataError, DpvizError
from dpviz.files import limits, sandbox
from dpviz.private.load.engines import duck
from dpviz.private.load.roads import read_trips
from dpviz.private.load.sequences import read_sequences
from dpviz.releases.points.region_file import polygon_layers, read_regions
from dpviz.releases.roads.graph_file import read_graph
from dpviz.roads.tables import road_graph
from dpviz.sequences.alphabet import Alphabet, alphabet_of
from tests.fuzz.inputs import GRAPHML, workbook
from tests.geojson import collection, feature
from tests.refusals import in_one_line
from tests.vault import index_of, sequences_of

DOMAIN = dpviz.Domain.from_bounds([10.0, 50.0, 12.0, 51.0])
LONG = "x" * 4_000_000


@pytest.fixture
def little_memory():
    """Fails a test in which Python and NumPy took over 200 MB."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6


@pytest.mark.parametrize("text", ["1..999999999", "-999999999..999999999"])
def test_an_alphabet_of_too_many_symbols_is_refused_in_one_line(text, little_memory):
    with in_one_line(DpvizError, "4,096 symbols"):
        alphabet_of(text)


def test_one_long_word_among_five_thousand_is_dropped_alone(little_memory, tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("a b\n" * 2_500 + LONG)
    data = read_sequences(path, Alphabet(("a", "b")), drop_unknown=True, public=True)
    assert len(sequences_of(data)) == 2_500


def grid(**edges):
    nodes = {"node": ["1", "2", "3"], "x": [0, 1, 1], "y": [0, 0, 1]}
    return road_graph(nodes, {"src": ["1", "2"], "dst": ["2", "3"], **edges})


def test_a_name_of_four_million_letters_is_refused_in_one_line(little_memory, tmp_path):
    """Used as a symbol, a street and a node."""
    for name_it in (
        lambda: alphabet_of(f"a,{LONG}"),
        lambda: grid(edge=["a", LONG]),
        lambda: grid().node_row(LONG),
    ):
        with in_one_line(DataError, "200 characters"):
            name_it()
    path = tmp_path / "alphabet.txt"
    path.write_text(LONG)
    with pytest.raises(DataError, match="bytes"):
        alphabet_of(str(path))


def polygon_file(path, shapes):
    path.write_text(collection(feature(each, name="a") for each in shapes))
    return path


@pytest.mark.slow
def test_a_polygon_that_takes_too_long_to_repair_is_refused(tmp_path, monkeypatch):
    """Repaired in this process it took 45 s; here its child has one second in place of eight."""
    monkeypatch.setattr(sandbox, "seconds", lambda size: 1)
    random = np.random.default_rng(1)
    tangle = shapely.Polygon(random.uniform([10, 50], [12, 51], (12_000, 2)))
    with in_one_line(DataError, "cannot be read within 8 seconds"):
        read_regions(polygon_file(tmp_path / "tangle.geojson", [tangle]), DOMAIN)


COMPUTING = {
    "a view": "CREATE VIEW forever AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
    "FROM n) SELECT i AS fid, NULL AS geom FROM n",
    "a virtual table": "CREATE VIRTUAL TABLE computed USING fts5(words)",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", COMPUTING)
@pytest.mark.parametrize(
    ("shape", "read"),
    [(shapely.box(10.2, 50.2, 10.8, 50.8), read_regions), (shapely.Point(11, 50.5), dpviz.load)],
    ids=["regions", "points"],
)
def test_a_geopackage_that_computes_is_refused(what, shape, read, tmp_path):
    path = tmp_path / "endless.gpkg"
    geopandas.GeoDataFrame({"name": ["a"]}, geometry=[shape], crs="EPSG:4326").to_file(path)
    read(path, DOMAIN)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(COMPUTING[what])
    with pytest.raises(DataError, match=f"holds {what}"):
        read(path, DOMAIN)


VRT = """<OGRVRTDataSource><OGRVRTLayer name="a"><SrcDataSource>{}</SrcDataSource>
<GeometryType>{}</GeometryType><GeometryField encoding="WKT" field="wkt"/></OGRVRTLayer>
</OGRVRTDataSource>"""


@pytest.mark.parametrize(
    "name", ["a.vrt", "a.shp", "wards/a.shp", "a.gpkg", "wards/a.vrt", "a.dbf"]
)
def test_an_archive_does_not_make_gdal_open_other_files(name, tmp_path):
    """A file is opened as what its content is: one in a zip read any file of the machine."""
    ring = "POLYGON ((10.2 50.2, 10.8 50.2, 10.8 50.8, 10.2 50.2))"
    for words, kind in ((ring, "wkbPolygon"), ("POINT (10.5 50.5)", "wkbPoint")):
        secret = tmp_path / f"{kind}.csv"
        secret.write_text(f'name,wkt\nsecret,"{words}"\n')
        archive = tmp_path / f"{kind}.zip"
        with zipfile.ZipFile(archive, "w") as target:
            target.writestr(name, VRT.format(secret, kind))
        for read in (
            lambda path: read_regions(path, DOMAIN),
            polygon_layers,
            dpviz.read_areas,
            lambda path: dpviz.load(path, DOMAIN, public=True),
        ):
            with pytest.raises(DataError, match="no Shapefile"):
                read(archive)


def test_other_formats_under_the_name_of_json_are_not_opened(tmp_path):
    """GDAL would follow them to other files and addresses."""
    path = tmp_path / "districts.json"
    path.write_text(
        '<OGRVRTDataSource><OGRVRTLayer name="a"><SrcDataSource>/etc</SrcDataSource>'
        "</OGRVRTLayer></OGRVRTDataSource>"
    )
    with pytest.raises(DataError, match="is no file of regions"):
        read_regions(path, DOMAIN)


def bomb(path, columns, rows=20_000_000):
    """Runs of one value: a file of some kilobytes that decodes to hundreds of megabytes."""
    schema = pa.schema([(name, kind) for name, kind, _ in columns])
    with pq.ParquetWriter(path, schema) as writer:
        part = pa.table([pa.repeat(pa.scalar(v, k), 1_000_000) for _, k, v in columns], schema)
        for _ in range(rows // 1_000_000):
            writer.write_table(part)
    assert path.stat().st_size < 1_000_000
    return path


@pytest.mark.slow
def test_parquet_that_decodes_to_far_more_points_is_refused(tmp_path, little_memory):
    columns = [(name, pa.float64(), 10.5) for name in ("lon", "lat")]
    path = bomb(tmp_path / "points.parquet", columns)
    with in_one_line(DataError, "16 times its size when decoded"):
        dpviz.load(path, DOMAIN)


@pytest.mark.slow
@pytest.mark.skipif(not sandbox.CAN_FORK, reason="only a child has a limit of memory")
@pytest.mark.parametrize("encoding", ["PLAIN_DICTIONARY", "DELTA_BYTE_ARRAY"])
def test_parquet_that_repeats_a_long_id_stays_within_memory(encoding, tmp_path, monkeypatch):
    """Regression: the footer counts the text once; a file was "damaged", a folder took GBs."""
    if encoding == "PLAIN_DICTIONARY":
        monkeypatch.setattr(duck, "MEMORY", "100MB")
    folder = tmp_path / "visits"
    folder.mkdir()
    ids = pa.repeat("z" * 1_000_000, 300)
    half = pa.repeat(0.5, len(ids))
    pq.write_table(
        pa.table({"lon": half, "lat": half, "who": ids}),
        folder / "a.parquet",
        use_dictionary=["who"] if encoding == "PLAIN_DICTIONARY" else False,
        column_encoding=None if encoding == "PLAIN_DICTIONARY" else {"who": encoding},
        compression="zstd",
        row_group_size=len(ids),
        write_batch_size=len(ids),
        data_page_size=2**30,
    )
    square = dpviz.Domain.from_bounds([0, 0, 1, 1], ("lon", "lat"))
    with pytest.raises(DataError, match="bytes when decoded: write it again without runs"):
        dpviz.load(folder / "a.parquet", square, unit="who")
    assert index_of(dpviz.load(folder, square, unit="who", max_per_unit=2)).total == 2


@pytest.mark.slow
def test_parquet_that_decodes_to_far_longer_trips_is_refused(tmp_path):
    items = pa.repeat(pa.scalar("a"), 12_000_000).dictionary_encode()
    pq.write_table(
        pa.table({"edges": pa.ListArray.from_arrays([0, 12_000_000], items)}),
        tmp_path / "trips.parquet",
    )
    with pytest.raises(DataError, match=r"16 times its size when decoded|cannot be read within"):
        read_trips(tmp_path / "trips.parquet", grid())


@pytest.mark.slow
def test_a_workbook_with_a_cell_far_out_is_refused_in_one_line(tmp_path, little_memory):
    """The reader asks for 550 GB at once, which aborts its process."""
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    (tmp_path / "far.xlsx").write_bytes(workbook({"lon": [11.0], "lat": [50.5]}, far))
    with in_one_line(DataError, r"^far\.xlsx cannot be read within"):
        dpviz.load(tmp_path / "far.xlsx", DOMAIN)


PACK = {
    "csv.gz": gzip.compress,
    "csv.xz": lzma.compress,
    "csv.zst": lambda text: pa.compress(text, "zstd", asbytes=True),
}


@pytest.mark.parametrize("form", [*PACK, "zip"])
def test_text_that_unpacks_to_many_short_lines_is_refused(form, tmp_path, monkeypatch):
    """Regression: 1.3 MB of 4-byte lines were 60 million records, 15 s and 1.3 GB."""
    monkeypatch.setattr(limits, "SMALL", limits.SMALL._replace(most=limits.MEBI))
    path = tmp_path / f"short.{form}"

    def loaded(lines):
        text = b"lon,lat\n" + b"11,\n" * lines
        if form in PACK:
            path.write_bytes(PACK[form](text))
        else:
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("short.csv", text)
        return index_of(dpviz.load(path, DOMAIN)).total

    assert loaded(50_000) == 0
    with in_one_line(DataError, "unpacks to far more than it should"):
        loaded(55_000)


def test_xz_of_several_streams_is_read_to_its_end_and_a_cut_one_is_refused(tmp_path):
    path, rows = tmp_path / "a.csv.xz", b"11,50.5\n" * 100_000
    whole = lzma.compress(b"lon,lat\n" + rows) + lzma.compress(rows)
    path.write_bytes(whole)
    assert index_of(dpviz.load(path, DOMAIN)).total == 200_000
    path.write_bytes(whole[:-20])
    with in_one_line(DataError, r"^a\.csv\.xz cannot be read as"):
        dpviz.load(path, DOMAIN)


def test_xz_that_asks_for_much_memory_is_refused(tmp_path):
    path, much = tmp_path / "a.csv.xz", {"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}
    path.write_bytes(lzma.compress(b"lon,lat\n11,50.5\n", filters=[much]))
    with in_one_line(DataError, r"^a\.csv\.xz cannot be read as"):
        dpviz.load(path, DOMAIN)


def test_a_shapefile_that_unpacks_to_far_more_is_refused(tmp_path, monkeypatch):
    places = geopandas.GeoDataFrame(
        {"n": ["x" * 200] * 5_000}, geometry=[shapely.Point(11, 50.5)] * 5_000, crs=4326
    )
    places.to_file(tmp_path / "p.shp")
    with zipfile.ZipFile(tmp_path / "p.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for part in tmp_path.glob("p.*"):
            if part.suffix != ".zip":
                archive.write(part, part.name)
    assert index_of(dpviz.load(tmp_path / "p.zip", DOMAIN)).total == 5_000
    monkeypatch.setattr(limits, "SMALL", limits.SMALL._replace(most=200_000))
    monkeypatch.setattr(sandbox, "CAN_FORK", False)  # so that this process checks the limit
    with in_one_line(DataError, "16 times its size when decoded"):
        dpviz.load(tmp_path / "p.zip", DOMAIN)


def test_geojson_of_too_many_empty_features_is_refused(tmp_path, little_memory):
    path = tmp_path / "empty.geojson"
    path.write_bytes(b'{"type": "FeatureCollection", "features": [' + b"{}," * 10**7 + b"{}]}")
    for read in (lambda: dpviz.load(path, DOMAIN), lambda: read_regions(path, DOMAIN)):
        with in_one_line(DataError, "4,000,000 objects"):
            read()


NAMES = [name for name, each in vars(limits).items() if isinstance(each, limits.Limit)]


def test_every_limit_is_in_the_documentation():
    assert all(f"`{name}`" in limits.page() for name in NAMES)


def test_every_limit_is_held_by_code():
    package = Path(dpviz.__file__).parent
    code = "".join(each.read_text() for each in package.rglob("*.py") if each.name != "limits.py")
    checks = inspect.getsource(limits.decoded)
    held = {*re.findall(r"\blimits\.(\w+)", code), *re.findall(r"\w+", checks)}
    assert [name for name in NAMES if name not in held] == []


DUCKDB = {
    "a view computes": "CREATE VIEW asked AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
    "SELECT i + 1 FROM n) SELECT i AS lon, i AS lat FROM n",
    "holds a macro": "CREATE TABLE asked(lon DOUBLE, lat DOUBLE); "
    "CREATE MACRO floor(x) AS (SELECT count(*) FROM range(1000000000000))",
    "holds a generated column": "CREATE TABLE asked(lon DOUBLE, lat DOUBLE AS (lon + 1))",
    "check its name": "CREATE TABLE other(lon DOUBLE, lat DOUBLE)",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", DUCKDB)
def test_a_duckdb_file_that_computes_is_refused(what, tmp_path):
    path = tmp_path / "asked.duckdb"
    with duckdb.connect(str(path)) as db:
        db.execute(DUCKDB[what])
    with in_one_line(DataError, what):
        dpviz.load(f"duckdb:///{path}", DOMAIN, table="asked", bits=4)


@pytest.mark.slow
def test_the_table_of_a_duckdb_file_is_not_another_file(tmp_path):
    """DuckDB takes a name that ends like a file's for that file."""
    path, other = tmp_path / "asked.duckdb", tmp_path / "other.csv"
    other.write_text("lon,lat\n11,50.5\n")
    with duckdb.connect(str(path)) as db:
        db.execute("CREATE TABLE asked(lon DOUBLE, lat DOUBLE)")
    dpviz.load(f"duckdb:///{path}", DOMAIN, table="asked", bits=4)
    with pytest.raises(DataError, match="no table"):
        dpviz.load(f"duckdb:///{path}", DOMAIN, table=f'"{other}"', bits=4)


def test_streets_of_a_stranger_are_parsed_in_the_child(tmp_path, monkeypatch):
    monkeypatch.setattr(nx, "read_graphml", None)
    monkeypatch.setattr(shapely, "from_geojson", None)
    path = tmp_path / "streets.graphml"
    path.write_bytes(GRAPHML)
    assert len(read_graph(path).edge_id) == 1
    line = feature(shapely.LineString([(0, 0), (1, 1)]), edge="a", length=2)
    path = tmp_path / "streets.geojson"
    path.write_text(collection([line]))
    assert read_graph(path).edge_id.tolist() == ["a"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.graphml", b"<graphml>" + b"<a/>" * 4_000_001, "4,000,000 elements"),
        ("a.graphml", b'<!DOCTYPE a [<!ENTITY b "c">]><graphml/>', "declares entities"),
        ("a.geojson", b'{"features": [' + b"{}," * 4_000_001 + b"{}]}", "4,000,000 objects"),
        (
            "a.geojson",
            b'{"features": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            "cannot be read as lines",
        ),
    ],
)
def test_streets_beyond_the_limits_are_refused(name, content, words, tmp_path, little_memory):
    (tmp_path / name).write_bytes(content)
    with in_one_line(DataError, words):
        read_graph(tmp_path / name)


def test_the_map_stops_where_a_drawn_polygon_has_all_its_corners():
    program = (Path(dpviz.__file__).parent / "render/client/js/input/pointer.js").read_text()
    assert re.findall(r"const MAX_CORNERS = (\d+);", program) == [str(limits.CORNERS.most)]
