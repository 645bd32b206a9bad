"""Worst-case neighbouring files for reading: the same but for the rows of one privacy unit more.

A unit more must not change how the rows of others are typed, merged, dropped or refused. Each case
is an attack on one such step; the files are made here and hold nobody's records.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from dpviz.files.writing import csv_text

MANY = 200
"""Units of others in a file: a merge of them all stands far above the noise of ε = 1."""

PLACE = (0.3, 0.3)
UNIT = ("--unit", "device", "--max-per-unit", "1")


@dataclass(frozen=True, eq=False)
class FileCase:
    """Two files that differ by the rows of one privacy unit, and the command that reads them.

    Attributes:
        name: what they are, in words.
        kind: of data: points, roads, sequences or areas.
        file: name of the file.
        without: its content without the unit.
        larger: and with it.
        words: options of the build.
        beside: public files that the options name as ``{name}``, by name.
    """

    name: str
    kind: str
    file: str
    without: bytes
    larger: bytes
    words: tuple[str, ...]
    beside: Mapping[str, bytes] = field(default_factory=dict)


Rows = list[list[Any]]


def _cases(
    kind: str,
    file: str,
    head: list[str],
    words: tuple[str, ...],
    beside: Mapping[str, bytes] = MappingProxyType({}),
) -> Callable[..., FileCase]:
    """Makes cases of tables: rows of others, and those of one unit more after or before them."""

    def case(
        name: str,
        others: Rows,
        more: Rows,
        first: bool = False,
        words: tuple[str, ...] = words,
    ) -> FileCase:
        rows = [*more, *others] if first else [*others, *more]
        return FileCase(name, kind, file, _csv(head, others), _csv(head, rows), words, beside)

    return case


def file_cases() -> list[FileCase]:
    """Every case, points first."""
    return [*_points(), *_roads(), *_sequences(), *_areas()]


def _points() -> Iterable[FileCase]:
    case = _cases("points", "places.csv", ["device", "x", "y"], (*POINTS, *UNIT))
    long = [[10**17 + each, *PLACE] for each in range(MANY)]
    yield case("18-digit devices, or one of 20 digits more", long, [["9" * 20, *PLACE]])
    yield case("18-digit devices, or one named zed more", long, [["zed", *PLACE]])
    yield case("18-digit devices, or one without a name more", long, [["", *PLACE]], first=True)
    twins = [[f"{'0' * each}7", *PLACE] for each in range(MANY)]
    yield case("devices 7, 07, 007 …, or one named zed more", twins, [["zed", *PLACE]])
    scales = [[f"1e{'0' * each}3", *PLACE] for each in range(MANY)]
    yield case("devices 1e3, 1e03 …, or one named zed more", scales, [["zed", *PLACE]])
    yield case("one device more, of 500 rows", long, [["zed", *PLACE]] * 500)
    yield case("one device more, whose place is a word", long, [["1", "here", "there"]])
    yield case("one device more, with decimal commas", long, [["1", "0,3", "0,3"]])
    yield case("one device more, with an empty place", long, [["1", "", ""]], first=True)
    yield case("one device more, at infinity", long, [["1", "inf", "nan"]], first=True)
    commas = [[10**17 + each, "0,3", "0,3"] for each in range(MANY)]
    yield case("decimal commas, or one device with points more", commas, [["zed", *PLACE]])
    accents = [["e\u0301" if each else "\u00e9", *PLACE] for each in range(2)]
    yield case("a device with an accent in two forms, or one more", accents, [["zed", *PLACE]])
    yield case("one device more, of a long name", long, [["z" * 300_000, *PLACE]], first=True)
    yield case("one device more, with a number without end", long, [["zed", "0." + "3" * 9000, 1]])
    yield case("one device more, with semicolons", long, [["a;b;c;d;e", *PLACE]], first=True)
    yield case("one device more, with a thousand columns", long, [["z", *PLACE] * 300], first=True)
    yield case("one device more, without its columns", long, [["zed"]], first=True)
    yield from _raw()
    yield from _attributes()
    yield from _times()
    yield from _json_lines()
    quoted = [['a "quoted", name\nof two lines', *PLACE]]
    yield case("one device more, with quotes and a line break", long, quoted, first=True)
    features = [_feature([*PLACE], device=each) for each in range(MANY)]
    odd: dict[str, dict[str, Any]] = {
        "without a geometry": {**_feature([*PLACE], device=1), "geometry": None},
        "that is a line": _feature([[0.1, 0.1], [0.2, 0.2]], "LineString", device=1),
        "whose device is a list": _feature([*PLACE], device=[1, 2]),
        "with a height": _feature([*PLACE, 12.5], device="zed"),
        "without properties": {**_feature([*PLACE], device=1), "properties": None},
        "with a place of words": _feature(["0.3", "here"], device="zed"),
        "with a number of 5,000 digits": _feature([*PLACE], device="DIGITS"),
        "at infinity": _feature([math.inf, math.nan], device="zed"),
        "with an empty place": _feature([], device="zed"),
        "nested a thousand deep": _feature([*PLACE], device="DEEP"),
        "that is a list": [1, 2],  # type: ignore[dict-item]
        "that is nothing": None,  # type: ignore[dict-item]
    }
    for what, feature in odd.items():
        texts = _geojson(features), _geojson([feature, *features])
        words = (*POINTS, *UNIT)
        yield FileCase(f"one feature more, {what}", "points", "places.geojson", *texts, words)


def _raw() -> Iterable[FileCase]:
    """Lines that no writer of CSV makes."""
    line = b"%d,0.3,0.3\n"
    others = b"".join(line % (10**17 + each) for each in range(MANY))
    for what, more in {
        "bytes that are no text": b"\xff\xfe\x80,0.3,0.3\n",
        "a null byte": b"z\x00d,0.3,0.3\n",
        "a quote that stays open": b'"zed,0.3,0.3\n',
        "a quote inside a word": b'ze"d,0.3,0.3\n',
        "nothing": b"\n",
        "a carriage return": b"zed,0.3,0.3\r",
        "a mark of byte order": b"\xef\xbb\xbfzed,0.3,0.3\n",
    }.items():
        texts = b"device,x,y\n" + others, b"device,x,y\n" + more + others
        words = (*POINTS, *UNIT)
        yield FileCase(f"one line more, of {what}", "points", "places.csv", *texts, words)


def _attributes() -> Iterable[FileCase]:
    """Kinds and values: one unit more must not change how those of others are read."""
    head = ["device", "x", "y", "mode", "fare"]
    others: Rows = [[10**17 + each, *PLACE, "bike", 7.5] for each in range(MANY)]
    kinds = (*POINTS, *UNIT, "--kind", "mode", "--kinds", "bike,other")
    sums = (*POINTS, *UNIT, "--sum", "fare", "--clip", "0,20")
    case = _cases("points", "places.csv", head, sums)
    for what, mode in {
        "of a kind that is not listed": "zed",
        "without a kind": "",
        "whose kind is a number": 7,
        "whose kind has a space before it": " bike",
        "of a kind of 300,000 letters": "z" * 300_000,
    }.items():
        for words in (kinds, (*kinds[:-1], "bike")):
            name = f"one device more, {what}, where {words[-1]} are listed"
            yield case(name, others, [["zed", *PLACE, mode, 1]], True, words)
    for what, fare in {
        "whose value is a word": "many",
        "without a value": "",
        "whose value is infinite": "-inf",
        "whose value is far beyond the clip": "1e300",
        "with a decimal comma in its value": "7,5",
    }.items():
        yield case(f"one device more, {what}", others, [["zed", *PLACE, "bike", fare]], first=True)


def _times() -> Iterable[FileCase]:
    """The axis of time, in a zone and as a cycle: odd timestamps of one more, typed by nobody."""
    head = ["device", "x", "y", "when"]
    case = _cases("points", "places.csv", head, ())
    year = ("--period", "2024-01-01,2025-01-01", "--zone", "Europe/Berlin", "--every", "1h")
    clocks, seconds = "2024-03-31T03:15:00", "1711847700"
    others: dict[str, Rows] = {
        name: [[10**17 + each, *PLACE, when] for each in range(MANY)]
        for name, when in (("clock", clocks), ("number", seconds), ("zoned", clocks + "Z"))
    }
    odd: tuple[tuple[str, str, str], ...] = (
        ("in the doubled hour", "2024-10-27T02:30:00", "clock"),
        ("with an offset", clocks + "+14:00", "clock"),
        ("without an offset", clocks, "zoned"),
        ("in seconds", seconds, "clock"),
        ("as a date", "2024-03-31", "number"),
        ("in words", "noon", "number"),
        ("in the year 10000", "10000-01-01T00:00:00", "zoned"),
        ("of 9,000 digits", "9" * 9_000, "number"),
    )
    for at, (what, when, name) in enumerate(odd):
        words, axis = ((*year, "--cycle", "week"), "week") if at % 2 else (year, "year")
        more = f"one device more, its time {what} beside a {name}, in a {axis}"
        options = (*POINTS, *UNIT, "--time", "when", *words)
        yield case(more, others[name], [["zed", *PLACE, when]], True, options)


def _json_lines() -> Iterable[FileCase]:
    line = b'{"device": %d, "x": 0.3, "y": 0.3}\n'
    others = b"".join(line % (10**17 + each) for each in range(MANY))
    for what, more in {
        "a device that is a word": b'{"device": "zed", "x": 0.3, "y": 0.3}\n',
        "a number of 5,000 digits": b'{"device": ' + b"9" * 5000 + b', "x": 0.3, "y": 0.3}\n',
        "a place that is a word": b'{"device": 1, "x": "here", "y": 0.3}\n',
        "a list": b"[1, 2, 3]\n",
        "half an object": b'{"device": 1, "x": 0.3\n',
        "other columns": b'{"name": "zed", "lon": 0.3}\n',
        "a thousand brackets": b"[" * 1000 + b"]" * 1000 + b"\n",
        "bytes that are no text": b"\xff\xfe\x80\n",
    }.items():
        name, words = f"one record more, of {what}", (*POINTS, "--x", "x", "--y", "y", *UNIT)
        yield FileCase(name, "points", "places.jsonl", others, others + more, words)
        yield FileCase(f"{name}, first", "points", "places.jsonl", others, more + others, words)


def _feature(coordinates: list[Any], kind: str = "Point", **properties: Any) -> dict[str, Any]:
    return {
        "type": "Feature",
        "properties": properties,
        "geometry": {"type": kind, "coordinates": coordinates},
    }


POINTS = ("--bounds", "0,0,1,1", "--method", "ugrid", "--set", "cells=2")


NODES = b"node,x,y\n0,0,0\n1,1,0\n2,2,0\n3,3,0\n"
EDGES = b"edge,src,dst\na,0,1\nb,1,2\nc,2,3\n"
WORKLOAD = b"query,edge\n0,a\n1,b\n"
ROADS = (
    *("--graph", "{nodes.csv},{edges.csv}", "--workload", "{workload.csv}"),
    *("--set", "truncation=fixed", "--set", "limit=1", "--set", "index=flat"),
    *("--set", "decomposition=edges", "--unit", "person", "--max-per-unit", "1"),
)


def _roads() -> Iterable[FileCase]:
    head = ["person", "trip", "edge"]
    beside = {"nodes.csv": NODES, "edges.csv": EDGES, "workload.csv": WORKLOAD}

    case = _cases("roads", "trips.csv", head, ROADS, beside)
    shared: Rows = [[f"p{each}", f"t{each}", "a"] for each in range(MANY)]
    thief: Rows = [["thief", f"t{each}", "a"] for each in range(MANY)]
    name = "a trip of each person, or one person more who uses all their trip ids"
    yield case(name, shared, thief, first=True)
    yield case(f"{name}, last", shared, thief)
    long: Rows = [[10**17 + each, each, "a"] for each in range(MANY)]
    yield case("18-digit persons, or one of 20 digits more", long, [["9" * 20, MANY, "a"]])
    twins: Rows = [["everyone", "0" * each + "7", "a"] for each in range(MANY)]
    yield case("one person with trips 7, 07 …, or zed's trip more", twins, [["zed", "zed", "a"]])
    people: Rows = [["0" * each + "7", each, "a"] for each in range(MANY)]
    yield case("persons 7, 07, 007 …, or one named zed more", people, [["zed", MANY, "a"]])
    yield case("one person more, on a street that is not there", shared, [["zed", "z", "nowhere"]])
    yield case("one person more, without a street", shared, [["zed", "z", ""]], first=True)
    yield case("one person more, without a trip", shared, [["zed", "", "a"]], first=True)
    yield case("one person more, of 500 trips", shared, [["zed", f"z{i}", "a"] for i in range(500)])
    yield from _roads_in_time(beside)


def _roads_in_time(beside: Mapping[str, bytes]) -> Iterable[FileCase]:
    """Trips by the hour of the week: odd times of one person more, typed by nobody."""
    head = ["person", "trip", "edge", "start"]
    axis = ("--time", "start", "--period", "2024-01-01,2025-01-01", "--zone", "Europe/Berlin")
    words = (*ROADS, *axis, "--cycle", "week", "--every", "1d")
    case = _cases("roads", "trips.csv", head, words, beside)
    clocks, seconds = "2024-03-31T03:15:00", "1711847700"
    for what, when, usual in (
        ("without a time", "", clocks),
        ("whose time is a word", "noon", seconds),
        ("whose time is in seconds", seconds, clocks),
        ("with an offset", clocks + "+14:00", clocks),
        ("in the hour that is not there", "2024-03-31T02:30:00", clocks),
        ("of 9,000 digits", "9" * 9_000, seconds),
        ("outside the period", "1970-01-01", clocks),
    ):
        others: Rows = [[f"p{each}", f"t{each}", "a", usual] for each in range(MANY)]
        # A trip a day: the bound holds over all steps together.
        more: Rows = [["zed", "z", "a", when]]
        more += [["zed", f"z{day}", "a", f"2024-04-{day:02}"] for day in range(1, 8)]
        name = f"one person more, a trip {what} and one on each day of a week"
        yield case(name, others, more, first=True)


PLACES = (
    *("--time", "time", "--bounds", "0,0,1,1", "--side", "2", "--unit", "person"),
    *("--max-per-unit", "1", "--method", "ngram", "--set", "l_top=1", "--set", "n_max=1"),
)
SYMBOLS = ("--alphabet", "a,b,c", "--method", "ngram", "--set", "l_top=1", "--set", "n_max=1")


def _sequences() -> Iterable[FileCase]:
    head = ["person", "x", "y", "time"]
    noon = "2020-01-01T12:00:00"

    case = _cases("sequences", "places.csv", head, PLACES)
    people: Rows = [[f"p{each}", *PLACE, noon] for each in range(MANY)]
    long: Rows = [[10**17 + each, *PLACE, noon] for each in range(MANY)]
    yield case("18-digit persons, or one of 20 digits more", long, [["9" * 20, *PLACE, noon]])
    twins: Rows = [["0" * each + "7", *PLACE, noon] for each in range(MANY)]
    yield case("persons 7, 07, 007 …, or one named zed more", twins, [["zed", *PLACE, noon]])
    yield case("one person more, whose time is a word", people, [["zed", *PLACE, "noon"]])
    clocks: Rows = [[f"p{each}", *PLACE, 1577880000 + each] for each in range(MANY)]
    yield case("seconds, or one person with a date more", clocks, [["zed", *PLACE, noon]])
    yield case("seconds, or one person with a word more", clocks, [["zed", *PLACE, "noon"]])
    yield case("seconds, or one in the far future more", clocks, [["zed", *PLACE, "9" * 30]])
    zone = noon + "+05:00"
    yield case("one person more, with a time zone", people, [["zed", *PLACE, zone]], first=True)
    days: Rows = [[f"p{each}", *PLACE, "01/02/2020 10:00"] for each in range(MANY)]
    yield case("one person more, with the day first", days, [["zed", *PLACE, "13/02/2020 10:00"]])
    yield case("one person more, whose time is a number", people, [["zed", *PLACE, "1577880000"]])
    yield case("one person more, without a time", people, [["zed", *PLACE, ""]], first=True)
    yield case(
        "one person more, outside", people, [["zed", 7, 7, noon]], True, (*PLACES, "--steps")
    )
    texts = b"a b\n" * MANY
    for what, line in {
        "a symbol that is not there": b"z\n",
        "nothing but separators": b" , ;\n",
        "a quarter of a million symbols": b"a " * 250_000 + b"\n",
        "bytes that are no text": b"\xff\xfe\x00\n",
    }.items():
        name = f"one line more, of {what}"
        yield FileCase(name, "sequences", "lines.txt", texts, texts + line, SYMBOLS)
        yield FileCase(f"{name}, first", "sequences", "lines.txt", texts, line + texts, SYMBOLS)


def _areas() -> Iterable[FileCase]:
    """Two districts that leave a part of the box to nobody, and one person more."""
    sides = {"west": [0.0, 0.5], "east": [0.5, 0.9]}
    features = []
    for name, (low, high) in sides.items():
        ring = [[low, 0.0], [high, 0.0], [high, 1.0], [low, 1.0], [low, 0.0]]
        features.append(_feature([ring], "Polygon", name=name, land="one"))
    areas = ("--areas", "{areas.geojson}", "--levels", "land,name")
    words = ("--bounds", "0,0,1,1", *areas, *UNIT)
    beside = {"areas.geojson": _geojson(features)}
    case = _cases("areas", "places.csv", ["device", "x", "y"], words, beside)
    others = [[10**17 + each, *PLACE] for each in range(MANY)]
    units: dict[str, Rows] = {
        "on the border of two areas": [["zed", 0.5, 0.5]] * 3,
        "in no area": [["zed", 0.95, 0.5], ["zed", 7, 7]],
        "in both areas": [["zed", 0.1, 0.1], ["zed", 0.8, 0.8]] * 50,
        "whose place is a word": [["1", "here", "there"]],
    }
    for what, more in units.items():
        yield case(f"one device more, {what}", others, more, first=True)


def _csv(head: list[str], rows: Rows) -> bytes:
    return csv_text(head, rows).encode()


def _geojson(features: list[dict[str, Any]]) -> bytes:
    text = json.dumps({"type": "FeatureCollection", "features": features})
    for word, raw in {"DIGITS": "9" * 5000, "DEEP": "[" * 1000 + "]" * 1000}.items():
        text = text.replace(f'"{word}"', raw)  # what the module itself does not write
    return text.encode()
