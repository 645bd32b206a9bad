"""The file format of a release: one Parquet file with a typed header.

Limits are checked before memory is taken: rows, values, the bytes that columns unpack to
and the length of names. A child process decodes the file, since a damaged one may abort its reader.
Reading needs pyarrow only.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError, DpvizError, ReleaseError
from dpviz.files import arrow
from dpviz.files.sandbox import run_in_sandbox, warm
from dpviz.files.writing import alternative_path, write_file
from dpviz.lazy import pa, pc, pq, pyproj
from dpviz.releases.header import SCHEMA, Header

KEY = b"dpviz"
"""Key of a release's header in the metadata of its table."""

MAGIC = b"PAR1"
"""First and last bytes of every Parquet file."""

PAID = re.compile(rb'"release_id": *"([\w-]*)')
"""A release's ledger number, only characters safe in a file name: a header is untrusted."""

ROW_GROUP = 1 << 20
"""Rows that are written at once, and make one group of a file."""

MAX_ROWS = 8_000_000
MAX_VALUES = 50_000_000
MAX_BYTES = 1 << 31
MAX_HEADER_BYTES = 1 << 25
MAX_NAME = 1_000
"""Limits of what is decoded: rows of a table, counts of a model and points of lines, unpacked bytes
of a file, bytes of the header, characters of one name."""
LARGEST = 1e100
"""Size of a number in a column, far beyond what can be released: its square is still a float."""
TEXT, BYTES = ("string", "large_string"), ("binary", "large_binary")
"""Arrow's names of columns of text, and of bytes."""


def write_table(path: str | os.PathLike[str], table: pa.Table) -> Path:
    """Write a table as Parquet, one row group at a time, so that it can be cancelled.

    Raises ReleaseError: as :func:`dpviz.files.writing.write_file`; or another release that was paid
    for is there: one that was paid for too is written beside it then.
    """

    def write(temporary: str) -> None:
        with pq.ParquetWriter(temporary, table.schema, compression="zstd") as stream:
            for start in range(0, max(len(table), 1), ROW_GROUP):
                stream.write_table(table.slice(start, ROW_GROUP))
        if paid is not None:  # on disk before the ledger records "released"
            with Path(temporary).open("r+b") as file:
                os.fsync(file.fileno())

    path, paid = Path(path), _paid_release_id(table.schema.metadata or {})
    try:
        require_not_paid(path, paid)
    except ReleaseError as error:
        if paid is None:
            raise
        other = write_file(alternative_path(path, paid.decode()), write)
        raise ReleaseError(f"{error}; this one, paid for too, is kept: {other.name}") from None
    return write_file(path, write)


def with_header(
    columns: dict[str, Any], kind: str, header: Header, facts: dict[str, Any], **metadata: bytes
) -> pa.Table:
    """A table of these columns, with the header of a release and ``facts`` in its metadata."""
    stated = {**header.to_dict(), "schema": SCHEMA, "kind": kind, **facts}
    packed = {KEY: json.dumps(stated).encode()}
    packed |= {name.encode(): value for name, value in metadata.items()}
    return pa.table(columns).replace_schema_metadata(packed)


def geo_metadata(shapes: Sequence[str], crs: str, bounds: Sequence[float]) -> bytes:
    """GeoParquet 1.1 metadata of a column ``geometry`` in well-known binary.

    Args:
        crs: CRS of the coordinates; empty for a local plane.
        bounds: bounds of a public box or graph, never of the records.
    """
    column = {
        "encoding": "WKB",
        "geometry_types": list(shapes),
        "crs": pyproj.CRS.from_user_input(crs).to_json_dict() if crs else None,
        "bbox": list(bounds),
    }
    stated = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
    return json.dumps(stated).encode()


def opened(path: str | os.PathLike[str], columns: dict[str, tuple[str, ...]]) -> pa.Table:
    """Read the columns of a release file that its kind needs, within the size limits."""
    path = Path(path)
    if not path.is_file():
        if path.exists():
            what = "a folder" if path.is_dir() else "no plain file"
            raise ReleaseError(f"{path.name or path} is {what}: give the file of a release")
        raise ReleaseError(f"{path.name}: no such file: check its name")
    try:
        return _in_sandbox("decoded", path, columns, needs=("dpviz.releases.schema",))
    except DataError as error:  # the child process died
        raise ReleaseError(f"{path.name}: not a readable Parquet file, or damaged") from error


