"""The ledger: what every data set has spent, across sessions and processes, in one SQLite file.

A spend is checked against the total and made durable in one exclusive transaction BEFORE any noise
is drawn, so that neither two processes together nor a crash at any point can give a release that
was not paid for; what a crashed build had paid stays paid. Rows are never changed or removed, but
for the outcome of a build. Sums are exact: an amount counts as the decimal number that was typed.

A data set is what its owner calls by one name; a hash of the file would be a fact about records.
The owner must use one name for all files about the same people, and keep the file: WHO DELETES,
RENAMES OR COPIES A LEDGER, OR GIVES THE SAME RECORDS A SECOND NAME, STARTS A NEW ACCOUNT.
"""

from __future__ import annotations

import math
import os
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from dpviz.errors import BudgetError, LedgerError

APPLICATION_ID = 0x64707669  # "dpvi"
VERSION = 1
WAIT = 30.0
"""Seconds that a spend waits for another one to finish."""
VARIABLE = "DPVIZ_LEDGER"

SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
CREATE TABLE total (
    dataset TEXT PRIMARY KEY, epsilon TEXT NOT NULL, delta TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE spend (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    dataset TEXT NOT NULL, what TEXT NOT NULL, unit TEXT NOT NULL,
    epsilon TEXT NOT NULL, delta TEXT NOT NULL,
    at TEXT NOT NULL, purpose TEXT NOT NULL, release TEXT NOT NULL UNIQUE,
    outcome TEXT NOT NULL DEFAULT 'paid' CHECK (outcome IN ('paid', 'released', 'failed'))
) STRICT;
CREATE TRIGGER total_once BEFORE UPDATE ON total BEGIN
    SELECT RAISE(ABORT, 'a total is set once'); END;
CREATE TRIGGER total_stays BEFORE DELETE ON total BEGIN
    SELECT RAISE(ABORT, 'a total is set once'); END;
CREATE TRIGGER spend_stays BEFORE DELETE ON spend BEGIN
    SELECT RAISE(ABORT, 'a spend is never removed'); END;
CREATE TRIGGER spend_fixed
    BEFORE UPDATE OF id, dataset, what, unit, epsilon, delta, at, purpose, release ON spend BEGIN
    SELECT RAISE(ABORT, 'a spend is never changed'); END;
CREATE TRIGGER outcome_once BEFORE UPDATE OF outcome ON spend WHEN old.outcome <> 'paid' BEGIN
    SELECT RAISE(ABORT, 'an outcome is written once'); END;
"""


@dataclass(frozen=True)
class Spend:
    """One row: what was bought, for how much of the data set, when and what for.

    Attributes:
        outcome: ``released``; ``failed``; or ``paid`` while a build runs, and for ever after a
            crash. All three count in full.
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


@dataclass(frozen=True)
class Account:
    """A data set's total (None until its owner sets one), and what is spent and left of it."""

    dataset: str
    total: float | None
    total_delta: float | None
    spent: float
    spent_delta: float
    left: float | None
    left_delta: float | None
    spends: tuple[Spend, ...]


def default_path() -> Path:
    """The ledger of this user: ``$DPVIZ_LEDGER``, or a file in the user's data folder."""
    from platformdirs import user_data_path

    given = os.environ.get(VARIABLE)
    return Path(given) if given else user_data_path("dpviz", appauthor=False) / "ledger.sqlite"


class Ledger:
    """The accounts in one file, on a local disk (locks of network file systems are unreliable).

    Every operation opens the file anew, so that one object serves all threads.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = None if path is None else Path(path)

    @property
    def path(self) -> Path:
        """Of the file; that of this user where none was named."""
        return default_path() if self._path is None else self._path

    def sensitive(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the names that a build of sensitive records was ever paid for under."""
        return tuple(name for name in names if self.account(name).spends)

    def declare_public(self, names: Sequence[str]) -> None:
        """Record that their owner declares these data public after all."""
        raise LedgerError(f"{self.path.name}: a declaration cannot be recorded yet")

    def account(self, dataset: str) -> Account:
        """What a data set has spent; an unknown one has spent nothing."""
        with self._opened() as db:
            return _account(db, _named(dataset)) if db else _empty(_named(dataset))

    def accounts(self) -> tuple[Account, ...]:
        """All data sets, by name."""
        with self._opened() as db:
            if db is None:
                return ()
            query = "SELECT dataset FROM total UNION SELECT dataset FROM spend ORDER BY 1"
            return tuple(_account(db, name) for (name,) in db.execute(query).fetchall())

    def set_total(self, dataset: str, epsilon: float, delta: float = 0.0) -> Account:
        """Set the total of a data set, once and for ever.

        Raises:
            BudgetError: it was set before, or more than that is spent already.
        """
        dataset = _named(dataset)
        total, total_delta = _amount(epsilon, "epsilon"), _amount(delta, "delta", least=0.0)
        with self._writing() as db:
            before = _account(db, dataset)
            if before.total is not None:
                raise BudgetError(
                    f"data set {dataset!r} has its total, epsilon={before.total:g}: "
                    "it is set once and cannot be changed"
                )
            spent, spent_delta = _sums(db, dataset)
            if spent > Fraction(total) or spent_delta > Fraction(total_delta):
                raise BudgetError(
                    f"data set {dataset!r} has spent epsilon={before.spent:g}, "
                    f"delta={before.spent_delta:g} already: give a total that covers it"
                )
            row = (dataset, total, total_delta, _now())
            db.execute("INSERT INTO total VALUES (?, ?, ?, ?)", row)
        return self.account(dataset)

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
    ) -> str:
        """Pay; when this returns, the row is on disk.

        Args:
            dataset: the owner's name for the data set.
            epsilon: the whole price for one privacy unit.
            delta: the whole delta.
            what: what is bought, for instance the method.
            purpose: what for, in the buyer's words.
            unit: the privacy unit without its bound. Prices for different units do not add up, so
                that the first spend fixes the unit of a data set.
            neighbours: the relation that the price is for, "add-remove" or "replace".

        Returns:
            The id of the release that may now be made.

        Raises:
            BudgetError: more than is left, or another privacy unit than before.
            LedgerError: the file is damaged, busy, read-only or its disk is full: nothing is spent.
        """
        dataset = _named(dataset if isinstance(dataset, str) else dataset[0])
        price, price_delta = _amount(epsilon, "epsilon"), _amount(delta, "delta", least=0.0)
        release = uuid.uuid4().hex
        with self._writing() as db:
            account = _account(db, dataset)
            if account.spends and account.spends[0].unit != unit:
                raise BudgetError(
                    f"data set {dataset!r} is accounted for {account.spends[0].unit}, not {unit}: "
                    "prices for different privacy units do not add up, keep to one"
                )
            spent, spent_delta = _sums(db, dataset)
            for name, amount, before, total in (
                ("epsilon", price, spent, account.total),
                ("delta", price_delta, spent_delta, account.total_delta),
            ):
                if total is not None and before + Fraction(amount) > Fraction(repr(total)):
                    left = float(Fraction(repr(total)) - before)
                    raise BudgetError(
                        f"cannot spend {name}={float(amount):g} on data set {dataset!r}: "
                        f"{left:g} of {total:g} is left"
                    )
            db.execute(
                "INSERT INTO spend (dataset, what, unit, epsilon, delta, at, purpose, release) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (dataset, what, unit, price, price_delta, _now(), purpose, release),
            )
        return release

    def conclude(self, release: str, *, failed: bool = False) -> None:
        """Note the outcome of a build; the spend stays either way.

        Where the note cannot be written the row stays ``paid``, and the release is not lost.
        """
        with suppress(LedgerError), self._writing() as db:
            outcome = "failed" if failed else "released"
            db.execute("UPDATE spend SET outcome = ? WHERE release = ?", (outcome, release))

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection | None]:
        """A checked connection for reading; None where there is no ledger yet."""
        with self._errors():
            if not self.path.exists():
                yield None
                return
            with closing(self._connect()) as db:
                db.execute("BEGIN")  # one moment's state for all queries
                yield db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A checked connection in an exclusive transaction, durable once it is left."""
        with self._errors():
            if not self.path.exists():
                self._create()
            with closing(self._connect()) as db:
                db.execute("BEGIN IMMEDIATE")  # no other spend between the check and the row
                try:
                    yield db
                    db.execute("COMMIT")
                except BaseException:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                    raise

    def _connect(self) -> sqlite3.Connection:
        # mode=rw: a ledger that vanished meanwhile is not silently begun anew.
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        db = sqlite3.connect(address, uri=True, timeout=WAIT, isolation_level=None)
        try:
            # EXTRA also syncs the folder after the rollback journal goes: a power cut cannot
            # bring the journal back and undo a spend.
            db.execute("PRAGMA synchronous = EXTRA")
            if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                raise LedgerError(f"{self.path.name}: not a ledger, or damaged: restore a copy")
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version != VERSION:
                raise LedgerError(f"{self.path.name}: ledger version {version}: update dpviz")
            if db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                raise sqlite3.DatabaseError("integrity check failed")
        except BaseException:
            db.close()
            raise
        return db

    def _create(self) -> None:
        """A whole empty ledger appears at once, so that an empty file is never taken for one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".ledger-", dir=self.path.parent)
        os.close(handle)
        try:
            with closing(sqlite3.connect(name, isolation_level=None)) as db:
                db.executescript(f"BEGIN; {SCHEMA} COMMIT;")
            try:
                os.link(name, self.path)  # unlike a rename, never replaces another's new ledger
            except FileExistsError:
                return
            _sync_folder(self.path.parent)
        finally:
            Path(name).unlink(missing_ok=True)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        name = self.path.name
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                reason = f"in use by another process for over {WAIT:g} s: try again"
            else:
                reason = (
                    "cannot be read or written (rights, or a full disk): mend that, or name another"
                )
            raise LedgerError(f"{name}: the ledger is {reason}; nothing was spent") from error
        except sqlite3.DatabaseError as error:
            raise LedgerError(
                f"{name}: the ledger is damaged: restore a copy; nothing was changed or spent"
            ) from error
        except OSError as error:
            raise LedgerError(
                f"{name}: the ledger cannot be made ({error.strerror}): name a file in a folder "
                "that can be written; nothing was spent"
            ) from error


