"""Differences between the SQL dialects: their names, table names and casts.

Values are sqlglot expressions that cannot fail for any record: an invalid number or time becomes
NULL. In PostgreSQL that holds for columns declared as numbers.
"""

from __future__ import annotations

import re
from typing import Any

from dpviz.errors import DataError, ParameterError
from dpviz.lazy import exp

DIALECTS = ("duckdb", "postgres", "spark")
"""Dialects that the query is written in: those of the engines that the tests run."""

SAME_LANGUAGE = {"postgresql": "postgres", "postgis": "postgres"}
"""Other names of dialects."""

WHOLE_ID = 63
"""Bytes of the longest id that DuckDB compares itself, and not its hash of 64 letters."""

_POINT_TEXT = r"^(?:MULTI)?POINT (?:Z |M |ZM )?\(([^ ,()]+) ([^ ,()]+)[^,()]*\)$"
"""A point as DuckDB writes it."""

LARGEST, SMALLEST = "1e300", "1e-300"
"""What a decimal may be so that a cast to a double cannot fail."""


def table(name: str) -> Any:
    """A table by its name, every part of it quoted: ``table``, ``schema.table``, ``"a.b".table``.

    Raises:
        DataError: not one to three parts.
    """
    names = parts_of(name)
    return exp.Table(
        **{
            place: exp.to_identifier(part, quoted=True)
            for place, part in zip(("this", "db", "catalog"), reversed(names), strict=False)
        }
    )


def parts_of(name: str) -> list[str]:
    """Catalog, schema and table of a name; a part in double quotes may hold a dot.

    >>> parts_of('main."a.b"')
    ['main', 'a.b']
    """
    part = r'"(?:[^"]|"")+"|[^".]+'
    if not re.fullmatch(rf"(?:{part})(?:\.(?:{part})){{0,2}}", name):
        raise DataError(f"table {name[:60]!r}: give table, schema.table or catalog.schema.table")
    names = re.findall(part, name)
    return [each[1:-1].replace('""', '"') if each[0] == '"' else each for each in names]


def checked_dialect(name: str) -> str:
    """The dialect of this name.

    Raises:
        ParameterError: an unknown one.
    """
    name = name.strip().lower()
    name = SAME_LANGUAGE.get(name, name)
    if name not in DIALECTS:
        raise ParameterError(
            f"dialect {name!r} is not known: give one of {', '.join(DIALECTS)}, or count elsewhere "
            "by dpviz.cell_counts and dpviz.from_counts"
        )
    return name


def as_column(name: str) -> Any:
    """A column of the source by its quoted name."""
    return exp.column(exp.to_identifier(name, quoted=True), table="source")


def as_text(value: Any, dialect: str) -> Any:
    """A value as text, as the engine writes it; a column of floats is refused by its type.

    Two are equal where their letters are: a column of a database may take others for the same, as
    ``Ann`` and ``ann``, which are two ids. In Spark it is so by default.
    """
    text = exp.cast(value, "varchar")
    return text if dialect == "spark" else exp.Collate(this=text, expression=_letters())


def point_axes(geometry: Any) -> list[Any]:
    """The texts of x and y of a point in DuckDB, or of a multipoint of one; else nothing.

    Its ST_X is in an extension that is fetched from elsewhere.
    """
    text = exp.Anonymous(this="ST_ASTEXT", expressions=[geometry])
    pattern = exp.Literal.string(_POINT_TEXT)
    return [
        exp.Anonymous(
            this="REGEXP_EXTRACT",
            expressions=[text.copy(), pattern.copy(), exp.Literal.number(group)],
        )
        for group in (1, 2)
    ]


def as_unit(value: Any, dialect: str) -> Any:
    """The id of a unit as text, of which two are equal where their letters are.

    In DuckDB, which reads files that strangers send, a long id is its SHA-256: a small file may
    repeat one of a megabyte, which each of the query's windows would hold once for every record.
    The hash is longer than every id that stands for itself.
    """
    text = as_text(value, dialect)
    if dialect != "duckdb":
        return text
    size = exp.Anonymous(this="STRLEN", expressions=[text.copy()])
    short = exp.LTE(this=size, expression=exp.Literal.number(WHOLE_ID))
    digest = exp.Anonymous(this="SHA256", expressions=[text.copy()])
    return exp.case().when(short, text).else_(digest)


def _letters() -> Any:
    """The rules by which two texts are equal where their letters are."""
    return exp.to_identifier("C", quoted=True)


def as_number(value: Any, dialect: str) -> Any:
    """A value as a double, and nothing where it is none, in a way that cannot fail; in PostgreSQL,
    which has no such cast, of columns of numbers only.
    """
    if dialect != "postgres":
        number = exp.TryCast(this=value.copy(), to=exp.DataType.build("double"), safe=True)
        if dialect == "spark":
            return number
        # DuckDB believes a file's least and largest value, which leave out NaN, and drops the
        # comparisons with the box.
        finite = exp.Anonymous(this="ISFINITE", expressions=[number.copy()])
        return exp.case().when(finite, number)
    # A decimal may be too large or small to cast.
    low, high = (exp.cast(exp.Literal.string(each), "decimal") for each in (SMALLEST, LARGEST))
    number = exp.cast(value.copy(), "double")
    tiny = exp.Mul(
        this=exp.cast(exp.func("SIGN", value.copy()), "double"),
        expression=exp.cast(exp.Literal.string(SMALLEST), "double"),
    )
    # No ABS: the least of whole numbers has none of its type, which is an error.
    return (
        exp.case().when(_within(value, low, strict=True), tiny).when(_within(value, high), number)
    )


def _within(value: Any, most: Any, *, strict: bool = False) -> Any:
    """SQL condition that a value is within [-most, most], or (-most, most) if strict."""
    below, above = (exp.LT, exp.GT) if strict else (exp.LTE, exp.GTE)
    return exp.and_(
        above(this=value.copy(), expression=exp.Neg(this=most.copy())),
        below(this=value.copy(), expression=most.copy()),
    )


def as_seconds(value: Any, dialect: str, clock: str) -> Any:
    """A time as seconds since 1970 UTC, and nothing where it is none, in a way that cannot fail."""
    if clock == "milliseconds":
        thousandth = {"expression": as_double(1000.0), "typed": False, "safe": False}
        return exp.paren(exp.Div(this=as_number(value, dialect), **thousandth))
    if clock == "number" or dialect == "spark":  # there a time is cast to its seconds
        return as_number(value, dialect)
    if dialect == "postgres":
        return exp.cast(exp.Extract(this=exp.var("EPOCH"), expression=value), "double")
    kind = "timestamp" if clock == "time" else "timestamptz"  # far away has no microseconds
    value = exp.TryCast(this=value, to=exp.DataType.build(kind), safe=True)
    micro = exp.cast(exp.Anonymous(this="EPOCH_US", expressions=[value]), "double")
    return exp.paren(exp.Div(this=micro, expression=as_double(1e6), typed=False, safe=False))


def as_double(value: float) -> Any:
    """A constant cast from text: some engines read a literal such as 0.1 as a decimal and then put
    records into other cells.
    """
    return exp.cast(exp.Literal.string(repr(value)), "double")
