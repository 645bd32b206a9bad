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
    OPTIONS_OF,
    PLACES,
    POINTS,
    RELEASES,
    SYMBOLS,
    TRIPS,
    Data,
)
from dpviz.cli.groups import given, grouped, require_applicable
from dpviz.cli.options import EvaluationOptions, Measures
from dpviz.cli.outputs import locked, require_free, space_in
from dpviz.cli.root import app, emit, numbers, progress, whole_numbers
from dpviz.errors import ParameterError, PrivacyError
from dpviz.lists import distinct, split_list

if TYPE_CHECKING:
    from dpviz.evaluation.rows import MeasureRow
    from dpviz.queries.workloads import Workload

NONEMPTY_DRAWS = 20
"""Queries drawn for every one that --nonempty asks for."""

_POINTS = "sizes queries sanity nonempty workload plot"
_SEQUENCES = "tops l_top samples plot"
MEASURED = {
    POINTS: f"{_POINTS} bounds columns crs decimal thousands time_format order table",
    TRIPS: f"{OPTIONS_OF[TRIPS]} lengths".replace(" workload", ""),
    CITY_TRIPS: f"{OPTIONS_OF[CITY_TRIPS]} lengths".replace(" workload", ""),
    SYMBOLS: f"{OPTIONS_OF[SYMBOLS]} {_SEQUENCES}",
    PLACES: f"{OPTIONS_OF[PLACES]} {_SEQUENCES}",
    CITY_PLACES: f"{OPTIONS_OF[CITY_PLACES]} {_SEQUENCES}",
}
"""The options of an evaluation on each kind of data."""

_EPSILONS = "0.05,0.1,0.2,0.4,0.8,1.6"
DEFAULTS: dict[str, dict[str, Any]] = {
    "points": {"methods": "privtree,ugrid", "epsilons": _EPSILONS, "repeats": 5},
    "roads": {"methods": None, "epsilons": "1,0.1,0.01", "repeats": 10},
    "sequences": {"methods": "markov,ngram,topk_em,truncate", "epsilons": _EPSILONS, "repeats": 10},
}
"""Default methods, values of ε and repeats for each kind of release."""


@dataclass(frozen=True)
class MeasuredKind:
    """Measurement settings for one kind of data.

    Attributes:
        line: format of one mean, for people.
        drawn: the measures of a picture of the rows.
        key: key of the means in JSON.
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
    common: EvaluationOptions,
    measures: Measures,
) -> None:
    """Measure the errors of methods on PUBLIC data.

    Points: relative errors of range queries. Trips: squared errors of clustered and corridor
    queries. Sequences: PrivTree's figures 6 and 7.
    """
    from dpviz.evaluation.experiments import Experiment, run
    from dpviz.evaluation.rows import RowFile
    from dpviz.private.payment import require_public

    kind = data.kind(source)
    if kind not in MEASURED:
        raise ParameterError(f"{kind} cannot be evaluated: give points, trips or sequences")
    require_applicable(kind, given(data, measures), MEASURED)
    if not common.public and kind not in (TRIPS, CITY_TRIPS, CITY_PLACES):
        raise PrivacyError(
            "evaluate compares with exact answers, so it needs public data: give --public if the "
            "records are public"
        )
    release = RELEASES[kind]
    defaults = DEFAULTS[release].items()
    common = replace(common, **{k: each for k, each in defaults if getattr(common, k) is None})
    output, plot = common.output, measures.plot
    _require_files(output, plot, source, measures.workload, *data.files)
    handle = data.load(source, public=common.public)
    require_public(dpviz.Ledger(), handle)  # exact answers are needed below
    each = {"points": _points, "roads": _roads, "sequences": _sequences}[release]
    measured = each(handle, common, measures)
    prices = distinct(numbers(common.epsilons, "--epsilons"))
    plan = Experiment(distinct(measured.methods), prices, common.repeats, common.seed, release)
    with locked(output):
        file = RowFile(output)
        for rows in run(measured.bench, plan, progress=progress()):
            file.append(rows)
    if plot is not None:
        _write_plot(plot, file.rows, measured.drawn(file.rows), handle.name)
    means = measured.summary(file.rows)
    facts = {"output": output, "rows": len(file.rows), measured.key: means}
    lines = [f"{output}: {len(file.rows):,} rows", *(measured.line.format(**row) for row in means)]
    emit(facts, common.as_json, "\n".join(lines))


def _points(handle: Any, common: EvaluationOptions, measures: Measures) -> MeasuredKind:
    """Relative errors of range queries."""
    from dpviz.evaluation.experiments import with_workload
    from dpviz.evaluation.points import PointBench
    from dpviz.evaluation.rows import summary

    declared = None if measures.workload is None else workload_rule(measures.workload)(handle)
    return MeasuredKind(
        PointBench(handle, _workloads(handle, common.seed or 0, measures), measures.sanity),
        [with_workload(text, declared) for text in split_list(common.methods, "--methods")],
        summary,
        "{method:<28}{epsilon:<8g}{size:<9}{mean_relative_error:<12.4g}{median_relative_error:.4g}",
    )


def _roads(handle: Any, common: EvaluationOptions, measures: Measures) -> MeasuredKind:
    """Squared errors of clustered and corridor queries."""
    from dpviz.evaluation.roads import METHODS, RoadBench, summary

    return MeasuredKind(
        RoadBench(handle, distinct(whole_numbers(measures.lengths, "--lengths"))),
        split_list(common.methods, "--methods") or METHODS,
        summary,
        "{workload:<14}{epsilon:<8}{method:<18}{mean_squared_error:>12.4g}   "
        "(zero: {zero_squared_error:.4g})",
        key="summary",
    )


def _sequences(handle: Any, common: EvaluationOptions, measures: Measures) -> MeasuredKind:
    """PrivTree's figures 6 and 7."""
    from dpviz.evaluation.sequences import SequenceBench, measure_order, require_sizes, summary

    sizes = distinct(whole_numbers(measures.tops, "--tops"))
    require_sizes(sizes, measures.samples)
    return MeasuredKind(
        SequenceBench(handle, sizes, measures.l_top, measures.samples),
        split_list(common.methods, "--methods"),
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
        truth.squares_at_records(handle, size, many, seed)
        if size in truth.SQUARE_SIDES
        else workload(handle.domain, size, many, seed)
        for size in distinct(split_list(measures.sizes, "--sizes"))
    ]
    if measures.nonempty:
        drawn = [truth.nonempty_queries(handle, load, queries) for load in drawn]
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

    Raises ParameterError: no CSV file in a folder that exists, no picture in one, or an input in
    place of the rows.
    """
    from dpviz.evaluation.rows import require_csv

    require_csv(output)
    require_free(output, *inputs)
    if plot is None:
        return
    path = Path(plot)
    require_free(plot)
    if path.suffix.lower() not in {".png", ".svg", ".pdf"} or not path.parent.is_dir():
        raise ParameterError(f"plot {plot!r}: give a .png, .svg or .pdf in a folder that exists")
    space_in(path.parent, plot)
