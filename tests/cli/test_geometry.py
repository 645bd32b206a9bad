"""Places whose file states a geometry or a CRS: used, or refused in one line before payment."""

import gzip
import json

import duckdb
import geopandas
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
import pytest
import shapely

import dpviz
from tests.commands import as_json, fails, refused, run
from tests.vault import index_of

BOX = "--bounds=0,0,1,1"
HERE, FAR = shapely.Point(0.5, 0.5), shapely.Point(9, 9)
UTM, UTM_BOX = shapely.Point(500_000, 5_538_630), "--bounds=8.9,49.9,9.1,50.1"
CRS = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::25832"}}


def kept(path, *words):
    return as_json("check", path, *words)["facts"]["kept"]


def feature(point, **members):
    return {
        "type": "Feature",
        "properties": {"who": "ann"},
        "geometry": json.loads(shapely.to_geojson(point)),
        **members,
    }


def collection(*features, **members):
    return json.dumps({"type": "FeatureCollection", "features": features, **members})


def with_srid(shape, srid):
    return shapely.to_wkb(shapely.set_srid(shape, srid), include_srid=True)


def wkb_file(path, cells, **schema):
    pq.write_table(pa.table({"geom": pa.array(cells, pa.binary())}, **schema), path)


SHAPES = {
    "a point": HERE,
    "a multipoint of one": shapely.MultiPoint([HERE]),
    "a multipoint of two": shapely.MultiPoint([HERE, FAR]),
    "a point with a height": shapely.Point(0.5, 0.5, 7),
    "an empty point": shapely.Point(),
    "a line": shapely.LineString([HERE, FAR]),
    "an area": shapely.box(0, 0, 1, 1),
}


def write(form, folder, shapes):
    """The arguments of a source of this form with these shapes."""
    path = folder / f"places.{form}"
    features = [json.dumps(feature(shape)) for shape in shapes]
    if form == "wkt.csv":
        pv.write_csv(pa.table({"geom": [shape.wkt for shape in shapes]}), path)
    elif form == "hex.csv":
        cells = [with_srid(shape, 4326).hex() for shape in shapes]
        pv.write_csv(pa.table({"geom": cells}), path)
    elif form == "wkb.parquet":
        wkb_file(path, [shape.wkb for shape in shapes])
    elif form == "geo.parquet":
        geopandas.GeoDataFrame(geometry=shapes, crs="EPSG:4326").to_parquet(path)
    elif form == "geojson":
        path.write_text(collection(*map(feature, shapes)))
    elif form == "geojsonl":
        path.write_text("\n".join(features))
    elif form == "geojsonl.gz":
        path.write_bytes(gzip.compress("\n".join(features).encode()))
    elif form == "geojsons":
        path.write_text("".join(f"\x1e{each}\n" for each in features))
    elif form == "ndjson":
        path.write_text("\n".join(features))
        return path, "--columns", "geometry"
    else:  # the type GEOMETRY of DuckDB: in a database, in a file, in a folder of files
        database = folder / "a.db"
        with duckdb.connect(str(database)) as db:
            db.execute("CREATE TABLE places (geom GEOMETRY('OGC:CRS84'))")
            db.executemany("INSERT INTO places VALUES (?::GEOMETRY)", [[s.wkt] for s in shapes])
            for target in (path, folder / "days" / "a.parquet"):
                target.parent.mkdir(exist_ok=True)
                db.execute(f"COPY places TO '{target}'")
        if form == "duckdb":
            return f"duckdb:///{database}", "--table", "places"
        return (path if form == "native.parquet" else folder / "days",)
    return (path,)


FORMS = (
    *("wkt.csv", "hex.csv", "wkb.parquet", "geo.parquet", "native.parquet", "duckdb", "folder"),
    *("geojson", "geojsonl", "geojsonl.gz", "geojsons", "ndjson"),
)


@pytest.mark.parametrize("form", FORMS)
def test_a_point_and_a_multipoint_of_one_are_places_in_every_format(form, tmp_path):
    assert kept(*write(form, tmp_path, [*SHAPES.values()]), BOX) == 3