def metadata_of(path: str | os.PathLike[str]) -> dict[bytes, bytes]:
    """Metadata of a Parquet file; empty for a damaged file or another format."""
    path = Path(path)
    try:
        if not path.is_file():  # reading a pipe without a writer would block
            return {}
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return {}
        return dict(_in_sandbox("metadata", path, needs=()).schema.metadata or {})
    except (DpvizError, OSError):
        return {}


def require_not_paid(path: str | os.PathLike[str], paid: bytes | None = None) -> None:
    """Refuse to overwrite a paid release: it cannot be made again.

    ``paid``: ledger id of the release to write, which may replace itself.
    """
    path = Path(path)
    if path.is_file() and _paid_release_id(metadata_of(path)) not in (None, paid):
        raise ReleaseError(
            f"{path.name} is a release that was paid for: name another file, or move it away"
        )


def _paid_release_id(metadata: dict[bytes, bytes]) -> bytes | None:
    """The ledger's id of a paid release, from a header of any schema version."""
    match = PAID.search(metadata.get(KEY, b""))
    return None if match is None else match[1]


def _in_sandbox(task: str, path: Path, *arguments: Any, needs: tuple[str, ...]) -> pa.Table:
    """Run a task on a file in a child process: a damaged Parquet footer can abort it."""
    warm()  # the child starts while this process imports modules
    import pyarrow  # noqa: F401

    return run_in_sandbox(
        f"{__name__}:{task}",
        str(path.absolute()),
        *arguments,
        where=path.name,
        size=path.stat().st_size,
        needs=("pyarrow.parquet", *needs),
    )


def metadata(path: str) -> pa.Table:
    """Return an empty table with the file's schema metadata; runs in the child process."""
    with _parsing(Path(path).name):
        return pa.table({}).replace_schema_metadata(pq.read_schema(path).metadata)


def decoded(path: str, columns: dict[str, Sequence[str]]) -> pa.Table:
    """Return the columns that the release's kind needs; runs in the child process."""
    name = Path(path).name
    with _parsing(name):
        schema = pq.read_schema(path)
        kind = header_of(schema.metadata, name)[0]
        names = [each for each in dict.fromkeys(columns[kind]) if each in schema.names]
        # Text and lines stay as dictionaries, so that a long one is not repeated in memory.
        words = [each for each in names if str(schema.field(each).type) in (*TEXT, *BYTES)]
        file = pq.ParquetFile(path, read_dictionary=words)
        _check_size(file.metadata, name)
        return file.read(names)  # read_table would import pandas


@contextmanager
def _parsing(name: str) -> Iterator[None]:
    try:
        yield
    except DpvizError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError, OverflowError) as error:
        raise ReleaseError(f"{name}: not a readable Parquet file, or damaged") from error


def _check_size(metadata: Any, name: str) -> None:
    """Refuse a file whose stated unpacked size exceeds the limits.

    It reads row groups only: pyarrow may abort on column metadata of a corrupted file.
    """
    if metadata.num_rows > MAX_ROWS:
        raise ReleaseError(
            f"{name}: {metadata.num_rows:,} rows: this version reads up to {MAX_ROWS:,}"
        )
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    rows, size = sum(each.num_rows for each in groups), sum(each.total_byte_size for each in groups)
    if rows > MAX_ROWS or size > MAX_BYTES:
        raise ReleaseError(
            f"{name}: unpacks to {rows:,} rows of {size:,} bytes: this version reads up to "
            f"{MAX_ROWS:,} rows of {MAX_BYTES:,} bytes"
        )


