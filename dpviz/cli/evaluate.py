"""Errors of methods on public points, and what every evaluation writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import dpviz
from dpviz.cli.build import workload_rule
from dpviz.cli.outputs import apart, claimed, space_in
from dpviz.cli.root import emit, numbers, progress
from dpviz.errors import ParameterError
from dpviz.lists import distinct, words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpviz.build import DataHandle
    from dpviz.cli.data import Data
    from dpviz.cli.options import Measures, Run
    from dpviz.methods.points.declared import Declared
    from dpviz.queries.workloads import Workload

QUERIES_DRAWN = 10_000
"""Queries of each size, where nobody says how many."""

NONEMPTY_DRAWS = 20
"""Queries drawn for every one that --nonempty asks for."""


def evaluate_points(source: str, data: Data, order: Run, measures: Measures) -> None:
    """Measure relative errors of range queries."""
    from dpviz.build import require_public
    from dpviz.evaluation.experiments import Experiment, fitted, run
    from dpviz.evaluation.results import Results, about, summary
    from dpviz.queries.workloads import save

    output, plot, workload_file = order.output, measures.plot, measures.workload
    require_files(output, plot, source, workload_file)
    handle = data.load(source, public=True)
    require_public(dpviz.Ledger(), handle)  # exact counts follow
    declared, workload_file = _declared(workload_file, handle)
    drawn = workload_file is not None and not Path(workload_file).exists()
    chosen = distinct(words(measures.sizes, "--sizes"))
    asked = _workloads(handle, chosen, order.seed or 0, measures, workload_file)
    plan = Experiment(
        distinct(fitted(text, declared) for text in words(order.methods, "--methods")),
        distinct(numbers(order.epsilons, "--epsilons")),
        asked,
        order.repeats,
        order.seed,
        measures.sanity,
    )
    with claimed(output):
        results = Results(output, about(handle, plan), measures.absolute)
        done = {row.key for row in results.rows}
        finished = run(handle, plan, done=done, processes=measures.processes, progress=progress())
        if drawn and workload_file is not None:  # only once nothing is left to refuse
            save(list(asked), handle.domain, workload_file)
        for rows in finished:
            results.append(rows)
    if plot is not None:
        from dpviz.evaluation.plots import error_figure

        write_plot(plot, error_figure(results.rows, title=handle.name))
    means = summary(results.rows)
    lines = [
        f"{row['method']:<28}{row['epsilon']:<8g}{row['size']:<9}"
        f"{row['mean_relative_error']:<12.4g}{row['median_relative_error']:.4g}"
        for row in means
    ]
    emit_results(output, len(results.rows), means, lines, order.as_json)


def write_plot(path: str, figure: Figure) -> None:
    """Write a figure, whole or not at all."""
    from dpviz.files.writing import write_file
    from dpviz.render.fonts import legible

    legible(figure)
    write_file(path, lambda temporary: figure.savefig(temporary, dpi=150))


def emit_results(
    output: str, rows: int, results: list[dict[str, Any]], lines: list[str], as_json: bool
) -> None:
    """What an evaluation found: its means as values for JSON, and in lines for people."""
    facts = {"output": output, "rows": rows, "results": results}
    emit(facts, as_json, "\n".join([f"{output}: {rows:,} rows", *lines]))


def _declared(workload: str | None, handle: DataHandle) -> tuple[Declared | None, str | None]:
    """A declared workload, or the Parquet file of queries."""
    from dpviz.methods.points.declared import is_worded

    if workload is None or not (is_worded(workload) or Path(workload).suffix.lower() == ".csv"):
        return None, workload
    return workload_rule(workload)(handle), None


def _workloads(
    handle: DataHandle,
    sizes: tuple[str, ...],
    seed: int,
    measures: Measures,
    file: str | None,
) -> tuple[Workload, ...]:
    """The queries: from the file where it exists, else drawn."""
    from dpviz.evaluation import truth
    from dpviz.queries import workloads

    def drawn(size: str, n: int) -> Workload:
        if size in truth.HOT:
            return truth.hot(handle, size, n, seed)
        return workloads.workload(handle.domain, size, n, seed)

    queries, nonempty = measures.queries, measures.nonempty
    if file is not None and Path(file).exists():
        stored = {load.size: load for load in workloads.read(file, handle.domain)}
        missing = [size for size in sizes if size not in stored]
        if missing:
            raise ParameterError(
                f"{file} holds the sizes {', '.join(stored)}, not {missing[0]}: "
                "choose another file or --sizes"
            )
        chosen = tuple(stored[size] for size in sizes)
        for load in chosen:  # the command that wrote it goes on when it is given again
            if queries not in (None, len(load)):
                raise ParameterError(
                    f"--queries {queries}: {file} holds {len(load)} {load.size} ones of its own: "
                    "leave it out"
                )
            if nonempty:
                truth.nonempty(handle, load, len(load))
        return chosen
    queries = QUERIES_DRAWN if queries is None else queries
    if nonempty:
        many = [drawn(size, NONEMPTY_DRAWS * queries) for size in sizes]
        return tuple(truth.nonempty(handle, load, queries) for load in many)
    return tuple(drawn(size, queries) for size in sizes)


def require_files(output: str, plot: str | None, *inputs: str | None) -> None:
    """Fail before hours of work, not after: of rows, the plan beside them and a picture of them.

    Raises:
        ParameterError: no CSV file in a folder that exists, no picture in one, or an input in place
            of the rows or the plan.
        DataError: another file in place of the plan.
        ReleaseError: as :func:`dpviz.files.writing.destination`.
    """
    from dpviz.evaluation.rowfile import plan_file, plan_in

    apart(output, *inputs, resumed=True)
    if plot is not None:
        _require_picture(plot, output)
    side = plan_file(output)
    plan_in(side)
    apart(str(side), *inputs, resumed=True)


def _require_picture(plot: str, output: str) -> None:
    path = Path(plot)
    apart(plot)
    if path.resolve() == Path(output).resolve():
        raise ParameterError(f"plot {plot!r} is the output too: name two files")
    if path.suffix.lower() not in {".png", ".svg", ".pdf"} or not path.parent.is_dir():
        raise ParameterError(f"plot {plot!r}: give a .png, .svg or .pdf in a folder that exists")
    space_in(path.parent, plot)
