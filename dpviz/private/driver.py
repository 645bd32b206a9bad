"""Rules of every build: permitted noise source, price, and claims in the header."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import Any, Protocol

from dpviz.checks import as_number
from dpviz.domain.units import ChargedPeriod
from dpviz.errors import ParameterError, PrivacyError
from dpviz.private.blocks import BlockNoise
from dpviz.private.budget import Budget, per_record
from dpviz.private.handle import Handle
from dpviz.private.ledger.entries import NEIGHBOURS
from dpviz.private.ledger.profile import Profile
from dpviz.private.mechanisms.accounting import MIN_DELTA
from dpviz.private.mechanisms.noise import Noise, SecureNoise, SimulatedNoise
from dpviz.private.slots import SlotNoise, slot_noise
from dpviz.progress import Progress
from dpviz.releases.header import WEAKER, Header, longer_words, of_unit, price_words

DECLARED = "declared public by the owner"
SYNTHETIC = "synthetic data"
"""Header text on records that need no protection; the key is absent for sensitive records."""


class Claims(Protocol):
    """A method as the driver sees it: its name, parameters and privacy claims."""

    name: str
    title: str

    @property
    def private(self) -> bool:
        """True if the method has a privacy guarantee."""

    @property
    def delta(self) -> float:
        """The delta that the method needs."""

    def parameters(self) -> dict[str, Any]:
        """Every parameter with its value."""


def relation(neighbours: str, unit: str) -> str:
    """A neighbouring relation in words.

    >>> relation("replace", "one trip")
    'replace one trip'
    """
    if neighbours not in NEIGHBOURS:
        raise ParameterError(f"neighbours={neighbours!r}: choose one of {', '.join(NEIGHBOURS)}")
    return f"{'replace' if neighbours == 'replace' else 'add or remove'} {unit}"


def noise_for(
    data: Handle[Any],
    method: Claims,
    *,
    simulate: bool,
    seed: int | None,
    progress: Progress | None,
) -> Noise:
    """Return the noise source of a release: secure, unless a simulation is requested.

    Raises:
        ParameterError: a seed that is not a whole number from 0.
        PrivacyError: simulated noise, or a method without a guarantee, on sensitive data.
    """
    simulate = simulate or seed is not None
    if not data.public:
        if simulate:
            raise PrivacyError(
                "simulated noise is NOT PRIVATE, only for data declared public: "
                "leave out simulate and seed"
            )
        if not method.private:
            raise PrivacyError(
                f"method {method.name} has NO PRIVACY GUARANTEE, only for data declared public: "
                "choose another method"
            )
    return SimulatedNoise(seed) if simulate else SecureNoise(progress)


@dataclasses.dataclass(frozen=True)
class Price:
    """The price of one privacy unit; the budget of one record follows from it.

    By group privacy: at ε/k for one step, k steps (the records of one unit; to replace is to remove
    and to add) cost ε wherever the records lie.

    Attributes:
        slots: noise of a release that counts persons per slot or block; None where it counts
            records.
        steps: k, of one record added or removed, from a data set to its neighbour.
    """

    epsilon: float
    delta: float
    steps: int
    neighbouring: str
    slots: SlotNoise | BlockNoise | None = None

    @classmethod
    def of(
        cls,
        data: Handle[Any],
        method: Claims,
        epsilon: float,
        delta: float | None,
        pair: str,
        weighted: bool = False,
    ) -> Price:
        """The price of a build, for the neighbouring relation ``pair``.

        With a delta that the method itself does not need, persons are counted, at most one in each
        slot (:mod:`dpviz.private.slots`); then Gaussian noise is priced for all of a unit at once.
        """
        neighbouring = relation(pair, data.unit)
        steps = data.max_per_unit * NEIGHBOURS[pair]
        if weighted and not delta:
            raise ParameterError("weighted=True is for counts of persons: give a delta (--delta)")
        if not delta or method.delta:
            return cls(epsilon, delta_for(method, delta), steps, neighbouring)
        noise = slot_noise(data, method, epsilon, as_number(delta), steps, weighted)
        neighbouring = neighbouring.replace(data.unit, noise.unit(data))
        return cls(epsilon, noise.spent_delta, steps, neighbouring, noise)

    @property
    def growth(self) -> float:
        """Factor from the delta of one step to the delta of all steps together."""
        if self.slots is not None:
            return 1.0
        return group_growth(per_record(self.epsilon, self.steps), self.steps)

    @property
    def scale(self) -> float:
        """Factor from the epsilon of a row of the budget to that of one unit."""
        return self.steps if self.slots is None else self.slots.scale

    def theorem(self, row: str) -> str:
        """Theorem behind a row of the budget, for one unit."""
        return of_unit(row, self.steps) if self.slots is None else self.slots.theorem(row)

    def budget(self) -> Budget:
        """Budget of one step, which is all that a method may spend."""
        if self.slots is not None:
            return self.slots.budget()
        delta = self.delta / self.growth
        if self.delta and delta < MIN_DELTA:
            raise ParameterError(
                f"delta={self.delta:g}: nothing of it is left for one record at "
                f"epsilon={self.epsilon:g} over {self.steps:,} steps: choose a smaller epsilon, or "
                "a method without delta"
            )
        return Budget(per_record(self.epsilon, self.steps), delta)


def group_growth(epsilon: float, group: int) -> float:
    """Factor from the delta of one record to that of a group of k: Σ_{i<k} e^{iε}.

    A mechanism that is (ε, δ)-DP for one record is (kε, δ(e^{kε} − 1)/(e^ε − 1))-DP for k: each
    step along a chain of k neighbours adds δ, and the later steps multiply it by e^ε.

    >>> group_growth(0.5, 1), round(group_growth(0.5, 3), 6)
    (1.0, 5.367003)
    """
    if group == 1:
        return 1.0
    # The quotient's relative error is a few ulps; add more than that.
    try:
        return math.expm1(group * epsilon) / math.expm1(epsilon) * (1.0 + 2.0**-48)
    except OverflowError:
        return math.inf


def delta_for(method: Claims, delta: float | None) -> float:
    """The delta of a build; by default the smallest that the method needs.

    Raises:
        ParameterError: no number, a delta for a method of pure ε-DP, or none for one that needs it.
    """
    needed = method.delta
    if delta is None:
        return needed
    value = as_number(delta)
    if not 0 <= value < 1:
        raise ParameterError(f"delta={delta!r}: give a number from 0 to below 1")
    if bool(needed) != bool(value):
        kind = "needs a delta above 0" if needed else "is pure ε-DP: leave delta out"
        raise ParameterError(f"delta={delta!r}: {method.name} with these parameters {kind}")
    return value


def header_of(
    data: Handle[Any], method: Claims, source: Noise, budget: Budget, price: Price, **fields: Any
) -> Header:
    """The header of a release. ``budget``: budget of one step, as the method spent it."""
    calendar = {} if data.charged is None else _calendar(data.charged, price)
    claim = price_words(price.epsilon, price.delta)
    if not method.private:
        guarantee = f"NOT PRIVATE: {method.title} has no privacy guarantee"
    elif not source.private:
        guarantee = f"NOT PRIVATE: simulated noise, as large as for {claim}"
    else:
        guarantee = f"differentially private, {claim}, {price.neighbouring}"
        if price.slots is not None:
            guarantee += f" ({price.slots.words})"
        if data.public and not data.synthetic:
            guarantee += f"; records {DECLARED}"
        elif calendar:
            guarantee += (
                f"; {WEAKER}{longer_words(calendar['longer'])}; releases of other "
                f"{calendar['unit']}s add theirs"
            )
    growth = price.growth
    rows = (
        {
            **dataclasses.asdict(row),
            "epsilon": row.epsilon * price.scale,
            "theorem": price.theorem(row.theorem),
            "delta": row.delta * growth if row.delta else 0.0,
        }
        for row in budget.rows
    )
    extra: dict[str, Any] = fields.pop("extra", {})
    if price.slots is not None:
        extra = {**extra, **price.slots.facts}
    if calendar:
        extra = {**extra, "calendar": calendar}
    if data.public:
        extra = {**extra, "records": SYNTHETIC if data.synthetic else DECLARED}
    return Header(
        method=method.name,
        parameters=method.parameters(),
        private=method.private and source.private,
        guarantee=guarantee,
        epsilon=price.epsilon,
        delta=price.delta,
        neighbouring=price.neighbouring,
        unit=data.unit if price.slots is None else price.slots.unit(data),
        budget=tuple(rows),
        source=data.name,
        extra=extra,
        **fields,
    )


def _calendar(charged: ChargedPeriod, price: Price) -> dict[str, Any]:
    """The units of time that a release charges, and its ε for longer times of a person."""
    charge = Fraction(repr(price.epsilon)), Fraction(repr(price.delta))
    return {
        "unit": charged.units.each,
        "zone": charged.units.zone,
        "time": charged.column,
        "days": charged.days,
        "longer": Profile().added(charged.span, charge).longer(charged.units),
    }
