"""Messy tables in every format, with and without one unit, and distances of indexes."""

import csv
import gzip
import io
import json
import lzma
import zipfile
from collections import Counter
from unittest.mock import patch

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DataError
from dpviz.files import sandbox
from dpviz.private.load.values import numbers
from tests.vault import index_of, sequences_of, trips_of

BOX = dpviz.Domain((0.0, 0.0), (1.0, 1.0), ("x", "y"))

IDS = (
    "1", "01", "1.0", "1e0", " 1", "+1", "7", "0x7", "1_0", "", "nan", "NaN", "null", "None", "NA",
    "true", "99999999999999999999", "123456789012345678", "123456789012345679", "2030-01-31", "zed",
    "ann", "Ann", "caf\u00e9", "cafe\u0301", "a,b", "a;b", "a\tb", "\u200b", "=1+1", "'", "\\N",
)  # fmt: skip
"""Texts that are easily taken for each other, for numbers, or for nothing."""

CELLS = (
    "0.5", "0.25", "0,75", "1e-1", ".125", "1.", "+0.5", " 0.375 ", "5e-1", "0", "1", "00.5", "-0",
    "", "nan", "inf", "-inf", "1e999", "1e-400", "x", "9", "-1", "0.5.5", "0x1", "1_0", "0,5,5",
    "٣",
)  # fmt: skip
"""Coordinates as text, good and bad."""

YEAR = dpviz.Domain.from_bounds(
    [0, 0, 1, 1], ("x", "y"), period="2024-01-01,2025-01-01", time="who", every="1h"
)
"""Space and time; the time stands where other tables have an id."""

WEEK = dpviz.Domain.from_bounds(
    [0, 0, 1, 1], ("x", "y"), period="2024-01-01,2025-01-01", time="who", every="1h",
    zone="Europe/Berlin", cycle="week",
)  # fmt: skip
"""The hour of the week of the same year, on the clocks of Berlin."""

EDGES = (
    "2024-01-01T00:30:00", "2024-03-31T01:30:00", "2024-03-31T02:30:00", "2024-03-31T03:30:00",
    "2024-07-01T12:00:00", "2024-10-27T02:30:00", "2024-10-27T03:30:00", "2024-12-31T23:30:00",
    "2025-01-01T00:30:00",
)  # fmt: skip
"""Clock times of a zone, at the edges of its summer and of its year."""

TIMES = (
    "2024-01-01", "2024-12-31T23:59:59", "2025-01-01", "2023-12-31T23:59:59.999999", "1717200000",
    "1717200000.5", "2024-06-01T08:00Z", "2024-06-01 08:00:00", "2024-06-01T08:00:00+02:00",
    "2024-12-31T23:30:00-01:00", "2024-01-01T00:30:00+01:00", "20240601", "2024-02-30", "soon", "",
    "nan", "inf", "9999-12-31", "0001-01-01", "1e18", "-1", "2024-06-01T08", "08:00", "٢٠٢٤-01-01",
)  # fmt: skip
"""Times as text, good and bad, inside the year and just outside of it."""

LINES = (
    '{who},"{x},{y}',
    "{who},{x}",
    "{who},{x},{y},{y}",
    '{who},"{x}"0,{y}',
    '"{who}',
    '"',
    "\0",
    '\ufeff"{who},{x},{y}',
    '{{"k\\ud800": 1, "who": "{who}", "x": "{x}", "y": "{y}"}}',
    '{{"who": {x}, "x": [{x}], "y": {{}}}}',
)
"""Invalid lines: open quotes, wrong numbers of fields, fragments of a binary."""

rows = st.lists(
    st.tuples(st.sampled_from(IDS), st.sampled_from(CELLS), st.sampled_from(CELLS)), max_size=12
)
"""Records (who, x, y)."""

bounds = st.integers(1, 3)

units = st.one_of(st.none(), st.sampled_from(IDS))
"""A unit that one of two tables lacks; None where a record is the unit."""


def often(examples):
    """This many examples; each writes files."""
    return settings(max_examples=examples, suppress_health_check=list(HealthCheck))


def of_unit(unit, most):
    """Arguments of reading for this privacy unit, and by how much one unit may move."""
    return ({}, 1) if unit is None else ({"unit": "who", "max_per_unit": most}, most)


