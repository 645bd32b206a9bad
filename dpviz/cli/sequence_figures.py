"""The paper's figures on sequences, redone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dpviz
from dpviz.cli.evaluate import emit_results, measured, require_files, write_plot
from dpviz.cli.root import numbers, whole_numbers
from dpviz.lists import distinct, words

if TYPE_CHECKING:
    from dpviz.cli.data import Data
    from dpviz.cli.options import Measures, Run


def evaluate_sequences(source: str, data: Data, order: Run, measures: Measures) -> None:
    """Measure models of sequences: PrivTree's figures 6 and 7, and AdaTrace's errors."""
    from dpviz.evaluation.experiments import Experiment
    from dpviz.evaluation.sequences import SequenceBench, measure_order, require_sizes, summary
    from dpviz.private.payment import require_public

    output, plot = order.output, measures.plot
    require_files(output, plot, source, *data.files)
    plan = Experiment(
        distinct(words(order.methods, "--methods")),
        distinct(numbers(order.epsilons, "--epsilons")),
        order.repeats,
        order.seed,
        "sequences",
    )
    sizes = distinct(whole_numbers(measures.tops, "--tops"))
    require_sizes(sizes, measures.samples)
    handle = data.load(source, public=True)
    require_public(dpviz.Ledger(), handle)  # exact answers follow
    drawn = measures.l_top, measures.samples, order.seed or 0
    rows = measured(output, SequenceBench(handle, sizes, *drawn), plan)
    if plot is not None:
        write_plot(plot, rows, handle.name, measure_order(rows))
    means = summary(rows)
    lines = [
        f"{row['measure']:<15}{row['method']:<28}{row['epsilon']:<8g}{row['mean']:<8.3f}"
        f"({row['least']:.3f} to {row['greatest']:.3f})"
        for row in means
    ]
    emit_results(output, len(rows), means, lines, order.as_json)
