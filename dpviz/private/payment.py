"""Payment: every kind of data pays here before it may draw noise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpviz.errors import DpvizError, PrivacyError
from dpviz.private.handle import Handle
from dpviz.private.ledger import Ledger, new_release

USER_LEDGER = Ledger()
"""This user's ledger, which pays by default; its path is looked up at each payment."""

UNPAID = {"ledger": "not entered in a ledger"}
"""Header text of a release of sensitive records that no ledger paid for."""


def require_public(ledger: Ledger | None, data: Handle[Any], *, declare: bool = False) -> None:
    """Refuse data declared public that the ledger knows as sensitive.

    Raises LedgerError: the ledger cannot be read, or not written where the owner insists.

    Args:
        ledger: may know the data as sensitive; None skips the check.
        data: a handle; only data declared public, and not synthetic, are checked.
        declare: the owner insists that they are public, and the ledger records it.
    """
    if ledger is None or not data.public or data.synthetic:
        return
    if not ledger.sensitive(data.account):
        return
    if declare:
        ledger.declare_public(data.account)
    else:
        raise PrivacyError(
            f"data set {data.account!r} is recorded as sensitive in the ledger, so it cannot be "
            "public: build it as sensitive, or declare it public with declare_public=True (dpviz "
            "build --public --declare-public), which the ledger records"
        )


@contextmanager
def payment(
    ledger: Ledger | None,
    data: Handle[Any],
    what: str,
    epsilon: float,
    delta: float = 0.0,
    purpose: str = "",
    *,
    neighbours: str = "add-remove",
    declare_public: bool = False,
    conclude: bool = True,
    rho: float | None = None,
) -> Iterator[dict[str, str]]:
    """Pay before the body runs, and record its outcome in the ledger.

    Yields header fields of the release: its id in the ledger, or that no ledger holds the price;
    none for public data.

    Args:
        ledger: pays from the account of the data. Without one the caller keeps the account, and
            the release says that no ledger does.
        data: source of the release that the body makes; public data cost nothing.
        what: the thing that is bought, for instance the method.
        neighbours: the relation that the price is for, "add-remove" or "replace".
        conclude: record that it was released; if False, the caller does so later.
        rho: the ρ of zCDP, where the release has one beside epsilon and delta.

    Raises:
        BudgetError: not enough is left; nothing was spent.
        LedgerError: the ledger cannot be read or written; nothing was spent.
        PrivacyError: the data are declared public, but the ledger knows them as sensitive; or the
            body failed. The message of a foreign error may quote records: only its type is named.
    """
    if data.public:
        require_public(ledger, data, declare=declare_public)
        yield {}
        return
    if ledger is None:
        yield dict(UNPAID)
        return
    release, paid = new_release(), False
    try:
        ledger.spend(
            data.account,
            epsilon,
            delta,
            what=what,
            purpose=purpose,
            unit=data.accounted_unit,
            neighbours=neighbours,
            release=release,
            period=data.charged,
            rho=rho,
        )
        paid = True
        yield {"release_id": release}
    except Exception as error:
        if not paid:
            raise
        ledger.record_outcome(release, failed=True)
        why = str(error) if isinstance(error, DpvizError) else type(error).__name__
        raise PrivacyError(
            f"the build failed after epsilon={epsilon:g} was paid, which stays spent: {why}"
        ) from None
    except BaseException:  # Ctrl-C may come after the entry was written
        ledger.record_outcome(release, failed=True)
        raise
    if conclude:
        ledger.record_outcome(release)