def put(folders, records, unit, write):
    """Write the records into one folder, and those without one unit into the other."""
    tables = records, without(records, unit)
    return [write(folder, each) for folder, each in zip(folders, tables, strict=True)]


def without(records, unit):
    """The neighbouring table: without one unit, or without the last record where that is None."""
    return records[:-1] if unit is None else [each for each in records if each[0] != unit]


def distance(one, two):
    """Σ |difference| of two indexes over all places."""
    a, b = (dict(zip(i.codes.tolist(), i.weights.tolist(), strict=True)) for i in (one, two))
    return sum(abs(a.get(code, 0) - b.get(code, 0)) for code in {*a, *b})


def layers_apart(one, two):
    """The same over all kinds."""
    return sum(distance(each, other) for each, other in zip(one, two, strict=True))


def moved(one, two):
    """Number of sequences in one of two bags without a partner in the other."""
    bags = [Counter(tuple(each[row].tolist()) for row in range(len(each))) for each in (one, two)]
    return ((bags[0] - bags[1]) + (bags[1] - bags[0])).total()


def moved_points(one, two):
    return distance(index_of(one), index_of(two))


def moved_trips(one, two):
    return moved(trips_of(one), trips_of(two))


def moved_sequences(one, two):
    return moved(sequences_of(one), sequences_of(two))


def outcome(read):
    """The data and the public facts of a handle, or the message that is all there is."""
    try:
        handle = read()
    except DataError as error:
        return None, str(error)
    facts = {key: value for key, value in vars(handle).items() if not key.startswith("_")}
    return handle, {key: str(value) for key, value in facts.items()}


def check(read, files, most, far=moved_points):
    """Hold both outcomes against each other: the same words, and at most `most` between them.

    Read in this process, as on systems that cannot fork: what the child does is tested elsewhere.
    """
    with patch.object(sandbox, "CAN_FORK", False):
        (handle, words), (other, same) = (outcome(lambda path=path: read(path)) for path in files)
    assert words == same
    assert (handle is None) == (other is None)
    if handle is not None:
        assert far(handle, other) <= most, f"moved by more than {most}"


