"""Releases of counts of persons per slot, at (ε, δ): choice of the noise, and its cost.

Such a release measures vectors of counts, one for each of L levels; most have one level. One person
moves at most K entries of a level, each by one (:mod:`dpviz.private.load.persons`). Up to some K
pure noise of scale K/ε, divided among levels, is smaller, and is drawn: then the release is ε-DP
and costs no delta. Above it discrete Gaussian noise is smaller
(:mod:`dpviz.private.mechanisms.accounting`). ε, δ, K and L are public: so is the choice.

*Theorem. With the same Gaussian noise on all levels, their price is that of K·L slots.* A slot is
in one node of each level, and different slots of a person are in different nodes, as levels refine
slots; so one person moves all counts together by some v ∈ {0, 1}^d with at most K·L ones, and the
hockey stick of :func:`~dpviz.private.mechanisms.accounting.gaussian_delta` holds for every such v.
Where a level merges slots it moves by more than one, and this fails: no such level is measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpviz.errors import BudgetError, ParameterError
from dpviz.private.blocks import BlockNoise
from dpviz.private.budget import Budget, Share, per_record, positive_epsilon
from dpviz.private.handle import Handle, bound_words
from dpviz.private.load.persons import WEIGHT
from dpviz.private.mechanisms.accounting import gaussian_variance, require_claim, zcdp_variance
from dpviz.private.mechanisms.gaussian import checked_variance
from dpviz.releases.header import of_unit
from dpviz.trees.consistency import geometric_variance

SLOT_METHODS = "a table of areas, ugrid with its cells, or quadtree with its top level"
"""What counts slots alone."""


@dataclass(frozen=True)
class SlotNoise:
    """Noise on the counts of slots at (ε, δ).

    Attributes:
        epsilon, delta: the price for one person, as asked.
        k: most entries of a level that move, each by one: slots of a person, twice as many to
            replace one.
        bound: most slots of a person.
        levels: measured levels.
        share: share of pure noise's ε that the finest level gets.
        weighted: no slot is dropped, see :func:`~dpviz.private.load.persons.weights`.
    """

    epsilon: float
    delta: float
    k: int
    bound: int
    levels: int = 1
    share: float = 1.0
    weighted: bool = False

    @property
    def moved(self) -> int:
        """Most entries of all levels that move, each by one."""
        return self.k * self.levels

    @property
    def pure_variance(self) -> float:
        """Variance of pure noise on a count of the finest level."""
        return float(geometric_variance(self.k / self.epsilon / self.share))

    @property
    def gain(self) -> float:
        """Noise of pure counts of records divided by the noise that is drawn."""
        return math.sqrt(self.pure_variance) / self.sd

    @cached_property
    def variance(self) -> float | None:
        """The s² of discrete Gaussian noise; None where pure noise is as small or smaller.

        With weights always that of zCDP, as the hockey stick depends on a person's weights.
        """
        require_claim(self.delta, self.moved)
        if self.weighted:
            variance = zcdp_variance(self.epsilon, self.delta, self.moved)
            return checked_variance(variance * WEIGHT**2) / WEIGHT**2
        gaussian = gaussian_variance(self.epsilon, self.delta, self.moved)
        return None if self.pure_variance <= gaussian else checked_variance(gaussian)

    @property
    def drawn_variance(self) -> float | None:
        """The s² of the noise that is drawn, in steps of weights where there are weights."""
        step = WEIGHT if self.weighted else 1
        return None if self.variance is None else self.variance * step**2

    @property
    def spent_delta(self) -> float:
        """The delta that the release costs: none with pure noise."""
        return 0.0 if self.variance is None else self.delta

    @property
    def scale(self) -> float:
        """Price of a person divided by that of what a method may spend."""
        return self.k if self.variance is None else 1.0

    @property
    def mechanism(self) -> str:
        """Name of the distribution of the noise."""
        return "geometric" if self.variance is None else "discrete Gaussian"

    @property
    def sd(self) -> float:
        """Upper bound on the standard deviation of one count of the finest level."""
        return math.sqrt(self.pure_variance if self.variance is None else self.variance)

    @property
    def rho(self) -> float | None:
        """The ρ of zCDP, the second guarantee of Gaussian noise: K·L/(2s²)."""
        return None if self.variance is None else self.moved / (2.0 * self.variance)

    @property
    def words(self) -> str:
        """Counted records, noise and second guarantee, in words."""
        noise = "discrete Laplace noise, pure ε-DP"
        if self.rho is not None:
            noise = f"{self.mechanism} noise, also {self.rho:.4g}-zCDP"
        counts = "weighted counts" if self.weighted else "counts"
        return f"{counts} of persons per slot; {noise}"

    def unit(self, data: Handle[Any]) -> str:
        """The privacy unit in words, with its bound."""
        return data.accounted_unit + bound_words(self.bound, "slots")

    @property
    def facts(self) -> dict[str, Any]:
        """Header fields of a release of slots."""
        facts = {"counts": "persons", "slots": self.bound, "mechanism": self.mechanism}
        facts |= {"asked_delta": self.delta} | ({"weighted": True} if self.weighted else {})
        if self.variance is not None:
            facts |= {"scale_squared": self.variance, "rho": self.rho}
        return facts

    def theorem(self, row: str) -> str:
        """Theorem behind a row of the budget, for all of a person."""
        return of_unit(row, self.k if self.variance is None else 1)

    def budget(self) -> Budget:
        """Budget of a method: of one record for pure noise, else of one Gaussian draw."""
        if self.variance is None:
            return Budget(per_record(self.epsilon, self.k))
        return DrawBudget(self)


class DrawBudget(Budget):
    """Budget of one draw of Gaussian noise for all slots; nothing else can be bought from it."""

    one_draw = True

    def __init__(self, noise: SlotNoise) -> None:
        super().__init__(noise.epsilon, noise.delta)
        self._noise = noise

    def for_part(self) -> Budget:
        """A budget for one of several disjoint parts, see :meth:`Budget.for_part`."""
        return DrawBudget(self._noise)

    def spend(
        self,
        epsilon: float,
        purpose: str,
        *,
        delta: float = 0.0,
        mechanism: str = "",
        theorem: str = "",
        why: str = "",
    ) -> Share:
        """Spend the whole budget on one draw; see :meth:`Budget.spend`.

        Raises:
            BudgetError: a part of it, or a second draw.
        """
        if epsilon != self.epsilon:
            raise BudgetError(f"cannot spend epsilon={epsilon:g} on {purpose}: one draw takes all")
        moved = f"{self._noise.moved:,} counts by one each"
        why = f"one person moves at most {moved}: exact hockey stick"
        if self._noise.weighted:
            why = f"one person moves all counts by at most √{self._noise.moved:,} together: zCDP"
        share = super().spend(
            epsilon, purpose, delta=self.delta, mechanism=self._noise.mechanism, why=why
        )
        share.variance = self._noise.drawn_variance
        share.step = WEIGHT if self._noise.weighted else 1
        return share


PersonNoise = SlotNoise | BlockNoise
"""Noise of a build that counts persons."""


def slot_noise(
    data: Handle[Any], method: Any, epsilon: float, delta: float, steps: int, weighted: bool
) -> PersonNoise:
    """Noise of a build that counts slots; refuses what cannot be built, before payment.

    Args:
        data: a handle on points, or on points by area.
        method: the method.
        epsilon: the price for one unit.
        delta: the delta for one unit, above 0.
        steps: most entries that move between neighbours.
        weighted: persons of many slots are weighted, and no slot is dropped; for areas.

    Raises:
        ParameterError: a method that measures more than slots, of records without kinds; data
            without persons or with values; or a delta or bound out of range.
    """
    domain = getattr(data, "domain", None)
    shares = method.slot_shares(2 if domain is None else domain.dims)
    kinds = 0
    if domain is not None and domain.kinds is not None and method.private:
        kinds = len(domain.kinds.names)
    if not shares and not kinds:
        raise ParameterError(
            f"delta={delta!r}: {method.name} with these parameters is pure ε-DP: leave delta out, "
            f"or count persons by {SLOT_METHODS}, or by category"
        )
    if domain is not None and domain.values is not None:
        raise ParameterError(
            f"delta={delta!r} is for counts, not for sums of values: leave the sum out"
        )
    if not data.has_persons:
        raise ParameterError(
            f"delta={delta!r} needs persons: read a file of records with its unit, or leave delta "
            "out (unit, --unit)"
        )
    if weighted and data.kind != "areas":
        raise ParameterError(f"weighted=True is for tables of areas, not for {data.kind}")
    most = data.max_per_unit
    noise: PersonNoise
    if shares:
        noise = SlotNoise(epsilon, delta, steps, most, len(shares), shares[-1], weighted)
    else:
        noise = BlockNoise(epsilon, delta, min(most, kinds), steps // most, most)
    noise.budget()  # refuses an impossible budget
    return noise


USUAL_BOUNDS = (1, 3, 10, 30, 100, 365)
"""Bounds on the slots of a person that are compared."""


def noise_by_bound(
    epsilon: float, delta: float, bound: int = 1, shares: Sequence[float] = (1.0,)
) -> list[dict[str, Any]]:
    """Noise of one count of persons, for several bounds on the slots of a person; no records.

    Args:
        epsilon: the price for one person.
        delta: the delta for one person.
        bound: a further bound to compare.
        shares: shares of ε of the measured levels, the count's last.

    Returns:
        Rows with the bound, standard deviations of pure noise and of the noise that is drawn, and
        its mechanism.

    >>> [row["mechanism"] for row in noise_by_bound(1.0, 1e-6)][1:3]
    ['geometric', 'discrete Gaussian']
    """
    rows = []
    for k in sorted({*USUAL_BOUNDS, bound}):
        noise = SlotNoise(positive_epsilon(epsilon), delta, k, k, len(shares), shares[-1])
        pure = math.sqrt(noise.pure_variance)
        rows.append(
            {"max_per_unit": k, "pure_sd": pure, "sd": noise.sd, "mechanism": noise.mechanism}
        )
    return rows
