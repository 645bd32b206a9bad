"""Files that differ in the rows of one unit, which hold whatever cells hold, and how far apart the
exact indexes of all layers are: of counts and of sums, by kind.
"""

import random

import pyarrow.parquet as pq
import pytest

import dpviz
from tests.private.load.stability import (
    BOX,
    CELLS,
    IDS,
    LINES,
    TIMES,
    WEEK,
    YEAR,
    database,
    layers_apart,
    outcome,
    places,
    typed,
    write,
)

FORMATS = (
    "csv", "tsv", "csv.gz", "csv.zip", "jsonl", "json", "geojson", "parquet",
    "geoparquet", "gpkg", "shp", "xlsx", "duckdb", "folder", "pandas", "objects", "polars",
    "geopandas",
)  # fmt: skip
TEXT = ("csv", "tsv", "csv.gz", "csv.zip", "jsonl", "json")
"""Formats of which a line may be no record at all."""

ODD = (
    "None", "-inf", "1e308", "-1e308", "9" * 400, "½", "\t0.5", "0.5\x0b", "\ufeff0.5", "\u00a00.5",
    'a"b', '"', "|", "\\", "\x00", "\x1a", "\x85", "\u2028", "cafe\u0301", "CAFÉ", "z" * 3000,
    "2024-10-27T02:30:00", "2024-06-01T23:59:60", "10000-01-01", "-2024-01-01", "NaT", "[1]", "{}",
    "253402300800", "2024-06-01T08:00:00+25:00", "POINT(0.5 0.5)", "#N/A", "true",
)  # fmt: skip
"""Cells that a reader may stumble over, beside those that are easily taken for each other."""

KINDS = {"kind": "who", "kinds": ("1", "01", "caf\u00e9", "other")}
VALUES = {"value": "y", "clip": (-5, 20)}
ROLES = {
    "unit": (BOX, True),
    "kind": (dpviz.Domain.from_bounds([0, 0, 1, 1], ("x", "y"), **KINDS), False),
    "value": (dpviz.Domain.from_bounds([0, 0, 1, 1], ("x", "y"), **VALUES), True),
    "all": (dpviz.Domain.from_bounds([0, 0, 1, 1], ("x", "y"), **KINDS, **VALUES), True),
    "time": (YEAR, False),
    "cycle": (WEEK, False),
}
"""What the column ``who`` is besides an id, and whether it is the privacy unit."""

UNIT = "zed"


def cell(draw, form):
    """A cell, odd or not, that a writer of the format can write as it is."""
    text = draw.choice((*ODD, *IDS, *CELLS, *TIMES))
    if draw.random() < 0.3:
        place = draw.randrange(len(text) + 1)
        text = text[:place] + draw.choice("0123456789eE+-.,:TZ\"'\t\x7fé\u0301") + text[place:]
    if form == "shp":
        return text[:80]
    return "".join(each for each in text if form != "xlsx" or each.isprintable())


def neighbours(form, role, seed, folder):
    """Two sources, the second with one unit more, and the bound on it.

    Args:
        form: of the files, one of :data:`FORMATS`.
        role: of the columns, one of :data:`ROLES`.
        seed: of what they hold.
        folder: an empty one, to write to.
    """
    draw = random.Random(f"{form} {role} {seed}")
    usual = TIMES if role in ("time", "cycle") else IDS
    others = [(draw.choice(usual), *draw.choices(CELLS[:8], k=2)) for _ in range(10)]
    others = [each for each in others if each[0] != UNIT]
    bound = draw.randint(1, 3) if ROLES[role][1] else None
    rows, lines = list(others), []
    for _ in range(1 if bound is None else draw.randint(1, 6)):
        who = cell(draw, form) if bound is None else UNIT
        if form in TEXT and draw.random() < 0.2:
            lines.append((draw.choice(LINES), who, draw.choice(CELLS)))
            continue
        odd = [cell(draw, form) if draw.random() < 0.5 else "0.5" for _ in "xy"]
        rows.insert(draw.randrange(len(rows) + 1), (who, *odd))
    return [
        placed(form, folder / "a", others, []),
        placed(form, folder / "b", rows, lines),
    ], bound


def placed(form, folder, rows, lines):
    """What :func:`dpviz.load` takes for these rows, and lines that are no record."""
    if form in ("pandas", "objects", "polars", "geopandas"):
        return framed(form, rows)
    inside = folder / "rides"
    inside.mkdir(parents=True)
    if form in ("duckdb", "folder"):
        pq.write_table(typed(rows, "words"), inside / "a.parquet")
    else:
        write(form, inside / f"a.{form}", rows, lines)
        return inside / f"a.{form}"
    if form == "folder":
        return inside
    return database(folder / "a.duckdb", rides=inside / "a.parquet")


def framed(library, rows):
    """The same as a table in memory; of objects, some are numbers and truth among texts."""
    if library == "geopandas":
        return places(rows)
    table = typed(rows)
    if library == "polars":
        return pytest.importorskip("polars").from_arrow(table)
    frame = table.to_pandas()
    if library == "objects":
        values = {"7": 7, "true": True, "": None, "0.5": 0.5}
        frame = frame.astype(object)
        frame["who"] = [values.get(who, who) for who in frame["who"]]
    return frame


def compare(form, role, seed, folder):
    """Hold two neighbours against each other: the same words, and no layer beyond its bound.

    Returns:
        Whether they were read, and how many records the unit moved.
    """
    sources, bound = neighbours(form, role, seed, folder)
    domain = ROLES[role][0]
    options = {"unit": "who", "max_per_unit": bound} if bound else {}
    options |= {"table": "rides"} if form == "duckdb" else {}
    (one, words), (two, same) = (
        outcome(lambda source=source: dpviz.load(source, domain, **options)) for source in sources
    )
    assert words == same, (form, role, seed)
    if one is None:
        return False, 0
    moved = layers_apart(one._layers.counts, two._layers.counts)
    assert moved <= (bound or 1), (form, role, seed)
    if domain.values is not None:
        sums = layers_apart(one._layers.sums, two._layers.sums)
        assert sums <= (bound or 1) * domain.values.reach, (form, role, seed)
    return True, moved
