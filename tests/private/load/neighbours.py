"""Files that differ in the rows of one unit, which hold whatever cells hold, and how far apart the
exact indexes of all layers are: of counts and of sums, by kind.
"""

import random

import pyarrow.parquet as pq

import dpviz
from tests.private.load.stability import (
    BOX,
    CELLS,
    IDS,
    TIMES,
    WEEK,
    YEAR,
    database,
    layers_apart,
    outcome,
    typed,
    write,
)

FORMATS = (
    "csv", "tsv", "jsonl", "json", "geojson", "parquet", "geoparquet", "gpkg",
    "xlsx", "duckdb", "folder",
)  # fmt: skip

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
    """A cell, odd or not; in a workbook without what its markup cannot hold."""
    text = draw.choice((*ODD, *IDS, *CELLS, *TIMES))
    if draw.random() < 0.3:
        place = draw.randrange(len(text) + 1)
        text = text[:place] + draw.choice("0123456789eE+-.,:TZ\"'\t\x7fé\u0301") + text[place:]
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
    rows = list(others)
    for _ in range(1 if bound is None else draw.randint(1, 6)):
        who = cell(draw, form) if bound is None else UNIT
        odd = [cell(draw, form) if draw.random() < 0.5 else "0.5" for _ in "xy"]
        rows.insert(draw.randrange(len(rows) + 1), (who, *odd))
    return [placed(form, folder / name, each) for name, each in (("a", others), ("b", rows))], bound


def placed(form, folder, rows):
    """What :func:`dpviz.load` takes for these rows."""
    inside = folder / "rides"
    inside.mkdir(parents=True)
    if form in ("duckdb", "folder"):
        pq.write_table(typed(rows, "words"), inside / "a.parquet")
    else:
        write(form, inside / f"a.{form}", rows)
        return inside / f"a.{form}"
    if form == "folder":
        return inside
    return database(folder / "a.duckdb", rides=inside / "a.parquet")


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
