"""Commands that ask a release: query, timeline, topk, next. Its kind decides what is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dpviz
from dpviz.cli.attributes import attribute_lines, attribute_rows, cut_words, region_rows
from dpviz.cli.groups import given, grouped, option, require_fit
from dpviz.cli.rectangles import rectangles
from dpviz.cli.root import (
    COUNT,
    Json,
    ReleaseFile,
    answer_rows,
    app,
    as_rows,
    complain,
    emit,
    in_line,
    numbers,
    step_rows,
)
from dpviz.errors import ParameterError
from dpviz.lists import listed, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpviz.releases.areas.release import AreaRelease
    from dpviz.releases.points.range_count import RangeAnswers
    from dpviz.releases.points.release import PointRelease
    from dpviz.releases.roads.release import RoadRelease
    from dpviz.releases.sequences.release import SequenceRelease
    from dpviz.roads.graph import Int, RoadGraph

RANGE = (*COUNT, "uniformity_sd", "nodes")
"""What is said of the answer to a range query."""

PATH = (*COUNT, "edges", "subdomains", "nodes")
"""What is said of the answer to a path query."""

LISTED = 100_000
"""Most strings of one answer: each is looked for by itself."""

ASKED = {
    "points": "rect rects regions name period less kind every",
    "areas": "rect rects areas",
    "roads": "path between period",
    "sequences": "string",
}
"""The questions that a release of each kind answers."""


@dataclass(frozen=True, kw_only=True)
class Period:
    """The part of the time of a release with time, and the one kind of a release with kinds."""

    period: str | None = option(
        "--period",
        help="With time: A,B in ISO 8601, of its zone; of a cycle Mon 08:00,Fri 18:00. Of trips, "
        "where steps begin.",
    )
    kind: str | None = option("--kind", help="With kinds: one of them; all together by default.")


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of a release."""

    rect: list[str] | None = option(
        "--rect", help="All lower, then all upper limits (2-D: W,S,E,N); repeat at will."
    )
    rects: str | None = option(
        "--rects",
        help="CSV file of rectangles: columns as --rect, or named west, south, east, north.",
    )
    regions: str | None = option(
        "--regions", help="A file of polygons, for instance districts (2-D)."
    )
    name: str | None = option("--name", help="With --regions: the column that names them.")
    less: str | None = option(
        "--less", help="With --period: another one, whose counts are taken off."
    )
    areas: bool = option(
        "--areas", default=False, help="Every area of a release of areas, finest last."
    )
    path: list[str] | None = option(
        "--path", help="Of trips: edge ids of a path, in order; repeat at will."
    )
    between: list[str] | None = option(
        "--between", help="Of trips: two node ids, the shortest path; repeat at will."
    )
    string: list[str] | None = option(
        "--string", help="Of sequences: symbols between commas, in order; repeat at will."
    )


@app.command()
@grouped
def query(release: ReleaseFile, question: Question, part: Period, as_json: Json = False) -> None:
    """Answer queries from a release of any kind: noisy counts with 95 % intervals.

    Rectangles and regions of points, areas, paths of trips, strings of sequences.
    """
    if question.name is not None and question.regions is None:
        raise ParameterError("--name is of --regions: give both, or leave it out")
    if question.less is not None and part.period is None:
        raise ParameterError("--less is taken off --period: give both, or neither")
    opened = asked_release(release, given(question, part))
    if not given(question):
        options = ", ".join(f"--{name}" for name in ASKED[opened.kind].split()[:3])
        raise ParameterError(f"nothing to answer: give one of {options}")
    if opened.kind == "sequences":
        query_strings(opened, question.string or [], as_json)
    elif opened.kind == "roads":
        query_paths(opened, question, part.period, as_json)
    elif opened.kind == "areas":
        query_areas(opened, question, as_json)
    else:
        query_points(one_kind(opened, part.kind), question, part.period, as_json)


