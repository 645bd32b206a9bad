"""The ledger's file: opening, making and migrating it, and what goes wrong there in one line."""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

from dpviz.errors import DpvizError, LedgerError
from dpviz.files.writing import LEDGER_ID, made_up
from dpviz.private.ledger.entries import DamageError
from dpviz.private.ledger.migration import migrate
from dpviz.private.ledger.seal import seal_path

VERSION = 2
OLDEST = (3, 37, 0)
"""The first SQLite with STRICT tables; some systems' own Python comes with an older one."""
WAIT = 30.0
"""Seconds that a spend waits for another one to finish."""
VARIABLE = "DPVIZ_LEDGER"
HOUR = 3600.0
UNFINISHED = re.compile(r"\.ledger-[0-9a-f]{16}-.*", re.DOTALL)
"""Names of ledgers that are being made: one of somebody's own may begin as these do."""

TABLES = """
CREATE TABLE entry (
    id INTEGER PRIMARY KEY, account TEXT NOT NULL, release TEXT NOT NULL,
    body TEXT NOT NULL, hash TEXT NOT NULL
) STRICT;
CREATE INDEX entry_account ON entry (account, id);
CREATE INDEX entry_release ON entry (release, id) WHERE release <> '';
CREATE TABLE account (key TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TRIGGER entry_stays BEFORE DELETE ON entry BEGIN
    SELECT RAISE(ABORT, 'an entry is never removed'); END;
CREATE TRIGGER entry_fixed BEFORE UPDATE ON entry BEGIN
    SELECT RAISE(ABORT, 'an entry is never changed'); END;
CREATE TRIGGER account_stays BEFORE DELETE ON account BEGIN
    SELECT RAISE(ABORT, 'an account is never removed'); END;
CREATE TRIGGER account_grows BEFORE UPDATE ON account
    WHEN new.key <> old.key OR new.last <= old.last BEGIN
    SELECT RAISE(ABORT, 'an account only grows'); END;
"""


