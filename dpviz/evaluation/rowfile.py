"""Rows of an experiment in a CSV file that grows task by task and can be resumed.

Beside ``errors.csv`` stands ``errors.plan.json``: what the rows are about. Rows of another
experiment are refused, never mixed. Nothing is written before the first rows: what is refused
leaves nothing that is in the way of the next command.
"""

from __future__ import annotations

import csv
import errno
import io
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from dpviz.errors import DataError, ParameterError
from dpviz.files.writing import destination, write_bytes

R = TypeVar("R")

TYPES: dict[str, Any] = {"str": str, "int": int, "float": float}
"""What a text is made, by the annotation of a row's field."""

FORMAT = "dpviz evaluation plan"
"""What a plan says that it is."""

MOST_BYTES = 1_000_000
"""Of a plan. A larger file is none, and may be records."""


class RowFile(Generic[R]):
    """A CSV file of rows, opened to resume it.

    Args:
        path: the file; its folder must exist.
        about: plain values that describe the experiment; the file's must be the same.
        kind: the dataclass of a row, with fields of text, whole or floating-point numbers.
        columns: its fields that are kept, in order; by default all.
        missing: values of the other fields.

    Attributes:
        rows: what the file holds already.

    Raises:
        ParameterError: no such folder, or a file that holds another experiment's rows.
        DataError: a file that cannot be read as rows, or one in place of their plan.
        ReleaseError: as :func:`dpviz.files.writing.destination`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        about: dict[str, Any],
        kind: type[R],
        columns: tuple[str, ...] | None = None,
        missing: Mapping[str, str] | None = None,
    ) -> None:
        self.path, self._side = Path(path), plan_file(path)
        every = {field.name: TYPES[str(field.type)] for field in fields(kind)}  # type: ignore[arg-type]
        needed = [name for name in every if name not in (missing or {})]
        self.columns = columns or tuple(every)
        self._left_out = {
            name: made((missing or {})[name])
            for name, made in every.items()
            if name not in self.columns
        }
        self._there = there = self._content()
        self.rows = rows_in(self.path, kind, missing) if there[0] else []
        self._plan: dict[str, Any] | None = about
        if self.rows:
            if there[1] is None:
                raise DataError(
                    f"{self._side.name} is missing, which says what the rows of {self.path.name} "
                    "are about: choose another output"
                )
            self.compare(there[1], about)
            self._plan = self.merged(there[1], about)
        head = there[0].partition("\n")[0].strip()
        # Above no rows, the columns are what the next command says.
        fitting = [self.columns] if self.rows else [self.columns, tuple(every), tuple(needed)]
        if head and head not in map(",".join, fitting):
            raise ParameterError(
                f"{self.path.name} has the columns {head[:400]}, not {','.join(self.columns)}: "
                "choose another output"
            )
        if self.rows and not there[0].endswith("\n"):  # a crash left the last line unfinished
            whole = there[0][: there[0].rfind("\n") + 1]
            write_bytes(self.path, whole.encode())
            self._there = (whole, there[1])

    def compare(self, there: dict[str, Any], here: dict[str, Any]) -> None:
        """Refuse the file where it holds another experiment's rows."""
        for key, value in here.items():
            if key in there and there[key] != value:
                differ = f"{key} {there[key]}, here {value}"
                if key == "records":  # digests, which say nothing to people
                    differ = f"other records than {here['source']} has here"
                raise ParameterError(
                    f"{self.path.name} holds another experiment ({differ}): choose another output"
                )

    def merged(self, there: dict[str, Any], here: dict[str, Any]) -> dict[str, Any]:
        """What the rows are about once those of here have joined the file."""
        return {**there, **here}

    def append(self, rows: Iterable[R]) -> None:
        """Add rows in one write, so that an interrupt leaves whole tasks only.

        They are what the file holds of them, as if it were opened again.

        Raises:
            OSError: they cannot be written, and none of them is.
            DataError: something else has written the file, or its plan, since it was opened.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        rows = list(rows)
        writer.writerows([[getattr(row, name) for name in self.columns] for row in rows])
        content = text.getvalue().encode()
        if self._plan is not None:
            self._begin(self._plan)
        with self.path.open("ab", buffering=0) as file:
            end = file.tell()
            if file.write(content) < len(content):
                file.truncate(end)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        self.rows += [replace(row, **self._left_out) for row in rows]  # type: ignore[type-var]

    def _begin(self, plan: dict[str, Any]) -> None:
        """Write the plan, then the line of the columns: no kill leaves rows without their plan."""
        if self._content() != self._there:
            raise DataError(
                f"{self.path.name} has changed meanwhile, and nothing was written: give the "
                "command again"
            )
        marked = {"format": FORMAT, **plan}
        write_bytes(self._side, (json.dumps(marked, indent=1) + "\n").encode())
        if not self.rows:
            write_bytes(self.path, (",".join(self.columns) + "\n").encode())
        self._plan, self._there = None, ("", None)

    def _content(self) -> tuple[str, dict[str, Any] | None]:
        """The text of the file and its plan, as they are now."""
        return _text(self.path) if self.path.exists() else "", plan_in(self._side)


def plan_file(path: str | os.PathLike[str]) -> Path:
    """Where the plan of a file of rows stands: beside the file itself, not beside a link to it.

    Raises:
        ParameterError: no CSV file in a folder that exists.
        ReleaseError: as :func:`dpviz.files.writing.destination`.
    """
    path = Path(path)
    named = path.suffix.lower() == ".csv" and not path.is_dir()
    if not (named and path.parent.is_dir()):
        raise ParameterError(f"output {str(path)!r}: give a .csv file in a folder that exists")
    return destination(path).with_suffix(".plan.json")


def plan_in(side: Path) -> dict[str, Any] | None:
    """What a plan says; None where nothing is there, or an empty file.

    Raises:
        DataError: it is something else, which must not be written over.
    """
    if not os.path.lexists(side):
        return None
    try:
        plain = side.is_file() and side.stat().st_size <= MOST_BYTES  # a pipe may never end
        text = side.read_bytes() if plain else b"null"
        plan = json.loads(text) if text else None
        ours = not text or (isinstance(plan, dict) and plan.get("format") == FORMAT)
    except (OSError, ValueError, RecursionError):
        ours = False
    if not ours:
        raise DataError(
            f"{side.name} does not say what rows of an evaluation are about, and would be written "
            "over: choose another output"
        )
    return plan


def rows_in(
    path: str | os.PathLike[str], kind: type[R], missing: Mapping[str, str] | None = None
) -> list[R]:
    """The rows of a file; a last line that a crash left unfinished is ignored.

    Args:
        path: the file.
        kind: the dataclass of a row.
        missing: values of columns that a file may lack.

    Raises:
        DataError: not a file of rows.
    """
    path = Path(path)
    text = _text(path)
    rows: list[R] = []
    try:
        for values in csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1])):
            whole = {**(missing or {}), **values}
            typed = {
                field.name: TYPES[str(field.type)](whole[field.name])
                for field in fields(kind)  # type: ignore[arg-type]
            }
            rows.append(kind(**typed))
    except (csv.Error, KeyError, TypeError, ValueError):
        line = len(rows) + 2
        raise DataError(f"{path.name}: line {line} is not a row of an experiment") from None
    return rows


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{path.name} is no text in UTF-8: choose another output") from None
