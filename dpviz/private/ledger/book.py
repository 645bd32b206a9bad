"""The ledger as builds, pages and commands use it."""

from __future__ import annotations

import os
import unicodedata
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpviz.domain.units import ChargedPeriod, TimeUnits
from dpviz.domain.zones import zone_name
from dpviz.errors import BudgetError, LedgerError
from dpviz.private.ledger import chain
from dpviz.private.ledger.balance import Piece, State
from dpviz.private.ledger.chain import read_seal, seal_path, write_seal
from dpviz.private.ledger.entries import (
    NEIGHBOURS,
    Account,
    DamageError,
    Entry,
    amount,
    probability,
)
from dpviz.private.ledger.file import default_path, expand_home, opened
from dpviz.private.ledger.names import account_key, checked_name


class Ledger:
    """The accounts in one file, on a local disk (locks of network file systems are unreliable).

    Every operation opens the file anew, so that one object serves all threads.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        if not isinstance(path, str | os.PathLike | None):
            raise LedgerError(f"path={path!r}: give the ledger's file")
        self._path = None if path is None else expand_home(path)

    @property
    def path(self) -> Path:
        """Path of the file (default: this user's)."""
        return default_path() if self._path is None else self._path

    @property
    def files(self) -> tuple[Path, Path]:
        """Paths of the ledger file and its seal: commands must not write there."""
        return self.path, seal_path(self.path)

    def account(self, dataset: str, period: Any = None) -> Account:
        """The account of a data set; an unknown data set has spent nothing.

        Args:
            dataset: any spelling of its name.
            period: in a calendar, the start and end (exclusive) of the times to look at.

        Raises:
            BudgetError: a period, and no calendar.
            DomainError: an invalid period.
        """
        checked_name(dataset)
        with self._opened() as (state, _):
            balance = state.balance(dataset)
            return balance.account(state.outcomes, balance.span(period))

    def accounts(self) -> tuple[Account, ...]:
        """All data sets, by name."""
        with self._opened() as (state, _):
            every = sorted(state.balances.items())
            return tuple(each.account(state.outcomes) for _, each in every)

    def calendar(self, dataset: str) -> tuple[Piece, ...]:
        """Charges of a data set by time, in order of time; neighbouring charges differ."""
        checked_name(dataset)
        with self._opened() as (state, _):
            return state.balance(dataset).pieces

    def begin_calendar(self, dataset: str, unit: str, zone: str) -> Account:
        """Account for a person's records of one unit of time from now on, for good.

        What was spent for a whole person is charged twice to every unit.

        Args:
            dataset: its name.
            unit: "day", "week" (from Monday) or "month".
            zone: the time zone on whose clocks units begin.

        Raises:
            BudgetError: there is a calendar, one record is the unit, or twice what is spent exceeds
                the total.
            DomainError: another unit, or an unknown zone.
        """
        frame = TimeUnits(unit, zone_name(zone))
        with self._opened(write=True) as (state, add):
            state.balance(dataset).require_calendar(frame)
            add("calendar", dataset, frame=str(frame))
        return self.account(dataset)

    def sensitive(self, dataset: str) -> bool:
        """True if a data set is known as sensitive: a total is set, or something was spent."""
        with self._opened() as (state, _):
            return state.balance(dataset).sensitive

    def declare_public(self, dataset: str) -> None:
        """Record the owner's declaration that a data set is public after all."""
        checked_name(dataset)
        with self._opened(write=True) as (_, add):
            add("public", dataset)

    def set_total(self, dataset: str, epsilon: float, delta: float = 0.0) -> Account:
        """Set the lifetime budget of a data set, to add or remove one of its units.

        Raises:
            BudgetError: it was set before, more than that is spent already, or no amounts.
        """
        checked_name(dataset)
        total, total_delta = amount(epsilon, "epsilon"), probability(delta)
        with self._opened(write=True) as (state, add):
            before = state.balance(dataset)
            if before.total is not None:
                raise BudgetError(
                    f"data set {before.name!r} has a total already, "
                    f"epsilon={float(before.total):g}: it is set once and cannot be changed"
                )
            spent, spent_delta = before.profile.largest()
            if spent > Fraction(total) or spent_delta > Fraction(total_delta):
                raise BudgetError(
                    f"data set {before.name!r} has spent epsilon={float(spent):g}, "
                    f"delta={float(spent_delta):g} already: give a total that covers it"
                )
            add("total", dataset, epsilon=total, delta=total_delta)
        return self.account(dataset)

    def spend(
        self,
        dataset: str,
        epsilon: float,
        delta: float = 0.0,
        *,
        what: str,
        purpose: str = "",
        unit: str = "one record",
        neighbours: str = "add-remove",
        release: str = "",
        period: ChargedPeriod | None = None,
        beside: Sequence[str] = (),
        rho: float | None = None,
    ) -> str:
        """Pay; when this returns, the entry is on disk.

        Args:
            dataset: the owner's name for the data set.
            epsilon: the whole price for one privacy unit.
            delta: the whole delta.
            what: the thing that is bought, for instance the method.
            purpose: purpose of the release, in the buyer's words.
            unit: the privacy unit without its bound. Prices for different units do not add up, so
                that the first spend fixes the unit of a data set.
            neighbours: the relation that the price is for, "add-remove" or "replace". An account
                counts what adding or removing a unit costs: half of what replacing one does.
            release: its id, a new one by default. A caller who chose it can conclude the release
                even if an interrupt came between the entry and the return.
            period: with a calendar, the period of the records; all its units of time are charged.
            rho: the ρ of zCDP, where the release has one beside epsilon and delta.
            beside: names of further data sets that the release reads: all pay the price, or none.

        Returns:
            The id of the release that may now be made.

        Raises:
            BudgetError: more than is left, another privacy unit or calendar than before, or no
                amount or text.
            LedgerError: the file is damaged, busy, read-only or its disk is full: nothing is spent.
        """
        if neighbours not in NEIGHBOURS:
            raise BudgetError(f"neighbours={neighbours!r}: choose one of {', '.join(NEIGHBOURS)}")
        release = release or new_release()
        texts = {"what": what, "purpose": purpose, "unit": unit, "release": release}
        for field, text in texts.items():
            _require_line(field, text)
        price = {"epsilon": amount(epsilon, "epsilon"), "delta": probability(delta)}
        bought: dict[str, Any] = {**price, **texts, "neighbours": neighbours}
        if rho is not None:
            bought["rho"] = amount(rho, "rho")
        if period is not None:
            bought |= {"frame": str(period.units), "units": period.span, "time": period.column}
        names = {account_key(each): each for each in (dataset, *beside)}
        with self._opened(write=True) as (state, add):
            for each in names.values():
                state.balance(each).require_room(Entry(kind="spend", at="", **bought))
            for each in names.values():
                add("spend", each, **bought)
        return release

    def record_outcome(self, release: str, *, failed: bool = False, lost: bool = False) -> None:
        """Record the outcome of a paid build; the spend stays whatever the outcome.

        Where the note cannot be written the row stays ``paid``, and the release is not lost.

        Args:
            release: its id.
            failed: nothing was made.
            lost: it was made, and could not be written anywhere.
        """
        outcome = "failed" if failed else "lost" if lost else "released"
        with suppress(LedgerError), self._opened(write=True) as (state, add):
            before = state.outcome(release)
            if before == "paid" or (lost and before == "released"):
                add("outcome", release=release, outcome=outcome)

    def outcome(self, release: str) -> str | None:
        """Outcome of a paid build, ``paid`` until it is known; None for an unknown release."""
        with self._opened() as (state, _):
            return state.outcome(release)

    def verify(self, *, accept: bool = False) -> int:
        """Check every page and entry, and the seal.

        Args:
            accept: use a restored, older or new ledger instead of the sealed one from now on; the
                ledger records this.

        Returns:
            Number of entries.

        Raises:
            LedgerError: an entry, page or the seal was changed; it names the problem and a remedy.
        """
        path = self.path
        before = read_seal(path)
        if accept and not (path.exists() and path.stat().st_size):
            seal_path(path).unlink(missing_ok=True)
        with opened(path, write=accept) as db:
            if db is None:
                return 0
            if db.execute("PRAGMA integrity_check(1)").fetchone()[0] != b"ok":
                raise DamageError("its integrity check failed")
            try:
                _, head = chain.checked_state(db, before, State())
            except DamageError:
                if not accept or before is None:
                    raise
                _, head = chain.checked_state(db, None, State())  # its own chain must be intact
                what = f"in place of {before.id} {before.hash}"
                head = chain.append(db, head, Entry(kind="accepted", at=_now(), what=what))
        write_seal(path, head, back=accept)
        return head.id

    @contextmanager
    def _opened(self, *, write: bool = False) -> Iterator[tuple[State, Any]]:
        """Open a transaction: the state of all entries and, to write, a function that adds one."""
        path = self.path
        with opened(path, write=write) as db:
            if db is None:  # no ledger yet
                yield State(), None
                return
            state, head = chain.checked_state(db, read_seal(path), _CHECKED.get(path, State()))
            if len(_CHECKED) >= MAX_CHECKED:
                _CHECKED.clear()
            _CHECKED[path] = state

            def add(kind: str, dataset: str = "", **fields: Any) -> None:
                nonlocal head
                if dataset:
                    fields |= {"account": account_key(dataset), "name": checked_name(dataset)}
                head = chain.append(db, head, Entry(kind=kind, at=_now(), **fields))

            yield state, add
        write_seal(path, head)


_CHECKED: dict[Path, State] = {}
"""Last checked state of ledgers that this process has opened."""
MAX_CHECKED = 8


def new_release() -> str:
    """An id that no other release has."""
    return uuid.uuid4().hex


def _require_line(field: str, text: Any) -> None:
    """Refuse text that cannot be read back as one line."""
    if not isinstance(text, str):
        raise BudgetError(f"{field}={text!r}: give a text")
    if any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in text):
        raise BudgetError(
            f"the {field} holds line breaks, control characters or no Unicode text: give one line"
        )


def _now() -> str:
    """Current time, for readers only: order and sums never depend on it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
