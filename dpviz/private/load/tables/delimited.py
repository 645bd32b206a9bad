"""Delimited text with a header line; the delimiter is comma, semicolon, tab or bar.

**A record is a line**: it ends at LF, CR or CRLF, even inside quotes, and is parsed separately.
A line with another number of fields than the header, or with quotes that do not enclose whole
fields (for example an unclosed quote), is dropped and changes no other line: stability 1.
Delimiter and encoding come from the header line only; cells are bytes, and nothing about a column
is inferred from its cells.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from dpviz.errors import DataError
from dpviz.files import arrow, limits
from dpviz.lazy import pa, pc, pv
from dpviz.private.load.columns import MAX_LINE
from dpviz.private.load.notation import PLAIN
from dpviz.private.load.tables.base import Block, Column, Opened, TextFile, parsing

BLOCK = 1 << 24
"""Bytes of text per block."""

_DELIMITERS = ",;\t|"
_BREAK = re.compile(rb"[\r\n]")
_HEADER = re.compile(rb"(?:[^\S\r\n]*[\r\n])*+([^\r\n]+)[\r\n]")
"""The first line that is not blank."""
_COORDINATE = re.compile(r"\s*[+-]?[0-9]+[.,][0-9]+\s*")
_XML = re.compile(rb"(?i)\s*<(\?xml|!doctype|html|gpx|kml)\b")


class DelimitedText(TextFile):
    """Text file with a header line; all columns are text. An empty file is an empty table."""

    first_line = True

    def __init__(self, path: Path, opened: Opened | None = None) -> None:
        super().__init__(path, opened)
        with parsing(self.name, "delimited text"):
            header = self._header()
            self.delimiter = _delimiter(header)
            line = header.decode(_encoding(header), errors="replace")
            if "\0" in line:
                raise DataError(
                    f"{self.name} is not text in UTF-8: give CSV, Excel, Parquet, GeoJSON, JSON, "
                    "GeoPackage or a zipped Shapefile"
                )
            self._names = next(csv.reader([line], delimiter=self.delimiter), [])
        _refuse_headerless(self._names, self.name)
        self.columns = [Column(name, "text") for name in self._names]
        self.semicolons = self.delimiter == ";"

    def _blocks(self, names: Sequence[str], geometry: bool) -> Iterator[Block]:
        """Yield the records of the lines after the header."""
        with parsing(self.name, "delimited text"), self._open() as file:
            for lines, long in _whole_lines(self._stream(file)):
                whole, quoted = _splittable(lines, self.delimiter)
                yield replace(self._block(whole, names), broken=long, quoted=quoted)

    def _block(self, lines: bytes, names: Sequence[str]) -> Block:
        """Parse lines whose quotes enclose whole fields."""
        wanted = {name: f"c{self._names.index(name)}" for name in names}
        types = {column: pa.binary() for column in wanted.values()}
        quick = types | {wanted[name]: pa.float64() for name in self.numeric if name in wanted}
        if not names:  # only the number of rows is needed
            types = quick = {"c0": pa.binary()}
        table, ragged = self._parsed(lines, quick), 0
        if table is None:  # a line has another number of fields, or a cell is no plain number
            lines, ragged = _fitting(lines, self.delimiter, len(self._names))
            table = self._parsed(lines, quick)
        if table is None:  # leave numbers as text
            table = self._parsed(lines, types)
        columns = {name: table[wanted[name]] for name in names}
        return Block(table.num_rows, columns, ragged=ragged)

    def _parsed(self, lines: bytes, types: dict[str, Any]) -> Any:
        """Columns with these types; None if a line or a cell does not fit."""
        if not lines.strip(b"\r\n"):
            return pa.table({name: pa.array([], kind) for name, kind in types.items()})
        if lines[:1] == codecs.BOM_UTF8[:1]:  # a byte order mark here belongs to the record
            lines = b"\n" + lines
        try:
            return pv.read_csv(
                pa.BufferReader(lines),
                read_options=pv.ReadOptions(
                    column_names=[f"c{k}" for k in range(len(self._names))], block_size=MAX_LINE * 4
                ),
                parse_options=pv.ParseOptions(
                    delimiter=self.delimiter,
                    quote_char='"' if b'"' in lines else False,
                    newlines_in_values=False,
                ),
                convert_options=pv.ConvertOptions(
                    include_columns=list(types),
                    column_types=types,
                    null_values=[""],
                    strings_can_be_null=False,
                    check_utf8=False,
                ),
            )
        except pa.ArrowInvalid:
            return None

    def _header(self) -> bytes:
        """The first line that is not blank."""
        seen = b""
        with self._open() as file:
            for chunk in _chunks(file, 1 << 16, self.name):
                seen += chunk
                if _XML.match(seen):  # one line may hold all records
                    raise DataError(f"{self.name} is XML, not delimited text: give CSV or GeoJSON")
                if line := _HEADER.match(seen):
                    self._skip = line.end()
                    return line[1]
                if len(seen) > MAX_LINE:
                    raise DataError(f"{self.name} has no header line: add the columns' names")
        self._skip = len(seen)
        return seen.strip()

    def _stream(self, file: IO[bytes]) -> Iterator[bytes]:
        """Yield the bytes below the header."""
        skip = self._skip
        for chunk in _chunks(file, BLOCK, self.name):
            skip, records = max(0, skip - len(chunk)), chunk[skip:]
            if records:
                yield records


class TextLines(TextFile):
    """UTF-8 text without a header: each line is a record with one column ``line``."""

    columns: Sequence[Column] = (Column("line", "text"),)

    def _blocks(self, names: Sequence[str], geometry: bool) -> Iterator[Block]:
        """The lines that are not blank."""
        with parsing(self.name, "text"), self._open() as file:
            chunks = _chunks(file, BLOCK, self.name)
            for lines, long in _whole_lines(chunks):
                rows = [line for line in _BREAK.split(lines) if line.strip()]
                yield Block(len(rows), {"line": arrow.binaries(rows)}, broken=long)


def _chunks(file: IO[bytes], size: int, name: str) -> Iterator[bytes]:
    """Yield the bytes of a text file in chunks, without a leading byte order mark.

    Raises:
        DataError: the file is too large.
    """
    read = 0
    while chunk := file.read(size):
        first, read = not read, read + len(chunk)
        limits.FILE.check(read, name)
        yield chunk.removeprefix(codecs.BOM_UTF8) if first else chunk


def _whole_lines(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield chunks of whole lines, and the number of lines dropped as too long."""
    unfinished, skipping = b"", False
    for chunk in chunks:
        if skipping:
            end = _BREAK.search(chunk)
            if end is None:
                continue
            chunk, skipping = chunk[end.end() :], False
        chunk = unfinished + chunk
        cut = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        unfinished = chunk[cut:]
        skipping = len(unfinished) > MAX_LINE
        if skipping:
            unfinished = b""
        if cut or skipping:
            lines, long = _without_long(chunk[:cut])
            yield lines, long + skipping
    if unfinished:
        yield _without_long(unfinished + b"\n")


