"""The application object, and shared helpers of commands: options, output, progress."""

from __future__ import annotations

import io
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpviz.cli import interrupts
from dpviz.errors import ParameterError
from dpviz.harmless import harmless
from dpviz.lists import number
from dpviz.progress import Progress

if TYPE_CHECKING:
    from dpviz.domain import Domain

LOGGED = 10.0
"""Seconds between two lines of progress where stderr is no terminal: a file or a pipe."""

app = typer.Typer(
    name="dpviz",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    """Print the version and exit, before any module of a command is loaded."""
    if asked:
        from importlib.metadata import version

        typer.echo(f"dpviz {version('dpviz')}")
        raise typer.Exit


@app.callback()
def _program(
    _version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Private locations in, a differentially private map out."""


COUNT = ("count", "noise_sd", "low", "high")
"""Printed fields of every count."""

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Epsilon = Annotated[
    float, typer.Option("--epsilon", help="Privacy budget (epsilon), for one privacy unit.")
]
NoiseSeed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        help="Seed of repeatable simulated noise (default: exact noise, not repeatable).",
    ),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Method parameter, key=value; repeatable.")
]
MaxPerUnit = Annotated[int, typer.Option(min=1, help="Max contributions per unit.")]
Page = Annotated[str, typer.Option("--output", "-o", help="Page to write (.html).")]
ReleaseFile = Annotated[str, typer.Argument(metavar="RELEASE", help="Release file (.parquet).")]
LedgerFile = Annotated[
    str | None,
    typer.Option("--ledger", help="Ledger file (default: in the user's data folder)."),
]


def emit(values: dict[str, Any], as_json: bool, text: str, *, made: str | None = None) -> None:
    """Print a JSON object, or text for people.

    Args:
        values: of the JSON object.
        as_json: whether to print that.
        text: for people.
        made: the file that exists even if the answer cannot be printed.

    Raises:
        ParameterError: standard output cannot be written, such as a full disk.
    """
    words = json.dumps(_plain(values), allow_nan=False) if as_json else harmless(text)
    _write(_erased())
    try:
        print(words, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # discard the rest at exit
        if not isinstance(error, BrokenPipeError):  # the reader closed the pipe
            stands = "" if made is None else f"{made} is made, but "
            raise ParameterError(
                f"{stands}the answer cannot be written ({error.strerror}): write it elsewhere"
            ) from error


def in_line(text: str) -> str:
    r"""A name for one line of text: line breaks and tabs become escapes.

    >>> in_line("Ward 1\n\x1b[2J")
    'Ward 1\\n\\x1b[2J'
    """
    return harmless(re.sub("[\t\n\u2028\u2029]", lambda match: ascii(match[0])[1:-1], text))


def as_rows(columns: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """Convert columns of equal length to rows.

    >>> as_rows({"a": [1, 2], "b": [3, 4]})
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 4}]
    """
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def answer_rows(answers: Any, names: Sequence[str]) -> list[dict[str, Any]]:
    """Some columns of answers, as one dictionary per answer."""
    return as_rows({name: getattr(answers, name).tolist() for name in names})


def step_rows(
    answers: Any, words: Callable[[float], str], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Answers step by step, as one dictionary each, with the start and end of the step."""
    ends = {name: map(words, getattr(answers, name).astype(float)) for name in ("start", "end")}
    rows = answer_rows(answers, names)
    return [step | row for step, row in zip(as_rows(ends), rows, strict=True)]


def complain(line: str) -> None:
    """Print a line on standard error, in place of a progress line."""
    _write(f"{_erased()}{harmless(line)}\n")


def _erased() -> str:
    """Escape sequence to erase a progress line; empty if stderr is not a terminal."""
    return "\r\x1b[K" if sys.stderr.isatty() else ""


def _write(text: str) -> None:
    """Write to standard error; if that fails, the command goes on."""
    try:
        print(text, end="", file=sys.stderr, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def prepare_standard_files() -> None:
    """Replace missing standard files, and escape letters that the output cannot encode.

    Standard files that it was started without are empty ones, in their places: else the next file
    that is opened takes a place, and what libraries say is written into it. A letter that the
    output's encoding lacks, such as ε in those of Windows, is an escape, as in standard error.
    """
    for name, mode in ("stdin", "r"), ("stdout", "w"), ("stderr", "w"):
        if getattr(sys, name) is None:
            file = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - until the end
            setattr(sys, name, file)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def numbers(text: str, what: str) -> list[float]:
    """Parse numbers between commas.

    Raises:
        ParameterError: something in between is not a finite number.
    """
    values = []
    for word in text.split(","):
        try:
            value = number(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ParameterError(f"{what} {text!r}: {word.strip()!r} is not a number")
        values.append(value)
    return values


def whole_numbers(text: str, what: str) -> list[int]:
    """Parse whole numbers between commas.

    Raises:
        ParameterError: an entry is not a whole number.
    """
    values = numbers(text, what)
    for value in values:
        if not value.is_integer():
            raise ParameterError(f"{what} {text!r}: {value:g} is not a whole number")
    return [int(value) for value in values]


def public_box(
    limits: Sequence[float],
    names: Sequence[str] = (),
    crs: str = "EPSG:4326",
    axis: Mapping[str, Any] | None = None,
    source: str | None = None,
) -> Domain:
    """The domain of ``--bounds``; a likely slip gives one warning on standard error.

    A ``source`` that states its own box gives no warning: another box is an error anyway.

    Raises:
        DomainError: no box, or one outside the area of use of its CRS.
    """
    from dpviz.domain import Domain
    from dpviz.planning.bounds import doubt, require_area
    from dpviz.private.load.sources import stated_domain

    domain = Domain.from_bounds(limits, tuple(names), crs, **(axis or {}))
    require_area(domain)
    line = doubt(domain)
    if line and (source is None or stated_domain(source) is None):
        complain(f"warning: {line}")
    return domain


def settings(pairs: list[str] | None) -> dict[str, str]:
    """Parse ``key=value`` pairs of ``--set``.

    Raises:
        ParameterError: a pair without an equals sign.
    """
    values: dict[str, str] = {}
    for pair in pairs or []:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise ParameterError(f"--set {pair!r}: give key=value, for instance height=8")
        values[key.strip()] = value.strip()
    return values


def progress() -> Progress:
    """Return a reporter that prints progress on standard error after one second of work.

    On a terminal each takes the place of the one before, and what comes after it that of the last;
    in a file, a line at most every :data:`LOGGED` seconds. Here and at every report a Ctrl-C that
    was lost is raised again, so nothing is paid after one.
    """
    interrupts.check()
    due = time.monotonic() + 1.0

    def report(fraction: float, what: str) -> None:
        nonlocal due
        interrupts.check()
        now, terminal = time.monotonic(), sys.stderr.isatty()
        if now < due:
            return
        due = now + (0.5 if terminal else LOGGED)
        start, end = ("\x1b[K", "\r") if terminal else ("", "\n")
        _write(f"{start}{what}: {100 * fraction:3.0f} %{end}")  # one write, never interleaved

    return report


def _plain(value: Any) -> Any:
    """Convert NumPy values to Python values for JSON."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value.item() if hasattr(value, "item") else value
