"""Rows of an experiment in a CSV file that grows task by task and can be resumed.

Beside ``errors.csv`` stands ``errors.plan.json``: what the rows are about. Rows of another
experiment are refused, never mixed.
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
from dpviz.files.writing import write_bytes

R = TypeVar("R")

TYPES: dict[str, Any] = {"str": str, "int": int, "float": float}
"""What a text is made, by the annotation of a row's field."""


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
        DataError: a file that cannot be read as rows.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        about: dict[str, Any],
        kind: type[R],
        columns: tuple[str, ...] | None = None,
        missing: Mapping[str, str] | None = None,
    ) -> None:
        self.path = Path(path)
        every = {field.name: TYPES[str(field.type)] for field in fields(kind)}  # type: ignore[arg-type]
        self.columns = columns or tuple(every)
        self._left_out = {
            name: made((missing or {})[name])
            for name, made in every.items()
            if name not in self.columns
        }
        named = self.path.suffix.lower() == ".csv" and not self.path.is_dir()
        if not (named and self.path.parent.is_dir()):
            raise ParameterError(f"output {str(path)!r}: give a .csv file in a folder that exists")
        side = self.path.with_suffix(".plan.json")
        if self.path.exists() and side.exists():
            self.compare(_plan(side), about)
        text = _text(self.path) if self.path.exists() else ""
        self.rows = rows_in(self.path, kind, missing) if text else []
        if self.rows and not side.exists():
            raise DataError(
                f"{side.name} is missing, which says what the rows of {self.path.name} are about: "
                "choose another output"
            )
        header = text.partition("\n")[0].strip()
        if text and header != ",".join(self.columns):
            raise ParameterError(
                f"{self.path.name} has the columns {header[:400]}, not {','.join(self.columns)}: "
                "choose another output"
            )
        if not text.endswith("\n"):  # new, or with a last line that a crash left unfinished
            whole = text[: text.rfind("\n") + 1] or ",".join(self.columns) + "\n"
            write_bytes(self.path, whole.encode())
        write_bytes(side, (json.dumps(about, indent=1) + "\n").encode())

    def compare(self, there: dict[str, Any], here: dict[str, Any]) -> None:
        """Refuse the file where it holds another experiment's rows."""
        for key, value in here.items():
            if there.get(key) != value:
                raise ParameterError(
                    f"{self.path.name} holds another experiment ({key} {there.get(key)}, here "
                    f"{value}): choose another output"
                )

    def append(self, rows: Iterable[R]) -> None:
        """Add rows in one write, so that an interrupt leaves whole tasks only.

        They are what the file holds of them, as if it were opened again.

        Raises:
            OSError: they cannot be written, and none of them is.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        rows = list(rows)
        writer.writerows([[getattr(row, name) for name in self.columns] for row in rows])
        content = text.getvalue().encode()
        with self.path.open("ab", buffering=0) as file:
            end = file.tell()
            if file.write(content) < len(content):
                file.truncate(end)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        self.rows += [replace(row, **self._left_out) for row in rows]  # type: ignore[type-var]


def _plan(side: Path) -> dict[str, Any]:
    try:
        plan = json.loads(side.read_bytes())
        if not isinstance(plan, dict):
            raise TypeError
    except (OSError, ValueError, TypeError, RecursionError):
        raise DataError(
            f"{side.name} does not say what the rows beside it are about: choose another output"
        ) from None
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
