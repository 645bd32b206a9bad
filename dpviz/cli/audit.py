"""The command that tries to refute a method's claim."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from dpviz.cli.root import Epsilon, Json, app, emit, progress, settings
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.evaluation.audit import Audit

PROCESSES = 2
"""Default number of worker processes."""


@app.command()
def audit(
    method: Annotated[
        str,
        typer.Argument(
            metavar="METHOD",
            help="A name or alias; all, sequences or roads for many.",
        ),
    ],
    epsilon: Epsilon = 1.0,
    trials: Annotated[
        int | None,
        typer.Option(
            help="Runs on each of two inputs, and ten at least on all that are tried; 40,000 by "
            "default."
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="Of the bound, over all events that are tried.")
    ] = 0.9999,
    parameters: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter, key=value; repeat at will.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of the simulated noise; 0 by default.")
    ] = None,
    secure: Annotated[
        bool, typer.Option("--secure", help="The noise of releases: slower, not repeatable.")
    ] = False,
    processes: Annotated[
        int | None, typer.Option(min=1, help="With all: worker processes; 2 by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Bound a method's real epsilon from below, by runs on worst-case neighbouring inputs.

    Inputs are tiny and made here. A bound above epsilon refutes the claim; one below proves
    nothing.
    """
    from dpviz.evaluation.audit import audit as audited
    from dpviz.evaluation.audits import audit_all, group, small, table

    given = {"--set": parameters, "--secure": secure, "--seed": seed, "--processes": processes}
    words = group(method)
    _check_fit(method, given, many=words is not None)
    trials = 40_000 if trials is None else trials
    if words is not None:
        results = audit_all(
            words,
            epsilon,
            trials=trials,
            confidence=confidence,
            seed=seed or 0,
            processes=PROCESSES if processes is None else processes,
            progress=progress(),
        )
        with closing(results):  # here, where a Ctrl-C is known to be under way
            audits = list(results)
        rows = [
            {"setting": word, **dataclasses.asdict(each), "violates": each.violates}
            for word, each in audits
        ]
        emit({"audits": rows}, as_json, "\n".join(table(audits)))
        return
    chosen = small(method, **settings(parameters))
    result = audited(
        chosen,
        epsilon,
        trials=trials,
        confidence=confidence,
        seed=seed or 0,
        secure=secure,
        progress=progress(),
    )
    facts = {
        **dataclasses.asdict(result),
        "violates": result.violates,
        "guarantee": chosen.guarantee,
        "parameters": chosen.parameters(),
    }
    emit(facts, as_json, "\n".join(_lines(result, result.method)))


def _check_fit(method: str, given: Mapping[str, object], many: bool) -> None:
    """Refuse options that an audit has no use for."""
    fitting, remedy = {"--set", "--seed", "--secure"}, "leave it out, or audit all"
    if many:
        fitting, remedy = {"--seed", "--processes"}, "leave it out, or name one method"
    for option, value in given.items():
        if value is not None and value is not False and option not in fitting:
            raise ParameterError(f"audit {method}: takes no {option}: {remedy}")
    if given["--secure"] and given["--seed"] is not None:
        raise ParameterError("--seed repeats simulated noise, --secure is never repeated")


def _lines(result: Audit, what: str) -> list[str]:
    """One audit in words."""
    verdict = "VIOLATES" if result.violates else "not refuted at"
    more, fewer = result.probabilities
    other = "without" if result.more_likely == "with" else "with"
    lines = [
        f"{what}: {verdict} epsilon = {result.epsilon:g}",
        f"the real epsilon is at least {result.epsilon_lower_bound:.4g} "
        f"(confidence {result.confidence:g}, {result.trials:,} runs on each input)",
        f"inputs: {result.neighbours}",
        f"event: {result.event}",
        f"it happens in {100 * more:.4f} % of the runs {result.more_likely} the record, "
        f"in {100 * fewer:.4f} % {other} it",
    ]
    if result.structure_epsilon is not None:
        lines.append(f"exact loss of the tree's structure: {result.structure_epsilon:.6g}")
    return lines
