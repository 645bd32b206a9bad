"""Planted secrets of sensitive files: no command prints, logs, keeps or ships any of them.

Each kind of data goes through its commands, those that work and those that fail: names of persons
and of records, streets and symbols that the public graph or alphabet lacks, exact places and
moments are looked for in all that is said and written, compressed or not.
"""

import base64
import gzip
import json
import logging
import re

import pyarrow.parquet as pq
import pytest

from tests.commands import seen

pytestmark = pytest.mark.slow

PERSON, RECORD = "Planted-Lovelace", "planted-walk-271828"
STREET, SYMBOL = "planted-lane-161803", "planted-symptom-314159"
LONELY = (14.0312345678, 23.9712345678)
MOMENT = 1_551_766_027
COORDINATES = [word for value in LONELY for word in (f"{value:.5f}", f"{value:.6f}"[:-1])]
SECRETS = [PERSON, RECORD, STREET, SYMBOL, *COORDINATES, str(MOMENT)]
BOX = "--bounds=14,23,15,24"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Public files, and sensitive ones with the secrets and enough of others; a ledger beside."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVIZ_LEDGER", str(tmp_path / "ledger.sqlite"))
    others = [
        (f"p{row // 3}", 14.5 + row / 997, 23.1 + row / 499, 3_600 * row) for row in range(90)
    ]
    places = [(PERSON, *LONELY, MOMENT), (PERSON, 77.7, SYMBOL, MOMENT), *others]
    walks = [(f"p{row}", "1", street) for row in range(40) for street in ("a1", "b2")]
    walks += [(PERSON, RECORD, "a1"), (PERSON, RECORD, "b2"), (PERSON, "2", STREET)]
    tables = {
        "places.csv": [("who", "lon", "lat", "when"), *places],
        "walks.csv": [("who", "trip", "edge"), *walks],
        "visits.csv": [("who", "sequence", "symbol"), *walks, (PERSON, RECORD, SYMBOL)],
        "nodes.csv": [("node", "x", "y"), ("n1", 0, 0), ("n2", 1, 0), ("n3", 2, 0)],
        "around.csv": [("node", "x", "y"), ("n1", 14, 23.5), ("n2", 14.5, 23.9), ("n3", 15, 23.5)],
        "edges.csv": [("edge", "src", "dst"), ("a1", "n1", "n2"), ("b2", "n2", "n3")],
    }
    for name, rows in tables.items():
        text = "".join(",".join(map(str, row)) + "\n" for row in rows)
        (tmp_path / name).write_text(text)
    (tmp_path / "open.csv").write_text(f'who,lon,lat,when\n"{PERSON},{LONELY[0]},')
    (tmp_path / "torn.parquet").write_bytes(b"PAR1" + PERSON.encode() * 9 + b"PAR1")
    return tmp_path


UNIT = ("--unit", "who", "--max-per-unit", "2")
PLACES = ("build", "places.csv", BOX)
GRAPH = ("--graph", "nodes.csv,edges.csv", "--crs", "none")
AROUND = ("--graph", "around.csv,edges.csv", "--crs", "EPSG:4326")
ROADS = ("build", "walks.csv", *GRAPH, "--workload", "clustered:1")
EVENTS = ("build", "places.csv", *AROUND, "--workload", "clustered:1")
SYMBOLS = ("build", "visits.csv", "--alphabet", "a1,b2")
MOVES = ("build", "places.csv", BOX, "--time", "when")
DAILY = ("series", "update", "daily", "places.csv", BOX, "--areas", "rect=14,23,15,24", *UNIT)
DAILY += ("--time", "when", "--time-format", "seconds", "--start", "1970-01-01")
DAILY += ("--dataset", "days", "--until", "1970-01-04")
BAD = ("-o", "bad.parquet")

