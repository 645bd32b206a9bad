"""What differs between the dialects of SQL: their names, their tables' names, their casts.

Values are sqlglot expressions that cannot fail for any record: what is no number, or no time, is
nothing. Of some dialects that is so of columns which are declared as numbers.
"""

from __future__ import annotations

import re
from typing import Any

from dpviz.errors import DataError, ParameterError
from dpviz.lazy import exp, sqlglot

SAME_LANGUAGE = {"postgresql": "postgres", "postgis": "postgres", "mssql": "tsql"}
"""Other names of dialects."""

NO_HASH = ("druid", "exasol", "oracle", "sqlite", "teradata")
"""Dialects without a function MD5, so that a unit's records cannot be chosen in them."""

DECLARED_NUMBERS = (
    *("doris", "dremio", "drill", "druid", "exasol", "materialize", "mysql", "oracle", "postgres"),
    *("redshift", "risingwave", "snowflake", "starrocks"),
)
"""Dialects without a cast that gives nothing where it fails, or with one of texts only: their
columns must be of numbers."""

NULL_CASTS = ("hive", "spark2")
"""Dialects whose usual cast gives nothing where it fails."""

REFUSE_DECIMALS = ("postgres", "redshift")
"""Dialects of decimals that may be too large or small for a cast to a double."""

COLLATED = ("duckdb", "postgres")
"""Dialects in which a text that is cast keeps its column's rules of comparison."""

SHA_256 = {
    **dict.fromkeys(
        ("databricks", "doris", "hive", "redshift", "snowflake", "spark2", "starrocks"),
        "SHA2(CAST(id AS TEXT), 256)",
    ),
    **dict.fromkeys(
        ("athena", "dune", "presto", "trino"), "TO_HEX(SHA256(TO_UTF8(CAST(id AS VARCHAR))))"
    ),
    **dict.fromkeys(("dremio", "drill"), "SHA256(CAST(id AS VARCHAR))"),
    "bigquery": "TO_HEX(SHA256(CAST(id AS STRING)))",
    "clickhouse": "HEX(SHA256(CAST(id AS Nullable(String))))",
    "fabric": "CONVERT(VARCHAR(64), HASHBYTES('SHA2_256', CAST(id AS VARCHAR(MAX))), 2)",
    "materialize": "ENCODE(DIGEST(CAST(id AS TEXT), 'sha256'), 'hex')",
    "mysql": "SHA2(CAST(id AS BINARY), 256)",
    "risingwave": "ENCODE(SHA256(CONVERT_TO(CAST(id AS TEXT), 'UTF8')), 'hex')",
    "tsql": "CONVERT(VARCHAR(64), HASHBYTES('SHA2_256', CAST(id AS NVARCHAR(MAX))), 2)",
}
"""How dialects write the SHA-256 of a whole id as letters, of which nobody knows two alike: as many
as one likes have one MD5. MySQL would read the letters of a text anew, and lose some."""

SHORT_TEXT = ("fabric", "tsql")
"""Dialects whose plain cast to a text ends after 30 letters, or refuses what has more."""

WHOLE_ID = 63
"""Bytes of the longest id that DuckDB compares itself, and not its hash of 64 letters."""

FLOATS = {
    "duckdb": ("FLOAT", "DOUBLE"),
    "spark": ("float", "double"),
    "postgres": ("real", "double precision", "numeric"),
}
"""What dialects call the types that NaN may be of."""

RAISE_ON_UNDERFLOW = ("materialize", "postgres", "redshift", "risingwave")
"""Dialects that refuse to divide 1e-320 by 2; so small an offset is in the first cell anyway."""

FIRST_EXPONENT = 1e16
"""From here on whole floats are written with an exponent, in files as in DuckDB."""

_POINT_TEXT = r"^(?:MULTI)?POINT (?:Z |M |ZM )?\(([^ ,()]+) ([^ ,()]+)[^,()]*\)$"
"""A point as DuckDB writes it."""

LARGEST, SMALLEST = "1e300", "1e-300"
"""What a decimal may be so that a cast to a double cannot fail."""

NOT_SQL = ("", "dax", "prql", "solr", "tableau")


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


