"""Commands on road networks: build, query, export, evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

import dpviz
from dpviz.cli.building import Facts, build_release
from dpviz.cli.evaluate import measured, require_files
from dpviz.cli.groups import grouped
from dpviz.cli.options import Clock, Order, TableName, TextForms, Units
from dpviz.cli.outputs import apart
from dpviz.cli.root import (
    COUNT,
    Json,
    NoiseSeed,
    answer_rows,
    app,
    emit,
    numbers,
    step_rows,
    whole_numbers,
)
from dpviz.cli.sources import Streets
from dpviz.errors import ParameterError
from dpviz.lists import distinct, words

if TYPE_CHECKING:
    from dpviz.releases.counts import RoadRelease
    from dpviz.roads.graph import Int, RoadGraph

roads = typer.Typer(no_args_is_help=True, help="Event histograms on road networks.")
app.add_typer(roads, name="roads")

PATH = (*COUNT, "nodes")
"""What is said of the answer to a path query."""

Source = Annotated[
    str, typer.Argument(help="A file of trips or events, 'city', or 'generate:N' synthetic trips.")
]


@roads.command()
@grouped
def build(
    source: Source,
    order: Order,
    streets: Streets,
    units: Units,
    clock: Clock,
    forms: TextForms,
    method: Annotated[
        str, typer.Option(help="A name, or a combination such as min+opt+tru.")
    ] = "event-histogram",
    workload: Annotated[
        str | None,
        typer.Option(
            help="Public queries: clustered:LENGTH (clustered:10 by default), corridor, or a file."
        ),
    ] = None,
    drop_unknown: Annotated[
        bool, typer.Option("--drop-unknown", help="Leave out edges that the graph lacks.")
    ] = False,
    table: TableName = None,
) -> None:
    """Spend epsilon on one event histogram of trips; the ledger pays unless they are public."""
    build_release(
        "roads",
        method,
        order,
        [source, *([workload] if workload else []), *words(streets.graph, "--graph")],
        lambda: streets.load(
            source,
            **units.reading(),
            **clock.steps(),
            **forms.reading(),
            public=order.public,
            drop_unknown=drop_unknown,
            name=order.dataset,
            table=table,
        ),
        described,
        lambda _: workload,
    )


def described(release: RoadRelease, _data: object) -> Facts:
    """What is printed of a release of trips."""
    facts = {
        "edges": len(release.frame.graph),
        "subdomains": len(release.frame.domains.start) - 1,
        "nodes": len(release.nodes),
        "depth": release.nodes.depth,
        "limit": release.limit,
    }
    edges, subdomains, nodes = facts["edges"], facts["subdomains"], facts["nodes"]
    line = f"{edges:,} edges, {subdomains:,} sub-domains, {nodes:,} nodes"
    if len(release.parts) > 1:
        facts["steps"] = len(release.parts)
        line += f" in each of {facts['steps']:,} steps of time"
    return facts, [line]


Roads = Annotated[str, typer.Argument(metavar="RELEASE", help="A road release (Parquet).")]
Period = Annotated[
    str | None,
    typer.Option(help="With time: A,B where steps begin, of its zone; of a cycle 07:00,09:00."),
]


@roads.command()
def query(
    release: Roads,
    path: Annotated[
        list[str] | None, typer.Option(help="Edge ids of a path, in order; repeat at will.")
    ] = None,
    between: Annotated[
        list[str] | None, typer.Option(help="Two node ids: the shortest path; repeat at will.")
    ] = None,
    period: Period = None,
    as_json: Json = False,
) -> None:
    """Answer path queries from a release: noisy totals with 95 % intervals."""
    opened = dpviz.read(release, "roads")
    asked = asked_paths(opened.frame.graph, path or [], between or [])
    paths, streets = dpviz.Paths.of(asked), opened.frame
    answers = opened.count(paths, period)
    rows = [
        {"path": streets.graph.edge_id[edges].tolist()}
        | {**row, "edges": len(edges), "subdomains": int(subdomains)}
        for edges, row, subdomains in zip(
            asked, answer_rows(answers, PATH), streets.subdomains(paths), strict=True
        )
    ]
    lines = [
        f"{row['edges']} edges: {row['count']:,.0f} (95 % for the noise: {row['low']:,.0f} to "
        f"{row['high']:,.0f}; sub-domains: {row['subdomains']}, nodes: {row['nodes']})"
        for row in rows
    ]
    emit_rows("answers", opened, rows, lines, as_json)


def emit_rows(
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

    given = paths_from_ids(graph, [words(each, "--path") for each in path], "path")
    asked = [given[row] for row in range(len(given))]
    for each in between:
        ends = words(each, "--between")
        if len(ends) != 2:
            raise ParameterError(f"--between {each!r}: give two node ids between commas")
        asked.append(shortest_path(graph, *ends))
    if not asked:
        raise ParameterError("nothing to answer: give --path or --between")
    return asked


@roads.command()
def timeline(
    release: Roads,
    path: Annotated[str | None, typer.Option(help="Edge ids of the path, in order.")] = None,
    between: Annotated[str | None, typer.Option(help="Two node ids: the shortest path.")] = None,
    period: Period = None,
    as_json: Json = False,
) -> None:
    """Answer a path step by step over the period of a release with time."""
    opened = dpviz.read(release, "roads")
    if opened.steps is None:
        raise ParameterError("this release has no time: ask it with 'dpviz roads query'")
    each = [[] if one is None else [one] for one in (path, between)]
    asked = asked_paths(opened.frame.graph, *each)
    if len(asked) > 1:
        raise ParameterError("--path and --between are asked one at a time: give either")
    answers = opened.timeline(asked[0], period)
    rows = step_rows(answers, opened.steps.calendar.words, COUNT)
    lines = [
        f"{row['start']} to {row['end']}: {row['count']:,.0f} (95 % for the noise: "
        f"{row['low']:,.0f} to {row['high']:,.0f})"
        for row in rows
    ]
    emit_rows("timeline", opened, rows, lines, as_json)


@roads.command()
def export(
    release: Roads,
    output: Annotated[str, typer.Option("--output", "-o", help="A .geojson, .gpkg or .csv file.")],
    as_json: Json = False,
) -> None:
    """Write the edges of a release for other tools, such as QGIS."""
    from dpviz.releases.export import export as write

    apart(output, release)
    opened = dpviz.read(release, "roads")
    written = write(opened, output)
    rows = len(opened.frame.graph) * len(opened.parts)
    emit({"output": str(written), "rows": rows}, as_json, f"{written}: {rows:,} edges")


@roads.command()
@grouped
def evaluate(
    source: Source,
    output: Annotated[str, typer.Option("--output", "-o", help="The rows (.csv); resumed.")],
    streets: Streets,
    clock: Clock,
    forms: TextForms,
    methods: Annotated[
        str | None, typer.Option(help="Methods between commas; those of figures 6 to 13.")
    ] = None,
    lengths: Annotated[str, typer.Option(help="Query lengths, in edges.")] = "2,10,20,30,40,50",
    epsilons: Annotated[str, typer.Option(help="Values of epsilon.")] = "1,0.1,0.01",
    repeats: Annotated[int, typer.Option(min=1, help="Releases of each combination.")] = 10,
    seed: NoiseSeed = None,
    public: Annotated[
        bool, typer.Option("--public", help="The trips are public: needed for trips from a file.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Redo the figures of the paper: squared error of clustered and corridor queries."""
    from dpviz.build import require_public
    from dpviz.evaluation.experiments import Experiment
    from dpviz.evaluation.roads import METHODS, RoadBench, summary

    edges = distinct(whole_numbers(lengths, "--lengths"))
    chosen = distinct(words(methods, "--methods")) or METHODS
    plan = Experiment(chosen, distinct(numbers(epsilons, "--epsilons")), repeats, seed, "roads")
    require_files(output, None, source, *words(streets.graph, "--graph"))
    data = streets.load(source, public=public, **clock.steps())
    require_public(dpviz.Ledger(), data)  # exact answers follow
    rows = measured(output, RoadBench(data, edges), plan)
    table = summary(rows)
    lines = [
        f"{row['workload']:<14}{row['epsilon']:<8}{row['method']:<18}"
        f"{row['mean_squared_error']:>12.4g}   (zero: {row['zero_squared_error']:.4g})"
        for row in table
    ]
    emit({"output": output, "rows": len(rows), "summary": table}, as_json, "\n".join(lines))
