"""Commands on releases: build, query, info, export."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpviz.cli.areas import (
    Partition,
    answer_areas,
    build_areas,
    checked_name,
    export_areas,
)
from dpviz.cli.areas import size_words as area_words
from dpviz.cli.areas import summary as area_summary
from dpviz.cli.attributes import attribute_facts, attribute_lines, attribute_rows
from dpviz.cli.building import Facts, build_release
from dpviz.cli.groups import grouped
from dpviz.cli.options import Attributes, Bits, Clock, Order, Places, TableName, Units
from dpviz.cli.root import Json, app, emit, numbers, progress
from dpviz.errors import DataError, ParameterError
from dpviz.releases.areas.release import AreaRelease

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpviz.build import DataHandle
    from dpviz.domain import Domain
    from dpviz.methods.points.declared import Declared
    from dpviz.releases.points.range_count import RangeAnswers
    from dpviz.releases.points.release import PointRelease

OneKind = Annotated[
    str | None, typer.Option("--kind", help="With kinds: one of them; all together by default.")
]
ReleaseFile = Annotated[str, typer.Argument(metavar="RELEASE", help="A release (Parquet).")]


CODES = ("all", "command", "python", "notebook", "statement")
"""What ``info --code`` writes; "all" are the command and the Python."""


@app.command()
@grouped
def build(
    source: Annotated[
        str,
        typer.Argument(help="A file or folder of records, a database's URL, or a built-in name."),
    ],
    order: Order,
    places: Places,
    clock: Clock,
    attributes: Attributes,
    units: Units,
    partition: Partition,
    method: Annotated[
        str | None,
        typer.Option(help="A name or alias, see 'dpviz methods'; privtree, or areas with --areas."),
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(
            help="What it is for: uniform, hot (small squares where records are), districts, or a "
            "CSV file of public rectangles. Parameters follow by a public rule, where --set names "
            "none."
        ),
    ] = None,
    table: TableName = None,
    bits: Bits = None,
    want: Annotated[
        list[str] | None,
        typer.Option(help="A promise for the header, as of 'dpviz plan'; repeat at will."),
    ] = None,
    sum_share: Annotated[
        float | None,
        typer.Option(help="With --sum: the share of epsilon for sums, half by default."),
    ] = None,
) -> None:
    """Spend epsilon on one release of a data set; the ledger pays unless the data are public."""
    from dpviz import load

    for_what = workload_rule(workload)
    areas = partition.read(source, places, clock, attributes, workload)

    def points() -> DataHandle:
        handle: DataHandle = load(
            source,
            areas.domain if areas is not None else places.domain(source, clock, attributes),
            **places.reading(),
            **units.reading(),
            public=order.public or None,
            name=order.dataset,
            table=table,
            bits=bits,
            progress=progress(),
        )
        return handle

    columns_named = bool(places.names)
    if areas is not None:
        if sum_share is not None:
            raise ParameterError("--sum-share is of --sum: leave it out")
        build_areas(areas, method, order, points, columns_named=columns_named, wishes=want or ())
        return
    build_release(
        "points",
        checked_name(method),
        order,
        points,
        described,
        for_what,
        columns_named=columns_named,
        wishes=want or (),
        sum_share=sum_share,
    )


def workload_rule(workload: str | None) -> Callable[[DataHandle], Declared | None]:
    """How a declared workload is had once the domain is known; what is none is refused now.

    Raises:
        ParameterError: neither a word nor a file.
    """
    from dpviz.methods.points.declared import WORKLOADS, Declared

    if workload is None:
        return lambda data: None
    if workload in WORKLOADS:
        return lambda data: Declared(workload)
    if not Path(workload).is_file():
        listed = ", ".join(WORKLOADS)
        raise ParameterError(f"--workload {workload!r}: choose one of {listed}, or a CSV file")

    def of_file(data: DataHandle) -> Declared:
        return Declared.of(rectangles(workload, 2 * data.domain.dims), data.domain)

    return of_file


def described(release: PointRelease, _data: object) -> Facts:
    """What is printed of a release of points."""
    facts = summary(release)
    nodes, leaves, depth = facts["nodes"], facts["leaves"], facts["depth"]
    return facts, [f"{nodes:,} nodes, {leaves:,} leaves, depth {depth}"]


@app.command()
def query(
    release: ReleaseFile,
    rect: Annotated[
        list[str] | None,
        typer.Option(help="All lower, then all upper limits (2-D: W,S,E,N); repeat at will."),
    ] = None,
    rects: Annotated[
        str | None, typer.Option(help="CSV file with one rectangle per row, columns as --rect.")
    ] = None,
    regions: Annotated[
        str | None, typer.Option(help="A file of polygons, for instance districts (2-D).")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="With --regions: the column that names them.")
    ] = None,
    period: Annotated[
        str | None, typer.Option(help="With time: A,B in ISO 8601, UTC; all of it by default.")
    ] = None,
    areas: Annotated[
        bool, typer.Option("--areas", help="Every area of a release of areas, finest last.")
    ] = False,
    kind: OneKind = None,
    as_json: Json = False,
) -> None:
    """Answer range queries from a release: noisy counts with 95 % intervals."""
    opened = opened_map(release)
    if areas or isinstance(opened, AreaRelease):
        query_areas(opened, rect, rects, areas, regions or name or period or kind, as_json)
        return
    opened = one_kind(opened, kind)
    if regions is not None:
        if rect or rects is not None:
            raise ParameterError("--regions and rectangles are asked one at a time: give either")
        if period is not None:
            raise ParameterError("--regions is asked of 2-D releases: leave --period out")
        emit_regions(opened, regions, name, as_json)
        return
    asked, width = [numbers(text, "--rect") for text in rect or []], 2 * opened.domain.dims
    if period is not None or {len(each) for each in asked} == {4}:
        width = 2 * opened.domain.place.dims
    asked = asked_rectangles(asked, rects, width)
    emit_rectangles(opened, asked, opened.count(asked, period), as_json, period)


def opened_map(path: str) -> PointRelease | AreaRelease:
    """A release of points or of areas.

    Raises:
        ReleaseError: any other file.
    """
    from dpviz import read
    from dpviz.releases.store import kind_in

    return read(path, "areas") if kind_in(path) == "areas" else read(path, "points")


def query_areas(
    opened: PointRelease | AreaRelease,
    rect: list[str] | None,
    rects: str | None,
    every: bool,
    others: str | None,
    as_json: bool,
) -> None:
    """Answers from a release of areas: of every area, or of rectangles."""
    if not isinstance(opened, AreaRelease):
        raise ParameterError("--areas is asked of a release of areas, this one is of points")
    if others is not None or (every and (rect or rects)):
        raise ParameterError("a release of areas answers --areas, or --rect and --rects: give one")
    if every:
        answer_areas(opened, as_json)
        return
    asked = asked_rectangles([numbers(text, "--rect") for text in rect or []], rects, 4)
    emit_rectangles(opened, asked, opened.count(asked), as_json)


def asked_rectangles(asked: list[list[float]], rects: str | None, width: int) -> list[list[float]]:
    """Rectangles of the options and of a CSV file, of ``width`` numbers each.

    Raises:
        ParameterError: none, or another number of numbers.
        DataError: the file cannot be read so.
    """
    if rects is not None:
        asked = [*asked, *rectangles(rects, width)]
    if not asked:
        raise ParameterError("nothing to answer: give --rect, --rects, --regions or --areas")
    sizes = {len(each) for each in asked}
    if sizes != {width}:
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
) -> None:
    """Answers for rectangles; of areas with what their edges leave open."""
    beside = attribute_rows(release, asked, period)
    rows = [
        {"rect": box, **answer, **more}
        for box, answer, more in zip(asked, answer_rows(answers), beside, strict=True)
    ]
    lines = [
        line
        for row in rows
        for line in (
            f"{','.join(f'{value:g}' for value in row['rect'])}: {row['count']:,.1f} "
            f"(95 % for the noise: {row['low']:,.0f} to {row['high']:,.0f}; {row['nodes']} nodes)"
            + uniformity_words(release, row["uniformity_sd"]),
            *attribute_lines(row),
        )
    ]
    emit({"answers": rows}, as_json, "\n".join([*lines, release.header.guarantee]))


def uniformity_words(release: PointRelease | AreaRelease, uniformity_sd: float) -> str:
    """What records may lie unevenly inside the areas that an edge cuts, where it cuts any."""
    if not (isinstance(release, AreaRelease) and uniformity_sd):
        return ""
    return f"; areas are cut by their surface: about ± {2 * uniformity_sd:,.0f} more"


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
    answers = answer_rows(release.count_regions(districts))
    rows = [
        {"region": label, "inside": float(share), **answer}
        for label, share, answer in zip(districts.names, districts.inside, answers, strict=True)
    ]
    lines = [
        f"{row['region']}: {row['count']:,.1f} (95 % for the noise: {row['low']:,.0f} to "
        f"{row['high']:,.0f}; {row['nodes']} nodes)"
        + ("" if row["inside"] > 0.9999 else f"  {row['inside']:.0%} of it inside the domain")
        for row in rows
    ]
    emit({"answers": rows}, as_json, "\n".join([*lines, release.header.guarantee]))


@app.command()
def timeline(
    release: ReleaseFile,
    rect: Annotated[str | None, typer.Option(help="W,S,E,N; the whole domain by default.")] = None,
    every: Annotated[
        str | None, typer.Option(help="A step: 15min, 1h, 1d, 1w, 1mo; one that suits by default.")
    ] = None,
    period: Annotated[
        str | None, typer.Option(help="A,B in ISO 8601, UTC; all of it by default.")
    ] = None,
    kind: OneKind = None,
    as_json: Json = False,
) -> None:
    """Answer step by step over the period of a release with time: counts with 95 % intervals."""
    from dpviz import read
    from dpviz.calendar import words as moment

    opened = one_kind(read(release, "points"), kind)
    answers = opened.timeline(None if rect is None else numbers(rect, "--rect"), every, period)
    starts, ends = (map(moment, each.astype(float)) for each in (answers.start, answers.end))
    rows = [
        {"start": start, "end": end, **row}
        for start, end, row in zip(starts, ends, answer_rows(answers), strict=True)
    ]
    lines = [
        f"{row['start']} to {row['end']}: {row['count']:,.1f} "
        f"(95 % for the noise: {row['low']:,.0f} to {row['high']:,.0f})"
        for row in rows
    ]
    emit({"timeline": rows}, as_json, "\n".join([*lines, opened.header.guarantee]))


@app.command()
def info(
    release: ReleaseFile,
    code: Annotated[
        str | None,
        typer.Option(
            help="How it was made: command, python, notebook; statement, for a registry; or all."
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="With --code: the name of the records' file; not opened.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="With --code: of simulated noise; no release holds it.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what a release says of itself: header, budget breakdown, size."""
    from dpviz import read

    if code is not None:
        emit_code(release, code, source, seed, as_json)
        return
    if source is not None or seed is not None:
        raise ParameterError("--source and --seed are for the code: give --code too")
    from dpviz.releases.points.promises import promises
    from dpviz.releases.points.release import PointRelease

    opened = read(release)
    header, size = opened.header.to_dict(), []
    facts, likely = dict(header), []
    if isinstance(opened, PointRelease):
        place = opened.domain.place
        facts = {**summary(opened), **header, "domain": opened.domain.to_dict()}
        size = [
            f"{facts['nodes']:,} nodes, {facts['leaves']:,} leaves, depth {facts['depth']}",
            f"domain {','.join(f'{value:g}' for value in place.bounds)} {place.crs}",
            *([] if opened.domain.time is None else [f"period {period_words(opened.domain)}"]),
            *attribute_facts(opened.domain),
        ]
        likely = promises(opened, Path(release).absolute().parent)
    if isinstance(opened, AreaRelease):
        facts = {**area_summary(opened), **header, "domain": opened.areas.domain.to_dict()}
        domain = opened.areas.domain
        size = [
            area_words(opened),
            f"domain {','.join(f'{value:g}' for value in domain.bounds)} {domain.crs}",
        ]
        likely = promises(opened)
    facts |= {"promises": [dataclasses.asdict(each) for each in likely]} if likely else {}
    price = [
        f"  {row['epsilon']:<8.4g} {row['purpose']} ({row['mechanism'] or row['theorem']})"
        for row in header["budget"]
    ]
    lines = [
        f"{opened.header.guarantee}",
        *(
            f"{key}: {facts['extra'][key]}"
            for key in ("records", "ledger")
            if key in facts["extra"]
        ),
        f"method {opened.header.method} {opened.header.parameters}",
        *size,
        "budget breakdown, in epsilon:",
        *price,
        *(["promises, from the release alone:"] if likely else []),
        *(f"  {each}" for each in likely),
    ]
    emit(facts, as_json, "\n".join(lines))


