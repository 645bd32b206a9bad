"""The files of a folder, each once: a record in two of them would cost twice its ε."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dpviz.errors import DataError
from dpviz.private.load.columns import shown


def parquet_files(folder: Path) -> list[Path]:
    """The Parquet files of a folder and those below it, in the order of their paths.

    Raises:
        DataError: there is none; or as :func:`files_of`.
    """
    files = files_of(folder, "*.parquet")
    if not files:
        raise DataError(
            f"no Parquet file in the folder {folder.name or folder}: give one with .parquet files, "
            "or one file of another format; tracks in GPX are to be converted to either"
        )
    return files


def files_of(folder: Path, pattern: str = "*") -> list[Path]:
    """The files of a folder and those below it.

    Names that begin with ``_`` or ``.`` are left out, as Spark and Arrow do: writers and copies
    that are under way, or were cut off, keep their files under such.

    Raises:
        DataError: one has two names there, or links to nothing.
    """
    files = [
        path
        for path in sorted(folder.rglob(pattern))
        if not any(part[0] in "_." for part in path.relative_to(folder).parts) and not path.is_dir()
    ]
    _require_each_once(files, folder)
    return files


def _require_each_once(files: Sequence[Path], folder: Path) -> None:
    first: dict[tuple[int, int], Path] = {}
    for path in files:
        name = shown(path.relative_to(folder))
        try:
            facts = path.stat()
        except OSError:
            raise DataError(f"{name} of {folder.name} links to no file: remove it") from None
        before = first.setdefault((facts.st_dev, facts.st_ino), path)
        if before is not path:
            raise DataError(
                f"{shown(before.relative_to(folder))} and {name} of {folder.name} are one file, "
                "whose records would count twice: remove the link"
            )
