"""The seal: a small file beside the ledger that says which entry was last seen, and its hash.

By it an older copy, another ledger under the same name and a lost file are noticed. It is written
after each commit, so that a crash in between leaves it one entry behind, never ahead. One that is
missing or torn is made anew: a ledger alone may be moved to another machine.
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from pathlib import Path

from dpviz.files.writing import SEAL_MARK
from dpviz.private.ledger.entries import Head


def seal_path(ledger: Path) -> Path:
    """Of a ledger's seal."""
    return ledger.with_name(f"{ledger.name}.seal")


def sealed(ledger: Path) -> Head | None:
    """The head that was last seen; None where no seal can be read."""
    try:
        mark, number, digest, check = seal_path(ledger).read_text("ascii").split()
        if mark != SEAL_MARK or int(check, 16) != _check(number, digest):
            return None
        return Head(int(number), digest)
    except (OSError, ValueError):
        return None


def seal(ledger: Path, head: Head, *, back: bool = False) -> None:
    """Note the head; where it cannot be noted the older seal stays, which is right too.

    Args:
        ledger: the file.
        head: the last entry that was committed.
        back: also in place of a later one.
    """
    before = sealed(ledger)
    if before is not None and (before == head or (before.id > head.id and not back)):
        return
    number = f"{head.id:020d}"
    line = f"{SEAL_MARK} {number} {head.hash} {_check(number, head.hash):08x}\n".encode()
    with suppress(OSError):
        handle = os.open(seal_path(ledger), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.write(handle, line)  # all seals are equally long, and one write is never interleaved
        finally:
            os.close(handle)


def _check(number: str, digest: str) -> int:
    return zlib.crc32(f"{number} {digest}".encode())
