"""The command that tells an owner what becomes of the records of a source."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from dpviz.cli.groups import grouped
from dpviz.cli.options import Attributes, Clock, Places, TableName, TextForms, Units
from dpviz.cli.root import Json, app, emit
from dpviz.cli.sources import Streets
from dpviz.errors import ParameterError


@app.command()
@grouped
def check(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A file, folder or table, as for build.")
    ],
    places: Places,
    clock: Clock,
    attributes: Attributes,
    forms: TextForms,
    units: Units,
    table: TableName = None,
    graph: Annotated[
        str | None, typer.Option(help="Trips: the public road graph, as for roads build.")
    ] = None,
    components: Annotated[
        str, typer.Option("--components", "--parts", help="Trips: as for roads build.")
    ] = "refuse",
    directed: Annotated[bool, typer.Option("--directed", help="Trips: edges are one-way.")] = False,
    alphabet: Annotated[
        str | None, typer.Option(help="Sequences: the public symbols, as for sequences build.")
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", help="Sequences: the list column of symbols.")
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(help="With --time alone: session gap, in hours; 12 by default."),
    ] = None,
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
    from dpviz.roads.steps import Steps

    read: dict[str, Any] = {**units.reading(), **forms.reading(), "table": table}
    if alphabet is not None and not (graph is None and clock.time is None):
        raise ParameterError("--alphabet is of other data than --graph and --time: give one")
    in_time = clock.time is not None and not {*clock.given} - {"time"}
    box = ("bounds", places.bounds), ("x", places.x), ("y", places.y)
    _check_fit(
        "trips" if graph else "symbols" if alphabet else "places in time" if in_time else "points",
        {
            **{name: (value, ("points", "places in time")) for name, value in box},
            "columns": (places.columns, ("points", "places in time", "trips")),
            "crs": (places.crs, ("points", "places in time", "trips")),
            **{name: (value, ("points",)) for name, value in vars(attributes).items()},
            **{
                name.replace("_", "-"): (value, ("points", "places in time", "trips"))
                for name, value in forms.reading().items()
            },
            "components": (components != "refuse", ("trips",)),
            "directed": (directed, ("trips",)),
            "column": (column, ("symbols",)),
            "drop-unknown": (drop_unknown, ("trips", "symbols")),
            "gap": (gap is not None, ("places in time",)),
        },
    )
    if graph is not None:
        streets = Streets(
            graph=graph, components=components, crs=places.crs or "", directed=directed
        )
        read["steps"] = Steps.of(**clock.steps()) if clock.given else None
        read |= {"columns": places.names or None, "drop_unknown": drop_unknown}
        facts, taken = check_trips(source, streets.opened(), **read)
    elif alphabet is not None:
        columns = None if column is None else (column,)
        facts, taken = check_sequences(
            source, alphabet, columns=columns, drop_unknown=drop_unknown, **read
        )
    else:
        axis = replace(clock, time=None) if in_time else clock
        domain = places.domain(source, axis, attributes)
        if domain is None:
            raise ParameterError(f"{source} brings its own box and nothing to check: build from it")
        read |= places.reading()
        if in_time:
            read["gap"] = 12.0 if gap is None else gap
            facts, taken = check_places(source, domain, time=clock.time, **read)
        else:
            facts, taken = check_points(source, domain, **read)
    lines = [f"read as {taken}", *(f"{count:>15,}  {what}" for what, count in facts.items())]
    emit(
        {"heading": CHECK_HEADING, "read_as": taken, "facts": facts},
        as_json,
        "\n".join([CHECK_HEADING, *lines]),
    )


def _check_fit(kind: str, options: dict[str, tuple[object, tuple[str, ...]]]) -> None:
    """Refuse options that would be left aside: of each, whether it is given, and what it is for."""
    for name, (value, kinds) in options.items():
        if value and kind not in kinds:
            raise ParameterError(f"--{name} is for {' and '.join(kinds)}, not for {kind}")
