"""Write files atomically: complete, or not at all.

Every write goes to a temporary file beside the target that is then renamed, so that a failure
leaves no partial file and overwrites nothing. Temporary files of a killed process are deleted at
the next write into the same folder. Only names of the exact pattern that we generate are deleted: a
user's file may have a similar name.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from dpviz.errors import ReleaseError

HOUR = 3600.0

TEMPORARY = re.compile(r"\.dpviz-[0-9a-f]{16}-[0-9a-f]{16}([.-].*)?", re.DOTALL)
"""Names of our temporary files, and of files that their writers put beside them."""

MAX_NAME_BYTES = 255
"""Longest file name in bytes on Linux."""

LEDGER_ID = 0x64707669  # "dpvi"
"""SQLite's application id of a ledger."""

SEAL_MARK = "dpviz-seal"
"""First bytes of the seal beside a ledger."""

_SQLITE, _ID_AT = b"SQLite format 3\0", slice(68, 72)


def write_file(path: str | os.PathLike[str], write: Callable[[str], Any]) -> Path:
    """Write to a temporary file beside the target, then rename it into place.

    Args:
        path: path of the target, or of a link to it; its folder must exist.
        write: takes the name of the temporary file, which has the path's ending.
    """
    path, target = Path(path), destination(path)
    _sweep(target.parent)
    # The name is set before the file exists, so that a Ctrl-C between the two leaves no file.
    temporary = target.with_name(f".dpviz-{name_hash(target)}-{secrets.token_hex(8)}{path.suffix}")
    try:
        temporary.touch(0o600, exist_ok=False)
        temporary.unlink()  # GDAL refuses to overwrite an empty file of its own format
        write(str(temporary))
        temporary.replace(target)
    except OSError as error:
        reason = error.strerror or error
        raise ReleaseError(
            f"{path.name}: cannot be written: {reason}; name another file"
        ) from error
    finally:
        with suppress(OSError):  # such as on a read-only disk: no temporary file was created
            temporary.unlink()
    return path


def destination(path: str | os.PathLike[str]) -> Path:
    """The file that a write to a path creates or replaces: the target of a link, never the link.

    Raises ReleaseError: the folder does not exist; the path is a system path, such as /dev/stdout;
    it exists and is not a regular file (a pipe, say), which must not be replaced; or it is a ledger
    or its seal, which could not be restored.
    """
    path = Path(path)
    name = (path.name or os.fspath(path))[:60]
    try:
        target = path.resolve()
        links = [path.absolute(), *([path.readlink()] if path.is_symlink() else []), target]
        if system := next(filter(_is_system_path, links), None):
            raise ReleaseError(f"{name} is a system path, {system}: name another file")
        if target.is_symlink():
            raise RuntimeError
        if not target.parent.is_dir():
            raise ReleaseError(f"{name}: the output folder does not exist: create it first")
        if target.exists() and not target.is_file():
            raise ReleaseError(f"{name}: not a regular file: name another")
    except (RuntimeError, OSError) as error:
        reason = getattr(error, "strerror", None) or "a link that leads to no file"
        raise ReleaseError(f"{name}: {reason}: name another") from None
    if _is_ledger(target):
        raise ReleaseError(f"{name} is a ledger, or its seal: name another file")
    return target


def name_hash(target: Path) -> str:
    """Hash of a file's name, of fixed length, for the names of the temporary files beside it."""
    return hashlib.blake2b(os.fsencode(target.name), digest_size=8).hexdigest()


def alternative_path(path: Path, number: str) -> Path:
    """Alternative path, with the ledger number, for a paid release whose target exists."""
    name = f"{path.stem}-{number[:8]}{path.suffix}"
    return path.with_name(
        name if len(os.fsencode(name)) <= MAX_NAME_BYTES else number + path.suffix
    )


def _is_system_path(path: Path) -> bool:
    """True for paths under /proc and /dev (but not /dev/shm): their links lead to open files."""
    in_memory = path.is_relative_to("/dev/shm")
    return path.is_relative_to("/proc") or (path.is_relative_to("/dev") and not in_memory)


def _is_ledger(path: Path) -> bool:
    """True if a file's content is a ledger or a seal."""
    with suppress(OSError), path.open("rb") as file:
        head = file.read(_ID_AT.stop)
        return head.startswith(SEAL_MARK.encode()) or (
            head.startswith(_SQLITE) and head[_ID_AT] == LEDGER_ID.to_bytes(4, "big")
        )
    return False


def write_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write some bytes, as :func:`write_file`."""
    return write_file(path, lambda temporary: Path(temporary).write_bytes(content))


def csv_text(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Rows below a line of names, as CSV with plain line ends."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


def _sweep(folder: Path) -> None:
    """Remove temporary files of processes that were killed here an hour ago or longer."""
    for stale in folder.glob(".dpviz-*"):
        with suppress(OSError):
            ours = TEMPORARY.fullmatch(stale.name) and stale.is_file()
            old = ours and time.time() - stale.lstat().st_mtime > HOUR
            if old:
                stale.unlink()
