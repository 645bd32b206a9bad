"""Counts of pairs of areas, level by level, opened where a pair stands out from the noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpviz.errors import ParameterError
from dpviz.methods.flows.base import FlowMethod, parameter, register
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import Noise, geometric
from dpviz.releases.flows.frame import Flows
from dpviz.trees.consistency import least_squares
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int
from dpviz.trees.wholes import exact_sums

DISJOINT_PAIRS = (
    "disjoint cells (pair, step, category), sensitivity 1; pairs chosen from noisy counts"
)
"""Reason why one level of all steps and kinds costs its share once: a record is in one cell."""

MAX_COUNTS = 4_000_000
"""Most counts (pairs × steps × kinds) of one release, so that its file can be read again."""

MIN_SHARE = 1e-5
"""Least share of epsilon of a level: noise of a larger scale than the sampler's is not drawn."""


@register
@dataclass(frozen=True, kw_only=True)
class PairCounts(FlowMethod):
    """Noisy counts of pairs of areas, divided level by level where they exceed the noise.

    The levels after F. Boninsegna, F. Silvestri: Differential Privacy Releasing of Hierarchical
    Origin/Destination Data with a TopDown Approach. PETS 2025; consistency after M. Hay, V.
    Rastogi, G. Miklau, D. Suciu: Boosting the Accuracy of Differentially Private Histograms Through
    Consistency. VLDB 2010.

    Privacy: a record is in one pair of each level, of one step and kind, so it moves one count of
    the pairs that a level measures by one, and the level costs its share by the geometric
    mechanism, whichever pairs it measures. Which ones it measures follows from the noisy counts of
    the levels above, so that the shares add up to ε (adaptive sequential composition); least
    squares and sums are post-processing.

    A pair is divided where its noisy count, all steps and kinds together, is at least
    ``threshold`` noise scales: below, its parts would be noise. A part of an undivided pair gets an
    even share of its count. Each level has ``growth`` times the share of the level above, the best
    of a scan on two public data sets (assets/docs/results/flows.md).

    Do not use it for a few pairs that are known beforehand: count their areas by themselves.

    >>> from dpviz.methods import method
    >>> method("pairs").weights(3), method("all-pairs").weights(3)
    ([1.0, 2.0, 4.0], [0.0, 0.0, 1.0])
    """

    name: ClassVar[str] = "pairs"
    title: ClassVar[str] = "Counts of pairs of areas"
    paper: ClassVar[str] = (
        "F. Boninsegna, F. Silvestri: Differential Privacy Releasing of Hierarchical "
        "Origin/Destination Data with a TopDown Approach. PETS 2025"
    )
    presets: ClassVar[dict[str, dict[str, Any]]] = {"all-pairs": {"every_pair": True}}
    advice: ClassVar[str] = "A few pairs that are known beforehand."

    growth: float = parameter(
        2.0, "Share of epsilon of a level, relative to the level above", 0.1, 100.0, log=True
    )
    threshold: float = parameter(
        3.0, "Least count of a pair whose parts are measured, in noise scales", 0.0, 100.0
    )
    every_pair: bool = parameter(
        False, "Measure all pairs of finest areas with the whole epsilon, and no other pairs"
    )

    def weights(self, levels: int) -> list[float]:
        """Relative shares of levels of pairs, coarsest first; 0 for one that is not measured."""
        if self.every_pair:
            return [0.0] * (levels - 1) + [1.0]
        return [float(self.growth**level) for level in range(levels)]

    def check(self, flows: Flows, parts: int) -> None:
        """Refuse a frame if the pairs that are always measured exceed the limit of a release."""
        weights = [weight for weight in self.weights(len(flows.depths)) if weight]
        if min(weights) < MIN_SHARE * math.fsum(weights):
            raise ParameterError(
                f"growth={self.growth:g} over {len(weights)} levels leaves almost no epsilon for "
                "one of them: choose a value nearer to 1, or fewer levels"
            )
        first = 0
        depths = flows.depths if self.every_pair else flows.depths[:1]
        for one, two in depths:
            sizes = flows.origins.slices[one], flows.destinations.slices[two]
            first += math.prod(part.stop - part.start for part in sizes)
        if first * parts > MAX_COUNTS:
            remedy = "method pairs" if self.every_pair else "areas with a coarser level above them"
            raise ParameterError(
                f"{first:,} pairs of areas in {parts:,} steps and kinds: a release of flows holds "
                f"up to {MAX_COUNTS:,} counts, use {remedy} or longer steps"
            )

    def build(
        self, flows: Flows, parts: int, cells: Int, counts: Int, budget: Budget, noise: Noise
    ) -> tuple[Decomposition, Float]:
        """Build the release as the class docstring describes."""
        weights = self.weights(len(flows.depths))
        unmeasured = weights.count(0.0)
        shares = budget.split(
            weights[unmeasured:],
            [f"pairs of level {name}" for name in flows.levels[unmeasured:]],
            mechanism="geometric",
            why=DISJOINT_PAIRS,
        )
        origin = destination = above = np.array([-1])
        room, levels = MAX_COUNTS // parts, []
        for level in range(len(flows.depths)):
            owner, origin, destination = flows.below(level, origin, destination)
            start, n = MAX_COUNTS // parts - room, len(owner)
            noisy, variance = np.zeros((parts, n), dtype=np.int64), np.full(n, np.inf)
            divided = np.ones(n, dtype=np.bool_)
            room -= n
            if level >= unmeasured:
                share = shares[level - unmeasured]
                exact = exact_counts(flows, level, (origin, destination), parts, cells, counts)
                noisy, loads = geometric(noise, share, exact)
                variance, least = loads[0], self.threshold * math.sqrt(parts) / share.epsilon
                divided = self._divided(flows, level, origin, destination, noisy, least, room)
            levels.append((origin, destination, above[owner], noisy, variance))
            above = np.flatnonzero(divided) + start
            origin, destination = origin[divided], destination[divided]
            if len(above) == 0:
                break
        columns = [np.concatenate(each, axis=-1) for each in zip(*levels, strict=True)]
        return _consistent(flows, *columns)

    def _divided(
        self,
        flows: Flows,
        level: int,
        origin: Int,
        destination: Int,
        noisy: Int,
        least: float,
        room: int,
    ) -> Any:
        """Mask of pairs to divide: large noisy counts, the largest first while there is room."""
        total = noisy.sum(axis=0)
        divided = total >= least
        if level + 1 == len(flows.depths):
            return np.zeros_like(divided)
        order = np.flatnonzero(divided)[np.argsort(-total[divided], kind="stable")]
        size = flows.fanout(level + 1, origin[order], destination[order])
        divided[order[np.cumsum(size) > room]] = False
        return divided