def _without_long(lines: bytes) -> tuple[bytes, int]:
    """Lines within the length limit, and the number of other lines."""
    if len(lines) <= MAX_LINE:
        return lines, 0
    ends = _ends(lines)
    return _fitting_lines(lines, ends, arrow.numbers(np.diff(ends, prepend=0) <= MAX_LINE))


def _splittable(lines: bytes, delimiter: str) -> tuple[bytes, int]:
    """Lines whose quotes, if any, enclose whole fields, and the number of other lines."""
    if b'"' not in lines:
        return lines, 0
    ends, mark = _ends(lines), re.escape(delimiter)
    field = rf'(?:"(?:[^"\r\n]|"")*"|[^"{mark}\r\n][^{mark}\r\n]*|)'
    whole = rf"^{field}(?:{mark}{field})*[\r\n]?\z"
    return _fitting_lines(lines, ends, pc.match_substring_regex(_array(lines, ends), whole))


def _fitting(lines: bytes, delimiter: str, fields: int) -> tuple[bytes, int]:
    """Lines with this number of fields, and the number of other lines that are not blank."""
    ends, mark = _ends(lines), re.escape(delimiter)
    array = _array(lines, ends)
    if b'"' in lines:  # delimiters inside quotes separate no fields
        array = pc.replace_substring_regex(array, rf'(^|{mark})"(?:[^"]|"")*"', r"\1")
    divided = pc.equal(pc.count_substring(array, delimiter), fields - 1)
    blank = np.diff(ends, prepend=0) == 1
    fitting, ragged = _fitting_lines(lines, ends, divided)
    return fitting, ragged - int(np.count_nonzero(blank & ~arrow.number_array(divided)))


def _array(lines: bytes, ends: Any) -> Any:
    """Each line with its end, as a pyarrow array on the same bytes."""
    start = np.concatenate([[0], ends]).astype(np.int64)
    buffers = [None, pa.py_buffer(start), pa.py_buffer(lines)]
    return pa.Array.from_buffers(pa.large_binary(), len(ends), buffers)


def _ends(lines: bytes) -> Any:
    """End positions of lines, after CR or LF; CRLF adds an empty line, which is no record."""
    codes = np.frombuffer(lines, dtype=np.uint8)
    return np.flatnonzero((codes == 10) | (codes == 13)) + 1


def _fitting_lines(lines: bytes, ends: Any, fits: Any) -> tuple[bytes, int]:
    """Lines where ``fits`` is true, and the number of other lines."""
    mask = arrow.number_array(fits)
    if mask.all():
        return lines, 0
    start = np.concatenate([[0], ends[:-1]])[mask]
    some = b"".join(lines[a:b] for a, b in zip(start.tolist(), ends[mask].tolist(), strict=True))
    return some, int((~mask).sum())


def _encoding(header: bytes) -> str:
    try:
        header.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _delimiter(header: bytes) -> str:
    outside = b"".join(header.split(b'"')[::2])
    return max(_DELIMITERS, key=lambda mark: outside.count(mark.encode()))


def _refuse_headerless(names: Sequence[str], file: str) -> None:
    """Raise if the first line holds coordinates; its cells may be a record's and are not quoted."""
    if any(map(_COORDINATE.fullmatch, names)) or (
        names and all(re.fullmatch(PLAIN.number, name.strip()) for name in names)
    ):
        raise DataError(
            f"{file} begins with numbers, not with column names: add a header line, such as "
            "lon,lat; a file of one sequence per line is named .txt"
        )
