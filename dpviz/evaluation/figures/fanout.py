"""Appendix B of the PrivTree paper: what the fanout does to its error.

J. Zhang, X. Xiao, X. Xie, SIGMOD 2016: β = 2^i for i < d halves i axes per level, round robin.
"""

from __future__ import annotations

from statistics import geometric_mean

from dpviz.build import load
from dpviz.datasets import dataset
from dpviz.evaluation.experiments import ErrorRow, Experiment, run
from dpviz.evaluation.figures.report import Outputs, Reproduction, Statement, comparison, part_of
from dpviz.evaluation.plots import error_figure
from dpviz.evaluation.results import mean_error, measured_cells
from dpviz.progress import Progress
from dpviz.queries.workloads import workload

DATA = {"city-250k": (1, 2), "trips-200k": (1, 2, 4)}
"""Built-in data in two and four dimensions, and the axes halved per level."""

EPSILONS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
SIZES = ("small", "medium", "large")
QUERIES = 10_000
METRIC = "mean_relative_error"

OUTPUTS = Outputs(
    "Impact of fanout on PrivTree (SIGMOD 2016, appendix B)",
    {"fanout": "data,fanout,epsilon,size,repeat,mean_relative_error,build_seconds"},
    tuple(f"fanout-{name}" for name in DATA),
)


def reproduce(repeats: int, seed: int, progress: Progress) -> Reproduction:
    """Measure and compare."""
    rows: dict[str, list[ErrorRow]] = {}
    for at, (name, axes) in enumerate(DATA.items()):
        handle = load(name)
        plan = Experiment(
            tuple(described(count) for count in axes),
            EPSILONS,
            tuple(workload(handle.domain, size, QUERIES, seed) for size in SIZES),
            repeats,
            seed,
        )
        rows[name] = []
        for results in run(handle, plan, progress=part_of(progress, at, len(DATA))):
            rows[name].extend(results)
    table = OUTPUTS.rows(
        (
            *(name, 1 << int(row.method.rpartition("=")[2]), row.epsilon, row.size),
            *measured_cells(row, METRIC),
        )
        for name, part in rows.items()
        for row in part
    )
    pictures = {}
    for name, axes in DATA.items():
        labels = {described(count): f"β = {1 << count}" for count in axes}
        title = dataset(name).title
        pictures[f"fanout-{name}"] = error_figure(rows[name], title=title, labels=labels)
    statements = [
        statement for name, axes in DATA.items() for statement in compare(name, rows[name], axes)
    ]
    page = comparison(
        OUTPUTS.title,
        f"Mean relative error of {QUERIES:,} range queries per size (sanity bound 0.1 % of n), "
        f"mean and band of {repeats} repetitions, on built-in synthetic data (the paper's four "
        "data sets are real ones). `uv run dpviz reproduce fanout -o FOLDER` makes this page.",
        statements,
        pictures,
    )
    return Reproduction(statements, page, {"fanout": table}, pictures)


def described(axes: int) -> str:
    """The method with this many axes halved per level."""
    return f"privtree:axes={axes}"


def compare(name: str, rows: list[ErrorRow], axes: tuple[int, ...]) -> list[Statement]:
    """One statement per smaller fanout: its error against that of the full one."""
    full = described(axes[-1])
    statements = []
    for count in axes[:-1]:
        ratios = [
            mean_error(rows, METRIC, described(count), epsilon, size)
            / mean_error(rows, METRIC, full, epsilon, size)
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
