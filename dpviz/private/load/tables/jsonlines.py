"""JSON lines: one object per line. A line that holds none is left out, and changes no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from dpviz.private.load.columns import MAX_LINE
from dpviz.private.load.tables.base import Block, LineFile, parsing, whole_rows
from dpviz.private.load.tables.formats import Format
from dpviz.private.load.tables.geojson import columns_of_first, columns_of_objects, json_value


class JsonLines(LineFile):
    """A file of one JSON object per line; it declares no columns, so a record may lack any.

    Its columns are the names in the first line, for a form.
    """

    declares = False

    def __init__(self, path: Path, opened: Callable[[], IO[bytes]] | None = None) -> None:
        super().__init__(path, opened)
        first: dict[str, Any] = next((row for row in self._rows() if row is not None), {})
        self.columns = columns_of_first(first)

    def _blocks(
        self, names: Sequence[str], numeric: Sequence[str], geometry: bool
    ) -> Iterator[Block]:
        """The objects."""
        for rows, broken in whole_rows(self._rows()):
            yield Block(len(rows), columns_of_objects(rows, names, numeric), broken=broken)

    def _rows(self) -> Iterator[dict[str, Any] | None]:
        """The object of each line that is not blank; None for a line without one."""
        with parsing(self.name, "JSON lines"), self._open() as file:
            long = False
            while line := file.readline(MAX_LINE):
                if not line.endswith(b"\n") and len(line) == MAX_LINE:
                    if not long:
                        yield None
                    long = True
                    continue
                if long:
                    long = False
                elif line.strip():
                    yield _object(line)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json_value(line.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


FORMATS = (
    Format(
        title="JSON lines",
        endings=(".jsonl", ".ndjson"),
        opened=lambda path, name, layer: JsonLines(path),
        lines=True,
    ),
)
