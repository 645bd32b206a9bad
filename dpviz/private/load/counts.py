"""Files of (cell, count) rows: warehouse results, and counts that can be appended to.

Such a file holds EXACT COUNTS: it is as SENSITIVE as the records that were counted, and its name
must say so. The rows are those of :mod:`dpviz.private.load.cellquery`. A file that we wrote also
states its public facts (domain, bits, unit), and knows the parts it was made of, so that a part
that is given again is refused: a record that is counted twice would cost twice its epsilon.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.checks import require, require_path
from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.files import arrow
from dpviz.files.writing import write_file
from dpviz.lazy import pa, pq
from dpviz.private.handle import DataHandle, unit_named
from dpviz.private.index import PointIndex
from dpviz.private.load.aggregation import MAX_CELLS, too_many
from dpviz.private.load.count_rows import (
    checked_layers,
    columns_of,
    handle_of,
    read_rows,
)
from dpviz.private.load.engines.base import Rows
from dpviz.private.load.folder import parquet_files
from dpviz.private.load.selection import Selection, bounded, checked_bits
from dpviz.private.load.source import Database, File, Folder, Source
from dpviz.private.load.tables.base import Table, parsing
from dpviz.private.load.tables.confined import ConfinedTable
from dpviz.releases.files import metadata_of
from dpviz.trees.lattice import unmorton

KEY = b"dpviz.counts"
WARNING = "SENSITIVE: EXACT COUNTS, NOT A RELEASE"
_RESULTS = (".csv", ".tsv", ".txt", ".parquet", ".pq")


@dataclass(frozen=True)
class Facts:
    """Metadata of a counts file written by dpviz: public, except the digests of its parts."""

    name: str
    domain: Domain
    bits: int
    unit: str
    max_per_unit: int
    public: bool
    digests: tuple[str, ...]
    names: tuple[str, ...] = ()


def save_counts(handle: DataHandle, path: str | os.PathLike[str]) -> Path:
    """Keep a data set as EXACT COUNTS per cell: a SENSITIVE file, for its owner's folder only.

    The file is a source, alone or with others: ``dpviz.load([path, "new-day.parquet"])``.

    Args:
        handle: from :func:`dpviz.load`.
        path: a .parquet file; its name holds the word SENSITIVE unless the data are public.

    Raises:
        DataError: another kind of name, or an existing file of another kind.
    """
    require(handle, DataHandle, "handle", DataError)
    require_path(path, DataError)
    path = Path(path)
    if path.suffix.lower() != ".parquet" or not (handle.public or "SENSITIVE" in path.name):
        raise DataError(
            f"{path.name}: EXACT COUNTS go to a file such as {path.stem}.SENSITIVE.parquet, "
            "whose name says that it must not be handed on"
        )
    if handle.domain.values is not None:
        raise DataError(f"{path.name}: counts per cell hold no sums: leave the values out")
    if path.exists() and KEY not in metadata_of(path):
        raise DataError(f"{path.name} exists and holds no counts per cell: name another file")
    facts = {
        "warning": WARNING if not handle.public else "exact counts of public data",
        "version": 1,
        "name": handle.name,
        "names": list(handle.names),
        "domain": handle.domain.to_dict(),
        "bits": handle.bits,
        "unit": handle.accounted_unit,
        "max_per_unit": handle.max_per_unit,
        "public": handle.public,
        "parts": handle._digests,
    }
    cell, weights = cell_rows(handle)
    table = pa.table({"cell": arrow.numbers(cell), "n": arrow.numbers(weights)})
    table = table.replace_schema_metadata({KEY: json.dumps(facts).encode()})

    def write(temporary: str) -> None:
        Path(temporary).touch(mode=0o600)  # readable by the owner only, from the first byte on
        pq.write_table(table, temporary, compression="zstd")

    return write_file(path, write)


def cell_rows(handle: DataHandle) -> Rows:
    """Cells and EXACT COUNTS of a handle, numbered as in :mod:`dpviz.private.load.cellquery`."""
    layers = handle._layers.counts
    cells = [_numbered(index, handle.bits, kind) for kind, index in enumerate(layers)]
    return np.concatenate(cells), np.concatenate([index.weights for index in layers])


def _numbered(index: PointIndex, bits: int, kind: int) -> NDArray[np.int64]:
    """Numbers of the cells of one kind, as in :mod:`dpviz.private.load.cellquery`."""
    dims = index.domain.dims
    steps = unmorton(index.codes >> np.uint64(dims * (index.domain.bits - bits)), dims)
    cell = np.full(len(steps), kind, dtype=np.int64)
    for axis in range(dims):
        cell <<= bits
        cell |= steps[:, axis]
    return cell


def stated(path: Path) -> Facts | None:
    """The facts in a counts file written by dpviz; None for any other file.

    Raises:
        DataError: a newer version, or a damaged one.
    """
    if not may_state(path) or not path.is_file():
        return None
    return _facts(metadata_of(path), path.name)  # other files are read elsewhere


def may_state(path: Path) -> bool:
    """True if the file name has the ending of counts files that dpviz writes, .parquet."""
    return path.suffix.lower() == ".parquet"


def stated_by(table: Table, path: Path) -> Facts | None:
    """The facts in an open counts file written by dpviz; None for any other file."""
    if not may_state(path) or not isinstance(table, ConfinedTable):
        return None
    return _facts(table.metadata, path.name)


def _facts(metadata: dict[bytes, bytes], name: str) -> Facts | None:
    text = metadata.get(KEY)
    if text is None:
        return None
    with parsing(name, "counts per cell"):
        facts = json.loads(text)
        if facts["version"] > 1:
            raise DataError(f"{name} is of a newer version: update dpviz to read it")
        domain, most = Domain.from_dict(facts["domain"]), int(facts["max_per_unit"])
        if most < 1:
            raise ValueError("no bound")
        return Facts(
            str(facts["name"]),
            domain,
            checked_bits(int(facts["bits"]), domain),
            str(facts["unit"]),
            most,
            facts["public"] is True,
            tuple(map(str, facts["parts"])),
            tuple(map(str, facts["names"])),
        )


def from_counts_file(path: Path, table: Table, facts: Facts, chosen: Selection) -> DataHandle:
    """A handle on a counts file that dpviz wrote; all arguments must match its metadata.

    Raises:
        DataError: an argument contradicts the metadata, or the file is corrupted.
    """
    if chosen.domain is not None and chosen.domain.values is not None:
        raise DataError(f"{path.name}: counts per cell hold no sums: leave the values out")
    unit = None if chosen.unit is None else unit_named(chosen.unit, "records")
    box = None if chosen.domain is None else _frame(chosen.domain)
    for what, given, stated_value in (
        ("columns", chosen.columns, None),
        ("domain", box, _frame(facts.domain)),
        ("bits", chosen.bits, facts.bits),
        ("unit", unit, facts.unit),
        # With a declared domain, the CRS describes other sources that are merged with this one.
        ("crs", chosen.crs if chosen.domain is None else None, facts.domain.crs),
    ):
        if given not in (None, stated_value):
            remedy = "leave them out" if stated_value is None else f"it has {stated_value}"
            raise DataError(f"{path.name} holds counts per cell, with {what} of its own: {remedy}")
    if chosen.public and not facts.public:
        raise DataError(f"{path.name} is marked SENSITIVE: count the sources again as public")
    names = dict.fromkeys([*facts.names, *([chosen.name] if chosen.name else [])])
    rows = read_rows([table], path.name)
    layers = checked_layers(rows, facts.domain, facts.bits, path.name)
    return DataHandle(
        chosen.name or facts.name,
        facts.domain,
        layers,
        public=facts.public if chosen.public is None else chosen.public,
        unit=bounded(facts.unit, facts.max_per_unit),
        max_per_unit=facts.max_per_unit,
        bits=facts.bits,
        digests=facts.digests,
        names=tuple(names),
    )


def is_result(path: Path, table: Table) -> bool:
    """True if a file has the columns of a warehouse's query result."""
    columns = columns_of([column.name for column in table.columns])
    return path.suffix.lower() in _RESULTS and columns is not None


