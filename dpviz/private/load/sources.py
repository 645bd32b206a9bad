"""Load a source of points; only its handle leaves the vault."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from dpviz.datasets import DATASETS, Dataset
from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.lazy import pa
from dpviz.private.handle import DataHandle
from dpviz.private.load.aggregation import (
    Counted,
    engine_layers,
    engine_tally,
    folder_relation,
)
from dpviz.private.load.count_rows import are_counts, result_handle
from dpviz.private.load.engines import connected
from dpviz.private.load.folder import folder_footers
from dpviz.private.load.layout import layout
from dpviz.private.load.points import read_layers
from dpviz.private.load.selection import Selection
from dpviz.private.load.source import (
    BuiltIn,
    Database,
    File,
    Folder,
    InMemory,
    Source,
    is_url,
    source_of,
)
from dpviz.private.load.tables.base import Table
from dpviz.private.load.tables.memory import MemoryTable
from dpviz.private.load.tables.opening import open_table
from dpviz.private.load.tally import Tally


def stated_domain(given: str | os.PathLike[str]) -> Domain | None:
    """The public box of built-in data; None for other sources.

    Raises DataError: a word that is neither a path nor a built-in name.
    """
    if is_url(given):
        return None
    source = source_of(given, built_in=True)
    if isinstance(source, File):
        _require_named(source.path)
    return source.dataset.domain if isinstance(source, BuiltIn) else None


def _require_named(path: Path) -> None:
    """Refuse text that is most likely a mistyped name of a built-in data set."""
    if not path.suffix and not path.exists():
        raise DataError(
            f"no file and no built-in data set {os.fspath(path)!r}: "
            f"give a path, or one of {', '.join(DATASETS)}"
        )


def read_points(source: Source, chosen: Selection) -> DataHandle:
    """Read points into a handle."""
    if chosen.domain is not None:  # refuses invalid options before anything is read
        _ = chosen.charged, chosen.bits is None or chosen.grid_bits(chosen.domain)
    match source:
        case InMemory():
            name = chosen.name or source.name
            return _table_handle(MemoryTable(source.table, name), name, chosen)
        case Database():
            domain = chosen.box(source.name)
            with connected(source) as engine:
                relation = engine, engine.relation(source.table), source.name
                return _counted(relation, source, domain, chosen)
        case BuiltIn():
            return _built_in(source.dataset, chosen)
        case Folder():
            return _folder_handle(source, chosen)
        case File():
            return _file_handle(source, chosen)


def _file_handle(source: File, chosen: Selection) -> DataHandle:
    """A handle on a file of records, or of counts."""
    path = source.path
    _require_named(path)
    chosen.box(path.name)  # a missing domain is reported first
    table = open_table(source)  # opened once: each access starts a child process
    if chosen.columns is None and are_counts(path, [column.name for column in table.columns]):
        return result_handle([table], chosen, path)
    return _table_handle(table, source.name, chosen)


def _folder_handle(source: Folder, chosen: Selection) -> DataHandle:
    """A handle on a folder of Parquet."""
    domain = chosen.box(source.path.name)
    footers = folder_footers(source.path)
    if chosen.columns is None and are_counts(source.path, footers.columns):
        return result_handle(map(open_table, footers.files), chosen, source.path)
    with folder_relation(source.path, footers, domain, chosen) as relation:
        return _counted(relation, source, domain, chosen)


def _counted(
    relation: Counted, source: Folder | Database, domain: Domain, chosen: Selection
) -> DataHandle:
    """A handle on records counted by an engine; public data also get a tally of dropped ones."""
    if not (chosen.public or chosen.checking):
        layers = engine_layers(*relation, domain, chosen)
        return chosen.handle(layers, source.name, chosen.grid_bits(domain))
    tally, columns, layers = engine_tally(*relation, domain, chosen)
    handle = chosen.handle(layers, source.name, chosen.grid_bits(domain))
    handle.tally = tally
    if chosen.checking:
        handle.columns = ", ".join(columns)
    return handle


def _table_handle(table: Table, title: str, chosen: Selection) -> DataHandle:
    """A handle on the records of an open table, bounded per unit."""
    domain, tally = chosen.box(table.name), Tally()
    how = layout(table, chosen)
    layers = read_layers(table, how, chosen, tally)
    if chosen.bits is not None and chosen.grid_bits(domain) < domain.bits:
        layers = layers.coarsened(chosen.grid_bits(domain))
    handle = chosen.handle(layers, title, chosen.bits)
    handle.columns = how.words
    handle.tally = tally if chosen.public or chosen.checking else None
    return handle


def _built_in(dataset: Dataset, chosen: Selection) -> DataHandle:
    """A handle on a built-in data set."""
    unfit = {"crs": chosen.crs, "table": chosen.table, **chosen.notation.declared}
    for what, given in unfit.items():
        if given is not None:
            raise DataError(f"{what} is not for the built-in data {dataset.name}: leave it out")
    domain = chosen.domain or dataset.domain
    public = dataset.public if chosen.public is None else chosen.public
    names = tuple(chosen.columns or dataset.domain.without_time.columns)
    table = MemoryTable(pa.table(dataset.table()), dataset.name)
    handle = _table_handle(
        table,
        dataset.name,
        replace(chosen, domain=domain, public=public, columns=names, crs=dataset.domain.crs),
    )
    handle.synthetic = True
    return handle
