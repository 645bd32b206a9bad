"""A figure redone: rows, pictures, and a page that compares with the paper."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dpviz.evaluation.rows import MeasureRow, markdown, rows_csv
from dpviz.files.writing import write_bytes
from dpviz.lazy import mpl


@dataclass(frozen=True)
class Statement:
    """A paper's claim, our measurement, and whether the two agree."""

    claim: str
    measured: str
    agrees: bool


@dataclass(frozen=True)
class Reproduction:
    """A figure redone, before it is written.

    Attributes:
        statements: the paper's, and what we find.
        tables: rows, by the name of their file.
        pictures: likewise.
    """

    title: str
    intro: str
    statements: list[Statement]
    tables: Mapping[str, Sequence[MeasureRow]]
    pictures: Mapping[str, mpl.Figure] = field(default_factory=dict)

    @property
    def page(self) -> str:
        """A Markdown page: what was done, the pictures, and a table of the statements."""
        lines = [f"# {self.title}", "", self.intro, ""]
        for each in self.pictures:
            lines += [f"![{self.title}]({each}.png)", ""]
        rows = [
            (each.claim, each.measured, "agrees" if each.agrees else "**disagrees**")
            for each in self.statements
        ]
        lines += markdown(("the paper says", "we find", ""), rows)
        return "\n".join(lines) + "\n"

    def write(self, folder: Path, name: str) -> None:
        """Write tables as CSV, pictures as PNG, and the page.

        Raises ReleaseError: a file cannot be written.
        """
        for each, rows in self.tables.items():
            write_bytes(folder / f"{each}.csv", rows_csv(rows).encode())
        for each, figure in self.pictures.items():
            data = io.BytesIO()
            figure.savefig(data, format="png", dpi=150)
            write_bytes(folder / f"{each}.png", data.getvalue())
        write_bytes(folder / f"{name}.md", self.page.encode())


def least_of(rows: Iterable[MeasureRow], measure: str) -> dict[str, float]:
    """The least value of a measure by method, such as its fastest build."""
    values: dict[str, list[float]] = {}
    for row in rows:
        if row.measure == measure:
            values.setdefault(row.method, []).append(row.value)
    return {method: float(np.min(each)) for method, each in values.items()}
