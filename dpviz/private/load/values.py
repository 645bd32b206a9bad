"""Convert a cell to a value, by the content of that cell alone.

Every function maps columns cell by cell: a value that cannot be read becomes a missing one (NaN or
null) and nothing else changes, so each has stability 1. A column of the wrong declared type (times
instead of numbers) is refused: the type is in the schema, not in a record. A column is a pyarrow
array, which has a declared type, or a list of Python values, which has none: these are read as
their text, in the form of :func:`dpviz.private.load.words.texts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain.zones import ZONE, offsets
from dpviz.errors import DataError
from dpviz.files import arrow
from dpviz.lazy import duckdb, pa, pc
from dpviz.private.load.columns import is_text, plain, shown
from dpviz.private.load.forms import explained
from dpviz.private.load.notation import DATES, EXCEL, ORDERS, PLAIN, Notation
from dpviz.private.load.tables.base import point_coordinates
from dpviz.private.load.tally import EMPTIES, Fact, Tally
from dpviz.private.load.words import texts
from dpviz.trees.lattice import Float

_YEAR_1 = -62_135_596_800
"""Seconds of the first moment of the year 1, before which no time is read."""
_EXCEL_DAYS = 25_569
"""Days from 1899-12-30, where the serial dates of workbooks begin, to 1970."""
_ISO = (
    r"^(?:(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-"
    r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
    r"(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?%s)%s\z"
)
"""Common forms of ISO 8601, all of which Arrow can cast."""
_LOCAL = _ISO % ("", "?")
_STATED = _ISO % (r"(?:Z|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)", "")
"""Patterns without a zone, and with a zone, which requires a time of day."""
_TIDY: tuple[tuple[str, str], ...] = (
    (r"^\s+|\s+\z", ""),
    (r"(?i) ?(?:Z|UTC|GMT)\z", "Z"),
    (r"(.{11}) ([+-][0-9:]+)\z", r"\1\2"),
    (r"[.,]([0-9]{1,6})[0-9]*", r".\1"),
    (r"^([0-9]{4})-?([0-9]{2})-?([0-9]{2})", r"\1-\2-\3"),
    (r"^(.{10})[Tt ]", r"\1T"),
    (r"^(.{13})([0-9]{2})", r"\1:\2"),
    (r"^(.{16})([0-9]{2})", r"\1:\2"),
    (r"^(.{11}[0-9]{2})([Z+-]|\z)", r"\1:00\2"),
)
"""Replacements that bring other forms of ISO 8601 to the usual one: the basic form, hours alone,
blanks, names of UTC, commas, digits beyond microseconds."""
_TIDY_DATE = (
    (r"^\s+|\s+\z", ""),
    (r"^([0-9]+)[./-]([0-9]+)[./-]", r"\1/\2/"),
    (r"^([^ ]+)\z", r"\1 0:00"),
    (r"(?i) ?([ap])\.?m\.?\z", r" \1M"),
    (r" ([0-9]+:[0-9]+)( |\z)", r" \1:00\2"),
)
"""Replacements that give a date slashes, and a clock minutes, seconds and a capital M."""
_WKT = (
    r"(?i)^\s*(?:SRID=(?P<srid>[0-9]+);)?\s*(?:MULTI)?POINT\s*(?:Z|M|ZM)?\s*\(\s*(?:\(\s*)?"
    r"(?P<x>[-+0-9.eE]+)\s+(?P<y>[-+0-9.eE]+)(?:\s+[-+0-9.eE]+){0,2}\s*(?:\)\s*)?\)\s*$"
)
"""A point, or a multipoint of one, perhaps with an SRID (EWKT)."""
_PAIR = (
    r"(?i)^\s*(?:POINT\s*\(|\(|\[)?\s*"
    r"(?P<a>[-+0-9.e]+)(?:\s*[,;]\s*|\s+)(?P<b>[-+0-9.e]+)\s*[\])]?\s*\z"
)


def numbers(column: Any, name: str, notation: Notation = PLAIN) -> Float:
    """A column as float64 (n,), stability 1: each cell a finite number or NaN.

    A cell of text is a number in the notation, by default with a decimal point.
    """
    if isinstance(column, list):
        words = texts(column, name)
        written = [isinstance(cell, (str, bytes)) for cell in column]
        return np.where(written, _parsed(words, notation), _parsed(words))
    types, column = pa.types, plain(column)
    kind = column.type
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    if is_text(kind):
        return _parsed(column, notation)
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        raise DataError(f"column {shown(name)} holds {kind}, not numbers: choose another")
    if types.is_decimal(kind):  # a direct cast changes the last digit of many values, such as 1.005
        column = pc.cast(column, pa.large_string())
    return _finite(_float(pc.cast(column, pa.float64(), safe=False)))


def count_unreadable(
    counts: Tally,
    what: Fact,
    lost: NDArray[np.bool_],
    columns: Mapping[str, Any],
    names: Sequence[str],
    axes: Float | None = None,
) -> None:
    """Count the ``lost`` records (n,) of columns ``names``; apart, those with an empty cell.

    The first of the others is described: the form of a time, or the column without a number.

    Args:
        axes: numbers read from the columns (n, d), NaN for none.
    """
    rows = np.flatnonzero(lost)
    empty = empty_cells(columns, names, rows)
    counts.add(what, np.count_nonzero(~empty))
    counts.add(EMPTIES[what], np.count_nonzero(empty))
    if empty.all():
        return
    first = int(rows[np.argmin(empty)])
    if what is Fact.NO_TIME:
        (name,) = names
        form = explained(texts(columns[name], name)[first].as_py().decode(errors="replace"))
        counts.describe_first(what, f"the first has the form {form}")
    elif axes is not None and axes.shape[1] == len(names):
        pairs = zip(names, axes[first], strict=True)
        without = ", ".join(shown(name) for name, axis in pairs if np.isnan(axis))
        counts.describe_first(what, f"the first has no number in {without}")


def empty_cells(
    columns: Mapping[str, Any], names: Sequence[str], rows: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Mask of the rows in which one of these columns is empty."""
    empty = np.zeros(len(rows), dtype=np.bool_)
    for name in names if len(rows) else ():
        cells = pc.cast(texts(columns[name], name), pa.large_string(), safe=False)
        written = pc.ascii_trim_whitespace(cells.take(arrow.numbers(rows)))
        empty |= ~arrow.number_array(pc.greater(pc.binary_length(written), 0))
    return empty


