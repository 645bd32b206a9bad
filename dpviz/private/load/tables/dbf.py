"""The .dbf beside a .shp: cells of a fixed width, and the code page that they are written in.

GDAL cuts a text at a NUL, leaves out bytes that its code page lacks, and trims blanks before it.
So cells are taken from the bytes of the file, and bytes that differ stay different.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.lazy import pa, pc
from dpviz.private.load.tables.letters import known_encoding

_NO_MORE = 0x0D
"""What stands after the columns in the header of a .dbf."""
_PAD = " \0"
_PADDED = b"CNFDLM"
"""Types of columns whose cells are text; those of others are all bytes of their width."""
_LANGUAGES = {
    "cp437": (1, 11, 13, 15, 17, 21, 24, 25, 27),
    "cp850": (2, 10, 14, 16, 18, 20, 22, 26, 29, 37, 55),
    "cp852": (31, 34, 35, 64, 100, 135),
    "cp1252": (3, 88, 89), "iso8859-1": (87,), "cp1250": (200,), "cp1251": (201,),
    "cp1253": (203,), "cp1254": (202,), "cp1257": (204,), "cp737": (106, 134),
    "cp857": (107, 136), "cp860": (36,), "cp861": (103,), "cp863": (28, 108),
    "cp865": (8, 23, 102), "cp866": (38, 101), "cp874": (80, 124), "cp932": (19, 123),
    "cp936": (77, 122), "cp949": (78, 121), "cp950": (79, 120), "mac-roman": (4,),
    "mac-cyrillic": (150,), "mac-latin2": (151,),
}  # fmt: skip
"""Code pages by the number of a language in the header, as GDAL has them."""


@dataclass(frozen=True, repr=False)
class Field:
    """A column of a .dbf: private.

    Attributes:
        cells: of all rows (n,), texts of a fixed width.
        padded: whether they are filled up behind.
    """

    cells: NDArray[np.bytes_]
    padded: bool

    def __repr__(self) -> str:
        return "<private field>"

    def written(self, rows: NDArray[np.int64]) -> Any:
        """Cells of rows (n,) as a large_string array of bytes that need not be UTF-8.

        What fills them up behind, blanks or NULs, is no part of them. A row that is not there, as
        where the .dbf is cut short, is empty.
        """
        width = self.cells.dtype.itemsize
        there = rows < len(self.cells)
        raw = np.zeros(len(rows), self.cells.dtype)
        raw[there] = self.cells[rows[there]]
        fixed = pa.Array.from_buffers(pa.binary(width), len(rows), [None, pa.py_buffer(raw)])
        text = pc.cast(pc.cast(fixed, pa.large_binary()), pa.large_string(), safe=False)
        if self.padded:
            return pc.ascii_rtrim(text, _PAD)
        return text if there.all() else pc.if_else(pa.array(there), text, "")


def fields(path: Path) -> list[Field]:
    """The columns of the .dbf beside a .shp."""
    table = np.memmap(_beside(path, ".dbf")[0], np.uint8, "r")
    first, width = (int.from_bytes(table[at : at + 2].tobytes(), "little") for at in (8, 10))
    stated = int.from_bytes(table[4:8].tobytes(), "little")
    rows = min(stated, (len(table) - first) // width)
    columns, start = [], first + 1
    for at in range(32, first - 31, 32):
        if table[at] == _NO_MORE:
            break
        size = int(table[at + 16])
        # Of no rows, all but the first would start beyond the file's end, which is an error.
        cells = np.ndarray((rows,), f"S{size}", table, start if rows else 0, (width,))
        columns.append(Field(cells, int(table[at + 11]) in _PADDED))
        start += size
    return columns


def code_page(path: Path) -> str | None:
    """What the .cpg beside a .shp, or else the header of its .dbf, says of its texts.

    None where they say nothing that is known, so that texts stay the bytes that they are.
    """
    if stated := _beside(path, ".cpg"):
        with stated[0].open("rb") as file:
            name = file.read(64).decode("ascii", "replace").strip().lower()
    else:
        with _beside(path, ".dbf")[0].open("rb") as file:
            name = f"ldid/{file.read(30)[29]}"
    if (language := re.fullmatch(r"ldid/(\d+)", name)) is not None:
        pages = (page for page, known in _LANGUAGES.items() if int(language[1]) in known)
        name = next(pages, "")
    elif (part := re.fullmatch(r"(?:iso)?[ _-]?8859[ _-]?(\d+)", name)) is not None:
        name = f"iso8859-{part[1]}"
    elif (number := re.fullmatch(r"(?:ansi|oem|cp)?[ _-]?(\d+)", name)) is not None:
        name = f"cp{number[1]}"
    page = known_encoding(name)
    return None if page in (None, "ascii") else page.removesuffix("-sig")  # a mark is no letter


def decoded(text: Any, page: str | None) -> Any:
    """Texts of a code page as a large_binary array of UTF-8, different ones as different.

    Args:
        text: a large_string array of bytes.
        page: as of :func:`code_page`.
    """
    raw = pc.cast(text, pa.large_binary())
    beyond = pc.invert(pc.string_is_ascii(text))
    if page is None or not pc.any(beyond).as_py():
        return raw
    odd = pc.dictionary_encode(raw.filter(beyond))
    words = [_word(word, page) for word in odd.dictionary.to_pylist()]
    anew = pa.array(words, pa.large_binary()).take(odd.indices)
    return pc.replace_with_mask(raw, beyond, anew)


def _word(raw: bytes, page: str) -> bytes:
    """A text in UTF-8; a byte that the code page lacks is a surrogate.

    Where two texts of a code page are the same letters, that which is not written from them is
    taken for bytes that it lacks: letters and surrogates say which bytes they are of.
    """
    with suppress(UnicodeError):
        word = raw.decode(page, "surrogateescape")
        if word.encode(page, "surrogateescape") == raw:
            return word.encode(errors="surrogatepass")
    return raw.decode("ascii", "surrogateescape").encode(errors="surrogatepass")


def digits(text: Any) -> Any:
    """Numbers in decimal digits as a large_binary array, without zeros that say nothing.

    As float64 they need not stay different. What is written otherwise, as with an exponent, stays
    as it is.

    >>> import pyarrow as pa
    >>> cells = pa.array(["007", "1.50", "-.5", "12345678901234567890", "1e2"])
    >>> b" ".join(digits(cells).to_pylist())
    b'7 1.5 -0.5 12345678901234567890 1e2'
    """
    plain = pc.replace_substring(text, ",", ".")
    for zeros, without in (
        (r"(\.[0-9]*?)0*$", r"\1"),
        (r"\.$", ""),
        (r"^(-?)0+([0-9])", r"\1\2"),
        (r"^(-?)\.", r"\10."),
    ):
        plain = pc.replace_substring_regex(plain, zeros, without)
    usual = pc.match_substring_regex(plain, r"^-?[0-9]+(?:\.[0-9]+)?$")
    return pc.cast(pc.if_else(usual, plain, text), pa.large_binary())


def _beside(path: Path, ending: str) -> list[Path]:
    both = (path.with_suffix(each) for each in (ending, ending.upper()))
    return [each for each in both if each.exists()]