def test_a_private_line_does_not_decide_that_lines_are_features(tmp_path):
    (path, *_) = write("ndjson", tmp_path, [HERE, HERE])
    build = ("build", path, BOX, "--epsilon", "50", "-o", tmp_path / "r.parquet")
    refused(tmp_path, build, "or geometry, if it holds features")
    assert as_json(*build, "--public", "--seed", "1")["records"]["kept"] == 2


def test_the_properties_of_a_feature_in_a_line_are_its_columns(tmp_path):
    path = tmp_path / "a.ndjson"
    lines = [feature(HERE), {"type": "Feature", "geometry": None, "properties": None}]
    path.write_text("\n".join(map(json.dumps, lines)))
    facts = as_json("check", path, BOX, "--columns", "geometry", "--unit", "who")["facts"]
    assert facts == {"records read": 2, "with an empty place: dropped": 1, "kept": 1}


EWKT = "geom\nSRID={0};POINT(0.5 0.5)\nSRID=3857;POINT(0.5 0.5)\nSRID=0;POINT(0.5 0.5)\n"


def test_a_record_that_states_another_crs_than_its_column_has_no_place(tmp_path):
    """Regression: each was read in the CRS of the column, whatever it stated itself."""
    text, wkb, features, lines = (tmp_path / f"a.{e}" for e in ("csv", "parquet", "json", "ndjson"))
    text.write_text(EWKT.format(4326))
    assert kept(text, BOX) == 2
    assert kept(text, BOX, "--crs", "EPSG:3857") == 2
    wkb_file(wkb, [with_srid(HERE, each) for each in (4326, 3857, 0)])
    assert kept(wkb, BOX) == 2
    several = [feature(HERE), feature(HERE, crs=CRS), feature(HERE, crs=None)]
    features.write_text(collection(*several))
    assert kept(features, BOX) == 1
    lines.write_text("\n".join(map(json.dumps, several)))
    assert kept(lines, BOX, "--columns", "geometry") == 1


@pytest.mark.parametrize(
    "crs",
    [
        CRS,
        {"type": "name", "properties": {"name": "http://www.opengis.net/def/crs/EPSG/0/25832"}},
    ],
)
def test_the_crs_that_a_geojson_states_is_used(crs, tmp_path):
    path = tmp_path / "a.geojson"
    path.write_text(collection(feature(UTM), feature(UTM, crs=crs), crs=crs))
    assert kept(path, UTM_BOX) == 2


STATED = {
    "a.geojson": lambda path: path.write_text(collection(feature(HERE))),
    "a.parquet": lambda path: geopandas.GeoDataFrame(geometry=[HERE], crs="EPSG:4326").to_parquet(
        path
    ),
    "a.gpkg": lambda path: geopandas.GeoDataFrame(geometry=[HERE], crs="EPSG:4326").to_file(path),
    "a.geojsonl": lambda path: path.write_text(json.dumps(feature(HERE))),
}


@pytest.mark.parametrize("name", STATED)
def test_a_stated_crs_is_put_into_that_of_the_bounds(name, tmp_path):
    """--crs is that of the bounds; (0.5°, 0.5°) is (55,660 m, 55,661 m) in Web Mercator."""
    STATED[name](tmp_path / name)
    assert kept(tmp_path / name, "--bounds=55650,55650,55670,55670", "--crs", "EPSG:3857") == 1


def test_a_table_of_duckdb_in_another_crs_than_the_bounds_is_refused(tmp_path):
    build = (
        "build",
        *write("duckdb", tmp_path, [HERE]),
        "--bounds=4e5,5e6,6e5,6e6",
        "--epsilon",
        "1",
    )
    build += ("--crs", "EPSG:25832", "-o", tmp_path / "r.parquet")
    refused(tmp_path, build, r"column 'geom' is in OGC:CRS84, the domain in EPSG:25832: give")


def areas(path):
    if path.name == "days":
        path.mkdir()
        path /= "a.parquet"
    geopandas.GeoDataFrame(geometry=[shapely.box(0, 0, 1, 1)], crs="EPSG:4326").to_parquet(path)


def unknown_crs(path):
    geopandas.GeoDataFrame(geometry=[HERE]).to_parquet(path)


