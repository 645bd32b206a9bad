"""The command that shows an owner the fate of a source's records."""

from __future__ import annotations

from typing import Annotated

import typer

from dpviz.cli.data import PLACES, POINTS, SYMBOLS, TAKES, TRIPS, Data
from dpviz.cli.groups import given, grouped, require_fit
from dpviz.cli.root import Json, app, complain, emit
from dpviz.errors import ParameterError

CHECKED = {kind: TAKES[kind] for kind in (POINTS, TRIPS, SYMBOLS, PLACES)}


@app.command()
@grouped
def check(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="File, folder or table, as for 'dpviz build'.")
    ],
    data: Data,
    as_json: Json = False,
) -> None:
    """Show the owner EXACT counts of dropped records and the reasons; never part of a release."""
    from dpviz.private.load.check import CHECK_HEADING

    kind = data.kind(source)
    if kind not in CHECKED:
        raise ParameterError(f"{kind} are not checked: check points in the --bounds of them")
    require_fit(kind, given(data), CHECKED)
    facts, taken, advice = _checked(source, kind, data)
    if advice:
        complain(f"note: {advice}")
    lines = [f"read as {taken}", *(f"{count:>15,}  {what}" for what, count in facts.items())]
    emit(
        {"heading": CHECK_HEADING, "read_as": taken, "facts": facts},
        as_json,
        "\n".join([CHECK_HEADING, *lines]),
    )


def _checked(source: str, kind: str, data: Data) -> tuple[dict[str, int], str, str]:
    from dpviz.private.load.check import check_source, time_advice
    from dpviz.roads.steps import Steps

    domain, options = data.arguments(source)
    if domain is None:
        raise ParameterError(f"{source} brings its own box and nothing to check: build from it")
    how = {name: each for name, each in options.items() if each is not None and name != "kind"}
    if kind == TRIPS and (clock := data.clock.steps()):
        how = {name: each for name, each in how.items() if name not in clock}
        how["steps"] = Steps.of(**clock)
    tally, taken = check_source(source, domain, **how)
    return tally.facts, taken, time_advice(source, domain, **how)
