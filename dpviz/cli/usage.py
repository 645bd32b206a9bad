"""One-line messages for malformed commands and for system errors."""

from __future__ import annotations

import errno
import itertools
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer

from dpviz.errors import ParameterError

USAGE_ERROR: Any = typer.BadParameter.__mro__[1]
"""Typer's usage error: a class of Click, or of Typer's copy of Click."""


FORMER_GROUPS = {
    "roads": "'dpviz build … --graph GRAPH'; query, timeline, export and evaluate know the kind",
    "sequences": "'dpviz build … --alphabet SYMBOLS', or --side 8 for places in time; query, topk, "
    "next, sample and evaluate know the kind",
}
"""Former groups of commands, and what replaces them."""


def usage_line(error: Any, commands: Iterable[str]) -> str:
    """One line for a usage error: the fault, the value, and the command's help.

    Args:
        error: error of the class :data:`USAGE_ERROR`.
        commands: names of all commands; used if the error does not name its command.
    """
    words = error.format_message()
    if hasattr(error.__cause__, "errors"):  # pydantic's message omits the value
        [wrong, *_] = error.__cause__.errors()
        value, reason = wrong["input"], wrong["msg"].removeprefix("Value error, ")
        reason = reason.removeprefix(f"{value!r} is ").partition(", unable")[0]
        words = f"{error.param.get_error_hint().strip(chr(39))} {value!r}: {_uncapitalised(reason)}"
    given = f"dpviz {' '.join(sys.argv[1:])} "
    called = [each for each in commands if given.startswith(f"{each} ")]
    command = error.ctx.command_path if error.ctx else max(called, key=len, default="dpviz")
    return f"{_uncapitalised(' '.join(words.split()).rstrip('.'))}: see '{command} --help'"


def system_line(error: OSError) -> str:
    """One line for an operating system error: a long name, no permission, a full disk.

    >>> system_line(OSError(13, "Permission denied", "hers/visits.csv"))
    "path='hers/visits.csv': Permission denied: give another file, or fix its permissions"
    >>> system_line(OSError(28, "No space left on device", "rows.csv"))
    "path='rows.csv': No space left on device: free some space, or give another file"
    """
    from dpviz.checks import described

    reason = error.strerror or type(error).__name__
    if error.filename is None:
        return f"input or output failed: {reason}: check the disk and try again"
    path = described("path", os.fsdecode(error.filename))
    if error.errno == errno.ENOSPC:
        return f"{path}: {reason}: free some space, or give another file"
    return f"{path}: {reason}: give another file, or fix its permissions"


def require_current(words: Sequence[str]) -> None:
    """Refuse a former group of commands."""
    if words and words[0] in FORMER_GROUPS:
        raise ParameterError(f"{words[0]!r} is no longer a command: use {FORMER_GROUPS[words[0]]}")


def require_values(words: Sequence[str]) -> None:
    """Refuse an option with an empty value, such as an unset variable of a script.

    It would count as not given, so that another account could pay.
    """
    for word, then in itertools.pairwise([*words, "-"]):
        name, given, value = word.partition("=")
        if word.startswith("-") and not value and (given or not then):
            raise ParameterError(f"{name} is empty: give a value, or leave the option out")


def _uncapitalised(words: str) -> str:
    return words[:1].lower() + words[1:]
