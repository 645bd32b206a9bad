"""Canonical text of ids, by which units, trips, symbols and kinds are compared.

As in :mod:`dpviz.private.load.values`, a cell's text depends on that cell alone, and not on a
column type that other cells decide: pandas makes floats of whole numbers as soon as one is missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dpviz.domain.attributes import OTHER, Kinds
from dpviz.errors import DataError
from dpviz.files import arrow
from dpviz.lazy import pa, pc
from dpviz.private.load.columns import MAX_LINE, is_text, plain, shown

_BETWEEN = r"[ \t\n\v\f\r,;]+"
_BETWEEN_BYTES = re.compile(_BETWEEN.encode())
_EXPONENT = 1e16
"""Size from which whole floats are written with an exponent."""


def texts(column: Any, name: str) -> Any:
    """Ids in canonical text, large_binary (n,), null where missing; stability 1.

    Text stays as it is written, byte by byte: ``7``, ``07`` and ``7.0`` are three ids. A typed
    column has one canonical form: whole numbers and decimals in decimal digits, floats as the
    shortest decimal that reads back the same, whole ones below 10^16 without ``.0``, times in
    ISO 8601, truth as true or false, a UUID in its five groups; another extension type is written
    like its storage type. A null, a NaN and an empty text are missing ids; text of spaces is an id.

    Raises DataError: the declared type has no such form, as lists have none.
    """
    if isinstance(column, list):
        return arrow.binaries([_text(cell) or None for cell in column])
    column = _storage(plain(column))
    kind = column.type
    if is_text(kind) or pa.types.is_null(kind):
        written = pc.cast(column, pa.large_binary())
        return pc.if_else(pc.equal(pc.binary_length(written), 0), None, written)
    if pa.types.is_nested(kind):
        raise DataError(f"column {shown(name)} holds {kind}: an id must be a number or text")
    if pa.types.is_floating(kind):
        return pc.cast(_float_texts(column), pa.large_binary())
    try:
        if pa.types.is_timestamp(kind):
            pc.cast(pa.scalar(0, kind), pa.large_string())  # an unknown zone fails, even if unused
        return pc.cast(pc.cast(column, pa.large_string()), pa.large_binary())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise DataError(
            f"column {shown(name)} holds {kind}: an id must be a number or text"
        ) from None


def listed_places(written: Any, names: Sequence[str]) -> NDArray[np.int64]:
    """Position of each text in a public list of names, int64 (n,); −1 if it is not listed.

    Text must be UTF-8: in another encoding a name with accents is not in the list.
    """
    utf8 = [name.encode(errors="surrogatepass") for name in names]
    listed = pa.array(utf8, pa.large_binary())
    return arrow.number_array(pc.index_in(written, value_set=listed), null=-1).astype(np.int64)


def kind_numbers(column: Any, kinds: Kinds) -> NDArray[np.int64]:
    """Position of each kind in the public list, int64 (n,), stability 1; −1 if unlisted.

    A kind is text, byte by byte as in :func:`texts`, in UTF-8. Unlisted kinds count as
    ``other`` if that is listed; missing kinds never do.
    """
    written = texts(column, kinds.column)
    number = listed_places(written, kinds.names)
    if OTHER in kinds.names:
        number[(number < 0) & arrow.number_array(written.is_valid())] = kinds.number(OTHER)
    return number


def lists(column: Any, name: str) -> tuple[NDArray[np.int64], Any]:
    """Offsets (n + 1,) and canonical ids of a column of lists; stability 1.

    A cell of text is split at spaces, commas and semicolons. A missing list is empty, and so is a
    text of more than a MiB, the limit of a line. A missing item is a null.

    Raises DataError: the declared type holds neither lists nor text.
    """
    if isinstance(column, list):
        rows = [_items(cell) for cell in column]
        column = pa.array(rows, pa.large_list(pa.large_binary()))
    column = plain(column)
    kind = column.type
    if pa.types.is_null(kind):
        return np.zeros(len(column) + 1, dtype=np.int64), pa.array([], pa.large_binary())
    if is_text(kind):
        return _split(pc.cast(column, pa.large_binary()))
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        raise DataError(f"column {shown(name)} holds {kind}, not lists: choose another")
    return _starts(column), texts(pc.list_flatten(column), name)


def _text(cell: Any) -> bytes | None:
    """Canonical text of a Python value, as in :func:`texts`; None if it has none."""
    if isinstance(cell, str):
        return cell.encode(errors="surrogatepass")
    if isinstance(cell, bytes):
        return cell
    if isinstance(cell, (bool, np.bool_)):
        return b"true" if cell else b"false"
    if isinstance(cell, np.timedelta64):  # NumPy treats a duration as a whole number
        return None
    if isinstance(cell, (int, np.integer)):
        return str(int(cell)).encode() if abs(int(cell)) < 2**128 else None
    if isinstance(cell, (float, np.floating)):  # more digits than a double: no id
        return _float_text(float(cell)) if float(cell) == cell else None
    if isinstance(cell, Decimal):
        return None if cell.is_nan() else str(cell).encode()
    if isinstance(cell, (date, time, UUID)):
        with suppress(Exception):  # a zone may fail to give its UTC offset
            return str(cell).encode() if cell == cell else None  # NaT does not equal itself
    return None


def _float_text(value: float) -> bytes:
    return repr(value).removesuffix(".0").encode()


def _float_texts(column: Any) -> Any:
    """Floats of any width as large_string; NaN is null, whole numbers have no point."""
    with np.errstate(invalid="ignore"):  # signalling NaNs warn in every operation
        values = arrow.number_array(column).astype(np.float64)
        whole = (np.abs(values) < _EXPONENT) & (values == np.floor(values))
    whole &= (values != 0) | ~np.signbit(values)  # -0.0 is written as -0, unlike the whole number
    digits = pc.cast(arrow.numbers(np.where(whole, values, 0).astype(np.int64)), pa.large_string())
    written = pc.cast(arrow.numbers(values), pa.large_string())
    written = pc.if_else(arrow.numbers(np.isnan(values)), None, written)
    return pc.if_else(arrow.numbers(whole), digits, written)


def _items(cell: Any) -> list[bytes | None]:
    """Texts in a Python list, or in text separated by spaces, commas or semicolons."""
    if isinstance(cell, (list, tuple)) or (isinstance(cell, np.ndarray) and cell.ndim):
        return [_text(item) for item in cell]
    text = _text(cell)
    if text is None or len(text) > MAX_LINE:
        return []
    return [word for word in _BETWEEN_BYTES.split(text) if word]


def _split(column: Any) -> tuple[NDArray[np.int64], Any]:
    """Offsets and items of text cells, in a large_binary array."""
    fits = pc.less_equal(pc.binary_length(column), MAX_LINE)
    words = pc.split_pattern_regex(pc.if_else(fits, column, None), _BETWEEN)
    start, items = _starts(words), pc.list_flatten(words)
    filled = arrow.number_array(pc.greater(pc.binary_length(items), 0))
    count = np.concatenate([[0], np.cumsum(filled, dtype=np.int64)])
    return count[start], items.filter(arrow.numbers(filled))


def _starts(column: Any) -> NDArray[np.int64]:
    """Offsets (n + 1,) of a column of lists; a missing list is empty."""
    length = arrow.number_array(pc.list_value_length(column), null=0)
    return np.concatenate([[0], np.cumsum(length, dtype=np.int64)])


def _storage(column: Any) -> Any:
    """Storage of an extension-type column; UUIDs become text."""
    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    if column.type == pa.uuid():
        return pa.array([each and str(each) for each in column.to_pylist()], pa.large_string())
    return plain(column.storage)
