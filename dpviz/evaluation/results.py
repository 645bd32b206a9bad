"""Rows of an experiment in a CSV file that grows build by build and can be resumed.

Beside ``errors.csv`` stands ``errors.plan.json``: what the rows are about. Rows of another
experiment are refused, never mixed.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.errors import DataError, ParameterError
from dpviz.evaluation.experiments import Plan, Row

if TYPE_CHECKING:
    import pandas as pd

    from dpviz.private.handle import DataHandle

CONTRACT = tuple(field.name for field in fields(Row) if field.name != "mean_absolute_error")
"""The columns of the file, in order; ``mean_absolute_error`` follows where it is asked for."""


class Results:
    """A CSV file of rows, opened to resume it.

    Args:
        path: the file; its folder must exist.
        about: plain values that describe the experiment; the file's must be the same.
        absolute: also keep the mean absolute error, in a last column.

    Attributes:
        rows: what the file holds already.

    Raises:
        ParameterError: no such folder, or a file that holds another experiment's rows.
        DataError: a file that cannot be read as rows.
    """

    def __init__(self, path: str | os.PathLike[str], about: dict[str, Any], absolute: bool) -> None:
        self.path = Path(path)
        self.columns = (*CONTRACT, "mean_absolute_error") if absolute else CONTRACT
        if self.path.suffix.lower() != ".csv" or not self.path.parent.is_dir():
            raise ParameterError(f"output {str(path)!r}: give a .csv file in a folder that exists")
        side = self.path.with_suffix(".plan.json")
        if self.path.exists() and side.exists():
            _same(json.loads(side.read_text(encoding="utf-8")), about, self.path.name)
        if self.path.exists() and self.path.stat().st_size > 0:
            self.rows = read_rows(self.path)
            self._mend()
        else:
            self.rows = []
            _replace(self.path, ",".join(self.columns) + "\n")
        _replace(side, json.dumps(about, indent=1) + "\n")

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows in one write, so that an interrupt leaves whole builds only."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        rows = list(rows)
        writer.writerows([[getattr(row, name) for name in self.columns] for row in rows])
        with self.path.open("ab", buffering=0) as file:
            file.write(text.getvalue().encode())
        self.rows += rows

    def _mend(self) -> None:
        """Cut a last line that a crash left unfinished; refuse other columns."""
        text = self.path.read_text(encoding="utf-8")
        header = text.partition("\n")[0].strip().split(",")
        if tuple(header) != self.columns:
            raise ParameterError(
                f"{self.path.name} has the columns {','.join(header)}, not "
                f"{','.join(self.columns)}: choose another output"
            )
        if not text.endswith("\n"):
            _replace(self.path, text[: text.rindex("\n") + 1])


def about(handle: DataHandle, plan: Plan) -> dict[str, Any]:
    """What rows must have in common to be compared: the data, the queries, the metric.

    Methods, epsilons and repetitions may be added to a file later.
    """
    return {
        "source": handle.name,
        "bounds": list(handle.domain.bounds),
        "queries": {load.size: len(load) for load in plan.workloads},
        "checksum": {load.size: _checksum(load.rects) for load in plan.workloads},
        "seed": plan.seed,
        "sanity": plan.sanity,
    }


def read_rows(path: str | os.PathLike[str]) -> list[Row]:
    """The rows of a file; a last line that a crash left unfinished is ignored.

    Raises:
        DataError: not a file of rows.
    """
    path = Path(path)
    text = path.read_text(encoding="utf-8")
    text = text[: text.rfind("\n") + 1]
    rows = []
    for line, values in enumerate(csv.DictReader(io.StringIO(text)), 2):
        try:
            rows.append(_row(values))
        except (KeyError, TypeError, ValueError):
            raise DataError(f"{path.name}: line {line} is not a row of an experiment") from None
    return rows


def summary(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The means over repetitions: one entry per method, epsilon and size, in this order."""
    rows = list(rows)
    methods = list(dict.fromkeys(row.method for row in rows))
    groups: dict[tuple[str, float, str], list[Row]] = {}
    for row in sorted(rows, key=lambda row: (methods.index(row.method), row.epsilon)):
        groups.setdefault((row.method, row.epsilon, row.size), []).append(row)
    measured = [field.name for field in fields(Row)[4:]]
    found = []
    for (method, epsilon, size), group in groups.items():
        means = {name: float(np.mean([getattr(row, name) for row in group])) for name in measured}
        if np.isnan(means["mean_absolute_error"]):
            del means["mean_absolute_error"]
        entry = {"method": method, "epsilon": epsilon, "size": size, "repeats": len(group)}
        found.append({**entry, **means})
    return found


def mean_error(rows: Iterable[Row], metric: str, method: str, epsilon: float, size: str) -> float:
    """An error of one setting, its mean over the repetitions."""
    asked = (method, epsilon, size)
    return float(np.mean([getattr(row, metric) for row in rows if row.key[:3] == asked]))


def frame(rows: Iterable[Row]) -> pd.DataFrame:
    """Rows as a table."""
    import pandas as pd

    names = [field.name for field in fields(Row)]
    return pd.DataFrame([[getattr(row, name) for name in names] for row in rows], columns=names)


def _row(values: dict[str, str]) -> Row:
    kinds: dict[str, Callable[[str], Any]] = {"method": str, "size": str, "repeat": int}
    values = {"mean_absolute_error": "nan", **values}
    typed: dict[str, Any] = {
        field.name: kinds.get(field.name, float)(values[field.name]) for field in fields(Row)
    }
    return Row(**typed)


def _same(there: dict[str, Any], here: dict[str, Any], name: str) -> None:
    for key in ("source", "bounds", "seed", "sanity"):
        if there.get(key) != here[key]:
            raise ParameterError(
                f"{name} holds another experiment ({key} {there.get(key)}, here {here[key]}): "
                "choose another output"
            )
    for size, mark in here["checksum"].items():
        if there["checksum"].get(size, mark) != mark:
            raise ParameterError(f"{name} holds answers to other {size} queries: choose another")


def _checksum(rects: np.ndarray[Any, Any]) -> str:
    import hashlib

    return hashlib.blake2b(np.ascontiguousarray(rects).tobytes(), digest_size=8).hexdigest()


def _replace(path: Path, text: str) -> None:
    # An ordinary new file, so that it gets the permissions that the user's umask gives.
    temporary = path.with_name(f".dpviz-{os.getpid()}-{path.name}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
