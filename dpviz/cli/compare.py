"""The command that compares two counts of a release, whose noise is correlated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import dpviz
from dpviz.cli.groups import grouped, option
from dpviz.cli.root import Json, ReleaseFile, app, emit, escaped_line, numbers
from dpviz.errors import ParameterError
from dpviz.lists import split_list

if TYPE_CHECKING:
    from dpviz.releases.joint import Estimate
    from dpviz.releases.subset import Subset

PAIRS = ("area", "rect", "path", "period", "kind")
"""Options that are given once for both counts, or twice: for the first and for the second."""


@app.command()
@grouped
def compare(
    release: ReleaseFile,
    area: list[str] | None = option("Area by name, or PARENT/NAME; once or twice."),
    rect: list[str] | None = option("Rectangle W,S,E,N; once or twice."),
    path: list[str] | None = option("Path of a release of trips: edge ids; once or twice."),
    period: list[str] | None = option("Part of the period, A,B; once or twice."),
    kind: list[str] | None = option("Kind (category); once or twice."),
    ratio: bool = option("Divide the first count by the second.", default=False),
    trend: bool = option("Slope of one count over the steps of time.", default=False),
    replicates: int = option(
        "Estimate the noise of points from this many simulated releases (default: a safe bound). "
        "Too narrow on small data.",
        default=0,
        min=0,
        max=1_000,
    ),
    prior: str | None = option("File of the public prior that the release follows."),
    as_json: Json = False,
) -> None:
    """Compare two areas, rectangles, kinds or periods, with a 95 % interval.

    An option that is given twice tells the two counts apart; one that is given once is for both.
    """
    given = dict(zip(PAIRS, (area, rect, path, period, kind), strict=True))
    if ratio and trend:
        raise ParameterError("--ratio and --trend exclude each other: give one")
    if trend and replicates:
        raise ParameterError("--replicates is for differences and ratios: leave it out")
    if prior is not None and not replicates:
        raise ParameterError("--prior requires --replicates: give both, or neither")
    if sum(each is not None for each in (area, rect, path)) > 1:
        raise ParameterError("--area, --rect and --path exclude each other: give one of them")
    for name, each in given.items():
        if len(each or []) > (1 if trend else 2):
            raise ParameterError(f"--{name}: given {len(each or [])} times: give it once or twice")
    if not trend and all(len(each or []) < 2 for each in given.values()):
        raise ParameterError("nothing to compare: give an option such as --area twice")
    opened = dpviz.read(release)
    if opened.kind == "sequences":
        raise ParameterError("a release of sequences has no noise model: use 'dpviz query'")
    one, other = (
        _selection(opened, {name: _at(each, which) for name, each in given.items()})
        for which in range(2)
    )
    basis = {}
    if replicates:
        from dpviz.evaluation.replicates import replicated

        followed = None
        if prior is not None:
            stated = opened.header.extra.get("prior", {})
            followed = dpviz.prior(prior, opened.domain.without_kinds, stated.get("weight"))
        basis = {"replicates": replicated(opened, replicates, prior=followed)}
    if trend:
        answer, name = opened.trend(one), "records per step"
    elif ratio:
        answer, name = opened.ratio(one, other, **basis), "A / B"
    else:
        answer, name = opened.compare(one, other, **basis), "A − B"
    facts = {key: _plain(getattr(answer, key)) for key in ("value", "low", "high")}
    facts["half_width"] = _plain(answer.half_width)
    lines = [
        *(f"{label}: {_title(given, which)}" for which, label in enumerate("A" if trend else "AB")),
        f"{name} = {_interval(answer, ratio)}",
        opened.header.guarantee,
    ]
    emit(facts | {"basis": answer.basis}, as_json, "\n".join(lines))


def _at(each: list[str] | None, which: int) -> str | None:
    """The first or second value of an option; its only value for both."""
    return each[min(which, len(each) - 1)] if each else None


def _selection(release: Any, given: dict[str, str | None]) -> Subset:
    """The records that options select."""
    from dpviz.releases.subset import Subset

    place: Any = None
    kinds = {"area": "areas", "path": "roads"}
    for name, kind in kinds.items():
        if given[name] is not None and release.kind != kind:
            raise ParameterError(f"--{name} is for {kind}, not for {release.kind}: leave it out")
    if given["area"] is not None:
        place = given["area"]
    elif given["rect"] is not None:
        place = numbers(given["rect"], "--rect")
    elif given["path"] is not None:
        from dpviz.roads.paths import paths_from_ids

        ids = [split_list(given["path"], "--path")]
        place = paths_from_ids(release.frame.graph, ids, "path")[0]
    return Subset(place, given["period"], given["kind"])


def _title(given: dict[str, list[str] | None], which: int) -> str:
    """The options of one count, in words."""
    values = ((name, _at(each, which)) for name, each in given.items())
    return ", ".join(f"{name} {escaped_line(value)}" for name, value in values if value) or "all"


def _interval(answer: Estimate, ratio: bool) -> str:
    """A number with its interval and its basis, in words."""
    basis = "" if answer.basis == "exact" else f"; {answer.basis}"
    if math.isnan(answer.value):
        return "not known: too few records for a ratio"
    if ratio:
        return f"{answer.value:.3g} (95 %: {answer.low:.3g} to {answer.high:.3g}{basis})"
    digits = 0 if answer.half_width >= 10 else 1 if answer.half_width >= 1 else 3
    return f"{answer.value:,.{digits}f} ± {answer.half_width:,.{digits}f} (95 %{basis})"


def _plain(number: float) -> float | None:
    """A number for JSON; None where it is not finite."""
    return number if math.isfinite(number) else None
