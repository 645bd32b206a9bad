"""Joint noise of several counts of one release: covariances, differences, ratios and trends.

A count is a weighted sum of leaves, and the noise of two counts of one release is correlated: they
share measurements, and least squares moves estimates against each other. Where every node was
measured with independent noise of a known variance and least squares is all that follows, as of
areas and streets, the covariance is exact. With W = diag(1/variance) and A the node–leaf matrix the
estimates of leaves are Σ·AᵀWy, Σ = (AᵀWA)⁻¹. Measurements ỹ of b·variance at the leaves and 0
elsewhere have AᵀWỹ = b, so least squares of ỹ gives AΣb: the covariance of b·x with every node.

Parts of a release, by kind or by step, have independent noise, so that their covariances add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dpviz.errors import DomainError, ParameterError, ReleaseError
from dpviz.releases.answers import INTERVAL_SDS, Tabular
from dpviz.releases.points.quotient import quotients
from dpviz.releases.points.range_count import Cover
from dpviz.releases.roads.path_variance import common_sd
from dpviz.releases.subset import Subset, answer_to, leaf_weights
from dpviz.roads.forest import TINY
from dpviz.trees.consistency import geometric_variance, least_squares, upward, variances
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int

EXACT, INDEPENDENT = "exact", "independent parts"
ADDED, QUADRATURE, REPLICATES = "added sds", "quadrature", "replicates"
NOISE_ONLY = "noise only"
"""Bases of an interval. The first three are never too narrow for the noise; the next two are
estimates. The last is of whole numbers from 0: exact for the noise before they were made, silent on
what that moved."""

VARIANCE_ROUNDING = 1e-9
"""Relative difference of variances that is rounding."""


@dataclass(frozen=True)
class Estimate(Tabular):
    """A number derived from counts, with its 95 % interval.

    Attributes:
        value: the estimate; NaN where there are not enough records for a ratio.
        low, high: the interval, for the noise and for uneven records in cut cells and areas.
        basis: basis of the interval: "exact" covariances, "independent parts", "added sds" (a
            bound), "quadrature" or "replicates" (estimates), "noise only" (no bias of whole
            numbers).
    """

    value: float
    low: float
    high: float
    basis: str

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    @property
    def noise_sd(self) -> float:
        """Half the width of the interval in standard deviations."""
        return self.half_width / INTERVAL_SDS


class Replicated(Protocol):
    """Simulated errors of a release, see :mod:`dpviz.evaluation.replicates`."""

    def errors(self, subset: Subset) -> Float:
        """Errors of a count, one per replicate."""


@dataclass(frozen=True)
class Joint:
    """Counts of m subsets and their joint noise.

    Attributes:
        count, uniformity_sd: of each subset, float64 (m,).
        known: covariances that are exact, or of independent parts, float64 (m, m).
        bound: largest absolute covariances of the remaining noise, float64 (m, m).
        basis: see :class:`Estimate`.
    """

    count: Float
    uniformity_sd: Float
    known: Float
    bound: Float
    basis: str

    def combined(self, weights: ArrayLike) -> Estimate:
        """Weighted sum of the counts."""
        weight = np.asarray(weights, dtype=np.float64)
        size = np.abs(weight)
        noise = max(float(weight @ self.known @ weight + size @ self.bound @ size), 0.0)
        # What one count of a cut cell has too much the other may have too little.
        cut = float(size @ self.uniformity_sd)
        value, half = float(weight @ self.count), INTERVAL_SDS * float(np.hypot(noise**0.5, cut))
        return Estimate(value, value - half, value + half, self.basis)


def joint(
    release: Any,
    subsets: Sequence[Any],
    *,
    quadrature: bool = False,
    replicates: Replicated | None = None,
    rows: Sequence[Int] | None = None,
) -> Joint:
    """Counts of several subsets of one release, and their joint noise.

    Args:
        subsets: each a :class:`Subset`, or a place alone.
        quadrature: take the noise of disjoint cells of one tree as independent: an estimate.
        replicates: take covariances from these, scaled up where a count's variance is below the
            release's own: an estimate.
        rows: parts of each subset, in place of its period and kind.

    Raises:
        DomainError: no such kind or period; or counts of cells that overlap, for quadrature.
        DataError: no such area, or no path of the graph.
    """
    asked = [each if isinstance(each, Subset) else Subset(each) for each in subsets]
    if rows is None:
        rows = [release.part_rows(each.period, each.kind) for each in asked]
    m = len(asked)
    count, cut, known, bound = np.zeros(m), np.zeros(m), np.zeros((m, m)), np.zeros((m, m))
    by_part: dict[int, list[int]] = {}
    for at, each in enumerate(rows):
        for row in each.ravel().tolist():
            by_part.setdefault(row, []).append(at)
    measured = measured_variances(release)
    covers: dict[Any, Cover] = {}
    for row, which in sorted(by_part.items()):
        part, pairs = release.parts[row], np.ix_(which, which)
        answers = []
        for at in which:
            period = asked[at].period if release.steps is None else None
            answers.append(answer_to(part, asked[at].place, period, covers))
        noise_sd = np.sqrt([each.variance for each in answers])
        count[which] += [each.count for each in answers]
        cut[which] += [each.uniformity_sd for each in answers]
        leaves = [leaf_weights(part.nodes, each.cover) for each in answers]
        if measured is not None:
            known[pairs] += covariances(part.nodes, measured[row], leaves)
        elif all(np.array_equal(leaves[0], other) for other in leaves[1:]):
            known[pairs] += np.outer(noise_sd, noise_sd)
        elif quadrature:
            if (np.count_nonzero(leaves, axis=0) > 1).any():
                raise DomainError("quadrature of counts that share cells: leave quadrature out")
            known[pairs] += np.diag(noise_sd**2)
        else:
            bound[pairs] += np.outer(noise_sd, noise_sd)
    if replicates is not None:
        errors = np.stack([replicates.errors(each) for each in asked])
        shared = errors @ errors.T / errors.shape[1]
        # On small data replicates have smaller trees than the release, and too little noise.
        stated = np.diag(known) + np.diag(bound)
        larger = np.sqrt(np.maximum(stated / np.maximum(np.diag(shared), TINY), 1.0))
        return Joint(count, cut, shared * np.outer(larger, larger), np.zeros((m, m)), REPLICATES)
    moved = release.kind == "areas" and release.header.parameters.get("whole")
    linear = NOISE_ONLY if moved else EXACT
    basis = linear if measured is not None else QUADRATURE if quadrature else INDEPENDENT
    return Joint(count, cut, known, bound, ADDED if bound.any() else basis)


def ratio_of(both: Joint) -> Estimate:
    """The first count over the second, with Fieller's interval for noise and cut areas."""
    covariance = both.known[0, 1] - both.bound[0, 1] - np.prod(both.uniformity_sd)
    above, below = np.diag(both.known) + np.diag(both.bound) + both.uniformity_sd**2
    columns = (np.array([each]) for each in (above, below, covariance))
    of_above, of_below, of_both = columns
    answer = quotients(
        both.count[:1], both.count[1:], (of_above, of_below, of_both), limits=(0.0, np.inf)
    )
    value, low, high = (float(each[0]) for each in (answer.value, answer.low, answer.high))
    return Estimate(value, low, high, both.basis)


