"""Output files of commands: checks before the work, and storage of paid releases."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dpviz
from dpviz.errors import DpvizError, ParameterError, ReleaseError
from dpviz.files.writing import alternative_path, destination, name_hash

if TYPE_CHECKING:
    from dpviz.private.ledger import Ledger

MIN_FREE_BYTES = 256_000_000
"""Bytes that must be free on the disk of the output before anything is paid."""

VIEW_ENDINGS = (".html", ".md", ".pdf", ".png", ".svg")
"""Endings of files made for viewing, which may be overwritten; other files may hold records."""


def require_writable(output: str) -> None:
    """Refuse an output file that cannot be written, before reading and spending.

    Raises ParameterError: another ending, a missing folder, not a regular file, a name that is not
    valid Unicode, or a full disk.
    """
    path = Path(output)
    if output.encode(errors="ignore").decode() != output:
        raise ParameterError(
            f"output {output!r}: the name is not valid Unicode: choose another file name"
        )
    plain = path.is_file() or not path.exists()
    if path.suffix.lower() != ".parquet" or not plain or not path.parent.is_dir():
        raise ParameterError(f"output {output!r}: give a .parquet file in a folder that exists")
    free = space_in(destination(output).parent, output)
    if free < MIN_FREE_BYTES:
        raise ParameterError(
            f"output {output!r}: {free / 1e6:,.0f} MB are free on this disk, a release may need "
            f"{MIN_FREE_BYTES / 1e6:,.0f} MB: free some space, or name a file on another disk"
        )


def space_in(folder: Path, output: str) -> int:
    """Free bytes on the disk of a folder; refuse a folder that cannot be written."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return shutil.disk_usage(folder).free
    except OSError as error:
        raise _unwritable(output, error) from error


def _unwritable(output: str, error: OSError) -> ParameterError:
    return ParameterError(
        f"output {output!r}: the folder cannot be written ({error.strerror}): name another folder"
    )


@contextmanager
def locked(output: str) -> Iterator[None]:
    """Lock an output file's name while its content is made.

    Without the lock, the second of two concurrent commands could pay for a release that is never
    written. The lock is on an empty file beside the output and ends with this process. Systems
    without such locks (Windows, some network disks) are not protected.

    Raises ParameterError: another command holds the lock, or the folder cannot be written.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    target = destination(output)
    temporary = target.with_name(f".dpviz.{name_hash(target)}.lock")
    try:
        file = temporary.open("ab")
    except OSError as error:
        raise _unwritable(output, error) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The files differ: the previous owner of the lock has just removed its file.
            busy = file_identity(temporary) != file_identity(file.fileno())
        except OSError as error:
            busy = isinstance(error, BlockingIOError)
        if busy:
            raise ParameterError(
                f"output {output!r}: another command is writing it: wait until that ends, or name "
                "another file"
            )
        try:
            yield
        finally:
            temporary.unlink(missing_ok=True)


def require_free(output: str, *inputs: str | None, ledger: str | None = None) -> None:
    """Refuse to overwrite an input, a paid release or possible records.

    Existing files may be replaced if they are empty, made for viewing, or a free release.

    ``*inputs``: files and folders that are read, as given in options.

    Raises:
        ParameterError: the output is an input, a file in an input folder, the ledger, or an
            existing file that may hold records.
        ReleaseError: a release that was paid for; or as :func:`dpviz.files.writing.destination`.
    """
    from dpviz.files.foreign import file_of
    from dpviz.releases.files import require_not_paid
    from dpviz.releases.store import kind_in

    path = destination(output)
    if os.fspath(path) in map(os.path.realpath, dpviz.Ledger(ledger).files):
        raise ParameterError(f"output {output!r} is the ledger or its seal: name another file")
    read = [file_of(each)[0] for each in inputs if each is not None]
    if any(_same(each, path) or _holds(each, path) for each in read):
        raise ParameterError(f"output {output!r} is one of the inputs: name another file")
    require_not_paid(path)
    free = path.suffix.lower() in VIEW_ENDINGS or not path.exists() or not path.stat().st_size
    if not free and kind_in(path) is None:
        raise ParameterError(f"output {output!r} exists: name another file, or delete it first")


def save_release(
    save: Callable[[Path], Any], output: str, ledger: Ledger, release_id: str | None
) -> None:
    """Write a release; if a paid one cannot be written there, save it beside the ledger.

    The ledger records the outcome afterwards; if the process is killed before, it says ``paid``.

    ``release_id``: number of the payment; None if nothing was paid.

    Raises:
        ReleaseError: the release was saved beside the ledger, or nowhere.
        KeyboardInterrupt: Ctrl-C; the ledger records whether the release was written before.
    """
    from dpviz.releases.files import require_not_paid

    path = Path(output)
    before = file_identity(path)
    try:
        require_not_paid(path)  # another build may have written it meanwhile
        save(path)
    except KeyboardInterrupt:
        if release_id is not None:
            ledger.record_outcome(release_id, lost=file_identity(path) == before)
        raise
    except Exception as error:
        reason = str(error) if isinstance(error, DpvizError) else type(error).__name__
        if release_id is None:
            raise ReleaseError(f"{path.name}: cannot be written: {reason}") from error
    else:
        if release_id is not None:
            ledger.record_outcome(release_id)
        return
    place = ledger.path.parent / alternative_path(path, release_id).name
    try:
        save(place)
        lost = False
    except Exception:
        lost = True
    ledger.record_outcome(release_id, lost=lost)
    if not lost:
        raise ReleaseError(
            f"{path.name}: cannot be written ({reason}): the release, which was paid for, is "
            f"saved as {place}"
        )
    raise ReleaseError(
        f"{path.name}: cannot be written ({reason}), nor beside the ledger: the release is lost "
        "and its epsilon stays spent, as the ledger records: free some disk space first next time"
    )


def _same(one: Path, other: Path) -> bool:
    """Return whether two paths lead to the same existing file."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):  # missing, or not a valid path
        return False


def _holds(folder: Path, path: Path) -> bool:
    """Return whether an existing file is among the Parquet files that a folder input reads."""
    there = path.suffix.lower() == ".parquet" and path.exists()
    return there and any(_same(folder, each) for each in path.parents)


def file_identity(path: Path | int) -> tuple[int, int] | None:
    """Inode and modification time (ns) of a path or file descriptor; None if missing."""
    try:
        facts = os.stat(path)  # noqa: PTH116 - of an open file too
    except OSError:
        return None
    return facts.st_ino, facts.st_mtime_ns
