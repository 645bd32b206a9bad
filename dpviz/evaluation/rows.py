"""Rows of an experiment, and the CSV file that grows build by build and can be resumed.

The first line of the file is a comment that says what the rows are about: the data by a digest, the
queries, the seed. Rows of another experiment are refused, never mixed. Nothing is written before
the first rows, so a refused command leaves nothing behind; the file is whole at any moment.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.errors import DataError, ParameterError
from dpviz.files.writing import csv_text, write_bytes

MARK = "# dpviz evaluation "
"""Begins the first line of a file of rows; a JSON object follows."""

Key = tuple[str, float, str, int]
"""Identifies what was measured: method, epsilon, size, repeat."""


@dataclass(frozen=True)
class MeasureRow:
    """One measure of one release.

    Attributes:
        method: as it was asked for, parameters included.
        epsilon: the whole price.
        size: the workload's name.
        repeat: from 0.
        measure: what was measured, such as ``mean_relative_error`` or ``build_seconds``.
        value: of the measure.
    """

    method: str
    epsilon: float
    size: str
    repeat: int
    measure: str
    value: float

    @property
    def key(self) -> Key:
        """Method, epsilon, size and repeat: rows of one key are measured together."""
        return self.method, self.epsilon, self.size, self.repeat


CHOOSE = "choose another output"

COLUMNS = tuple(field.name for field in fields(MeasureRow))

Group = tuple[str, float, str, str]
"""Key of repeated measurements: method, epsilon, size, measure."""


def grouped(rows: Iterable[MeasureRow]) -> dict[Group, list[float]]:
    """Values over the repetitions by method, epsilon, size and measure."""
    groups: dict[Group, list[float]] = {}
    for row in rows:
        groups.setdefault((row.method, row.epsilon, row.size, row.measure), []).append(row.value)
    return groups


def means(rows: Iterable[MeasureRow]) -> dict[Group, float]:
    """Means over the repetitions by method, epsilon, size and measure."""
    return {group: float(np.mean(values)) for group, values in grouped(rows).items()}


def summary(rows: Iterable[MeasureRow]) -> list[dict[str, Any]]:
    """Means over the repetitions: an entry per method, epsilon and size, by rising epsilon."""
    entries: dict[tuple[str, float, str], dict[str, Any]] = {}
    for (method, epsilon, size, measure), values in grouped(rows).items():
        entry = {"method": method, "epsilon": epsilon, "size": size, "repeats": len(values)}
        entries.setdefault((method, epsilon, size), entry)[measure] = float(np.mean(values))
    methods = list(dict.fromkeys(method for method, _, _ in entries))
    return sorted(entries.values(), key=lambda e: (methods.index(e["method"]), e["epsilon"]))


def rows_csv(rows: Iterable[MeasureRow]) -> str:
    """Rows as CSV, with a header line."""
    return csv_text(COLUMNS, map(astuple, rows))


def markdown(head: Sequence[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """A table as lines of Markdown.

    >>> markdown(("a", ""), [("1", "2")])
    ['| a | |', '|---|---|', '| 1 | 2 |']
    """
    lines = [f"| {' | '.join(head)} |".replace("|  |", "| |"), "|---" * len(head) + "|"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows)]


class RowFile:
    """A CSV file of rows, opened to resume it; each build is added by writing the file anew.

    Args:
        path: the file; its folder must exist.
        about: plain values that describe the experiment; the file's must be the same.

    Attributes:
        rows: what the file holds already.

    Raises:
        ParameterError: no CSV file in a folder that exists, or rows of another experiment.
        DataError: a file that cannot be read as rows.
    """

    def __init__(self, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
        self.path, self.about = Path(path), about
        self.rows: list[MeasureRow] = []
        require_csv(self.path)
        text = _text(self.path) if self.path.exists() else ""
        if not text:
            return
        there, self.rows = _parsed(self.path.name, text)
        if there is None:
            raise DataError(f"{self.path.name} does not say what its rows are about: {CHOOSE}")
        for key, value in about.items():
            if there.get(key) != value:
                raise ParameterError(
                    f"{self.path.name} holds another experiment ({key} {there.get(key)}, here "
                    f"{value}): {CHOOSE}"
                )

    def append(self, rows: Iterable[MeasureRow]) -> None:
        """Add the rows of a build."""
        rows = [*self.rows, *rows]
        text = MARK + json.dumps(self.about) + "\n" + rows_csv(rows)
        write_bytes(self.path, text.encode())
        self.rows = rows


def require_csv(path: str | os.PathLike[str]) -> None:
    """Refuse a file of rows that is not a CSV file in a folder that exists.

    Raises:
        ParameterError: it is not.
    """
    path = Path(path)
    if path.suffix.lower() != ".csv" or path.is_dir() or not path.parent.is_dir():
        raise ParameterError(f"output {str(path)!r}: give a .csv file in a folder that exists")


def _parsed(name: str, text: str) -> tuple[dict[str, Any] | None, list[MeasureRow]]:
    """The description in a file, if any, and its rows."""
    about, body = None, text
    rows: list[MeasureRow] = []
    try:
        if text.startswith(MARK):
            head, _, body = text.partition("\n")
            about = dict(json.loads(head.removeprefix(MARK)))
        lines = csv.DictReader(io.StringIO(body))
        if tuple(lines.fieldnames or ()) != COLUMNS:
            raise csv.Error
        for row in lines:
            epsilon, value = float(row["epsilon"]), float(row["value"])
            at = row["method"], epsilon, row["size"], int(row["repeat"])
            rows.append(MeasureRow(*at, row["measure"], value))
    except (csv.Error, RecursionError, TypeError, ValueError):
        raise DataError(
            f"{name}: row {len(rows) + 1} is not one of 'dpviz evaluate': choose another file"
        ) from None
    return about, rows


def _text(path: Path) -> str:
    try:
        if not path.is_file():  # a device may never end
            raise OSError
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{path.name} is no text in UTF-8: choose another file") from None
