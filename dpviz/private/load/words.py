"""Type, of ids: the text of a cell, by which units, trips, symbols and kinds are the same or not.

As in :mod:`dpviz.private.load.values`, a cell's text follows from that cell alone. Nor does it
depend on the type of its column where that follows from other cells: pandas makes floats of whole
numbers as soon as one is missing.
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

_HEXADECIMAL = np.array([list(f"{each:02x}".encode()) for each in range(256)], dtype=np.uint8)
"""Letters (256, 2) of each byte."""
_BETWEEN = r"[ \t\n\v\f\r,;]+"
_BETWEEN_BYTES = re.compile(_BETWEEN.encode())
_EXPONENT = 1e16
"""From here on a float is written with an exponent, in Python as in DuckDB."""
_ARROW_DIFFERS, _ARROW_AGREES = (1e-9, _EXPONENT), (1e-4, 1e10)
"""Arrow writes floats that are not whole as Python does outside of the first and in the second."""


def texts(column: Any, name: str) -> Any:
    """Ids as a large_binary pyarrow array (n,), missing ones null, stability 1.

    Text stays as it is written, byte by byte: ``7``, ``07`` and ``7.0`` are three ids. A typed
    column has one canonical form: whole numbers and decimals in decimal digits, floats as Python
    writes the double of that value, but whole ones without ``.0`` (digits below 10^16, and else the
    shortest decimal that reads back the same), times in ISO 8601, truth as true or false, a
    UUID in its five groups; any other type that extends one is as that. What is no id is missing:
    a null, a NaN, and text without a character in every format (text of spaces is an id).

    Raises:
        DataError: the declared type has no such form, as lists have none.
    """
    if isinstance(column, list):
        return pa.array([_text(cell) or None for cell in column], pa.large_binary())
    column = _stored(plain(column))
    kind = column.type
    if is_text(kind) or pa.types.is_null(kind):
        written = pc.cast(column, pa.large_binary())
        return pc.if_else(pc.equal(pc.binary_length(written), 0), None, written)
    if pa.types.is_nested(kind):
        raise DataError(f"column {shown(name)} holds {kind}: an id is a number or a text")
    if pa.types.is_floating(kind):
        return pc.cast(_of_floats(column), pa.large_binary())
    try:
        if pa.types.is_timestamp(kind):
            pc.cast(pa.scalar(0, kind), pa.large_string())  # a zone that nobody knows, also unused
        return pc.cast(pc.cast(column, pa.large_string()), pa.large_binary())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise DataError(f"column {shown(name)} holds {kind}: an id is a number or a text") from None


def listed_places(written: Any, names: Sequence[str]) -> NDArray[np.int64]:
    """Places of texts, as of :func:`texts`, in a public list of names, int64 (n,); −1 for none.

    Bytes that are UTF-8 are read as such, and others as Windows-1252, each cell by itself.
    """
    utf8 = [name.encode(errors="surrogatepass") for name in names]
    listed = pa.array([*utf8, *map(_windows, names, utf8)], pa.large_binary())
    place = arrow.number_array(pc.index_in(written, value_set=listed), null=-1).astype(np.int64)
    return np.where(place < 0, -1, place % max(len(names), 1))


def kind_numbers(column: Any, kinds: Kinds) -> NDArray[np.int64]:
    """Places of a column's kinds in the public list, int64 (n,), stability 1: −1 for none.

    A kind is text, byte by byte as in :func:`texts`, in UTF-8 or else in
    Windows-1252. What is not listed is ``other`` where that is listed; a missing kind is none.

    Raises:
        DataError: the declared type holds no texts.
    """
    written = texts(column, kinds.column)
    number = listed_places(written, kinds.names)
    if OTHER in kinds.names:
        number[(number < 0) & arrow.number_array(written.is_valid())] = kinds.number(OTHER)
    return number


def lists(column: Any, name: str) -> tuple[NDArray[np.int64], Any]:
    """Offsets (n + 1,) and the ids, as in :func:`texts`, of a column of lists; stability 1.

    A cell of text is a list of what stands between spaces, commas or semicolons. A missing list is
    empty, and so is a text of more than a MiB: no line of a file is longer. A missing item is a
    null.

    Raises:
        DataError: the declared type holds neither lists nor text.
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
    """A Python value in the canonical form of :func:`texts`; None for what has no such form."""
    if isinstance(cell, str):
        return cell.encode(errors="surrogatepass")
    if isinstance(cell, bytes):
        return cell
    if isinstance(cell, (bool, np.bool_)):
        return b"true" if cell else b"false"
    if isinstance(cell, np.timedelta64):  # NumPy takes it for a whole number
        return None
    if isinstance(cell, (int, np.integer)):
        return str(int(cell)).encode() if abs(int(cell)) < 2**128 else None
    if isinstance(cell, (float, np.floating)):  # one of more digits than a double has is no id
        return _of_float(float(cell)) if float(cell) == cell else None
    if isinstance(cell, Decimal):
        return None if cell.is_nan() else str(cell).encode()
    if isinstance(cell, (date, time, UUID)):
        with suppress(Exception):  # of a zone that does not say how far it is ahead
            return str(cell).encode() if cell == cell else None  # NaT is not itself
    return None


