"""The command ``dpviz audit``, which tries to refute a method's privacy claim."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from dpviz.cli.groups import grouped, option
from dpviz.cli.root import Epsilon, Json, Settings, app, emit, progress, settings
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.evaluation.audit import Audit


@app.command()
@grouped
def audit(
    method: Annotated[
        str,
        typer.Argument(
            metavar="METHOD", help="Method's name or alias, or a group: all, sequences or roads."
        ),
    ],
    epsilon: Epsilon = 1.0,
    trials: int = option("Runs on each of the two neighbouring inputs.", default=40_000),
    confidence: float = option("Confidence of the bound, over all events tried.", default=0.9999),
    parameters: Settings = None,
    seed: int | None = option("Seed of the simulated noise (default: 0).", min=0),
    secure: bool = option(
        "Use the exact noise of releases: slower, not repeatable.", default=False
    ),
    as_json: Json = False,
) -> None:
    """Test a method's privacy claim on small worst-case inputs.

    Runs on two neighbouring inputs give a lower bound on the method's real epsilon. A bound above
    --epsilon refutes the claim; a lower one proves nothing.
    """
    from dpviz.evaluation.audits import audit_all, group, small_method, table

    if secure and seed is not None:
        raise ParameterError(
            "--seed is for simulated noise, --secure draws exact noise: give one of them"
        )
    chosen, words = settings(parameters), group(method)
    if words is not None and chosen:
        raise ParameterError(
            f"--set is for one method, {method} is a group: name a method, or leave --set out"
        )
    results = audit_all(
        words or [method],
        epsilon,
        trials=trials,
        confidence=confidence,
        seed=seed or 0,
        secure=secure,
        progress=progress(),
        parameters=chosen,
    )
    audits = list(results)
    rows = [{**dataclasses.asdict(each), "violates": each.violates} for _, each in audits]
    if words is not None:
        named = [{"setting": word, **row} for (word, _), row in zip(audits, rows, strict=True)]
        emit({"audits": named}, as_json, "\n".join(table(audits)))
        return
    audited = small_method(method, **chosen)
    facts = {**rows[0], "guarantee": audited.guarantee, "parameters": audited.parameters()}
    emit(facts, as_json, "\n".join(_lines(audits[0][1])))


def _lines(result: Audit) -> list[str]:
    """One audit in words."""
    verdict = "VIOLATES" if result.violates else "not refuted at"
    more, fewer = result.probabilities
    other = "without" if result.more_likely == "with" else "with"
    lines = [
        f"{result.method}: {verdict} epsilon = {result.epsilon:g}",
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
