"""What stands in the ledger: entries, the hash that chains them, and the accounts they add up to.

An entry is the JSON of :class:`Entry`. It holds the account as it stands after it, so that the last
entry of an account says all that a spend must know; whoever verifies adds everything up anew.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from dpviz.private.ledger import amounts

GENESIS = "0" * 64
"""The hash before the first entry."""

KINDS = ("total", "spend", "outcome", "public", "accepted")
NEIGHBOURS = {"add-remove": 1, "replace": 2}
"""Neighbouring relations, and how many steps of add or remove lead from one to the other."""


class DamageError(Exception):
    """What the ledger holds is not what was written; says where, and never a name."""


@dataclass(frozen=True)
class Spend:
    """What was bought, for how much of the data set, when and what for.

    Attributes:
        epsilon, delta: the price as the release states it, under ``neighbours``.
        charged: what of it the account counts: the ε to add or remove one unit.
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
    """A data set's total (None until its owner sets one), and what is spent and left of it.

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


@dataclass(frozen=True)
class State:
    """An account after an entry: its first spelling, exact amounts as text, its privacy unit."""

    name: str
    total: str | None = None
    total_delta: str | None = None
    spent: str = "0"
    spent_delta: str = "0"
    unit: str | None = None
    spends: int = 0
    public: bool = False

    @property
    def sensitive(self) -> bool:
        """Whether a total or a spend says so, and no declaration of its owner since."""
        return not self.public and (self.spends > 0 or self.total is not None)

    def account(self, spends: tuple[Spend, ...] = ()) -> Account:
        """The account in words and plain numbers."""
        spent, spent_delta = amounts.parsed(self.spent), amounts.parsed(self.spent_delta)
        totals = self.total, self.total_delta
        limits = [None if each is None else amounts.parsed(each) for each in totals]
        left = [
            None if limit is None else float(amounts.left(limit, amount))
            for limit, amount in zip(limits, (spent, spent_delta), strict=True)
        ]
        return Account(
            self.name,
            None if limits[0] is None else float(limits[0]),
            None if limits[1] is None else float(limits[1]),
            float(spent),
            float(spent_delta),
            left[0],
            left[1],
            spends,
            f"add or remove {self.unit or 'one privacy unit'}",
            self.public,
        )


@dataclass(frozen=True)
class Entry:
    """One entry; an outcome and an acceptance belong to no account and carry no state."""

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
    state: State | None = None

    def applied(self, before: State | None) -> State | None:
        """The account after this entry; a first one opens it.

        Raises:
            ValueError: an amount is no number, or the kind is none.
        """
        if self.kind not in KINDS:
            raise ValueError(f"entries are {', '.join(KINDS)}")
        if self.kind in {"outcome", "accepted"}:
            return None
        state = before or State(self.name)
        if self.kind == "public":
            return replace(state, public=True)
        epsilon, delta = amounts.parsed(self.epsilon), amounts.parsed(self.delta)
        if self.kind == "total":
            return replace(state, total=self.epsilon, total_delta=self.delta, public=False)
        spent = amounts.total(amounts.parsed(state.spent), charge(epsilon, self.neighbours))
        spent_delta = amounts.total(amounts.parsed(state.spent_delta), delta)
        return replace(
            state,
            spent=str(spent),
            spent_delta=str(spent_delta),
            unit=state.unit or self.unit,
            spends=state.spends + 1,
            public=False,
        )

    def spend(self, outcome: str) -> Spend:
        """The spend that this entry is."""
        epsilon = amounts.parsed(self.epsilon)
        return Spend(
            self.name if self.state is None else self.state.name,
            self.what,
            self.unit,
            float(epsilon),
            float(amounts.parsed(self.delta)),
            self.at,
            self.purpose,
            self.release,
            outcome,
            self.neighbours,
            float(charge(epsilon, self.neighbours)),
        )

    def body(self) -> str:
        """The text that is written and hashed."""
        return json.dumps(vars(self), default=vars, ensure_ascii=False, sort_keys=True)

    @classmethod
    def of(cls, body: str) -> Entry:
        """The inverse of :meth:`body`.

        Raises:
            ValueError, TypeError, KeyError: no entry.
        """
        values: dict[str, Any] = json.loads(body)
        state = values.pop("state")
        entry = cls(**values, state=None if state is None else State(**state))
        if entry.kind not in KINDS or (state is None) != (entry.kind in {"outcome", "accepted"}):
            raise ValueError("no entry of a ledger")
        return entry


@dataclass(frozen=True)
class Head:
    """The last entry of a chain: its number and its hash; before the first one (0, zeros)."""

    id: int = 0
    hash: str = field(default=GENESIS)

    def after(self, body: str) -> Head:
        """The head once an entry with this body follows."""
        return Head(self.id + 1, hashlib.sha256(f"{self.hash}\n{body}".encode()).hexdigest())


def charge(epsilon: Decimal, neighbours: str) -> Decimal:
    """What a price counts for adding or removing one unit.

    To replace a unit is to remove one and to add another, and every driver here buys it so: at half
    the ε, or for twice the sensitivity, of each of the two steps. So a price to replace, ε, is ε/2
    to add or remove. (That is a fact about these mechanisms: a method that only held the number of
    units fixed would promise nothing about adding one, and must never be entered as "replace".)

    Raises:
        ValueError: an unknown relation.
    """
    if neighbours not in NEIGHBOURS:
        raise ValueError(f"neighbours={neighbours!r}: choose one of {', '.join(NEIGHBOURS)}")
    return amounts.half(epsilon) if NEIGHBOURS[neighbours] == 2 else epsilon
