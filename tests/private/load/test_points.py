"""Loading records: formats, columns, CRS, what is dropped, what is said about bad input."""

import json
import zipfile

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyproj
import pyproj.network
import pytest

import dpviz
from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.files import sandbox
from dpviz.private.load import points
from dpviz.private.load.names import recognised_columns
from dpviz.private.load.points import Records, columns
from dpviz.private.load.projection import in_crs, transformer
from dpviz.private.load.roads import read_trips
from dpviz.private.load.selection import Selection
from dpviz.private.load.tables.base import Column
from dpviz.private.load.tables.opening import tables_in
from dpviz.releases.roads.graph_file import city
from tests.private.load.stability import workbook
from tests.vault import index_of

NYC = Domain((-74.30, 40.45), (-73.60, 41.00))
POINTS = np.array([[-74.0, 40.7], [-73.9, 40.8], [-74.25, 40.5]])
FORMATS = ("csv", "tsv", "parquet", "geoparquet", "geojson", "gpkg", "shp", "zip")


def read_records(source, domain, **chosen):
    """Records of a source, with some of the arguments of ``dpviz.load``."""
    return points.read_records(source, Selection(domain, **chosen))


def frame(points=POINTS):
    return pd.DataFrame(
        {
            "lon": points[:, 0],
            "lat": points[:, 1],
            "who": ["ann", "bob", "ann"][: len(points)],
            "when": pd.to_datetime(["2030-01-01T08:00:00"] * len(points)),
        }
    )


def write(folder, form, table=None, crs="EPSG:4326"):
    table = frame() if table is None else table
    path = folder / f"taxi.{form}"
    if form == "csv":
        table.to_csv(path, index=False)
    elif form == "tsv":
        table.to_csv(path, index=False, sep="\t")
    elif form == "parquet":
        table.to_parquet(path)
    else:
        places = geopandas.GeoDataFrame(
            table.drop(columns=["lon", "lat"]).astype({"when": str}),
            geometry=geopandas.points_from_xy(table["lon"], table["lat"]),
            crs="EPSG:4326",
        ).to_crs(crs)
        if form == "geoparquet":
            places.to_parquet(path)
        elif form == "zip":
            places.to_file(folder / "inner.shp")
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for part in sorted(folder.glob("inner.*")):
                    archive.write(part, f"some folder/{part.name}")
        else:
            places.to_file(path)
    return path


@pytest.mark.parametrize("axis", [0, 1])
def test_a_damaged_crs_that_is_found_out_late_is_one_clear_line(axis):
    """Without an axis unit PROJ makes a transformation, but cannot read its own CRS again."""
    stated = pyproj.CRS("EPSG:4326").to_json_dict()
    del stated["coordinate_system"]["axis"][axis]["unit"]
    with pytest.raises(DataError, match="unknown CRS"):
        transformer(json.dumps(stated), "EPSG:4326")


def test_proj_asks_nobody_outside_for_the_grids_of_records(monkeypatch):
    """Regression: with PROJ_NETWORK=ON, the requested grids revealed where people are."""
    asked = []

    def listened(function):
        def call(*args, **kwargs):
            asked.append(pyproj.network.is_network_enabled())
            return function(*args, **kwargs)

        return call

    for name in "from_crs", "transform":
        original = getattr(pyproj.Transformer, name)
        monkeypatch.setattr(pyproj.Transformer, name, listened(original))
    before = pyproj.network.is_network_enabled()
    pyproj.network.set_network_enabled(True)
    try:
        placed = in_crs(np.array([[-1.0, 52.0]]), "EPSG:4326", "EPSG:27700")
        assert pyproj.network.is_network_enabled()  # other code in this process may use the network
    finally:
        pyproj.network.set_network_enabled(before)
    assert asked == [False, False]
    assert placed[0] == pytest.approx([468_750, 233_980], abs=200)


@pytest.mark.slow
def test_many_records_of_a_small_file_fit_the_memory_of_its_child(tmp_path):
    n = 1_700_000  # 27 MB: libraries once reserved a gigabyte for it
    points = np.random.default_rng(0).random((n, 2))
    path = tmp_path / "many.parquet"
    pq.write_table(pa.table({"lon": points[:, 0], "lat": points[:, 1]}), path)
    domain = Domain((0, 0), (1, 1), columns=("lon", "lat"))
    assert index_of(dpviz.load(path, domain, public=True)).total == n


