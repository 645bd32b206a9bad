"""Delimited text: comma, semicolon, tab or bar; UTF-8, UTF-16 with a mark, or Windows-1252."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError
from dpviz.private.load.tables.base import Column, as_numbers, kind_of, parsing, pick

_SAMPLE = 1 << 16
_BLOCK = 1 << 22
_DELIMITERS = ",;\t|"


class DelimitedText:
    """A text file with a header line. An empty file is an empty table."""

    crs: str | None = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = path.name
        with path.open("rb") as file:
            sample = file.read(_SAMPLE)
        self.encoding = _encoding(sample)
        text = sample.decode(self.encoding, errors="replace").removeprefix("\ufeff")
        self.is_empty = not text.strip()
        header = next((line for line in text.splitlines() if line.strip()), "")
        if "\0" in header:
            raise DataError(f"{self.name} is not text: give CSV, Parquet or a vector format")
        self.delimiter = max(_DELIMITERS, key=_outside_quotes(header).count)
        with parsing(self.name, "delimited text"):
            self._names = next(csv.reader([header], delimiter=self.delimiter), [])
        if self._names and all(_is_number(name) for name in self._names):
            raise DataError(
                f"{self.name} begins with numbers, not with column names: add a header line"
            )

    @cached_property
    def columns(self) -> Sequence[Column]:
        """The columns of the header, with the kinds that the first block suggests."""
        import pyarrow as pa

        if self.is_empty:
            return []
        kinds: dict[str, Any] = {}
        with parsing(self.name, "delimited text"):
            try:
                with self._reader([], {}) as reader:
                    kinds = {field.name: field.type for field in reader.schema}
            except pa.ArrowInvalid:
                if len(self._names) < 2:
                    raise
        return [Column(name, kind_of(kinds.get(name, pa.null()))) for name in self._names]

    def read(self, names: Sequence[str], numeric: Sequence[str]) -> dict[str, Any]:
        """The named columns; those in `numeric` as float64."""
        import pyarrow as pa

        if self.is_empty:
            return {
                name: pa.array([], pa.float64() if name in numeric else pa.string())
                for name in names
            }
        pick([Column(name, "other") for name in self._names], names, self.name)
        wanted = {name: pa.string() for name in numeric}
        with parsing(self.name, "delimited text"):
            table = None
            for decimal_point in "., "[: 2 if self.delimiter == ";" else 1]:
                try:
                    floats = dict.fromkeys(wanted, pa.float64())
                    table = self._table(names, floats, decimal_point)
                    break
                except pa.ArrowInvalid:
                    continue
            if table is None:  # find out which column is to blame
                table = self._table(names, wanted, ".")
            return {
                name: as_numbers(table[name], name) if name in numeric else table[name]
                for name in names
            }

    def places(self) -> NDArray[np.float64]:
        """Text has no geometry."""
        raise DataError(f"{self.name} has no geometry: name the columns of the coordinates")

    def _options(self, names: Sequence[str], types: dict[str, Any], decimal_point: str) -> Any:
        import pyarrow.csv as pv

        return {
            "read_options": pv.ReadOptions(encoding=self.encoding, block_size=_BLOCK),
            "parse_options": pv.ParseOptions(delimiter=self.delimiter, newlines_in_values=False),
            "convert_options": pv.ConvertOptions(
                include_columns=list(names), column_types=types, decimal_point=decimal_point
            ),
        }

    def _reader(self, names: Sequence[str], types: dict[str, Any]) -> Any:
        import pyarrow.csv as pv

        return pv.open_csv(self._path, **self._options(names, types, "."))

    def _table(self, names: Sequence[str], types: dict[str, Any], decimal_point: str) -> Any:
        import pyarrow.csv as pv

        return pv.read_csv(self._path, **self._options(names, types, decimal_point))


def _encoding(sample: bytes) -> str:
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # a cut last character is fine
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _outside_quotes(line: str) -> str:
    return "".join(line.split('"')[::2])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
