"""Sheets of Excel workbooks in which each row stands for itself.

The reader of workbooks refuses a sheet for one cell that it does not know, takes memory for every
row and column up to the last, and puts a cell into whichever row its place names. So it reads a
sheet as it is only where every row is written as most programs write it. Any other sheet is written
anew: each row with its own cells, one below another. What a cell is follows from that cell, and is
the same either way; nothing that was not understood is passed on.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from functools import cache, lru_cache, partial
from posixpath import join, normpath
from typing import IO
from xml.etree.ElementTree import Element, fromstring, iterparse
from xml.sax.saxutils import escape

from dpviz.private.load.tables.letters import Marked, Plain

_PIECE = 1 << 20
"""Bytes of a sheet that are looked at at once."""
_RELATIONS = "xl/_rels/workbook.xml.rels"


class Parts:
    """Parts of a workbook by what it says that they are.

    Attributes:
        sheets: members of the archive that hold cells.
        texts: the member of the texts that cells name by their number, if there are any.
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        members = {_plain(each): each for each in archive.namelist()}
        self.sheets: list[str] = []
        self.texts: str | None = None
        if _RELATIONS not in members:
            return
        for each in fromstring(archive.read(members[_RELATIONS])):
            target, kind = each.get("Target", ""), each.get("Type", "")
            member = members.get(_plain(target if target.startswith("/") else f"xl/{target}"))
            if member is not None and kind.endswith("/worksheet"):
                self.sheets.append(member)
            if member is not None and kind.endswith("/sharedStrings"):
                self.texts = member

    def counted(self, archive: zipfile.ZipFile) -> int | None:
        """How many texts there are, if they are plainly written."""
        if self.texts is None:
            return 0
        content = archive.read(self.texts)
        plain = b"<!" not in content and Plain().goes_on(content, last=True)
        return len(_TEXT.findall(content)) if plain else None

    def filled(self, archive: zipfile.ZipFile) -> list[bool]:
        """Of each text, whether there is any letter in it."""
        if self.texts is None:
            return []
        with archive.open(self.texts) as source:
            return [bool(_text_in(each)) for each in _elements(source, "si")]


def _plain(member: str) -> str:
    """A member's name as the reader finds it: of any case, with slashes of any kind."""
    return normpath(join("/", member.replace("\\", "/"))).lstrip("/").casefold()


_TEXT = re.compile(rb"<(?:[^\s<>/:]+:)?si[\s/>]")
_ODD = re.compile(rb"<!|<(?:[^\s<>/:]+:)?(?:row|c)[\s/>]")
_DATA = re.compile(rb"<sheetData>\s*</sheetData>")
_FIRST = re.compile(rb'<c r="([A-Z]{1,3})[0-9]+"[^<>/]*><[a-z]')
_NUMBER = r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?"
_LETTERS = r"(?:[^<&\r]|&(?:amp|lt|gt|quot|apos);)*+"
COLUMNS = 16_384
"""The format has no more."""
WIDE = 64
"""Columns that a row may have at least, or twice as many as the first row with cells."""


def is_usual(source: IO[bytes], texts: int) -> bool:
    """Whether all rows of a sheet are written as most programs do, one after another.

    Args:
        source: the sheet.
        texts: how many texts there are that cells name by their number.
    """
    usual, outside, far = _usual_row(texts), [b""], None
    plain = Plain()
    places: list[int] = []
    for piece in _rows(source):
        if far is None and (first := _FIRST.search(piece)):
            row = piece[first.start() : piece.find(b"</row>", first.start())]
            width = max(_number(each.decode()) for each in _FIRST.findall(row))
            far = re.compile(rf'r="(?:{_beyond(_letters(max(WIDE, 2 * width)))})[0-9]'.encode())
        outside.append(usual.sub(partial(_noted, places), piece))
        if not plain.goes_on(piece):
            return False
        if (far and far.search(piece)) or sum(map(len, outside)) > _PIECE:
            return False
    rest = b"".join(outside)
    return (
        plain.goes_on(b"", last=True)
        and places == list(range(places[0], places[0] + len(places)) if places else [])
        and _ODD.search(rest) is None
        and rest.count(b"<?") == rest.startswith((b"<?xml", b"\xef\xbb\xbf<?xml"))
        and rest.count(b"sheetData") == 2
        and _DATA.search(rest) is not None
    )


def _noted(places: list[int], row: re.Match[bytes]) -> bytes:
    places.append(int(row[1]))
    return b""


def _usual_row(texts: int) -> re.Pattern[bytes]:
    """Rows as most programs write them, with texts of which there are so many."""
    formula = r"(?:<f(?: [\w:]+=\"[^\"<>&]*\")*+(?:/>|>[^<&]*</f>))?"
    value = (
        rf"(?: t=\"n\")?>{formula}<v>{_NUMBER}</v>|"
        rf" t=\"s\"><v>(?:{_below(texts)})</v>|"
        rf" t=\"b\">{formula}<v>[01]</v>|"
        rf" t=\"str\">{formula}<v>{_LETTERS}</v>|"
        r" t=\"inlineStr\"><is><t"  # whose spaces at its ends are text only where it says so
        rf"(?: xml:space=\"preserve\">{_LETTERS}|>(?!\s){_LETTERS}(?<!\s))</t></is>"
    )
    empty = r"(?: t=\"[a-zA-Z]{1,9}\")? ?/>"
    cell = rf'<c r="[A-Z]{{1,3}}\1"(?: s="[0-9]{{1,6}}")?(?:{empty}|(?:{value})</c>)'
    row = rf'<row r="([1-9][0-9]{{0,6}})"(?: [\w:]+="[^"<>&]*")*+ ?(?:/>|>(?:{cell})*+</row>)'
    return re.compile(row.encode())


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