class TestFormats:
    @pytest.mark.parametrize("form", FORMATS)
    def test_every_format_gives_the_same_records(self, tmp_path, form):
        records = read_records(write(tmp_path, form), NYC, unit="who", time="when")
        np.testing.assert_allclose(records.points, POINTS, atol=1e-12)
        assert records.points.dtype == np.float64
        assert records.unit.tolist() == [0, 1, 0]
        assert records.time.tolist() == [1893484800.0] * 3  # 2030-01-01T08:00 UTC
        assert records.counts.dropped == {}

    def test_trips_in_another_crs_are_projected(self, tmp_path):
        trips = Domain(NYC.lower * 2, NYC.upper * 2)
        to_utm = pyproj.Transformer.from_crs("EPSG:4326", "EPSG:32618", always_xy=True)
        x, y = to_utm.transform(*POINTS.T)
        pd.DataFrame({"plon": x, "plat": y, "dlon": x[::-1], "dlat": y[::-1]}).to_csv(
            tmp_path / "trips.csv", index=False
        )
        records = read_records(tmp_path / "trips.csv", trips, crs="EPSG:32618")
        np.testing.assert_allclose(records.points, np.hstack([POINTS, POINTS[::-1]]), atol=1e-8)

    @pytest.mark.parametrize(
        ("text", "encoding"),
        [
            ("lon;lat;straße\n-74,0;40,7;ü\n", "cp1252"),
            ("lon,lat\n-74.0,40.7\n", "utf-8-sig"),
            ('"a, b"|lon|lat\nx|-74.0|40.7\n', "utf-8"),
            ("lon,lat\r\n -74.0 , 40.7 \r\n", "utf-8"),
        ],
    )
    def test_text_is_read_in_every_usual_notation_and_encoding(self, tmp_path, text, encoding):
        path = tmp_path / "points.csv"
        path.write_bytes(text.encode(encoding))
        assert read_records(path, NYC).points.tolist() == [[-74.0, 40.7]]

    def test_a_geoparquet_with_native_points_is_read(self, tmp_path):
        places = pa.StructArray.from_arrays([*map(pa.array, POINTS.T)], ["x", "y"])
        geo = {
            "version": "1.1.0",
            "primary_column": "place",
            "columns": {"place": {"encoding": "point", "geometry_types": ["Point"]}},
        }
        table = pa.table({"place": places}).replace_schema_metadata({"geo": json.dumps(geo)})
        pq.write_table(table, tmp_path / "native.parquet")
        np.testing.assert_array_equal(read_records(tmp_path / "native.parquet", NYC).points, POINTS)

    @pytest.mark.parametrize("form", FORMATS)
    def test_columns_are_listed_for_the_mapping_form(self, tmp_path, form):
        kinds = {column.name: column.kind for column in columns(write(tmp_path, form))}
        assert kinds["who"] == ("string" if "parquet" in form else "text")
        if form == "parquet":
            assert kinds["lon"] == kinds["lat"] == "number"
            assert kinds["when"] == "time"
        elif form in ("csv", "tsv"):  # a header that declares no types
            assert kinds["lon"] == kinds["when"] == "text"
        else:
            assert kinds["geometry"] == "geometry"

    def test_only_the_needed_columns_of_a_parquet_are_read(self, tmp_path, monkeypatch):
        asked = []
        monkeypatch.setattr(sandbox, "CAN_FORK", False)  # so that this process records the call
        original = pq.ParquetFile.iter_batches
        monkeypatch.setattr(
            pq.ParquetFile,
            "iter_batches",
            lambda self, size, columns: (
                asked.append(columns) or original(self, size, columns=columns)
            ),
        )
        read_records(write(tmp_path, "parquet"), NYC, unit="who")
        assert asked == [["lon", "lat", "who"]]


