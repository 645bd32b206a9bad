"""The command that prints the query for a warehouse of one's own."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dpviz.cli.releases import clock_of, columns_of, domain_of
from dpviz.cli.root import (
    Bits,
    Bounds,
    ColumnNames,
    Crs,
    Every,
    Json,
    MaxPerUnit,
    Period,
    Time,
    Unit,
    XColumn,
    YColumn,
    app,
    emit,
)
from dpviz.errors import ParameterError


@app.command()
def sql(
    table: Annotated[str, typer.Option(help="The table to count: table or schema.table.")],
    bounds: Bounds = None,
    dialect: Annotated[str, typer.Option(help="bigquery, snowflake, databricks, …")] = "duckdb",
    columns: ColumnNames = None,
    x: XColumn = None,
    y: YColumn = None,
    crs: Crs = None,
    time: Time = None,
    period: Period = None,
    every: Every = None,
    bits: Bits = None,
    unit: Unit = None,
    max_per_unit: MaxPerUnit = 1,
    as_json: Json = False,
) -> None:
    """Print the query that counts records by cell, for any warehouse; its result is a SOURCE."""
    import secrets

    from dpviz.build import CellQuery, checked_bits, checked_dialect
    from dpviz.build import quoted_table as quoted

    domain = domain_of(table, bounds, columns, x, y, crs, clock_of(time, period, every))
    if domain is None:
        raise ParameterError("--bounds is missing: give the public box")
    dialect = checked_dialect(dialect, unit is not None)
    named = columns_of(columns, x, y) or domain.place.columns
    query = CellQuery(domain, named, checked_bits(bits, domain), unit, max_per_unit)
    text = query.sql(quoted(table), dialect, secrets.token_hex(16))
    again = [f"--bounds={bounds}", f"--bits {query.bits}"]
    if crs is not None:
        again.append(f"--crs {crs}")
    again += [f"--{name} {value}" for name, value in clock_of(time, period, every).items()]
    if unit is not None:
        again += [f"--unit {unit}", f"--max-per-unit {max_per_unit}"]
    print(
        "note: THE RESULT HOLDS EXACT COUNTS and is as sensitive as the table. Save it as CSV or "
        f"Parquet, and give it to 'dpviz build' with {' '.join(again)}",
        file=sys.stderr,
    )
    facts = {"sql": text, "dialect": dialect, "bits": query.bits}
    emit({**facts, "columns": ["cell", query.count_column]}, as_json, text)
