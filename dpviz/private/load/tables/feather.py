"""Arrow files (Feather version 2): columns as their schema declares them, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dpviz.lazy import pa
from dpviz.private.load.tables.base import parsing
from dpviz.private.load.tables.geometry import DeclaredTable, declared_geometries


class ArrowFile(DeclaredTable):
    """Arrow file; of several geometry columns, the first is read."""

    title = "Feather"

    def __init__(self, path: Path) -> None:
        self.name, self._path = path.name, path
        with parsing(self.name, self.title):
            self._schema = pa.ipc.open_file(pa.memory_map(str(path))).schema
            self._declare(self._schema, declared_geometries(self._schema, self._schema.metadata))

    def _batches(self, names: list[str]) -> tuple[Any, Iterable[Any]]:
        fields = sorted(map(self._schema.get_field_index, names))
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        file = pa.ipc.open_file(pa.memory_map(str(self._path)), options=options)
        return file.schema, map(file.get_batch, range(file.num_record_batches))
