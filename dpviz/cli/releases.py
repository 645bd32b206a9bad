"""Commands on release files: info, export, sample."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import dpviz
from dpviz.cli.attributes import attribute_facts
from dpviz.cli.groups import MISSING, grouped, option, require_applicable
from dpviz.cli.outputs import require_free
from dpviz.cli.root import Json, ReleaseFile, app, emit, escaped_line, print_stderr
from dpviz.cli.sizes import SIZES
from dpviz.errors import ParameterError

EXPORTED = {"points": "all_nodes", "areas": "all_nodes", "flows": "all_nodes"}
"""The options of an export of each kind of release."""

CODES = ("all", "command", "python", "notebook", "statement", "stac", "dcat", "croissant")
"""Choices of ``info --code``; "all" is the command and the Python, the last three metadata."""


@app.command()
@grouped
def info(
    release: ReleaseFile,
    code: str | None = option(
        "Show how the release was made, as command, python, notebook or all; a statement for a "
        "registry; or metadata for a catalogue: stac, dcat or croissant."
    ),
    source: str | None = option("Name of the records' file for --code; it is not opened."),
    as_json: Json = False,
) -> None:
    """Show how a release was made, its guarantee, budget and size."""
    from dpviz.releases.counts import is_areas, is_points, is_roads

    if code is not None:
        emit_code(release, code, source, as_json)
        return
    if source is not None:
        raise ParameterError("--source requires --code: give it too")
    from dpviz.domain.periods import period_words
    from dpviz.domain.rectangles import limits_text
    from dpviz.private.curve import privacy_curve
    from dpviz.releases.points.promises import promises

    opened = dpviz.read(release)
    header = opened.header.to_dict()
    sizes, size = SIZES[opened.kind](opened)
    facts, stated_promises = {**sizes, **header}, []
    if is_points(opened) or is_areas(opened):
        domain = opened.domain
        facts["domain"] = domain.to_dict()
        size.append(f"domain {limits_text(domain.without_time.bounds)} {domain.without_time.crs}")
        if domain.time is not None:
            size.append(f"period {period_words(domain)}")
        size += attribute_facts(domain)
        stated_promises = promises(opened, Path(release).absolute().parent)
    if is_roads(opened) and opened.steps is not None:
        steps = opened.steps
        facts |= {"time": steps.to_dict(), "steps": len(steps)}
        first, last = steps.step_limits(0)[0], steps.step_limits(len(steps) - 1)[1]
        size = [f"{len(steps):,} steps of {steps.every} from {first} to {last} {steps.zone}"]
    facts |= (
        {"promises": [dataclasses.asdict(each) for each in stated_promises]}
        if stated_promises
        else {}
    )
    curve = privacy_curve(opened.header)
    facts |= {} if curve is None else {"privacy": curve.to_dict()}
    price = [
        escaped_line(f"  {row['epsilon']:<8.4g} {row['purpose']}" + (f" ({why})" if why else ""))
        for row in header["budget"]
        for why in [row["mechanism"] or row["theorem"]]
    ]
    lines = [
        escaped_line(opened.header.guarantee),
        *(
            f"{key}: {escaped_line(str(facts['extra'][key]))}"
            for key in ("records", "ledger")
            if key in facts["extra"]
        ),
        escaped_line(f"method {opened.header.method} {opened.header.parameters}"),
        *size,
        "budget breakdown, in epsilon:",
        *price,
        *([] if curve is None else [f"privacy profile: {curve}"]),
        *(["accuracy promises, computed from the release:"] if stated_promises else []),
        *(escaped_line(f"  {each}") for each in stated_promises),
    ]
    emit(facts, as_json, "\n".join(lines))


def emit_code(path: str, which: str, source: str | None, as_json: bool) -> None:
    """Print the code that recreates a release, or the statement about it.

    Args:
        which: one of :data:`CODES`.
        source: name of the records' file; a placeholder by default.
    """
    from dpviz.exports.catalogue import CATALOGUES
    from dpviz.exports.data_use import data_use, sentences
    from dpviz.planning.calls import code_of

    if which not in CODES:
        raise ParameterError(f"--code {which!r}: choose one of {', '.join(CODES)}")
    opened = dpviz.read(path)
    if which == "statement":
        facts = data_use(opened)
        emit(facts, as_json, "\n".join([*sentences(opened), json.dumps(facts, indent=2)]))
        return
    if which in CATALOGUES:
        made = CATALOGUES[which](opened, Path(path))
        emit(made, as_json, json.dumps(made, indent=2, ensure_ascii=False))
        return
    script = code_of(opened, source)
    notebook = script.notebook(script.method, sentences(opened))
    texts = {"command": script.command(), "python": script.python(), "notebook": notebook}
    shown = {which: texts[which]} if which in texts else texts
    lines = [texts[which]] if which in texts else [texts["command"], "", texts["python"]]
    emit(shown, as_json, "\n".join(lines))


@app.command()
@grouped
def export(
    release: ReleaseFile,
    output: str = option(
        "File to write: .geojson, .gpkg, .pmtiles, .csv, .vl.json, or a style .qml or .sld; of "
        "areas and flows also .parquet.",
        "-o",
        default=MISSING,
    ),
    all_nodes: bool = option("Write every node, not only the leaves.", default=False),
    as_json: Json = False,
) -> None:
    """Write the cells, areas or edges for other tools, such as QGIS."""
    from dpviz.releases.axis import Axis

    require_free(output, release)
    opened = dpviz.read(release)
    require_applicable(opened.kind, {"all_nodes": True} if all_nodes else {}, EXPORTED)
    path = dpviz.export(opened, output, leaves=not all_nodes)
    if opened.kind == "roads":
        rows, noun = len(opened.frame.graph) * len(opened.parts), "edges"
    elif opened.kind == "areas":
        each = len(opened.frame) if all_nodes else opened.frame.leaves
        by = opened.by or Axis()
        kinds, steps = by.shape
        with_margins = (kinds + (by.kinds is not None)) * (steps + (by.steps is not None))
        rows, noun = each * with_margins, "rows"
    elif opened.kind == "sequences":
        from dpviz.exports.export import STRINGS
        from dpviz.sequences.moves import frequent

        rows, noun = len(frequent(opened.model, STRINGS, 1, 2)), "symbols and moves"
    elif opened.kind == "flows":
        lines = path.suffix.lower() not in (".csv", ".parquet")
        rows, noun = len(opened.rows("all" if all_nodes else None, shapes=lines)), "rows"
    else:
        nodes = opened.joined_nodes
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
    """Draw synthetic points or sequences from a release at no cost."""
    require_free(output, release)
    opened = dpviz.read(release)
    if opened.kind == "sequences":
        from dpviz.releases.sequences.samples import save_sequences

        drawn, noun = save_sequences(opened, output, 1000 if n is None else n, seed), "sequences"
    elif opened.kind == "points":
        from dpviz.exports.export import save_sample

        drawn, noun = save_sample(opened, output, n, seed), "points"
        beside = {"kinds": opened.domain.kinds, "sums": opened.domain.values}
        lost = " and ".join(name for name, value in beside.items() if value is not None)
        if lost:
            print_stderr(f"note: the points have no {lost}: they are drawn from the counts of all")
    else:
        raise ParameterError(
            f"a release of {opened.kind} cannot be sampled: give one of points or sequences"
        )
    emit({"output": output, noun: drawn}, as_json, f"{output}: {drawn:,} synthetic {noun}")
