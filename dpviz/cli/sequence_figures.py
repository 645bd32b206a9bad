"""The paper's figures on sequences, redone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dpviz
from dpviz.cli.evaluate import emit_results, require_files, write_plot
from dpviz.cli.outputs import claimed
from dpviz.cli.root import numbers, progress, whole_numbers
from dpviz.lists import distinct, words

if TYPE_CHECKING:
    from dpviz.cli.data import Data
    from dpviz.cli.options import Measures, Run


def evaluate_sequences(source: str, data: Data, order: Run, measures: Measures) -> None:
    """Measure models of sequences: PrivTree's figures 6 and 7, and AdaTrace's errors."""
    from dpviz.build import require_public
    from dpviz.evaluation.rowfile import RowFile
    from dpviz.evaluation.sequences import MeasureRow, SequenceExperiment, about, run, summary

    output, plot = order.output, measures.plot
    require_files(output, plot, source, *data.files)
    plan = SequenceExperiment(
        methods=distinct(words(order.methods, "--methods")),
        epsilons=distinct(numbers(order.epsilons, "--epsilons")),
        tops=distinct(whole_numbers(measures.tops, "--tops")),
        l_top=measures.l_top,
        repeats=order.repeats,
        samples=measures.samples,
        seed=order.seed,
    )
    handle = data.load(source, public=True)
    require_public(dpviz.Ledger(), handle)  # exact answers follow
    with claimed(output):
        results = RowFile(output, about(handle, plan), MeasureRow)
        done = {(row.method, row.epsilon, row.repeat) for row in results.rows}
        for rows in run(handle, plan, done=done, progress=progress()):
            results.append(rows)
    if plot is not None:
        from dpviz.evaluation.plots import sequence_figure

        write_plot(plot, sequence_figure(results.rows, title=handle.name))
    means = summary(results.rows)
    lines = [
        f"{row['measure']:<15}{row['method']:<28}{row['epsilon']:<8g}{row['mean']:<8.3f}"
        f"({row['least']:.3f} to {row['greatest']:.3f})"
        for row in means
    ]
    emit_results(output, len(results.rows), means, lines, order.as_json)