def dialects() -> tuple[str, ...]:
    """Every dialect that the query can be written in."""
    return tuple(sorted(each.value for each in sqlglot.Dialects if each.value not in NOT_SQL))


def checked_dialect(name: str, bounded: bool = False) -> str:
    """The dialect of this name.

    Raises:
        ParameterError: an unknown one, or one that cannot bound a unit's records.
    """
    name = name.strip().lower()
    name = SAME_LANGUAGE.get(name, name)
    if name not in dialects():
        raise ParameterError(f"dialect {name!r} is not known: give one of {', '.join(dialects())}")
    if bounded and name in NO_HASH:
        raise ParameterError(
            f"dialect {name} has no MD5, so it cannot choose a unit's records: leave out the unit"
        )
    return name


def as_column(name: str) -> Any:
    """A column of the source by its quoted name."""
    return exp.column(exp.to_identifier(name, quoted=True), table="source")


def as_text(value: Any, dialect: str) -> Any:
    """A value as text, as a file has it: 1 of a column of floats as ``1``, NaN as nothing.

    Floats are written as in :func:`dpviz.private.load.words.texts`; of Spark's that is so of whole
    numbers only. Two are equal where their letters are: a column of a database may take others for
    the same, as ``Ann`` and ``ann``, which are two ids.
    """
    text: Any = exp.cast(value, "text" if dialect in SHORT_TEXT else "varchar")
    if dialect in FLOATS:
        text = exp.paren(_of_floats(value, dialect).else_(text))
    if dialect not in COLLATED:
        return text
    return exp.Collate(this=text, expression=_letters())


def _of_floats(value: Any, dialect: str) -> Any:
    """The text of a value where its type is one of floats, as a CASE that goes on for others.

    Nothing here may fail for a value of another type: an engine may compute it before it asks.
    """
    text, postgres = exp.cast(value, "varchar"), dialect == "postgres"
    kind = exp.Anonymous(this="PG_TYPEOF" if postgres else "TYPEOF", expressions=[value.copy()])
    kind = exp.cast(kind, "varchar") if postgres else kind
    kinds = [exp.Literal.string(each) for each in FLOATS[dialect]]
    none = [exp.Literal.string(each) for each in ("nan", "NaN")]
    unread = exp.and_(
        exp.In(this=text.copy(), expressions=none), exp.In(this=kind, expressions=kinds)
    )
    single = exp.cast(exp.cast(_tried(text, "float"), "double"), "varchar")  # all of its digits
    case = exp.case().when(unread, exp.Null())
    for name, digits in zip(kinds, (single, text), strict=False):
        same = exp.EQ(this=kind.copy(), expression=name.copy())
        case = case.when(same, _without_exponent(digits, dialect))
    return case


def _without_exponent(text: Any, dialect: str) -> Any:
    """The text of a double without ``.0``, and of a whole one below 10^16 its digits alone."""
    if dialect == "postgres":  # it has an exponent from 10^15 on
        end = exp.Anonymous(this="RIGHT", expressions=[text.copy(), exp.Literal.number(4)])
        long = exp.EQ(this=end, expression=exp.Literal.string("e+15"))
        digits = exp.cast(exp.cast(text.copy(), "decimal"), "varchar")
        return exp.case().when(long, digits).else_(text.copy())
    end = [exp.Literal.string(each) for each in ("[.]0$", "")]
    short = exp.Anonymous(this="REGEXP_REPLACE", expressions=[text.copy(), *end])
    if dialect != "spark":
        return short
    number = _tried(text, "double")  # it has an exponent from 10^7 on
    whole = exp.and_(
        exp.Like(this=text.copy(), expression=exp.Literal.string("%E%")),
        _within(number, as_double(FIRST_EXPONENT), strict=True),
        exp.EQ(this=number, expression=exp.cast(exp.Floor(this=number.copy()), "double")),
    )
    digits = exp.cast(exp.cast(number.copy(), "bigint"), "varchar")
    return exp.case().when(whole, digits).else_(short)


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


def _tried(value: Any, kind: str) -> Any:
    """A cast that gives nothing where it fails, in dialects that have one."""
    return exp.TryCast(this=value.copy(), to=exp.DataType.build(kind), safe=True)


