"""Commands that query a release of any kind: query and timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dpviz
from dpviz.cli.attributes import (
    area_sum_rows,
    attribute_lines,
    attribute_rows,
    cut_words,
    region_rows,
    sum_rows,
    sum_words,
)
from dpviz.cli.groups import flag, given, grouped, option, require_applicable
from dpviz.cli.rectangles import rectangles
from dpviz.cli.root import (
    COUNT,
    Json,
    ReleaseFile,
    answer_rows,
    app,
    as_rows,
    emit,
    escaped_line,
    numbers,
    print_stderr,
    step_rows,
)
from dpviz.errors import ParameterError
from dpviz.lists import join_list, split_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpviz.releases.answers import RangeAnswers
    from dpviz.releases.counts import AreaRelease, PointRelease, RoadRelease
    from dpviz.releases.flows.release import FlowRelease
    from dpviz.releases.sequences.release import SequenceRelease
    from dpviz.roads.graph import Int, RoadGraph

RANGE = (*COUNT, "uniformity_sd", "nodes")
"""Printed fields of the answer to a range query."""

PATH = (*COUNT, "nodes")
"""Printed fields of the answer to a path query."""

Answers = tuple[str, list[dict[str, Any]], list[str]]
"""Printed answers: the key of JSON, its rows, and lines of text."""

SIZES = {"subdomains": "sub-domains", "nodes": "nodes"}
INSIDE = "of it in the area of the release"

QUESTIONS_OF = {
    "points": "rect rects regions name period less kind every",
    "areas": "rect area areas rects period kind",
    "flows": "from_ to period kind",
    "roads": "path between period",
    "sequences": "string",
}
"""The questions that a release of each kind answers."""


@dataclass(frozen=True, kw_only=True)
class Period:
    """Options for a part of a release's time, and for one of its kinds."""

    period: str | None = option(
        "Part of the period, A,B in ISO 8601 in the release's zone, or Mon 08:00,Fri 18:00 in"
        " a cycle; for trips, the steps that begin in it (default: all of it)."
    )
    kind: str | None = option("Kind (category) to count (default: all together).")


@dataclass(frozen=True, kw_only=True)
class Question:
    """Options that state the queries to a release."""

    rect: list[str] | None = option(
        "Rectangle: all lower, then all upper limits (2-D: W,S,E,N); repeatable."
    )
    rects: str | None = option(
        "CSV file of rectangles with the columns west, south, east, north, or COLUMN_min and "
        "COLUMN_max."
    )
    regions: str | None = option("File of polygons, such as districts (2-D).")
    name: str | None = option("Column of the --regions file that names its polygons.")
    less: str | None = option("Another period, whose counts are subtracted from those of --period.")
    area: list[str] | None = option("Name of an area of a release of areas; repeatable.")
    areas: bool = option("Answer every area of a release of areas, finest last.", default=False)
    from_: str | None = option("Area of origin of a release of flows (default: all areas).")
    to: str | None = option("Area of destination of a release of flows (default: all areas).")
    path: list[str] | None = option(
        "Path of a release of trips: edge ids in order, separated by commas; repeatable."
    )
    between: list[str] | None = option(
        "Two node ids A,B of a release of trips, for the shortest path between them; repeatable."
    )
    string: list[str] | None = option(
        "String of a release of sequences: symbols in order, separated by commas; repeatable."
    )


