"""The command ``dpviz match``: pairs of leaves of two releases that may hold a match."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dpviz
from dpviz.cli.groups import MISSING, grouped, option
from dpviz.cli.outputs import require_free, require_writable
from dpviz.cli.root import Json, app, emit, numbers
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.evaluation.matching import MatchTruth
    from dpviz.releases.counts import PointRelease
    from dpviz.releases.points.matching import Matching


@app.command()
@grouped
def match(
    release_a: Annotated[str, typer.Argument(metavar="A", help="Release of one owner.")],
    release_b: Annotated[str, typer.Argument(metavar="B", help="Release of the other owner.")],
    within: str = option(
        "Distance of a match in the domain's units: one number, or one per axis.", default=MISSING
    ),
    output: str | None = option("File to write the pairs of cells to (.parquet).", "-o"),
    metric: str = option("Distance: max (within it on every axis) or euclidean.", default="max"),
    padding: str = option(
        "Padding of cells: upward (dummies only, no record is lost) or noisy (to the noisy "
        "counts; records above them are suppressed).",
        default="upward",
    ),
    failure: float | None = option(
        "Probability that upward padding still loses a record (default: 1e-6)."
    ),
    records_a: str | None = option("Records behind A, to measure the recall; requires --public."),
    records_b: str | None = option("Records behind B; requires --public."),
    public: bool = option("Declare the records public; exact answers are shown.", default=False),
    as_json: Json = False,
) -> None:
    """List the pairs of cells that may hold matching records."""
    from dpviz.releases.files import write_table
    from dpviz.releases.points.matching import FAILURE, GUARANTEE, facts

    if (records_a is None) != (records_b is None) or public != (records_a is not None):
        raise ParameterError(
            "--records-a, --records-b and --public measure the recall: give all three, or none"
        )
    if failure is not None and padding != "upward":
        raise ParameterError("--failure requires --padding upward: leave it out")
    if output is not None:
        require_free(output, release_a, release_b, records_a, records_b)
        require_writable(output)
    started = time.perf_counter()
    a, b = dpviz.read(release_a, "points"), dpviz.read(release_b, "points")
    matching = dpviz.match(
        a,
        b,
        numbers(within, "--within"),
        metric=metric,
        padding=padding,
        failure=FAILURE if failure is None else failure,
    )
    rows: dict[str, Any] = facts(matching)
    lines = described(matching)
    if records_a is not None and records_b is not None:
        truth = _truth(matching, (a, b), (records_a, records_b))
        rows |= {
            "recall": truth.recall,
            "matches": truth.matches,
            "true_reduction_ratio": truth.reduction_ratio,
        }
        lines.append(
            f"recall {truth.recall:.4f} of {truth.matches:,} true matches; reduction ratio "
            f"without noise and dummies {truth.reduction_ratio:.4f}"
        )
    if output is not None:
        write_table(output, matching.to_arrow())
        lines.append(f"{output}: {matching.pairs:,} rows")
    rows["seconds"] = time.perf_counter() - started
    emit(rows, as_json, "\n".join([*lines, GUARANTEE]))


def described(matching: Matching) -> list[str]:
    """Describe a matching in words."""
    everything = len(matching.leaves_a) * len(matching.leaves_b)
    dummies_a, dummies_b = matching.dummies
    lost = "an unknown probability: counts were post-processed, or records are suppressed"
    if matching.failure is not None:
        lost = f"a probability of at most {matching.failure:g}"
    return [
        f"{matching.pairs:,} of {everything:,} pairs of leaves may hold a match",
        f"reduction ratio {matching.reduction_ratio:.4f}: {matching.compared:,.0f} comparisons in "
        f"place of {matching.noisy_a * matching.noisy_b:,.0f}",
        f"padding: {dummies_a:,.0f} dummies for {matching.noisy_a:,.0f} records of A, "
        f"{dummies_b:,.0f} for {matching.noisy_b:,.0f} of B; a record is lost with {lost}",
    ]


def _truth(
    matching: Matching, releases: tuple[PointRelease, PointRelease], sources: tuple[str, str]
) -> MatchTruth:
    """Exact answers on two public sources, each in its release's domain."""
    from dpviz.evaluation.matching import match_truth
    from dpviz.private.payment import require_public

    handles = [
        dpviz.load(source, release.domain, columns=release.domain.columns, public=True)
        for source, release in zip(sources, releases, strict=True)
    ]
    for handle in handles:
        require_public(dpviz.Ledger(), handle)
    return match_truth(matching, *releases, handles[0], handles[1])
