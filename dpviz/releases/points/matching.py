"""Find the leaf pairs of two owners' releases that may hold matching records.

Private record matching by blocking (A. Inan, M. Kantarcioglu, G. Ghinita, E. Bertino: Private
record matching using differential privacy, EDBT 2010; G. Cormode et al., ICDE 2012, §8.3): pairs of
leaves too far apart to hold a match are eliminated, and only the rest goes to an expensive secure
computation. Here are releases only, so that this costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.checks import require
from dpviz.domain import Domain
from dpviz.domain.rectangles import limits_text, numbers_of
from dpviz.errors import ParameterError
from dpviz.lazy import pa
from dpviz.releases.counts import CountRelease, PointRelease
from dpviz.trees.boxpairs import METRICS, near_pairs
from dpviz.trees.lattice import Float, Int

PADDINGS = ("upward", "noisy")
"""How many records a leaf brings to the secure computation. "upward": its noisy count and a margin,
so that dummies hide its size and no record is left out. "noisy": its noisy count, so that dummies
fill up to it, and records above it are suppressed."""

BLOCK = 1 << 20
"""Number of pairs summed up at once."""

MAX_PAIRS = 50_000_000
"""Public cap on the pairs of leaves that are listed."""

FAILURE = 1e-6
"""Default probability that the margins of all leaves together fall short of a record."""

GUARANTEE = (
    "Each of the two releases keeps its own guarantee, and none if it is marked NOT PRIVATE; "
    "which pairs are compared follows from the two, at no further price. The matches that the "
    "secure computation finds, and records that are suppressed, are outside of it: see X. He, A. "
    "Machanavajjhala, C. Flynn, D. Srivastava, Composing Differential Privacy and Secure "
    "Computation, CCS 2017."
)
"""Scope of the guarantee of a matching plan."""

_SLACK = 1e-6  # in lattice steps: far more than the rounding of a coordinate, far less than a step


@dataclass(frozen=True, eq=False, repr=False)
class Matching:
    """Leaf pairs of two releases that may hold a match, and the cost of comparing them.

    Attributes:
        leaves_a, leaves_b: node rows of the leaves, int64 of shape (k,) and (m,).
        first, second: places in these of each pair left, int32 of shape (pairs,).
        padded_a, padded_b: records that each leaf brings, dummies among them, int64.
        noisy_a, noisy_b: noisy records of each release.
        failure: at most this is the probability that a record is suppressed; None where it is not
            known, or where records are suppressed as a rule.
    """

    leaves_a: Int
    leaves_b: Int
    first: Int
    second: Int
    padded_a: Int
    padded_b: Int
    noisy_a: float
    noisy_b: float
    within: tuple[float, ...]
    metric: str
    padding: str
    failure: float | None

    def __repr__(self) -> str:
        return f"Matching({self.pairs:,} pairs of leaves within {limits_text(self.within)})"

    @property
    def pairs(self) -> int:
        """Number of leaf pairs that remain."""
        return len(self.first)

    @cached_property
    def compared(self) -> float:
        """Record pairs that the secure computation compares, including dummies."""
        return compared(self, self.padded_a, self.padded_b)

    @property
    def reduction_ratio(self) -> float:
        """1 − compared ÷ (|A|·|B|), with noisy |A| and |B|; negative where padding costs more.

        0 where the releases hold no records by their noisy counts.
        """
        everything = self.noisy_a * self.noisy_b
        return 1 - self.compared / everything if everything > 0 else 0.0

    @property
    def dummies(self) -> tuple[float, float]:
        """Dummy records of each side, by the noisy counts: the cost of padding."""
        return (
            max(float(self.padded_a.sum()) - self.noisy_a, 0.0),
            max(float(self.padded_b.sum()) - self.noisy_b, 0.0),
        )

    def to_arrow(self) -> pa.Table:
        """One row per remaining pair: node rows of both releases, and records of each leaf."""
        return pa.table(
            {
                "node_a": self.leaves_a[self.first].astype(np.int32),
                "node_b": self.leaves_b[self.second].astype(np.int32),
                "records_a": self.padded_a[self.first],
                "records_b": self.padded_b[self.second],
            }
        )


def match(
    release_a: PointRelease,
    release_b: PointRelease,
    within: float | Sequence[float],
    *,
    metric: str = "max",
    padding: str = "upward",
    failure: float = FAILURE,
) -> Matching:
    """Find the leaf pairs of two owners' releases that may hold a match, from these alone.

    Two records match where they differ by at most ``within`` along every axis ("max"), or where the
    differences in units of ``within`` have a Euclidean norm of at most 1. Differences are in the
    units of the domain's CRS.

    Args:
        release_a: a release of the one owner's records.
        release_b: a release of the other's, over the same public domain.
        within: the distance, for all axes or one for each.
        metric: "max" or "euclidean".
        padding: "upward" or "noisy", see :data:`PADDINGS`.
        failure: with "upward", the probability up to which margins may fall short of a record; it
            holds where leaf counts are fresh noise on exact counts (:attr:`Matching.failure`).

    Raises:
        ParameterError: releases of other kinds or domains, a distance that is negative or of the
            wrong length, an unknown metric or padding, or more pairs than the public cap.
    """
    for name, release in (("release_a", release_a), ("release_b", release_b)):
        require(release, CountRelease, name, ParameterError)
    steps = lattice_steps(_same_domain(release_a, release_b), within)
    if metric not in METRICS:
        raise ParameterError(f"metric {metric!r}: choose one of {', '.join(METRICS)}")
    if padding not in PADDINGS:
        raise ParameterError(f"padding {padding!r}: choose one of {', '.join(PADDINGS)}")
    if not 0 < failure < 1:
        raise ParameterError(f"failure={failure:g}: give a probability between 0 and 1")
    rows = [np.flatnonzero(release.nodes.leaf) for release in (release_a, release_b)]
    both = [
        (release.nodes.lo[chosen], release.nodes.hi[chosen])
        for release, chosen in zip((release_a, release_b), rows, strict=True)
    ]
    first, second, total = [], [], 0
    for a, b in near_pairs(*both[0], *both[1], steps, metric):
        total += len(a)
        if total > MAX_PAIRS:
            raise ParameterError(
                f"more than {MAX_PAIRS:,} pairs of leaves are within {limits_text(within)}: choose "
                "a smaller distance, or releases with fewer leaves"
            )
        first.append(a.astype(np.int32))
        second.append(b.astype(np.int32))
    share = failure / 2  # each side may fail with half of the probability
    stated = padding == "upward" and fresh_leaves(release_a) and fresh_leaves(release_b)
    return Matching(
        rows[0],
        rows[1],
        np.concatenate(first),
        np.concatenate(second),
        padded(release_a, rows[0], padding, share),
        padded(release_b, rows[1], padding, share),
        max(float(release_a.nodes.count[rows[0]].sum()), 0.0),
        max(float(release_b.nodes.count[rows[1]].sum()), 0.0),
        tuple(np.broadcast_to(np.ravel(within), len(steps)).astype(np.float64).tolist()),
        metric,
        padding,
        failure if stated else None,
    )


def compared(matched: Matching, sizes_a: Int | Float, sizes_b: Int | Float) -> float:
    """Number of record pairs in the remaining leaf pairs, for leaves of these sizes."""
    inner = np.zeros(len(sizes_a))
    for start in range(0, len(matched.first), BLOCK):  # a hundred million pairs take a second
        part = slice(start, start + BLOCK)
        inner += np.bincount(
            matched.first[part], sizes_b[matched.second[part]], minlength=len(sizes_a)
        )
    return float(inner @ sizes_a)


def lattice_steps(domain: Domain, within: float | Sequence[float]) -> Float:
    """Distance in lattice steps along each axis, rounded up slightly so that no match is lost.

    Raises ParameterError: not one number, nor one for each axis; negative or not finite.
    """
    values = numbers_of(within, "distances", "give one, or one for each column").ravel()
    if len(values) not in (1, domain.dims):
        raise ParameterError(
            f"within has {len(values)} distances: give one, or {domain.dims} for the columns "
            f"{', '.join(domain.columns)}"
        )
    if not np.isfinite(values).all() or (values < 0).any():
        raise ParameterError(f"within {limits_text(within)}: give distances that are not negative")
    steps = np.broadcast_to(values, domain.dims) / np.subtract(domain.upper, domain.lower)
    steps = np.minimum(steps, 1.0) * domain.side
    return np.where(steps > 0, steps * (1 + 1e-12) + _SLACK, 0.0)


def padded(release: PointRelease, rows: Int, padding: str, failure: float) -> Int:
    """Records that each leaf sends: its noisy count, at least 0; "upward" adds a margin.

    The noise of a leaf is geometric with P(k) ∝ a^|k|, so it takes away more than s records with
    probability a^{s+1} / (1 + a); margins are such that all leaves together do with ``failure`` at
    most. Of estimates after post-processing the margin is that of noise of the same variance.
    """
    count = np.round(release.nodes.count[rows])
    if padding == "upward":
        inverse = 1 / np.maximum(release.nodes.variance[rows], 1e-9)
        # Solve variance = 2a / (1 − a)²: a = 1 + 1/v − √((1 + 1/v)² − 1), without its cancellation.
        a = 1 / (1 + inverse + np.sqrt(inverse * (inverse + 2)))
        beyond = np.log(failure * (1 + a) / len(rows)) / np.log(a)
        count = count + np.maximum(np.ceil(beyond) - 1, 0)
    return np.asarray(np.maximum(count, 0), dtype=np.int64)


def fresh_leaves(release: PointRelease) -> bool:
    """Return whether leaf counts are exact counts plus geometric noise drawn after the tree.

    Then they are whole numbers of one variance, paid by a row of the budget; shrinkage, least
    squares and pruning leave other numbers.
    """
    leaf = release.nodes.leaf
    count, variance = release.nodes.count[leaf], release.nodes.variance[leaf]
    paid = any(
        row["purpose"] == "leaf counts" and row["mechanism"] == "geometric"
        for row in release.header.budget
    )
    whole = bool((count == np.round(count)).all() and (variance == variance[0]).all())
    return paid and whole and not release.header.parameters.get("prune")


def facts(matching: Matching) -> dict[str, Any]:
    """Plain values of a matching, for JSON; with recall for public data only."""
    dummies_a, dummies_b = matching.dummies
    return {
        "pairs": matching.pairs,
        "leaves_a": len(matching.leaves_a),
        "leaves_b": len(matching.leaves_b),
        "records_a": matching.noisy_a,
        "records_b": matching.noisy_b,
        "dummies_a": dummies_a,
        "dummies_b": dummies_b,
        "compared": matching.compared,
        "reduction_ratio": matching.reduction_ratio,
        "recall": None,
        "within": list(matching.within),
        "metric": matching.metric,
        "padding": matching.padding,
        "failure": matching.failure,
        "guarantee": GUARANTEE,
    }


def _same_domain(a: PointRelease, b: PointRelease) -> Domain:
    """The common public domain of both releases."""
    for release in (a, b):
        if release.kind != "points":
            raise ParameterError(f"a release of {release.kind}: match takes releases of points")
        if release.header.persons:
            raise ParameterError("a release of persons: match takes counts of records")
    if (a.domain.bounds, a.domain.crs) != (b.domain.bounds, b.domain.crs):
        texts = [f"{limits_text(each.domain.bounds)} ({each.domain.crs})" for each in (a, b)]
        raise ParameterError(
            f"domains {texts[0]} and {texts[1]}: both owners must build over one public domain"
        )
    clocks = [(each.step, each.cycle, each.cycle and each.zone) for each in (a.domain, b.domain)]
    if clocks[0] != clocks[1]:  # times are rounded to the middle of their steps
        raise ParameterError(
            "the times of both releases have different steps, cycles or zones: both owners must "
            "build over one public domain"
        )
    return a.domain