def delimited(records, extra=(), mark=","):
    """Text as a careful writer writes it, and some lines as a careless one does."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=mark, lineterminator="\n")
    writer.writerow(["who", "x", "y"])
    lines = []
    for line in records:
        lines.append(io.StringIO())
        csv.writer(lines[-1], delimiter=mark, lineterminator="\n").writerow(line)
    plain = [line.getvalue() for line in lines]
    for number, (form, who, cell) in enumerate(extra):
        line = form.format(who=who, x=cell, y=cell).replace(",", mark) + "\n"
        plain.insert(min(2 * number, len(plain)), line)
    return text.getvalue() + "".join(plain)


def typed(records, kind="text"):
    """The same as columns: ids as text or as whole numbers, coordinates as doubles."""
    who = [each[0] for each in records]
    ids = pa.array(who, pa.string())
    if kind == "whole":
        ids = pa.array([IDS.index(each) if each else None for each in who], pa.int64())
    xy = [pa.array(numbers([each[axis] for each in records], "x")) for axis in (1, 2)]
    return pa.table({"who": ids, "x": xy[0], "y": xy[1]})


def halves(**columns):
    """These columns, all of whose records are in the middle of the box."""
    rows = len(next(iter(columns.values())))
    half = pa.array([0.5] * rows, pa.float64())
    return pa.table({**columns, "x": half, "y": half})


def places(records):
    """The same as a geopandas frame; what has no place has no geometry."""
    import geopandas
    import shapely

    table = typed(records)
    xy = np.column_stack([table["x"].to_numpy(), table["y"].to_numpy()]).reshape(-1, 2)
    points = [shapely.Point(at) if np.isfinite(at).all() else None for at in xy]
    who = table["who"].to_pandas().astype("string")
    columns = {"who": who, "y": table["y"].to_pandas()}
    return geopandas.GeoDataFrame(columns, geometry=points, crs="EPSG:4326")


PARQUET = {"parquet": "text", "whole.parquet": "whole"}
"""What columns are in files of Parquet that hold no geometry."""


def write(form, path, records, extra=()):
    if form in ("csv", "tsv"):
        path.write_bytes(delimited(records, extra, "," if form == "csv" else "\t").encode())
    elif form == "csv.gz":
        path.write_bytes(gzip.compress(delimited(records, extra).encode(), 1))
    elif form == "csv.xz":
        path.write_bytes(lzma.compress(delimited(records, extra).encode()))
    elif form == "csv.zst":
        with pa.CompressedOutputStream(path, "zstd") as packed:
            packed.write(delimited(records, extra).encode())
    elif form == "csv.zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.csv", delimited(records, extra))
    elif form == "jsonl":
        lines = [json.dumps({"who": who, "x": x, "y": y}) for who, x, y in records]
        lines += [line.format(who=who, x=cell, y=cell) for line, who, cell in extra]
        path.write_text("\n".join(lines))
    elif form == "json":
        objects = [{"who": who, "x": x, "y": y} for who, x, y in records]
        path.write_text(json.dumps([*objects, *(line for line, _, _ in extra)]))
    elif form == "xlsx":
        path.write_bytes(workbook([("who", "x", "y"), *records]))
    elif form in PARQUET:
        pq.write_table(typed(records, PARQUET[form]), path)
    elif form == "geoparquet":
        frame = places(records)
        frame.to_parquet(path, geometry_encoding="WKB")
        declared_nothing(path)
    elif form == "feather":
        feather.write_feather(typed(records), str(path))
    elif form == "geojson":
        features = [
            {
                "type": "Feature",
                "geometry": {"type": "Point", "coordinates": list(map(_json_number, (x, y)))},
                "properties": {"who": who} if who else {},
            }
            for who, x, y in records
        ]
        path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    else:
        frame = places(records)
        if form == "shp":  # its columns have a width
            frame["y"] = frame["y"].where(frame["y"].abs() < 1e9)
        how = {"SPATIAL_INDEX": "NO"} if form == "fgb" else {}  # with one, all need a place
        frame.to_file(path, geometry_type="Point", engine="pyogrio", **how)


def database(path, **tables):
    """The URL of a new file of DuckDB with these tables, or with the rows of Parquet files."""
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as db:
        for name, rows in tables.items():
            source = f"'{rows}'"
            if isinstance(rows, pa.Table):
                source = "given"
                db.register(source, rows)
            db.execute(f'CREATE TABLE "{name}" AS FROM {source}')
    return f"duckdb:///{path}"


def declared_nothing(path):
    """Drop what a writer says of the values in the schema: it is no type."""
    table = pq.read_table(path)
    geo = json.loads(table.schema.metadata[b"geo"])
    geo["columns"]["geometry"] = {"encoding": "WKB", "geometry_types": []}
    pq.write_table(table.replace_schema_metadata({b"geo": json.dumps(geo).encode()}), path)


def workbook(table, **others):
    """A workbook of sheets of inline texts, as few parts as the format allows; the first is a."""
    sheets = {"a": table, **others}
    return packed({name: sheet(text_rows(rows)) for name, rows in sheets.items()})


SPACE = "http://schemas.openxmlformats.org"
MAIN = f"{SPACE}/spreadsheetml/2006/main"


def text_rows(table):
    def cell(text):
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace("\0", "")
        return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'

    return "".join(f"<row>{''.join(map(cell, row))}</row>" for row in table)


def sheet(rows):
    return f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def packed(sheets):
    kinds = f"{SPACE}/officeDocument/2006/relationships"
    package = f"{SPACE}/package/2006"
    sheet_type = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    typed = "".join(
        f'<Override PartName="/xl/{name}.xml" ContentType="{sheet_type}.worksheet+xml"/>'
        for name in sheets
    )
    listed = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>' for at, name in enumerate(sheets, 1)
    )
    parts = {f"xl/{name}.xml": text for name, text in sheets.items()}
    linked = "".join(
        f'<Relationship Id="r{at}" Type="{kinds}/worksheet" Target="{name}.xml"/>'
        for at, name in enumerate(sheets, 1)
    )
    members = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/'
        'vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{sheet_type}.sheet.main+xml"/>'
        f"{typed}</Types>",
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{kinds}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{kinds}"><sheets>{listed}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">{linked}'
        "</Relationships>",
        **parts,
    }
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, f'<?xml version="1.0"?>{text}')
    return raw.getvalue()


def _json_number(cell):
    value = numbers([cell], "x")[0]
    return float(value) if np.isfinite(value) else cell
