"""Commands that measure the errors of methods on public data, and summarise them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dpviz
from dpviz.cli.build import workload_rule
from dpviz.cli.data import (
    CITY_PLACES,
    CITY_TRIPS,
    PLACES,
    POINTS,
    RELEASES,
    SYMBOLS,
    TAKES,
    TRIPS,
    Data,
)
from dpviz.cli.groups import given, grouped, require_fit
from dpviz.cli.options import Measures, Run
from dpviz.cli.outputs import apart, claimed, space_in
from dpviz.cli.root import app, emit, numbers, progress, whole_numbers
from dpviz.errors import ParameterError, PrivacyError
from dpviz.lists import distinct, words

if TYPE_CHECKING:
    from dpviz.evaluation.rows import MeasureRow
    from dpviz.queries.workloads import Workload

NONEMPTY_DRAWS = 20
"""Queries drawn for every one that --nonempty asks for."""

_POINTS = "sizes queries sanity nonempty workload plot"
_SEQUENCES = "tops l_top samples plot"
MEASURED = {
    POINTS: f"{_POINTS} bounds columns crs decimal thousands time_format order table",
    TRIPS: f"{TAKES[TRIPS]} lengths".replace(" workload", ""),
    CITY_TRIPS: f"{TAKES[CITY_TRIPS]} lengths".replace(" workload", ""),
    SYMBOLS: f"{TAKES[SYMBOLS]} {_SEQUENCES}",
    PLACES: f"{TAKES[PLACES]} {_SEQUENCES}",
    CITY_PLACES: f"{TAKES[CITY_PLACES]} {_SEQUENCES}",
}
"""The options of an evaluation on each kind of data."""

USUAL = {"methods": "privtree,ugrid", "epsilons": "0.05,0.1,0.2,0.4,0.8,1.6", "repeats": 5}
OTHERS: dict[str, dict[str, Any]] = {
    "roads": {"methods": None, "epsilons": "1,0.1,0.01", "repeats": 10},
    "sequences": {"methods": "markov,ngram,topk_em,truncate", "repeats": 10},
}
"""Default methods, values of ε and repeats for each kind of release."""


@dataclass(frozen=True)
class Measured:
    """Measurement settings for one kind of data.

    Attributes:
        bench: what measures releases.
        methods: that are compared.
        summary: means of rows.
        line: format of one mean, for people.
        drawn: the measures of a picture of the rows.
        key: of the means in JSON.
    """

    bench: Any
    methods: Iterable[str]
    summary: Callable[[Any], list[dict[str, Any]]]
    line: str
    drawn: Callable[[list[MeasureRow]], Iterable[str]] = lambda _: ("mean_relative_error",)
    key: str = "results"


@app.command()
@grouped
def evaluate(
    source: Annotated[
        str, typer.Argument(help="File, or name of a built-in data set, as for 'dpviz build'.")
    ],
    data: Data,
    order: Run,
    measures: Measures,
) -> None:
    """Measure the error of methods on PUBLIC data of any kind.

    Trips: the figures of the paper, squared error of clustered and corridor queries. Sequences:
    PrivTree's figures 6 and 7.
    """
    from dpviz.evaluation.experiments import Experiment, run
    from dpviz.evaluation.rows import RowFile
    from dpviz.private.payment import require_public

    kind = data.kind(source)
    if kind not in MEASURED:
        raise ParameterError(f"{kind} are not evaluated: evaluate points, trips or sequences")
    require_fit(kind, given(data, measures), MEASURED)
    if not order.public and kind not in (TRIPS, CITY_TRIPS, CITY_PLACES):
        raise PrivacyError(
            "evaluate compares with exact answers: only for public data; add --public if they are"
        )
    release = RELEASES[kind]
    usual = {**USUAL, **OTHERS.get(release, {})}
    order = replace(order, **{k: each for k, each in usual.items() if getattr(order, k) is None})
    output, plot = order.output, measures.plot
    _require_files(output, plot, source, measures.workload, *data.files)
    handle = data.load(source, public=order.public)
    require_public(dpviz.Ledger(), handle)  # exact answers are needed below
    each = {"points": _points, "roads": _roads, "sequences": _sequences}[release]
    measured = each(handle, order, measures)
    prices = distinct(numbers(order.epsilons, "--epsilons"))
    plan = Experiment(distinct(measured.methods), prices, order.repeats, order.seed, release)
    with claimed(output):
        file = RowFile(output)
        for rows in run(measured.bench, plan, progress=progress()):
            file.append(rows)
    if plot is not None:
        _write_plot(plot, file.rows, measured.drawn(file.rows), handle.name)
    means = measured.summary(file.rows)
    facts = {"output": output, "rows": len(file.rows), measured.key: means}
    lines = [f"{output}: {len(file.rows):,} rows", *(measured.line.format(**row) for row in means)]
    emit(facts, order.as_json, "\n".join(lines))


def _points(handle: Any, order: Run, measures: Measures) -> Measured:
    """Relative errors of range queries."""
    from dpviz.evaluation.experiments import fitted
    from dpviz.evaluation.points import PointBench
    from dpviz.evaluation.rows import summary

    declared = None if measures.workload is None else workload_rule(measures.workload)(handle)
    return Measured(
        PointBench(handle, _workloads(handle, order.seed or 0, measures), measures.sanity),
        [fitted(text, declared) for text in words(order.methods, "--methods")],
        summary,
        "{method:<28}{epsilon:<8g}{size:<9}{mean_relative_error:<12.4g}{median_relative_error:.4g}",
    )


def _roads(handle: Any, order: Run, measures: Measures) -> Measured:
    """Squared errors of clustered and corridor queries."""
    from dpviz.evaluation.roads import METHODS, RoadBench, summary

    return Measured(
        RoadBench(handle, distinct(whole_numbers(measures.lengths, "--lengths"))),
        words(order.methods, "--methods") or METHODS,
        summary,
        "{workload:<14}{epsilon:<8}{method:<18}{mean_squared_error:>12.4g}   "
        "(zero: {zero_squared_error:.4g})",
        key="summary",
    )


def _sequences(handle: Any, order: Run, measures: Measures) -> Measured:
    """PrivTree's figures 6 and 7."""
    from dpviz.evaluation.sequences import SequenceBench, measure_order, require_sizes, summary

    sizes = distinct(whole_numbers(measures.tops, "--tops"))
    require_sizes(sizes, measures.samples)
    return Measured(
        SequenceBench(handle, sizes, measures.l_top, measures.samples),
        words(order.methods, "--methods"),
        summary,
        "{measure:<15}{method:<28}{epsilon:<8g}{mean:<8.3f}({least:.3f} to {greatest:.3f})",
        measure_order,
    )