def header_of(metadata: dict[bytes, bytes] | None, name: str) -> tuple[str, dict[str, Any]]:
    """The kind of a release and its checked header."""
    packed = (metadata or {}).get(KEY)
    if packed is None:
        raise ReleaseError(
            f"{name}: Parquet without the header of a release: give a file that dpviz wrote"
        )
    if len(packed) > MAX_HEADER_BYTES:
        raise ReleaseError(f"{name}: a header of {len(packed):,} bytes: up to {MAX_HEADER_BYTES:,}")
    from dpviz.releases.schema import checked

    return checked(packed, name)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn every error that damaged columns cause into one with the file's name and a remedy."""
    remedy = "the release is damaged, use another copy"
    try:
        yield
    except DpvizError as error:
        text = str(error)
        raise ReleaseError(f"{name}: {text}" + f": {remedy}" * (": " not in text)) from error
    except Exception as error:  # a damaged or foreign file may raise any error in these libraries
        raise ReleaseError(f"{name}: {remedy} ({type(error).__name__})") from error


def numbers(table: pa.Table, name: str, width: int = 0) -> NDArray[Any]:
    """A column of numbers, shape (n,); of lists of ``width`` numbers, shape (n, width).

    Raises ReleaseError: a column that is missing, of another type, with nulls, or with numbers that
    no release holds and whose squares are beyond floats.
    """
    column = _column(table, name)
    boxes = pa.types.is_fixed_size_list(column.type)
    if boxes != bool(width) or (boxes and column.type.list_size != width):
        raise ReleaseError(f"column {name!r} holds {column.type}: expected {width or 1} numbers")
    plain = column.flatten() if boxes else column
    if plain.null_count:
        raise ReleaseError(f"column {name!r} holds nulls")
    if not (pa.types.is_integer(plain.type) or pa.types.is_floating(plain.type)):
        raise ReleaseError(f"column {name!r} holds {plain.type}: expected numbers")
    values = arrow.number_array(plain)
    if values.dtype.kind == "f" and (np.abs(values) > LARGEST).any():
        raise ReleaseError(f"column {name!r} holds numbers beyond ±{LARGEST:g}: it is damaged")
    return values.reshape(len(column), width) if boxes else values


def whole_numbers(table: pa.Table, name: str) -> NDArray[np.int64]:
    """A column of whole numbers, int64 (n,); errors as of :func:`numbers`."""
    values = numbers(table, name)
    if values.dtype.kind not in "iu" or (values.dtype.kind == "u" and values.dtype.itemsize == 8):
        raise ReleaseError(f"column {name!r} holds {values.dtype}: expected whole numbers")
    return values.astype(np.int64)


def identifiers(table: pa.Table, name: str) -> NDArray[Any]:
    """A column of ids: whole numbers, int64 (n,), or text of at most :data:`MAX_NAME` letters.

    Raises ReleaseError: as :func:`numbers`, or a name that is too long.
    """
    column = _column(table, name)
    words = column.dictionary if pa.types.is_dictionary(column.type) else column
    if str(words.type) not in TEXT:
        return whole_numbers(table, name)
    longest = pc.max(pc.utf8_length(words)).as_py() or 0
    if longest > MAX_NAME:
        raise ReleaseError(
            f"column {name!r} holds a name of {longest:,} characters: up to {MAX_NAME:,}"
        )
    return _objects(column)


def encoded_shapes(table: pa.Table, most: int = MAX_VALUES) -> NDArray[Any]:
    """Column ``geometry`` as well-known binary, objects (n,), without duplicates in memory.

    Raises ReleaseError: a column that is missing, with nulls, of something else, or of more points
    than the limit.
    """
    shapes = _objects(_column(table, "geometry"))
    sizes = [len(each) if isinstance(each, bytes) else -1 for each in shapes]
    if min(sizes, default=0) < 0:
        raise ReleaseError("column 'geometry' does not hold well-known binary")
    if sum(sizes) // 16 > most:
        raise ReleaseError(f"column 'geometry' holds more than {most:,} points")
    return shapes


def _objects(column: Any) -> NDArray[Any]:
    """The values of a column or dictionary as objects, (n,)."""
    if pa.types.is_dictionary(column.type):
        return _objects(column.dictionary)[arrow.number_array(column.indices).astype(np.int64)]
    return np.array([*column.to_pylist(), None], dtype=object)[:-1]


def _column(table: pa.Table, name: str) -> Any:
    if name not in table.column_names:
        raise ReleaseError(f"column {name!r} is missing")
    if table.column_names.count(name) > 1:
        raise ReleaseError(f"column {name!r} is there twice")
    column = table[name].combine_chunks()
    if column.null_count:
        raise ReleaseError(f"column {name!r} holds nulls")
    return column
