"""The privacy budget: it is spent in shares, and every noise draw needs a share.

One share covers one vectorised draw over disjoint cells (parallel composition); the shares of a
path add up (sequential composition). A method whose own theorem covers many draws spends once and
names the theorem.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpviz.checks import as_number
from dpviz.domain.attributes import Values
from dpviz.errors import BudgetError, ParameterError

ROUNDING = 1e-12
"""A request that exceeds what is left by this relative amount is granted what is left: shares
computed in floating point may miss their sum by a few units in the last place."""


DISJOINT = "disjoint cells, sensitivity 1"
"""Reason why one draw over disjoint cells costs its share once: a record is in one cell."""

SUMS = "sums of values"
"""Purpose of a share for sums, or the beginning of it."""


def clip_words(values: Values) -> str:
    """Reason why one draw over sums of disjoint cells costs its share once."""
    return f"disjoint cells, sensitivity {values.reach} steps of {values.grid:g}: the clip"


@dataclass(frozen=True)
class BudgetRow:
    """One row of the budget breakdown: purpose, mechanism, price and the reason for the price."""

    purpose: str
    epsilon: float
    delta: float = 0.0
    mechanism: str = ""
    theorem: str = ""


@dataclass
class Share:
    """A part of a budget that pays for one draw, or for all draws that one theorem covers."""

    epsilon: float
    delta: float
    purpose: str
    theorem: str = ""
    variance: float | None = None
    """The s² of the discrete Gaussian noise that it pays for; None for pure noise."""
    step: int = 1
    """Steps in which one is counted: the counts that it pays for are multiples of 1/step."""
    _spent: bool = False

    def use(self) -> float:
        """Epsilon of this share, for pure noise; a second use needs a theorem.

        Raises BudgetError: the share was used before and no theorem covers more than one draw, or
        it pays for Gaussian noise.
        """
        if self.variance is not None:
            raise BudgetError(f"the share for {self.purpose} pays for Gaussian noise only")
        return self.use_once()

    def use_once(self) -> float:
        """Epsilon of this share, for pure or Gaussian noise; raises on reuse as :meth:`use`."""
        if self._spent and not self.theorem:
            raise BudgetError(f"the share for {self.purpose} is used up: spend another one")
        self._spent = True
        return self.epsilon


def on_sample(shares: Sequence[Share], rate: float) -> tuple[Share, ...]:
    """The shares that a mechanism may use on one unpublished Poisson sample at this rate.

    An (ε, δ)-DP mechanism on such a sample is (ln(1 + rate·(e^ε − 1)), rate·δ)-DP on the data (B.
    Balle, G. Barthe, M. Gaboardi, NeurIPS 2018); this is the inverse, a little below it. The ε is
    that of ALL that looks at the sample: parts that see the same one are amplified once, together.
    A sample drawn afresh for each call makes the prices of calls add up.

    ``shares``: shares of all draws on the sample; this uses them up.

    >>> (share,) = on_sample([Budget(0.1).spend(0.1, "medians")], 0.01)
    >>> round(share.epsilon, 4), round(math.log1p(0.01 * math.expm1(share.epsilon)), 4)
    (2.4438, 0.1)
    """
    paid = [share.use() for share in shares]
    whole = math.fsum(paid)
    # e^ε overflows for large ε, where ln(1 + (e^ε − 1)/rate) equals ε − ln(rate) to the last digit.
    epsilon = whole - math.log(rate) if whole > 100 else math.log1p(math.expm1(whole) / rate)
    part = epsilon / whole * (1 - 2.0**-48)  # more than rounding can add
    return tuple(
        Share(part * price, min(share.delta / rate, 0.5), share.purpose, share.theorem)
        for share, price in zip(shares, paid, strict=True)
    )


class Budget:
    """Epsilon and delta of one release; more than that can never be spent.

    >>> budget = Budget(1.0)
    >>> share = budget.spend(0.5, "structure", mechanism="geometric")
    >>> budget.spend(0.6, "counts", mechanism="geometric")
    Traceback (most recent call last):
    ...
    dpviz.errors.BudgetError: cannot spend epsilon=0.6 on counts: 0.5 of 1 is left
    """

    one_draw = False
    """True where one draw takes all of it."""

    def __init__(self, epsilon: float, delta: float = 0.0) -> None:
        self.epsilon = positive_epsilon(epsilon)
        if not 0 <= delta < 1:
            raise ParameterError(f"delta={delta!r}: give a number from 0 to below 1")
        self.delta = float(delta)
        self._left = Fraction(self.epsilon)
        self._left_delta = Fraction(self.delta)
        self._rows: list[BudgetRow] = []

    @property
    def left(self) -> float:
        """Epsilon not spent yet."""
        return _below(self._left)

    @property
    def left_delta(self) -> float:
        """Delta not spent yet."""
        return _below(self._left_delta)

    def for_part(self) -> Budget:
        """A budget as large as what is left, for one of several disjoint parts of the records."""
        return Budget(self.left, self.left_delta)

    @property
    def rows(self) -> tuple[BudgetRow, ...]:
        """All spending so far, in order."""
        return tuple(self._rows)

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
        """Spend a part of the budget and return its share; there is no other way to get one.

        Raises BudgetError: more than is left, or an amount that is not a positive number.

        Args:
            theorem: covers all draws that the share pays for, possibly many.
            why: without a theorem, the reason that one draw costs no more than the share.
        """
        granted = self._take(epsilon, self._left, f"epsilon={epsilon:g} on {purpose}", self.epsilon)
        granted_delta = Fraction(0)
        if delta:
            granted_delta = self._take(
                delta, self._left_delta, f"delta={delta:g} on {purpose}", self.delta
            )
            self._left_delta -= granted_delta
        self._left -= granted
        row = BudgetRow(purpose, float(granted), float(granted_delta), mechanism, theorem or why)
        self._rows.append(row)
        return Share(row.epsilon, row.delta, purpose, theorem)

    def split(
        self,
        weights: Iterable[float],
        purposes: Iterable[str],
        *,
        part: float = 1.0,
        mechanism: str = "",
        why: str = "",
    ) -> list[Share]:
        """Spend a part of what is left in proportion to ``weights``, one share per purpose."""
        weights = list(weights)
        total, left = math.fsum(weights), self.left
        shares = []
        for row, (weight, purpose) in enumerate(zip(weights, purposes, strict=True)):
            rest = part == 1.0 and row == len(weights) - 1
            amount = self.left if rest else left * part * (weight / total)
            shares.append(self.spend(amount, purpose, mechanism=mechanism, why=why))
        return shares

    @staticmethod
    def _take(amount: float, left: Fraction, what: str, total: float) -> Fraction:
        if not (math.isfinite(amount) and amount > 0):
            raise BudgetError(f"cannot spend {what}: give a positive number")
        asked = Fraction(amount)
        if asked > left:
            if asked > left + Fraction(total) * Fraction(ROUNDING) or left <= 0:
                raise BudgetError(f"cannot spend {what}: {float(left):g} of {total:g} is left")
            asked = Fraction(_below(left))
        return asked


MAX_EPSILON = 1e12
"""Above it there is no noise at all, and sums of counts times ε may overflow."""

MIN_EPSILON = 1e-6
"""Smallest epsilon of one record: below it results are useless, and noise scales approach 2^40."""


def per_record(epsilon: float, group: int) -> float:
    """Epsilon of one record when a privacy unit has up to ``group`` records; rounded down.

    Raises ParameterError: the ε of one record is below :data:`MIN_EPSILON`.
    """
    share = _below(Fraction(epsilon) / group)
    if share < MIN_EPSILON:
        of = f" for up to {group:,} records each" if group > 1 else ""
        raise ParameterError(
            f"epsilon={epsilon:g}{of}: noise of such a scale hides everything, choose at least "
            f"{MIN_EPSILON * group:g}"
        )
    return share


def positive_epsilon(epsilon: float) -> float:
    """Check epsilon and return it as a float.

    Raises ParameterError: no number, zero, negative, NaN or infinite, or above 10^12.
    """
    value = as_number(epsilon)
    if not (math.isfinite(value) and value > 0):
        raise ParameterError(f"epsilon={epsilon!r:.60}: give a positive, finite number such as 1")
    if value > MAX_EPSILON:
        raise ParameterError(
            f"epsilon={value:g} leaves no noise at all: choose at most {MAX_EPSILON:g}"
        )
    return value


def _below(value: Fraction) -> float:
    """The largest float that is not above ``value``."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)
