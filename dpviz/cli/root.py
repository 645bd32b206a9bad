"""The application object and what every command shares: options, output, progress."""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpviz.errors import ParameterError
from dpviz.progress import Progress

if TYPE_CHECKING:
    from dpviz.build import Accountable, Ledger

app = typer.Typer(
    name="dpviz",
    help="Private locations in, a differentially private map out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Epsilon = Annotated[float, typer.Option("--epsilon", help="The whole price, for one privacy unit.")]

Bounds = Annotated[
    str | None,
    typer.Option(
        "--bounds", help="The public box: all lower, then all upper limits (2-D W,S,E,N)."
    ),
]
ColumnNames = Annotated[
    str | None,
    typer.Option(
        "--columns", help="Coordinates in order, between commas; in 2-D also one of points."
    ),
]
XColumn = Annotated[str | None, typer.Option("--x", help="The x (longitude) column, with --y.")]
YColumn = Annotated[str | None, typer.Option("--y", help="The y (latitude) column, with --x.")]
Crs = Annotated[
    str | None, typer.Option("--crs", help="CRS of the bounds, and of plain coordinate columns.")
]
Unit = Annotated[
    str | None, typer.Option("--unit", help="Column of the privacy unit, for instance a person.")
]
MaxPerUnit = Annotated[
    int, typer.Option("--max-per-unit", help="With --unit: how many of each are kept, at random.")
]
TableName = Annotated[
    str | None,
    typer.Option("--table", help="With a database's URL: table, schema.table, or a Spark path."),
]
Public = Annotated[
    bool, typer.Option("--public", help="The data are public: simulated noise is allowed.")
]
Seed = Annotated[
    int | None, typer.Option(help="Repeatable simulated noise, NOT PRIVATE; with --public.")
]
Parameters = Annotated[
    list[str] | None, typer.Option("--set", help="A parameter, key=value; repeat at will.")
]
Neighbours = Annotated[str, typer.Option(help="Neighbouring relation: add-remove or replace.")]
ReleaseOutput = Annotated[
    str, typer.Option("--output", "-o", help="The release to write (.parquet).")
]
Bits = Annotated[
    int | None,
    typer.Option("--bits", help="Public grid of 2^bits steps per axis that records are moved to."),
]

LedgerFile = Annotated[
    str | None,
    typer.Option("--ledger", help="The ledger's file; by default in the user's data folder."),
]

DataSet = Annotated[
    str | None,
    typer.Option("--dataset", help="The ledger's name of the data set; by default the file's."),
]
Purpose = Annotated[str, typer.Option("--purpose", help="What for: a note in the ledger.")]


def note_without_total(ledger: Ledger, data: Accountable) -> None:
    """Say on standard error that nothing limits what is spent on these data."""
    if not data.public and ledger.account(data.name).total is None:
        print(
            f"note: data set {data.name!r} has no total yet, so nothing limits what is spent: "
            "set it once with 'dpviz ledger set'",
            file=sys.stderr,
        )


def emit(values: dict[str, Any], as_json: bool, text: str) -> None:
    """Print the JSON object, or the text for people."""
    print(json.dumps(_plain(values), allow_nan=False) if as_json else text)


def complain(line: str) -> None:
    """A line on standard error; on a terminal it takes the place of an unfinished progress line."""
    print(("\r\x1b[K" if sys.stderr.isatty() else "") + line, file=sys.stderr)


def writable(output: str, ending: str = ".parquet") -> None:
    """Fail before reading and spending, not after.

    Raises:
        ParameterError: another ending, or a folder that does not exist.
    """
    path = Path(output)
    if path.suffix.lower() != ending:
        raise ParameterError(f"output {output!r}: give a {ending} file")
    if not path.parent.is_dir():
        raise ParameterError(f"output {output!r}: the folder does not exist: create it first")


def numbers(text: str, what: str) -> list[float]:
    """Numbers between commas.

    Raises:
        ParameterError: something in between is not a finite number.
    """
    found = []
    for word in text.split(","):
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ParameterError(f"{what} {text!r}: {word.strip()!r} is not a number")
        found.append(value)
    return found


def words(text: str | None) -> tuple[str, ...]:
    """Words between commas, without the space around them; none for None."""
    return tuple(word.strip() for word in text.split(",")) if text else ()


def settings(pairs: list[str] | None) -> dict[str, str]:
    """``key=value`` pairs of ``--set``.

    Raises:
        ParameterError: a pair without an equals sign, or a key given twice.
    """
    found: dict[str, str] = {}
    for pair in pairs or []:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise ParameterError(f"--set {pair!r}: give key=value, for instance height=8")
        if key.strip() in found:
            raise ParameterError(f"--set {key.strip()} is given twice: give it once")
        found[key.strip()] = value.strip()
    return found


def progress() -> Progress:
    """A progress line on standard error that shows itself only after a second of work."""
    started = time.monotonic()
    shown = 0.0

    def report(fraction: float, what: str) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - started < 1.0 or (now - shown < 0.5 and fraction < 1.0):
            return
        shown = now
        end = "\n" if fraction >= 1.0 else "\r"
        print(f"{what}: {fraction:4.0%}{end}", end="", file=sys.stderr, flush=True)

    return report


def _plain(value: Any) -> Any:
    """Python values in place of NumPy's, so that JSON takes them."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value.item() if hasattr(value, "item") else value
