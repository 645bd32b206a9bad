"""Appendix B of the PrivTree paper: what the fanout does to its error.

J. Zhang, X. Xiao, X. Xie, SIGMOD 2016: β = 2^i for i < d halves i axes per level, round robin.
"""

from __future__ import annotations

from statistics import geometric_mean

from dpviz.datasets import dataset
from dpviz.evaluation.experiments import Experiment, run
from dpviz.evaluation.figures.report import Reproduction, Statement
from dpviz.evaluation.plots import error_figure
from dpviz.evaluation.points import PointBench
from dpviz.evaluation.rows import MeasureRow, means
from dpviz.private.load.data import load
from dpviz.progress import Progress, part_of
from dpviz.queries.workloads import workload

DATA = {"city-250k": (1, 2), "trips-200k": (1, 2, 4)}
"""Built-in data in two and four dimensions, and the axes halved per level."""

EPSILONS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
SIZES = ("small", "medium", "large")
QUERIES = 10_000
METRIC = "mean_relative_error"


def reproduce(repeats: int, seed: int, progress: Progress) -> Reproduction:
    """Measure and compare."""
    statements, tables, pictures = [], {}, {}
    for at, (name, axes) in enumerate(DATA.items()):
        handle = load(name)
        loads = tuple(workload(handle.domain, size, QUERIES, seed) for size in SIZES)
        plan = Experiment(tuple(described(count) for count in axes), EPSILONS, repeats, seed)
        mine = part_of(progress, at, len(DATA))
        finished = run(PointBench(handle, loads), plan, progress=mine)
        rows = [row for part in finished for row in part]
        labels = {described(count): f"β = {1 << count}" for count in axes}
        pictures[f"fanout-{name}"] = error_figure(rows, title=dataset(name).title, labels=labels)
        tables[f"fanout-{name}"] = rows
        statements += compare(name, rows, axes)
    return Reproduction(
        "Impact of fanout on PrivTree (SIGMOD 2016, appendix B)",
        f"Mean relative error of {QUERIES:,} range queries per size (sanity bound 0.1 % of n), "
        f"mean and band of {repeats} repetitions, on built-in synthetic data (the paper's four "
        "data sets are real ones). `uv run dpviz reproduce fanout -o FOLDER` makes this page.",
        statements,
        tables,
        pictures,
    )


def described(axes: int) -> str:
    """The method with this many axes halved per level."""
    return f"privtree:axes={axes}"


def compare(name: str, rows: list[MeasureRow], axes: tuple[int, ...]) -> list[Statement]:
    """One statement per smaller fanout: its error against that of the full one."""
    errors = means(rows)
    statements = []
    for count in axes[:-1]:
        ratios = [
            errors[described(count), epsilon, size, METRIC]
            / errors[described(axes[-1]), epsilon, size, METRIC]
            for epsilon in EPSILONS
            for size in SIZES
        ]
        ratio = geometric_mean(ratios)
        larger = sum(value > 1 for value in ratios)
        statements.append(
            Statement(
                "in general, the error slightly increases when β decreases",
                f"{dataset(name).title}: β = {1 << count} has {ratio:.2f} times the error of "
                f"β = {1 << axes[-1]} (geometric mean; from {min(ratios):.2f} to "
                f"{max(ratios):.2f}), more in {larger} of {len(ratios)} settings",
                ratio > 1,
            )
        )
    return statements
