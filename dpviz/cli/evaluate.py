"""Commands that measure errors of methods on public data, and sum up what was measured."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dpviz
from dpviz.cli.build import workload_rule
from dpviz.cli.groups import grouped
from dpviz.cli.options import Places, TextForms
from dpviz.cli.outputs import apart, claimed, space_in
from dpviz.cli.root import Json, NoiseSeed, app, emit, numbers, progress
from dpviz.errors import ParameterError, PrivacyError
from dpviz.lists import distinct, words

if TYPE_CHECKING:
    from dpviz.build import DataHandle
    from dpviz.evaluation.experiments import Experiment
    from dpviz.evaluation.rows import MeasureRow
    from dpviz.queries.workloads import Workload

METRIC = ("mean_relative_error",)
"""Drawn of an evaluation on points."""

NONEMPTY_DRAWS = 20
"""Queries drawn for every one that --nonempty asks for."""


@app.command()
@grouped
def evaluate(
    source: Annotated[str, typer.Argument(help="A file of records, or a built-in name.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The rows (.csv); resumed.")],
    places: Places,
    forms: TextForms,
    methods: Annotated[
        str, typer.Option(help="Between commas; with parameters: quadtree:height=6:prune=0.")
    ] = "privtree,ugrid",
    epsilons: Annotated[str, typer.Option(help="Between commas.")] = "0.05,0.1,0.2,0.4,0.8,1.6",
    sizes: Annotated[
        str,
        typer.Option(
            help="small, medium, large, huge, hot, hot-0, or sides in the bounds' units: 15x0.2."
        ),
    ] = "small,medium,large",
    queries: Annotated[int, typer.Option(max=1_000_000, help="Range queries per size.")] = 10_000,
    repeats: Annotated[int, typer.Option(help="Repetitions with fresh noise.")] = 5,
    seed: NoiseSeed = None,
    sanity: Annotated[float, typer.Option(help="Sanity bound as a share of the records.")] = 0.001,
    nonempty: Annotated[
        bool, typer.Option("--nonempty", help="Only queries whose exact answer is not zero.")
    ] = False,
    workload: Annotated[
        str | None,
        typer.Option(
            help="What releases are for, as for build: words or a CSV file; a row's method names "
            "the parameters that follow."
        ),
    ] = None,
    processes: Annotated[int, typer.Option(min=0, help="Worker processes.")] = 2,
    plot: Annotated[
        str | None, typer.Option(help="A picture (.png, .svg, .pdf): error against epsilon.")
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="The records are public: required here.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure the error of methods on PUBLIC data."""
    from dpviz.build import require_public
    from dpviz.evaluation.experiments import Experiment, fitted
    from dpviz.evaluation.points import PointBench
    from dpviz.evaluation.rows import summary

    if not public:
        raise PrivacyError(
            "evaluate compares with exact counts: only for public data; add --public if they are"
        )
    require_files(output, plot, source, workload)
    reading = {**places.reading(), **forms.reading()}
    handle = dpviz.load(source, places.domain(source), **reading, public=True)
    require_public(dpviz.Ledger(), handle)  # exact counts follow
    declared = None if workload is None else workload_rule(workload)(handle)
    asked = _workloads(handle, distinct(words(sizes, "--sizes")), queries, seed or 0, nonempty)
    plan = Experiment(
        distinct(fitted(text, declared) for text in words(methods, "--methods")),
        distinct(numbers(epsilons, "--epsilons")),
        repeats,
        seed,
    )
    rows = measured(output, PointBench(handle, asked, sanity), plan, processes)
    if plot is not None:
        write_plot(plot, rows, handle.name)
    means = summary(rows)
    lines = [
        f"{row['method']:<28}{row['epsilon']:<8g}{row['size']:<9}"
        f"{row['mean_relative_error']:<12.4g}{row['median_relative_error']:.4g}"
        for row in means
    ]
    emit_results(output, len(rows), means, lines, as_json)


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


@app.command()
def ratios(
    files: Annotated[list[str], typer.Argument(help="CSV files of 'dpviz evaluate'.")],
    against: Annotated[str, typer.Option(help="The method that counts as 1.")] = "privtree",
    as_json: Json = False,
) -> None:
    """Geometric means of (mean relative error / that of one method) over evaluations."""
    from dpviz.evaluation.ratios import error_ratios, means, table

    by_method = error_ratios(files, against)
    emit({"against": against, "ratios": means(by_method)}, as_json, table(by_method))
