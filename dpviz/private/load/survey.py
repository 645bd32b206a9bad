"""Survey a file before its public area is chosen: exact facts, for the data owner only.

Nothing here is part of a release: the places and times of confidential records are read only to
warn their owner before a payment.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.domain import Domain
from dpviz.domain.attributes import Kinds
from dpviz.domain.crs import earth_limits
from dpviz.domain.zones import ZONE
from dpviz.errors import DataError
from dpviz.lazy import pc
from dpviz.private.load.forms import form_of
from dpviz.private.load.notation import PLAIN, TIME_FORMATS, Notation, with_notation
from dpviz.private.load.points import at_zero, read_records
from dpviz.private.load.selection import Selection
from dpviz.private.load.tables.base import Table
from dpviz.private.load.tables.opening import open_table
from dpviz.private.load.tally import Fact, Tally
from dpviz.private.load.values import times
from dpviz.private.load.words import texts

SAMPLE_TIMES = 20_000
"""Times that are read in every format, to propose one."""

PLAUSIBLE_SECONDS = 31_536_000, 4_102_444_800
"""Moments that a proposed format may read, in seconds since 1970: of 1971 to 2099."""


@dataclass(frozen=True, repr=False)
class Survey:
    """Outcome of every record if no area were drawn, and the extent of those that are kept.

    Attributes:
        extent: west, south, east and north, in the CRS of the columns; None if none is kept.
            Without those at 0, 0, unless all are.
        geometry: True if the places are features, not columns.
        near: listed kinds that others equal but for capitals and spaces.
    """

    tally: Tally
    extent: tuple[float, float, float, float] | None
    geometry: bool
    near: tuple[str, ...] = ()


def survey(
    source: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    crs: str = "EPSG:4326",
    table: str | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
    **declared: Any,
) -> Survey:
    """Read the places of all records, wherever they are.

    Args:
        columns: columns of the coordinates; None for the geometry, or those named so.
        unit, max_per_unit: column and bound of the privacy unit.
        **declared: notation, times, kinds and values; without a period, all times are in it.
    """
    dims = 4 if columns is not None and len(columns) == 4 else 2
    high, given = np.resize(np.minimum(earth_limits(crs), 1e9), dims), with_notation(declared)
    how = {"table": table, "notation": given.pop("notation", PLAIN)}
    if "time" in given:
        given = {"period": ("0001-01-01", "9999-12-31"), **given}
    everywhere = Domain.from_bounds((*-high, *high), crs=crs, **given)
    opened = open_table(source, table)
    stated = None if opened.crs and columns is None else crs
    chosen = Selection(everywhere, columns, stated, unit, max_per_unit, **how)
    records = read_records(source, chosen)
    tally, over = records.counts, 0
    if records.unit is not None:
        over = np.maximum(np.bincount(records.unit) - max_per_unit, 0).sum()
    tally.add(Fact.OVER, over)
    tally.add(Fact.LOADED, len(records.points) - over)
    near = () if everywhere.kinds is None else near_kinds(opened, everywhere.kinds)
    places, extent = records.points[:, :dims].reshape(-1, 2), None
    placed = ~at_zero(places)
    if placed.any():
        places = places[placed]
    if len(places):
        extent = (*places.min(axis=0).tolist(), *places.max(axis=0).tolist())
    return Survey(tally, extent, records.columns == "the geometry", near)


def near_kinds(table: Table, kinds: Kinds) -> tuple[str, ...]:
    """Listed kinds that an unlisted one equals but for capitals and spaces."""
    name = kinds.column
    parts = [pc.unique(texts(block.columns[name], name)) for block in table.blocks([name])]
    cells = {cell.decode(errors="replace") for part in parts for cell in part.to_pylist() if cell}
    folded = {"".join(cell.split()).casefold() for cell in cells.difference(kinds.names)}
    return tuple(name for name in kinds.names if "".join(name.split()).casefold() in folded)


def public_extent(source: str | os.PathLike[str], **how: Any) -> tuple[float, float, float, float]:
    """West, south, east, north of the records, plus 1 % margin: for PUBLIC data only.

    The bounds of sensitive data are private: never call this for them.
    """
    extent = survey(source, **how).extent
    if extent is None:
        raise DataError("no records with coordinates: type the rectangle instead")
    low, high = np.array(extent[:2]), np.array(extent[2:])
    margin = np.maximum(0.01 * (high - low), 1e-4)
    west, south = (low - margin).tolist()
    east, north = (high + margin).tolist()
    return west, south, east, north


@dataclass(frozen=True, repr=False)
class TimeForms:
    """Forms in which a column writes its times.

    Attributes:
        readable: number of those whose time can be read.
        read, unread: form of the first time of each sort, as in :func:`form_of`; empty without one.
        better: time formats that read most of a sample, if the declared one reads fewer.
    """

    rows: int
    readable: int
    read: str
    unread: str
    better: tuple[str, ...]


def time_forms(
    source: Any,
    column: str,
    *,
    table: str | None = None,
    zone: str = ZONE,
    time_format: str | None = None,
) -> TimeForms:
    """Read a column of times, and propose a format that reads more of them.

    Raises DataError: no such column, or its declared type holds no times.
    """
    rows, readable, form = 0, 0, {True: "", False: ""}
    better: tuple[str, ...] = ()
    for block in open_table(source, table).blocks([column]):
        cells = block.columns[column]
        seen = ~np.isnan(times(cells, column, zone, Notation(time_format=time_format)))
        rows, readable = rows + len(seen), readable + int(np.count_nonzero(seen))
        for outcome in (True, False):
            if not form[outcome] and (seen == outcome).any():
                form[outcome] = _first_form(cells, column, seen == outcome)
                if not outcome:
                    better = _better(cells[:SAMPLE_TIMES], column, zone, time_format)
    return TimeForms(rows, readable, form[True], form[False], better)


def _first_form(cells: Any, column: str, wanted: Any) -> str:
    """Form of the first wanted cell that holds a text; "empty" if none does."""
    for row in np.flatnonzero(wanted)[:SAMPLE_TIMES].tolist():
        text = texts(cells[row : row + 1], column)[0].as_py()
        if text is not None and text.strip():
            return form_of(text.decode(errors="replace"))
    return "empty"


def _better(cells: Any, column: str, zone: str, declared: str | None) -> tuple[str, ...]:
    """Formats that read the most cells as plausible times, if more than the declared one."""
    read = {}
    for form in (declared, *TIME_FORMATS):
        with suppress(DataError):  # a column of timestamps takes no format
            seconds = times(cells, column, zone, Notation(time_format=form))
            plausible = (seconds > PLAUSIBLE_SECONDS[0]) & (seconds < PLAUSIBLE_SECONDS[1])
            read[form] = int(np.count_nonzero(plausible))
    most = max(read.values(), default=0)
    if most <= read.get(declared, 0):
        return ()
    return tuple(form for form, count in read.items() if form is not None and count == most)
