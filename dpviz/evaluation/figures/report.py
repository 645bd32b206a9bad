"""What a reproduction writes: rows as CSV, pictures, and a page that compares with the paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpviz.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Statement:
    """What a paper says, what we found, and whether the two agree."""

    claim: str
    measured: str
    agrees: bool


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Rows with equal keys as a CSV file."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_bytes(path, text.getvalue().encode())


def write_figure(path: Path, figure: Figure) -> None:
    """A picture as PNG, without the time it was made."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=150, metadata={"Software": None})
    write_bytes(path, data.getvalue())


def statement_table(statements: Sequence[Statement], claimed: str) -> list[str]:
    """The statements as lines of Markdown."""
    return [
        f"| {claimed} | we find | |",
        "|---|---|---|",
        *(
            f"| {each.claim} | {each.measured} | {'agrees' if each.agrees else '**disagrees**'} |"
            for each in statements
        ),
    ]


def write_page(
    path: Path, title: str, intro: str, pictures: Sequence[str], statements: Sequence[Statement]
) -> None:
    """A Markdown page: what was done, the pictures, and a table of statements."""
    lines = [f"# {title}", "", intro, ""]
    lines += [line for picture in pictures for line in (f"![{title}]({picture})", "")]
    lines += statement_table(statements, "the paper says")
    write_bytes(path, ("\n".join(lines) + "\n").encode())
