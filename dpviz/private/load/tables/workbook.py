"""Workbooks (Excel, OpenDocument): one sheet, as calamine decodes it.

The first row that is not empty holds the names. Each cell has a type of its own, so no column has
one. A workbook that calamine refuses, also for one cell, is refused as a whole.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.private.load.columns import shown
from dpviz.private.load.tables.base import BLOCK_ROWS, Block, Column, Table, parsing
from dpviz.private.load.words import texts


class Workbook(Table):
    """One sheet of a workbook."""

    first_line = True

    def __init__(self, path: Path, sheet: str | None = None) -> None:
        self.name = path.name
        with parsing(self.name, "a workbook"):
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
            header: list[Any] = next(filter(_filled, self._sheet.iter_rows()), [])
        if any(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in header):
            raise DataError(f"{self.name} begins with numbers, not with names: add a row of names")
        self._names = [str(cell) for cell in header]
        self.columns = [Column(name, "text") for name in self._names if name]  # skip unnamed

    def _blocks(self, names: Sequence[str], geometry: bool) -> Iterator[Block]:
        """Yield the rows below the header."""
        places = {name: self._names.index(name) for name in names}
        with parsing(self.name, "a workbook"):
            rows = self._sheet.iter_rows()
            next(filter(_filled, rows), None)
            while block := list(islice(rows, BLOCK_ROWS)):
                columns = {
                    name: texts([row[at] for row in block], name) for name, at in places.items()
                }
                yield Block(len(block), columns)


def _filled(row: list[Any]) -> bool:
    return any(cell != "" for cell in row)


def _book(path: Path) -> Any:
    """Open a workbook whose unpacked size is within limits."""
    from python_calamine import CalamineWorkbook

    if path.suffix.lower() != ".xls":  # .xls is not a zip archive
        if not zipfile.is_zipfile(path):
            raise DataError(
                f"{path.name} is damaged, or protected by a password: save it without one"
            )
        with zipfile.ZipFile(path) as archive:
            size = sum(each.file_size for each in archive.infolist())
        limits.decoded(size, path.stat().st_size, path.name)
    return CalamineWorkbook.from_path(str(path))


def sheets(path: Path) -> list[str]:
    """Names of the sheets of a workbook."""
    return list(_book(path).sheet_names)