@cache
def _number(letters: str) -> int:
    """Of a column of at most three letters, from 1."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


@cache
def _letters(column: int) -> str:
    """The name of a column.

    >>> [_letters(each) for each in (1, 26, 27, 16_384)]
    ['A', 'Z', 'AA', 'XFD']
    """
    name = ""
    while column:
        column, letter = divmod(column - 1, 26)
        name = chr(65 + letter) + name
    return name


def _rows(source: IO[bytes]) -> Iterator[bytes]:
    """The text of a sheet in pieces that end behind a row, where they do."""
    rest = bytearray()
    while piece := source.read(_PIECE):
        start = max(0, len(rest) - 6)  # an end may begin in the piece before
        rest += piece
        end = rest.rfind(b"</row>", start)
        if end >= 0:
            yield bytes(rest[: end + 6])
            del rest[: end + 6]
    yield bytes(rest)


_HEAD = (
    b'<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns='
    b'"http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
)
_FOOT = b"</sheetData></worksheet>"


def rewritten(source: IO[bytes], texts: list[bool]) -> Iterator[bytes]:
    """A sheet written anew, without the cells to the right of all names and those of no value.

    Args:
        source: the sheet.
        texts: of those that cells name by their number, whether there is a letter in each.

    Raises:
        ParseError: it is no XML.
    """
    yield _HEAD
    last: int | None = None
    for number, row in enumerate(_elements(source, "row"), 1):
        cells = list(_cells(row, texts))
        if last is None:  # the names stand in the first row that holds anything
            last = max((column for column, _, filled in cells if filled), default=None)
        written = "".join(
            f'<c r="{_letters(column)}{number}"{cell}</c>'
            for column, cell, _ in cells
            if last is None or column <= last
        )
        yield f'<row r="{number}">{written}</row>'.encode()
    yield _FOOT


def _elements(source: IO[bytes], name: str) -> Iterator[Element]:
    """All elements of this name, each whole, and gone when the next is asked for."""
    events = iterparse(Marked(source), ("start", "end"))
    _, root = next(events)
    many = 0
    for event, element in events:
        if event == "end" and _local(element.tag) == name:
            yield element
            element.clear()
            many += 1
            if many % 1_000 == 0:
                for child in (root, *root):
                    if child is not element and (child is not root or name == "si"):
                        del child[:]


@lru_cache(maxsize=256)
def _local(tag: str) -> str:
    """A name without its namespace."""
    return tag.rpartition("}")[2]


_PLACE = re.compile(r"([A-Z]{1,3})[0-9]{1,9}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]{1,9})?")
_INDEX = re.compile(r"[0-9]{1,9}")
_STYLE = re.compile(r"[0-9]{1,6}")
NOTHING = ("", False)
_TRUTH = {"0": 0, "1": 1, "false": 0, "true": 1, "FALSE": 0, "TRUE": 1}


def _cells(row: Element, texts: list[bool]) -> Iterator[tuple[int, str, bool]]:
    """Column, what is written behind its place, and whether it holds anything: of each cell that
    has a value. One without a place stands to the right of the one before.
    """
    column = 0
    for cell in row:
        if _local(cell.tag) != "c":
            continue
        place = cell.get("r")
        if place is None:
            column += 1
        elif (match := _PLACE.fullmatch(place)) is not None:
            column = _number(match[1])
        else:
            continue
        written, filled = _value(cell, texts) if column <= COLUMNS else NOTHING
        if written:
            style = cell.get("s", "")
            stated = f' s="{style}"' if _STYLE.fullmatch(style) else ""
            yield column, stated + written, filled


def _value(cell: Element, texts: list[bool]) -> tuple[str, bool]:
    """Type and value of a cell as they are written, or nothing for one that has none: an error, a
    type that nobody knows, a number that is none. And whether there is anything in it.
    """
    if not len(cell):
        return NOTHING
    kind = cell.get("t")
    inner = {_local(each.tag): each for each in cell[::-1]}
    word = (inner["v"].text or "") if "v" in inner else ""
    if kind in (None, "n"):
        if _DECIMAL.fullmatch(word):
            return f"><v>{word}</v>", True
        return (_of_text(word), True) if word and kind is None else NOTHING
    if kind == "s":
        known = _INDEX.fullmatch(word) is not None and int(word) < len(texts)
        return (f' t="s"><v>{int(word)}</v>', texts[int(word)]) if known else NOTHING
    if kind == "b":
        return (f' t="b"><v>{_TRUTH[word]}</v>', True) if word in _TRUTH else NOTHING
    if kind == "d":
        return (f' t="d"><v>{escape(word)}</v>', True) if word else NOTHING
    if kind in ("str", "inlineStr"):
        text = _text_in(inner["is"]) if "is" in inner else word
        return _of_text(text), bool(text)
    return NOTHING


def _of_text(text: str) -> str:
    text = escape(text, {"\r": "&#13;"})
    return f' t="inlineStr"><is><t xml:space="preserve">{text}</t></is>'


def _text_in(element: Element) -> str:
    """Its text, of all its runs, without how it is spoken."""
    runs = [element, *(each for each in element if _local(each.tag) == "r")]
    return "".join(each.text or "" for run in runs for each in run if _local(each.tag) == "t")