def emit_code(path: str, which: str, source: str | None, seed: int | None, as_json: bool) -> None:
    """Code that makes a release, or the statement on it.

    Raises:
        ParameterError: no such code.
    """
    from dpviz import read
    from dpviz.exports.data_use import data_use, sentences
    from dpviz.planning.script import Script

    if which not in CODES:
        raise ParameterError(f"--code {which!r}: choose one of {', '.join(CODES)}")
    opened = read(path)
    if which == "statement":
        facts = data_use(opened)
        emit(facts, as_json, "\n".join([*sentences(opened), json.dumps(facts, indent=2)]))
        return
    script = Script.of(opened, source, seed)
    notebook = script.notebook(script.method, sentences(opened))
    texts = {"command": script.command(), "python": script.python(), "notebook": notebook}
    shown = {which: texts[which]} if which in texts else texts
    lines = [texts[which]] if which in texts else [texts["command"], "", texts["python"]]
    emit(shown, as_json, "\n".join(lines))


@app.command()
def export(
    release: ReleaseFile,
    output: Annotated[str, typer.Option("--output", "-o", help="A .geojson, .gpkg or .csv file.")],
    all_nodes: Annotated[
        bool, typer.Option("--all-nodes", help="Every node, not the leaves only.")
    ] = False,
    join: Annotated[
        str | None, typer.Option(help="Of areas: your own file of them, to add the counts to.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="With --join: its column that names the areas.")
    ] = None,
    level: Annotated[
        str | None, typer.Option(help="With --join: the level of its areas; the finest by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a release for other tools, such as QGIS."""
    from dpviz import export as write

    opened = opened_map(release)
    if isinstance(opened, AreaRelease):
        export_areas(
            opened,
            output,
            every_level=all_nodes,
            join=join,
            key=key,
            level=level,
            as_json=as_json,
        )
        return
    if join is not None or key is not None or level is not None:
        raise ParameterError("--join is of a release of areas, this one is of points: leave it out")
    path = write(opened, output, leaves=not all_nodes)
    nodes = opened.table[0]
    rows = len(nodes) if all_nodes else int(nodes.leaf.sum())
    emit({"output": str(path), "rows": rows}, as_json, f"{path}: {rows:,} rows")


@app.command()
def sample(
    release: ReleaseFile,
    output: Annotated[
        str, typer.Option("--output", "-o", help="A .parquet, .csv, .geojson or .gpkg file.")
    ],
    n: Annotated[
        int | None, typer.Option("-n", help="How many; the noisy total by default.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Makes the sample repeatable.")] = None,
    as_json: Json = False,
) -> None:
    """Draw synthetic points that reproduce the counts of a release; costs nothing."""
    from dpviz import read
    from dpviz.releases.export import save_sample

    points = save_sample(read(release, "points"), output, n, seed)
    emit({"output": output, "points": points}, as_json, f"{output}: {points:,} synthetic points")


def period_words(domain: Domain) -> str:
    """The period of a domain with time, and its step."""
    from dpviz.calendar import ZONE
    from dpviz.calendar import words as moment

    step = f", in steps of {domain.step:g} s" if domain.step else ""
    return f"{' to '.join(map(moment, domain.period))} {ZONE}{step}"


def rectangles(path: str, width: int) -> list[list[float]]:
    """Rectangles from a CSV file, with or without a header row.

    Raises:
        DataError: no such file, or a row that is not ``width`` numbers.
    """
    import csv

    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read as CSV") from error
    if rows and not _is_number(rows[0][0]):
        rows = rows[1:]
    for at, row in enumerate(rows, 1):
        if len(row) != width or not all(map(_is_number, row)):
            raise DataError(f"{path}: rectangle {at} is not {width} numbers")
    return [[float(value) for value in row] for row in rows]


def answer_rows(answers: RangeAnswers) -> list[dict[str, Any]]:
    """One dictionary per answer."""
    from dpviz.releases.points.range_count import RangeAnswers

    columns = {
        field.name: getattr(answers, field.name).tolist()
        for field in dataclasses.fields(RangeAnswers)
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def summary(release: PointRelease) -> dict[str, Any]:
    """Size and guarantee of a release, the ``build --json`` contract but for the seconds."""
    nodes = release.table[0]
    return {
        "nodes": len(nodes),
        "leaves": int(nodes.leaf.sum()),
        "depth": nodes.depth,
        "epsilon": release.header.epsilon,
        "guarantee": release.header.guarantee,
    }


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
