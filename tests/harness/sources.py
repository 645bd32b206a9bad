"""Codes and weights of the index of odd records, in each format."""

import io
import json
import zipfile
from functools import partial
from pathlib import Path

import duckdb
import geopandas
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

import dpviz
from tests.vault import layers_of

NUMBERS = ("0.5", "0.25", "0,75", "1e-1", ".125", "1.", "+0.5", " 0.375 ", "0", "1", "-0", "00.5")
NUMBERS += ("", "nan", "inf", "1e999", "x", "9", "-1", "0.5.5", "0x1", "1_0", "٣", '"0.5"', "NULL")
TIMES = ("2024-01-01", "2024-12-31T23:59:59", "2025-01-01", "1717200000", "1717200000.5", "", "nan")
TIMES += ("2024-06-01T08:00+02:00", "2024-06-01 08:00:00", "20240601", "2024-02-30", "08:00")
ROWS = [(f"p{at % 3}", x, "0.5", TIMES[at % 12]) for at, x in enumerate(NUMBERS)]
ROWS += [("p9", "0.5", y, TIMES[at % 12]) for at, y in enumerate(NUMBERS)]
ROWS += [(" p1", f"0.{x}", f"0.{x}5", time) for x, time in enumerate(TIMES)]
NAMES = ("who", "x", "y", "t")
BAD = ('a,"0.5,0.5,2024-01-01', "a,0.5", "a,0.5,0.5,2024-01-01,more", '"', "\0", "")
BOX = {"bounds": [0, 0, 1, 1], "columns": ("x", "y")}
YEAR = {"time": "t", "period": "2024-01-01,2025-01-01", "every": "1h"}
DOMAINS = {"box": {}, "year": YEAR, "kinds": {"kind": "who", "kinds": ("p0", "p1")}}
READ = {
    "plain": {},
    "swapped": {"columns": ("y", "x")},
    "unit": {"unit": "who", "max_per_unit": 99},
}
SHAPES = ("POINT (0.5 0.5)", "POINT (0.25 0.75)", "POINT EMPTY", None, "POINT Z (0.5 0.25 3)")
SHAPES += ("MULTIPOINT ((0.5 0.5))", "LINESTRING (0 0, 1 1)", "POINT (7 7)", "POINT (1 1)")


def number(text):
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def columns(kind):
    """The rows as columns of text, or with numbers as doubles."""
    values = list(zip(*ROWS, strict=True))
    texts = {name: pa.array(each, pa.string()) for name, each in zip(NAMES, values, strict=True)}
    floats = {n: pa.array([number(v) for v in texts[n].to_pylist()], pa.float64()) for n in "xy"}
    return pa.table(texts if kind == "text" else texts | floats)


def sheet():
    """A workbook of one sheet of inline texts."""
    cells = "".join(
        "<row>" + "".join(f'<c t="inlineStr"><is><t>{each}</t></is></c>' for each in row) + "</row>"
        for row in (NAMES, *ROWS)
    )
    space = "http://schemas.openxmlformats.org"
    office = f"{space}/officeDocument/2006/relationships"
    main, package = f'xmlns="{space}/spreadsheetml/2006/main"', f"{space}/package/2006"
    link = f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{office}/'
    parts = {
        "_rels/.rels": f'{link}officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{office}"><sheets><sheet name="a" '
        'sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'{link}worksheet" Target="a.xml"/></Relationships>',
        "xl/a.xml": f"<worksheet {main}><sheetData>{cells}</sheetData></worksheet>",
    }
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return raw.getvalue()


def files():
    """Write the records in every format; the names of the files."""
    lines = [",".join(row) for row in ROWS]
    for name, mark, end in (("a.csv", ",", "\n"), ("a.tsv", "\t", "\r\n"), ("semi.csv", ";", "\n")):
        text = end.join(line.replace(",", mark) for line in (",".join(NAMES), *lines, *BAD))
        Path(name).write_text(text, encoding="utf-8")
    Path("latin.csv").write_bytes(
        "\n".join((",".join(NAMES), *lines[:9], "é,1,1,")).encode("cp1252")
    )
    objects = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    typed = [each | {"x": number(each["x"]), "y": number(each["y"])} for each in objects]
    Path("a.jsonl").write_text("\n".join([*map(json.dumps, [*objects, *typed]), *BAD, "[1]", "{}"]))
    Path("a.json").write_text(json.dumps([*objects, *typed, None, 3]))
    shapes = [None if each is None else shapely.from_wkt(each) for each in SHAPES]
    points = geopandas.GeoDataFrame({"who": range(len(shapes))}, geometry=shapes, crs="EPSG:4326")
    Path("a.geojson").write_text(points.to_json())
    points.to_parquet("geo.parquet")
    points.to_file("a.gpkg", engine="pyogrio")
    plain = [each is None or each.startswith("POINT (") for each in SHAPES]
    points[plain].to_file("a.shp", engine="pyogrio")
    Path("wkt.csv").write_text("\n".join(["who,geometry", *(f'1,"{each}"' for each in SHAPES)]))
    for kind in ("text", "numbers"):
        pq.write_table(columns(kind), f"{kind}.parquet")
        with duckdb.connect(f"{kind}.duckdb") as base:
            base.execute(f"CREATE TABLE a AS FROM '{kind}.parquet'")
    Path("a.xlsx").write_bytes(sheet())
    named = "a.csv a.tsv semi.csv latin.csv a.jsonl a.json text.parquet numbers.parquet a.xlsx"
    return named.split(), ["a.geojson", "geo.parquet", "a.gpkg", "a.shp", "wkt.csv"]


def cases():
    tables, layers = files()
    for name in [*tables, "duckdb:///text.duckdb", "duckdb:///numbers.duckdb"]:
        for frame in DOMAINS:
            yield f"index {name} {frame}", partial(index, name, frame, {})
        for how in ("swapped", "unit"):
            yield f"index {name} {how}", partial(index, name, "box", READ[how])
    for name in layers:
        where = {"columns": ("geometry",)} if name == "wkt.csv" else {}
        yield f"index {name}", partial(index, name, "box", where)
        yield f"index {name} Mercator", partial(index, name, "mercator", where)


def index(name, frame, how):
    """The index of each kind of record: codes of places, and how many records are there."""
    if frame == "mercator":
        domain = dpviz.Domain.from_bounds([0, 0, 111320, 111325], crs="EPSG:3857")
    else:
        domain = dpviz.Domain.from_bounds(**BOX, **DOMAINS[frame])
        if name in ("a.geojson", "geo.parquet", "a.gpkg", "a.shp", "wkt.csv"):
            domain = dpviz.Domain.from_bounds([0, 0, 1, 1])
    table = {"table": "a"} if ":" in name else {}
    handle = dpviz.load(name, domain, name="harness", **{**table, **how})
    for at, counts in enumerate(layers_of(handle).counts):
        yield f"codes {at}", counts.codes.tolist()
        yield f"weights {at}", counts.weights.tolist()