@app.command()
@grouped
def timeline(
    release: ReleaseFile,
    part: Period,
    rect: Annotated[
        str | None, typer.Option(help="Of points: W,S,E,N; the whole domain by default.")
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(help="Of points: 15min, 1h, 1d, 1w, 1mo; one that suits by default."),
    ] = None,
    path: Annotated[str | None, typer.Option(help="Of trips: edge ids of the path.")] = None,
    between: Annotated[
        str | None, typer.Option(help="Of trips: two node ids, the shortest path.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Answer step by step over the period of a release with time: counts with 95 % intervals."""
    beside = {"rect": rect, "every": every, "path": path, "between": between}
    asked = {name: value for name, value in beside.items() if value is not None}
    opened = asked_release(release, given(part) | asked, ("points", "roads"))
    if opened.kind == "roads":
        _road_timeline(opened, path, between, part.period, as_json)
        return
    opened = one_kind(opened, part.kind)
    box = None if rect is None else numbers(rect, "--rect")
    answers = opened.timeline(box, every, part.period)
    rows = step_rows(answers, opened.domain.calendar.words, RANGE)
    lines = [
        f"{row['start']} to {row['end']}: {_interval(row, 1)}" + cut_words(row["uniformity_sd"])
        for row in rows
    ]
    emit({"timeline": rows}, as_json, "\n".join([*lines, opened.header.guarantee]))


def asked_release(path: str, options: dict[str, Any], kinds: tuple[str, ...] = tuple(ASKED)) -> Any:
    """A release that has a use for every option that is given.

    Raises:
        ReleaseError: no release.
        ParameterError: one of another kind, or an option of another.
    """
    opened = dpviz.read(path)
    if opened.kind not in kinds:
        raise ParameterError(
            f"{path}: a release of {opened.kind}: give a release of {' or '.join(kinds)}"
        )
    require_fit(opened.kind, options, {kind: ASKED[kind] for kind in kinds})
    return opened


def opened_map(path: str) -> PointRelease | AreaRelease:
    """A release of points or of areas.

    Raises:
        ReleaseError: any other file.
    """
    from dpviz.releases.store import kind_in

    return dpviz.read(path, "areas") if kind_in(path) == "areas" else dpviz.read(path, "points")


def query_points(
    opened: PointRelease, question: Question, period: str | None, as_json: bool
) -> None:
    """Answers from a release of points: of rectangles, or of regions."""
    if question.regions is not None:
        if question.rect or question.rects is not None:
            raise ParameterError("--regions and rectangles are asked one at a time: give either")
        if period is not None:
            raise ParameterError("--regions is asked of 2-D releases: leave --period out")
        if opened.domain.values is not None and not as_json:
            complain("note: sums and means are of rectangles; regions have counts alone")
        emit_regions(opened, question.regions, question.name, as_json)
        return
    domain = opened.domain
    either = [domain.place] if period is not None else [domain, domain.place]
    asked = asked_rectangles(question, *dict.fromkeys(each.columns for each in either))
    if question.less is not None:
        answers = opened.difference(asked, period, question.less)
        emit_rectangles(opened, asked, answers, as_json, attributes=False)
        return
    emit_rectangles(opened, asked, opened.count(asked, period), as_json, period)


def query_areas(opened: AreaRelease, question: Question, as_json: bool) -> None:
    """Answers from a release of areas: of every area, or of rectangles."""
    if not question.areas:
        asked = asked_rectangles(question, opened.areas.domain.columns)
        emit_rectangles(opened, asked, opened.count(asked), as_json)
        return
    if question.rect or question.rects:
        raise ParameterError("a release of areas answers --areas, or --rect and --rects: give one")
    areas, answers = opened.areas, opened.answers
    columns = {
        "level": areas.level_of.tolist(),
        "name": areas.names,
        "parent": areas.parent_names,
        "count": answers.count.tolist(),
        "low": answers.low.tolist(),
        "high": answers.high.tolist(),
    }
    rows = as_rows(columns)
    lines = [
        f"{in_line(row['level'])} {in_line(row['name'])}: {_interval(row, 1)}"
        + ("" if row["parent"] is None else f"  in {in_line(row['parent'])}")
        for row in rows
    ]
    emit({"areas": rows}, as_json, "\n".join([*lines, opened.header.guarantee]))


def query_paths(opened: RoadRelease, question: Question, period: str | None, as_json: bool) -> None:
    """Answers from a release of trips: of paths."""
    asked = asked_paths(opened.graph, question.path or [], question.between or [])
    answers = opened.count(dpviz.Paths.of(asked), period)
    rows = [
        {"path": opened.graph.edge_id[edges].tolist()} | row
        for edges, row in zip(asked, answer_rows(answers, PATH), strict=True)
    ]
    lines = [f"{row['edges']} edges: {_interval(row, 0, 'subdomains', 'nodes')}" for row in rows]
    _emit_road("answers", opened, rows, lines, as_json)


def query_strings(opened: SequenceRelease, texts: list[str], as_json: bool) -> None:
    """Answers from a release of sequences: how often strings of symbols occur."""
    strings = [words(text, "--string") for text in texts]
    counts = opened.count(strings).count.tolist()
    rows = [
        {"string": list(asked), "count": value}
        for asked, value in zip(strings, counts, strict=True)
    ]
    lines = [f"{in_line(listed(row['string']))}: {row['count']:,.1f}" for row in rows]
    emit({"answers": rows}, as_json, "\n".join([*lines, opened.header.guarantee]))


@app.command()
def topk(
    release: ReleaseFile,
    k: Annotated[
        int | None, typer.Option("-k", min=1, max=LISTED, help="How many; by default 20.")
    ] = None,
    longest: Annotated[int, typer.Option(min=1, help="Symbols of the longest string.")] = 20,
    as_json: Json = False,
) -> None:
    """List the most frequent strings of a release of sequences, with their estimated counts."""
    from dpviz.releases.sequences.columns import MODELS

    opened = dpviz.read(release, "sequences")
    ranked = MODELS[type(opened.model)] == "ranking"  # then there may be fewer
    many = k or (min(20, len(opened.model)) if ranked else 20)
    strings = opened.top(many, longest)
    rows = [{"string": list(string), "count": value} for string, value in strings]
    lines = [
        ("" if value is None else f"{value:>14,.1f}  ") + in_line(listed(string))
        for string, value in strings
    ]
    emit({"top": rows}, as_json, "\n".join([*lines, opened.header.guarantee]))


@app.command("next")
def following(
    release: ReleaseFile,
    context: Annotated[str, typer.Option(help="What came before: symbols between commas.")] = "",
    as_json: Json = False,
) -> None:
    """Tell what comes next after a context in a release of sequences, and how likely the end is."""
    opened, symbols = dpviz.read(release, "sequences"), words(context, "--context")
    chances = opened.next(symbols).tolist()
    rows = [
        {"symbol": name, "probability": chance}
        for name, chance in zip(opened.alphabet.names, chances, strict=False)
    ]
    facts = {"context": list(symbols), "next": rows, "end": chances[-1]}
    likely = sorted(rows, key=lambda row: -row["probability"])[:20]
    lines = [f"{100 * row['probability']:6.1f} %  {in_line(row['symbol'])}" for row in likely]
    lines.append(f"{100 * chances[-1]:6.1f} %  (the end)")
    emit(facts, as_json, "\n".join([*lines, opened.header.guarantee]))


def _road_timeline(
    opened: RoadRelease, path: str | None, between: str | None, period: str | None, as_json: bool
) -> None:
    """A path, step by step."""
    if not isinstance(opened, dpviz.TimedRoadRelease):
        raise ParameterError("this release has no time: ask it with 'dpviz query'")
    asked = asked_paths(opened.graph, *([] if one is None else [one] for one in (path, between)))
    if len(asked) > 1:
        raise ParameterError("--path and --between are asked one at a time: give either")
    rows = step_rows(opened.timeline(asked[0], period), opened.steps.calendar.words, COUNT)
    lines = [f"{row['start']} to {row['end']}: {_interval(row, 0)}" for row in rows]
    _emit_road("timeline", opened, rows, lines, as_json)


def _emit_road(
    name: str,
    release: RoadRelease,
    rows: list[dict[str, Any]],
    lines: list[str],
    as_json: bool,
) -> None:
    """Answers, with what no interval of theirs has, and the guarantee."""
    from dpviz.releases.roads.beyond_noise import beyond_noise

    beyond = beyond_noise(release)
    ending = [*(f"In no interval: {each}" for each in beyond), release.header.guarantee]
    emit({name: rows, "in_no_interval": beyond}, as_json, "\n".join([*lines, *ending]))


def asked_paths(graph: RoadGraph, path: list[str], between: list[str]) -> list[Int]:
    """Edge rows of the paths that options name.

    Raises:
        ParameterError: none, or what is no pair of nodes.
        DataError: an edge or a node that the graph lacks, or two that nothing joins.
    """
    from dpviz.roads.paths import paths_from_ids
    from dpviz.roads.routing import shortest_path

    given_paths = paths_from_ids(graph, [words(each, "--path") for each in path], "path")
    asked = [given_paths[row] for row in range(len(given_paths))]
    for each in between:
        ends = words(each, "--between")
        if len(ends) != 2:
            raise ParameterError(f"--between {each!r}: give two node ids between commas")
        asked.append(shortest_path(graph, *ends))
    if not asked:
        raise ParameterError("nothing to answer: give --path or --between")
    return asked


def asked_rectangles(question: Question, *axes: Sequence[str]) -> list[list[float]]:
    """Rectangles of the options and of a CSV file, of two numbers for each column.

    Args:
        question: the options.
        *axes: columns; with time also those of places alone, where all rectangles are of them.

    Raises:
        ParameterError: none, or another number of numbers.
        DataError: the file cannot be read so.
    """
    asked = [numbers(text, "--rect") for text in question.rect or []]
    sizes = {len(each) for each in asked}
    meant = [each for each in axes if sizes <= {2 * len(each)}] or list(axes[:1])
    if question.rects is not None:
        asked = [*asked, *rectangles(question.rects, *meant)]
    if not asked:
        raise ParameterError("nothing to answer: give --rect, --rects, --regions or --areas")
    sizes = {len(each) for each in asked}
    if all(sizes != {2 * len(each)} for each in meant):
        width = 2 * len(meant[0])
        raise ParameterError(
            f"a rectangle has {max(sizes - {width})} numbers: give "
            f"{width}, all lower limits, then all upper limits"
        )
    return asked


def _interval(row: dict[str, Any], digits: int, *sizes: str) -> str:
    """A count and its interval in words, with the sizes of what it is added up of."""
    added = ", ".join(f"{name.replace('bd', 'b-d')}: {row[name]}" for name in sizes)
    return (
        f"{row['count']:,.{digits}f} (95 % for the noise: {row['low']:,.0f} to "
        f"{row['high']:,.0f}{added and '; ' + added})"
    )


def emit_rectangles(
    release: PointRelease | AreaRelease,
    asked: list[list[float]],
    answers: RangeAnswers,
    as_json: bool,
    period: str | None = None,
    *,
    attributes: bool = True,
) -> None:
    """Answers for rectangles, with what their edges leave open."""
    from dpviz.domain.rectangles import listed as sides

    beside = attribute_rows(release, asked, period) if attributes else [{} for _ in asked]
    rows = [
        {"rect": box, **answer, **more}
        for box, answer, more in zip(asked, answer_rows(answers, RANGE), beside, strict=True)
    ]
    noun = "areas" if release.kind == "areas" else "cells"
    lines = [
        line
        for row in rows
        for line in (
            f"{sides(row['rect'])}: {_interval(row, 1, 'nodes')}"
            + cut_words(row["uniformity_sd"], noun),
            *attribute_lines(row),
        )
    ]
    emit({"answers": rows}, as_json, "\n".join([*lines, release.header.guarantee]))


def one_kind(release: PointRelease, kind: str | None) -> PointRelease:
    """The release of one kind; of all where none is named.

    Raises:
        DomainError: no such kind.
    """
    from dpviz.releases.points.kinds import require_kinds

    return release if kind is None else require_kinds(release).of(kind)


def emit_regions(release: PointRelease, path: str, name: str | None, as_json: bool) -> None:
    """Answers for every region of a file."""
    from dpviz.releases.points.region_file import read_regions

    districts = read_regions(path, release.domain, name)
    answers = answer_rows(release.count_regions(districts), RANGE)
    rows = [
        {"region": label, "inside": float(share), **answer, **more}
        for label, share, answer, more in zip(
            districts.names,
            districts.inside,
            answers,
            region_rows(release, districts),
            strict=True,
        )
    ]
    lines = [
        f"{in_line(row['region'])}: {_interval(row, 1, 'nodes')}"
        + cut_words(row["uniformity_sd"])
        + (
            ""
            if row["inside"] > 0.9999
            else f"  {100 * row['inside']:.0f} % of it inside the domain"
        )
        + "".join(f"\n{line}" for line in attribute_lines(row))
        for row in rows
    ]
    emit({"answers": rows}, as_json, "\n".join([*lines, release.header.guarantee]))
