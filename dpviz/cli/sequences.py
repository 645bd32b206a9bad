"""Commands on sequences: build, count, topk, next, sample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dpviz
from dpviz.cli.building import Facts, build_release
from dpviz.cli.groups import grouped
from dpviz.cli.options import Order, TableName, TextForms, Units
from dpviz.cli.outputs import apart
from dpviz.cli.root import Json, app, complain, emit, in_line
from dpviz.cli.sources import Symbols
from dpviz.lists import listed, words

if TYPE_CHECKING:
    from dpviz.build import SequenceData
    from dpviz.releases.sequences.release import SequenceRelease

sequences = typer.Typer(no_args_is_help=True, help="Private models of sequences.")
app.add_typer(sequences, name="sequences")

LISTED = 100_000
"""Most strings of one answer: each is looked for by itself."""

ReleaseFile = Annotated[str, typer.Argument(metavar="RELEASE", help="A sequence release.")]
Source = Annotated[
    str, typer.Argument(help="A file of sequences, of places with --time, or 'city'.")
]


@sequences.command()
@grouped
def build(
    source: Source,
    order: Order,
    symbols: Symbols,
    forms: TextForms,
    units: Units,
    method: Annotated[str, typer.Option(help="A registered name.")] = "markov",
    table: TableName = None,
) -> None:
    """Spend epsilon on one model of sequences; the ledger pays unless they are public."""

    def load() -> SequenceData:
        return symbols.load(
            source,
            **units.reading(),
            **forms.reading(),
            public=order.public,
            name=order.dataset,
            table=table,
        )

    def noted(release: SequenceRelease, data: SequenceData) -> Facts:
        # Said of what was built: a refusal is one line.
        if of_lines and not order.as_json:
            complain(
                f"note: {data.name!r} is read as a sequence per line, as .txt says, whatever it "
                "holds: 'dpviz check' says how many lines were of use"
            )
        return described(release, data)

    ending = Path(source.lower().removesuffix(".gz")).suffix
    of_lines = ending == ".txt" and symbols.column is symbols.time is units.unit is None

    build_release(
        "sequences", method, order, [source, symbols.alphabet, symbols.leaves], load, noted
    )


def described(release: SequenceRelease, data: SequenceData) -> Facts:
    """What is printed of a release of sequences, and what its cells cost before."""
    from dpviz.releases.sequences.columns import MODELS

    facts: dict[str, Any] = {
        "symbols": len(release.alphabet),
        "model": MODELS[type(release.model)],
        "rows": len(release.model),
    }
    lines = [f"{facts['model']}, {facts['rows']:,} over {facts['symbols']:,} symbols"]
    cells = release.header.extra.get("cells", {})
    if "epsilon" in cells:
        epsilon = release.header.epsilon
        facts |= {"cells_epsilon": cells["epsilon"], "cells_unit": cells["unit"]}
        lines.append(f"the cells are of a release: {cells['guarantee']}")
        if data.accounted_unit == cells["unit"].partition(" with at most ")[0]:
            facts["total_epsilon"] = epsilon + cells["epsilon"]
            lines.append(f"together ε = {facts['total_epsilon']:g} for {data.accounted_unit}")
        else:
            lines.append(
                f"that price is for {cells['unit']}, this one for {data.unit}: they do not add up "
                "to a price for either, unless that release bounds the records of each unit"
            )
    return facts, lines


@sequences.command()
def count(
    release: ReleaseFile,
    string: Annotated[
        list[str], typer.Option(help="Symbols between commas, in order; repeat at will.")
    ],
    as_json: Json = False,
) -> None:
    """Estimate how often strings of symbols occur."""
    opened = dpviz.read(release, "sequences")
    strings = [words(text, "--string") for text in string]
    counts = opened.count(strings).count.tolist()
    rows = [
        {"string": list(asked), "count": value}
        for asked, value in zip(strings, counts, strict=True)
    ]
    lines = [f"{in_line(listed(row['string']))}: {row['count']:,.1f}" for row in rows]
    emit({"answers": rows}, as_json, "\n".join([*lines, opened.header.guarantee]))


@sequences.command()
def topk(
    release: ReleaseFile,
    k: Annotated[
        int | None, typer.Option("-k", min=1, max=LISTED, help="How many; by default 20.")
    ] = None,
    longest: Annotated[int, typer.Option(min=1, help="Symbols of the longest string.")] = 20,
    as_json: Json = False,
) -> None:
    """List the most frequent strings, with their estimated counts where the release has them."""
    from dpviz.releases.sequences.columns import MODELS

    opened = dpviz.read(release, "sequences")
    ranked = MODELS[type(opened.model)] == "ranking"  # then there may be fewer
    many = k or (min(20, len(opened.model)) if ranked else 20)
    strings = opened.top(many, longest)
    rows = [{"string": list(string), "count": value} for string, value in strings]
    lines = [
        ("" if value is None else f"{value:>14,.1f}  ") + in_line(listed(string))
        for string, value in strings
    ]
    emit({"top": rows}, as_json, "\n".join([*lines, opened.header.guarantee]))


@sequences.command("next")
def following(
    release: ReleaseFile,
    context: Annotated[str, typer.Option(help="What came before: symbols between commas.")] = "",
    as_json: Json = False,
) -> None:
    """Tell what comes next after a context, and how likely the end is."""
    opened, symbols = dpviz.read(release, "sequences"), words(context, "--context")
    chances = opened.next(symbols).tolist()
    rows = [
        {"symbol": name, "probability": chance}
        for name, chance in zip(opened.alphabet.names, chances, strict=False)
    ]
    facts = {"context": list(symbols), "next": rows, "end": chances[-1]}
    likely = sorted(rows, key=lambda row: -row["probability"])[:20]
    lines = [f"{100 * row['probability']:6.1f} %  {in_line(row['symbol'])}" for row in likely]
    lines.append(f"{100 * chances[-1]:6.1f} %  (the end)")
    emit(facts, as_json, "\n".join([*lines, opened.header.guarantee]))


@sequences.command()
def sample(
    release: ReleaseFile,
    output: Annotated[
        str, typer.Option("--output", "-o", help="A .txt file, a line for each; .csv; .parquet.")
    ],
    n: Annotated[int, typer.Option("-n", help="How many.")] = 1000,
    seed: Annotated[int | None, typer.Option(min=0, help="Makes the sample repeatable.")] = None,
    as_json: Json = False,
) -> None:
    """Draw synthetic sequences; costs nothing."""
    from dpviz.releases.sequences.samples import save_sequences

    apart(output, release)
    drawn = save_sequences(dpviz.read(release, "sequences"), output, n, seed)
    facts = {"output": output, "sequences": drawn}
    emit(facts, as_json, f"{output}: {drawn:,} synthetic sequences")
