"""Commands for releases of sequences: topk and next."""

from __future__ import annotations

import dpviz
from dpviz.cli.groups import grouped, option
from dpviz.cli.root import Json, ReleaseFile, app, emit, escaped_line
from dpviz.lists import join_list, split_list

MAX_STRINGS = 100_000
"""Maximum number of strings in one answer: each needs a search."""


@app.command()
@grouped
def topk(
    release: ReleaseFile,
    k: int | None = option("Number of strings (default: 20).", "-k", min=1, max=MAX_STRINGS),
    longest: int = option("Maximum length of a string, in symbols.", default=20, min=1),
    as_json: Json = False,
) -> None:
    """List the most frequent strings of symbols in a release."""
    from dpviz.releases.sequences.columns import MODELS

    opened = dpviz.read(release, "sequences")
    ranked = MODELS[type(opened.model)] == "ranking"  # the release may hold fewer strings
    many = k or (min(20, len(opened.model)) if ranked else 20)
    strings = opened.top(many, longest)
    rows = [{"string": list(string), "count": value} for string, value in strings]
    lines = [
        ("" if value is None else f"{value:>14,.1f}  ") + escaped_line(join_list(string))
        for string, value in strings
    ]
    emit({"top": rows}, as_json, "\n".join([*lines, opened.header.guarantee]))


@app.command("next")
@grouped
def following(
    release: ReleaseFile,
    context: str = option(
        "Preceding symbols, separated by commas (default: the start).", default=""
    ),
    as_json: Json = False,
) -> None:
    """List the probabilities of the next symbol in a sequence."""
    opened, symbols = dpviz.read(release, "sequences"), split_list(context, "--context")
    chances = opened.next(symbols).tolist()
    rows = [
        {"symbol": name, "probability": chance}
        for name, chance in zip(opened.alphabet.names, chances, strict=False)
    ]
    facts = {"context": list(symbols), "next": rows, "end": chances[-1]}
    likely = sorted(rows, key=lambda row: -row["probability"])[:20]
    lines = [f"{100 * row['probability']:6.1f} %  {escaped_line(row['symbol'])}" for row in likely]
    lines.append(f"{100 * chances[-1]:6.1f} %  (the end)")
    emit(facts, as_json, "\n".join([*lines, opened.header.guarantee]))
