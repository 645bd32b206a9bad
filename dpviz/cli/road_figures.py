"""The paper's figures on trips along roads, redone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dpviz
from dpviz.cli.evaluate import measured, require_files
from dpviz.cli.root import emit, numbers, whole_numbers
from dpviz.lists import distinct, words

if TYPE_CHECKING:
    from dpviz.cli.data import Data
    from dpviz.cli.options import Measures, Run


def evaluate_roads(source: str, data: Data, order: Run, measures: Measures) -> None:
    """Measure squared errors of clustered and corridor queries."""
    from dpviz.evaluation.experiments import Experiment
    from dpviz.evaluation.roads import METHODS, RoadBench, summary
    from dpviz.private.payment import require_public

    output = order.output
    edges = distinct(whole_numbers(measures.lengths, "--lengths"))
    chosen = distinct(words(order.methods, "--methods")) or METHODS
    prices = distinct(numbers(order.epsilons, "--epsilons"))
    plan = Experiment(chosen, prices, order.repeats, order.seed, "roads")
    require_files(output, None, source, *data.files)
    handle = data.load(source, public=order.public)
    require_public(dpviz.Ledger(), handle)  # exact answers follow
    rows = measured(output, RoadBench(handle, edges), plan)
    table = summary(rows)
    lines = [
        f"{row['workload']:<14}{row['epsilon']:<8}{row['method']:<18}"
        f"{row['mean_squared_error']:>12.4g}   (zero: {row['zero_squared_error']:.4g})"
        for row in table
    ]
    emit({"output": output, "rows": len(rows), "summary": table}, order.as_json, "\n".join(lines))
