"""The hash chain of the ledger and the seal beside it: read and add entries.

Each opening checks the whole chain. The seal states the entry that was last seen, so that an older
copy, another ledger under the same name and a lost file are noticed. It is written after each
commit: a crash in between leaves it one entry behind, never ahead. One that is missing or torn is
made anew: a ledger alone may be moved to another machine.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from dpviz.files.writing import SEAL_MARK
from dpviz.private.ledger.balance import Row, State
from dpviz.private.ledger.entries import DamageError, Entry

SEAL = re.compile(rf"{SEAL_MARK} ([0-9]{{20}}) ([0-9a-f]{{64}})\n")


HASH = 64
"""Digits of a hash."""


class Head(NamedTuple):
    """Number and hash of the last entry in a chain; (0, zeros) before the first entry."""

    id: int = 0
    hash: str = "0" * 64

    def after(self, body: bytes) -> Head:
        """The head after an entry with this body is added."""
        return Head(self.id + 1, hashlib.sha256(self.hash.encode() + b"\n" + body).hexdigest())


def checked_state(db: sqlite3.Connection, seen: Head | None, known: State) -> tuple[State, Head]:
    """All that follows from the entries, each checked by its hash, and the head of the chain.

    Entries that are byte for byte those of a known state were checked when it was made: they are
    compared, and only the later ones are hashed and read.

    Args:
        db: in a transaction; texts are read as bytes.
        seen: the head that the seal states.
        known: a state of this or another ledger.

    Raises:
        DamageError: an entry is missing or changed, or the ledger is not the one that was sealed.
    """
    # Fetch all rows first: an open query would keep its lock while an exception is alive.
    rows: list[Row] = db.execute("SELECT hash || body FROM entry ORDER BY id").fetchall()
    if rows[: len(known.rows)] != known.rows:
        known = State()
    head, entries = _head(known.rows), list[Entry]()
    for (row,) in rows[head.id :]:
        head, digest = head.after(row[HASH:]), row[:HASH].decode()
        if digest != head.hash:
            raise DamageError(f"entry {head.id} is missing or was changed")
        entries.append(Entry.of(row[HASH:]))
    ends = db.execute("SELECT (SELECT min(id) FROM entry), (SELECT max(id) FROM entry)").fetchone()
    if rows and ends != (1, head.id):
        raise DamageError("the numbers of its entries were changed")
    if seen is not None and seen.id > head.id:
        raise DamageError(
            f"or an older copy: it has {head.id} of the {seen.id} entries that were written (to go "
            "on with it, 'dpviz ledger verify --accept')"
        )
    if seen is not None and seen != _head(rows[: seen.id]):
        raise DamageError("or not the ledger that was used here")
    return (known.after(rows, entries) if entries else known), head


def _head(rows: list[Row]) -> Head:
    """The head of checked rows."""
    return Head(len(rows), rows[-1][0][:HASH].decode()) if rows else Head()


def append(db: sqlite3.Connection, head: Head, entry: Entry) -> Head:
    """Add an entry and return the new head."""
    body = entry.body()
    head = head.after(body.encode())
    db.execute("INSERT INTO entry VALUES (?, ?, ?)", (head.id, body, head.hash))
    return head


def seal_path(ledger: Path) -> Path:
    """Path of a ledger's seal."""
    return ledger.with_name(f"{ledger.name}.seal")


def read_seal(ledger: Path) -> Head | None:
    """The head that was last seen; None if no seal can be read."""
    with suppress(OSError, ValueError):
        if match := SEAL.fullmatch(seal_path(ledger).read_text("ascii")):
            return Head(int(match[1]), match[2])
    return None


def write_seal(ledger: Path, head: Head, *, back: bool = False) -> None:
    """Write the head into the seal. If that fails, the older seal stays and is still valid.

    Args:
        head: the last entry that was committed.
        back: True to replace even a seal of a later entry.
    """
    before = read_seal(ledger)
    if before is not None and (before == head or (before.id > head.id and not back)):
        return
    line = f"{SEAL_MARK} {head.id:020d} {head.hash}\n".encode()
    with suppress(OSError):
        handle = os.open(seal_path(ledger), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.ftruncate(handle, os.write(handle, line))  # one write is never interleaved
        finally:
            os.close(handle)