COMMANDS = {
    "points": [
        (0, *PLACES, *UNIT, "-o", "r.parquet"),
        (2, *DAILY),
        (0, "ledger", "calendar", "days", "--unit", "day", "--zone", "UTC"),
        (0, *DAILY, "--json"),
        (0, "series", "table", "daily"),
        (0, "check", "places.csv", BOX, *UNIT),
        (0, "info", "r.parquet", "--json"),
        (0, "query", "r.parquet", "--rect", "14,23,14.1,24", "--json"),
        (0, "export", "r.parquet", "-o", "r.geojson"),
        (0, "sample", "r.parquet", "-n", "50", "-o", "drawn.csv"),
        (0, "share", "r.parquet", "-o", "map.html"),
        (2, *PLACES, "--columns", "lon,nothing", *BAD),
        (2, *PLACES, "--unit", "nothing", *BAD),
        (2, *PLACES, "--public", "--declare-public", "--unit", "nothing", *BAD),
        (2, "build", "torn.parquet", BOX, *BAD),
        (2, "query", "places.csv", "--rect", "14,23,14.1,24"),
        (0, "build", "open.csv", BOX, "-o", "empty.parquet"),
    ],
    "roads": [
        (0, *ROADS, *UNIT, "-o", "r.parquet"),
        (0, "check", "walks.csv", *GRAPH, *UNIT),
        (0, "info", "r.parquet", "--json"),
        (0, "query", "r.parquet", "--path", "a1,b2", "--json"),
        (0, "export", "r.parquet", "-o", "r.csv"),
        (2, "query", "r.parquet", "--path", "none"),
        (2, "query", "r.parquet", "--rect", "0,0,1,1"),
        (0, "share", "r.parquet", "-o", "map.html"),
        (2, *ROADS, "--unit", "nothing", *BAD),
        (2, "build", "torn.parquet", *GRAPH, "--workload", "clustered:1", *BAD),
        (0, *EVENTS, "-o", "e.parquet"),
        (0, "check", "places.csv", *AROUND, *UNIT),
        (2, *EVENTS, "--columns", "lon,nothing", *BAD),
    ],
    "sequences": [
        (0, *SYMBOLS, *UNIT, "-o", "r.parquet"),
        (0, *SYMBOLS, *UNIT, "--drop-unknown", "-o", "dropped.parquet"),
        (0, "check", "visits.csv", "--alphabet", "a1,b2", *UNIT),
        (0, *MOVES, "--side", "8", *UNIT, "-o", "moves.parquet"),
        (0, "check", "places.csv", BOX, "--time", "when", "--side", "8", *UNIT),
        (0, "info", "r.parquet", "--json"),
        (0, "topk", "r.parquet", "-k", "5", "--json"),
        (0, "next", "r.parquet", "--context", "a1"),
        (0, "sample", "r.parquet", "-n", "50", "-o", "drawn.txt"),
        (2, "query", "r.parquet", "--string", "nothing"),
        (0, "share", "r.parquet", "-o", "map.html"),
        (2, *SYMBOLS, "--column", "nothing", *BAD),
        (2, *SYMBOLS, "--public", "--unit", "who", *BAD),
        (2, "build", "torn.parquet", "--alphabet", "a1,b2", *BAD),
    ],
}


def unpacked(path):
    """All that a file holds, as text: its bytes, and what they hold when they are decompressed."""
    raw = path.read_bytes()
    yield raw.decode("latin-1")
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        yield json.dumps([str(each) for each in (table.schema.metadata or {}).items()])
        for name in table.column_names:
            yield repr(table[name].to_pylist())
    for block in re.findall(rb">([A-Za-z0-9+/=\s]{200,})<", raw):
        inner = base64.b64decode(block)
        yield (gzip.decompress(inner) if inner[:2] == b"\x1f\x8b" else inner).decode("latin-1")


def leaks(texts):
    return {secret for text in texts for secret in SECRETS if secret in text}


@pytest.mark.parametrize("kind", COMMANDS)
def test_no_command_lets_a_secret_out(files, kind, caplog):
    sensitive = {*files.iterdir()}
    raw = [path.read_bytes().decode("latin-1") for path in sensitive]
    assert leaks(raw) >= {PERSON, RECORD, STREET, SYMBOL, str(MOMENT)}
    with caplog.at_level(logging.DEBUG):
        for expected, *words in COMMANDS[kind]:
            code, *said = seen(*words)
            assert code == expected, (words, said)
            assert leaks(said) == set(), words
            assert "Traceback" not in "".join(said), words
    assert leaks([caplog.text]) == set()
    written = {path for path in files.rglob("*.*") if path not in sensitive}
    assert files / "r.parquet" in written
    assert files / "bad.parquet" not in written
    if kind == "points":  # the map's columns are compressed: search inside
        assert len(list(unpacked(files / "map.html"))) > 1
    for path in written:
        assert leaks(unpacked(path)) == set(), path.name
