"""Releases of counts of persons per slot, at (ε, δ): choice of the noise, and its cost.

Such a release measures one vector of counts. One person moves at most K of its entries, each by one
(:mod:`dpviz.private.load.persons`). Up to some K pure noise of scale K/ε is smaller, and is drawn:
then the release is ε-DP and costs no delta. Above it discrete Gaussian noise is smaller
(:mod:`dpviz.private.mechanisms.accounting`). ε, δ and K are public: so is the choice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpviz.errors import BudgetError, ParameterError
from dpviz.private.budget import Budget, Share, per_record, positive_epsilon
from dpviz.private.handle import Handle, bound_words
from dpviz.private.mechanisms.accounting import gaussian_variance, require_claim
from dpviz.private.mechanisms.gaussian import checked_variance
from dpviz.trees.consistency import geometric_variance

SLOT_METHODS = "a table of areas, or ugrid with its cells"
"""What counts slots alone."""


@dataclass(frozen=True)
class SlotNoise:
    """Noise on the counts of slots at (ε, δ).

    Attributes:
        epsilon, delta: the price for one person, as asked.
        k: most entries that move, each by one: slots of a person, twice as many to replace one.
        bound: most slots of a person.
    """

    epsilon: float
    delta: float
    k: int
    bound: int

    @cached_property
    def variance(self) -> float | None:
        """The s² of discrete Gaussian noise; None where pure noise is as small or smaller."""
        require_claim(self.delta, self.k)
        gaussian = gaussian_variance(self.epsilon, self.delta, self.k)
        pure = geometric_variance(self.k / self.epsilon)
        return None if pure <= gaussian else checked_variance(gaussian)

    @property
    def mechanism(self) -> str:
        """Name of the distribution of the noise."""
        return "geometric" if self.variance is None else "discrete Gaussian"

    @property
    def sd(self) -> float:
        """Upper bound on the standard deviation of one count."""
        pure = float(geometric_variance(self.k / self.epsilon))
        return math.sqrt(pure if self.variance is None else self.variance)

    @property
    def rho(self) -> float | None:
        """The ρ of zCDP, the second guarantee of Gaussian noise: K/(2s²)."""
        return None if self.variance is None else self.k / (2.0 * self.variance)

    @property
    def words(self) -> str:
        """What is counted, the noise and the second guarantee, in words."""
        noise = "discrete Laplace noise, pure ε-DP"
        if self.rho is not None:
            noise = f"{self.mechanism} noise, also {self.rho:.4g}-zCDP"
        return f"counts of persons per slot; {noise}"

    def unit(self, data: Handle[Any]) -> str:
        """The privacy unit in words, with its bound."""
        return data.accounted_unit + bound_words(self.bound, "slots")

    @property
    def facts(self) -> dict[str, Any]:
        """Header fields of a release of slots."""
        facts = {"counts": "persons", "slots": self.bound, "mechanism": self.mechanism}
        facts |= {"asked_delta": self.delta}
        if self.variance is not None:
            facts |= {"scale_squared": self.variance, "rho": self.rho}
        return facts

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
        why = f"one person moves at most {self._noise.k:,} counts by one each: exact hockey stick"
        share = super().spend(
            epsilon, purpose, delta=self.delta, mechanism=self._noise.mechanism, why=why
        )
        share.variance = self._noise.variance
        return share


def slot_noise(
    data: Handle[Any], method: Any, epsilon: float, delta: float, steps: int
) -> SlotNoise:
    """Noise of a build that counts slots; refuses what cannot be built, before payment.

    Args:
        data: a handle on points, or on points by area.
        method: the method.
        epsilon: the price for one unit.
        delta: the delta for one unit, above 0.
        steps: most entries that move between neighbours.

    Raises:
        ParameterError: a method that measures more than slots, data without persons or with
            values, or a delta or bound out of range.
    """
    domain = getattr(data, "domain", None)
    if not method.counts_slots:
        raise ParameterError(
            f"delta={delta!r}: {method.name} with these parameters is pure ε-DP: leave delta out, "
            f"or count persons by {SLOT_METHODS}"
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
    noise = SlotNoise(epsilon, delta, steps, data.max_per_unit)
    noise.budget()  # refuses an impossible budget
    return noise


USUAL_BOUNDS = (1, 3, 10, 30, 100, 365)
"""Bounds on the slots of a person that are compared."""


def noise_by_bound(epsilon: float, delta: float, bound: int = 1) -> list[dict[str, Any]]:
    """Noise of one count of persons, for several bounds on the slots of a person; no records.

    Args:
        epsilon: the price for one person.
        delta: the delta for one person.
        bound: a further bound to compare.

    Returns:
        Rows with the bound, standard deviations of pure noise and of the noise that is drawn, and
        its mechanism.

    >>> [row["mechanism"] for row in noise_by_bound(1.0, 1e-6)][1:3]
    ['geometric', 'discrete Gaussian']
    """
    rows = []
    for k in sorted({*USUAL_BOUNDS, bound}):
        noise = SlotNoise(positive_epsilon(epsilon), delta, k, k)
        pure = math.sqrt(geometric_variance(k / epsilon))
        rows.append(
            {"max_per_unit": k, "pure_sd": pure, "sd": noise.sd, "mechanism": noise.mechanism}
        )
    return rows
