"""The command that tells an owner what becomes of the records of a source."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dpviz.cli.data import PLACES, POINTS, SYMBOLS, TAKES, TRIPS, Data
from dpviz.cli.groups import given, grouped, require_fit
from dpviz.cli.root import Json, app, emit
from dpviz.errors import ParameterError

CHECKED = {kind: TAKES[kind] for kind in (POINTS, TRIPS, SYMBOLS, PLACES)}


@app.command()
@grouped
def check(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A file, folder or table, as for build.")
    ],
    data: Data,
    as_json: Json = False,
) -> None:
    """Tell the owner, EXACTLY, which records would be dropped and why; no part of any release."""
    from dpviz.build import CHECK_HEADING

    kind = data.kind(source)
    if kind not in CHECKED:
        raise ParameterError(f"{kind} are not checked: check points in the --bounds of them")
    require_fit(kind, given(data), CHECKED)
    facts, taken = _checked(source, kind, data)
    lines = [f"read as {taken}", *(f"{count:>15,}  {what}" for what, count in facts.items())]
    emit(
        {"heading": CHECK_HEADING, "read_as": taken, "facts": facts},
        as_json,
        "\n".join([CHECK_HEADING, *lines]),
    )


def _checked(source: str, kind: str, data: Data) -> tuple[dict[str, int], str]:
    from dpviz.build import alphabet_of, check_source
    from dpviz.roads.steps import Steps

    frame, places, read = data.frame, data.places, data.reading
    if kind == TRIPS:
        steps: Any = Steps.of(**data.clock.steps()) if given(data.clock) else None
        read |= {"columns": places.names or None, "drop_unknown": frame.drop_unknown}
        return check_source(source, frame.road_graph(places.crs), steps=steps, **read)
    if kind == SYMBOLS:
        read |= {"columns": frame.column and (frame.column,), "drop_unknown": frame.drop_unknown}
        return check_source(source, alphabet_of(frame.alphabet or ""), **read)
    read |= places.reading()
    if kind == PLACES:
        read |= {"time": data.person_time(), "gap": 12.0 if frame.gap is None else frame.gap}
        return check_source(source, data.place_box(), **read)
    domain = places.domain(source, data.clock, data.attributes)
    if domain is None:
        raise ParameterError(f"{source} brings its own box and nothing to check: build from it")
    return check_source(source, domain, **read)
