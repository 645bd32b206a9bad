"""Whole builds, from a file to a release: one unit more moves nothing but a count.

A unit more must not change how the rows of others are typed, merged, dropped or refused. Each case
is an attack on one such step, against 200 units of others.
"""

import json

import numpy as np
import pytest

from dpviz.releases.store import read
from tests.commands import seen

MANY = range(200)
UNIT = ("--unit", "who", "--max-per-unit", "1")
BOX = ("--bounds", "0,0,1,1")
POINTS = ("build", "places.csv", *BOX, "--method", "ugrid", "--set", "cells=2", *UNIT)
LINES = ("build", "places.jsonl", *POINTS[2:], "--columns", "x,y")
HOURS = ("--period", "2024-01-01,2025-01-01", "--zone", "Europe/Berlin", "--every", "1h")
TIMED = (*POINTS, "--time", "when", *HOURS)
ROADS = (
    *("build", "trips.csv", "--graph", "nodes.csv,edges.csv"),
    *("--workload", "workload.csv", "--set", "truncation=fixed", "--set", "limit=1"),
    *("--set", "index=flat", "--set", "decomposition=edges", *UNIT),
)
NGRAMS = ("--method", "ngram", "--set", "l_top=1", "--set", "n_max=1")
PLACES = (
    "build", "places.csv", "--time", "when", *BOX, "--side", "2", *UNIT, *NGRAMS
)  # fmt: skip
SYMBOLS = ("build", "lines.txt", "--alphabet", "a,b,c", *NGRAMS)
AREAS = ("build", "places.csv", *BOX, "--areas", "areas.geojson", "--levels", "land,name", *UNIT)
NOON, SECONDS = "2024-06-01T12:00:00", "1711847700"

LONG = [f"{10**17 + each},0.3,0.3" for each in MANY]
TWINS = [f"{'0' * each}7,0.3,0.3" for each in MANY]
CLOCKS, NUMBERS = ([f"{10**17 + each},0.3,0.3,{when}" for each in MANY] for when in (NOON, SECONDS))

TRIPS = [f"p{each},t{each},a" for each in MANY]
OBJECTS = [json.dumps({"who": 10**17 + each, "x": 0.3, "y": 0.3}) for each in MANY]

PLAIN, TIME, STEPS = "who,x,y", "who,x,y,when", "who,trip,edge"
CASES = {
    "a device of 20 digits": (POINTS, PLAIN, LONG, ["9" * 20 + ",0.3,0.3"]),
    "a device that is a word": (POINTS, PLAIN, TWINS, ["zed,0.3,0.3"]),
    "500 rows": (POINTS, PLAIN, LONG, ["zed,0.3,0.3"] * 500),
    "a place that is a word": (POINTS, PLAIN, LONG, ["1,here,there"]),
    "decimal commas": (POINTS, PLAIN, LONG, ['1,"0,3","0,3"']),
    "an open quote": (POINTS, PLAIN, LONG, ['"zed,0.3,0.3']),
    "a thousand columns": (POINTS, PLAIN, LONG, ["zed,0.3,0.3," * 300]),
    "a time in words": (TIMED, TIME, NUMBERS, ["zed,0.3,0.3,noon"]),
    "a time with an offset": (TIMED, TIME, CLOCKS, [f"zed,0.3,0.3,{NOON}+14:00"]),
    "half an object": (LINES, "", OBJECTS, ['{"who": 1, "x": 0.3']),
    "a thousand brackets": (LINES, "", OBJECTS, ["[" * 1000 + "]" * 1000]),
    "the trips of others": (ROADS, STEPS, TRIPS, [f"zed,t{each},a" for each in MANY]),
    "500 trips": (ROADS, STEPS, TRIPS, [f"zed,z{each},a" for each in range(500)]),
    "an edge that is not there": (ROADS, STEPS, TRIPS, ["zed,z,nowhere"]),
    "a far future": (PLACES, TIME, NUMBERS, ["zed,0.3,0.3," + "9" * 30]),
    "no time": (PLACES, TIME, CLOCKS, ["zed,0.3,0.3,"]),
    "a symbol that is not there": (SYMBOLS, "", ["a b"] * 200, ["z"]),
    "a quarter of a million symbols": (SYMBOLS, "", ["a b"] * 200, ["a " * 250_000]),
    "two areas": (AREAS, PLAIN, LONG, ["zed,0.1,0.1", "zed,0.8,0.8"] * 50),
    "no area": (AREAS, PLAIN, LONG, ["zed,0.95,0.5", "zed,7,7"]),
}


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """Public files that the options name, in the current folder."""
    monkeypatch.setattr("dpviz.files.sandbox.CAN_FORK", False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes.csv").write_text("node,x,y\n0,0,0\n1,1,0\n2,2,0\n3,3,0\n")
    (tmp_path / "edges.csv").write_text("edge,src,dst\na,0,1\nb,1,2\nc,2,3\n")
    (tmp_path / "workload.csv").write_text("query,edge\n0,a\n1,b\n")
    features = []
    for name, low, high in (("west", 0.0, 0.5), ("east", 0.5, 0.9)):
        ring = [[low, 0.0], [high, 0.0], [high, 1.0], [low, 1.0], [low, 0.0]]
        shape = {"type": "Polygon", "coordinates": [ring]}
        properties = {"name": name, "land": "one"}
        features.append({"type": "Feature", "properties": properties, "geometry": shape})
    text = json.dumps({"type": "FeatureCollection", "features": features})
    (tmp_path / "areas.geojson").write_text(text)
    return tmp_path


@pytest.mark.parametrize("first", [False, True], ids=["last", "first"])
@pytest.mark.parametrize(("words", "head", "others", "more"), CASES.values(), ids=CASES)
def test_one_unit_more_moves_nothing_but_a_count(words, head, others, more, first, beside):
    """Both files are read, or both refused in the same words.

    A release differs by one unit, and by noise of rate 1 in at most five cells of each side: by
    more than 40 with probability under 1e-9.
    """
    results = []
    for rows in (others, [*more, *others] if first else [*others, *more]):
        path = beside / words[words.index("build") + 1]
        path.write_text("\n".join([*([head] if head else []), *rows]) + "\n")
        (beside / "out.parquet").unlink(missing_ok=True)
        code, _, error = seen(*words, "-o", "out.parquet", "--epsilon", "1", "--dataset", "files")
        results.append((code, error, *(total("out.parquet") if code == 0 else (0, 0))))
    (code, error, size, count), (_, _, _, other) = results
    assert results[1][:3] == (code, error, size)
    assert code == 0, error
    assert abs(count - other) <= 40


def total(path):
    """Rows of a release, and the count of everything in it."""
    release = read(path)
    if release.kind == "roads":
        return len(release.nodes), float(release.answers.count.sum())
    if hasattr(release, "model"):
        return len(release.model), float(np.sum(release.model.counts[0]))
    if release.kind == "areas":
        return len(release.nodes), float(release.nodes.count[0])
    return len(release.nodes), float(release.nodes.count[release.nodes.leaf].sum())
