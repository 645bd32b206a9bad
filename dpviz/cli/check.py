"""The command ``dpviz check``: exact counts of read and dropped records, for the data owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dpviz.cli.data import AREAS, FLOWS, OPTIONS_OF, PLACES, POINTS, SYMBOLS, TRIPS, Data
from dpviz.cli.groups import given, grouped, require_applicable
from dpviz.cli.root import Json, app, emit, print_stderr
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.private.load.tally import Tally

CHECKED = {kind: OPTIONS_OF[kind] for kind in (POINTS, AREAS, FLOWS, TRIPS, SYMBOLS, PLACES)}


@app.command()
@grouped
def check(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="File, folder or table, as for 'dpviz build'.")
    ],
    data: Data,
    as_json: Json = False,
) -> None:
    """Show the data owner how many records are dropped, and why.

    The counts are EXACT: do not publish them.
    """
    from dpviz.private.load.check import CHECK_HEADING
    from dpviz.private.load.tally import REMEDIES, Fact

    kind = data.kind(source)
    if kind not in CHECKED:
        raise ParameterError(f"{kind} cannot be checked: check the records as points in --bounds")
    require_applicable(kind, given(data), CHECKED)
    tally, taken, advice = _checked(source, kind, data)
    if advice:
        print_stderr(f"note: {advice}")
    lines = [f"read as {taken}"]
    for what in map(Fact, tally.facts):
        remedy = f" ({tally.remedy(what)})" if what in REMEDIES else ""
        if what is not Fact.OUTSIDE_AT_ZERO:  # said within its reason
            lines.append(f"{tally[what]:>15,}  {tally.words(what)}{remedy}")
    lines += [] if tally[Fact.READ] else ["The source has no records, at most a header."]
    emit(
        {"heading": CHECK_HEADING, "read_as": taken, "facts": tally.facts},
        as_json,
        "\n".join([CHECK_HEADING, *lines]),
    )


def _checked(source: str, kind: str, data: Data) -> tuple[Tally, str, str]:
    from dpviz.private.load.check import check_source, time_advice
    from dpviz.roads.steps import Steps

    domain, options = data.arguments(source)
    if kind == AREAS:
        domain = data.record_domain(domain)
    if domain is None:
        raise ParameterError(
            f"{source} holds counts or built-in data: there is nothing to check, build from it"
        )
    how = {name: each for name, each in options.items() if each is not None and name != "kind"}
    if kind in (FLOWS, TRIPS) and (clock := data.clock.steps()):
        how = {name: each for name, each in how.items() if name not in clock}
        how["steps"] = Steps.of(**clock)
    tally, taken = check_source(source, domain, **how)
    return tally, taken, time_advice(source, domain, **how)
