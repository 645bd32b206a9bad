"""The command that prints the query for the owner's own database."""

from __future__ import annotations

import secrets
import shlex

from dpviz.cli.groups import MISSING, grouped, option
from dpviz.cli.options import Attributes, Bits, Clock, Places, Units
from dpviz.cli.root import Json, app, complain, emit


@app.command()
@grouped
def sql(
    *,
    table: str = option("Table to count: table or schema.table.", default=MISSING),
    places: Places,
    clock: Clock,
    attributes: Attributes,
    units: Units,
    dialect: str = option("SQL dialect: duckdb, postgres or spark.", default="duckdb"),
    bits: Bits = None,
    as_json: Json = False,
) -> None:
    """Print the query that counts records by cell; its result is a SOURCE."""
    from dpviz.private.load.cellquery import CellQuery
    from dpviz.private.load.dialects import checked_dialect
    from dpviz.private.load.dialects import table as quoted
    from dpviz.private.load.selection import checked_bits

    domain = places.domain(None, clock, attributes.without_values())
    assert domain is not None
    dialect = checked_dialect(dialect)
    named = places.names or domain.place.columns
    query = CellQuery(domain, named, checked_bits(bits, domain), **units.reading())
    text = query.sql(quoted(table), dialect, secrets.token_hex(16))
    again = [f"--bounds={places.bounds}", "--bits", str(query.bits)]
    if places.crs is not None:
        again += ["--crs", places.crs]
    for name, value in (vars(clock) | vars(attributes)).items():
        if value is not None:
            again += [f"--{name.replace('_', '-')}", str(value)]
    if units.unit is not None:
        again += ["--unit", units.unit, "--max-per-unit", str(units.max_per_unit)]
    complain(
        "note: THE RESULT HOLDS EXACT COUNTS and is as sensitive as the table. Save it as CSV or "
        f"Parquet, and give it to 'dpviz build' with {shlex.join(again)}"
    )
    if domain.time is not None:
        complain(f"note: column {domain.time!r} must hold seconds since 1970 UTC: else give a view")
    if dialect == "postgres":
        complain("note: columns of coordinates must be declared as numbers: else give a view")
    if units.unit is not None:
        complain(f"note: column {units.unit!r} must hold texts or whole numbers: else give a view")
    facts = {"sql": text, "dialect": dialect, "bits": query.bits}
    emit({**facts, "columns": ["cell", query.count_column]}, as_json, text)
