"""What becomes of a source's records: exact facts for its owner's eyes, no part of any release.

Each check reads as the build does, by the same code and with the same arguments, and gives how many
records are dropped and why, in the order in which that comes about, and what they were read as.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.private.load import counts
from dpviz.private.load.aggregation import folder_fates, table_fates
from dpviz.private.load.engines import scheme_of
from dpviz.private.load.points import layout, read_layers
from dpviz.private.load.selection import Selection, checked_bound
from dpviz.private.load.tables import open_table
from dpviz.private.load.tally import Tally
from dpviz.roads.graph import RoadGraph
from dpviz.roads.steps import Steps

HEADING = (
    "EXACT FACTS ABOUT THE RECORDS, FOR THEIR OWNER'S EYES ONLY: NO PART OF ANY RELEASE, "
    "NOT DIFFERENTIALLY PRIVATE"
)

Checked = tuple[dict[str, int], str]
"""How many records met which fate, and what they were read as."""


def check_points(
    source: str | os.PathLike[str],
    domain: Domain,
    *,
    columns: Sequence[str] | None = None,
    crs: str | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
    table: str | None = None,
) -> Checked:
    """Of records of places, read as :func:`dpviz.load` does: a file, a folder, or a table.

    Raises:
        DataError: the source cannot be read as points, or holds counts in place of records.
    """
    checked_bound(unit, max_per_unit)
    facts, path = Tally(), Path(source)
    chosen = Selection(domain, columns, crs, unit, max_per_unit, table=table)
    if scheme_of(str(source)) is not None:
        if table is None:
            raise DataError("a database holds many tables: name one with table=… (--table)")
        return _fates(table_fates(str(source), table, domain, chosen))
    if columns is None and counts.result_columns(path) is not None:
        raise DataError(
            f"{path.name} holds counts per cell, not records: what became of those, the engine "
            "that counted them knows"
        )
    if path.is_dir():
        return _fates(folder_fates(path, domain, chosen))
    opened = open_table(source, table)
    how = layout(opened, domain, columns=columns, crs=crs, unit=unit)
    read_layers(opened, how, domain, most=max_per_unit, counts=facts)
    return facts.facts, f"places: {how.words}"


def _fates(of_engine: tuple[Tally, tuple[str, ...]]) -> Checked:
    facts, columns = of_engine
    return facts.facts, f"places: {', '.join(columns)}"


def check_trips(
    source: str | os.PathLike[str],
    graph: RoadGraph,
    *,
    unit: str | None = None,
    max_per_unit: int = 1,
    drop_unknown: bool = False,
    table: str | None = None,
    steps: Steps | None = None,
) -> Checked:
    """Of trips on a public road graph, read as ``dpviz roads build`` does.

    Raises:
        DataError: the source cannot be read as trips.
    """
    from dpviz.private.load.roads import read_trips

    facts = Tally()
    read_trips(
        source,
        graph,
        unit=unit,
        max_per_unit=max_per_unit,
        drop_unknown=drop_unknown,
        table=table,
        steps=steps,
        counts=facts,
    )
    return facts.facts, "trips"


def check_sequences(
    source: str | os.PathLike[str],
    alphabet: str,
    *,
    columns: Sequence[str] | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
    drop_unknown: bool = False,
    table: str | None = None,
) -> Checked:
    """Of sequences of symbols, read as ``dpviz sequences build`` does.

    Raises:
        DataError: the source cannot be read as sequences.
    """
    from dpviz.private.load.sequences import alphabet_of, read_sequences

    facts = Tally()
    read_sequences(
        source,
        alphabet_of(alphabet),
        columns=columns,
        unit=unit,
        max_per_unit=max_per_unit,
        drop_unknown=drop_unknown,
        table=table,
        counts=facts,
    )
    return facts.facts, "sequences"


def check_places(
    source: str | os.PathLike[str],
    domain: Domain,
    *,
    unit: str | None,
    time: str | None,
    gap: float = 12.0,
    max_per_unit: int = 1,
    columns: Sequence[str] | None = None,
    crs: str | None = None,
    table: str | None = None,
) -> Checked:
    """Of places in time, read as ``dpviz sequences build --time`` does.

    The cells do not matter here: a sequence is cut at session gaps alone.

    Raises:
        DataError: the source cannot be read as places in time.
    """
    from dpviz.private.load.sequences import read_places

    facts = Tally()
    read_places(
        source,
        domain,
        unit=unit,
        time=time,
        gap=gap,
        max_per_unit=max_per_unit,
        columns=columns,
        crs=crs,
        table=table,
        counts=facts,
    )
    return facts.facts, "places in time"
