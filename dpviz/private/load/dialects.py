"""Differences between the SQL dialects: their names, table names and casts.

Values are sqlglot expressions that cannot fail for any record: an invalid number or time becomes
NULL. In PostgreSQL that holds for columns declared as numbers.
"""

from __future__ import annotations

import re
from typing import Any

from dpviz.errors import DataError, ParameterError
from dpviz.lazy import exp, sqlglot

DIALECTS = ("duckdb", "postgres", "spark")
"""Dialects of the engines that the tests run."""

SAME_LANGUAGE = {"postgresql": "postgres", "postgis": "postgres"}
"""Other names of dialects."""

MAX_ID_BYTES = 63
"""Bytes of the longest id that is compared as text in DuckDB; longer ids by their hash."""

_POINT_TEXT = r"^(?:MULTI)?POINT (?:Z |M |ZM )?\(([^ ,()]+) ([^ ,()]+)[^,()]*\)$"
"""A point as DuckDB writes it."""

LARGEST, SMALLEST = "1e300", "1e-300"
"""Limits of a decimal for which a cast to a double cannot fail."""


def table(name: str) -> Any:
    """Quote every part of a table name: ``table``, ``schema.table``, ``"a.b".table``."""
    names = parts_of(name)
    return exp.Table(
        **{
            place: exp.to_identifier(part, quoted=True)
            for place, part in zip(("this", "db", "catalog"), reversed(names), strict=False)
        }
    )


def parts_of(name: str) -> list[str]:
    """Catalog, schema and table in a name; a part in double quotes may hold a dot.

    >>> parts_of('main."a.b"')
    ['main', 'a.b']
    """
    part = r'"(?:[^"]|"")+"|[^".]+'
    if not re.fullmatch(rf"(?:{part})(?:\.(?:{part})){{0,2}}", name):
        raise DataError(f"table {name[:60]!r}: give table, schema.table or catalog.schema.table")
    names = re.findall(part, name)
    return [each[1:-1].replace('""', '"') if each[0] == '"' else each for each in names]


def checked_dialect(name: str) -> str:
    """Return the SQL dialect with this name."""
    name = name.strip().lower()
    name = SAME_LANGUAGE.get(name, name)
    if name not in DIALECTS:
        raise ParameterError(
            f"dialect {name!r} is not known: give one of {', '.join(DIALECTS)}, or count elsewhere "
            "by dpviz.cell_counts and dpviz.from_counts"
        )
    return name


def sql(text: str, dialect: str, /, **values: Any) -> Any:
    """Parse SQL text in a dialect, and replace each ``:name`` by its value."""
    operands = {name: _operand(value) for name, value in values.items()}

    def valued(node: Any) -> Any:
        named = isinstance(node, exp.Placeholder) and node.name in operands
        return operands[node.name].copy() if named else node

    return sqlglot.parse_one(text, read=dialect).transform(valued)


def _operand(value: Any) -> Any:
    """SQL expression of a Python value, or of an expression in parentheses if needed."""
    if isinstance(value, float):
        # Some engines read a literal such as 0.1 as a decimal and then change the cell of a record.
        return exp.cast(exp.Literal.string(repr(value)), "double")
    if isinstance(value, int):
        return exp.Literal.number(value)
    if isinstance(value, str):
        return exp.Literal.string(value)
    return exp.paren(value) if isinstance(value, exp.Binary) else value


def as_column(name: str) -> Any:
    """A column of the source by its quoted name."""
    return exp.column(exp.to_identifier(name, quoted=True), table="source")


def as_text(value: Any, dialect: str) -> Any:
    """A value in the engine's text form, compared byte by byte; refuse floats by their type.

    A column's collation may treat ``Ann`` and ``ann`` as equal, although they are two ids: the
    collation C does not. Spark compares bytes by default.
    """
    text = exp.cast(value, "varchar")
    letters = exp.to_identifier("C", quoted=True)
    return text if dialect == "spark" else exp.Collate(this=text, expression=letters)


