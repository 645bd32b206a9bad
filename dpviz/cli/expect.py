"""The command that predicts the error of a release, before payment and without records."""

from __future__ import annotations

import dataclasses
from typing import Any

import dpviz
from dpviz.cli.groups import MISSING, grouped, option
from dpviz.cli.options import TimeOptions
from dpviz.cli.root import (
    Epsilon,
    Json,
    MaxPerUnit,
    Settings,
    app,
    emit,
    numbers,
    public_box,
    settings,
)
from dpviz.errors import ParameterError


@app.command()
@grouped
def expect(
    *,
    bounds: str = option(
        "Public box: all lower, then all upper limits (2-D: W,S,E,N).", default=MISSING
    ),
    clock: TimeOptions,
    records: int = option("Your guess of the number of records.", default=100_000),
    epsilon: Epsilon = 1.0,
    method: str = option("Method's name or alias; see 'dpviz methods'.", default="ladder_tree"),
    parameters: Settings = None,
    max_per_unit: MaxPerUnit = 1,
    per_unit: float | None = option(
        "Your guess of the mean number of records per unit; it shows how many records "
        "--max-per-unit drops."
    ),
    prior: str | None = option(
        "PUBLIC data about the same place, see 'dpviz build': shows the error with it in the best "
        "case, where records lie exactly as they say."
    ),
    prior_weight: str | None = option("Column of weights of --prior, such as inhabitants."),
    delta: float | None = option(
        "Delta such as 1e-6: also show the noise of one count of persons for several bounds."
    ),
    as_json: Json = False,
) -> None:
    """Predict the errors of a release; reads no records.

    They are measured on synthetic records spread over the bounds.
    """
    from dpviz.domain.crs import DEGREES
    from dpviz.evaluation.synthetic_proxy import (
        MAX_RECORDS,
        expectation,
        expected_by_bound,
        proxy_size_note,
        retained_share,
    )
    from dpviz.methods import method_with
    from dpviz.private.slots import noise_by_bound
    from dpviz.render.numbers import half_width_words

    domain = public_box(numbers(bounds, "--bounds"), (), DEGREES, {**clock.axis()})
    named = method_with(method, "points", settings(parameters))
    chosen = named.parameters()
    if prior is None and prior_weight is not None:
        raise ParameterError("--prior-weight requires --prior: give both, or neither")
    public = None if prior is None else dpviz.prior(prior, domain, prior_weight)
    how: dict[str, Any] = {"max_per_unit": max_per_unit, "per_unit": per_unit, "prior": public}
    rows = expectation(domain, method, epsilon, records, **how, **chosen).rows
    counted = 1.0 if per_unit is None else retained_share(max_per_unit, per_unit)
    head = f"{'queries':<10}{'count':>12}{'noise, 95 % ±':>16}{'left out':>12}{'mean error':>14}"
    lines = [head + ("" if public is None else f"{'with prior, at best':>22}")]
    lines += [
        f"{row.size:<10}{row.count:>12,.0f}{half_width_words(row.interval):>16}"
        f"{row.left_out:>12,.0f}"
        f"{row.error:>14,.0f}" + ("" if row.at_best is None else f"{row.at_best:>22,.0f}")
        for row in rows
    ]
    facts: dict[str, Any] = {"records": min(records, MAX_RECORDS)}
    facts |= {"expected": [dataclasses.asdict(row) for row in rows]}
    if per_unit is not None:
        bound_rows = expected_by_bound(domain, method, epsilon, records, per_unit, **chosen)
        facts["bounds"] = [dataclasses.asdict(row) for row in bound_rows]
        lines.append(f"\n{'max per unit':<20}{'of all':>8}{'mean error, medium':>22}")
        lines += [
            f"{row.max_per_unit:<20}{100 * row.kept:>6.0f} %{row.error:>22,.0f}"
            for row in bound_rows
        ]
    if delta is not None:
        facts["persons"] = noise_by_bound(
            epsilon, delta, max_per_unit, named.slot_shares(domain.dims) or [1.0]
        )
        lines.append(f"\n{'slots per unit':<20}{'pure noise, sd':>16}{f'δ = {delta:g}, sd':>18}")
        lines += [
            f"{row['max_per_unit']:<20,}{row['pure_sd']:>16.3g}{row['sd']:>18.3g}  "
            f"{row['mechanism']}"
            for row in facts["persons"]
        ]
        lines.append("Exact, for one count of persons in a slot: a cell, in a step, of a kind.\n")
    lines.append(
        "From a synthetic city scaled to the box, NOT from your records."
        if public is None
        else "From synthetic records that lie exactly as the prior says, NOT from your records: "
        "yours follow it less, so expect an error between both."
    )
    lines += filter(None, [proxy_size_note(round(records * counted))])
    emit(facts, as_json, "\n".join(lines))
