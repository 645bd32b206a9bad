"""Commands that ask a release: query, timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import dpviz
from dpviz.cli.areas import answer_areas
from dpviz.cli.attributes import attribute_lines, attribute_rows, cut_words, region_rows
from dpviz.cli.rectangles import rectangles
from dpviz.cli.root import (
    COUNT,
    Json,
    ReleaseFile,
    answer_rows,
    app,
    complain,
    emit,
    in_line,
    numbers,
    step_rows,
)
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpviz.releases.answers import RangeAnswers
    from dpviz.releases.counts import AreaRelease, PointRelease

RANGE = (*COUNT, "uniformity_sd", "nodes")
"""What is said of the answer to a range query."""

OneKind = Annotated[
    str | None, typer.Option("--kind", help="With kinds: one of them; all together by default.")
]


@app.command()
def query(
    release: ReleaseFile,
    rect: Annotated[
        list[str] | None,
        typer.Option(help="All lower, then all upper limits (2-D: W,S,E,N); repeat at will."),
    ] = None,
    rects: Annotated[
        str | None,
        typer.Option(
            help="CSV file of rectangles: columns as --rect, or named west, south, east, north."
        ),
    ] = None,
    regions: Annotated[
        str | None, typer.Option(help="A file of polygons, for instance districts (2-D).")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="With --regions: the column that names them.")
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(
            help="With time: A,B in ISO 8601, of its zone; of a cycle Mon 08:00,Fri 18:00."
        ),
    ] = None,
    less: Annotated[
        str | None,
        typer.Option("--less", help="With --period: another one, whose counts are taken off."),
    ] = None,
    areas: Annotated[
        bool, typer.Option("--areas", help="Every area of a release of areas, finest last.")
    ] = False,
    kind: OneKind = None,
    as_json: Json = False,
) -> None:
    """Answer range queries from a release: noisy counts with 95 % intervals."""
    from dpviz.releases.counts import is_areas

    if name is not None and regions is None:
        raise ParameterError("--name is of --regions: give both, or leave it out")
    if less is not None and period is None:
        raise ParameterError("--less is taken off --period: give both, or neither")
    opened = opened_map(release)
    if areas or is_areas(opened):
        query_areas(opened, rect, rects, areas, regions or period or kind, as_json)
        return
    opened = one_kind(opened, kind)
    if regions is not None:
        if rect or rects is not None:
            raise ParameterError("--regions and rectangles are asked one at a time: give either")
        if period is not None:
            raise ParameterError("--regions is asked of 2-D releases: leave --period out")
        if opened.domain.values is not None and not as_json:
            complain("note: sums and means are of rectangles; regions have counts alone")
        emit_regions(opened, regions, name, as_json)
        return
    given, domain = [numbers(text, "--rect") for text in rect or []], opened.domain
    either = [domain.place] if period is not None else [domain, domain.place]
    asked = asked_rectangles(given, rects, *dict.fromkeys(each.columns for each in either))
    if less is not None:
        emit_rectangles(
            opened, asked, opened.difference(asked, period, less), as_json, attributes=False
        )
        return
    emit_rectangles(opened, asked, opened.count(asked, period), as_json, period)


@app.command()
def timeline(
    release: ReleaseFile,
    rect: Annotated[str | None, typer.Option(help="W,S,E,N; the whole domain by default.")] = None,
    every: Annotated[
        str | None, typer.Option(help="A step: 15min, 1h, 1d, 1w, 1mo; one that suits by default.")
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(help="A,B in ISO 8601, of its zone; of a cycle Mon 08:00,Fri 18:00."),
    ] = None,
    kind: OneKind = None,
    as_json: Json = False,
) -> None:
    """Answer step by step over the period of a release with time: counts with 95 % intervals."""
    opened = one_kind(dpviz.read(release, "points"), kind)
    answers = opened.timeline(None if rect is None else numbers(rect, "--rect"), every, period)
    rows = step_rows(answers, opened.domain.calendar.words, RANGE)
    lines = [
        f"{row['start']} to {row['end']}: {row['count']:,.1f} "
        f"(95 % for the noise: {row['low']:,.0f} to {row['high']:,.0f})"
        + cut_words(row["uniformity_sd"])
        for row in rows
    ]
    emit({"timeline": rows}, as_json, "\n".join([*lines, opened.header.guarantee]))


def opened_map(path: str) -> PointRelease | AreaRelease:
    """A release of points or of areas.

    Raises:
        ReleaseError: any other file.
    """
    from dpviz.releases.store import kind_in

    return dpviz.read(path, "areas") if kind_in(path) == "areas" else dpviz.read(path, "points")


def query_areas(
    opened: PointRelease | AreaRelease,
    rect: list[str] | None,
    rects: str | None,
    every: bool,
    others: str | None,
    as_json: bool,
) -> None:
    """Answers from a release of areas: of every area, or of rectangles."""
    from dpviz.releases.counts import is_areas

    if not is_areas(opened):
        raise ParameterError("--areas is asked of a release of areas, this one is of points")
    if others is not None or (every and (rect or rects)):
        raise ParameterError("a release of areas answers --areas, or --rect and --rects: give one")
    if every:
        answer_areas(opened, as_json)
        return
    given = [numbers(text, "--rect") for text in rect or []]
    asked = asked_rectangles(given, rects, opened.frame.domain.columns)
    emit_rectangles(opened, asked, opened.count(asked), as_json)


def asked_rectangles(
    asked: list[list[float]], rects: str | None, *axes: Sequence[str]
) -> list[list[float]]:
    """Rectangles of the options and of a CSV file, of two numbers for each column.

    Args:
        asked: those of the options.
        rects: the file.
        *axes: columns; with time also those of places alone, where all rectangles are of them.

    Raises:
        ParameterError: none, or another number of numbers.
        DataError: the file cannot be read so.
    """
    sizes = {len(each) for each in asked}
    meant = [each for each in axes if sizes <= {2 * len(each)}] or list(axes[:1])
    if rects is not None:
        asked = [*asked, *rectangles(rects, *meant)]
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
    from dpviz.domain.rectangles import listed

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
            f"{listed(row['rect'])}: {row['count']:,.1f} "
            f"(95 % for the noise: {row['low']:,.0f} to {row['high']:,.0f}; nodes: {row['nodes']})"
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
    return release if kind is None else release.of(kind)


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
        f"{in_line(row['region'])}: {row['count']:,.1f} (95 % for the noise: {row['low']:,.0f} to "
        f"{row['high']:,.0f}; nodes: {row['nodes']})"
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