def times(column: Any, name: str, zone: str = ZONE, notation: Notation = PLAIN) -> Float:
    """Seconds since 1970 UTC as float64 (n,), stability 1: NaN for invalid times.

    By default a cell of text is ISO 8601 and a number is seconds since 1970 UTC; a declared time
    format reads text, and whole numbers by their digits. Times and dates that state no zone are of
    the given one, by the rule of :mod:`dpviz.domain.zones` for doubled and missing hours.

    Raises:
        DataError: the declared type holds neither times nor numbers, or times that need no format.
    """
    types, column = pa.types, texts(column, name) if isinstance(column, list) else plain(column)
    kind, form = column.type, notation.time_format
    if types.is_timestamp(kind) or types.is_date(kind):
        if form is not None:
            raise DataError(
                f"column {shown(name)} holds {kind}, which needs no time format: leave it out "
                "(time_format, --time-format)"
            )
        micro = pc.cast(pc.cast(column, pa.timestamp("us"), safe=False), pa.int64())
        seconds = _float(pc.cast(micro, pa.float64(), safe=False)) / 1e6
        stated = types.is_timestamp(kind) and kind.tz is not None
        return seconds if stated else _utc_seconds(seconds, zone)
    if types.is_nested(kind) or types.is_boolean(kind) or types.is_time(kind):
        raise DataError(
            f"column {shown(name)} holds {kind}, not times: use ISO 8601, for example "
            "2030-01-31T08:30:00"
        )
    if form is not None and not notation.numeric_times and types.is_integer(kind):
        column = pc.cast(column, pa.large_string())  # 20300131
    if is_text(column.type) and not notation.numeric_times:
        return _parsed_times(pc.cast(column, pa.large_binary()), zone, notation)
    if form == EXCEL:
        clocks = np.round((numbers(column, name, notation) - _EXCEL_DAYS) * 86_400, 3)
        return np.asarray(_utc_seconds(clocks, zone))
    return numbers(column, name, notation) / (notation.per_second or 1.0)


def text_points(column: Any, name: str, notation: Notation, srid: int | None = None) -> Float:
    """Points (n, 2) from a text column, stability 1: NaN for invalid points.

    Without a declared order a cell is WKT. With one it is two numbers between which a comma, a
    semicolon or a space stands, perhaps in parentheses or brackets, or a point in WKT.
    """
    if notation.order is None:
        return wkt_points(column, name, srid)
    column = texts(column, name) if isinstance(column, list) else plain(column)
    if not is_text(column.type):  # no rows, or missing values only
        return np.full((len(column), 2), np.nan)
    matched = pc.extract_regex(pc.cast(column, pa.large_binary()), _PAIR)
    pair = [_parsed(pc.struct_field(matched, each), PLAIN) for each in ("a", "b")]
    return np.column_stack([pair[at] for at in ORDERS[notation.order]])


def wkt_points(column: Any, name: str, srid: int | None = None) -> Float:
    """Points (n, 2) from a column of WKT or WKB, stability 1: NaN for invalid points.

    Each cell is WKT, WKB, or WKB in hexadecimal letters. A cell that states an SRID (EWKT, EWKB)
    is a point only if the SRID is that of the column.

    ``srid``: SRID of the column's CRS, if it has one.
    """
    column = texts(column, name) if isinstance(column, list) else plain(column)
    if not is_text(column.type):  # no rows, or missing values only
        return np.full((len(column), 2), np.nan)
    cells = pc.cast(column, pa.large_binary())
    matched = pc.extract_regex(cells, _WKT)
    allowed = pa.array([b"", b"0", str(srid or 0).encode()], pa.large_binary())
    allowed = pc.is_in(pc.struct_field(matched, "srid"), allowed)
    points = np.column_stack(
        [_parsed(pc.if_else(allowed, pc.struct_field(matched, axis), None)) for axis in ("x", "y")]
    )
    other = arrow.number_array(pc.and_(cells.is_valid(), pc.invert(matched.is_valid())))
    if other.any():
        points[other] = point_coordinates(cells.filter(arrow.numbers(other)), srid)
    return points


