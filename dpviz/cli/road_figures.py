"""The paper's figures on trips along roads, redone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dpviz
from dpviz.cli.outputs import apart, writable
from dpviz.cli.root import emit, numbers, progress, whole_numbers
from dpviz.lists import distinct, words

if TYPE_CHECKING:
    from dpviz.cli.data import Data
    from dpviz.cli.options import Measures, Run


def evaluate_roads(source: str, data: Data, order: Run, measures: Measures) -> None:
    """Measure squared errors of clustered and corridor queries."""
    from dpviz.build import require_public
    from dpviz.evaluation import roads as experiments
    from dpviz.files.writing import write_bytes
    from dpviz.methods import method as find_method

    output = order.output
    edges = distinct(whole_numbers(measures.lengths, "--lengths"))
    chosen = distinct(words(order.methods, "--methods")) or experiments.METHODS
    for name in chosen:
        find_method(name, "roads")  # a bad name fails before reading
    writable(output, ".csv")
    apart(output, source, *data.files)
    handle = data.load(source, public=order.public)
    require_public(dpviz.Ledger(), handle)  # exact answers follow
    rows = list(
        experiments.experiment(
            handle,
            methods=chosen,
            lengths=edges,
            epsilons=distinct(numbers(order.epsilons, "--epsilons")),
            repeats=order.repeats,
            seed=order.seed,
            progress=progress(),
        )
    )
    write_bytes(output, experiments.as_csv(rows).encode())
    table = experiments.summary(rows)
    lines = [
        f"{row['workload']:<14}{row['epsilon']:<8}{row['method']:<18}"
        f"{row['mean_squared_error']:>12.4g}   (zero: {row['zero_squared_error']:.4g})"
        for row in table
    ]
    emit({"output": output, "rows": len(rows), "summary": table}, order.as_json, "\n".join(lines))
