"""Commands on sequences: build, count, topk, next, sample."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpviz.cli.root import (
    DataSet,
    DeclarePublic,
    Epsilon,
    Json,
    LedgerFile,
    MaxPerUnit,
    Neighbours,
    Parameters,
    Public,
    Purpose,
    ReleaseOutput,
    SecureNoise,
    Seed,
    Unit,
    app,
    emit,
    keep,
    note_without_total,
    progress,
    settings,
    simulated,
    words,
    writable,
)
from dpviz.cli.sequence_source import (
    AlphabetText,
    Box,
    Column,
    DropUnknown,
    Gap,
    Leaves,
    MostCells,
    Reading,
    Side,
    Source,
    Steps,
    TimeColumn,
    read_source,
)
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.sequences.alphabet import Alphabet
    from dpviz.trees.lattice import Int

sequences = typer.Typer(no_args_is_help=True, help="Private models of sequences.")
app.add_typer(sequences, name="sequences")

ReleaseFile = Annotated[str, typer.Argument(metavar="RELEASE", help="A sequence release.")]


@sequences.command()
def build(
    source: Source,
    output: ReleaseOutput,
    epsilon: Epsilon = 1.0,
    alphabet: AlphabetText = None,
    method: Annotated[str, typer.Option(help="A registered name.")] = "markov",
    parameters: Parameters = None,
    neighbours: Neighbours = "add-remove",
    column: Column = None,
    unit: Unit = None,
    max_per_unit: MaxPerUnit = 1,
    bounds: Box = None,
    time_column: TimeColumn = None,
    side: Side = 8,
    leaves: Leaves = None,
    cells: MostCells = 256,
    steps: Steps = False,
    gap: Gap = 12.0,
    drop_unknown: DropUnknown = False,
    public: Public = False,
    seed: Seed = None,
    secure_noise: SecureNoise = False,
    declare_public: DeclarePublic = False,
    dataset: DataSet = None,
    purpose: Purpose = "",
    ledger: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """Spend epsilon on one model of sequences; the ledger pays unless they are public."""
    from dpviz import Ledger
    from dpviz.methods.sequences import find
    from dpviz.releases.sequences.files import KINDS, save
    from dpviz.releases.sequences.publish import publish

    chosen = find(method, **settings(parameters))  # a bad parameter fails before reading
    writable(output)
    simulate = simulated(public, seed, secure_noise)
    started = time.perf_counter()
    data = read_source(
        source,
        Reading(
            alphabet=alphabet,
            column=column,
            unit=unit,
            max_per_unit=max_per_unit,
            bounds=bounds,
            time=time_column,
            side=side,
            leaves=leaves,
            most_cells=cells,
            steps=steps,
            gap=gap,
            drop_unknown=drop_unknown,
            public=public,
            dataset=dataset,
        ),
    )
    account = Ledger(ledger)
    release = publish(
        data,
        chosen,
        epsilon,
        neighbours=neighbours,
        simulate=simulate,
        seed=seed,
        ledger=account,
        purpose=purpose,
        declare_public=declare_public,
        progress=progress(),
    )
    keep(
        lambda path: save(release, path),
        output,
        account,
        release.header.extra.get("release_id"),
    )
    note_without_total(account, data)
    facts: dict[str, Any] = {
        "symbols": len(release.alphabet),
        "model": KINDS[type(release.model)],
        "rows": len(release.model),
        "epsilon": epsilon,
        "guarantee": release.header.guarantee,
        "seconds": round(time.perf_counter() - started, 3),
    }
    lines = [
        f"{output}: {facts['model']}, {facts['rows']:,} over {facts['symbols']:,} symbols, "
        f"{facts['seconds']:.2f} s",
        release.header.guarantee,
    ]
    said = release.header.extra.get("cells", {})
    if "epsilon" in said:
        facts |= {"cells_epsilon": said["epsilon"], "cells_unit": said["unit"]}
        lines.append(f"the cells are of a release: {said['guarantee']}")
        if data.accounted_unit == said["unit"].partition(" with at most ")[0]:
            facts["total_epsilon"] = epsilon + said["epsilon"]
            lines.append(f"together ε = {facts['total_epsilon']:g} for {data.accounted_unit}")
        else:
            lines.append(
                f"that price is for {said['unit']}, this one for {data.unit}: they do not add up "
                "to a price for either, unless that release bounds the records of each unit"
            )
    emit(facts, as_json, "\n".join(lines))


@sequences.command()
def count(
    release: ReleaseFile,
    string: Annotated[
        list[str], typer.Option(help="Symbols between commas, in order; repeat at will.")
    ],
    as_json: Json = False,
) -> None:
    """Estimate how often strings of symbols occur."""
    from dpviz.releases.sequences.files import read

    opened = read(release)
    found = [(words(text), opened.model.count(coded(opened.alphabet, text))) for text in string]
    rows = [{"string": list(asked), "count": count} for asked, count in found]
    lines = [f"{','.join(asked)}: {count:,.1f}" for asked, count in found]
    emit({"answers": rows}, as_json, "\n".join([*lines, opened.header.guarantee]))


@sequences.command()
def topk(
    release: ReleaseFile,
    k: Annotated[int | None, typer.Option("-k", min=1, help="How many; by default 20.")] = None,
    longest: Annotated[int, typer.Option(min=1, help="Symbols of the longest string.")] = 20,
    as_json: Json = False,
) -> None:
    """List the most frequent strings, with their estimated counts where the release has them."""
    from dpviz.releases.sequences.files import KINDS, read

    opened = read(release)
    names = opened.alphabet.names
    ranked = KINDS[type(opened.model)] == "ranking"  # then there may be fewer
    many = k or (min(20, len(opened.model)) if ranked else 20)
    found = [
        ([names[symbol] for symbol in string], count)
        for string, count in opened.model.top(many, longest)
    ]
    rows = [{"string": string, "count": count} for string, count in found]
    lines = [
        ("" if count is None else f"{count:>14,.1f}  ") + ",".join(string)
        for string, count in found
    ]
    emit({"top": rows}, as_json, "\n".join([*lines, opened.header.guarantee]))


@sequences.command("next")
def following(
    release: ReleaseFile,
    context: Annotated[str, typer.Option(help="What came before: symbols between commas.")] = "",
    as_json: Json = False,
) -> None:
    """Tell what comes next after a context, and how likely the end is."""
    from dpviz.releases.sequences.files import read

    opened = read(release)
    chances = opened.model.following(coded(opened.alphabet, context)).tolist()
    rows = [
        {"symbol": name, "probability": chance}
        for name, chance in zip(opened.alphabet.names, chances, strict=False)
    ]
    facts = {"context": list(words(context)), "next": rows, "end": chances[-1]}
    listed = sorted(rows, key=lambda row: -row["probability"])[:20]
    lines = [f"{row['probability']:7.1%}  {row['symbol']}" for row in listed]
    lines.append(f"{chances[-1]:7.1%}  (the end)")
    emit(facts, as_json, "\n".join([*lines, opened.header.guarantee]))


@sequences.command()
def sample(
    release: ReleaseFile,
    output: Annotated[str, typer.Option("--output", "-o", help="A text file, a line for each.")],
    n: Annotated[int, typer.Option("-n", min=1, help="How many.")] = 1000,
    seed: Annotated[int | None, typer.Option(min=0, help="Makes the sample repeatable.")] = None,
    as_json: Json = False,
) -> None:
    """Draw synthetic sequences; costs nothing."""
    from dpviz.releases.points.files import write_file
    from dpviz.releases.sequences.files import read

    opened = read(release)
    names = opened.alphabet.names
    drawn = opened.model.sample(n, seed)
    text = "".join(" ".join(names[symbol] for symbol in row) + "\n" for row in drawn)
    write_file(output, lambda temporary: Path(temporary).write_text(text, encoding="utf-8"))
    facts = {"output": output, "sequences": len(drawn)}
    emit(facts, as_json, f"{output}: {len(drawn):,} synthetic sequences")


def coded(alphabet: Alphabet, text: str) -> Int:
    """Numbers of symbols between commas.

    Raises:
        ParameterError: a word outside the alphabet.
    """
    asked = words(text)
    codes = alphabet.codes(asked)
    if (codes < 0).any():
        wrong = asked[int((codes < 0).argmax())]
        raise ParameterError(f"symbol {wrong!r} is not in the release's alphabet")
    return codes
