"""The ledger as builds, pages and commands use it."""

from __future__ import annotations

import os
import sqlite3
import unicodedata
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from dpviz.arguments import typed
from dpviz.errors import BudgetError, LedgerError
from dpviz.private.ledger import amounts, chain
from dpviz.private.ledger.entries import (
    NEIGHBOURS,
    Account,
    DamageError,
    Entry,
    Head,
    State,
    charge,
)
from dpviz.private.ledger.file import default_path, located, opened
from dpviz.private.ledger.names import account_key, checked_name
from dpviz.private.ledger.seal import seal, seal_path, sealed


class Ledger:
    """The accounts in one file, on a local disk (locks of network file systems are unreliable).

    Every operation opens the file anew, so that one object serves all threads.
    """

    @typed(LedgerError)
    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = None if path is None else located(path)

    @property
    def path(self) -> Path:
        """Of the file; that of this user where none was named."""
        return default_path() if self._path is None else self._path

    @property
    def files(self) -> tuple[Path, Path]:
        """The ledger's file and its seal: nothing else may be written there."""
        return self.path, seal_path(self.path)

    @typed(LedgerError)
    def account(self, dataset: str, *, history: bool = True) -> Account:
        """What a data set has spent; an unknown one has spent nothing.

        Args:
            dataset: any spelling of its name.
            history: with its spends; without them the answer takes as long however many there are.
        """
        name, key = checked_name(dataset), account_key(dataset)
        with self._reading() as db:
            return State(name).account() if db is None else _account(db, key, name, history)

    def accounts(self) -> tuple[Account, ...]:
        """All data sets, by name."""
        with self._reading() as db:
            if db is None:
                return ()
            keys = [key for (key,) in db.execute("SELECT key FROM account ORDER BY key")]
            return tuple(_account(db, key, key, True) for key in keys)

    @typed(LedgerError)
    def sensitive(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the names that are known as sensitive: with a total, or with a spend."""
        with self._reading() as db:
            if db is None:
                return ()
            states = [(name, chain.state_of(db, account_key(name))) for name in names]
            return tuple(name for name, state in states if state is not None and state.sensitive)

    @typed(LedgerError)
    def declare_public(self, names: Sequence[str]) -> None:
        """Record that their owner declares these data public after all."""
        with self._writing() as (db, head):
            for name in names:
                state = chain.state_of(db, account_key(name))
                entry = Entry("public", _now(), account_key(name), checked_name(name))
                head = chain.append(db, head, replace(entry, state=entry.applied(state)))

    @typed(BudgetError)
    def set_total(self, dataset: str, epsilon: float, delta: float = 0.0) -> Account:
        """Set the total of a data set, to add or remove one of its units, permanently.

        Raises:
            BudgetError: it was set before, more than that is spent already, or no amounts.
        """
        name, key = checked_name(dataset), account_key(dataset)
        total = amounts.amount(epsilon, "epsilon")
        total_delta = amounts.probability(delta)
        with self._writing() as (db, head):
            state = chain.state_of(db, key) or State(name)
            before = state.account()
            if before.total is not None:
                raise BudgetError(
                    f"data set {before.dataset!r} has its total, epsilon={before.total:g}: "
                    "it is set once and cannot be changed"
                )
            if (
                amounts.parsed(state.spent) > total
                or amounts.parsed(state.spent_delta) > total_delta
            ):
                raise BudgetError(
                    f"data set {before.dataset!r} has spent epsilon={before.spent:g}, "
                    f"delta={before.spent_delta:g} already: give a total that covers it"
                )
            entry = Entry("total", _now(), key, name, str(total), str(total_delta))
            chain.append(db, head, replace(entry, state=entry.applied(state)))
        return self.account(dataset)

    @typed(BudgetError)
    def spend(
        self,
        dataset: str | Sequence[str],
        epsilon: float,
        delta: float = 0.0,
        *,
        what: str,
        purpose: str = "",
        unit: str = "one record",
        neighbours: str = "add-remove",
        release: str = "",
    ) -> str:
        """Pay; when this returns, the entries are on disk.

        Args:
            dataset: the owner's name for the data set; or the names of all that are in it, each of
                which pays the whole price, or none does.
            epsilon: the whole price for one privacy unit.
            delta: the whole delta.
            what: what is bought, for instance the method.
            purpose: what for, in the buyer's words.
            unit: the privacy unit without its bound. Prices for different units do not add up, so
                that the first spend fixes the unit of a data set.
            neighbours: the relation that the price is for, "add-remove" or "replace". An account
                counts what adding or removing a unit costs: half of what replacing one does.
            release: its id, a new one by default. Who chose it can conclude the release also where
                an interrupt came between the entries and the return.

        Returns:
            The id of the release that may now be made.

        Raises:
            BudgetError: more than is left, another privacy unit than before, or no amount or text.
            LedgerError: the file is damaged, busy, read-only or its disk is full: nothing is spent.
        """
        if neighbours not in NEIGHBOURS:
            raise BudgetError(f"neighbours={neighbours!r}: choose one of {', '.join(NEIGHBOURS)}")
        names = [dataset] if isinstance(dataset, str) else list(dataset)
        if not names:
            raise BudgetError("a data set needs a name of 1 to 200 printable characters")
        texts = {"what": what, "purpose": purpose, "unit": unit, "release": release}
        for field, text in texts.items():  # anything else would not read back as it was sealed
            if not isinstance(text, str):
                raise BudgetError(f"{field}={text!r}: give a text")
        if purpose.encode(errors="ignore").decode() != purpose:
            raise BudgetError("the purpose is no Unicode text: write it in UTF-8")
        if any(unicodedata.category(letter) in ("Cc", "Zl", "Zp") for letter in purpose):
            raise BudgetError("the purpose holds line breaks or control characters: give one line")
        payers = {account_key(name): checked_name(name) for name in reversed(names)}
        price = amounts.amount(epsilon, "epsilon")
        price_delta = amounts.probability(delta)
        release, now = release or new_release(), _now()
        with self._writing() as (db, head):
            for key, name in reversed(payers.items()):
                state = chain.state_of(db, key)
                entry = Entry(
                    "spend",
                    now,
                    key,
                    name,
                    str(price),
                    str(price_delta),
                    neighbours,
                    unit,
                    what,
                    purpose,
                    release,
                )
                _require_room(entry, state or State(name))
                head = chain.append(db, head, replace(entry, state=entry.applied(state)))
        return release

    @typed(LedgerError)
    def conclude(self, release: str, *, failed: bool = False, lost: bool = False) -> None:
        """Note the outcome of a build that was paid for; the spend stays either way.

        Where the note cannot be written the row stays ``paid``, and the release is not lost.

        Args:
            release: its id.
            failed: nothing was made.
            lost: it was made, and could not be written anywhere.
        """
        outcome = "failed" if failed else "lost" if lost else "released"
        with suppress(LedgerError), self._writing() as (db, head):
            before = chain.outcome(db, release)
            if before == "paid" or (lost and before == "released"):
                chain.append(db, head, Entry("outcome", _now(), release=release, outcome=outcome))

    @typed(LedgerError)
    def outcome(self, release: str) -> str | None:
        """How a build went that was paid for: ``paid`` until it is known; None where none was.

        Args:
            release: its id.
        """
        with self._reading() as db:
            return None if db is None else chain.outcome(db, release)

    @typed(LedgerError)
    def verify(self, *, accept: bool = False) -> int:
        """Check every page, entry, sum and account, and the seal.

        Args:
            accept: go on with a restored, older or new ledger in place of the one that was sealed;
                the ledger records it.

        Returns:
            How many entries there are.

        Raises:
            LedgerError: something is not what was written; says what, and the way out.
        """
        path = self.path
        before = sealed(path)
        if accept and not path.exists():
            seal_path(path).unlink(missing_ok=True)
        with opened(path, write=accept) as db:
            if db is None:
                return 0
            head = chain.verify(db)
            if not accept:
                chain.checked_head(db, before)
            elif before is not None and (
                before.id > head.id or chain.hash_of(db, before.id) != before.hash
            ):
                entry = Entry("accepted", _now(), what=f"in place of {before.id} {before.hash}")
                head = chain.append(db, head, entry)
        seal(path, head, back=accept)
        return head.id

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """A checked connection for reading; None where there is no ledger yet."""
        path = self.path
        with opened(path) as db:
            if db is not None:
                head = chain.checked_head(db, sealed(path))
                yield db
            else:
                yield None
        if db is not None:
            seal(path, head)

    @contextmanager
    def _writing(self) -> Iterator[tuple[sqlite3.Connection, Head]]:
        """A checked connection in an exclusive transaction, durable once it is left."""
        path = self.path
        with opened(path, write=True) as db:
            assert db is not None
            yield db, chain.checked_head(db, sealed(path))
            head = chain.head(db)
        seal(path, head)


def new_release() -> str:
    """An id that no other release has."""
    return uuid.uuid4().hex


def _account(db: sqlite3.Connection, key: str, name: str, history: bool) -> Account:
    state = chain.state_of(db, key)
    if state is None:
        return State(name).account()
    if not history:
        return state.account()
    bought = [entry for entry in chain.entries_of(db, key) if entry.kind == "spend"]
    if len(bought) != state.spends:
        raise DamageError("an entry is missing")
    ended = chain.outcomes_of(db, key)
    spends = tuple(entry.spend(ended.get(entry.release, "paid")) for entry in bought)
    return state.account(spends)


def _require_room(entry: Entry, state: State) -> None:
    """A spend fits into its account.

    Raises:
        BudgetError: it does not, or it is for another privacy unit.
    """
    if state.unit is not None and state.unit != entry.unit:
        raise BudgetError(
            f"data set {state.name!r} is accounted for {state.unit}, not {entry.unit}: "
            "prices for different privacy units do not add up, keep to one"
        )
    epsilon = charge(amounts.parsed(entry.epsilon), entry.neighbours)
    for name, price, spent, total in (
        ("epsilon", epsilon, state.spent, state.total),
        ("delta", amounts.parsed(entry.delta), state.spent_delta, state.total_delta),
    ):
        if total is None:
            continue
        left = amounts.left(amounts.parsed(total), amounts.parsed(spent))
        if price > left:
            asked = "" if entry.neighbours == "add-remove" else " (half the price to replace)"
            raise BudgetError(
                f"cannot spend {name}={float(price):g}{asked} on data set {state.name!r}: "
                f"{float(left):g} of {float(amounts.parsed(total)):g} is left"
            )


def _now() -> str:
    """For the reader only: order and sums never depend on the clock."""
    return datetime.now(UTC).isoformat(timespec="seconds")
