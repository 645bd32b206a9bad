"""Tables in container formats, which a child process parses.

A damaged footer of a Parquet file can abort the process that looks at it. A cell far out in a
workbook makes its reader take memory for all cells before it.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.errors import DataError
from dpviz.files import arrow, limits
from dpviz.files.sandbox import run_in_sandbox
from dpviz.lazy import pa
from dpviz.private.load.tables.base import BLOCK_ROWS, Block, Column, Table, parsing
from dpviz.private.load.tables.formats import FORMATS

_PLACES = ("places x", "places y")


class ConfinedTable(Table):
    """Table whose file a child process opens again for each call.

    Args:
        path: path of the file.
        title: title of its format.
        layer: name of the layer, if there are several.

    Attributes:
        metadata: key-value metadata in the schema of a Parquet file.
    """

    def __init__(self, path: Path, title: str, layer: str | None = None) -> None:
        self.name, self._path = path.name, path
        self._title, self._layer = title, layer
        self._state = _state(path)
        described = self._from_child("layout")
        self.metadata: dict[bytes, bytes] = described.schema.metadata
        self.crs, self.first_line, self.lines = json.loads(self.metadata[b"stated"])
        self.columns = [Column(each["name"], each["kind"]) for each in described.to_pylist()]

    def _blocks(self, names: Sequence[str], geometry: bool) -> Iterator[Block]:
        """Yield all records; the child reads them in one call."""
        stream = self._from_child("records", list(names), geometry)
        for batch in stream.to_batches(BLOCK_ROWS) or [
            pa.RecordBatch.from_pylist([], stream.schema)
        ]:
            columns = dict(zip(names, batch.columns, strict=False))
            places = None
            if geometry:
                places = np.column_stack([arrow.number_array(batch[axis]) for axis in _PLACES])
            yield Block(batch.num_rows, columns, places)

    def _from_child(self, task: str, *arguments: Any) -> Any:
        answer = _answer(task, self._path, self._title, self._layer, *arguments)
        if _state(self._path) != self._state:  # the number of records may have changed
            raise DataError(f"{self.name} changed while it was read: try again")
        return answer


def listed_tables(path: Path, title: str) -> tuple[str, ...]:
    """Names of the layers or sheets of a file, read in a child process."""
    return tuple(_answer("tables", path, title)["table"].to_pylist())


def _answer(task: str, path: Path, title: str, *arguments: Any) -> Any:
    """Run a function of this module on a file in a child; return its table."""
    call, place, needs = f"{__name__}:{task}", str(path.absolute()), FORMATS[title].needs
    return run_in_sandbox(
        call, place, title, *arguments, where=path.name, size=_size(path), needs=needs
    )


def _size(path: Path) -> int:
    """Size of a file in bytes; for an archive, its unpacked size, within limits."""
    size = 0
    with suppress(OSError, ValueError, zipfile.BadZipFile):
        size = path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(each.file_size for each in archive.infolist())
            return min(unpacked, limits.GROWTH.most * size)
    return size


def _state(path: Path) -> tuple[int, ...]:
    """Inode, time of change and size of a file, to detect a change; (0,) if it is missing."""
    with suppress(FileNotFoundError):
        facts = path.stat()
        return facts.st_ino, facts.st_mtime_ns, facts.st_size
    return (0,)


def tables(path: str, title: str) -> Any:
    """Run in the sandbox: return the names of the layers or sheets."""
    file, listed = Path(path), FORMATS[title].tables
    with parsing(file.name, title):
        names = listed(file) if listed else []
    limits.LAYERS.check(len(names), file.name)
    return pa.table({"table": pa.array(names, pa.string())})


def layout(path: str, title: str, layer: str | None) -> Any:
    """Run in the sandbox: return names and kinds of the columns, and the file's metadata."""
    table = _opened(path, title, layer)
    limits.COLUMNS.check(len(table.columns), table.name)
    described = {
        "name": pa.array([each.name for each in table.columns], pa.string()),
        "kind": pa.array([each.kind for each in table.columns], pa.string()),
    }
    stated = json.dumps([table.crs, table.first_line, table.lines]).encode()
    metadata = {**getattr(table, "metadata", {}), b"stated": stated}
    return pa.table(described).replace_schema_metadata(metadata)


def records(path: str, title: str, layer: str | None, names: list[str], geometry: bool) -> Any:
    """Run in the sandbox: return the named columns in their order, then the places."""
    blocks = []
    for block in _opened(path, title, layer).blocks(names, geometry=geometry):
        arrays = [block.columns[name] for name in names]
        arrays += [] if block.places is None else map(arrow.numbers, block.places.T)
        titles = [*names, *(_PLACES if block.places is not None else ())]
        if not titles:  # only the number of rows is needed
            arrays, titles = [pa.nulls(block.rows)], [""]
        blocks.append(pa.table(arrays, names=titles))
    if not blocks:
        empty = {name: pa.array([], pa.large_binary()) for name in names}
        empty |= {name: pa.array([], pa.float64()) for name in (_PLACES if geometry else ())}
        blocks = [pa.table(empty)]
    return pa.concat_tables(blocks)


def _opened(path: str, title: str, layer: str | None) -> Table:
    opened = FORMATS[title].container
    assert opened is not None
    return opened(Path(path), layer)
