"""What becomes of a source's records: exact facts for its owner's eyes, no part of any release."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.private.load.engines import scheme_of
from dpviz.private.load.points import layout, read_index
from dpviz.private.load.selection import checked_bound
from dpviz.private.load.tables import open_table
from dpviz.private.load.tally import Tally

HEADING = (
    "EXACT FACTS ABOUT THE RECORDS, FOR THEIR OWNER'S EYES ONLY: NO PART OF ANY RELEASE, "
    "NOT DIFFERENTIALLY PRIVATE"
)


def check_points(
    source: str | os.PathLike[str],
    domain: Domain,
    *,
    columns: Sequence[str] | None = None,
    crs: str | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
    table: str | None = None,
) -> tuple[dict[str, int], str]:
    """How many records would be dropped and why, and what is taken for the coordinates.

    It reads as :func:`dpviz.load` does, by the same code; the arguments are the same.

    Raises:
        DataError: the source cannot be read as points, or its engine counts records only.
    """
    checked_bound(unit, max_per_unit)
    if scheme_of(str(source)) is not None or Path(source).is_dir():
        raise DataError("check reads files: of a folder or a table, ask the engine that holds it")
    opened, counts = open_table(source, table), Tally()
    how = layout(opened, domain, columns=columns, crs=crs, unit=unit)
    read_index(opened, how, domain, most=max_per_unit, counts=counts)
    return counts.facts, how.words


def check_trips(
    source: str | os.PathLike[str],
    graph: Sequence[str],
    *,
    crs: str = "",
    unit: str | None = None,
    max_per_unit: int = 1,
    drop_unknown: bool = False,
    table: str | None = None,
) -> dict[str, int]:
    """The same of trips on a public road graph, read as ``dpviz roads build`` does.

    Raises:
        DataError: the source cannot be read as trips, or the graph as one.
    """
    from dpviz.private.load.roads import read_graph, read_trips

    counts, opened = Tally(), read_graph(*graph, crs=crs, parts="all")
    read_trips(
        source,
        opened,
        unit=unit,
        max_per_unit=max_per_unit,
        drop_unknown=drop_unknown,
        table=table,
        counts=counts,
    )
    return counts.facts


def check_sequences(
    source: str | os.PathLike[str],
    alphabet: str,
    *,
    columns: Sequence[str] | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
    drop_unknown: bool = False,
    table: str | None = None,
) -> dict[str, int]:
    """The same of sequences of symbols, read as ``dpviz sequences build`` does.

    Raises:
        DataError: the source cannot be read as sequences.
    """
    from dpviz.private.load.sequences import alphabet_of, read_sequences

    counts = Tally()
    read_sequences(
        source,
        alphabet_of(alphabet),
        columns=columns,
        unit=unit,
        max_per_unit=max_per_unit,
        drop_unknown=drop_unknown,
        table=table,
        counts=counts,
    )
    return counts.facts
