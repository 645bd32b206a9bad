"""A public prior: how public data say that records share out among the quarters of a cell.

A prior is public, and everything else here sees noisy numbers only: it costs no ε.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpviz.trees.lattice import Codes, Float

LAND = "land"
"""Source, and kind, of a prior from the bundled shapes of land."""

FINEST_LEVEL = 13
"""The finest level that masses are kept on: 4^13 cells; each is even inside."""

# Tuned on halves of real sets, see assets/docs/results/prior.md.
ADDED = (0.1, 1.0, 10.0)
"""Candidates of a: quarters share as their masses + a."""

MIN_EVIDENCE_SDS, MIN_GAIN = 2.5, 1.15
"""z and least gain: a prior is used if its misfit, z deviations up, is this much below area's."""

NEXT_LEVEL_WEIGHT = 0.5
"""Weight of the families of a level in the fit of the next one."""

MAX_MISFIT = 0.2
"""Misfit from which on a fit is not trusted."""


@dataclass(frozen=True, eq=False)
class Prior:
    """Public masses along the Morton curve of a domain, which :func:`dpviz.prior` reads.

    They lie evenly between the places at which their density changes, so that the mass of any cell
    is a difference of two values.

    Attributes:
        place: positions on the curve in ascending order, (k,).
        before: mass before each, (k,).
        frame: bounds and CRS of the domain.
        facts: kind, hash and column of weights of the source, which a release states.
    """

    place: Float
    before: Float
    frame: tuple[Any, ...]
    facts: dict[str, Any]

    @classmethod
    def of_cells(cls, codes: Codes, size: Float, mass: Float, *described: Any) -> Prior:
        """Build a prior from cells, which may overlap: a code in each, positions in it, mass."""
        start = codes - codes % size  # exact: at most 52 bits
        place, which = np.unique(np.concatenate([start, start + size]), return_inverse=True)
        change = np.concatenate([mass / size, -mass / size])
        density = np.maximum(np.cumsum(np.bincount(which, change)), 0.0)
        return cls(place, np.append(0.0, np.cumsum(density[:-1] * np.diff(place))), *described)

    def masses(self, start: NDArray[Any], size: NDArray[Any] | int) -> Float:
        """Masses of cells, given by the first position in each and the number of positions."""
        first, last = (np.interp(at, self.place, self.before) for at in (start, start + size))
        return np.asarray(np.maximum(last - first, 0.0))

    def sample(self, n: int, random: np.random.Generator) -> Codes:
        """Positions on the curve of records that lie as the prior says, uint64 (n,)."""
        at = np.interp(random.random(n) * self.before[-1], self.before, self.place)
        return np.asarray(np.minimum(at, self.place[-1] - 1.0).astype(np.uint64))


class Fit(NamedTuple):
    """Fit of the prior to the noisy families of a level and of those above it.

    Attributes:
        used: 1 if the prior describes them better than an even spread does, else 0.
        added: a.
        misfit: φ: a child's share q of a total T has the variance q(1 − q)(T + φT²).
        gain: lower confidence limit of the ratio of an even spread's misfit to the prior's.
    """

    used: float = 0.0
    added: float = 1.0
    misfit: float = 1 / 3
    gain: float = 1.0

    @property
    def trusted(self) -> bool:
        """True if the fit is close enough to decide what is measured, and to move estimates."""
        return self.used > 0 and self.misfit < MAX_MISFIT

    def shares(self, mass: Float) -> Float:
        """Shares of the quarters of cells from their masses, (…, 4); even without the prior."""
        weight = self.used * mass + self.added
        return np.asarray(weight / weight.sum(axis=-1, keepdims=True))

    def spread(self, share: Float, total: Float) -> Float:
        """Variances of the records in parts of cells, from their shares and the cells' totals."""
        return share * (1.0 - share) * total * (1.0 + self.misfit * total)


class Fitting:
    """Sums over families, level after level, from which each level's fit follows."""

    def __init__(self) -> None:
        self.kinds = [Fit(), *(Fit(1.0, added) for added in ADDED)]
        self.sums = np.zeros((3, len(self.kinds)))

    def add(self, count: Float, variance: Float, mass: Float) -> Fit:
        """Fit the next level, from the noisy counts of families, variances and masses, (f, 4).

        With shares q of a family's noisy total Y, Σ(y − qY)² less what noise adds to it is an
        unbiased estimate of the misfit. Each family weighs about 1/Y², those that noise hides by
        their Y² instead, so that thousands of empty ones add no doubt.
        """
        total, noise = count.sum(axis=1, keepdims=True), variance.sum(axis=1)
        share = np.stack([fit.shares(mass) for fit in self.kinds])
        even = (share**2).sum(axis=2)
        away = ((count - share * total) ** 2 - variance * (1.0 - 2.0 * share)).sum(axis=2)
        seen = np.maximum(total[:, 0], 0.0) ** 2
        scale = seen / (seen + 4.0 * noise) ** 2
        terms = scale * (away - noise * even)
        weights = scale * (total[:, 0] ** 2 - noise) * (1.0 - even)
        self.sums *= NEXT_LEVEL_WEIGHT ** np.array([[1], [2], [1]])
        self.sums += [each.sum(axis=1) for each in (terms, (terms[0] - terms) ** 2, weights)]
        misfit, doubt, weight = self.sums
        best = int(np.argmin(misfit))
        least = max(misfit[best], 0.0)
        limit = least + MIN_EVIDENCE_SDS * np.sqrt(doubt[best])
        if misfit[0] <= MIN_GAIN * limit or weight[best] <= 0:
            return Fit()
        return self.kinds[best]._replace(misfit=least / weight[best], gain=misfit[0] / limit)
