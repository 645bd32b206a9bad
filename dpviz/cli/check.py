"""The command that tells an owner what becomes of the records of a source."""

from __future__ import annotations

from typing import Annotated

import typer

from dpviz.cli.releases import columns_of, domain_of
from dpviz.cli.root import (
    Bounds,
    ColumnNames,
    Crs,
    Json,
    MaxPerUnit,
    TableName,
    Unit,
    XColumn,
    YColumn,
    app,
    emit,
    words,
)
from dpviz.errors import ParameterError


@app.command()
def check(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A file, as for build.")],
    bounds: Bounds = None,
    columns: ColumnNames = None,
    x: XColumn = None,
    y: YColumn = None,
    crs: Crs = None,
    table: TableName = None,
    unit: Unit = None,
    max_per_unit: MaxPerUnit = 1,
    graph: Annotated[
        str | None, typer.Option(help="Trips: the public road graph, as for roads build.")
    ] = None,
    alphabet: Annotated[
        str | None, typer.Option(help="Sequences: the public symbols, as for sequences build.")
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", help="Sequences: the list column of symbols.")
    ] = None,
    drop_unknown: Annotated[
        bool, typer.Option("--drop-unknown", help="Trips and sequences: leave out unknown steps.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tell the owner, EXACTLY, which records would be dropped and why; no part of any release."""
    from dpviz.build import CHECK_HEADING, check_points, check_sequences, check_trips

    if graph is not None:
        facts = check_trips(
            source,
            words(graph),
            crs=crs or "",
            unit=unit,
            max_per_unit=max_per_unit,
            drop_unknown=drop_unknown,
            table=table,
        )
        taken = "trips"
    elif alphabet is not None:
        facts = check_sequences(
            source,
            alphabet,
            columns=None if column is None else (column,),
            unit=unit,
            max_per_unit=max_per_unit,
            drop_unknown=drop_unknown,
            table=table,
        )
        taken = "sequences"
    else:
        domain = domain_of(source, bounds, columns, x, y, crs)
        if domain is None:
            raise ParameterError(f"{source} brings its own box and nothing to check: build from it")
        facts, taken = check_points(
            source,
            domain,
            columns=columns_of(columns, x, y) or None,
            crs=crs,
            unit=unit,
            max_per_unit=max_per_unit,
            table=table,
        )
    lines = [f"read as places: {taken}" if graph is alphabet is None else f"read as {taken}"]
    lines += [f"{count:>15,}  {what}" for what, count in facts.items()]
    emit(
        {"heading": CHECK_HEADING, "read_as": taken, "facts": facts},
        as_json,
        "\n".join([CHECK_HEADING, *lines]),
    )