@app.command()
@grouped
def query(release: ReleaseFile, question: Question, part: Period, as_json: Json = False) -> None:
    """Answer queries from a release, with 95 % intervals.

    Points: rectangles and regions. Areas: areas, or rectangles. Flows: pairs of areas. Trips:
    paths. Sequences: strings of symbols.
    """
    if question.name is not None and question.regions is None:
        raise ParameterError("--name requires --regions: give both, or leave it out")
    if question.less is not None and part.period is None:
        raise ParameterError("--less requires --period: give both, or neither")
    opened = dpviz.read(release)
    require_applicable(opened.kind, given(question, part), QUESTIONS_OF)
    if not given(question):
        options = ", ".join(map(flag, QUESTIONS_OF[opened.kind].split()[:3]))
        raise ParameterError(f"nothing to answer: give one of {options}")
    if opened.kind == "sequences":
        answers = _strings(opened, question.string or [])
    elif opened.kind == "roads":
        answers = _paths(opened, question, part.period)
    elif opened.kind == "flows":
        answers = _flows(_one_kind(opened, part.kind), question, part.period)
    elif opened.kind == "areas":
        answers = _areas(_one_kind(opened, part.kind), question, part.period)
    else:
        if question.regions and opened.domain.values is not None and not as_json:
            print_stderr("note: sums and means are of rectangles; regions have counts alone")
        answers = _points(_one_kind(opened, part.kind), question, part.period)
    _emit(opened, answers, as_json)


@app.command()
@grouped
def timeline(
    release: ReleaseFile,
    part: Period,
    rect: str | None = option("Rectangle W,S,E,N, for points (default: the whole domain)."),
    every: str | None = option(
        "Time step, for points: 15min, 1h, 1d, 1w or 1mo (default: chosen from the period)."
    ),
    path: str | None = option("Path, for trips: edge ids in order, separated by commas."),
    between: str | None = option("Two node ids A,B, for trips: the shortest path between them."),
    area: str | None = option("Name of an area, for areas (default: all of them)."),
    from_: str | None = option("Area of origin, for flows (default: all of them)."),
    to: str | None = option("Area of destination, for flows (default: all of them)."),
    as_json: Json = False,
) -> None:
    """List the counts of each time step, with 95 % intervals."""
    beside = {"rect": rect, "every": every, "path": path, "between": between, "area": area}
    beside |= {"from_": from_, "to": to}
    asked = {name: value for name, value in beside.items() if value is not None}
    opened = dpviz.read(release)
    if opened.kind not in ("points", "roads", "areas", "flows"):
        raise ParameterError(f"a release of {opened.kind} has no time axis: use 'dpviz query'")
    require_applicable(opened.kind, given(part) | asked, QUESTIONS_OF)
    answers: Any
    if opened.kind == "points":
        box = None if rect is None else numbers(rect, "--rect")
        answers = _one_kind(opened, part.kind).timeline(box, every, part.period)
        rows = step_rows(answers, opened.domain.calendar.text, RANGE)
    elif opened.steps is None:
        raise ParameterError("this release has no time axis: use 'dpviz query'")
    elif opened.kind == "flows":
        answers = _one_kind(opened, part.kind).timeline((from_, to), period=part.period)
        rows = step_rows(answers, opened.steps.calendar.text, RANGE)
    elif opened.kind == "areas":
        if rect is not None and area is not None:
            raise ParameterError("--rect and --area exclude each other: give one")
        chosen = _one_kind(opened, part.kind)
        box = None if rect is None else numbers(rect, "--rect")
        if area is None:
            answers = chosen.timeline(box, period=part.period)
        else:
            answers = chosen.timeline_of(area, part.period)
        rows = step_rows(answers, opened.steps.calendar.text, RANGE)
    else:
        each = [[] if one is None else [one] for one in (path, between)]
        paths = _paths_from_options(opened.frame.graph, *each)
        if len(paths) > 1:
            raise ParameterError("--path and --between exclude each other: give one")
        answers = opened.timeline(paths[0], part.period)
        rows = step_rows(answers, opened.steps.calendar.text, COUNT)
    lines = [
        f"{row['start']} to {row['end']}: {_interval(row, opened.kind)}" + cut_words(row)
        for row in rows
    ]
    _emit(opened, ("timeline", rows, lines), as_json)


def _emit(release: Any, answers: Answers, as_json: bool) -> None:
    """Print answers, the errors of trips that no interval includes, and the guarantee."""
    name, rows, lines = answers
    facts: dict[str, Any] = {name: rows}
    if release.kind == "roads":
        from dpviz.releases.roads.beyond_noise import beyond_noise

        facts["in_no_interval"] = beyond_noise(release)
        lines = [*lines, *(f"In no interval: {each}" for each in facts["in_no_interval"])]
    if persons := release.header.persons:
        facts["counts"], lines = "persons", [*lines, persons]
    emit(facts, as_json, "\n".join([*lines, release.header.guarantee]))


