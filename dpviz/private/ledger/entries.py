"""Entries of the ledger, and the plain accounts that are shown of them."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpviz.checks import as_number
from dpviz.domain.units import Span, TimeUnits
from dpviz.errors import BudgetError
from dpviz.private.ledger.profile import Charge

NEIGHBOURS = {"add-remove": 1, "replace": 2}
"""Neighbouring relations, and how many steps of add or remove lead from one to the other."""


class DamageError(Exception):
    """The ledger is corrupted; the message states where, and never the name of a data set."""


@dataclass(frozen=True)
class Spend:
    """One purchase: its price, time and purpose.

    Attributes:
        epsilon, delta: the price as the release states it, under ``neighbours``.
        charged: the ε that the account counts: the price to add or remove one unit.
        outcome: ``released``; ``failed``; ``lost``, a release that could not be written; or
            ``paid`` while a build runs, and permanently after a crash. All count in full.
        period: in a calendar, the days that it charges; empty for all days.
    """

    dataset: str
    what: str
    unit: str
    epsilon: float
    delta: float
    at: str
    purpose: str
    release: str
    outcome: str = "paid"
    neighbours: str = "add-remove"
    charged: float = 0.0
    period: str = ""


@dataclass(frozen=True)
class Account:
    """A data set's total (None until the owner sets one), what is spent, and what is left.

    All amounts are for adding or removing one privacy unit; ``relation`` says so. ``public`` is
    whether its owner declared the records public although the ledger knew them as sensitive.

    With a calendar, the unit is a person's records of one unit of time, ``spent`` is the largest
    charge of such a unit, and ``longer`` has the ε of that unit, of longer times of a person and of
    all their records (None: unbounded); it is empty if δ was spent. ``rho`` is the total ρ of zCDP,
    the largest of a unit, if δ was spent; None where a release with δ has none.
    """

    dataset: str
    total: float | None
    total_delta: float | None
    spent: float
    spent_delta: float
    left: float | None
    left_delta: float | None
    spends: tuple[Spend, ...]
    relation: str = "add or remove one privacy unit"
    public: bool = False
    frame: str = ""
    longer: dict[str, float | None] = field(default_factory=dict)
    rho: float | None = None


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One ledger entry: a total, calendar, spend, outcome, public declaration or accepted copy.

    Amounts are the shortest decimals of what was typed. Outcomes and acceptances have no account.

    Attributes:
        frame: unit of time and zone of a calendar; empty for a plain account.
        units: numbers of the units of time that a spend charges; None for all.
        time: column of the time that decides the unit of a record.
        rho: the ρ of zCDP that a release with δ has; else empty.
    """

    kind: str
    at: str
    account: str = ""
    name: str = ""
    epsilon: str = "0"
    delta: str = "0"
    neighbours: str = "add-remove"
    unit: str = ""
    what: str = ""
    purpose: str = ""
    release: str = ""
    outcome: str = ""
    frame: str = ""
    units: Span | None = None
    time: str = ""
    rho: str = ""

    @property
    def zcdp(self) -> Fraction | None:
        """The ρ for adding or removing one unit; of pure ε-DP ε²/2 (Bun and Steinke, TCC 2016)."""
        if self.rho:
            return Fraction(self.rho) / NEIGHBOURS[self.neighbours]
        return None if Fraction(self.delta) else self.charged**2 / 2

    @property
    def charged(self) -> Fraction:
        """The ε charged for adding or removing one unit.

        To replace a unit is to remove one and to add another, and every driver here buys it so, at
        half the ε for each step. A method that only held the number of units fixed would promise
        nothing about adding one, and must never be entered as "replace".
        """
        return Fraction(self.epsilon) / NEIGHBOURS[self.neighbours]

    @property
    def converted(self) -> Charge:
        """Charge to each unit of time of a person, in a calendar, for a price per whole person.

        To leave out one unit of time is to remove the person and to add one with fewer records: two
        steps, which cost 2·ε, and δ·(1 + e^ε).
        """
        epsilon, delta = self.charged, Fraction(self.delta)
        if delta and epsilon > 700:
            return 2 * epsilon, Fraction(1)
        growth = Fraction(math.exp(min(float(epsilon), 700.0))) * (1 + Fraction(1, 2**40))
        return 2 * epsilon, delta * (1 + growth)

    def spend(self, dataset: str, outcomes: dict[str, str]) -> Spend:
        """A spend in plain numbers, of an account of this name."""
        plain = ("what", "unit", "at", "purpose", "release", "neighbours")
        days = (
            ["", ""]
            if self.units is None
            else map(TimeUnits.of(self.frame).first_day_text, self.units)
        )
        return Spend(
            dataset=dataset,
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            charged=float(self.charged),
            outcome=outcomes.get(self.release, "paid"),
            period=" to before ".join(days).removeprefix(" to before "),
            **{name: getattr(self, name) for name in plain},
        )

    def body(self) -> str:
        """The text that is written to the file and hashed."""
        return json.dumps(vars(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def of(cls, body: bytes) -> Entry:
        """The inverse of :meth:`body`."""
        fields = json.loads(body)
        if fields.get("units") is not None:
            fields["units"] = tuple(fields["units"])
        return cls(**fields)


def amount(value: Any, name: str) -> str:
    """An amount as its shortest decimal: 0.1 ten times is 1, as typed by the user."""
    number = as_number(value)
    if not (math.isfinite(number) and number > 0):
        raise BudgetError(f"{name}={value!r:.60}: give a positive, finite number such as 1")
    return repr(number)


def probability(value: Any) -> str:
    """A delta as its shortest decimal."""
    number = as_number(value)
    if not 0 <= number < 1:
        raise BudgetError(f"delta={value!r:.60}: give a number from 0 to below 1, such as 1e-6")
    return repr(number)
