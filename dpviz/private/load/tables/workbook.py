"""Excel workbooks (.xlsx): one sheet whose first row that is not empty holds the names."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.private.load.columns import shown
from dpviz.private.load.tables.base import Block, Column, Table, parsing, whole_rows
from dpviz.private.load.tables.formats import Format
from dpviz.private.load.tables.letters import MARK, Marked
from dpviz.private.load.tables.sheets import Parts, is_usual, rewritten
from dpviz.private.load.values import typed

MAX_UNPACKED = 1 << 30
"""Bytes that a workbook may unpack to."""
MAX_RATIO = 200
"""A workbook of more than 16 MiB unpacked grows less than this when it is unpacked."""


class Workbook(Table):
    """A sheet, each cell of which has a type of its own."""

    first_line = True

    def __init__(self, path: Path, sheet: str | None = None) -> None:
        self.name = path.name
        with parsing(self.name, "an Excel workbook"):
            book = _book(path)
            sheets = list(book.sheet_names)
            several = ", ".join(map(shown, sheets[:5]))
            if sheet is None and len(sheets) != 1:
                raise DataError(
                    f"{self.name} has {len(sheets)} sheets: name one as its table ({several})"
                )
            if sheet is not None and sheet not in sheets:
                raise DataError(f"no sheet {shown(sheet)} in {self.name}: it has {several}")
            self._sheet = book.get_sheet_by_name(sheet or sheets[0])
            header = next(filter(_filled, self._rows()), None) or []
        if any(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in header):
            raise DataError(f"{self.name} begins with numbers, not with names: add a row of names")
        self._names = [str(cell) for cell in header]
        # A row may be longer than the first.
        self.columns = [Column(name, "text") for name in self._names if name]

    def _blocks(
        self, names: Sequence[str], numeric: Sequence[str], geometry: bool
    ) -> Iterator[Block]:
        """The rows below the first."""
        places = {name: self._names.index(name) for name in names}
        with parsing(self.name, "an Excel workbook"):
            rows = self._rows()
            next(filter(_filled, rows), None)
            for whole, broken in whole_rows(rows):
                columns: dict[str, Any] = {
                    name: [_cell(row[at]) for row in whole] for name, at in places.items()
                }
                yield Block(len(whole), typed(columns, numeric), broken=broken)

    def _rows(self) -> Iterator[list[Any] | None]:
        """The rows; None for one with a number in a format of dates that is no date.

        The library panics there, which is no `Exception`, and goes on with the next row.
        """
        rows = iter(self._sheet.iter_rows())
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except (KeyboardInterrupt, SystemExit, MemoryError):
                raise
            except BaseException:
                row = None
            yield row


def _cell(cell: Any) -> Any:
    """A cell; none that is empty, or has a letter that XML lacks."""
    return None if cell == "" or (isinstance(cell, str) and MARK in cell) else cell


def _filled(row: list[Any] | None) -> bool:
    return row is not None and any(cell != "" for cell in row)


def _book(path: Path) -> Any:
    """A workbook that unpacks to no more than it should, each row of which stands for itself."""
    from python_calamine import CalamineWorkbook

    with zipfile.ZipFile(path) as archive:
        file, size = path.stat().st_size, sum(each.file_size for each in archive.infolist())
        if size > min(MAX_UNPACKED, limits.unpacked(file), max(1 << 24, MAX_RATIO * file)):
            raise DataError(f"{path.name} unpacks to far more than it should: give CSV")
        parts = Parts(archive)
        texts = parts.counted(archive)
        odd = [each for each in parts.sheets if not _is_usual(archive, each, texts)]
        if not odd:
            return CalamineWorkbook.from_path(str(path))
        filled, copy = parts.filled(archive), io.BytesIO()
        with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as stream:
            for name in archive.namelist():
                with archive.open(name) as source, stream.open(name, "w") as target:
                    if name in odd:
                        target.writelines(rewritten(source, filled))
                    else:
                        marked = Marked(source) if name == parts.texts else source
                        shutil.copyfileobj(marked, target)
    copy.seek(0)
    return CalamineWorkbook.from_filelike(copy)


def _is_usual(archive: zipfile.ZipFile, sheet: str, texts: int | None) -> bool:
    if texts is None:
        return False
    with archive.open(sheet) as source:
        return is_usual(source, texts)


FORMATS = (
    Format(
        title="Excel",
        endings=(".xlsx",),
        opened=lambda path, name, layer: Workbook(path, layer),
        needs=("pyarrow", "python_calamine"),
        packed=True,
        tables=lambda path: list(_book(path).sheet_names),
    ),
)
