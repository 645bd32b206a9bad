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
from dpviz.private.load import counts
from dpviz.private.load.aggregation import (
    Counted,
    engine_layers,
    engine_tally,
    folder_relation,
    table_relation,
)
from dpviz.private.load.count_rows import columns_of
from dpviz.private.load.folder import folder_footers
from dpviz.private.load.layout import layout
from dpviz.private.load.points import read_layers
from dpviz.private.load.selection import Selection
from dpviz.private.load.source import (
    BuiltIn,
    Database,
    File,
    Folder,
    Frame,
    Source,
    is_url,
    source_of,
)
from dpviz.private.load.tables.base import Table
from dpviz.private.load.tables.memory import MemoryTable
from dpviz.private.load.tables.opening import open_table
from dpviz.private.load.tally import Tally


def read_points(sources: Source | list[Source], chosen: Selection) -> DataHandle:
    """Read points into a handle.

    Raises:
        DataError: the source cannot be read as points.
    """
    return _together(sources, chosen) if isinstance(sources, list) else _one(sources, chosen)


def stated_domain(given: str | os.PathLike[str]) -> Domain | None:
    """The public box that built-in data or a counts file states.

    Raises:
        DataError: a word that is neither a path nor a built-in name.
    """
    return None if is_url(given) else _stated(source_of(given, built_in=True))


def _stated(source: Source) -> Domain | None:
    if isinstance(source, BuiltIn):
        return source.dataset.domain
    facts = _facts(source)
    return None if facts is None else facts.domain


def _facts(source: Source) -> counts.Facts | None:
    """The facts in a counts file written by dpviz."""
    if not isinstance(source, File):
        return None
    _require_named(source.path)
    return counts.stated(source.path)


def _require_named(path: Path) -> None:
    """Refuse text that is most likely a mistyped name of a built-in data set."""
    if not path.suffix and not path.exists():
        raise DataError(
            f"no file and no built-in data set {os.fspath(path)!r}: "
            f"give a path, or one of {', '.join(DATASETS)}"
        )


def _one(source: Source, chosen: Selection) -> DataHandle:
    """A handle on one source."""
    if chosen.bits is not None and chosen.domain is not None:
        chosen.grid_bits(chosen.domain)  # invalid bits fail before anything is read
    match source:
        case Frame():
            name = chosen.name or source.name
            return _of_table(MemoryTable(source.table, name), name, chosen)
        case Database():
            domain = chosen.box(source.name)
            with table_relation(source) as relation:
                return _counted(relation, source, domain, chosen)
        case BuiltIn():
            return _built_in(source.dataset, chosen)
        case Folder():
            return _of_folder(source, chosen)
        case File():
            return _of_file(source, chosen)


def _of_file(source: File, chosen: Selection) -> DataHandle:
    """A handle on a file of records, or of counts."""
    path = source.path
    _require_named(path)
    if not counts.may_state(path):
        chosen.box(path.name)  # a missing domain is reported first
    opened = open_table(source)  # open once: each access starts a child process
    facts = counts.stated_by(opened, path)
    if facts is not None:
        chosen.of_counts(path.name)
        return counts.from_counts_file(path, opened, facts, chosen)
    chosen.box(path.name)
    if chosen.columns is None and counts.is_result(path, opened):
        chosen.of_counts(path.name)
        return counts.result(source, [opened], chosen)
    return _of_table(opened, source.name, chosen, counts.part_of(source))


def _of_folder(source: Folder, chosen: Selection) -> DataHandle:
    """A handle on a folder of Parquet."""
    folder = source.path
    domain = chosen.box(folder.name)
    footers = folder_footers(folder)
    if chosen.columns is None and columns_of(footers.columns) is not None:
        chosen.of_counts(folder.name)
        return counts.result(source, map(open_table, footers.files), chosen)
    with folder_relation(folder, footers, domain, chosen) as relation:
        return _counted(relation, source, domain, chosen)


def _counted(
    relation: Counted, source: Folder | Database, domain: Domain, chosen: Selection
) -> DataHandle:
    """A handle on records counted by an engine; public data also get a tally of dropped ones."""
    parts = counts.part_of(source)
    if not (chosen.public or chosen.checking):
        return chosen.handle(engine_layers(*relation, domain, chosen), source.name, parts)
    tally, columns, layers = engine_tally(*relation, domain, chosen)
    handle = chosen.handle(layers, source.name, parts)
    handle.tally = tally
    if chosen.checking:
        handle.columns = ", ".join(columns)
    return handle


def _together(sources: list[Source], chosen: Selection) -> DataHandle:
    """One handle on several sources, all in the box and on the grid of the first one."""
    if not sources:
        raise DataError("no source: give one at least")
    facts = next(filter(None, map(_facts, sources)), None)
    domain = chosen.domain or next(filter(None, map(_stated, sources)), None)
    if domain is not None:
        bits = facts.bits if facts and chosen.bits is None else chosen.grid_bits(domain)
        chosen = replace(chosen, domain=domain, bits=bits)
    handles = []
    for number, source in enumerate(sources):

        def report(fraction: float, what: str, number: int = number) -> None:
            if chosen.progress:
                chosen.progress((number + fraction) / len(sources), what)

        handles.append(_one(source, replace(chosen, progress=report)))
    titles = [each.path.name if isinstance(each, (File, Folder)) else each.name for each in sources]
    whole = counts.merged(handles, chosen.name, titles)
    tallies = [handle.tally for handle in handles if handle.tally is not None]
    if len(tallies) == len(handles):
        whole.tally = sum(tallies, Tally())
    return whole


def _of_table(
    table: Table, title: str, chosen: Selection, parts: tuple[str, ...] = ()
) -> DataHandle:
    """A handle on the records of an open table, bounded per unit."""
    domain, facts, public = chosen.box(table.name), Tally(), bool(chosen.public)
    how = layout(table, chosen)
    layers = read_layers(table, how, chosen, facts)
    if chosen.bits is not None:
        layers = layers.coarsened(chosen.grid_bits(domain))
    handle = DataHandle(
        chosen.name or title,
        domain,
        layers,
        public=public,
        unit=chosen.unit_words,
        max_per_unit=chosen.most,
        bits=chosen.bits,
        digests=parts,
    )
    handle.columns = how.words
    handle.tally = facts if public or chosen.checking else None
    return handle


def _built_in(dataset: Dataset, chosen: Selection) -> DataHandle:
    """A handle on a built-in data set."""
    unfit = {"crs": chosen.crs, "table": chosen.table, **chosen.notation.declared}
    for what, given in unfit.items():
        if given is not None:
            raise DataError(f"{what} is not for the built-in data {dataset.name}: leave it out")
    domain = chosen.domain or dataset.domain
    public = dataset.public if chosen.public is None else chosen.public
    names = tuple(chosen.columns or dataset.domain.place.columns)
    table = MemoryTable(pa.table(dataset.table()), dataset.name)
    handle = _of_table(
        table,
        dataset.name,
        replace(chosen, domain=domain, public=public, columns=names, crs=dataset.domain.crs),
        (dataset.name,),
    )
    handle.synthetic = True
    return handle