def exact_counts(
    flows: Flows, level: int, ends: tuple[Int, Int], parts: int, cells: Int, counts: Int
) -> Int:
    """Exact records in some pairs of a level, int64 (parts, n): private.

    Args:
        ends: rows of their areas of origin and of destination, (n,) each, different pairs.
        parts: kinds times steps.
        cells: part, origin and destination of the occupied cells, (k, 3).
    """
    one, two = flows.depths[level]
    width = len(flows.destinations)
    pair = ends[0] * width + ends[1]
    order = np.argsort(pair)
    wanted = flows.origins.ancestors(one)[cells[:, 1]] * width
    wanted += flows.destinations.ancestors(two)[cells[:, 2]]
    place = np.minimum(np.searchsorted(pair, wanted, sorter=order), len(pair) - 1)
    node = order[place]
    inside = pair[node] == wanted
    cell = cells[inside, 0] * len(pair) + node[inside]
    # bincount sums in float64, exact below 2^53 records.
    sums = np.bincount(cell, weights=counts[inside], minlength=parts * len(pair))
    return sums.astype(np.int64).reshape(parts, -1)


def _consistent(
    flows: Flows, origin: Int, destination: Int, parent: Int, noisy: Float, variance: Float
) -> tuple[Decomposition, Float]:
    """Least squares of each part; sums that hold to the last digit."""
    every = [least_squares(parent, row, variance) for row in noisy.astype(np.float64)]
    counts = np.stack([exact_sums(parent, estimate) for estimate, _ in every])
    return flows.nodes(origin, destination, parent, counts[0], every[0][1]), counts