def result(source: File | Folder, tables: Iterable[Table], chosen: Selection) -> DataHandle:
    """A handle on counts that a warehouse made with the query of :func:`dpviz.cell_sql`.

    Raises:
        DataError: rows that no such query gives, or one with other public facts.
    """
    path = source.path
    rows = read_rows(tables, path.name, chosen)
    if chosen.unit is not None and len(np.unique(rows[0])) < len(rows[0]):
        raise DataError(
            f"{path.name}: a cell is in it twice, as in the results of several queries, whose "
            f"bounds of each {chosen.unit} add up: give dpviz.load a list of the results"
        )
    return handle_of(rows, chosen, path.name, path.stem, part_of(source))


def merged(
    handles: Sequence[DataHandle], name: str | None = None, titles: Sequence[str] = ()
) -> DataHandle:
    """One handle on the records of several handles; no record may be in two of them.

    Args:
        handles: at least one.
        name: of the whole; the first one's by default.
        titles: what to call them in messages; their names by default.

    A unit that is in several of them may have as many records as their bounds together.

    Raises:
        DataError: different domains, grids, units or kinds of data; or the same part twice.
    """
    first = handles[0]
    titles = titles or [handle.name for handle in handles]
    for other, title in zip(handles[1:], titles[1:], strict=True):
        for what, one, two in (
            ("domains", _frame(first.domain), _frame(other.domain)),
            ("grids", f"{first.bits} bits", f"{other.bits} bits"),
            ("units", first.accounted_unit, other.accounted_unit),
            ("kinds", _kind(first), _kind(other)),
        ):
            if one != two:
                raise DataError(f"{titles[0]} and {title} have different {what}: {one}; {two}")
    layers, digests = first._layers, first._digests
    for other, title in zip(handles[1:], titles[1:], strict=True):
        again = sorted(set(digests) & set(other._digests))
        if again:
            raise DataError(
                f"{title} is in {titles[0]} already: a record that is counted twice "
                "would cost twice its epsilon"
            )
        layers, digests = layers.merged(other._layers), (*digests, *other._digests)
    if layers.cells > MAX_CELLS:
        raise too_many(first.bits)
    alone = first.accounted_unit == unit_named(None, "records")
    most = 1 if alone else sum(handle.max_per_unit for handle in handles)
    return DataHandle(
        name or first.name,
        first.domain,
        layers,
        public=first.public,
        unit=bounded(first.accounted_unit, most),
        max_per_unit=most,
        bits=first.bits,
        digests=digests,
        names=tuple(dict.fromkeys(each for handle in handles for each in handle.names)),
    )


