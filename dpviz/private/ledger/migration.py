"""Ledgers of version 1, without a chain: their rows become its first entries."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from fractions import Fraction

from dpviz.private.ledger import chain
from dpviz.private.ledger.amounts import parsed
from dpviz.private.ledger.entries import Entry, Head, State
from dpviz.private.ledger.names import account_key


def migrate(db: sqlite3.Connection) -> None:
    """Copy totals, spends and outcomes into the new tables; the old ones stay as they are.

    Names that are one account now share what they spent, and keep the smallest of their totals.

    Raises:
        ValueError: an amount or a name that no ledger holds.
    """
    head, states = Head(), dict[str, State]()

    def add(entry: Entry) -> None:
        nonlocal head
        state = entry.applied(states.get(entry.account))
        head = chain.append(db, head, replace(entry, state=state))
        if state is not None:
            states[entry.account] = state

    totals = db.execute("SELECT dataset, epsilon, delta, at FROM total ORDER BY at, dataset")
    for dataset, epsilon, delta, at in totals.fetchall():
        known = states.get(account_key(dataset))
        if known is not None and known.total is not None and known.total_delta is not None:
            epsilon, delta = _least(epsilon, known.total), _least(delta, known.total_delta)
        add(Entry("total", at, account_key(dataset), dataset, epsilon, delta))
    spends = db.execute(
        "SELECT dataset, epsilon, delta, at, unit, what, purpose, release, outcome FROM spend "
        "ORDER BY id"
    )
    for dataset, epsilon, delta, at, unit, what, purpose, release, outcome in spends.fetchall():
        add(
            Entry(
                "spend",
                at,
                account_key(dataset),
                dataset,
                epsilon,
                delta,
                unit=unit,
                what=what,
                purpose=purpose,
                release=release,
            )
        )
        if outcome != "paid":
            add(Entry("outcome", at, release=release, outcome=outcome))


def _least(first: str, second: str) -> str:
    return first if Fraction(parsed(first)) <= Fraction(parsed(second)) else second