def trend_of(release: Any, subset: Any, weights: ArrayLike | None = None) -> Estimate:
    """A weighted sum over steps of time; by default the least-squares slope, records per step.

    Raises:
        DomainError: a release without steps, or a period of one step.
        ParameterError: another number of weights than of steps.
    """
    chosen = subset if isinstance(subset, Subset) else Subset(subset)
    if release.steps is None:
        raise DomainError("a trend needs steps of time: build with time and every (--every)")
    rows = release.part_rows(chosen.period, chosen.kind)
    steps = rows.shape[1]
    if steps < 2:
        raise DomainError("a trend needs at least two steps: give a longer period")
    if weights is None:
        time = np.arange(steps) - (steps - 1) / 2
        weights = time / (time @ time)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (steps,) or not np.isfinite(weights).all():
        raise ParameterError(f"weights of shape {weights.shape}: give one number per step, {steps}")
    each = joint(release, [Subset(chosen.place)] * steps, rows=list(rows.T))
    return each.combined(weights)


def covariances(nodes: Decomposition, measured: Float, leaves: Sequence[Float]) -> Float:
    """Exact covariances of weighted sums of leaves after least squares, (m, m).

    ``measured``: variance of the noise that each node was measured with; ``leaves``: weights of
    each sum, 0 at inner nodes; (n,) each.
    """
    weights = np.stack(leaves)
    at_leaves = np.where(nodes.leaf, measured, 0.0)
    solved = [least_squares(nodes.parent, each * at_leaves, measured)[0] for each in weights]
    shared = weights @ common_sd(nodes, measured)
    return np.asarray(weights @ np.stack(solved).T + np.outer(shared, shared))


def measured_variances(release: Any) -> list[Float] | None:
    """Noise variances of the measurements, (n,) for each part; None where they are not known.

    Streets store them. Those of areas follow from the shares of their levels in the header; they
    count as known if least squares gives the release's own variances with them.
    """
    each: list[Float] = [part.nodes.measured for part in release.parts]
    if release.kind == "roads":
        return [np.maximum(variance, TINY) for variance in each]
    if release.kind != "areas":
        return None
    scale_squared = release.header.extra.get("scale_squared")
    if scale_squared:  # only the finest areas were measured
        finest = np.where(release.parts[0].nodes.leaf, scale_squared, np.inf)
        return [finest] * len(release.parts)
    shares = {row["purpose"]: row["epsilon"] for row in release.header.budget}
    names = [f"level {name}" for name in release.frame.levels]
    if any(shares.get(name, 0.0) <= 0 for name in names):
        return None
    scale = release.header.steps / np.array([shares[name] for name in names])
    variance, frame = np.empty(len(release.frame)), release.frame
    for part, of_level in zip(frame.slices, geometric_variance(scale), strict=True):
        variance[part] = of_level
    after = variances(frame.parent, upward(frame.parent, np.zeros(len(frame)), variance)[1])
    same = all(
        np.allclose(part.nodes.variance, after, VARIANCE_ROUNDING, 0.0) for part in release.parts
    )
    return [variance] * len(release.parts) if same else None


def require_known(both: Joint) -> None:
    """Refuse a covariance of a release that states variances of single counts only."""
    if both.basis in (ADDED, NOISE_ONLY):
        raise ReleaseError(
            "the covariance of these counts is not known: use compare, ratio or replicates"
        )
