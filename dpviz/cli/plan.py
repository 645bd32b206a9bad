"""The command that finds the least ε for given wishes, from public knowledge only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import dpviz
from dpviz.cli.groups import MISSING, grouped, option
from dpviz.cli.root import Json, MaxPerUnit, app, emit, numbers, progress, public_box
from dpviz.errors import ParameterError


@app.command()
@grouped
def plan(
    bounds: str = option("Public box: W,S,E,N.", default=MISSING),
    want: list[str] = option(
        "Accuracy that must hold: 'rect=W,S,E,N ±200', 'areas=FILE ±5% or ±20 at 95%' or 'any"
        " 1 km² of about 400 ±50' (also +-, km2); repeatable.",
        default=MISSING,
    ),
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[SOURCE]", help="Your data file, for the printed command; it is NOT opened."
        ),
    ] = None,
    like: str | None = option(
        "PUBLIC records spread like yours, or an earlier release (default: a synthetic city "
        "scaled to the box)."
    ),
    records: int | None = option(
        "Your guess of the number of records (default: 100,000, or as many as in --like)."
    ),
    prior: str | None = option(
        "PUBLIC data that the map follows, see 'dpviz build'; requires --like, which shows how "
        "closely."
    ),
    prior_weight: str | None = option("Column of weights of --prior, such as inhabitants."),
    at_most: float = option("Largest epsilon that you would spend.", default=10),
    crs: str = option("CRS of the bounds.", default="EPSG:4326"),
    unit: str | None = option("Column of the privacy unit, for the printed command."),
    max_per_unit: MaxPerUnit = 1,
    as_map: bool = option(
        "Insist on cells that fill the box, even if counting only the wanted places costs less.",
        "--map",
        default=False,
    ),
    seed: int = option(
        "Seed of the synthetic proxy, its places and the simulated noise.", default=0, min=0
    ),
    as_json: Json = False,
) -> None:
    """Find the least epsilon for a wanted accuracy; reads no records."""
    domain = public_box(numbers(bounds, "--bounds"), (), crs)
    if source is not None and like is not None and Path(source).resolve() == Path(like).resolve():
        raise ParameterError(
            f"--like {like!r} is the source itself, which a plan must not read: give another file "
            "of public records"
        )
    if prior is None and prior_weight is not None:
        raise ParameterError("--prior-weight requires --prior: give both, or neither")
    if prior is not None and like is not None and Path(prior).resolve() == Path(like).resolve():
        raise ParameterError(
            f"--prior {prior!r} is the file of --like, which it would follow exactly: give another"
        )
    planned = dpviz.plan(
        domain,
        want,
        records=records,
        like=None if like is None else _read_public(like, domain),
        at_most=at_most,
        source=source,
        unit=unit,
        max_per_unit=max_per_unit,
        seed=seed,
        as_map=as_map,
        prior=None if prior is None else dpviz.prior(prior, domain, prior_weight),
        progress=progress(),
    )
    values = "".join(f", {name}={value:g}" for name, value in planned.parameters.items())
    lines = [
        f"epsilon {planned.epsilon:g} by {planned.method}{values}",
        *(f"  {each.wish}: {100 * each.probability:.1f} %" for each in planned.wishes),
        "spent on:",
        *(f"  {row['epsilon']:<8.4g} {row['purpose']}" for row in planned.budget),
        "assumed, and NOT read from your records:",
        *(f"  {line}" for line in planned.assumed),
        "",
        planned.command,
        "",
        planned.python,
    ]
    emit(planned.to_dict(), as_json, "\n".join(lines))


def _read_public(like: str, domain: Any) -> Any:
    """Read the file of --like: a release, or public records; refuse names paid for as sensitive."""
    from dpviz.private.payment import require_public
    from dpviz.releases.files import KEY, metadata_of

    if KEY in metadata_of(like):
        return dpviz.read(like, "points")
    handle = dpviz.load(like, domain, public=True)
    require_public(dpviz.Ledger(), handle)
    return handle
