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
from dpviz.escape import escape_controls
from dpviz.lists import number
from dpviz.progress import Progress

if TYPE_CHECKING:
    from dpviz.domain import Domain

LOG_INTERVAL = 10.0
"""Seconds between two lines of progress if standard error is not a terminal."""

app = typer.Typer(
    name="dpviz",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(requested: bool) -> None:
    """Print the version and exit before other modules are loaded."""
    if requested:
        from importlib.metadata import version

        typer.echo(f"dpviz {version('dpviz')}")
        raise typer.Exit


@app.callback()
def _program(
    _version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Publish maps and counts of private locations with differential privacy."""


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
    str | None, typer.Option("--ledger", help="Ledger file (default: in the user's data folder).")
]


def emit(values: dict[str, Any], as_json: bool, text: str, *, made: str | None = None) -> None:
    """Print a JSON object, or text for people.

    ``made``: output file, which exists even if nothing can be printed. Raises ParameterError:
    standard output cannot be written, such as a full disk.
    """
    printed = escape_controls(text)
    if as_json:
        printed = json.dumps(values, allow_nan=False, default=lambda each: each.item())
    _write(_erase_line())
    try:
        print(printed, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # discard the remaining output at exit
        if not isinstance(error, BrokenPipeError):  # the reader closed the pipe
            written = "" if made is None else f"{made} is complete, but "
            raise ParameterError(
                f"{written}standard output cannot be written ({error.strerror}): redirect it to "
                "another file"
            ) from error


def escaped_line(text: str) -> str:
    r"""Escape the line breaks and tabs of a name, for one line of text.

    >>> escaped_line("Ward 1\n\x1b[2J")
    'Ward 1\\n\\x1b[2J'
    """
    return escape_controls(re.sub("[\t\n\u2028\u2029]", lambda match: ascii(match[0])[1:-1], text))


def as_rows(columns: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """Convert columns of equal length to rows.

    >>> as_rows({"a": [1, 2], "b": [3, 4]})
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 4}]
    """
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def answer_rows(answers: Any, names: Sequence[str]) -> list[dict[str, Any]]:
    """Columns of answers as one dictionary per answer."""
    return as_rows({name: getattr(answers, name).tolist() for name in names})


def step_rows(
    answers: Any, words: Callable[[float], str], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Answers for time steps as one dictionary each, with the start and end of the step."""
    ends = {name: map(words, getattr(answers, name).astype(float)) for name in ("start", "end")}
    rows = answer_rows(answers, names)
    return [step | row for step, row in zip(as_rows(ends), rows, strict=True)]


def print_stderr(line: str) -> None:
    """Print a note, warning or error on standard error; it replaces a progress line."""
    _write(f"{_erase_line()}{escape_controls(line)}\n")


def _erase_line() -> str:
    """Escape sequence to erase a progress line; empty if stderr is not a terminal."""
    return "\r\x1b[K" if sys.stderr.isatty() else ""


def _write(text: str) -> None:
    """Write to standard error; if that fails, the command goes on."""
    try:
        print(text, end="", file=sys.stderr, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def prepare_standard_files() -> None:
    """Replace closed standard files, and escape characters that the output cannot encode.

    If a standard file is closed, the next file that is opened gets its number, and a library could
    print into it. Some encodings, such as those of Windows, lack characters such as ε.
    """
    for name, mode in ("stdin", "r"), ("stdout", "w"), ("stderr", "w"):
        if getattr(sys, name) is None:
            file = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - until the process ends
            setattr(sys, name, file)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def numbers(text: str, what: str) -> list[float]:
    """Parse numbers separated by commas."""
    values = []
    for word in text.split(","):
        try:
            value = number(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ParameterError(
                f"{what} {text!r}: {word.strip()!r} is not a number: separate numbers by commas"
            )
        values.append(value)
    return values


def whole_numbers(text: str, what: str) -> list[int]:
    """Parse whole numbers separated by commas."""
    values = numbers(text, what)
    for value in values:
        if not value.is_integer():
            raise ParameterError(
                f"{what} {text!r}: {value:g} is not a whole number: give numbers such as 10"
            )
    return [int(value) for value in values]


def public_box(
    limits: Sequence[float],
    names: Sequence[str] = (),
    crs: str = "EPSG:4326",
    axis: Mapping[str, Any] | None = None,
    source: str | None = None,
) -> Domain:
    """The domain of ``--bounds``; bounds that look swapped give a warning on standard error.

    Args:
        limits: all lower limits, then all upper limits.
        source: source of the records; one that states its own box gives no warning.
    """
    from dpviz.domain import Domain
    from dpviz.planning.bounds import likely_mistake, require_area
    from dpviz.private.load.sources import stated_domain

    domain = Domain.from_bounds(limits, tuple(names), crs, **(axis or {}))
    require_area(domain)
    line = likely_mistake(domain)
    if line and (source is None or stated_domain(source) is None):
        print_stderr(f"warning: {line}")
    return domain


def settings(pairs: list[str] | None) -> dict[str, str]:
    """Parse ``key=value`` pairs of ``--set``."""
    values: dict[str, str] = {}
    for pair in pairs or []:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise ParameterError(f"--set {pair!r}: give key=value, for instance height=8")
        values[key.strip()] = value.strip()
    return values


def progress() -> Progress:
    """Return a reporter that prints progress on standard error after one second of work.

    On a terminal each line replaces the previous one; in a file there is one line at most every
    :data:`LOG_INTERVAL` seconds. A Ctrl-C that a library swallowed is raised again here and at each
    report, so nothing is paid after it.
    """
    interrupts.check()
    due = time.monotonic() + 1.0

    def report(fraction: float, what: str) -> None:
        nonlocal due
        interrupts.check()
        now, terminal = time.monotonic(), sys.stderr.isatty()
        if now < due:
            return
        due = now + (0.5 if terminal else LOG_INTERVAL)
        start, end = ("\x1b[K", "\r") if terminal else ("", "\n")
        _write(f"{start}{what}: {100 * fraction:3.0f} %{end}")  # one write, never interleaved

    return report
