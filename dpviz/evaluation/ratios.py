"""Errors as shares of one method's error, summed up by geometric means.

A ratio is taken per evaluation, epsilon and query size, between the means over the repetitions.
"""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path
from statistics import geometric_mean

from dpviz.errors import DataError

Ratios = dict[str, dict[tuple[str, float, str], float]]
"""Per method, by (evaluation, epsilon, size). No evaluation is called as a size, or ``all``."""

ALL = "all"
"""What the mean over everything is called."""


def error_ratios(files: Sequence[str], against: str = "privtree") -> Ratios:
    """Ratios of every method in the files to ``against``.

    Args:
        files: CSV files of ``dpviz evaluate``, one per data set; one that is given twice counts
            once. Each is called by its stem, or where another file, or a size, is called so, by the
            least end of its path that is its alone.
        against: the method that counts as 1; it must be in every file.

    Raises:
        DataError: a file that is not such a CSV, lacks the method or any other, or holds an error
            without ratio.
    """
    by_file: dict[Path, dict[tuple[str, float, str], float]] = {}
    for file in files:
        errors: dict[tuple[str, float, str], list[float]] = defaultdict(list)
        try:
            if not Path(file).is_file():  # a device may never end
                raise ValueError("no plain file")
            with Path(file).open(newline="", encoding="utf-8") as rows:
                for row in csv.DictReader(rows):
                    key = row["method"], float(row["epsilon"]), row["size"]
                    errors[key].append(float(row["mean_relative_error"]))
        except (OSError, csv.Error, KeyError, TypeError, ValueError) as error:
            raise DataError(f"{file}: not a CSV of 'dpviz evaluate'") from error
        if not errors:
            raise DataError(f"{file}: has no rows of 'dpviz evaluate'")
        means = {key: math.fsum(values) / len(values) for key, values in errors.items()}
        shares = by_file[Path(file).parent.resolve() / Path(file).name] = {}
        for (method, epsilon, size), mean in means.items():
            base = means.get((against, epsilon, size))
            if base is None:
                raise DataError(f"{file}: has no {against} at epsilon {epsilon:g}, size {size}")
            if not (0 < mean < math.inf and 0 < base < math.inf):
                raise DataError(
                    f"{file}: an error at epsilon {epsilon:g}, size {size}, is 0 or not finite: "
                    "ratios are of others, leave it out"
                )
            shares[method, epsilon, size] = mean / base
        if {method for method, _, _ in shares} == {against}:
            raise DataError(f"{file}: has no method but {against}: evaluate another one too")
    sizes = {_size_name(size) for shares in by_file.values() for _, _, size in shares}
    names = _names(by_file, {ALL, *sizes})
    ratios: Ratios = defaultdict(dict)
    for path, shares in by_file.items():
        for (method, epsilon, size), share in shares.items():
            if method != against:
                ratios[method][names[path], epsilon, size] = share
    return dict(ratios)


def _names(paths: Collection[Path], taken: Collection[str]) -> dict[Path, str]:
    """What each of several files is called: no two alike, and none as something else is."""
    ends = {
        path: [path.stem, *(Path(*path.parts[-n:]).as_posix() for n in range(1, len(path.parts)))]
        for path in paths
    }
    owners = Counter(end for each in ends.values() for end in set(each))
    free = {
        path: [e for e in each if owners[e] == 1 and e not in taken] for path, each in ends.items()
    }
    return {path: next(iter(each), str(path)) for path, each in free.items()}


def _size_name(size: str) -> str:
    """What a size is called beside the mean over everything."""
    return f"size {size}" if size == ALL else size


def means(ratios: Ratios) -> dict[str, dict[str, float]]:
    """Per method: the geometric mean over everything, per evaluation, and per query size."""
    summary = {}
    for method, cells in ratios.items():
        groups = {ALL: list(cells.values())}
        for (name, _, size), value in cells.items():
            groups.setdefault(name, []).append(value)
            groups.setdefault(_size_name(size), []).append(value)
        summary[method] = {name: geometric_mean(values) for name, values in groups.items()}
    return summary


def table(ratios: Ratios) -> str:
    """The means as a Markdown table, a column per method."""
    summary = means(ratios)
    rows = list(dict.fromkeys(name for column in summary.values() for name in column))
    lines = [f"| geometric mean over | {' | '.join(summary)} |", "|---" * (len(summary) + 1) + "|"]
    for name in rows:
        values = [f"{column[name]:.3f}" if name in column else "" for column in summary.values()]
        lines.append(f"| {name} | {' | '.join(values)} |")
    return "\n".join(lines)
