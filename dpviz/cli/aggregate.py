"""The command that keeps sources as counts per cell, and appends new ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import dpviz
from dpviz.cli.groups import MISSING, grouped, option
from dpviz.cli.options import Attributes, Bits, Clock, Places, TableName, TextForms, Units
from dpviz.cli.outputs import apart, identity
from dpviz.cli.root import Json, app, complain, emit, progress
from dpviz.errors import ParameterError
from dpviz.files.writing import destination


@app.command()
@grouped
def aggregate(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE…",
            help="Sources as for 'dpviz build'; name the output file among them to append to it.",
        ),
    ],
    *,
    output: str = option("File to write, named ….SENSITIVE.parquet.", "-o", default=MISSING),
    places: Places,
    clock: Clock,
    attributes: Attributes,
    forms: TextForms,
    units: Units,
    table: TableName = None,
    bits: Bits = None,
    public: bool = option("Declare the records public.", default=False),
    dataset: str | None = option(
        "Name of the data set in the ledger (default: the first source's)."
    ),
    as_json: Json = False,
) -> None:
    """Keep sources as EXACT COUNTS per cell, a SENSITIVE file to build from and to append to."""
    from dpviz.private.load.sources import stated_domain
    from dpviz.private.payment import require_public

    path, name = destination(output), Path(output).name
    before = identity(path)
    if not path.exists():
        apart(output)
    elif path not in [Path(each).resolve() for each in sources]:
        raise ParameterError(
            f"{name} exists: name it among the sources to append to it, or delete it first"
        )
    elif stated_domain(path) is None:
        raise ParameterError(
            f"output {output!r} is one of the sources and holds no counts per cell to append to: "
            "name another file"
        )
    stating = next((each for each in sources if stated_domain(each) is not None), sources[0])
    handle = dpviz.load(
        sources,
        places.domain(stating, clock, attributes.without_values()),
        **places.reading(),
        **forms.reading(),
        **units.reading(),
        table=table,
        bits=bits,
        public=public or None,
        name=dataset,
        progress=progress(),
    )
    require_public(dpviz.Ledger(), handle)  # before a file states it permanently
    if identity(path) != before:  # another command's rows would be lost
        raise ParameterError(
            f"{name} was changed by another program, and nothing was written: try again"
        )
    dpviz.save_counts(handle, output)
    if not handle.public:
        complain(f"note: {name} holds EXACT COUNTS: SENSITIVE, keep it as you keep the records")
    facts = {"output": output, "bits": handle.bits, "unit": handle.unit, "name": handle.name}
    emit(facts, as_json, f"{output}: {handle.bits} bits per axis, unit: {handle.unit}")
