"""Commands that measure errors of methods on public data, and sum up what was measured."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dpviz
from dpviz.cli.build import workload_rule
from dpviz.cli.outputs import apart, claimed, space_in
from dpviz.cli.root import emit, numbers, progress
from dpviz.errors import ParameterError
from dpviz.lists import distinct, words

if TYPE_CHECKING:
    from dpviz.cli.data import Data
    from dpviz.cli.options import Measures, Run
    from dpviz.evaluation.experiments import Experiment
    from dpviz.evaluation.rows import MeasureRow
    from dpviz.private.handle import DataHandle
    from dpviz.queries.workloads import Workload

METRIC = ("mean_relative_error",)
"""Drawn of an evaluation on points."""

NONEMPTY_DRAWS = 20
"""Queries drawn for every one that --nonempty asks for."""


def evaluate_points(source: str, data: Data, order: Run, measures: Measures) -> None:
    """Measure relative errors of range queries."""
    from dpviz.evaluation.experiments import Experiment, fitted
    from dpviz.evaluation.points import PointBench
    from dpviz.evaluation.rows import summary
    from dpviz.private.payment import require_public

    output, plot, workload = order.output, measures.plot, measures.workload
    require_files(output, plot, source, workload)
    handle = data.load(source, public=True)
    require_public(dpviz.Ledger(), handle)  # exact counts follow
    declared = None if workload is None else workload_rule(workload)(handle)
    sizes, seed = distinct(words(measures.sizes, "--sizes")), order.seed or 0
    asked = _workloads(handle, sizes, measures.queries, seed, measures.nonempty)
    plan = Experiment(
        distinct(fitted(text, declared) for text in words(order.methods, "--methods")),
        distinct(numbers(order.epsilons, "--epsilons")),
        order.repeats,
        order.seed,
    )
    rows = measured(output, PointBench(handle, asked, measures.sanity), plan, measures.processes)
    if plot is not None:
        write_plot(plot, rows, handle.name)
    means = summary(rows)
    lines = [
        f"{row['method']:<28}{row['epsilon']:<8g}{row['size']:<9}"
        f"{row['mean_relative_error']:<12.4g}{row['median_relative_error']:.4g}"
        for row in means
    ]
    emit_results(output, len(rows), means, lines, order.as_json)


def measured(output: str, bench: Any, plan: Experiment, processes: int = 0) -> list[MeasureRow]:
    """Measure what a file of rows lacks; all rows of the file."""
    from dpviz.evaluation.experiments import run
    from dpviz.evaluation.rows import RowFile

    with claimed(output):
        file = RowFile(output, {**bench.about, "seed": plan.seed})
        done = {row.key for row in file.rows}
        for rows in run(bench, plan, done=done, processes=processes, progress=progress()):
            file.append(rows)
    return file.rows


def write_plot(
    path: str, rows: list[MeasureRow], title: str, measures: Iterable[str] = METRIC
) -> None:
    """Draw measures against epsilon; write the picture whole or not at all."""
    from dpviz.evaluation.plots import error_figure
    from dpviz.files.writing import write_file
    from dpviz.render.fonts import legible

    figure = error_figure(rows, measures, title)
    legible(figure)
    write_file(path, lambda temporary: figure.savefig(temporary, dpi=150))


def emit_results(
    output: str, rows: int, results: list[dict[str, Any]], lines: list[str], as_json: bool
) -> None:
    """Print the means of an evaluation: values for JSON, lines for people."""
    facts = {"output": output, "rows": rows, "results": results}
    emit(facts, as_json, "\n".join([f"{output}: {rows:,} rows", *lines]))


def _workloads(
    handle: DataHandle, sizes: tuple[str, ...], queries: int, seed: int, nonempty: bool
) -> tuple[Workload, ...]:
    """Draw the queries of every size."""
    from dpviz.evaluation import truth
    from dpviz.queries.workloads import workload

    many = NONEMPTY_DRAWS * queries if nonempty else queries
    drawn = tuple(
        truth.hot(handle, size, many, seed)
        if size in truth.HOT
        else workload(handle.domain, size, many, seed)
        for size in sizes
    )
    return tuple(truth.nonempty(handle, load, queries) for load in drawn) if nonempty else drawn


def require_files(output: str, plot: str | None, *inputs: str | None) -> None:
    """Refuse files of rows and of a picture that cannot be written: before hours of work.

    Raises:
        ParameterError: no CSV file in a folder that exists, no picture in one, or an input in place
            of the rows.
        ReleaseError: as :func:`dpviz.files.writing.destination`.
    """
    from dpviz.evaluation.rows import require_csv

    require_csv(output)
    apart(output, *inputs, resumed=True)
    if plot is not None:
        _require_picture(plot)


def _require_picture(plot: str) -> None:
    path = Path(plot)
    apart(plot)
    if path.suffix.lower() not in {".png", ".svg", ".pdf"} or not path.parent.is_dir():
        raise ParameterError(f"plot {plot!r}: give a .png, .svg or .pdf in a folder that exists")
    space_in(path.parent, plot)