def as_unit(value: Any, dialect: str) -> Any:
    """A unit's id as text; two are equal only if all their bytes are equal.

    In DuckDB, which reads untrusted files, a long id is replaced by its SHA-256: a small file may
    repeat an id of a megabyte, and each window of the query would hold a copy for every record.
    The hash is longer than every id that is compared as text.
    """
    text = as_text(value, dialect)
    if dialect != "duckdb":
        return text
    digest = exp.Anonymous(this="SHA256", expressions=[text.copy()])
    short = "CASE WHEN STRLEN(:id) <= :most THEN :id ELSE :digest END"
    return sql(short, dialect, id=text, most=MAX_ID_BYTES, digest=digest)


def as_number(value: Any, dialect: str) -> Any:
    """A value as a double, or NULL if it is not a number; the cast cannot fail.

    PostgreSQL has no such cast: there only columns of numbers are read.
    """
    return sql(_NUMBER[dialect], dialect, x=value)


_NUMBER = {
    # DuckDB trusts a file's min and max statistics, which ignore NaN, and skips the comparisons
    # with the box.
    "duckdb": "CASE WHEN ISFINITE(TRY_CAST(:x AS DOUBLE)) THEN TRY_CAST(:x AS DOUBLE) END",
    "spark": "TRY_CAST(:x AS DOUBLE)",
    # A decimal may be too large or small to cast. No ABS: it fails for the smallest value of a
    # whole-number type.
    "postgres": f"""
        CASE WHEN :x > -CAST('{SMALLEST}' AS DECIMAL) AND :x < CAST('{SMALLEST}' AS DECIMAL)
        THEN CAST(SIGN(:x) AS DOUBLE PRECISION) * CAST('{SMALLEST}' AS DOUBLE PRECISION)
        WHEN :x >= -CAST('{LARGEST}' AS DECIMAL) AND :x <= CAST('{LARGEST}' AS DECIMAL)
        THEN CAST(:x AS DOUBLE PRECISION) END""",
}


def as_axes(geometry: Any, dialect: str, srid: int | None) -> list[Any]:
    """X and y of a point, or of a multipoint with one point, as doubles; else NULL.

    ``srid``: SRID of the domain's CRS in PostGIS, where a column without one may mix several.
    """
    if dialect == "duckdb":  # its ST_X needs an extension to be downloaded
        text = exp.Anonymous(this="ST_ASTEXT", expressions=[geometry])
        axis = "REGEXP_EXTRACT(:text, :pattern, :group)"
        return [
            as_number(sql(axis, dialect, text=text, pattern=_POINT_TEXT, group=group), dialect)
            for group in (1, 2)
        ]
    if dialect == "postgres":  # ST_X of anything but a point is an error
        here = "" if not srid else f"AND ST_SRID(:place) IN (0, {srid})"
        axis = f"""
            CAST(CASE WHEN ST_GeometryType(:place) IN ('ST_Point', 'ST_MultiPoint')
            AND ST_NumGeometries(:place) = 1 {here}
            THEN %s(ST_GeometryN(:place, 1)) END AS DOUBLE PRECISION)"""
        geometry = exp.cast(geometry, "geometry")
    else:
        axis = "CAST(%s(:place) AS DOUBLE)"
    return [sql(axis % name, dialect, place=geometry) for name in ("ST_X", "ST_Y")]


def as_seconds(value: Any, dialect: str, clock: str) -> Any:
    """A time as seconds since 1970 UTC, or NULL if it is not a time; the cast cannot fail."""
    if clock == "milliseconds":
        return sql(":x / :thousand", dialect, x=as_number(value, dialect), thousand=1000.0)
    if clock == "number" or dialect == "spark":  # Spark casts a time to its seconds
        return as_number(value, dialect)
    if dialect == "postgres":
        return sql("CAST(EXTRACT(EPOCH FROM :x) AS DOUBLE PRECISION)", dialect, x=value)
    kind = "TIMESTAMP" if clock == "time" else "TIMESTAMPTZ"  # distant years would overflow
    seconds = f"CAST(EPOCH_US(TRY_CAST(:x AS {kind})) AS DOUBLE) / :million"
    return sql(seconds, dialect, x=value, million=1e6)
