"""Commands on release files: info, export, sample."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dpviz
from dpviz.cli.areas import join_areas
from dpviz.cli.areas import size_words as area_words
from dpviz.cli.areas import summary as area_summary
from dpviz.cli.attributes import attribute_facts
from dpviz.cli.outputs import apart
from dpviz.cli.queries import opened_map
from dpviz.cli.root import Json, ReleaseFile, app, complain, emit, in_line
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.releases.counts import PointRelease

CODES = ("all", "command", "python", "notebook", "statement")
"""What ``info --code`` writes; "all" are the command and the Python."""


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
    areas: Annotated[
        str | None, typer.Option(help="With --code: the name of the areas' file; not opened.")
    ] = None,
    graph: Annotated[
        str | None, typer.Option(help="With --code: the names of the graph's files; not opened.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what a release says of itself: header, budget breakdown, size."""
    from dpviz.releases.counts import is_areas, is_points, is_roads

    if code is not None:
        beside = {"source": source, "seed": seed, "areas": areas, "graph": graph}
        given = {name: value for name, value in beside.items() if value is not None}
        emit_code(release, code, as_json, given)
        return
    if any(each is not None for each in (source, seed, areas, graph)):
        raise ParameterError(
            "--source, --seed, --areas and --graph are for the code: give --code too"
        )
    from dpviz.domain.periods import period_words
    from dpviz.domain.rectangles import listed
    from dpviz.releases.points.promises import promises

    opened = dpviz.read(release)
    header, size = opened.header.to_dict(), []
    facts, likely = dict(header), []
    if is_points(opened):
        place = opened.domain.place
        facts = {**summary(opened), **header, "domain": opened.domain.to_dict()}
        size = [
            f"{facts['nodes']:,} nodes, {facts['leaves']:,} leaves, depth {facts['depth']}",
            f"domain {listed(place.bounds)} {place.crs}",
            *([] if opened.domain.time is None else [f"period {period_words(opened.domain)}"]),
            *attribute_facts(opened.domain),
        ]
        likely = promises(opened, Path(release).absolute().parent)
    if is_roads(opened) and opened.steps is not None:
        steps = opened.steps
        facts |= {"time": steps.to_dict(), "steps": len(steps)}
        first, last = steps.words(0)[0], steps.words(len(steps) - 1)[1]
        size = [f"{len(steps):,} steps of {steps.every} from {first} to {last} {steps.zone}"]
    if is_areas(opened):
        facts = {**area_summary(opened), **header, "domain": opened.frame.domain.to_dict()}
        domain = opened.frame.domain
        size = [
            area_words(opened),
            f"domain {listed(domain.bounds)} {domain.crs}",
        ]
        likely = promises(opened)
    facts |= {"promises": [dataclasses.asdict(each) for each in likely]} if likely else {}
    price = [
        in_line(f"  {row['epsilon']:<8.4g} {row['purpose']}" + (f" ({why})" if why else ""))
        for row in header["budget"]
        for why in [row["mechanism"] or row["theorem"]]
    ]
    lines = [
        in_line(opened.header.guarantee),
        *(
            f"{key}: {in_line(str(facts['extra'][key]))}"
            for key in ("records", "ledger")
            if key in facts["extra"]
        ),
        in_line(f"method {opened.header.method} {opened.header.parameters}"),
        *size,
        "budget breakdown, in epsilon:",
        *price,
        *(["promises, from the release alone:"] if likely else []),
        *(in_line(f"  {each}") for each in likely),
    ]
    emit(facts, as_json, "\n".join(lines))


def emit_code(path: str, which: str, as_json: bool, given: dict[str, Any]) -> None:
    """Code that makes a release, or the statement on it.

    Args:
        path: of the release.
        which: of :data:`CODES`.
        as_json: as for all commands.
        given: what no release holds, by the names of the options.

    Raises:
        ParameterError: no such code, or something that it has no use for.
    """
    from dpviz.exports.data_use import data_use, sentences
    from dpviz.planning.model_scripts import script_of

    if which not in CODES:
        raise ParameterError(f"--code {which!r}: choose one of {', '.join(CODES)}")
    opened = dpviz.read(path)
    if which == "statement":
        for name in given:
            raise ParameterError(f"--{name} is for code, not for the statement: leave it out")
        facts = data_use(opened)
        emit(facts, as_json, "\n".join([*sentences(opened), json.dumps(facts, indent=2)]))
        return
    script = script_of(opened, **given)
    for name in given:
        others = {each: value for each, value in given.items() if each != name}
        if script_of(opened, **others).python() == script.python():
            raise ParameterError(
                f"--{name} changes nothing in the code of this release: leave it out"
            )
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
    from dpviz.releases.counts import is_areas

    apart(output, release, join)
    opened = opened_map(release)
    if (join, key, level) != (None, None, None):
        if not is_areas(opened):
            raise ParameterError(
                "--join is of a release of areas, this one is of points: leave it out"
            )
        join_areas(opened, output, join, key, level, every_level=all_nodes, as_json=as_json)
        return
    path = dpviz.export(opened, output, leaves=not all_nodes)
    if is_areas(opened):
        every, leaves = len(opened.frame), opened.frame.leaves
    else:
        every, leaves = len(opened.table.nodes), int(opened.table.nodes.leaf.sum())
    rows = every if all_nodes else leaves
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
    from dpviz.releases.export import save_sample

    apart(output, release)
    opened = dpviz.read(release, "points")
    points = save_sample(opened, output, n, seed)
    beside = {"kinds": opened.domain.kinds, "sums": opened.domain.values}
    lost = " and ".join(name for name, value in beside.items() if value is not None)
    if lost:
        complain(f"note: the points have no {lost}: they are drawn from the counts of all records")
    emit({"output": output, "points": points}, as_json, f"{output}: {points:,} synthetic points")


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