class Connection(sqlite3.Connection):
    """A connection whose queries end with it.

    A row that is refused leaves its query under way, and with it a lock on the ledger: for as long
    as anybody, such as a log, holds on to the refusal, whose frames hold the query.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._cursors = WeakSet[sqlite3.Cursor]()

    def execute(self, *args: Any) -> sqlite3.Cursor:
        """A query; see :meth:`sqlite3.Connection.execute`."""
        cursor = self.cursor()
        self._cursors.add(cursor)
        return cursor.execute(*args)

    def close(self) -> None:
        """End all queries, then the connection."""
        for cursor in self._cursors:
            cursor.close()
        super().close()


def default_path() -> Path:
    """The ledger of this user: ``$DPVIZ_LEDGER``, or a file in the user's data folder.

    Raises:
        LedgerError: the variable names another file in each folder.
    """
    from platformdirs import user_data_path

    given = os.environ.get(VARIABLE)
    if not given:
        return user_data_path("dpviz", appauthor=False) / "ledger.sqlite"
    path = located(given)
    if not path.is_absolute():
        raise LedgerError(
            f"{VARIABLE}={given}: in each folder this would be a ledger of its own, and all could "
            f"be spent once more; give the whole path, such as {path.absolute()}; nothing was spent"
        )
    return path


def located(path: str | os.PathLike[str]) -> Path:
    """A path, with the user's folder for its ~.

    No shell puts it there in ``--ledger=~/a.sqlite``, nor do a service's settings: a ledger in a
    folder called ~, wherever one happened to be, let all be spent once more.
    """
    with suppress(RuntimeError):  # a user whom nobody knows
        return Path(path).expanduser()
    return Path(path)


@contextmanager
def opened(path: Path, *, write: bool = False) -> Iterator[sqlite3.Connection | None]:
    """A connection in a transaction: for reading, None where there is no ledger yet; for writing,
    exclusive, and durable once it is left.

    Raises:
        LedgerError: the file is damaged, busy, read-only or gone, or its disk is full; or SQLite is
            too old.
    """
    if sqlite3.sqlite_version_info < OLDEST:
        raise LedgerError(
            f"{path.name}: this Python has SQLite {sqlite3.sqlite_version}, the ledger needs 3.37 "
            "or newer: take a newer Python ('uv python install'); nothing was spent"
        )
    with _errors(path):
        if not path.exists():
            if seal_path(path).exists() and not path.exists():
                raise LedgerError(
                    f"{path.name}: the ledger is gone, its seal is still there: restore a copy, or "
                    "begin a new one with 'dpviz ledger verify --accept'; nothing was spent"
                )
            if not write:
                yield None
                return
            _create(path)
        if write:
            _sweep(path.parent)
        begin = "BEGIN IMMEDIATE" if write else "BEGIN"  # the lock, or one moment's state
        with closing(_connect(path)) as db, _transaction(db, begin):
            yield db


@contextmanager
def _transaction(db: sqlite3.Connection, begin: str) -> Iterator[None]:
    db.execute(begin)
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            with suppress(sqlite3.Error):
                db.execute("ROLLBACK")
        raise


def _connect(path: Path) -> sqlite3.Connection:
    # mode=rw: a ledger that vanished meanwhile is not silently begun anew.
    address = f"{path.absolute().as_uri()}?mode=rw"
    db = sqlite3.connect(address, uri=True, timeout=WAIT, isolation_level=None, factory=Connection)
    try:
        # EXTRA also syncs the folder after the rollback journal goes: a power cut cannot bring the
        # journal back and undo a spend.
        db.execute("PRAGMA synchronous = EXTRA")
        if db.execute("PRAGMA application_id").fetchone()[0] != LEDGER_ID:
            raise DamageError("or not a ledger")
        if _version(db) == 1:
            _migrate(db)
        if _version(db) > VERSION:
            raise LedgerError(f"{path.name}: ledger version {_version(db)}: update dpviz")
        if _version(db) != VERSION:
            raise DamageError("no version of a ledger")
    except BaseException:
        db.close()
        raise
    return db


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _migrate(db: sqlite3.Connection) -> None:
    """From version 1, whose tables stay as they are beside the new ones."""
    with _transaction(db, "BEGIN IMMEDIATE"):
        if _version(db) == 1:  # nobody else was quicker
            if db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                raise DamageError("its pages do not hang together")
            for statement in _statements(TABLES):
                db.execute(statement)
            migrate(db)
            db.execute(f"PRAGMA user_version = {VERSION}")


def _statements(script: str) -> list[str]:
    statements, part = [], ""
    for line in script.splitlines(keepends=True):
        part += line
        if sqlite3.complete_statement(part):
            statements.append(part)
            part = ""
    return statements


def _sweep(folder: Path) -> None:
    """Remove temporary files of processes that were killed here."""
    for stale in made_up(folder, ".ledger-*", UNFINISHED):
        with suppress(OSError):
            if time.time() - stale.lstat().st_mtime > HOUR:
                stale.unlink()


def _create(path: Path) -> None:
    """A whole empty ledger appears at once, so that an empty file is never taken for one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".ledger-{secrets.token_hex(8)}-", dir=path.parent)
    os.close(handle)
    try:
        with closing(sqlite3.connect(name, isolation_level=None)) as db:
            marks = f"PRAGMA application_id = {LEDGER_ID}; PRAGMA user_version = {VERSION};"
            db.executescript(f"BEGIN; {marks} {TABLES} COMMIT;")
        try:
            os.link(name, path)  # unlike a rename, never replaces another's new ledger
        except FileExistsError:
            return
        _sync_folder(path.parent)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    name = path.name or str(path)
    try:
        yield
    except DpvizError:
        raise
    except sqlite3.OperationalError as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            reason = f"is in use by another process for over {WAIT:g} s: try again"
        elif "decode" in text or "malformed" in text or "no such" in text:
            reason = f"is damaged: {_REMEDY}"
        elif path.is_symlink() and not path.exists():
            reason = "is a link to no file: mend it, or name another"
        elif path.is_dir():
            reason = "is a folder: name a file in it"
        else:
            reason = (
                "cannot be read or written (rights, or a full disk): mend that, or name another"
            )
        raise LedgerError(f"{name}: the ledger {reason}; nothing was spent") from error
    except OSError as error:
        raise LedgerError(
            f"{name}: the ledger cannot be made ({error.strerror}): name a file in a folder "
            "that can be written; nothing was spent"
        ) from error
    except DamageError as damage:
        raise LedgerError(
            f"{name}: the ledger is damaged, {damage}: {_REMEDY}; nothing was spent"
        ) from None
    except (
        sqlite3.Error,
        ValueError,
        TypeError,
        KeyError,
        OverflowError,
        ArithmeticError,
    ) as error:
        raise LedgerError(f"{name}: the ledger is damaged: {_REMEDY}; nothing was spent") from error


_REMEDY = "restore a copy and check it with 'dpviz ledger verify'"


def _sync_folder(folder: Path) -> None:
    """The new name itself survives a power cut (POSIX; Windows syncs names by itself)."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
