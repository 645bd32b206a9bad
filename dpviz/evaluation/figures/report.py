"""What a reproduction comes to: rows, pictures, and a page that compares with the paper."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.errors import ParameterError
from dpviz.files.writing import csv_text, destination, write_bytes
from dpviz.lazy import mpl
from dpviz.progress import Progress

PNG = b"\x89PNG\r\n\x1a\n"
SOFTWARE = "dpviz reproduce"
"""What a picture says that made it."""


@dataclass(frozen=True)
class Statement:
    """What a paper says, what we found, and whether the two agree."""

    claim: str
    measured: str
    agrees: bool


@dataclass(frozen=True)
class Outputs:
    """The files of a figure, and what each begins with: known before any work.

    Attributes:
        title: of the page.
        tables: the line of their columns, by the name of their file.
        pictures: likewise.
    """

    title: str
    tables: Mapping[str, str]
    pictures: Sequence[str] = ()

    def rows(self, values: Iterable[Iterable[Any]]) -> list[dict[str, Any]]:
        """Values as rows of the first table, under the names of its columns."""
        columns = next(iter(self.tables.values())).split(",")
        return [dict(zip(columns, each, strict=True)) for each in values]

    def require_place(self, folder: Path, name: str) -> None:
        """Refuse to write over files of a folder that an earlier run did not make.

        A table is of such a run where its columns are the same, a page where its title is, a
        picture where it says so; earlier versions' do not, and stand beside their page.

        Args:
            folder: where they are written.
            name: of the figure, and of its page.

        Raises:
            ParameterError: there is another one.
            ReleaseError: as :func:`dpviz.files.writing.destination`.
        """
        page = folder / f"{name}.md"
        heads = {f"{each}.csv": head for each, head in self.tables.items()}
        for file, head in {page.name: f"# {self.title}", **heads}.items():
            start = _start(folder / file)
            if start and start.splitlines()[0] != head.encode():
                raise _stranger(folder / file, name)
        for each in self.pictures:
            path = folder / f"{each}.png"
            start = _start(path)
            ours = SOFTWARE.encode() in start or _start(page)
            if start and not (start.startswith(PNG) and ours):
                raise _stranger(path, name)


@dataclass(frozen=True)
class Reproduction:
    """A figure redone, before it is written.

    Attributes:
        statements: the paper's, and what we find.
        page: in Markdown; its first line is its title.
        tables: rows with equal keys, by the name of their file.
        pictures: likewise.
    """

    statements: list[Statement]
    page: str
    tables: Mapping[str, Sequence[Mapping[str, Any]]]
    pictures: Mapping[str, mpl.Figure] = field(default_factory=dict)

    def write(self, folder: Path, name: str) -> None:
        """Tables as CSV, pictures as PNG without the time they were made, and the page.

        Raises:
            ParameterError: as :meth:`Outputs.require_place`, of a file that came meanwhile.
            ReleaseError: likewise, or one cannot be written.
        """
        title = self.page.partition("\n")[0].removeprefix("# ")
        heads = {each: ",".join(rows[0]) for each, rows in self.tables.items()}
        Outputs(title, heads, list(self.pictures)).require_place(folder, name)
        for each, rows in self.tables.items():
            text = csv_text(rows[0], (row.values() for row in rows))
            write_bytes(folder / f"{each}.csv", text.encode())
        for each, figure in self.pictures.items():
            data = io.BytesIO()
            figure.savefig(data, format="png", dpi=150, metadata={"Software": SOFTWARE})
            write_bytes(folder / f"{each}.png", data.getvalue())
        write_bytes(folder / f"{name}.md", self.page.encode())


def part_of(progress: Progress, at: int, number: int) -> Progress:
    """Progress of part ``at`` of several, as that of the whole."""

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


def _start(path: Path) -> bytes:
    """The first bytes of a file that a write would replace; none where nothing is lost."""
    target = destination(path)
    if not target.exists():
        return b""
    with target.open("rb") as file:
        return file.read(4096)


def _stranger(path: Path, name: str) -> ParameterError:
    return ParameterError(
        f"output {os.fspath(path)!r} exists and is not of an earlier 'dpviz reproduce {name}': "
        "name another folder, or move the file"
    )
