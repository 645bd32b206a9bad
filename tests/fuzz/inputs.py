"""Every input format: a sound seed, its mutants, and the reader that must withstand them."""

import gzip
import json
import lzma
import tempfile
from functools import partial
from pathlib import Path

import geopandas
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import shapely

import dpviz
from dpviz.private.load.points import columns as source_columns
from dpviz.private.load.roads import read_trips
from dpviz.private.load.sequences import read_sequences
from dpviz.releases.points.region_file import read_regions
from dpviz.releases.roads.graph_file import read_graph
from dpviz.roads.tables import road_graph
from dpviz.sequences.alphabet import Alphabet, alphabet_of
from tests.fuzz import mutants
from tests.geojson import collection, feature
from tests.private.load.stability import packed, sheet

DOMAIN = dpviz.Domain.from_bounds([10.0, 50.0, 12.0, 51.0])
ROWS = pd.DataFrame(
    {
        "lon": [10.5, 11.0, 11.5],
        "lat": [50.2, 50.5, 50.8],
        "who": [mutants.SECRET, None, "b"],
        "time": ["2030-01-01T00:00:00", "5", ""],
    }
)
GRAPH = road_graph(
    {"node": ["1", "2", "3"], "x": [0, 1, 1], "y": [0, 0, 1]},
    {"edge": ["a", "b"], "src": ["1", "2"], "dst": ["2", "3"]},
)
GRAPHML = b"""<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="x" attr.type="double"/>
<key id="d1" for="node" attr.name="y" attr.type="double"/>
<graph edgedefault="undirected"><node id="1"><data key="d0">0</data><data key="d1">0</data></node>
<node id="2"><data key="d0">1</data><data key="d1">0</data></node><edge source="1" target="2"/>
</graph></graphml>"""


def points(path, **how):
    source_columns(path)
    return dpviz.load(path, DOMAIN, name="a", **how)


named_points = partial(points, columns=("lon", "lat"))
persons = partial(
    dpviz.load, domain=DOMAIN, columns=("lon", "lat"), unit="who", max_per_unit=2, name="a"
)
words = partial(read_sequences, alphabet=Alphabet(("a", "b")), name="a")
trips = partial(read_trips, graph=GRAPH, name="a")
regions = partial(read_regions, domain=DOMAIN)


def alphabet(path):
    return alphabet_of(str(path))


def _written(write, name="a.parquet"):
    """The bytes of what a function writes into a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        write(path)
        return path.read_bytes()


def _table(**columns):
    return _written(partial(pq.write_table, pa.table(columns)))


def _collection(shapes):
    features = (feature(each, id=k, who=mutants.SECRET) for k, each in enumerate(shapes))
    return collection(features).encode()


def workbook(columns, far=""):
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    text = "".join(
        f'<row r="{r}">' + "".join(_cell(f"{chr(65 + k)}{r}", each) for k, each in enumerate(row))
        + "</row>"
        for r, row in enumerate(rows, 1)
    )  # fmt: skip
    return packed({"a": sheet(text + far)})


def _cell(place, value):
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def formats():
    """Name: (suffix, seed, mutation, reader)."""
    places = geopandas.GeoDataFrame(
        ROWS[["who"]], geometry=geopandas.points_from_xy(ROWS.lon, ROWS.lat), crs=4326
    )
    boxes = geopandas.GeoDataFrame(
        {"name": ["a"]}, geometry=[shapely.box(10.2, 50.2, 10.8, 50.8)], crs=4326
    )
    package, districts = (_written(each.to_file, "a.gpkg") for each in (places, boxes))
    shapefile = _written(places.to_file, "a.shp.zip")
    flatgeobuf = _written(places.to_file, "a.fgb")
    marks = "".join(
        f"<Placemark><name>{who}</name><Point><coordinates>{lon},{lat}</coordinates></Point></Placemark>"
        for who, lon, lat in ROWS[["who", "lon", "lat"]].itertuples(index=False)
    )
    kml = f'<kml xmlns="http://www.opengis.net/kml/2.2"><Document>{marks}</Document></kml>'.encode()
    geo = _written(places.to_parquet)
    lines = [shapely.LineString([(0, 0), (1, 0)]), shapely.LineString([(1, 0), (1, 1)])]
    csv = ROWS.to_csv(index=False).encode()
    flat = {name: [None if pd.isna(v) else v for v in ROWS[name]] for name in ROWS}
    records = "".join(json.dumps(row) + "\n" for row in pa.table(flat).to_pylist()).encode()
    steps = b"trip,edge\n" + f"{mutants.SECRET},a\n{mutants.SECRET},b\n7,a\n".encode()
    return {
        "points, CSV": ("csv", csv, mutants.text_mutant, points),
        "persons, CSV": ("csv", csv, mutants.text_mutant, persons),
        "points, Parquet": ("parquet", _table(**flat), mutants.byte_mutant, points),
        "persons, Parquet": ("parquet", _table(**flat), mutants.byte_mutant, persons),
        "points, GeoParquet": ("parquet", geo, mutants.byte_mutant, points),
        "points, GeoJSON": (
            "geojson", _collection(places.geometry), mutants.text_mutant, points
        ),
        "points, GeoPackage": ("gpkg", package, mutants.byte_mutant, points),
        "points, Shapefile": ("zip", shapefile, mutants.byte_mutant, points),
        "points, JSON lines": ("jsonl", records, mutants.text_mutant, named_points),
        "points, JSON array": (
            "json", b"[" + b",".join(records.splitlines()) + b"]", mutants.text_mutant, named_points
        ),
        "points, Excel": ("xlsx", workbook(flat), mutants.byte_mutant, points),
        "points, gzip": (
            "csv.gz", gzip.compress(csv, mtime=0),
            mutants.byte_mutant, points,
        ),
        "points, xz": ("csv.xz", lzma.compress(csv), mutants.byte_mutant, points),
        "points, zstd": (
            "csv.zst", pa.compress(csv, "zstd", asbytes=True), mutants.byte_mutant, points
        ),
        "points, Feather": (
            "feather", _written(lambda path: feather.write_feather(pa.table(flat), str(path))),
            mutants.byte_mutant, points,
        ),
        "points, FlatGeobuf": ("fgb", flatgeobuf, mutants.byte_mutant, points),
        "points, KML": ("kml", kml, mutants.text_mutant, points),
        "points, JSON lines in gzip": (
            "jsonl.gz", gzip.compress(records, mtime=0),
            mutants.byte_mutant, named_points,
        ),
        "sequences, text": ("txt", b"a b\nb,a\n" * 3, mutants.text_mutant, words),
        "sequences, Parquet": (
            "parquet", _table(words=[["a", "b"], [mutants.SECRET]]), mutants.byte_mutant, words
        ),
        "trips, CSV": ("csv", steps, mutants.text_mutant, trips),
        "trips, Parquet": (
            "parquet", _table(edges=[["a", "b"], [mutants.SECRET]]), mutants.byte_mutant, trips
        ),
        "streets, GeoJSON": ("geojson", _collection(lines), mutants.text_mutant, read_graph),
        "streets, GraphML": ("graphml", GRAPHML, mutants.text_mutant, read_graph),
        "districts, GeoJSON": (
            "geojson", _collection(boxes.geometry), mutants.text_mutant, regions
        ),
        "districts, GeoPackage": ("gpkg", districts, mutants.byte_mutant, regions),
        "alphabet": ("txt", b"a\nb\nc\n", mutants.text_mutant, alphabet),
    }  # fmt: skip
