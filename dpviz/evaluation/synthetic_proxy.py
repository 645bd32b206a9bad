"""Expected error before paying: from a synthetic proxy, never from the records.

The data owner guesses the number of records and gives their public rectangle; the built-in
synthetic city, scaled to that rectangle and sampled to that size, stands in for the records. The
errors are for orientation: real records that lie more evenly, or less, have other errors. No source
is read here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dpviz.build import build, from_points
from dpviz.datasets import DATASETS
from dpviz.domain import Domain
from dpviz.errors import ParameterError
from dpviz.evaluation.truth import exact_counts
from dpviz.private.budget import per_record, positive_epsilon
from dpviz.private.handle import DataHandle
from dpviz.queries.workloads import SIZES, workload
from dpviz.releases.answers import INTERVAL_SDS, RangeAnswers, total
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.window import during, window_cuts
from dpviz.render.cells import adaptive, tiles
from dpviz.render.detail import MAX_ZOOM, POOLED, SHOWN
from dpviz.trees.lattice import Float, unmorton
from dpviz.trees.prior import Prior

CITIES = {2: "city-250k", 3: "year", 4: "trips-200k"}
"""The synthetic data set used as proxy, by dimensions; the third dimension is time."""

MAX_RECORDS = 1_000_000
"""Records of the largest proxy. The noise in a count hardly depends on their number."""

MAX_GUESS = 10**12
"""Largest guess of the number of records."""

QUERIES = 400
"""Rectangles of each size."""

BOUNDS = (1, 2, 5, 10, 20, 50, 100)
"""Bounds on the records per unit that are compared."""


@dataclass(frozen=True)
class Expected:
    """Expected count and errors of queries of one size.

    Attributes:
        count: mean exact count, of all records.
        interval: mean 95 % half-width of the noise.
        total_error: mean ± that a release shows: the noise, and the estimate of cut cells.
        error: mean absolute error: noise, uniformity, and what is left out.
        left_out: records of the mean count that the bound on the records per unit leaves out.
        at_best: mean absolute error with a public prior that the records follow exactly; None
            without a prior.
    """

    size: str
    count: float
    interval: float
    error: float
    total_error: float
    left_out: float = 0.0
    at_best: float | None = None

    @property
    def largest_part(self) -> str:
        """Largest part of the error: "records left out", "noise" or "cut cells"."""
        others = self.error - self.left_out
        noise = self.interval / INTERVAL_SDS * math.sqrt(2.0 / math.pi)  # mean size of a normal one
        cut = math.sqrt(max(others**2 - noise**2, 0.0))
        parts = {"records left out": self.left_out, "noise": noise, "cut cells": cut}
        return max(parts, key=lambda name: parts[name])


@dataclass(frozen=True)
class Expectation:
    """Expected errors, and the look of the map.

    Attributes:
        rows: for each size of rectangles.
        cell: surface of the cells that a map draws, in km²: half of the records that it tells from
            noise lie in such ones or smaller; None if it tells none, or draws overlapping boxes.
        windows: counts of the whole area in the windows of the period that a page lists; None
            without time.
    """

    rows: list[Expected]
    cell: float | None
    windows: RangeAnswers | None

    def window_error(self, parts: int = 1) -> float:
        """Mean ± that a release shows for a window, with as many parts as this, added up."""
        assert self.windows is not None
        return float(np.mean(total([self.windows] * parts).total_error))


@dataclass(frozen=True)
class Bound:
    """Effect of a bound on the records per unit: share retained and error.

    Attributes:
        kept: share of the records that is kept: a key of `expect --json`.
        error: mean absolute error of medium queries: of the release, and of what was left out.
    """

    max_per_unit: int
    kept: float
    error: float


def check_guess(records: int) -> None:
    """Refuse a number of records below 1 or above :data:`MAX_GUESS`."""
    if not 1 <= records <= MAX_GUESS:
        bound = "at least 1" if records < 1 else f"at most {MAX_GUESS:,}"
        raise ParameterError(f"records={records}: give {bound}")


def synthetic_proxy(domain: Domain, records: int, seed: int = 0) -> DataHandle:
    """A public synthetic data set of this size in this domain.

    Args:
        domain: public; 2-D, with or without time, or 4-D.
        records: number of records; more than :data:`MAX_RECORDS` are represented by that many.
    """
    if domain.dims not in CITIES or (domain.dims == 3 and domain.time is None):
        raise ParameterError(
            f"there is no synthetic proxy for {domain.dims}-D data, only for 2-D, 2-D with time, "
            "and 4-D"
        )
    check_guess(records)
    city = DATASETS[CITIES[domain.dims]]
    points = city.points()
    low, span = np.array(city.domain.lower), np.subtract(city.domain.upper, city.domain.lower)
    random = np.random.default_rng(seed)
    chosen = random.integers(0, len(points), min(records, MAX_RECORDS))
    # Sampled with replacement: a tiny shift keeps copies from lying on one point.
    unit = (points[chosen] - low) / span + random.normal(0.0, 2e-4, (len(chosen), domain.dims))
    corner, extent = np.array(domain.lower), np.subtract(domain.upper, domain.lower)
    places = corner + np.clip(unit, 0.0, 1.0) * extent
    if domain.time is not None:
        places[:, 2] = _moments(domain, points[chosen, 2] - low[2], span[2], random)
    return from_points(places, domain, public=True)


def _moments(domain: Domain, since: Float, year: float, random: np.random.Generator) -> Float:
    """Times (n,) of a year, in seconds since it began, in the period, with their days and weeks."""
    start, end = domain.period if domain.span is None else domain.span
    years = random.integers(0, math.ceil((end - start) / year), len(since))
    return start + (since + year * years) % (end - start)


def proxy_size_note(records: int) -> str:
    """Note for a proxy with fewer records than the owner guesses; empty if it has as many.

    >>> proxy_size_note(2_500_000)
    'For 1,000,000 records, the most that are tried: of 2,500,000 counts are 2.5 times as large, \
noise is about the same, and what cut cells add is up to 2.5 times as large.'
    """
    if records <= MAX_RECORDS:
        return ""
    times = f"{records / MAX_RECORDS:.3g} times as large"
    return (
        f"For {MAX_RECORDS:,} records, the most that are tried: of {records:,} counts are {times}, "
        f"noise is about the same, and what cut cells add is up to {times}."
    )


def expectation(
    domain: Domain,
    method: str,
    epsilon: float,
    records: int,
    *,
    max_per_unit: int = 1,
    per_unit: float | None = None,
    prior: Prior | None = None,
    **parameters: Any,
) -> Expectation:
    """Expected errors of rectangles, and the look of the map, from one simulated build.

    With a public prior, the synthetic records lie exactly as it says, and one more build follows
    it. That is the best case: real errors lie between those of both builds.

    Args:
        records: the owner's guess of the number of records; above :data:`MAX_RECORDS`, see
            :func:`proxy_size_note`.
        max_per_unit: records of one unit that are kept: each is paid with its part of ε.
        per_unit: the owner's guess of the mean records of one unit, by which the bound leaves some
            out, see :func:`retained_share`; none are for None.
    """
    check_guess(records)
    if per_unit is not None and per_unit > records:
        raise ParameterError(
            f"{per_unit:g} records per unit are more than all {records:,}: give a smaller mean"
        )
    counted = 1.0 if per_unit is None else retained_share(max_per_unit, per_unit)
    sampled = max(1, round(records * counted))
    handle = (
        synthetic_proxy(domain, sampled) if prior is None else _following(prior, domain, sampled)
    )
    each = per_record(positive_epsilon(epsilon), max_per_unit)
    how: dict[str, Any] = {"seed": 0, "ledger": None, **parameters}
    release = build(handle, method, each, **how)
    best = None if prior is None else build(handle, method, each, prior=prior, **how)
    expected = []
    for size in SIZES:
        rects = workload(domain, size, QUERIES).rects
        answers, exact = release.count(rects), exact_counts(handle, rects)
        count = float(np.mean(exact)) / counted
        left_out = count * (1.0 - counted)
        error = float(np.mean(np.abs(answers.count - exact))) + left_out
        interval = float(INTERVAL_SDS * np.mean(answers.noise_sd))
        at_best = None
        if best is not None:
            at_best = float(np.mean(np.abs(best.count(rects).count - exact))) + left_out
        shown = float(np.mean(answers.total_error))
        expected.append(Expected(size, count, interval, error, shown, left_out, at_best))
    return Expectation(expected, _typical_cell(release), _windows(release))


def _typical_cell(release: PointRelease) -> float | None:
    """Surface in km² of the cell that the finest map draws around a typical record."""
    domain = release.domain
    flat = release if domain.time is None else during(release, domain.period)
    if domain.dims == 4 or not tiles(flat):
        return None
    drawn = adaptive(flat)
    rows = np.flatnonzero(drawn.at(MAX_ZOOM) & np.isin(drawn.kind, (SHOWN, POOLED)))
    rows = rows[np.argsort(drawn.km2[rows])]
    records = np.cumsum(np.maximum(flat.nodes.count[rows], 0.0))
    if not len(rows):
        return None
    sides = (release.nodes.hi - release.nodes.lo)[release.nodes.leaf, :2] / domain.side
    finest = sides.prod(axis=1).min() * drawn.km2[flat.nodes.levels[0]].sum()  # a map of a window
    return float(max(drawn.km2[rows][np.searchsorted(records, records[-1] / 2)], finest))


def _windows(release: PointRelease) -> RangeAnswers | None:
    """Counts of the whole area in the windows of the period that a page lists."""
    domain = release.domain
    if domain.time is None:
        return None
    whole, cuts = domain.without_time, pairwise(window_cuts(domain))
    return release.count(np.array([[*whole.lower, low, *whole.upper, high] for low, high in cuts]))


def _following(prior: Prior, domain: Domain, records: int) -> DataHandle:
    """Public synthetic records that lie as a prior says."""
    codes = prior.sample(min(records, MAX_RECORDS), np.random.default_rng(0))
    places = domain.to_coordinates(unmorton(codes, domain.dims) + 0.5)
    return from_points(places, domain, public=True)


def expected_by_bound(
    domain: Domain,
    method: str,
    epsilon: float,
    records: int,
    per_unit: float,
    **parameters: Any,
) -> list[Bound]:
    """Compare bounds K: noise against records left out, at the same price per unit.

    Args:
        records: the owner's guess of the records, before any is left out.
        per_unit: the owner's guess of the mean records of one unit, at least 1.
    """
    rows = []
    for bound in BOUNDS:
        counted = retained_share(bound, per_unit)
        how = {"max_per_unit": bound, "per_unit": per_unit, **parameters}
        expected = expectation(domain, method, epsilon, records, **how)
        (medium,) = (row for row in expected.rows if row.size == "medium")
        rows.append(Bound(bound, counted, medium.error))
        if counted > 0.999:
            break
    return rows


def retained_share(bound: int, per_unit: float) -> float:
    """The share of records that a bound keeps, where a unit's records are geometric.

    It is 1 − (1 − 1/m)^K for a mean of m: the sum of P(at least j records) over j ≤ K as a share of
    the sum over all j.

    >>> retained_share(1, 1.0), retained_share(1, 4.0), round(retained_share(10, 4.0), 3)
    (1.0, 0.25, 0.944)
    """
    if not per_unit >= 1 or math.isinf(per_unit):
        raise ParameterError(f"{per_unit:g} records per unit: give 1 or more")
    return 1.0 - (1.0 - 1.0 / per_unit) ** bound
