"""Paying: the one way from a price to permission to draw noise, for every kind of data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from dpviz.errors import DpvizError, PrivacyError
from dpviz.private.ledger import Ledger


class Accountable(Protocol):
    """What a handle tells the ledger about its data set."""

    @property
    def name(self) -> str:
        """The owner's name for the data set."""

    @property
    def public(self) -> bool:
        """Whether every record is declared public: then nothing is paid."""

    @property
    def accounted_unit(self) -> str:
        """The privacy unit without its bound: prices for "one person" add up whatever the bound."""


@contextmanager
def payment(
    ledger: Ledger | None,
    data: Accountable,
    what: str,
    epsilon: float,
    delta: float = 0.0,
    purpose: str = "",
) -> Iterator[dict[str, str]]:
    """Pay before the body runs, and note how it went.

    Args:
        ledger: pays; without one the caller keeps the account.
        data: of which the body makes a release; public data cost nothing.
        what: is bought, for instance the method.
        epsilon: the whole price for one privacy unit.
        delta: the whole delta.
        purpose: in the buyer's words.

    Yields:
        For the release's header: its id in the ledger, or nothing where nothing was paid.

    Raises:
        BudgetError: not enough is left; nothing was spent.
        LedgerError: the ledger cannot be read or written; nothing was spent.
        PrivacyError: the body failed. Only our own errors are known to quote no record; of any
            other, its kind is told and nothing else.
    """
    if ledger is None or data.public:
        yield {}
        return
    unit = data.accounted_unit
    paid = ledger.spend(data.name, epsilon, delta, what=what, purpose=purpose, unit=unit)
    try:
        yield {"release_id": paid}
    except BaseException as error:
        ledger.conclude(paid, failed=True)
        if not isinstance(error, Exception):
            raise
        why = str(error) if isinstance(error, DpvizError) else type(error).__name__
        raise PrivacyError(
            f"the build failed after epsilon={epsilon:g} was paid, which stays spent: {why}"
        ) from None
    ledger.conclude(paid)
