"""The command that tells an owner what becomes of the records of a source."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dpviz.cli.releases import clock_of, columns_of, domain_of
from dpviz.cli.roads import Directed, Parts, open_graph
from dpviz.cli.root import (
    Bounds,
    ColumnNames,
    Crs,
    Every,
    Json,
    MaxPerUnit,
    Period,
    TableName,
    Unit,
    XColumn,
    YColumn,
    app,
    emit,
)
from dpviz.cli.sequence_source import AlphabetText, Column, Gap, TimeColumn
from dpviz.errors import ParameterError


@app.command()
def check(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A file, folder or table, as for build.")
    ],
    bounds: Bounds = None,
    columns: ColumnNames = None,
    x: XColumn = None,
    y: YColumn = None,
    crs: Crs = None,
    period: Period = None,
    every: Every = None,
    table: TableName = None,
    unit: Unit = None,
    max_per_unit: MaxPerUnit = 1,
    graph: Annotated[
        str | None, typer.Option(help="Trips: the public road graph, as for roads build.")
    ] = None,
    parts: Parts = "refuse",
    directed: Directed = False,
    alphabet: AlphabetText = None,
    column: Column = None,
    time: TimeColumn = None,
    gap: Gap = 12.0,
    drop_unknown: Annotated[
        bool, typer.Option("--drop-unknown", help="Trips and sequences: leave out unknown steps.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tell the owner, EXACTLY, which records would be dropped and why; no part of any release."""
    from dpviz.build import (
        CHECK_HEADING,
        check_places,
        check_points,
        check_sequences,
        check_trips,
    )

    read: dict[str, Any] = {"max_per_unit": max_per_unit, "table": table}
    if sum(each is not None for each in (graph, alphabet, time)) > 1:
        raise ParameterError("--graph, --alphabet and --time are three kinds of data: give one")
    if graph is not None:
        opened = open_graph(graph, parts, crs or "", directed)
        facts, taken = check_trips(source, opened, unit=unit, drop_unknown=drop_unknown, **read)
    elif alphabet is not None:
        facts, taken = check_sequences(
            source,
            alphabet,
            columns=None if column is None else (column,),
            unit=unit,
            drop_unknown=drop_unknown,
            **read,
        )
    else:
        clock = {} if period is None and every is None else clock_of(time, period, every)
        domain = domain_of(source, bounds, columns, x, y, crs, clock)
        if domain is None:
            raise ParameterError(f"{source} brings its own box and nothing to check: build from it")
        named = columns_of(columns, x, y) or None
        if time is None or clock:
            facts, taken = check_points(source, domain, columns=named, crs=crs, unit=unit, **read)
        else:
            facts, taken = check_places(
                source, domain, unit=unit, time=time, gap=gap, columns=named, crs=crs,
                **read,
            )  # fmt: skip
    lines = [f"read as {taken}", *(f"{count:>15,}  {what}" for what, count in facts.items())]
    emit(
        {"heading": CHECK_HEADING, "read_as": taken, "facts": facts},
        as_json,
        "\n".join([CHECK_HEADING, *lines]),
    )