def _points(opened: PointRelease, question: Question, period: str | None) -> Answers:
    """Answers for rectangles or regions from a release of points."""
    if question.regions is not None:
        if question.rect or question.rects is not None:
            raise ParameterError("--regions and rectangles exclude each other: give one")
        if period is not None:
            raise ParameterError("--period is for rectangles, not for --regions: leave it out")
        return _regions(opened, question.regions, question.name)
    domain = opened.domain
    either = [domain.without_time] if period is not None else [domain, domain.without_time]
    asked = _rectangles_from_options(question, *dict.fromkeys(each.columns for each in either))
    if question.less is not None:
        return _rectangles(opened, asked, opened.difference(asked, period, question.less))
    beside = attribute_rows(opened, asked, period)
    return _rectangles(opened, asked, opened.count(asked, period), beside)


def _areas(opened: AreaRelease, question: Question, period: str | None) -> Answers:
    """Answers for areas or rectangles, from a release of areas."""
    from dpviz.releases.areas.table import row_named

    if period is not None:
        opened = opened.during(period)
    named, boxes = question.area, question.rect or question.rects
    if sum(map(bool, (named, boxes, question.areas))) > 1:
        raise ParameterError("--area, --areas and rectangles exclude each other: give one")
    if not (named or question.areas):
        asked = _rectangles_from_options(question, opened.domain.columns)
        return _rectangles(opened, asked, opened.count(asked), sum_rows(opened, asked))
    areas, answers = opened.frame, opened.answers
    columns = {"level": areas.level_of.tolist(), "name": areas.names, "parent": areas.parent_names}
    counts = {name: getattr(answers, name).tolist() for name in ("count", "low", "high")}
    sums = area_sum_rows(opened)
    rows = [row | more for row, more in zip(as_rows(columns | counts), sums, strict=True)]
    rows = [rows[row_named(areas, each)] for each in named] if named else rows
    lines = [
        f"{escaped_line(row['level'])} {escaped_line(row['name'])}: {_interval(row)}"
        + "".join(f"; {words}" for words in sum_words(row))
        + ("" if row["parent"] is None else f"  in {escaped_line(row['parent'])}")
        for row in rows
    ]
    return "areas", rows, lines


def _flows(opened: FlowRelease, question: Question, period: str | None) -> Answers:
    """The count from one area to another, from a release of flows."""
    ends = (question.from_, question.to)
    answers = opened.count([ends], period)
    rows = [{"from": ends[0], "to": ends[1], **row} for row in answer_rows(answers, RANGE)]
    words = [escaped_line(name or "all areas") for name in ends]
    cut = cut_words(rows[0], "pairs")
    return "answers", rows, [f"{words[0]} to {words[1]}: {_interval(rows[0])}{cut}"]


def _paths(opened: RoadRelease, question: Question, period: str | None) -> Answers:
    """Answers for paths from a release of trips."""
    streets = opened.frame
    asked = _paths_from_options(streets.graph, question.path or [], question.between or [])
    paths = dpviz.Paths.of(asked)
    answers, subdomains = opened.count(paths, period), streets.subdomains(paths).tolist()
    rows = [
        {"path": streets.graph.edge_id[edges].tolist()}
        | {**row, "edges": len(edges), "subdomains": many}
        for edges, row, many in zip(asked, answer_rows(answers, PATH), subdomains, strict=True)
    ]
    return "answers", rows, [f"{row['edges']} edges: {_interval(row, 'roads')}" for row in rows]


def _strings(opened: SequenceRelease, texts: list[str]) -> Answers:
    """Estimated occurrences of strings, from a release of sequences."""
    strings = [split_list(text, "--string") for text in texts]
    counts = opened.count(strings).count.tolist()
    rows = as_rows({"string": map(list, strings), "count": counts})
    lines = [f"{escaped_line(join_list(row['string']))}: {row['count']:,.1f}" for row in rows]
    return "answers", rows, lines


