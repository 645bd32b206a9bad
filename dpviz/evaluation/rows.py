"""Rows of an experiment, their means, and the CSV file that grows build by build."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.errors import ParameterError
from dpviz.files.writing import csv_text, write_bytes


@dataclass(frozen=True)
class MeasureRow:
    """One measure of one release.

    Attributes:
        method: name of the method, with the parameters that were given.
        size: the workload's name.
        measure: name of the measure, such as ``mean_relative_error`` or ``build_seconds``.
    """

    method: str
    epsilon: float
    size: str
    repeat: int
    measure: str
    value: float


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
    """A CSV file of rows, rewritten with each build so that it is complete at any moment.

    Nothing is written before the first rows: a refused command leaves nothing behind.

    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.rows: list[MeasureRow] = []
        require_csv(self.path)

    def append(self, rows: Iterable[MeasureRow]) -> None:
        """Add the rows of a build."""
        self.rows = [*self.rows, *rows]
        write_bytes(self.path, rows_csv(self.rows).encode())


def require_csv(path: str | os.PathLike[str]) -> None:
    """Refuse a file of rows that is not a CSV file in a folder that exists."""
    path = Path(path)
    if path.suffix.lower() != ".csv" or path.is_dir() or not path.parent.is_dir():
        raise ParameterError(f"output {str(path)!r}: give a .csv file in a folder that exists")
