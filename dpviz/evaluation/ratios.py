"""Errors as shares of one method's error, summed up by geometric means.

A ratio is taken per evaluation, epsilon and query size, between the means over the repetitions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean

from dpviz.errors import DataError
from dpviz.evaluation.rows import markdown, rows_in
from dpviz.evaluation.rows import means as row_means

Ratios = dict[str, dict[tuple[str, float, str], float]]
"""Per method, by (evaluation, epsilon, size)."""

ALL = "all"
"""The name of the mean over everything."""

METRIC = "mean_relative_error"


def error_ratios(files: Sequence[str], against: str = "privtree") -> Ratios:
    """Ratios of every method in the files to ``against``.

    Args:
        files: files of ``dpviz evaluate``, one per data set; a repeated one counts once. An
            evaluation is named by the stem of its file, or by its path where two stems are equal.
        against: the method that counts as 1; it must be in every file.

    Raises:
        DataError: a file that holds no errors, lacks the method or any other, or holds an error
            without ratio.
    """
    paths = list(dict.fromkeys(Path(file).parent.resolve() / Path(file).name for file in files))
    stems = Counter(path.stem for path in paths)
    ratios: Ratios = {}
    for path in paths:
        errors = row_means(row for row in rows_in(path) if row.measure == METRIC)
        means = {key[:3]: mean for key, mean in errors.items()}
        if not {method for method, _, _ in means} - {against}:
            raise DataError(f"{path}: has no method but {against}: evaluate another one too")
        for (method, epsilon, size), mean in means.items():
            base, at = means.get((against, epsilon, size)), f"at epsilon {epsilon:g}, size {size}"
            if base is None:
                raise DataError(f"{path}: has no {against} {at}")
            if not (0 < mean < math.inf and 0 < base < math.inf):
                raise DataError(f"{path}: an error {at} is 0 or not finite: leave it out")
            if method != against:
                name = path.stem if stems[path.stem] == 1 else str(path)
                ratios.setdefault(method, {})[name, epsilon, size] = mean / base
    return ratios


def means(ratios: Ratios) -> dict[str, dict[str, float]]:
    """Per method: the geometric mean over everything, per evaluation, and per query size."""
    summary = {}
    taken = {ALL, *(name for cells in ratios.values() for name, _, _ in cells)}
    for method, cells in ratios.items():
        groups = {ALL: list(cells.values())}
        for (name, _, size), value in cells.items():
            groups.setdefault(name, []).append(value)
            groups.setdefault(f"size {size}" if size in taken else size, []).append(value)
        summary[method] = {name: geometric_mean(values) for name, values in groups.items()}
    return summary


def table(ratios: Ratios) -> str:
    """The means as a Markdown table, a column per method."""
    summary = means(ratios)
    names = dict.fromkeys(name for column in summary.values() for name in column)
    rows = (
        [name, *(f"{each[name]:.3f}" if name in each else "" for each in summary.values())]
        for name in names
    )
    return "\n".join(markdown(("geometric mean over", *summary), rows))
