"""Arrow files (Feather version 2): columns as their schema declares them, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dpviz.lazy import pa
from dpviz.private.load.tables.base import (
    Block,
    Table,
    parsing,
    refuse_other_types,
    refuse_release,
)
from dpviz.private.load.tables.geometry import declared_geometries, typed_blocks, typed_columns


class ArrowFile(Table):
    """Arrow file; of several geometry columns, the first is read."""

    def __init__(self, path: Path) -> None:
        self.name, self._path = path.name, path
        with parsing(self.name, "Feather"):
            self._schema = pa.ipc.open_file(pa.memory_map(str(path))).schema
            self.metadata: dict[bytes, bytes] = self._schema.metadata or {}
            refuse_release(self.metadata, self.name)
            declared = declared_geometries(self._schema, self.metadata)
            self._geometry = declared[0] if declared else None
            self.crs = self._geometry.crs if self._geometry else None
            self.columns = typed_columns(self._schema, declared)

    def _blocks(self, names: Sequence[str], geometry: bool) -> Iterator[Block]:
        """Yield the batches of the file."""
        place = self._geometry if geometry else None
        wanted = [*dict.fromkeys([*names, *([place.name] if place else [])])]
        if place is not None:
            refuse_other_types(self.name, {*place.others})
        with parsing(self.name, "Feather"):
            fields = sorted(map(self._schema.get_field_index, wanted))
            options = pa.ipc.IpcReadOptions(included_fields=fields)
            with pa.ipc.open_file(pa.memory_map(str(self._path)), options=options) as file:
                batches = map(file.get_batch, range(file.num_record_batches))
                yield from typed_blocks(file.schema, batches, names, place)