class TestColumns:
    @pytest.mark.parametrize(
        ("names", "dims", "recognised"),
        [
            (["id", "Lon", "Lat"], 2, ("Lon", "Lat")),
            (["latitude", "longitude"], 2, ("longitude", "latitude")),
            (["y", "x", "lng", "lat"], 2, ("lng", "lat")),
            (["dlat", "dlon", "plat", "plon"], 4, ("plon", "plat", "dlon", "dlat")),
            (["lon", "lat", "LON", "Lat"], 2, ("lon", "lat")),
            (["MapLongitude", "MapLatitude"], 2, ("MapLongitude", "MapLatitude")),
            (["LAT_WGS84", "LON_WGS84"], 2, ("LON_WGS84", "LAT_WGS84")),
            (["Longitude_X", "Latitude_Y"], 2, ("Longitude_X", "Latitude_Y")),
            (
                ["pickup_longitude", "pickup_latitude", "fare"],
                2,
                ("pickup_longitude", "pickup_latitude"),
            ),
            (
                ["start_lat", "start_lng", "end_lat", "end_lng"],
                4,
                ("start_lng", "start_lat", "end_lng", "end_lat"),
            ),
            (["kinh độ", "vĩ độ"], 2, ("kinh độ", "vĩ độ")),
            (["stop_id", "stop_lat", "stop_lon"], 2, ("stop_lon", "stop_lat")),  # GTFS
            (["shape_pt_lat", "shape_pt_lon"], 2, ("shape_pt_lon", "shape_pt_lat")),
            (["bike_id", "lat", "lon"], 2, ("lon", "lat")),  # GBFS
            (["location.lng", "location.lat"], 2, ("location.lng", "location.lat")),  # MDS
            (
                [
                    "start_location.lat",
                    "start_location.lng",
                    "end_location.lat",
                    "end_location.lng",
                ],
                4,
                (
                    "start_location.lng",
                    "start_location.lat",
                    "end_location.lng",
                    "end_location.lat",
                ),
            ),
            (
                [
                    f"{end} station {axis}"
                    for end in ("start", "end")
                    for axis in ("latitude", "longitude")
                ],
                4,
                tuple(
                    f"{end} station {axis}"
                    for end in ("start", "end")
                    for axis in ("longitude", "latitude")
                ),
            ),
            (
                ["from_latitude", "from_longitude", "to_latitude", "to_longitude"],
                4,
                ("from_longitude", "from_latitude", "to_longitude", "to_latitude"),
            ),
            (["length", "plate"], 2, None),
            (["a", "b"], 2, None),
        ],
    )
    def test_usual_names_are_recognised(self, names, dims, recognised):
        domain = Domain((0,) * dims, (1,) * dims)
        assert recognised_columns([Column(name, "number") for name in names], domain) == recognised


class TestDropping:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("a.csv", b""),
            ("a.csv", b"\n \n"),
            ("a.csv", b"lon,lat\n"),
            ("a.geojson", b'{"type": "FeatureCollection", "features": []}'),
        ],
    )
    def test_an_empty_file_is_an_empty_data_set(self, tmp_path, name, content):
        (tmp_path / name).write_bytes(content)
        assert read_records(tmp_path / name, NYC).points.shape == (0, 2)

    def test_the_printed_form_says_nothing(self):
        assert repr(Records(POINTS)) == "<private records>"


