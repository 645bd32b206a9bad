"""Commands on release files: info, export, sample."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dpviz
from dpviz.cli.attributes import attribute_facts
from dpviz.cli.described import area_facts, point_facts
from dpviz.cli.groups import MISSING, grouped, option, require_fit
from dpviz.cli.outputs import apart
from dpviz.cli.root import Json, ReleaseFile, app, complain, emit, in_line
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    pass

EXPORTED = {"points": "all_nodes", "areas": "all_nodes"}
"""The options of an export of each kind of release."""

CODES = ("all", "command", "python", "notebook", "statement")
"""Choices of ``info --code``; "all" is the command and the Python."""


@app.command()
@grouped
def info(
    release: ReleaseFile,
    code: str | None = option(
        "Show how the release was made, as command, python, notebook, statement (for a "
        "registry) or all."
    ),
    source: str | None = option("Name of the records' file for --code; it is not opened."),
    seed: int | None = option("Seed of simulated noise for --code; no release holds it."),
    areas: str | None = option("Name of the areas' file for --code; it is not opened."),
    graph: str | None = option("Names of the road graph's files for --code; they are not opened."),
    as_json: Json = False,
) -> None:
    """Show a release's header, budget breakdown and size."""
    from dpviz.releases.counts import is_areas, is_points, is_roads

    if code is not None:
        beside = {"source": source, "seed": seed, "areas": areas, "graph": graph}
        given = {name: value for name, value in beside.items() if value is not None}
        emit_code(release, code, as_json, given)
        return
    if any(each is not None for each in (source, seed, areas, graph)):
        raise ParameterError("--source, --seed, --areas and --graph require --code: give it too")
    from dpviz.domain.periods import period_words
    from dpviz.domain.rectangles import listed
    from dpviz.releases.points.promises import promises

    opened = dpviz.read(release)
    header = opened.header.to_dict()
    size: list[str] = []
    facts, likely = dict(header), []
    if is_points(opened):
        place = opened.domain.place
        sizes, size = point_facts(opened)
        facts = {**sizes, **header, "domain": opened.domain.to_dict()}
        size += [
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
        domain = opened.domain
        sizes, size = area_facts(opened)
        facts = {**sizes, **header, "domain": domain.to_dict()}
        size += [f"domain {listed(domain.bounds)} {domain.crs}"]
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
    """Print code that recreates a release, or the statement about it.

    Args:
        path: of the release.
        which: of :data:`CODES`.
        as_json: as for all commands.
        given: what no release holds, by the names of the options.

    Raises:
        ParameterError: no such code, or something that it has no use for.
    """
    from dpviz.exports.data_use import data_use, sentences
    from dpviz.planning.calls import code_of

    if which not in CODES:
        raise ParameterError(f"--code {which!r}: choose one of {', '.join(CODES)}")
    opened = dpviz.read(path)
    if which == "statement":
        for name in given:
            raise ParameterError(f"--{name} is for code, not for the statement: leave it out")
        facts = data_use(opened)
        emit(facts, as_json, "\n".join([*sentences(opened), json.dumps(facts, indent=2)]))
        return
    script = code_of(opened, **given)
    for name in given:
        others = {each: value for each, value in given.items() if each != name}
        if code_of(opened, **others).python() == script.python():
            raise ParameterError(
                f"--{name} changes nothing in the code of this release: leave it out"
            )
    notebook = script.notebook(script.method, sentences(opened))
    texts = {"command": script.command(), "python": script.python(), "notebook": notebook}
    shown = {which: texts[which]} if which in texts else texts
    lines = [texts[which]] if which in texts else [texts["command"], "", texts["python"]]
    emit(shown, as_json, "\n".join(lines))


@app.command()
@grouped
def export(
    release: ReleaseFile,
    output: str = option("File to write (.geojson, .gpkg or .csv).", "-o", default=MISSING),
    all_nodes: bool = option("Write every node, not only the leaves.", default=False),
    as_json: Json = False,
) -> None:
    """Write cells, areas or edges of a release for other tools, such as QGIS."""
    apart(output, release)
    opened = dpviz.read(release)
    require_fit(opened.kind, {"all_nodes": True} if all_nodes else {}, EXPORTED)
    path = dpviz.export(opened, output, leaves=not all_nodes)
    if opened.kind == "roads":
        rows, noun = len(opened.frame.graph) * len(opened.parts), "edges"
    elif opened.kind == "areas":
        each = len(opened.frame) if all_nodes else opened.frame.leaves
        rows, noun = each * len(opened.parts), "rows"
    else:
        nodes = opened.side_by_side
        rows, noun = len(nodes) if all_nodes else int(nodes.leaf.sum()), "rows"
    emit({"output": str(path), "rows": rows}, as_json, f"{path}: {rows:,} {noun}")


@app.command()
@grouped
def sample(
    release: ReleaseFile,
    output: str = option(
        "File to write: .parquet, .csv, .geojson or .gpkg; for sequences .txt, .csv or .parquet.",
        "-o",
        default=MISSING,
    ),
    n: int | None = option("Number of samples (default: the noisy total; 1,000 sequences).", "-n"),
    seed: int | None = option("Seed that makes the sample repeatable.", min=0),
    as_json: Json = False,
) -> None:
    """Draw synthetic points or sequences from a release; costs nothing."""
    apart(output, release)
    opened = dpviz.read(release)
    if opened.kind == "sequences":
        from dpviz.releases.sequences.samples import save_sequences

        drawn, noun = save_sequences(opened, output, 1000 if n is None else n, seed), "sequences"
    elif opened.kind == "points":
        from dpviz.releases.export import save_sample

        drawn, noun = save_sample(opened, output, n, seed), "points"
        beside = {"kinds": opened.domain.kinds, "sums": opened.domain.values}
        lost = " and ".join(name for name, value in beside.items() if value is not None)
        if lost:
            complain(f"note: the points have no {lost}: they are drawn from the counts of all")
    else:
        raise ParameterError(
            f"a release of {opened.kind}: only points and sequences can be sampled"
        )
    emit({"output": output, noun: drawn}, as_json, f"{output}: {drawn:,} synthetic {noun}")
