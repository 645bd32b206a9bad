"""A public prior: how public data say that records share out among the children of a cell.

A prior is public, and everything else here sees noisy numbers only: it costs no ε.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpviz.trees.lattice import Codes, Float

FINEST_LEVEL = 13
"""The finest level that masses are kept on: 4^13 cells; each is even inside."""

# Tuned on halves of real sets, see assets/docs/results/prior.md.
KINDS = ((0.0, 1.0), *itertools.product((1 / 3, 2 / 3, 1.0), (0.1, 1.0, 10.0)))
"""Candidates (γ, a): children share as (mass + a)^γ; the first is area."""

MIN_EVIDENCE_SDS, MIN_GAIN = 2.5, 1.15
"""z and least gain: a prior is used if its misfit, z deviations up, is this much below area's."""

NEXT_LEVEL_WEIGHT = 0.5
"""Weight of the families of a level in the fit of the next one."""

MAX_MISFIT = 0.2
"""Misfit from which on a fit is not trusted."""

LAND = "land"
"""Source, and kind, of a prior from the bundled shapes of land."""

STATED = ("kind", "sha256", "weight")
"""Facts of a prior that the header of a release states."""

MAX_TIMES = 16.0
"""Largest factor of thresholds."""


@dataclass(frozen=True, eq=False)
class Prior:
    """Public masses on the lattice of a domain, which :func:`dpviz.prior` reads.

    Masses lie along the Morton curve, evenly between the places at which their density changes, so
    that the mass of any cell of a tree is a difference of two values.

    Attributes:
        place: positions on the curve in ascending order, (k,).
        before: mass before each, (k,).
        length: positions on the whole curve.
        facts: kind and hash of the source, its column of weights, the domain's bounds and CRS.
    """

    place: Float
    before: Float
    length: float
    facts: dict[str, Any]

    @property
    def stated(self) -> dict[str, Any]:
        """Facts for the header of a release."""
        return {name: self.facts[name] for name in STATED if name in self.facts}

    @classmethod
    def of_cells(
        cls, codes: Codes, level: ArrayLike, mass: Float, bits: int, facts: dict[str, Any]
    ) -> Prior:
        """Build a prior from masses of cells in the plane, which may overlap.

        Args:
            codes: Morton codes of a place in each cell, (m,).
            level: level of each, at most :data:`FINEST_LEVEL`.
            mass: mass of each, from 0.
            bits: bits per axis of the lattice.
            facts: see the class.
        """
        shift = np.broadcast_to(2 * (bits - np.asarray(level, dtype=np.int64)), codes.shape)
        size = 2.0**shift
        start = (codes >> shift.astype(np.uint64)).astype(np.float64) * size
        place, which = np.unique(np.concatenate([start, start + size]), return_inverse=True)
        change = np.concatenate([mass / size, -mass / size])
        density = np.maximum(np.cumsum(np.bincount(which, change)), 0.0)
        before = np.concatenate([[0.0], np.cumsum(density[:-1] * np.diff(place))])
        return cls(place, before, 4.0**bits, facts)

    def masses(self, codes: Codes, level: int) -> Float:
        """Mass of cells of a level, given by the leading bits of their codes."""
        size = self.length / 4.0**level
        start = codes * size  # exact: at most 52 bits
        ends = np.interp(np.concatenate([start, start + size]), self.place, self.before)
        first, last = np.split(ends, 2)
        return np.asarray(np.maximum(last - first, 0.0))

    def sample(self, n: int, random: np.random.Generator) -> Codes:
        """Positions on the curve of records that lie as the prior says, uint64 (n,)."""
        at = np.interp(random.random(n) * self.before[-1], self.before, self.place)
        return np.asarray(np.minimum(at, self.length - 1.0).astype(np.uint64))


class Fit(NamedTuple):
    """Fit of the prior to the noisy families of one level.

    Attributes:
        power, added: γ and a; γ = 0 is area, where the prior is not used.
        misfit: φ: a child's share q of a total T has the variance q(1 − q)(T + φT²).
        gain: lower confidence limit of the ratio of an even spread's misfit to the prior's.
    """

    power: float = 0.0
    added: float = 1.0
    misfit: float = 1 / 3
    gain: float = 1.0

    @property
    def used(self) -> bool:
        """True if the prior describes the level better than an even spread does."""
        return self.power > 0

    @property
    def trusted(self) -> bool:
        """True if the fit is close enough to decide what is measured, and to move estimates."""
        return self.used and self.misfit < MAX_MISFIT

    @property
    def times(self) -> float:
        """Factor of the thresholds: leaves may hold more if the prior says how records lie."""
        return min(self.gain, MAX_TIMES) if self.trusted else 1.0

    def shares(self, mass: Float) -> Float:
        """Shares of the children of cells from their masses, (f, β)."""
        weight = (mass + self.added) ** self.power
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))


class Fitting:
    """Sums over families, level after level, from which each level's fit follows."""

    def __init__(self) -> None:
        self.misfit, self.doubt, self.weight = np.zeros((3, len(KINDS)))
        self.fit = Fit()

    def add(self, count: Float, variance: Float, mass: Float) -> Fit:
        """Fit the next level.

        With shares q of a family's noisy total Y, Σ(y − qY)² less what noise adds to it is an
        unbiased estimate of the misfit. Each family weighs about 1/Y², those that noise hides by
        their Y² instead, so that thousands of empty ones add no doubt.

        Args:
            count: noisy counts of families, (f, β).
            variance: their variances.
            mass: their masses.
        """
        total, noise = count.sum(axis=1), variance.sum(axis=1)
        seen = np.maximum(total, 0.0) ** 2
        scale = seen / (seen + 4.0 * noise) ** 2
        square = scale * (total**2 - noise)
        terms, weights = np.empty((2, len(KINDS), len(count)))
        for kind, (power, added) in enumerate(KINDS):
            share = Fit(power, added).shares(mass)
            even = (share**2).sum(axis=1)
            away = ((count - share * total[:, None]) ** 2).sum(axis=1)
            away -= (variance * (1.0 - 2.0 * share)).sum(axis=1) + noise * even
            terms[kind], weights[kind] = scale * away, square * (1.0 - even)
        self.misfit = NEXT_LEVEL_WEIGHT * self.misfit + terms.sum(axis=1)
        self.weight = NEXT_LEVEL_WEIGHT * self.weight + weights.sum(axis=1)
        self.doubt = NEXT_LEVEL_WEIGHT**2 * self.doubt + ((terms[0] - terms) ** 2).sum(axis=1)
        self.fit = self._best()
        return self.fit

    def _best(self) -> Fit:
        best = int(np.argmin(self.misfit))
        area, misfit = self.misfit[0], max(self.misfit[best], 0.0)
        limit = misfit + MIN_EVIDENCE_SDS * math.sqrt(self.doubt[best])
        if area <= MIN_GAIN * limit or self.weight[best] <= 0:
            return Fit()
        return Fit(*KINDS[best], misfit / self.weight[best], area / limit)
