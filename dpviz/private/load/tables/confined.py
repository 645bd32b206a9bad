"""A file that a child process parses, as all of formats that are more than lines.

A damaged footer of a Parquet file can abort the process that looks at it. A cell far out in a
workbook makes its reader take memory for all cells before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.errors import DataError
from dpviz.files import arrow, limits
from dpviz.files.sandbox import confined
from dpviz.lazy import pa
from dpviz.private.load.tables.base import BLOCK_ROWS, Block, Column, Table, no_rows, parsing
from dpviz.private.load.tables.formats import formats

_PLACES = ("places x", "places y")


class ConfinedTable(Table):
    """A table whose file is opened anew, in a child, for each question.

    Args:
        path: of the file.
        kind: of its format, by its title.
        name: in messages; the file's by default.
        layer: of several.
        most: bytes that the child's limits grow with at most, of a file that was unpacked.

    Attributes:
        metadata: what the schema of a Parquet file says beside its columns.
    """

    def __init__(
        self,
        path: Path,
        kind: str,
        name: str | None = None,
        layer: str | None = None,
        most: int | None = None,
    ) -> None:
        self.name = name or path.name
        self._file = (str(path.absolute()), kind, self.name, layer)
        self._state = _state(path)
        size = self._state[-1] * (limits.GROWTH.most if formats()[kind].packed else 1)
        self._size = size if most is None else min(size, most)
        described = self._asked("layout")
        stated = json.loads(described.schema.metadata[b"stated"])
        self.metadata: dict[bytes, bytes] = described.schema.metadata
        self.crs, self.declares = stated["crs"], stated["declares"]
        self.first_line = stated["first_line"]
        self.columns = [Column(each["name"], each["kind"]) for each in described.to_pylist()]

    def _blocks(
        self, names: Sequence[str], numeric: Sequence[str], geometry: bool
    ) -> Iterator[Block]:
        """All records, read in one go by the child."""
        stream = self._asked("records", list(names), list(numeric), geometry)
        stated = json.loads(stream.schema.metadata[b"stated"])
        for batch in stream.to_batches(BLOCK_ROWS) or [no_rows(stream.schema)]:
            cells = dict(zip(names, batch.columns, strict=False))
            columns: dict[str, Any] = {
                name: [json.loads(cell) for cell in column.to_pylist()]
                if name in stated["json"]
                else arrow.number_array(column)
                if name in numeric
                else column
                for name, column in cells.items()
            }
            places = None
            if geometry:
                places = np.column_stack([arrow.number_array(batch[axis]) for axis in _PLACES])
            yield Block(batch.num_rows, columns, places)
        if stated["broken"]:
            yield Block(0, {name: [] for name in names}, np.empty((0, 2)), stated["broken"])

    def _asked(self, task: str, *arguments: Any) -> Any:
        path, kind, name, _ = self._file
        call, needs = f"{__name__}:{task}", formats()[kind].needs
        answer = confined(call, *self._file, *arguments, where=name, size=self._size, needs=needs)
        if _state(Path(path)) != self._state:  # its bound may be of other records
            raise DataError(f"{name} has changed while it was read: do it again")
        return answer


def _state(path: Path) -> tuple[int, ...]:
    """Inode, time of change and size of a file, to detect a change; (0,) if it is missing."""
    with suppress(FileNotFoundError):
        facts = path.stat()
        return facts.st_ino, facts.st_mtime_ns, facts.st_size
    return (0,)


def listed_tables(path: Path, kind: str) -> tuple[str, ...]:
    """Names of the layers or sheets of a file, by a child."""
    call, size = f"{__name__}:tables", path.stat().st_size
    needs = formats()[kind].needs
    names = confined(call, str(path.absolute()), kind, where=path.name, size=size, needs=needs)
    return tuple(names["table"].to_pylist())


def tables(path: str, kind: str) -> Any:
    """Run in the sandbox: return the names of the layers or sheets."""
    known, file = formats()[kind], Path(path)
    assert known.tables is not None
    with parsing(file.name, kind):
        names = known.tables(file)
    limits.LAYERS.check(len(names), file.name)
    return pa.table({"table": pa.array(names, pa.string())})


def layout(path: str, kind: str, name: str, layer: str | None) -> Any:
    """Run in the sandbox: return names and kinds of the columns, and the file's metadata."""
    table = _opened(path, kind, name, layer)
    limits.COLUMNS.check(len(table.columns), name)
    described = {
        "name": pa.array([each.name for each in table.columns], pa.string()),
        "kind": pa.array([each.kind for each in table.columns], pa.string()),
    }
    schema = pa.table(described).replace_schema_metadata(getattr(table, "metadata", None))
    return _stating(schema, crs=table.crs, declares=table.declares, first_line=table.first_line)


def records(
    path: str,
    kind: str,
    name: str,
    layer: str | None,
    names: list[str],
    numeric: list[str],
    geometry: bool,
) -> Any:
    """Run in the sandbox: return the named columns in their order, then the places."""
    blocks, broken, mixed = [], 0, set()
    for block in _opened(path, kind, name, layer).blocks(names, numeric, geometry=geometry):
        broken += block.broken
        columns: list[Any] = []
        for each in names:
            cells = block.columns[each]
            if isinstance(cells, list):  # of values of any kind: each by itself
                mixed.add(each)
                cells = pa.array([json.dumps(_flat(cell)) for cell in cells], pa.large_string())
            columns.append(pa.array(cells) if isinstance(cells, np.ndarray) else cells)
        titles = list(names)
        if geometry and block.places is not None:
            columns += [pa.array(axis) for axis in block.places.T]
            titles += _PLACES
        rows = pa.table(columns, names=titles) if titles else None
        blocks.append(rows if rows is not None else pa.table({"": pa.nulls(block.rows)}))
    if not blocks:
        numbers = (*numeric, *(_PLACES if geometry else ()))
        nobody = {name: pa.array([], pa.large_binary()) for name in names}
        blocks = [pa.table(nobody | {name: pa.array([], pa.float64()) for name in numbers})]
    table = pa.concat_tables(blocks)
    return _stating(table, json=sorted(mixed), broken=broken)


def _flat(cell: Any) -> Any:
    """A cell without what is nested in it: an id is no object, and a list holds no lists."""
    if isinstance(cell, list):
        return [None if isinstance(each, (list, dict)) else each for each in cell]
    return None if isinstance(cell, dict) else cell


def _stating(table: Any, **facts: Any) -> Any:
    before = table.schema.metadata or {}
    return table.replace_schema_metadata({**before, b"stated": json.dumps(facts).encode()})


def _opened(path: str, kind: str, name: str, layer: str | None) -> Table:
    return formats()[kind].opened(Path(path), name, layer)