def part_of(source: Source) -> tuple[str, ...]:
    """Digests that recognise a source: of its path and modification time, not its records.

    A file is known by its path, by its place on the disk, whatever the name, and when it was last
    written; a folder also by its files; a table of a database, in this process only, by its URL.
    """
    match source:
        case File() as file:
            files, layer = [file.path], file.layer
        case Folder() as folder:
            files, layer = parquet_files(folder.path), None
        case Database() as database:
            return (_known(database.url, database.table, _PROCESS),)
        case _:
            return ()
    written = source.path.stat().st_mtime_ns
    places = [(facts.st_ino, layer, facts.st_mtime_ns) for facts in map(Path.stat, files)]
    return _known(str(source.path.resolve()), layer, written), *(_known(*each) for each in places)


_PROCESS = secrets.token_hex(16)


def _known(*facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _frame(domain: Domain) -> str:
    """Bounds and CRS, without the names of the columns."""
    time = (
        ""
        if domain.time is None
        else f", time in {domain.time} by {domain.step:g} s, {domain.zone}"
    )
    time += "" if domain.cycle is None else f", by {domain.cycle} of {domain.span}"
    kinds = "" if domain.kinds is None else f", kinds {', '.join(domain.kinds.names)}"
    return f"{','.join(map(repr, domain.bounds))} in {domain.crs}{time}{kinds}"


def _kind(handle: DataHandle) -> str:
    return "public" if handle.public else "sensitive"
