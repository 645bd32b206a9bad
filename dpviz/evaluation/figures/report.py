"""What a reproduction comes to: rows, pictures, and a page that compares with the paper."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.evaluation.experiments import ErrorRow
from dpviz.files.writing import csv_text, write_bytes
from dpviz.lazy import mpl
from dpviz.progress import Progress


@dataclass(frozen=True)
class Statement:
    """What a paper says, what we found, and whether the two agree."""

    claim: str
    measured: str
    agrees: bool


@dataclass(frozen=True)
class Reproduction:
    """A figure redone, before it is written.

    Attributes:
        statements: the paper's, and what we find.
        page: in Markdown.
        tables: rows with equal keys, by the name of their file.
        pictures: likewise.
    """

    statements: list[Statement]
    page: str
    tables: Mapping[str, Sequence[Mapping[str, Any]]]
    pictures: Mapping[str, mpl.Figure] = field(default_factory=dict)

    def write(self, folder: Path, name: str) -> None:
        """Tables as CSV, pictures as PNG without the time they were made, and the page."""
        for each, rows in self.tables.items():
            text = csv_text(rows[0], (row.values() for row in rows))
            write_bytes(folder / f"{each}.csv", text.encode())
        for each, figure in self.pictures.items():
            data = io.BytesIO()
            figure.savefig(data, format="png", dpi=150, metadata={"Software": None})
            write_bytes(folder / f"{each}.png", data.getvalue())
        write_bytes(folder / f"{name}.md", self.page.encode())


def part_of(progress: Progress | None, at: int, number: int) -> Progress | None:
    """Progress of part ``at`` of several, as that of the whole."""
    if progress is None:
        return None

    def report(fraction: float, what: str) -> None:
        progress((at + fraction) / number, what)

    return report


def table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """A table as lines of Markdown.

    >>> table(("a", ""), [("1", "2")])
    ['| a | |', '|---|---|', '| 1 | 2 |']
    """
    lines = [f"| {' | '.join(head)} |".replace("|  |", "| |"), "|---" * len(head) + "|"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows)]


def setting_row(row: ErrorRow, metric: str, **setting: Any) -> dict[str, Any]:
    """One build's error by one metric, after what the figure calls its setting."""
    error = f"{getattr(row, metric):.6g}"
    return {
        **setting,
        "repeat": row.repeat,
        metric: error,
        "build_seconds": f"{row.build_seconds:.3f}",
    }


def comparison(
    title: str,
    intro: str,
    statements: Sequence[Statement],
    pictures: Iterable[str] = (),
    claimed: str = "the paper says",
) -> str:
    """A Markdown page: what was done, the pictures by name, and a table of statements."""
    lines = [f"# {title}", "", intro, ""]
    lines += [line for picture in pictures for line in (f"![{title}]({picture}.png)", "")]
    rows = [
        (each.claim, each.measured, "agrees" if each.agrees else "**disagrees**")
        for each in statements
    ]
    lines += table((claimed, "we find", ""), rows)
    return "\n".join(lines) + "\n"


def mean_of(rows: Iterable[Mapping[str, Any]], column: str, **wanted: Any) -> float:
    """The mean of a column over the rows that have these values; NaN where there is none."""
    values = [
        float(row[column]) for row in rows if all(row[key] == each for key, each in wanted.items())
    ]
    return float(np.mean(values)) if values else float("nan")