def _paths_from_options(graph: RoadGraph, path: list[str], between: list[str]) -> list[Int]:
    """Edge rows of the paths given by options."""
    from dpviz.roads.paths import paths_from_ids
    from dpviz.roads.routing import shortest_path

    named = paths_from_ids(graph, [split_list(each, "--path") for each in path], "path")
    asked = [named[row] for row in range(len(named))]
    for each in between:
        ends = split_list(each, "--between")
        if len(ends) != 2:
            raise ParameterError(f"--between {each!r}: give two node ids, separated by a comma")
        asked.append(shortest_path(graph, *ends))
    if not asked:
        raise ParameterError("nothing to answer: give --path or --between")
    return asked


def _rectangles_from_options(question: Question, *axes: Sequence[str]) -> list[list[float]]:
    """Rectangles from options and a CSV file: a lower and an upper limit per column.

    ``*axes``: columns; with time also those of places alone, where all rectangles are of them.
    """
    asked = [numbers(text, "--rect") for text in question.rect or []]
    sizes = {len(each) for each in asked}
    meant = [each for each in axes if sizes <= {2 * len(each)}] or list(axes[:1])
    if question.rects is not None:
        asked = [*asked, *rectangles(question.rects, *meant)]
    if not asked:
        raise ParameterError("nothing to answer: give --rect, --rects, --regions or --area")
    sizes = {len(each) for each in asked}
    if all(sizes != {2 * len(each)} for each in meant):
        width = 2 * len(meant[0])
        raise ParameterError(
            f"--rect: a rectangle of {max(sizes - {width})} numbers: give {width}, all lower "
            "limits, then all upper limits"
        )
    return asked


def _interval(row: dict[str, Any], kind: str = "points") -> str:
    """A count with its interval in words, and the number of nodes or sub-domains used."""
    sizes = [f"{name}: {row[key]}" for key, name in SIZES.items() if key in row]
    added = f"; {', '.join(sizes)}" if sizes and "start" not in row else ""
    count = f"{row['count']:,.{0 if kind == 'roads' else 1}f}"
    return f"{count} (95 % for the noise: {row['low']:,.0f} to {row['high']:,.0f}{added})"


def _rectangles(
    release: PointRelease | AreaRelease,
    asked: list[list[float]],
    answers: RangeAnswers,
    beside: list[dict[str, Any]] | None = None,
) -> Answers:
    """Answers for rectangles, with uniformity errors and any attributes."""
    from dpviz.domain.rectangles import limits_text as sides

    rows = [
        {"rect": box, **answer, **more}
        for box, answer, more in zip(
            asked, answer_rows(answers, RANGE), beside or [{} for _ in asked], strict=True
        )
    ]
    noun = "areas" if release.kind == "areas" else "cells"
    lines = [
        "\n".join(
            [
                f"{sides(row['rect'])}: {_interval(row)}{cut_words(row, noun)}",
                *attribute_lines(row),
            ]
        )
        for row in rows
    ]
    return "answers", rows, lines


def _one_kind(release: Any, kind: str | None) -> Any:
    """The release of one kind, or the whole release if no kind is named."""
    return release if kind is None else release.of(kind)


def _regions(release: PointRelease, path: str, name: str | None) -> Answers:
    """Answers for each region in a file."""
    from dpviz.releases.points.region_file import read_regions

    districts = read_regions(path, release.domain, name)
    answers = answer_rows(release.count_regions(districts), RANGE)
    named = as_rows({"region": districts.names, "inside": map(float, districts.inside)})
    columns = named, answers, region_rows(release, districts)
    rows = [region | answer | more for region, answer, more in zip(*columns, strict=True)]
    lines = [
        "\n".join(
            [
                f"{escaped_line(row['region'])}: {_interval(row)}{cut_words(row)}"
                + ("" if row["inside"] > 0.9999 else f"  {100 * row['inside']:.0f} % {INSIDE}"),
                *attribute_lines(row),
            ]
        )
        for row in rows
    ]
    return "answers", rows, lines
