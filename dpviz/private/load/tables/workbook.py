"""Excel workbooks (.xlsx): one sheet whose first row that is not empty holds the names."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from math import isnan
from pathlib import Path
from typing import IO, Any

from dpviz.errors import DataError
from dpviz.private.load.tables.archive import MAX_RATIO
from dpviz.private.load.tables.base import BLOCK_ROWS, Block, Column, Table, parsing
from dpviz.private.load.tables.formats import Format
from dpviz.private.load.values import number_of, shown, typed

MAX_UNPACKED = 1 << 30
"""Bytes that a workbook may unpack to."""


class Workbook(Table):
    """A sheet, each cell of which has a type of its own."""

    first_line = True

    def __init__(self, path: Path, sheet: str | None = None) -> None:
        self.name = path.name
        with parsing(self.name, "an Excel workbook"):
            book = _book(path)
            sheets = list(book.sheet_names)
            if sheet is None and len(sheets) != 1:
                several = ", ".join(map(shown, sheets[:5]))
                raise DataError(
                    f"{self.name} has {len(sheets)} sheets: name one as its table ({several})"
                )
            if sheet is not None and sheet not in sheets:
                several = ", ".join(map(shown, sheets[:5]))
                raise DataError(f"no sheet {shown(sheet)} in {self.name}: it has {several}")
            self._sheet = _sheet(path, book, sheet or sheets[0])
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
            while some := list(islice(rows, BLOCK_ROWS)):
                whole = [row for row in some if row is not None]
                columns: dict[str, Any] = {
                    name: [None if row[at] == "" else row[at] for row in whole]
                    for name, at in places.items()
                }
                yield Block(len(whole), typed(columns, numeric), broken=len(some) - len(whole))

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


def _filled(row: list[Any] | None) -> bool:
    return row is not None and any(cell != "" for cell in row)


def _sheet(path: Path, book: Any, name: str) -> Any:
    """A sheet; where the reader refuses it for one cell, it is read anew without such cells."""
    try:
        return book.get_sheet_by_name(name)
    except Exception:
        return _book(path, judged=True).get_sheet_by_name(name)


def _book(path: Path, *, judged: bool = False) -> Any:
    """A workbook that unpacks to no more than it should, without cells that would cost all.

    Args:
        path: of the file.
        judged: also without those that no reader need understand, which takes longer.
    """
    from python_calamine import CalamineWorkbook

    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if size > min(MAX_UNPACKED, max(1 << 24, MAX_RATIO * path.stat().st_size)):
            raise DataError(f"{path.name} unpacks to far more than it should: give CSV")
        lost = {each: _lost(archive, each, judged) for each in archive.namelist()}
        if not any(lost.values()):
            return CalamineWorkbook.from_path(str(path))
        copy = io.BytesIO()
        with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as stream:
            for name in archive.namelist():
                sound = lost.get(name)
                with archive.open(name) as source, stream.open(name, "w") as target:
                    if sound is None:
                        shutil.copyfileobj(source, target)
                    else:
                        target.writelines(map(sound, _rows(source)))
    copy.seek(0)
    return CalamineWorkbook.from_filelike(copy)


_ROW = re.compile(rb"<(?:\w+:)?row\b.*?</(?:\w+:)?row>", re.DOTALL)
_ERROR = 't="e"'
_PLACE = re.compile(rb'<(?:\w+:)?c\s[^>]*?\br="([A-Z]+)[0-9]+"')
_CONTENT = re.compile(rb"<(?:\w+:)?[vt](?:\s[^>]*)?>(?:[^<]|<!\[CDATA\[.)")
_NUMBER = r"<v>-?[0-9]{1,20}(?:\.[0-9]{1,20})?</v>"
_USUAL = (
    rf'r="[A-Z]{{1,3}}[1-9][0-9]{{0,6}}"(?:\s+s="[0-9]+")?'
    rf'(?:>{_NUMBER}|\s+t="inlineStr"><is><t>[^<]*</t></is>)</c>'
)
"""What most cells are, so that each of the others can be looked at by itself."""
_WRITTEN = r"<!\[CDATA\[.*?\]\]>|<!--.*?-->"
"""What may look like a cell and is none: a text as it is written, and a comment."""


def _lost(archive: zipfile.ZipFile, name: str, judged: bool) -> Callable[[bytes], bytes] | None:
    """What leaves cells out of rows: errors, and those to the right of all names.

    An error is no value, and the reader refuses all cells for one that it does not know. For a cell
    far out it takes the memory of all that are between. None where there are none, or no sheet.
    """
    with archive.open(name) as sheet:
        if b"sheetData" not in sheet.read(_PIECE):
            return None
        sheet.seek(0)
        rows = _rows(sheet)
        first = next(rows, b"")
        last = _last_column(first)
        far = rf'r="(?:{_beyond(last)})[0-9]' if last else _ERROR
        search = re.compile(far.encode()).search  # by their own letters, both are found quickly
        odd = (_ERROR.encode() in each or search(each) for each in chain([first], rows))
        if not (judged or any(odd)):
            return None
    odd_cells = _stating(rf"{_ERROR}|{far}")
    if not judged:
        return partial(_without, odd_cells)
    sound = partial(_is_sound, texts=_texts(archive))
    return lambda rows: _without(_UNUSUAL, _without(odd_cells, rows), sound)


def _texts(archive: zipfile.ZipFile) -> int:
    """How many texts there are that cells name by their numbers."""
    name = "xl/sharedStrings.xml"
    return len(_TEXT.findall(archive.read(name))) if name in archive.namelist() else 0


def _is_sound(cell: bytes, texts: int) -> bool:
    """Whether the reader understands a cell: it refuses the sheet for one that it does not."""
    head = cell.partition(b">")[0]
    stated = {name: one or two for name, one, two in _STATED.findall(head)}
    value = _VALUE.search(cell)
    word = value[1].strip() if value else b""
    if b"extLst" in cell or not _SITE.fullmatch(stated.get(b"r", b"A1")):
        return False
    kind = stated.get(b"t", b"n")
    if kind == b"s":
        return word.isdigit() and int(word) < texts
    if kind == b"b":
        return word in (b"0", b"1", b"true", b"false")
    return kind in (b"str", b"inlineStr", b"d") or (kind == b"n" and not isnan(number_of(word)))


_STATED = re.compile(rb"""\s(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_VALUE = re.compile(rb"<(?:\w+:)?v(?:\s[^>]*)?>([^<]*)<")
_SITE = re.compile(rb"[A-Z]{1,3}[1-9][0-9]{0,6}")
_TEXT = re.compile(rb"<(?:\w+:)?si[\s/>]")


def _stating(what: str) -> re.Pattern[bytes]:
    """Cells that state something of themselves, and what may look like one."""
    return _cells(rf"(?=[^>]*?\b(?:{what}))")


def _cells(ahead: str) -> re.Pattern[bytes]:
    """Cells whose text goes on as it should, and what may look like one."""
    inside = rf"(?:(?>{_WRITTEN})|[^<]|<(?!!))*?"  # one way to match it: with two, it may not end
    cell = rf"<(?:\w+:)?c\s{ahead}[^>]*?(?:/>|>{inside}</(?:\w+:)?c>)"
    return re.compile(f"{_WRITTEN}|{cell}".encode(), re.DOTALL)


def _without(
    cells: re.Pattern[bytes], rows: bytes, sound: Callable[[bytes], bool] = lambda _: False
) -> bytes:
    """Rows without some cells, but for those that are sound."""
    return cells.sub(
        lambda each: each[0] if each[0].startswith(b"<!") or sound(each[0]) else b"", rows
    )


_ERRORS, _UNUSUAL = _stating(_ERROR), _cells(f"(?!{_USUAL})")


def _last_column(rows: bytes) -> str:
    """The last column of the names, which stand in the first row with content; or nothing."""
    places: list[bytes] = []
    for row in _ROW.finditer(rows):
        values = _without(_ERRORS, row[0])
        places += _PLACE.findall(values)
        if _CONTENT.search(values):
            return max(places, key=_column, default=b"").decode()
    return ""


def _column(letters: bytes) -> tuple[int, bytes]:
    return len(letters), letters


def _beyond(last: str) -> str:
    """An expression for the names of all columns to the right of one.

    >>> _beyond("AX")
    '[A-Z]{3,}|[B-Z][A-Z]|A[Y-Z]'
    """
    longer = f"[A-Z]{{{len(last) + 1},}}"
    after = [
        f"{last[:at]}[{chr(ord(letter) + 1)}-Z]{'[A-Z]' * (len(last) - at - 1)}"
        for at, letter in enumerate(last)
        if letter < "Z"
    ]
    return "|".join([longer, *after])


def _rows(sheet: IO[bytes]) -> Iterator[bytes]:
    """The text of a sheet in pieces that end behind a row."""
    rest = bytearray()
    while piece := sheet.read(_PIECE):
        start = max(0, len(rest) - 64)  # an end may begin in the piece before
        rest += piece
        end = max(rest.rfind(each, start) for each in (b"</row>", b":row>"))
        if end >= 0:
            end = rest.index(b">", end) + 1
            yield bytes(rest[:end])
            del rest[:end]
    yield bytes(rest)


_PIECE = 1 << 20
"""Bytes of a sheet that are looked at at once."""


FORMATS = (
    Format(
        title="Excel",
        endings=(".xlsx",),
        opened=lambda path, name, layer: Workbook(path, layer),
        needs=("pyarrow", "python_calamine"),
        tables=lambda path: list(_book(path).sheet_names),
    ),
)