def _account(db: sqlite3.Connection, dataset: str) -> Account:
    columns = "dataset, what, unit, epsilon, delta, at, purpose, release, outcome"
    rows = db.execute(f"SELECT {columns} FROM spend WHERE dataset = ? ORDER BY id", (dataset,))
    spends = tuple(_spend(*row) for row in rows)
    spent, spent_delta = _sums(db, dataset)
    total = db.execute("SELECT epsilon, delta FROM total WHERE dataset = ?", (dataset,)).fetchone()
    if total is None:
        return Account(dataset, None, None, float(spent), float(spent_delta), None, None, spends)
    return Account(
        dataset,
        float(total[0]),
        float(total[1]),
        float(spent),
        float(spent_delta),
        float(Fraction(total[0]) - spent),
        float(Fraction(total[1]) - spent_delta),
        spends,
    )


def _spend(
    dataset: str, what: str, unit: str, epsilon: str, delta: str, at: str, *rest: str
) -> Spend:
    try:
        return Spend(dataset, what, unit, float(epsilon), float(delta), at, *rest)
    except ValueError as error:
        raise sqlite3.DatabaseError("an amount is not a number") from error


def _empty(dataset: str) -> Account:
    return Account(dataset, None, None, 0.0, 0.0, None, None, ())


def _sums(db: sqlite3.Connection, dataset: str) -> tuple[Fraction, Fraction]:
    """Exact sums, whatever the order and however many rows."""
    rows = db.execute("SELECT epsilon, delta FROM spend WHERE dataset = ?", (dataset,)).fetchall()
    try:
        spent = sum((Fraction(row[0]) for row in rows), Fraction(0))
        spent_delta = sum((Fraction(row[1]) for row in rows), Fraction(0))
    except (ValueError, ZeroDivisionError) as error:
        raise sqlite3.DatabaseError("an amount is not a number") from error
    return spent, spent_delta


def _amount(value: float, name: str, least: float = math.ulp(0.0)) -> str:
    """An amount as its shortest decimal: 0.1 ten times is 1, as whoever typed it means."""
    number = float(value)
    if not (math.isfinite(number) and number >= least):
        raise BudgetError(f"{name}={value!r}: give a positive, finite number such as 1")
    return repr(number)


def _named(dataset: str) -> str:
    if not dataset.strip() or len(dataset) > 200 or not dataset.isprintable():
        raise BudgetError("a data set needs a name of 1 to 200 printable characters")
    return dataset.strip()


def _now() -> str:
    """For the reader only: order and sums never depend on the clock."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _sync_folder(folder: Path) -> None:
    """The new name itself survives a power cut (POSIX; Windows syncs names by itself)."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
