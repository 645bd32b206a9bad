"""Entries of the ledger, and the accounts that follow from them."""

from __future__ import annotations

import json
import math
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpviz.checks import as_number
from dpviz.errors import BudgetError

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


@dataclass(frozen=True)
class Account:
    """A data set's total (None until the owner sets one), what is spent, and what is left.

    All amounts are for adding or removing one privacy unit; ``relation`` says so. ``public`` is
    whether its owner declared the records public although the ledger knew them as sensitive.
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


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One ledger entry: a total, spend, outcome, public declaration or accepted older copy.

    Amounts are the shortest decimals of what was typed. Outcomes and acceptances have no account.
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

    @property
    def charged(self) -> Fraction:
        """The ε charged for adding or removing one unit.

        To replace a unit is to remove one and to add another, and every driver here buys it so, at
        half the ε for each step. A method that only held the number of units fixed would promise
        nothing about adding one, and must never be entered as "replace".
        """
        return Fraction(self.epsilon) / NEIGHBOURS[self.neighbours]

    def spend(self, dataset: str, outcomes: dict[str, str]) -> Spend:
        """A spend in plain numbers, of an account of this name."""
        plain = ("what", "unit", "at", "purpose", "release", "neighbours")
        return Spend(
            dataset=dataset,
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            charged=float(self.charged),
            outcome=outcomes.get(self.release, "paid"),
            **{name: getattr(self, name) for name in plain},
        )

    def body(self) -> str:
        """The text that is written to the file and hashed."""
        return json.dumps(vars(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def of(cls, body: bytes) -> Entry:
        """The inverse of :meth:`body`.

        Raises:
            ValueError, TypeError: no entry.
        """
        return cls(**json.loads(body))


@dataclass
class Balance:
    """Sum of the entries of one account, in exact amounts."""

    name: str
    total: Fraction | None = None
    total_delta: Fraction | None = None
    spent: Fraction = Fraction(0)
    spent_delta: Fraction = Fraction(0)
    unit: str | None = None
    public: bool = False
    spends: list[Entry] = field(default_factory=list)

    @property
    def sensitive(self) -> bool:
        """True if there is a total or a spend, and no later entry declares the data public."""
        return not self.public and (bool(self.spends) or self.total is not None)

    def add(self, entry: Entry) -> None:
        """Add an entry of this account to the balance."""
        self.public = entry.kind == "public"
        if entry.kind == "total":
            self.total, self.total_delta = Fraction(entry.epsilon), Fraction(entry.delta)
        elif entry.kind == "spend":
            self.spent += entry.charged
            self.spent_delta += Fraction(entry.delta)
            self.unit = self.unit or entry.unit
            self.spends.append(entry)

    def require_room(self, entry: Entry) -> None:
        """Refuse a spend that exceeds what is left.

        Raises:
            BudgetError: more than is left, or for another privacy unit.
        """
        if self.unit is not None and self.unit != entry.unit:
            raise BudgetError(
                f"data set {self.name!r} is accounted for {self.unit}, not {entry.unit}: "
                "prices for different privacy units do not add up, give the same unit again"
            )
        for what, price, spent, total in (
            ("epsilon", entry.charged, self.spent, self.total),
            ("delta", Fraction(entry.delta), self.spent_delta, self.total_delta),
        ):
            if total is not None and spent + price > total:
                asked = "" if NEIGHBOURS[entry.neighbours] == 1 else " (half the price to replace)"
                raise BudgetError(
                    f"cannot spend {what}={float(price):g}{asked} on data set {self.name!r}: "
                    f"{float(total - spent):g} of {float(total):g} is left"
                )

    def account(self, outcomes: dict[str, str]) -> Account:
        """The account in plain numbers, with the outcomes of its releases."""
        sums = (self.total, self.spent), (self.total_delta, self.spent_delta)
        (total, left), (total_delta, left_delta) = (
            (None, None) if whole is None else (float(whole), float(whole - spent))
            for whole, spent in sums
        )
        return Account(
            dataset=self.name,
            total=total,
            total_delta=total_delta,
            spent=float(self.spent),
            spent_delta=float(self.spent_delta),
            left=left,
            left_delta=left_delta,
            spends=tuple(each.spend(self.name, outcomes) for each in self.spends),
            relation=f"add or remove {self.unit or 'one privacy unit'}",
            public=self.public,
        )


def balances(entries: Iterable[Entry], keys: Container[str] | None = None) -> dict[str, Balance]:
    """Balances by account key (default: all accounts), each with its first name."""
    by_key: dict[str, Balance] = {}
    for entry in entries:
        if entry.account and (keys is None or entry.account in keys):
            by_key.setdefault(entry.account, Balance(entry.name)).add(entry)
    return by_key


def amount(value: Any, name: str) -> str:
    """An amount as its shortest decimal: 0.1 ten times is 1, as typed by the user.

    Raises:
        BudgetError: no number, not positive, or not finite.
    """
    number = as_number(value)
    if not (math.isfinite(number) and number > 0):
        raise BudgetError(f"{name}={value!r:.60}: give a positive, finite number such as 1")
    return repr(number)


def probability(value: Any) -> str:
    """A delta as its shortest decimal.

    Raises:
        BudgetError: no number from 0 to below 1.
    """
    number = as_number(value)
    if not 0 <= number < 1:
        raise BudgetError(f"delta={value!r:.60}: give a number from 0 to below 1, such as 1e-6")
    return repr(number)
