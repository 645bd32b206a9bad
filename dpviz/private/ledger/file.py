"""The ledger file: create it, open transactions, and turn SQLite errors into one line."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from dpviz.errors import DpvizError, LedgerError
from dpviz.files.writing import LEDGER_ID
from dpviz.private.ledger.chain import seal_path
from dpviz.private.ledger.entries import DamageError

VERSION = 4
OLDEST_SQLITE = (3, 37, 0)
"""The first SQLite with STRICT tables; the Python of some systems has an older one."""
WAIT_SECONDS = 30.0
"""Seconds that a spend waits for another one to finish."""
VARIABLE = "DPVIZ_LEDGER"

TABLES = (
    "CREATE TABLE entry (id INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL) STRICT",
    "CREATE TRIGGER entry_stays BEFORE DELETE ON entry BEGIN "
    "SELECT RAISE(ABORT, 'an entry is never removed'); END",
    "CREATE TRIGGER entry_fixed BEFORE UPDATE ON entry BEGIN "
    "SELECT RAISE(ABORT, 'an entry is never changed'); END",
    f"PRAGMA application_id = {LEDGER_ID}",
    f"PRAGMA user_version = {VERSION}",
)


def default_path() -> Path:
    """Default ledger path: ``$DPVIZ_LEDGER``, or a file in the user's data folder.

    Raises LedgerError: the variable names another file in each folder.
    """
    from platformdirs import user_data_path

    given = os.environ.get(VARIABLE)
    if not given:
        return user_data_path("dpviz", appauthor=False) / "ledger.sqlite"
    path = expand_home(given)
    if not path.is_absolute():
        raise LedgerError(
            f"{VARIABLE}={given}: a relative path names another ledger in each folder, and budgets "
            f"could be spent again: give the whole path, such as {path.absolute()}; nothing was "
            "spent"
        )
    return path


def expand_home(path: str | os.PathLike[str]) -> Path:
    """Expand ``~`` in a path: no shell expands it in ``--ledger=~/a.sqlite``.

    A folder literally called ~ would hold a second ledger, and the budget could be spent again.
    """
    with suppress(RuntimeError):  # an unknown user
        return Path(path).expanduser()
    return Path(path)


@contextmanager
def opened(path: Path, *, write: bool = False) -> Iterator[sqlite3.Connection | None]:
    """Open a connection to the ledger in a transaction.

    For reading, None where there is no ledger yet. For writing, the transaction is exclusive, and
    durable once it is left.

    Raises LedgerError: the file is damaged, busy, read-only or gone, or its disk is full; or SQLite
    is too old.
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise LedgerError(
            f"{path.name}: this Python has SQLite {sqlite3.sqlite_version}, the ledger needs 3.37 "
            "or newer: use a newer Python ('uv python install'); nothing was spent"
        )
    with _errors(path):
        if _is_empty(path):
            if seal_path(path).exists() and _is_empty(path):  # still not created meanwhile
                raise LedgerError(
                    f"{path.name}: the ledger is gone or empty, but its seal exists: restore a "
                    "copy, or begin a new one with 'dpviz ledger verify --accept'; nothing was "
                    "spent"
                )
            if not write:
                yield None
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        # mode=rw: a ledger deleted meanwhile must not be silently recreated.
        address = f"{path.absolute().as_uri()}?mode=rw"
        with closing(
            sqlite3.connect(address, uri=True, timeout=WAIT_SECONDS, isolation_level=None)
        ) as db:
            db.text_factory = bytes  # its hash then reveals damaged text
            # EXTRA also syncs the folder after the rollback journal goes: a power cut cannot bring
            # the journal back and undo a spend.
            db.execute("PRAGMA synchronous = EXTRA")
            db.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            _begin(db, path, write)
            yield db
            db.execute("COMMIT")  # without it, closing rolls the transaction back


def _is_empty(path: Path) -> bool:
    return not (path.exists() and path.stat().st_size)


def _begin(db: sqlite3.Connection, path: Path, write: bool) -> None:
    """Refuse a file that is not a ledger of this version; for writing, initialise an empty one."""
    identity, version = (
        db.execute(f"PRAGMA {each}").fetchone()[0] for each in ("application_id", "user_version")
    )
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if write and not (identity or version or tables):
        for statement in TABLES:
            db.execute(statement)
    elif identity != LEDGER_ID or not tables:
        raise DamageError("or not a ledger")
    elif version != VERSION:
        raise LedgerError(
            f"{path.name}: ledger version {version}, this dpviz reads version {VERSION}: name "
            "another ledger, or use the dpviz that wrote it; nothing was spent"
        )


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Turn every error with the file into one line."""
    remedy = "restore a copy and check it with 'dpviz ledger verify'"
    cause: Exception | None
    try:
        yield
        return
    except DpvizError:
        raise
    except DamageError as damage:
        reason, cause = f"is damaged, {damage}: {remedy}", None
    except sqlite3.OperationalError as error:
        text, cause = str(error), error
        if "locked" in text or "busy" in text:
            reason = f"is in use by another process for over {WAIT_SECONDS:g} s: try again"
        elif "malformed" in text or "no such" in text:
            reason = f"is damaged: {remedy}"
        elif path.is_dir():
            reason = "is a folder: name a file in it"
        else:
            reason = "cannot be read or written (rights, or a full disk): fix that, or name another"
    except OSError as error:
        why, cause = error.strerror, error
        reason = f"cannot be made ({why}): name a file in a folder that can be written"
    except (sqlite3.Error, ValueError, TypeError, KeyError, ArithmeticError) as error:
        reason, cause = f"is damaged: {remedy}", error
    raise LedgerError(f"{path.name or path}: the ledger {reason}; nothing was spent") from cause
