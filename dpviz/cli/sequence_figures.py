"""The command that redoes the paper's figures on sequences."""

from __future__ import annotations

from typing import Annotated

import typer

import dpviz
from dpviz.cli.evaluate import emit_results, measured, require_files, write_plot
from dpviz.cli.groups import grouped
from dpviz.cli.options import Units
from dpviz.cli.root import Json, NoiseSeed, numbers, whole_numbers
from dpviz.cli.sequences import Source, sequences
from dpviz.cli.sources import Symbols
from dpviz.errors import PrivacyError
from dpviz.lists import distinct, words


@sequences.command()
@grouped
def evaluate(
    output: Annotated[str, typer.Option("--output", "-o", help="The rows (.csv); resumed.")],
    symbols: Symbols,
    units: Units,
    source: Source = "city",
    methods: Annotated[
        str, typer.Option(help="Between commas; with parameters: ngram:n_max=3:mask=false.")
    ] = "markov,ngram,topk_em,truncate",
    epsilons: Annotated[str, typer.Option(help="Between commas.")] = "0.05,0.1,0.2,0.4,0.8,1.6",
    tops: Annotated[str, typer.Option(help="Numbers of frequent strings.")] = "50,100,150,200",
    l_top: Annotated[int, typer.Option(help="Public bound on the events of a sequence.")] = 20,
    repeats: Annotated[int, typer.Option(help="Repetitions with fresh noise.")] = 10,
    samples: Annotated[
        int, typer.Option(help="Synthetic sequences whose lengths are compared.")
    ] = 200_000,
    seed: NoiseSeed = None,
    plot: Annotated[
        str | None, typer.Option(help="A picture (.png, .svg, .pdf): measures against epsilon.")
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="The sequences are public: required for a file.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure models of PUBLIC sequences: PrivTree's figures 6 and 7, and AdaTrace's errors."""
    from dpviz.build import CITY, require_public
    from dpviz.evaluation.experiments import Experiment
    from dpviz.evaluation.sequences import SequenceBench, measure_order, require_sizes, summary

    if not public and source != CITY:
        raise PrivacyError(
            "evaluate compares with exact answers: only for public data; add --public if they are"
        )
    require_files(output, plot, source, symbols.alphabet, symbols.leaves)
    plan = Experiment(
        distinct(words(methods, "--methods")),
        distinct(numbers(epsilons, "--epsilons")),
        repeats,
        seed,
        "sequences",
    )
    sizes = distinct(whole_numbers(tops, "--tops"))
    require_sizes(sizes, samples)
    data = symbols.load(source, **units.reading(), public=True)
    require_public(dpviz.Ledger(), data)  # exact answers follow
    rows = measured(output, SequenceBench(data, sizes, l_top, samples, seed or 0), plan)
    if plot is not None:
        write_plot(plot, rows, data.name, measure_order(rows))
    measures = summary(rows)
    lines = [
        f"{row['measure']:<15}{row['method']:<28}{row['epsilon']:<8g}{row['mean']:<8.3f}"
        f"({row['least']:.3f} to {row['greatest']:.3f})"
        for row in measures
    ]
    emit_results(output, len(rows), measures, lines, as_json)
