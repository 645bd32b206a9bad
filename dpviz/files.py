"""Files that we write: whole, or not at all.

Every write goes to a temporary file beside the target that is then renamed, so that a failure
leaves nothing half-written and nothing overwritten. What a killed process left is swept at the next
write into the same folder.
"""

from __future__ import annotations

import csv
import io
import os
import secrets
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from dpviz.errors import ReleaseError

HOUR = 3600.0


def write_file(path: str | os.PathLike[str], write: Callable[[str], Any]) -> Path:
    """Write to a temporary file beside the target, then rename it into place.

    Args:
        path: of the target; its folder must exist.
        write: takes the name of the temporary file, which has the target's ending.

    Raises:
        ReleaseError: no such folder, it cannot be written, or what is there is no plain file, such
            as a device or a pipe, whose place a file must not take.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise ReleaseError(f"{path.name}: the output folder does not exist: create it first")
    if path.exists() and not path.is_file():
        raise ReleaseError(f"{path.name}: what is there is no plain file: name another")
    _sweep(path.parent)
    # Its name is known before it is there, so that no Ctrl-C falls between the two.
    temporary = path.with_name(f".dpviz-{secrets.token_hex(8)}{path.suffix}")
    try:
        temporary.touch(0o600, exist_ok=False)
        temporary.unlink()  # GDAL refuses to overwrite an empty file of its own format
        write(str(temporary))
        temporary.replace(path)
    except OSError as error:
        raise ReleaseError(f"{path.name}: cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return path


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
            if stale.is_file() and time.time() - stale.lstat().st_mtime > HOUR:
                stale.unlink()
