"""The command that tries to refute a method's claim."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from dpviz.cli.root import Epsilon, Json, app, emit, progress, settings


@app.command()
def audit(
    method: Annotated[str, typer.Argument(metavar="METHOD", help="A name or alias.")],
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
    as_json: Json = False,
) -> None:
    """Bound a method's real epsilon from below, by runs on neighbouring inputs chosen to hurt it.

    Inputs are tiny and made here. A bound above epsilon refutes the claim; one below proves
    nothing.
    """
    from dpviz.evaluation.audit import audit as look
    from dpviz.evaluation.audit import tiny

    chosen = tiny(method, **settings(parameters))
    found = look(
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
    verdict = f"VIOLATES epsilon = {epsilon:g}" if found.violates else f"not refuted at {epsilon:g}"
    more, fewer = found.probabilities
    other = "without" if found.more_likely == "with" else "with"
    lines = [
        f"{found.method}: {verdict}",
        f"the real epsilon is at least {found.epsilon_lower_bound:.4g} "
        f"(confidence {confidence:g}, {trials:,} runs on each input)",
        f"inputs: {found.neighbours}",
        f"event: {found.event}",
        f"it happens in {more:.4%} of the runs {found.more_likely} the record, "
        f"in {fewer:.4%} {other} it",
    ]
    if found.structure_epsilon is not None:
        lines.append(f"exact loss of the tree's structure: {found.structure_epsilon:.6g}")
    emit(facts, as_json, "\n".join(lines))