def _parsed(column: Any, notation: Notation = PLAIN) -> Float:
    """Parse cells of text as numbers."""
    text = pc.cast(column, pa.large_binary())
    if len(text) == text.null_count:
        return np.full(len(text), np.nan)
    words = pc.ascii_trim_whitespace(pc.cast(text, pa.large_string(), safe=False))
    if notation.number == PLAIN.number:
        with suppress(pa.ArrowInvalid):
            return _finite(_float(pc.cast(words, pa.float64())))  # the cast accepts "inf"
    fits = pc.match_substring_regex(words, rf"^(?:{notation.number})\z")
    words = pc.if_else(fits, words, None)
    if notation.thousands:
        words = pc.replace_substring(words, notation.thousands, "")
    words = pc.replace_substring(words, ",", ".")
    words = pc.utf8_ltrim(words, "+")
    return _finite(_float(pc.cast(words, pa.float64())))


def _finite(values: Float) -> Float:
    finite = np.isfinite(values)
    return values if finite.all() else np.where(finite, values, np.nan)


def _float(column: Any) -> Float:
    return arrow.number_array(column).astype(np.float64, copy=False)


def _parsed_times(cells: Any, zone: str, notation: Notation) -> Float:
    """Parse cells of text, which may be invalid UTF-8, as times."""
    if notation.time_pattern is not None:
        return _pattern_times(cells, zone, notation.time_pattern)
    parse: Callable[[Any, str], Float] = _iso_times
    start, replacements = r"^\s*[0-9]{4}", _TIDY
    if (date := DATES.get(notation.time_format or "")) is not None:
        parse, start = partial(_dated_times, date=date), r"^\s*[0-9]{1,2}[./-]"
        replacements = _TIDY_DATE
    seconds = parse(cells, zone)
    begun = arrow.number_array(pc.match_substring_regex(cells, start), null=0)
    # Replacements are slow: use them only for cells that begin like a date.
    odd = np.isnan(seconds) & (begun == 1)
    if odd.any():
        text = cells.filter(arrow.numbers(odd))
        for pattern, tidy in replacements:
            text = pc.replace_substring_regex(text, pattern, tidy)
        seconds[odd] = parse(text, zone)
    return seconds


def _iso_times(cells: Any, zone: str) -> Float:
    """Parse ISO 8601 cells as times."""
    seconds = np.full(len(cells), np.nan)
    for pattern, tz in ((_LOCAL, None), (_STATED, "UTC")):
        known = pc.match_substring_regex(cells, pattern)
        text = pc.cast(cells.filter(known), pa.large_string())
        micro = pc.cast(pc.cast(text, pa.timestamp("us", tz=tz)), pa.int64())
        moments = _moments(_float(pc.cast(micro, pa.float64(), safe=False)))
        seconds[arrow.number_array(known)] = moments if tz else _utc_seconds(moments, zone)
    return seconds


def _dated_times(cells: Any, zone: str, *, date: str) -> Float:
    """Parse a date in this order and a clock, of 12 hours where AM or PM ends the cell."""
    halves = arrow.number_array(pc.ends_with(cells, b"M"), null=0).astype(bool)
    seconds = np.full(len(cells), np.nan)
    for rows, clock in ((halves, "%I:%M:%S %p"), (~halves, "%H:%M:%S")):
        text = cells.filter(arrow.numbers(rows))
        seconds[rows] = _pattern_times(text, zone, f"{date} {clock}")
    return seconds


def _pattern_times(cells: Any, zone: str, pattern: str) -> Float:
    """Parse cells as times by a strptime pattern, in DuckDB; NULL if invalid."""
    with duckdb.connect(config={"threads": 1}) as engine:
        engine.register("texts", pa.table({"cell": cells}))
        query = "SELECT epoch_us(try_strptime(CAST(cell AS VARCHAR), ?)) AS micro FROM texts"
        micro = engine.execute(query, [pattern]).fetchnumpy()["micro"]
    moments = _moments(np.ma.filled(np.ma.asarray(micro, dtype=np.float64), np.nan))
    return moments if "%z" in pattern else _utc_seconds(moments, zone)


def _moments(micro: Float) -> Float:
    """Convert microseconds to seconds; NaN before the year 1."""
    return np.where(micro < _YEAR_1 * 1e6, np.nan, micro / 1e6)


def _utc_seconds(clocks: Any, zone: str) -> Any:
    """Convert local times of a zone to seconds since 1970 UTC, cell by cell."""
    return clocks if zone == ZONE else offsets(zone).to_moments(clocks)
