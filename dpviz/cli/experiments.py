"""Commands that measure errors of methods on public data, and sum up what was measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

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
from dpviz.cli.evaluate import evaluate_points
from dpviz.cli.groups import given, grouped, require_fit
from dpviz.cli.options import Measures, Run
from dpviz.cli.road_figures import evaluate_roads
from dpviz.cli.root import Json, app, emit
from dpviz.cli.sequence_figures import evaluate_sequences
from dpviz.errors import ParameterError, PrivacyError

_POINTS = "sizes queries sanity nonempty workload processes plot"
_SEQUENCES = "tops l_top samples plot"
MEASURED = {
    POINTS: f"{_POINTS} bounds columns x y crs decimal thousands time_format order table",
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


@app.command()
@grouped
def evaluate(
    source: Annotated[str, typer.Argument(help="As for build: a file, or a built-in name.")],
    data: Data,
    order: Run,
    measures: Measures,
) -> None:
    """Measure the error of methods on PUBLIC data of any kind.

    Trips: the figures of the paper, squared error of clustered and corridor queries. Sequences:
    PrivTree's figures 6 and 7, and AdaTrace's errors.
    """
    kind = data.kind(source)
    if kind not in MEASURED:
        raise ParameterError(f"{kind} are not evaluated: evaluate points, trips or sequences")
    require_fit(kind, given(data, measures), MEASURED)
    if not order.public and kind not in (TRIPS, CITY_TRIPS, CITY_PLACES):
        raise PrivacyError(
            "evaluate compares with exact answers: only for public data; add --public if they are"
        )
    measure = {"points": evaluate_points, "roads": evaluate_roads, "sequences": evaluate_sequences}
    usual = {**USUAL, **OTHERS.get(RELEASES[kind], {})}
    order = replace(order, **{k: each for k, each in usual.items() if getattr(order, k) is None})
    measure[RELEASES[kind]](source, data, order, measures)


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
