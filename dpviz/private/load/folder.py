"""The files of a folder, without repeats, and their schemas.

A record in two of them would cost twice its ε; a column of two types would be cast.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpviz.errors import DataError
from dpviz.files.sandbox import run_in_sandbox
from dpviz.lazy import pa, pq
from dpviz.private.load.columns import shown
from dpviz.private.load.tables.base import parsing, refuse_release
from dpviz.private.load.tables.geometry import declared_geometries


@dataclass(frozen=True)
class Footers:
    """Schema facts from the footers of a folder's Parquet files.

    Attributes:
        columns: names of the columns of the first file.
        shapes: types of geometry, by column, for columns that hold no points in any file.
        mixed: message about a column whose type differs between files, which an engine would cast;
            empty if there is none.
    """

    files: list[Path]
    columns: tuple[str, ...]
    shapes: dict[str, list[str]]
    mixed: str


def folder_footers(folder: Path) -> Footers:
    """Read Parquet footers in a child process: a damaged footer can abort the process.

    Raises DataError: no Parquet file, a damaged one, or one that is there twice.
    """
    files = parquet_files(folder)
    task, needs = f"{__name__}:footers", ("pyarrow.parquet",)
    places, name = [str(path.absolute()) for path in files], folder.name or str(folder)
    declared = run_in_sandbox(task, name, places, where=name, size=size_of(files), needs=needs)
    stated = json.loads(declared.schema.metadata[b"stated"])
    return Footers(files, tuple(stated["columns"]), stated["shapes"], stated["mixed"])


def size_of(files: Sequence[Path]) -> int:
    """Total size of files in bytes."""
    return sum(path.stat().st_size for path in files)


def parquet_files(folder: Path) -> list[Path]:
    """The Parquet files in a folder and its subfolders, in the order of their paths.

    Names that begin with ``_`` or ``.`` are skipped, as Spark and Arrow do: unfinished and
    temporary files have such names.

    Raises DataError: there is none, one has two names there, or one is a link to nothing.
    """
    files = [
        path
        for path in sorted(folder.rglob("*.parquet"))
        if not any(part[0] in "_." for part in path.relative_to(folder).parts) and not path.is_dir()
    ]
    _require_each_once(files, folder)
    if not files:
        raise DataError(
            f"no Parquet file in the folder {folder.name or folder}: give one with .parquet files, "
            "or one file of another format"
        )
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


def footers(folder: str, places: list[str]) -> Any:
    """Run in the sandbox: return an empty table whose metadata are the :class:`Footers`.

    DuckDB treats column names that differ only in case as one column.
    """
    types, shapes = dict[str, str](), dict[str, list[frozenset[str]]]()
    first: list[str] | None = None
    mixed = ""
    for path in map(Path, places):
        with parsing(path.name, "Parquet"), pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            refuse_release(schema.metadata or {}, path.name)
            for each in declared_geometries(schema, file.metadata.metadata):
                shapes.setdefault(each.name, []).append(each.others)
        first = schema.names if first is None else first
        for column in schema:
            kind = str(column.type).removeprefix("large_")
            first_kind = types.setdefault(column.name.lower(), kind)
            if first_kind != kind:
                mixed = mixed or (
                    f"column {shown(column.name)} is {first_kind} in one file of {folder} and "
                    f"{kind} in another: write them with one type"
                )
    others = {name: sorted(frozenset().union(*each)) for name, each in shapes.items() if all(each)}
    stated = {"columns": first or [], "shapes": others, "mixed": mixed}
    return pa.table({}).replace_schema_metadata({"stated": json.dumps(stated)})
