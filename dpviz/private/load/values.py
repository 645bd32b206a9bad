"""Type: what a cell holds, decided from that cell alone.

Every function maps columns cell by cell: a value that cannot be read becomes a missing one (NaN or
null) and nothing else changes, so each has stability 1. What a column's declared type rules out
(times where numbers belong) is refused: that is the schema, not a record. A column is a pyarrow
array of a declared type, or a list of Python values where each cell has a type of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import Any

import numpy as np

from dpviz.domain.zones import ZONE, offsets
from dpviz.errors import DataError
from dpviz.files import arrow
from dpviz.lazy import pa, pc
from dpviz.private.load.columns import is_text, plain, shown
from dpviz.private.load.tables.base import point_coordinates
from dpviz.private.load.words import texts
from dpviz.trees.lattice import Float

_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
"""There is one way to match it: with two, a long row of digits and a letter takes hours."""
_PLAIN = r"^-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\z"
"""Of such, those that a whole column is read of at once, once a comma is a point."""
_YEAR_1 = -62_135_596_800
"""Seconds of the first moment that Python knows, so that both ways of reading a text agree."""
_SLASHES = r"^([0-9]{4})/([0-9]{2})/([0-9]{2})"
_DASHES = r"\1-\2-\3"
"""The date of a time, as GDAL writes it into a Shapefile, and as ISO 8601 has it."""
_ISO = (
    r"^(?:(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-"
    r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
    r"(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?%s)%s\z"
)
"""Of times, those that a whole column is read of at once: Arrow refuses none of them, and reads
them as Python does."""
_LOCAL = _ISO % ("", "?")
_STATED = _ISO % (r"(?:Z|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)", "")
"""Without a zone, and with one, which only a time of day has."""
Moment = tuple[float, bool]
"""Seconds since 1970, and whether of UTC; else of the clocks of a zone that is not stated."""
_NO_TIME: Moment = (math.nan, True)
_WKT = (
    r"(?i)^\s*(?:SRID=(?P<srid>[0-9]+);)?\s*(?:MULTI)?POINT\s*(?:Z|M|ZM)?\s*\(\s*(?:\(\s*)?"
    r"(?P<x>[-+0-9.eE]+)\s+(?P<y>[-+0-9.eE]+)(?:\s+[-+0-9.eE]+){0,2}\s*(?:\)\s*)?\)\s*$"
)
"""A point, or a multipoint of one, perhaps with an SRID (EWKT)."""


def numbers(column: Any, name: str) -> Float:
    """A column as float64 (n,), stability 1: each cell a finite number or NaN.

    A cell of text is a number with a decimal point, or with one comma and no point, which is then
    a decimal comma.

    Raises:
        DataError: the declared type holds no numbers.
    """
    if isinstance(column, list):
        return np.array([_number(cell) for cell in column], dtype=np.float64)
    types, column = pa.types, plain(column)
    kind = column.type
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    if is_text(kind):
        return _parsed(column)
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        raise DataError(f"column {shown(name)} holds {kind}, not numbers: choose another")
    if types.is_decimal(kind):  # a direct cast is off in the last digit of many, as of 1.005
        column = pc.cast(column, pa.large_string())
    return _finite(_float(pc.cast(column, pa.float64(), safe=False)))


def typed(columns: dict[str, Any], numeric: Sequence[str]) -> dict[str, Any]:
    """The same columns by name, some of them as :func:`numbers`."""
    return {
        name: numbers(cells, name) if name in numeric else cells for name, cells in columns.items()
    }


def times(column: Any, name: str, zone: str = ZONE) -> Float:
    """Seconds since 1970 UTC as float64 (n,), stability 1: what is no time is NaN.

    A cell of text is ISO 8601, also with the slashes of a Shapefile (2030/01/31 08:30:00), or a
    number of seconds; numbers are seconds since 1970 UTC, never guessed to be of another unit by
    their size. Times and dates that state no zone are of the given one, by the rule of
    :mod:`dpviz.domain.zones` for doubled and missing hours.

    Raises:
        DataError: the declared type holds neither times nor numbers.
    """
    if isinstance(column, list):
        return _moments([_time(cell) for cell in column], zone)
    types, column = pa.types, plain(column)
    kind = column.type
    if types.is_timestamp(kind) or types.is_date(kind):
        micro = pc.cast(pc.cast(column, pa.timestamp("us"), safe=False), pa.int64())
        seconds = _float(pc.cast(micro, pa.float64(), safe=False)) / 1e6
        stated = types.is_timestamp(kind) and kind.tz is not None
        return seconds if stated else _of_zone(seconds, zone)
    if is_text(kind):
        return _parsed_times(column, zone)
    if types.is_nested(kind) or types.is_boolean(kind) or types.is_time(kind):
        raise DataError(
            f"column {shown(name)} holds {kind}, not times: use ISO 8601, for example "
            "2030-01-31T08:30:00"
        )
    return numbers(column, name)


def wkt_points(column: Any, name: str, srid: int | None = None) -> Float:
    """Points (n, 2) of a column of WKT or WKB, stability 1: what is no point is NaN.

    Each cell is WKT, WKB, or WKB in hexadecimal letters. One that states an SRID (EWKT, EWKB) is
    read where that is the column's, and is else no point.

    Args:
        column: of text or bytes.
        name: of the column.
        srid: of the column's CRS, if it has one.
    """
    column = texts(column, name) if isinstance(column, list) else plain(column)
    if not is_text(column.type):  # of no rows, or of missing ones alone
        return np.full((len(column), 2), np.nan)
    cells = pc.cast(column, pa.large_binary())
    matched = pc.extract_regex(cells, _WKT)
    allowed = pa.array([b"", b"0", str(srid or 0).encode()], pa.large_binary())
    allowed = pc.is_in(pc.struct_field(matched, "srid"), allowed)
    points = np.column_stack(
        [_parsed(pc.if_else(allowed, pc.struct_field(matched, axis), None)) for axis in ("x", "y")]
    )
    rest = arrow.number_array(pc.and_(cells.is_valid(), pc.invert(matched.is_valid())))
    if rest.any():
        points[rest] = point_coordinates(cells.filter(arrow.numbers(rest)), srid)
    return points


def _number(cell: Any) -> float:
    """A Python value as a number; NaN for what is none."""
    if isinstance(cell, (str, bytes)) or cell is None:
        return number_of(cell)
    if isinstance(cell, bool):
        return math.nan
    try:
        number = float(cell)
        return number if math.isfinite(number) else math.nan
    except Exception:  # any cell's own __float__ may fail in any way
        return math.nan


def _time(cell: Any) -> Moment:
    """A Python value as a time; NaN for what is none."""
    if isinstance(cell, datetime):
        return _since_1970(cell) if cell == cell else _NO_TIME
    if isinstance(cell, date):
        return _since_1970(datetime.combine(cell, time()))
    return _time_of(cell) if isinstance(cell, (str, bytes)) else (_number(cell), True)


def number_of(cell: bytes | str | None) -> float:
    """The number in a cell of text; NaN for anything else."""
    if cell is None:
        return math.nan
    word = (cell.encode(errors="surrogatepass") if isinstance(cell, str) else cell).strip()
    value = float(word.replace(b",", b".")) if _NUMBER.fullmatch(word) else math.nan
    return value if math.isfinite(value) else math.nan


def _parsed(column: Any) -> Float:
    """Cells of text as numbers: the plain ones at once, so that an odd one delays no other."""
    text = pc.cast(column, pa.large_binary())
    if len(text) == text.null_count:
        return np.full(len(text), np.nan)
    words = pc.ascii_trim_whitespace(pc.cast(text, pa.large_string(), safe=False))
    words = pc.replace_substring(words, ",", ".")
    with suppress(pa.ArrowInvalid):
        return _finite(_float(pc.cast(words, pa.float64())))  # it reads "inf"
    plain = pc.match_substring_regex(words, _PLAIN)
    values = _float(pc.cast(pc.if_else(plain, words, None), pa.float64())).copy()
    odd = np.flatnonzero(arrow.number_array(pc.invert(plain)))
    values[odd] = [number_of(cell) for cell in text.take(arrow.numbers(odd)).to_pylist()]
    return _finite(values)


def _finite(values: Float) -> Float:
    finite = np.isfinite(values)
    return values if finite.all() else np.where(finite, values, np.nan)


def _float(column: Any) -> Float:
    return arrow.number_array(column).astype(np.float64, copy=False)


def _parsed_times(column: Any, zone: str) -> Float:
    """Cells of text as times: the plain ones at once, so that an odd one delays no other."""
    cells = pc.cast(column, pa.large_binary())  # which need not be UTF-8
    dates = cells
    if pc.any(pc.match_substring(cells, "/")).as_py():
        dates = pc.replace_substring_regex(cells, _SLASHES, _DASHES)
    seconds, odd = np.full(len(cells), np.nan), arrow.number_array(cells.is_valid())
    for pattern, tz in ((_LOCAL, None), (_STATED, "UTC")):
        plain = pc.match_substring_regex(dates, pattern)
        text = pc.cast(dates.filter(plain), pa.large_string())
        micro = pc.cast(pc.cast(text, pa.timestamp("us", tz=tz)), pa.int64())
        known = arrow.number_array(plain)
        moments = _float(pc.cast(micro, pa.float64(), safe=False)) / 1e6
        moments = np.where(moments < _YEAR_1, np.nan, moments)
        seconds[known] = moments if tz else _of_zone(moments, zone)
        odd &= ~known
    rest = cells.filter(arrow.numbers(odd))
    number = _parsed(rest)
    none = np.isnan(number)
    words = rest.filter(arrow.numbers(none)).to_pylist()
    number[none] = _moments([_time_of(cell) for cell in words], zone)
    seconds[odd] = number
    return seconds


def _moments(cells: list[Moment], zone: str) -> Float:
    """Seconds since 1970 UTC (n,): what a zone has to do with them is looked up for all at once."""
    seconds = np.array([each for each, _ in cells], dtype=np.float64)
    stated = np.array([each for _, each in cells], dtype=np.bool_)
    return np.where(stated, seconds, _of_zone(seconds, zone))


def _time_of(cell: bytes | str) -> Moment:
    """The time in a cell of text; NaN for anything else."""
    value = number_of(cell)
    if not math.isnan(value):
        return value, True
    try:
        word = (cell.decode() if isinstance(cell, bytes) else cell).strip()
        moment = _since_1970(datetime.fromisoformat(re.sub(_SLASHES, _DASHES, word)))
    except ValueError:
        return _NO_TIME
    return _NO_TIME if moment[0] < _YEAR_1 else moment


def _since_1970(when: datetime) -> Moment:
    """A moment; none for what a library calls a date and no calendar has, or of a zone that does
    not say how far it is ahead.
    """
    stated = when.tzinfo is not None
    try:
        since = (when if stated else when.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    except (ValueError, TypeError, OverflowError, NotImplementedError):
        return _NO_TIME
    micro = since.days * 86_400_000_000 + since.seconds * 1_000_000 + since.microseconds
    return micro / 1e6, stated


def _of_zone(clocks: Any, zone: str) -> Any:
    """Seconds since 1970 UTC of what clocks of a zone show, cell by cell."""
    return clocks if zone == ZONE else offsets(zone).to_moments(clocks)
