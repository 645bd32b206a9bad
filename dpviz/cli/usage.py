"""What Typer says of a command that is written wrong, in one line like any other error's."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import typer

WRONG: Any = typer.BadParameter.__mro__[1]
"""Typer's usage error, whose class it has of Click or of a copy of its own."""


def usage_line(error: Any, commands: Iterable[str]) -> str:
    """What is wrong, the value, and where the right usage stands.

    Args:
        error: of the class :data:`WRONG`.
        commands: by their words; where the error does not say which it is of, the arguments do.
    """
    words = error.format_message()
    if hasattr(error.__cause__, "errors"):  # of pydantic, whose words leave out the value
        [wrong, *_] = error.__cause__.errors()
        value, reason = wrong["input"], wrong["msg"].removeprefix("Value error, ")
        reason = reason.removeprefix(f"{value!r} is ").partition(", unable")[0]
        words = f"{error.param.get_error_hint().strip(chr(39))} {value!r}: {_begun(reason)}"
    given = f"dpviz {' '.join(sys.argv[1:])} "
    called = [each for each in commands if given.startswith(f"{each} ")]
    command = error.ctx.command_path if error.ctx else max(called, key=len, default="dpviz")
    return f"{_begun(' '.join(words.split()).rstrip('.'))}: see '{command} --help'"


def _begun(words: str) -> str:
    return words[:1].lower() + words[1:]