class TestBadInput:
    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            (
                "a.parquet",
                b"lon,lat\n1,2\n",
                "a.parquet is not Parquet, as its name says: it looks",
            ),
            ("a.csv", b"PAR1xxxxPAR1", "a.csv is not delimited text.*looks like Parquet"),
            (
                "a.parquet",
                b"PAR1" + b"\0" * 90,
                "a.parquet cannot be read as Parquet: it is damaged",
            ),
            ("a.geojson", b'{"type": "Feat', "cannot be read as GeoJSON"),
            ("a.geojson", b'{"a": 1}', "is not GeoJSON: give JSON records as an array of objects"),
            ("a.json", b'[{"lon": 1, "lat": 2}]', "does not declare its columns"),
            ("a.json", b'[{"lon": 1, "lat": 2}', "a.json cannot be read as GeoJSON"),
            ("a.gpkg", b"SQLite format 3\0" + b"\0" * 200, "cannot be read as GeoPackage"),
            (
                "a.shp",
                b"\0\0\x27\x0a" + b"\0" * 200,
                "one of a Shapefile's files: zip its .shp, .shx",
            ),
            ("a.csv", "lon,lat\n1,2\n".encode("utf-16"), "is not text in UTF-8: give CSV"),
            ("a.zip", b"PK\3\4" + b"\0" * 200, "cannot be read as a zip archive"),
            ("a.csv", b"-74.0,40.7\n-73.9,40.8\n", "begins with numbers.*add a header line"),
            ("a.csv", b"ann,-74.0,40.7\n", "begins with numbers.*add a header line"),
            ("a.xml", b'<?xml version="1.0"?><wpt lat="40.7" lon="-74.0"/>', "is XML, not delimit"),
            ("a.xml", b"<osm><name>ann\0</name></osm>", "is not text in UTF-8"),
            ("a.gpx", b"<gpx><name>ann\0</name></gpx>", "cannot be read as GPX: it is damaged"),
            ("a.csv", b"<gpx>" + b"<wpt/>" * 200_000, "is not delimited text.*looks like GPX"),
            ("a.csv", b"a,b\n1,2\n", "no columns called lon, lat or the like: name 2 of those in"),
            ("a.csv", b"lon,lat,lon\n1,2,3\n", "several columns 'lon'"),
            ("a.csv", b"<b>x</b>,\x1b[31m\n1,2\n", "or add a header line$"),
            ("a.csv", b"\x00\x01\x02\x03", "a.csv is not text"),
            ("a.csv", b"a" * 100_000 + b",b\n1,2\n", "or add a header line$"),
        ],
    )
    def test_a_bad_file_is_one_line_with_a_remedy(self, tmp_path, name, content, message):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=message) as caught:
            read_records(tmp_path / name, NYC)
        assert "\n" not in str(caught.value)
        assert str(tmp_path) not in str(caught.value)
        assert len(str(caught.value)) < 250

    @pytest.mark.parametrize("named", [{}, {"columns": ("lon", "lat")}, {"unit": "who"}])
    def test_the_first_line_is_not_shown_where_it_may_be_a_record(self, tmp_path, named):
        """Regression: without a header, the error listed a person's values as column names."""
        (tmp_path / "a.txt").write_text("ann 13 24;clinic\nbob 13 25;home\n")
        (tmp_path / "a.xlsx").write_bytes(workbook([("ann", "clinic"), ("bob", "home")]))
        for name in ("a.txt", "a.xlsx"):
            with pytest.raises(DataError, match=r"first line.* add a header line$") as caught:
                read_records(tmp_path / name, NYC, **named)
            with pytest.raises(DataError, match="first line") as other:
                read_trips(tmp_path / name, city(), unit=named.get("unit"))
            assert "ann" not in f"{caught.value} {other.value}"

    def test_a_missing_file_a_folder_and_a_null_byte_are_refused(self, tmp_path):
        for path, message in [
            (tmp_path / "nowhere.csv", "no file 'nowhere.csv'"),
            (tmp_path, "is a folder"),
            ("a\0b.csv", "give the path of a file"),
        ]:
            with pytest.raises(DataError, match=message):
                read_records(path, NYC)

    def test_missing_columns_are_named_with_those_that_exist(self, tmp_path):
        for form in ("csv", "parquet", "gpkg"):
            path = write(tmp_path, form)
            with pytest.raises(DataError, match=r"no column 'nope' in taxi.*'who', 'when'"):
                read_records(path, NYC, unit="nope")
        with pytest.raises(DataError, match="'lon' holds both coordinates: give their order"):
            read_records(write(tmp_path, "csv"), NYC, columns=("lon",))

    @pytest.mark.parametrize("content", [b"", b'{"longitude": -74.0, "latitude": 40.7}\n'])
    def test_columns_of_json_lines_are_named_and_never_guessed(self, tmp_path, content):
        """Regression: they were taken for lon and lat; an empty release was paid for."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"^a\.jsonl does not declare .*columns\), such as lon"):
            read_records(path, NYC)
        names = ("longitude", "latitude")
        rows = content.count(b"\n")
        assert len(read_records(path, NYC, columns=names).points) == rows
        named = Domain(NYC.lower, NYC.upper, names)
        assert len(read_records(path, named).points) == rows

    def test_a_release_is_not_accepted_as_data(self, tmp_path):
        """Regression: its rectangles were read as records; an empty release was paid for."""
        built = dpviz.build(dpviz.from_points(POINTS, NYC, name="taxi", public=True), "ugrid", 1.0)
        (tmp_path / "days").mkdir()
        pq.write_table(pa.table(frame()), tmp_path / "days/monday.parquet")
        assert dpviz.load(tmp_path / "days", NYC).name == "days"
        dpviz.export(built, tmp_path / "cells.geojson")
        built.save(tmp_path / "days/cells.parquet")
        for name in ("days/cells.parquet", "days", "cells.geojson"):
            with pytest.raises(
                DataError, match=r"^cells\.\w+ is a release, which holds no records"
            ):
                dpviz.load(tmp_path / name, NYC)

    def test_text_and_times_are_no_coordinates(self, tmp_path):
        path = write(tmp_path, "parquet")
        with pytest.raises(DataError, match=r"column 'who' of taxi\.parquet is declared as text"):
            read_records(path, NYC, columns=("who", "lat"))
        with pytest.raises(DataError, match=r"column 'when' of .* declared as times"):
            read_records(path, NYC, columns=("when", "lat"))

    def test_of_two_layers_one_is_named(self, tmp_path):
        places = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy(*POINTS.T), crs=4326)
        places.to_file(tmp_path / "two.gpkg", layer="a")
        places[:1].to_file(tmp_path / "two.gpkg", layer="b")
        assert tables_in(tmp_path / "two.gpkg") == ("a", "b")
        with pytest.raises(DataError, match=r"several layers of points: name one.*'a', 'b'"):
            read_records(tmp_path / "two.gpkg", NYC)
        assert len(read_records(tmp_path / "two.gpkg", NYC, table="b").points) == 1
        with pytest.raises(DataError, match=r"no file 'two.gpkg\|layername=b': name its layer as"):
            dpviz.load(tmp_path / "two.gpkg|layername=b", NYC)
        with pytest.raises(DataError, match=r"no layer 'c' in two.gpkg: it has 'a', 'b'"):
            read_records(tmp_path / "two.gpkg", NYC, table="c")

    def test_of_two_sheets_one_is_named(self, tmp_path):
        rows = [("lon", "lat"), *((f"{x}", f"{y}") for x, y in POINTS)]
        (tmp_path / "two.xlsx").write_bytes(workbook([("notes",)], places=rows))
        (tmp_path / "one.xlsx").write_bytes(workbook(rows))
        (tmp_path / "bad.xlsx").write_bytes(b"PK\x03\x04")
        write(tmp_path, "csv", frame())
        assert tables_in(tmp_path / "two.xlsx") == ("a", "places")
        assert tables_in(tmp_path / "one.xlsx") == ("a",)
        with pytest.raises(DataError, match=r"2 sheets: name one as its table \('a', 'places'"):
            read_records(tmp_path / "two.xlsx", NYC)
        assert len(read_records(tmp_path / "two.xlsx", NYC, table="places").points) == len(POINTS)
        with pytest.raises(DataError, match=r"bad\.xlsx"):
            tables_in(tmp_path / "bad.xlsx")
        assert [tables_in(path) for path in tmp_path.glob("*.csv")] == [()]
        for number, first in enumerate(
            (b"PK\x03\x04,b\n", b'{"a": 1}\n', b"SQLite format 3\0,b\n")
        ):
            (tmp_path / f"{number}.txt").write_bytes(first)  # a list of symbols without a header
            assert tables_in(tmp_path / f"{number}.txt") == ()
        many = {f"s{number}": [("a",)] for number in range(1_000)}
        (tmp_path / "many.xlsx").write_bytes(workbook([("a",)], **many))
        with pytest.raises(DataError, match=r"many\.xlsx has more than 1,000 layers or sheets"):
            tables_in(tmp_path / "many.xlsx")

    def test_swapped_axes_are_suspected_for_public_data_only(self, tmp_path):
        swapped = frame().rename(columns={"lon": "lat", "lat": "lon"})
        path = write(tmp_path, "csv", swapped)
        with pytest.raises(DataError, match="lon and lat look swapped"):
            read_records(path, NYC, public=True)
        assert len(read_records(path, NYC).points) == 0

    def test_places_in_words_are_pointed_out_for_public_data_only(self, tmp_path):
        path = tmp_path / "dms.csv"
        path.write_text("lat,lon\n40°42'N,74°00'W\n40°43'N,73°59'W\n")
        with pytest.raises(DataError, match="no record has a readable place: give numbers such as"):
            read_records(path, NYC, public=True)
        assert len(read_records(path, NYC).points) == 0
        path.write_text(path.read_text() + "40.7,-74.0\n")
        assert len(read_records(path, NYC, public=True).points) == 1

    def test_no_message_quotes_a_record(self, tmp_path):
        secret = "SECRET7391"
        files = {
            "a.csv": f"lon,lat\n{secret},40.7\n",
            "b.csv": f"lon,lat\n-74.0,40.7\n{secret},1,2,3\n",
            "c.csv": f'lon,lat\n"{secret}\n',
            "d.geojson": '{"type": "FeatureCollection", "features": [{"type": "Feature", '
            f'"geometry": {{"type": "{secret}", "coordinates": [1, 2]}}}}]}}',
            "e.geojson": '{"type": "FeatureCollection", "features": [{"type": "Feature", '
            f'"geometry": {{"type": "Point", "coordinates": ["{secret}", 2]}}}}]}}',
            "f.geojson": f'{{"type": "FeatureCollection", "features": ["{secret}"',
        }
        for name, text in files.items():
            (tmp_path / name).write_text(text)
            if name != "f.geojson":  # an invalid record is dropped alone
                assert len(read_records(tmp_path / name, NYC).points) == (name == "b.csv")
                continue
            with pytest.raises(DataError) as caught:
                read_records(tmp_path / name, NYC)
            assert secret not in str(caught.value)
            assert caught.value.__context__ is None or caught.value.__suppress_context__


class TestZip:
    def archive(self, tmp_path, change):
        path = write(tmp_path, "zip")
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            change(archive, members)
            for name, content in members.items():
                archive.writestr(name, content)
        return path

    @pytest.mark.parametrize("evil", ["../up.cpg", "/etc/up.cpg", "C:\\up.cpg", "a/link.cpg"])
    def test_no_member_of_an_archive_is_written_to_the_disk(self, tmp_path, evil):
        link = zipfile.ZipInfo(evil)
        link.external_attr = 0o120777 << 16
        path = self.archive(tmp_path, lambda archive, _: archive.writestr(link, b"/etc/passwd"))
        before = {*tmp_path.parent.rglob("*")}
        assert len(read_records(path, NYC).points) == 3
        assert {*tmp_path.parent.rglob("*")} == before

    def test_an_archive_of_too_many_members_or_two_shapefiles_is_refused(self, tmp_path):
        def fill(archive, members):
            members.update({f"{k}.txt": b"" for k in range(1_001)})

        with pytest.raises(DataError, match="more than 1,000 members"):
            read_records(self.archive(tmp_path, fill), NYC)
        with pytest.raises(DataError, match="no CSV file and no Shapefile"):
            read_records(self.archive(tmp_path, lambda _, members: members.clear()), NYC)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "bounds", "rows"),
    [
        ("beijing_taxi_30k", (115.4, 39.4, 117.6, 41.1), 29_695),
        ("nyc_taxi_4d", (*NYC.lower * 2, *NYC.upper * 2), 85_384),
    ],
)
def test_real_data_sets_are_read_whole(shared_data, name, bounds, rows):
    records = read_records(shared_data / f"{name}.parquet", Domain.from_bounds(bounds))
    assert len(records.points) == rows


@pytest.mark.slow
@pytest.mark.shared_data
def test_people_of_real_check_ins_are_bounded_and_hidden_as_wholes(shared_data):
    world = Domain.from_bounds([-180, -90, 180, 90])
    path = shared_data / "gowalla_userpoi.parquet"
    owners = pq.read_table(path, columns=["user_id"])["user_id"].to_numpy()
    many = np.unique(owners, return_counts=True)[1]
    for bound, records in ((1, "1 record"), (5, "5 records")):
        handle = dpviz.load(path, world, unit="user_id", max_per_unit=bound)
        release = dpviz.build(handle, "privtree", 1.0)
        assert f"one user_id with at most {records}" in release.header.guarantee
        assert sum(row["epsilon"] for row in release.header.budget) == pytest.approx(1.0)
        total = release.count(world.bounds)
        # Chebyshev at a false alarm of 1e-6 would be 1,000 sd; the sum of thousands of
        # independent draws is nearly normal: 6 sd.
        bounded = np.minimum(many, bound).sum()
        assert abs(total.count[0] - bounded) < 6 * total.noise_sd[0]