USELESS = {
    "areas": ("a.parquet", areas, [], "a.parquet holds Polygon: only points can be read"),
    "a folder of areas": ("days", areas, [], "days holds Polygon: only points can be read"),
    "an unknown CRS": ("a.parquet", unknown_crs, [], "a.parquet does not state its CRS"),
    "text in place of numbers": (
        "a.parquet",
        lambda path: pq.write_table(pa.table({"lon": ["0.5"], "lat": [0.5]}), path),
        [],
        "column 'lon' of a.parquet is declared as text, not as numbers",
    ),
    "one column of numbers": (
        "a.parquet",
        lambda path: pq.write_table(pa.table({"place": [0.5], "lat": [0.5]}), path),
        ["--columns", "place"],
        "column 'place' of a.parquet holds no points: name two columns of numbers",
    ),
    "a link to a CRS": (
        "a.geojson",
        lambda path: path.write_text(
            collection(feature(HERE), crs={"type": "link", "properties": {"href": "crs.wkt"}})
        ),
        [],
        "a.geojson states its CRS in a way that is not read, such as by a link: state its name",
    ),
    "a null CRS": (
        "a.geojson",
        lambda path: path.write_text(collection(feature(HERE), crs=None)),
        [],
        "a.geojson does not state its CRS",
    ),
    "an empty file": (
        "a.geojson",
        lambda path: path.write_text("\n"),
        [],
        "a.geojson is empty, so not GeoJSON",
    ),
}


@pytest.mark.parametrize(("name", "made", "words", "line"), USELESS.values(), ids=USELESS)
def test_columns_of_unusable_types_are_refused_before_payment(name, made, words, line, tmp_path):
    made(tmp_path / name)
    build = ("build", tmp_path / name, BOX, "--epsilon", "1", "-o", tmp_path / "r.parquet")
    refused(tmp_path, (*build, *words), line)


def test_a_table_in_memory_states_its_crs_as_a_file_does(tmp_path):
    geopandas.GeoDataFrame(geometry=[UTM], crs="EPSG:25832").to_parquet(tmp_path / "a.parquet")
    box = dpviz.Domain.from_bounds([8.9, 49.9, 9.1, 50.1])
    for table in (
        pq.read_table(tmp_path / "a.parquet"),
        geopandas.read_parquet(tmp_path / "a.parquet"),
    ):
        assert index_of(dpviz.load(table, box)).total == 1


def test_files_of_a_projected_release_name_x_and_y_and_carry_the_crs(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n500000,5538630\n")
    path = tmp_path / "r.parquet"
    build = ("build", tmp_path / "a.csv", "--bounds=4e5,5e6,6e5,6e6", "--crs", "EPSG:25832")
    assert run(*build, "--epsilon", "9", "--public", "--seed", "1", "-o", path)[0] == 0
    for command, names in (("export", "x_min,y_min,x_max,y_max"), ("sample", "x,y")):
        out = tmp_path / f"{command}.csv"
        assert run(command, path, "-o", out)[0] == 0
        header, row, *_ = out.read_text().replace('"', "").splitlines()
        assert header.startswith(f"{names},") or header == f"{names},crs"
        assert dict(zip(header.split(","), row.split(","), strict=True))["crs"] == "EPSG:25832"


@pytest.mark.parametrize(
    ("bounds", "crs"),
    [
        ("-1e9,-90,1e9,90", "EPSG:4326"),
        ("171,-22,190,-12", "EPSG:4326"),
        ("3e6,-22e5,36e5,-19e5", "EPSG:3832"),  # Fiji, in Mercator about 150° east
        ("-2e6,-2e6,2e6,2e6", "EPSG:3413"),  # around the North Pole
    ],
)
def test_cells_over_the_meridian_of_180_degrees_are_no_geojson(bounds, crs, tmp_path):
    """Corner by corner, a cell there would reach around the rest of the world."""
    (tmp_path / "a.csv").write_text("x,y\n0,0\n")
    path = tmp_path / "r.parquet"
    build = ("build", tmp_path / "a.csv", f"--bounds={bounds}", "--crs", crs, "--epsilon", "9")
    assert run(*build, "--public", "--seed", "1", "--method=ugrid", "-o", path)[0] == 0
    line = fails("export", path, "--all-nodes", "-o", tmp_path / "a.geojson")
    assert "over the meridian of 180°, or around half the Earth, which GeoJSON cannot" in line
    assert run("export", path, "-o", tmp_path / "a.gpkg")[0] == 0
