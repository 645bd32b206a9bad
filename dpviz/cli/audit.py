"""The command that tries to refute a method's claim."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpviz.cli.root import Epsilon, Json, app, emit, progress, settings
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.evaluation.audit import Audit


@app.command()
def audit(
    method: Annotated[
        str,
        typer.Argument(metavar="METHOD", help="A name or alias; all for every one, or sequences."),
    ],
    epsilon: Epsilon = 1.0,
    trials: Annotated[int, typer.Option(help="Runs on each of two neighbouring inputs.")] = 40_000,
    confidence: Annotated[
        float, typer.Option(help="Of the bound, over all events that are tried.")
    ] = 0.9999,
    parameters: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter, key=value; repeat at will.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the simulated noise.")] = 0,
    secure: Annotated[
        bool, typer.Option("--secure", help="The noise of releases: slower, not repeatable.")
    ] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="With all: a page (.md) of the table.")
    ] = None,
    processes: Annotated[int, typer.Option(min=1, help="With all: worker processes.")] = 2,
    as_json: Json = False,
) -> None:
    """Bound a method's real epsilon from below, by runs on neighbouring inputs chosen to hurt it.

    Inputs are tiny and made here. A bound above epsilon refutes the claim; one below proves
    nothing.
    """
    from dpviz.evaluation.audits import audited, group, small

    if group(method) is not None:
        if parameters or secure:
            raise ParameterError(
                f"audit {method}: takes neither --set nor --secure: name one method"
            )
        _all(method.lower(), epsilon, trials, confidence, seed, processes, output, as_json)
        return
    if output is not None:
        raise ParameterError(
            f"output {output!r}: only for audit all and sequences; --json prints one audit"
        )
    chosen = small(method, **settings(parameters))
    found = audited(
        chosen,
        epsilon,
        trials=trials,
        confidence=confidence,
        seed=seed,
        secure=secure,
        progress=progress(),
    )
    facts = {
        **dataclasses.asdict(found),
        "violates": found.violates,
        "guarantee": chosen.guarantee,
        "parameters": chosen.parameters(),
    }
    emit(facts, as_json, "\n".join(_lines(found)))


def _lines(found: Audit) -> list[str]:
    """What one audit found, in words."""
    verdict = "VIOLATES" if found.violates else "not refuted at"
    more, fewer = found.probabilities
    other = "without" if found.more_likely == "with" else "with"
    lines = [
        f"{found.method}: {verdict} epsilon = {found.epsilon:g}",
        f"the real epsilon is at least {found.epsilon_lower_bound:.4g} "
        f"(confidence {found.confidence:g}, {found.trials:,} runs on each input)",
        f"inputs: {found.neighbours}",
        f"event: {found.event}",
        f"it happens in {more:.4%} of the runs {found.more_likely} the record, "
        f"in {fewer:.4%} {other} it",
    ]
    if found.structure_epsilon is not None:
        lines.append(f"exact loss of the tree's structure: {found.structure_epsilon:.6g}")
    return lines


def _all(
    name: str,
    epsilon: float,
    trials: int,
    confidence: float,
    seed: int,
    processes: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Audit every setting of a group; a page keeps its rows of settings outside the group."""
    from dpviz.evaluation.audits import audit_all, group, kept_rows, page, write_page

    found = []
    words = group(name) or []
    for word, each in audit_all(
        words,
        epsilon,
        trials=trials,
        confidence=confidence,
        seed=seed,
        processes=processes,
        progress=progress(),
    ):
        found.append((word, each))
        if output is not None:  # as far as it is: an interrupt loses one audit, not all
            kept = {} if name == "all" else kept_rows(output, each)
            command = f"audit all --epsilon {epsilon:g} --trials {trials} -o {Path(output).name}"
            write_page(output, page(found, command, kept))
    facts = {
        "audits": [
            {"setting": word, **dataclasses.asdict(each), "violates": each.violates}
            for word, each in found
        ]
    }
    lines = [
        f"{word:<20} at least {each.epsilon_lower_bound:<7.4g}"
        f"{'VIOLATES' if each.violates else 'not refuted'}"
        for word, each in found
    ]
    emit(facts, as_json, "\n".join(lines))
