"""Excel workbooks (.xlsx): one sheet whose first row that is not empty holds the names."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import IO, Any

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.private.load.tables.base import BLOCK_ROWS, Block, Column, Table, parsing
from dpviz.private.load.tables.formats import Format
from dpviz.private.load.values import shown, typed

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
            if sheet is None and len(sheets) != 1:
                several = ", ".join(map(shown, sheets[:5]))
                raise DataError(
                    f"{self.name} has {len(sheets)} sheets: name one as its table ({several})"
                )
            if sheet is not None and sheet not in sheets:
                several = ", ".join(map(shown, sheets[:5]))
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


def _book(path: Path) -> Any:
    """A workbook that unpacks to no more than it should, each row of which stands for itself.

    The reader refuses a sheet for one cell that it does not know, takes memory for every row and
    column up to the last, and puts a cell into whichever row its place names. So what is not as
    most programs write it is written anew: rows one after another, and without the cells that no
    reader need understand. Which these are follows from the cell, and never from another one.
    """
    from python_calamine import CalamineWorkbook

    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
        file = path.stat().st_size
        if size > min(MAX_UNPACKED, limits.unpacked(file), max(1 << 24, MAX_RATIO * file)):
            raise DataError(f"{path.name} unpacks to far more than it should: give CSV")
        texts = _texts(archive)
        odd = {
            each: last
            for each in archive.namelist()
            if (last := _odd(archive, each, texts)) is not None
        }
        if not odd:
            return CalamineWorkbook.from_path(str(path))
        copy = io.BytesIO()
        with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as stream:
            for name in archive.namelist():
                with archive.open(name) as source, stream.open(name, "w") as target:
                    if name in odd:
                        target.writelines(map(_Rewritten(texts, odd[name]), _rows(source)))
                    else:
                        shutil.copyfileobj(source, target)
    copy.seek(0)
    return CalamineWorkbook.from_filelike(copy)


def _odd(archive: zipfile.ZipFile, name: str, texts: int) -> str | None:
    """The last column of the names of a sheet that is to be written anew; None for any other part.

    A sheet is as it should be if all its cells are usual ones of the row that they stand in, none
    is to the right of all names, and rows follow each other without wide gaps.
    """
    with archive.open(name) as sheet:
        if b"sheetData" not in sheet.read(_PIECE):
            return None
        sheet.seek(0)
        usual, rows, count, before = _usual_row(texts), _rows(sheet), 0, 0
        first = next(rows, b"")
        last = _last_column(first)
        far = re.compile(rf'r="(?:{_beyond(last)})[0-9]'.encode()).search if last else _nothing
        for piece in chain([first], rows):
            places = [before]
            rest = usual.sub(partial(_noted, places), piece)
            count, before = count + len(places) - 1, places[-1]
            ascend = all(one < two for one, two in pairwise(places))
            if _BEGIN.search(rest) or not ascend or before > 2 * count + GAP or far(piece):
                return last
    return None


def _nothing(_: bytes) -> None:
    """For a search that finds nothing."""


def _noted(places: list[int], row: re.Match[bytes]) -> bytes:
    places.append(int(row[1]))
    return b""


def _texts(archive: zipfile.ZipFile) -> int:
    """How many texts there are that cells name by their numbers."""
    name = "xl/sharedStrings.xml"
    return len(_TEXT.findall(archive.read(name))) if name in archive.namelist() else 0


GAP = 64
"""Rows that may be missing, beside as many as there are: the reader takes memory for all."""

_WRITTEN = r"<!\[CDATA\[.*?\]\]>|<!--.*?-->"
"""What may look like a tag and is none: a text as it is written, and a comment."""
_ATTRIBUTES = r"""(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*+\s*"""
_INSIDE = rf"(?:(?>{_WRITTEN})|[^<]|<(?!!))*?"  # one way to match it: with two, it may not end
_ROW = re.compile(
    rf"<((?:\w+:)?)row{_ATTRIBUTES}(?:/>|>({_INSIDE})</(?:\w+:)?row>)".encode(), re.DOTALL
)
_CELL = re.compile(
    rf"{_WRITTEN}|<(?:\w+:)?c({_ATTRIBUTES})(?:/>|>{_INSIDE}</(?:\w+:)?c>)".encode(), re.DOTALL
)
_BEGIN = re.compile(rb"<(?:\w+:)?(?:row|c)[\s/>]")
_PLACE = re.compile(rb'<(?:\w+:)?c\s[^>]*?\br="([A-Z]+)[0-9]+"')
_CONTENT = re.compile(rb"<(?:\w+:)?[vt](?:\s[^>]*)?>(?:[^<]|<!\[CDATA\[.)")
_STATED = re.compile(rb"""\s([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_VALUE = re.compile(rb"<(?:\w+:)?v(?:\s[^>]*)?>([^<]*)<")
_SITE = re.compile(rb"([A-Z]{1,3})[1-9][0-9]{0,6}")
_TEXT = re.compile(rb"<(?:\w+:)?si[\s/>]")
_NUMBER = r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?"


def _usual_row(texts: int) -> re.Pattern[bytes]:
    """Rows as most programs write them, with a name of each text that is one of so many."""
    value = (
        rf"(?: t=\"n\")?><v>{_NUMBER}</v>|"
        rf" t=\"s\"><v>(?:{_below(texts)})</v>|"
        r" t=\"b\"><v>[01]</v>|"
        r" t=\"inlineStr\"><is><t(?: xml:space=\"preserve\")?>[^<]*</t></is>"
    )
    cell = rf'<c r="[A-Z]{{1,3}}\1"(?: s="[0-9]{{1,6}}")?(?:/>|(?:{value})</c>)'
    return re.compile(rf'<row r="([1-9][0-9]{{0,6}})"[^<>/]*(?:/>|>(?:{cell})*+</row>)'.encode())


def _below(count: int) -> str:
    """An expression for the whole numbers from 0 that are less than this one.

    >>> _below(120)
    '[0-9]{1,2}|[0-0][0-9]{2}|1[0-0][0-9]{1}|11[0-8][0-9]{0}|119'
    """
    if count < 1:
        return "(?!)"
    most = str(count - 1)
    shorter = [rf"[0-9]{{1,{len(most) - 1}}}"] if len(most) > 1 else []
    less = [
        rf"{most[:at]}[0-{int(digit) - 1}][0-9]{{{len(most) - at - 1}}}"
        for at, digit in enumerate(most)
        if digit != "0"
    ]
    return "|".join([*shorter, *less, most])


class _Rewritten:
    """Pieces of a sheet with rows one after another, and with those cells that are sound."""

    def __init__(self, texts: int, last: str) -> None:
        self.texts, self.last, self.row = texts, last.encode(), 0

    def __call__(self, piece: bytes) -> bytes:
        pieces, end = [], 0
        for row in _ROW.finditer(piece):  # a cell that stands in none is nobody's
            pieces += [_CELL.sub(b"", piece[end : row.start()]), self._in_place(row)]
            end = row.end()
        return b"".join([*pieces, _CELL.sub(b"", piece[end:])])

    def _in_place(self, row: re.Match[bytes]) -> bytes:
        self.row += 1
        cells = _CELL.sub(self._kept, row[2] or b"")
        return b'<%brow r="%d">%b</%brow>' % (row[1], self.row, cells, row[1])

    def _kept(self, cell: re.Match[bytes]) -> bytes:
        """A cell in this row; nothing where the reader may refuse the sheet for it."""
        if cell[1] is None:  # a comment
            return b""
        pairs = [(name, one or two) for name, one, two in _STATED.findall(cell[1])]
        stated = dict(pairs)
        site = _SITE.fullmatch(stated.get(b"r", b"A1"))
        if site is None or len(stated) < len(pairs) or b"extLst" in cell[0]:
            return b""
        if b"r" in stated and self.last and _column(site[1]) > _column(self.last):
            return b""
        if not self._is_sound(stated.get(b"t"), _VALUE.search(cell[0])):
            return b""
        if b"r" not in stated:
            return cell[0]
        start, end = cell.span(1)
        place = re.sub(
            rb"""(?<=\sr)\s*=\s*["'][^"']*["']""", b'="%b%d"' % (site[1], self.row), cell[1]
        )
        offset = cell.start()
        return cell[0][: start - offset] + place + cell[0][end - offset :]

    def _is_sound(self, kind: bytes | None, value: re.Match[bytes] | None) -> bool:
        """Whether the reader understands a cell of this type; an error is no value."""
        word = value[1] if value else b""
        if kind == b"n":
            return (
                re.fullmatch(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|", word)
                is not None
            )
        if kind == b"s":
            return word.isdigit() and int(word) < self.texts
        if kind == b"b":
            return word in (b"0", b"1", b"true", b"false")
        return kind in (None, b"str", b"inlineStr", b"d")


def _last_column(rows: bytes) -> str:
    """The last column of the names, which stand in the first row with content; or nothing."""
    places: list[bytes] = []
    for row in _ROW.finditer(rows):
        values = _CELL.sub(lambda cell: b"" if b't="e"' in (cell[1] or b"") else cell[0], row[0])
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
