"""The rows of an experiment on points: their file, their means, and what they are about."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from dpviz.build import DataHandle
from dpviz.errors import ParameterError
from dpviz.evaluation.experiments import ErrorRow, Experiment
from dpviz.evaluation.rowfile import RowFile
from dpviz.evaluation.truth import records_digest
from dpviz.lazy import pd

CONTRACT = tuple(field.name for field in fields(ErrorRow) if field.name != "mean_absolute_error")
"""The columns of the file, in order; ``mean_absolute_error`` follows where it is asked for."""

OPTIONAL = {"mean_absolute_error": "nan"}


class Results(RowFile[ErrorRow]):
    """The CSV file of an experiment on points; see :class:`RowFile`.

    Args:
        path: the file; its folder must exist.
        about: of :func:`about`.
        absolute: also keep the mean absolute error, in a last column.

    Raises:
        ParameterError: no such folder, or a file that holds another experiment's rows.
        DataError: a file that cannot be read as rows.
    """

    def __init__(self, path: str | os.PathLike[str], about: dict[str, Any], absolute: bool) -> None:
        columns = (*CONTRACT, "mean_absolute_error") if absolute else CONTRACT
        super().__init__(path, about, ErrorRow, columns, OPTIONAL)

    def compare(self, there: dict[str, Any], here: dict[str, Any]) -> None:
        """Other sizes of queries may join the file; those of one size must be the same."""
        keys = ["source", "bounds", "seed", "sanity", "max_per_unit", "records"]
        if there.get("records", here["records"]) != here["records"]:
            keys[-1:] = ["columns", "crs", "records"]  # they may be why
        super().compare(there, {key: here[key] for key in keys})
        marks = there.get("checksum")
        if not isinstance(marks, dict):
            raise ParameterError(f"{self.path.name} is of unknown queries: choose another output")
        for size, mark in here["checksum"].items():
            if size in self.sizes and marks.get(size) != mark:
                which = "other" if size in marks else "unknown"
                raise ParameterError(
                    f"{self.path.name} holds answers to {which} {size} queries: choose another "
                    "output"
                )

    def merged(self, there: dict[str, Any], here: dict[str, Any]) -> dict[str, Any]:
        """With the queries of every size that has rows, or is to have them."""
        whole = super().merged(there, here)
        for key in ("queries", "checksum"):
            earlier = there.get(key)
            whole[key] = {
                size: value
                for size, value in {**(earlier or {}), **here[key]}.items()
                if size in self.sizes or size in here[key]
            }
        return whole

    @property
    def sizes(self) -> set[str]:
        """Of the queries that the rows are about."""
        return {row.size for row in self.rows}


def about(handle: DataHandle, plan: Experiment) -> dict[str, Any]:
    """What rows must have in common to be compared: the data, the queries, the metric.

    Methods, epsilons and repetitions may be added to a file later.

    Raises:
        PrivacyError: the data set is not declared public.
    """
    return {
        "source": handle.name,
        "bounds": list(handle.domain.bounds),
        "columns": list(handle.domain.columns),
        "crs": handle.domain.crs,
        "max_per_unit": handle.max_per_unit,
        "records": records_digest(handle),
        "queries": {load.size: len(load) for load in plan.workloads},
        "checksum": {load.size: _checksum(load.rects) for load in plan.workloads},
        "seed": plan.seed,
        "sanity": plan.sanity,
    }


def summary(rows: Iterable[ErrorRow]) -> list[dict[str, Any]]:
    """The means over repetitions: one entry per method, epsilon and size, in this order."""
    rows = list(rows)
    methods = list(dict.fromkeys(row.method for row in rows))
    groups: dict[tuple[str, float, str], list[ErrorRow]] = {}
    for row in sorted(rows, key=lambda row: (methods.index(row.method), row.epsilon)):
        groups.setdefault((row.method, row.epsilon, row.size), []).append(row)
    measured = [field.name for field in fields(ErrorRow)[4:]]
    measures = []
    for (method, epsilon, size), group in groups.items():
        means = {name: float(np.mean([getattr(row, name) for row in group])) for name in measured}
        if np.isnan(means["mean_absolute_error"]):
            del means["mean_absolute_error"]
        entry = {"method": method, "epsilon": epsilon, "size": size, "repeats": len(group)}
        measures.append({**entry, **means})
    return measures


def mean_error(
    rows: Iterable[ErrorRow], metric: str, method: str, epsilon: float, size: str
) -> float:
    """An error of one setting, its mean over the repetitions."""
    asked = (method, epsilon, size)
    return float(np.mean([getattr(row, metric) for row in rows if row.key[:3] == asked]))


def measured_cells(row: ErrorRow, metric: str) -> tuple[int, str, str]:
    """Of one build its repetition, its error by one metric, and its seconds."""
    return row.repeat, f"{getattr(row, metric):.6g}", f"{row.build_seconds:.3f}"


def frame(rows: Iterable[ErrorRow]) -> pd.DataFrame:
    """Rows as a table."""
    return pd.DataFrame(map(vars, rows), columns=[field.name for field in fields(ErrorRow)])


def _checksum(rects: np.ndarray[Any, Any]) -> str:
    return hashlib.blake2b(np.ascontiguousarray(rects).tobytes(), digest_size=8).hexdigest()
