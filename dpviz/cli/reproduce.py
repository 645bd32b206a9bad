"""The command that reproduces figures of the papers on built-in public data."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from dpviz.cli.groups import MISSING, grouped, option
from dpviz.cli.outputs import space_in
from dpviz.cli.root import Json, app, emit, progress


@app.command()
@grouped
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="FIGURE",
            help="Figure to reproduce: fanout (PrivTree, appendix B); medians, kdtrees, heights or "
            "matching (ICDE 2012, 4 to 7).",
        ),
    ],
    output: str = option(
        "Existing folder for the results; no file in it is replaced.", "-o", default=MISSING
    ),
    repeats: int = option("Repetitions with fresh noise.", default=5),
    seed: int = option("Seed of data, queries and simulated noise.", default=0, min=0),
    as_json: Json = False,
) -> None:
    """Reproduce a figure of a paper and check its statements."""
    from dpviz.evaluation.figures import reproduce as redo

    if Path(output).is_dir():
        space_in(Path(output), output)  # fail now, not after minutes
    statements = redo(name, Path(output), repeats, seed, progress())
    lines = [
        f"{'agrees' if each.agrees else 'DISAGREES'}: {each.claim}\n    {each.measured}"
        for each in statements
    ]
    facts = {
        "figure": name,
        "output": output,
        "statements": [dataclasses.asdict(each) for each in statements],
    }
    emit(facts, as_json, "\n".join([*lines, f"{output}/{name}.md"]))