def as_unit(value: Any, dialect: str) -> Any:
    """The id of a unit as text, whole, of which two are equal where their letters are. In dialects
    that no test asks, its SHA-256, since a column there may compare texts in any way, also without
    the blanks at their end.

    In DuckDB, which reads files that strangers send, a long id is its SHA-256 too: a small file may
    repeat one of a megabyte, which each of the query's windows would hold once for every record.
    The hash is longer than every id that stands for itself.
    """
    if dialect == "duckdb":
        text = exp.Collate(this=exp.cast(value, "varchar"), expression=_letters())
        size = exp.Anonymous(this="STRLEN", expressions=[text.copy()])
        short = exp.LTE(this=size, expression=exp.Literal.number(WHOLE_ID))
        digest = exp.Anonymous(this="SHA256", expressions=[text])
        return exp.case().when(short, as_text(value, dialect)).else_(digest)
    if dialect in (*COLLATED, "spark"):
        return as_text(value, dialect)
    written = sqlglot.parse_one(SHA_256[dialect], read=dialect)
    for column in [*written.find_all(exp.Column)]:
        column.replace(value.copy())
    return written


def _letters() -> Any:
    """The rules by which two texts are equal where their letters are."""
    return exp.to_identifier("C", quoted=True)


def as_number(value: Any, dialect: str) -> Any:
    """A value as a double, and nothing where it is none, in a way that cannot fail; in the dialects
    of :data:`DECLARED_NUMBERS`, for columns of numbers.
    """
    if dialect == "sqlite":  # where a text that is no number is 0
        kind = exp.Anonymous(this="TYPEOF", expressions=[value.copy()])
        kinds = [exp.Literal.string(each) for each in ("real", "integer")]
        number = exp.cast(value, "double")
        return exp.case().when(exp.In(this=kind, expressions=kinds), number)
    if dialect == "clickhouse":
        text = exp.Anonymous(this="toString", expressions=[value.copy()])
        return exp.Anonymous(this="toFloat64OrNull", expressions=[text])
    if dialect in DECLARED_NUMBERS and dialect not in REFUSE_DECIMALS:
        return exp.cast(value, "double")
    if dialect not in DECLARED_NUMBERS:
        number = _tried(value, "double")
        if dialect != "duckdb":
            return number
        # DuckDB believes a file's least and largest value, which leave out NaN, and drops the
        # comparisons with the box.
        finite = exp.Anonymous(this="ISFINITE", expressions=[number.copy()])
        return exp.case().when(finite, number)
    # Its columns hold numbers by declaration, but a decimal may be too large or small to cast.
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
    """Whether a value is from -most to most, in the strict case without both."""
    below, above = (exp.LT, exp.GT) if strict else (exp.LTE, exp.GTE)
    return exp.and_(
        above(this=value.copy(), expression=exp.Neg(this=most.copy())),
        below(this=value.copy(), expression=most.copy()),
    )


def as_seconds(value: Any, dialect: str, clock: str) -> Any:
    """A time as seconds since 1970 UTC, and nothing where it is none, in a way that cannot fail.

    Raises:
        ParameterError: a dialect whose times are not known here.
    """
    if clock == "milliseconds":
        thousandth = {"expression": as_double(1000.0), "typed": False, "safe": False}
        return exp.paren(exp.Div(this=as_number(value, dialect), **thousandth))
    if clock == "number" or dialect == "spark":  # there a time is cast to its seconds
        return as_number(value, dialect)
    if dialect == "postgres":
        return exp.cast(exp.Extract(this=exp.var("EPOCH"), expression=value), "double")
    if dialect != "duckdb":
        raise ParameterError(f"dialect {dialect} counts times as seconds since 1970: give a view")
    kind = "timestamp" if clock == "time" else "timestamptz"  # far away has no microseconds
    value = exp.TryCast(this=value, to=exp.DataType.build(kind), safe=True)
    micro = exp.cast(exp.Anonymous(this="EPOCH_US", expressions=[value]), "double")
    return exp.paren(exp.Div(this=micro, expression=as_double(1e6), typed=False, safe=False))


def as_double(value: float) -> Any:
    """A constant cast from text: some engines read a literal such as 0.1 as a decimal and then put
    records into other cells.
    """
    return exp.cast(exp.Literal.string(repr(value)), "double")