def _of_float(value: float) -> bytes:
    return repr(value).removesuffix(".0").encode()


def _of_floats(column: Any) -> Any:
    """Floats of any width as large_string, as :func:`_of_float` has each of them; NaN is null."""
    with np.errstate(invalid="ignore"):  # one kind of NaN warns wherever it is touched
        values = arrow.number_array(column).astype(np.float64)
        size, none = np.abs(values), np.isnan(values)
        whole = (size < _EXPONENT) & (values == np.floor(values))
    whole &= (values != 0) | ~np.signbit(values)  # whole numbers have no -0
    odd = ~whole & (size < _ARROW_DIFFERS[1]) & (size >= _ARROW_DIFFERS[0])
    odd &= ~((size >= _ARROW_AGREES[0]) & (size < _ARROW_AGREES[1]))
    written = pc.cast(_only(values, ~(whole | odd | none)), pa.large_string())
    if whole.any():
        digits = pc.cast(arrow.numbers(values[whole].astype(np.int64)), pa.large_string())
        written = _with(written, whole, digits)
    if odd.any():
        few = pa.array([_of_float(each) for each in values[odd].tolist()], pa.large_string())
        written = _with(written, odd, few)
    return written


def _only(values: NDArray[np.float64], wanted: NDArray[np.bool_]) -> Any:
    """Numbers as a column, null where they are not wanted."""
    column = arrow.numbers(values)
    return column if wanted.all() else pc.if_else(arrow.numbers(wanted), column, None)


def _with(column: Any, where: NDArray[np.bool_], cells: Any) -> Any:
    """A column with other cells in some places."""
    return cells if where.all() else pc.replace_with_mask(column, arrow.numbers(where), cells)


def _windows(name: str, utf8: bytes) -> bytes:
    """A name in Windows-1252, or in UTF-8 where that has no such letters or would be UTF-8 too."""
    try:
        written = name.encode("cp1252")
    except UnicodeEncodeError:
        return utf8
    try:
        written.decode()
    except UnicodeDecodeError:
        return written
    return utf8


def _items(cell: Any) -> list[bytes | None]:
    """A Python list, or text between spaces, commas or semicolons, as texts."""
    if isinstance(cell, (list, tuple)) or (isinstance(cell, np.ndarray) and cell.ndim):
        return [_text(item) for item in cell]
    text = _text(cell)
    if text is None or len(text) > MAX_LINE:
        return []
    return [word for word in _BETWEEN_BYTES.split(text) if word]


def _split(column: Any) -> tuple[NDArray[np.int64], Any]:
    """Offsets and items of cells of text, a large_binary array."""
    fits = pc.less_equal(pc.binary_length(column), MAX_LINE)
    words = pc.split_pattern_regex(pc.if_else(fits, column, None), _BETWEEN)
    start, items = _starts(words), pc.list_flatten(words)
    filled = arrow.number_array(pc.greater(pc.binary_length(items), 0))
    count = np.concatenate([[0], np.cumsum(filled, dtype=np.int64)])
    return count[start], items.filter(arrow.numbers(filled))


def _starts(column: Any) -> NDArray[np.int64]:
    """Offsets (n + 1,) of a column of lists, of which a missing one is empty."""
    length = arrow.number_array(pc.list_value_length(column), null=0)
    return np.concatenate([[0], np.cumsum(length, dtype=np.int64)])


def _stored(column: Any) -> Any:
    """A column of a type that extends another as one of that; UUIDs as texts.

    They are bytes: as texts, they were refused for one that is no UTF-8.
    """
    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    stored = column.storage
    if column.type != pa.uuid():
        return plain(stored)
    raw = pc.fill_null(stored, bytes(16))
    octets = np.frombuffer(raw.buffers()[1], np.uint8)[16 * raw.offset :][: 16 * len(raw)]
    letters = _HEXADECIMAL[octets.reshape(-1, 16)].reshape(-1, 32)
    groups = np.insert(letters, (8, 12, 16, 20), ord("-"), axis=1)
    written = pa.Array.from_buffers(pa.binary(36), len(raw), [None, pa.py_buffer(groups)])
    return pc.if_else(stored.is_valid(), written, None)