def _workloads(handle: Any, seed: int, measures: Measures) -> tuple[Workload, ...]:
    """Draw the queries of each size."""
    from dpviz.evaluation import truth
    from dpviz.queries.workloads import workload

    queries = measures.queries
    many = NONEMPTY_DRAWS * queries if measures.nonempty else queries
    drawn = [
        truth.hot(handle, size, many, seed)
        if size in truth.HOT
        else workload(handle.domain, size, many, seed)
        for size in distinct(words(measures.sizes, "--sizes"))
    ]
    if measures.nonempty:
        drawn = [truth.nonempty(handle, load, queries) for load in drawn]
    return tuple(drawn)


def _write_plot(path: str, rows: list[MeasureRow], measures: Iterable[str], title: str) -> None:
    """Plot measures against epsilon; a failure leaves no partial picture."""
    from dpviz.evaluation.plots import error_figure
    from dpviz.files.writing import write_file
    from dpviz.render.fonts import legible

    figure = error_figure(rows, measures, title)
    legible(figure)
    write_file(path, lambda temporary: figure.savefig(temporary, dpi=150))


def _require_files(output: str, plot: str | None, *inputs: str | None) -> None:
    """Refuse output files that cannot be written, before hours of work.

    Raises:
        ParameterError: no CSV file in a folder that exists, no picture in one, or an input in place
            of the rows.
        ReleaseError: as :func:`dpviz.files.writing.destination`.
    """
    from dpviz.evaluation.rows import require_csv

    require_csv(output)
    apart(output, *inputs)
    if plot is None:
        return
    path = Path(plot)
    apart(plot)
    if path.suffix.lower() not in {".png", ".svg", ".pdf"} or not path.parent.is_dir():
        raise ParameterError(f"plot {plot!r}: give a .png, .svg or .pdf in a folder that exists")
    space_in(path.parent, plot)
