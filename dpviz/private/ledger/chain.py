"""Reading and adding entries; what is checked of the chain whenever a ledger is opened.

A ledger of up to :data:`WHOLE` entries is checked whole. Of a longer one each opening checks that
no entry is missing, those added since the seal, and all that the answer rests on, found in two
ways: the last entry of each account that is asked for, by the table of accounts and by the index.
The rest is checked when it is shown, and by :func:`verify`.
"""

from __future__ import annotations

import sqlite3

from dpviz.private.ledger.entries import GENESIS, DamageError, Entry, Head, State

WHOLE = 100
"""Entries up to which all are checked at each opening."""


def checked_head(db: sqlite3.Connection, seen: Head | None) -> Head:
    """The last entry, once all that :mod:`dpviz.private.ledger.chain` promises is checked.

    Args:
        db: in a transaction.
        seen: the head that the seal states.

    Raises:
        DamageError: an entry is missing or changed, or the ledger is not the one that was sealed.
    """
    count, last = db.execute("SELECT count(*), coalesce(max(id), 0) FROM entry").fetchone()
    if count != last or db.execute("PRAGMA freelist_count").fetchone()[0]:
        raise DamageError("an entry is missing")
    start = Head()
    if seen is not None and seen.id:
        if seen.id > last:
            raise DamageError(
                f"or an older copy: it has {last} of the {seen.id} entries that were written (to "
                "go on with it, 'dpviz ledger verify --accept')"
            )
        if hash_of(db, seen.id) != seen.hash:
            raise DamageError("or another one than was used here")
        start = seen if last > WHOLE else start
    if last <= WHOLE:
        _sound_pages(db)
        return _whole(db)
    return _followed(db, start)


def verify(db: sqlite3.Connection) -> Head:
    """The last entry, once every page, entry, sum and account was checked.

    Raises:
        DamageError: something is not what was written.
    """
    count, last = db.execute("SELECT count(*), coalesce(max(id), 0) FROM entry").fetchone()
    if count != last:
        raise DamageError("an entry is missing")
    _sound_pages(db)
    return _whole(db)


def state_of(db: sqlite3.Connection, key: str) -> State | None:
    """An account's state by its last entry; None where it has none.

    Raises:
        DamageError: table and index of accounts disagree, or the entry is not what was written.
    """
    row = db.execute("SELECT last FROM account WHERE key = ?", (key,)).fetchone()
    (last,) = db.execute(
        "SELECT max(id) FROM entry INDEXED BY entry_account WHERE account = ?", (key,)
    ).fetchone()
    if last != (None if row is None else row[0]):
        raise DamageError("an account is not that of its entries")
    if last is None:
        return None
    (entry,) = _entries(db, "WHERE e.id = ?", last)
    if entry.account != key or entry.state is None:
        raise DamageError(f"entry {last} is in another account")
    return entry.state


def entries_of(db: sqlite3.Connection, key: str) -> list[Entry]:
    """All entries of an account, each checked."""
    return _entries(db, "WHERE e.account = ?", key)


def outcomes_of(db: sqlite3.Connection, key: str) -> dict[str, str]:
    """The last outcome of each of an account's releases that has one."""
    bought = (
        "JOIN entry AS s ON s.release = e.release AND s.release <> '' "
        "WHERE e.account = '' AND e.release <> '' AND s.account = ?"
    )
    return {entry.release: entry.outcome for entry in _entries(db, bought, key)}


def outcome(db: sqlite3.Connection, release: str) -> str | None:
    """The last outcome of a release: ``paid`` before any; None where nobody paid for it."""
    entries = _entries(db, "WHERE e.release = ? AND e.release <> ''", release)
    return entries[-1].outcome or "paid" if entries else None


def append(db: sqlite3.Connection, head: Head, entry: Entry) -> Head:
    """Add an entry; the new head."""
    body = entry.body()
    head = head.after(body)
    db.execute(
        "INSERT INTO entry (id, account, release, body, hash) VALUES (?, ?, ?, ?, ?)",
        (head.id, entry.account, entry.release, body, head.hash),
    )
    if entry.account:
        db.execute(
            "INSERT INTO account VALUES (?, ?) "
            "ON CONFLICT (key) DO UPDATE SET last = excluded.last",
            (entry.account, head.id),
        )
    return head


def _entries(db: sqlite3.Connection, which: str, value: str | int) -> list[Entry]:
    """Entries in order, each checked by its hash and that of the one before."""
    rows = db.execute(
        "SELECT e.id, e.body, e.hash, coalesce(p.hash, ?) FROM entry AS e "
        f"LEFT JOIN entry AS p ON p.id = e.id - 1 {which} ORDER BY e.id",
        (GENESIS, value),
    )
    entries = []
    for number, body, digest, before in rows:
        if Head(number - 1, before).after(body).hash != digest:
            raise DamageError(f"entry {number} was changed")
        entries.append(Entry.of(body))
    return entries


def _sound_pages(db: sqlite3.Connection) -> None:
    if db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
        raise DamageError("its pages do not hang together")


def _followed(db: sqlite3.Connection, head: Head) -> Head:
    """The last entry, once the hashes of all after ``head`` are checked."""
    rows = db.execute("SELECT id, body, hash FROM entry WHERE id > ? ORDER BY id", (head.id,))
    for number, body, digest in rows:
        head = head.after(body)
        if (number, digest) != (head.id, head.hash):
            raise DamageError(f"entry {number} was changed")
    return head


def _whole(db: sqlite3.Connection) -> Head:
    """The last entry, once every entry is checked, added up and found in its account."""
    head = Head()
    states: dict[str, tuple[int, State]] = {}
    rows = db.execute("SELECT id, account, release, body, hash FROM entry ORDER BY id")
    for number, account, release, body, digest in rows:
        head = head.after(body)
        if (number, digest) != (head.id, head.hash):
            raise DamageError(f"entry {number} was changed")
        entry = Entry.of(body)
        before = states.get(account)
        if (entry.account, entry.release) != (account, release) or entry.state != entry.applied(
            before and before[1]
        ):
            raise DamageError(f"entry {number} does not add up")
        if entry.state is not None:
            states[account] = number, entry.state
    listed = dict(db.execute("SELECT key, last FROM account").fetchall())
    if listed != {key: number for key, (number, _) in states.items()}:
        raise DamageError("an account is not that of its entries")
    return head


def head(db: sqlite3.Connection) -> Head:
    """The last entry as it stands, unchecked."""
    row = db.execute("SELECT id, hash FROM entry ORDER BY id DESC LIMIT 1").fetchone()
    return Head() if row is None else Head(*row)


def hash_of(db: sqlite3.Connection, number: int) -> str:
    """The hash of an entry.

    Raises:
        DamageError: there is none.
    """
    row = db.execute("SELECT hash FROM entry WHERE id = ?", (number,)).fetchone()
    if row is None:
        raise DamageError("an entry is missing")
    return str(row[0])
