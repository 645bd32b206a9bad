"""Read records of places: parse, type, project, clip, and bound per unit.

Each step says its stability: by how many records its output moves when its input moves by one. A
record without a finite position, or outside the domain, is dropped; their number is known only to
the data owner, and may be shown for public data only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.domain.crs import earth_limits
from dpviz.errors import DataError, ShapesError
from dpviz.files import arrow
from dpviz.private.index import Layers, PointIndex
from dpviz.private.load.bounding import bounded, number_ids, per_time
from dpviz.private.load.cell_points import cell_points, grid_of
from dpviz.private.load.dialects import LARGEST
from dpviz.private.load.layout import Layout, layout
from dpviz.private.load.persons import Persons
from dpviz.private.load.projection import finite_rows, in_crs, srid_of
from dpviz.private.load.selection import Selection
from dpviz.private.load.tables.base import Column, Table
from dpviz.private.load.tables.opening import open_table
from dpviz.private.load.tally import Fact, Tally
from dpviz.private.load.values import count_unreadable, numbers, text_points, times
from dpviz.private.load.words import kind_numbers, texts
from dpviz.trees.lattice import STRIP_ROWS, Codes, morton


@dataclass(frozen=True, repr=False)
class Records:
    """Records inside the domain: private.

    Attributes:
        points: coordinates (n, dims), float64, in the domain's CRS.
        unit: number of each record's privacy unit (n,), int64, if a unit column was named.
        ids: distinct ids of the units by number, a pyarrow array of bytes.
        time: seconds since 1970 of each record (n,), NaN for none, if a time column was named.
        value: value of each record (n,), not clipped, if the domain has values.
        counts: outcomes of all records; never shown for sensitive data.
    """

    points: NDArray[np.float64]
    unit: NDArray[np.int64] | None = None
    ids: Any = None
    time: NDArray[np.float64] | None = None
    value: NDArray[np.float64] | None = None
    counts: Tally = field(default_factory=Tally)
    columns: str = ""

    def __repr__(self) -> str:
        return "<private records>"


def columns(path: str | Path, table: str | None = None) -> Sequence[Column]:
    """Names and types of the columns of a file, or of one of its tables, for a form."""
    opened = open_table(path, table)
    return [
        replace(each, crs=opened.crs) if each.kind == "geometry" else each
        for each in opened.columns
    ]


@dataclass(frozen=True, repr=False)
class _ClippedBlock:
    """Records of one block that are inside the domain."""

    points: NDArray[np.float64]
    unit: Any = None
    time: NDArray[np.float64] | None = None
    kind: NDArray[np.int64] | None = None
    value: NDArray[np.float64] | None = None


def clipped_blocks(
    table: Table, how: Layout, domain: Domain, counts: Tally
) -> Iterator[_ClippedBlock]:
    """Parse, type, project and clip records, block by block; drop incomplete ones.

    With a unit, records without an id are dropped; with kinds, records of unlisted kinds; with
    values, records without a value.

    Stability 1 in records: each is kept or dropped by its own content, and nothing else.
    """
    srid = srid_of(how.crs) if len(how.columns) == 1 else None
    cells = len(how.columns) == 1 and how.notation.order is None and grid_of(how.columns[0])
    alone = len(how.columns) == 1 and domain.without_time.dims == 2
    kinds, values, notation = how.kinds, how.values, how.notation
    names = [*dict.fromkeys([*how.columns, *how.extra])]
    table.expect_numbers(how.columns if notation.plain_numbers and not alone else ())
    for block in table.blocks(names, geometry=not how.columns):
        counts.read(block)
        if block.places is not None:
            points = block.places
        elif alone and cells:
            points = cell_points(block.columns[how.columns[0]], how.columns[0])
        elif alone:
            points = text_points(block.columns[how.columns[0]], how.columns[0], notation, srid)
        else:
            axes = [numbers(block.columns[name], name, notation) for name in how.columns]
            points = np.stack(axes).T  # each axis contiguous
        given = points
        zero = at_zero(given)
        points = in_crs(points, how.crs, domain.crs)
        time = None
        if how.time is not None:
            time = times(block.columns[how.time], how.time, domain.zone, notation)
        if time is not None and domain.time is not None:
            points = np.column_stack([points, domain.on_axis(time)])
        inside = domain.contains(points)
        if not inside.all():  # otherwise there is no outcome to count
            readable = finite_rows(given)
            shapeless = np.isinf(given).any(axis=1) & (not how.columns)
            counts.add(Fact.EMPTY_PLACE, np.count_nonzero(shapeless))
            lost = ~readable & ~shapeless
            count_unreadable(counts, Fact.NO_PLACE, lost, block.columns, how.columns, given)
            if time is not None and domain.time is not None:
                lost = readable & np.isnan(time)
                count_unreadable(counts, Fact.NO_TIME, lost, block.columns, [str(how.time)])
                readable &= ~np.isnan(time)
            placed = domain.without_time.contains(points)
            away = readable & ~placed & off_earth(points, domain)
            counts.add(Fact.OFF_EARTH, np.count_nonzero(away))
            outside = readable & ~placed & ~away
            counts.add(Fact.OUTSIDE, np.count_nonzero(outside))
            counts.add(Fact.OUTSIDE_AT_ZERO, np.count_nonzero(outside & zero))
            zero &= ~outside & ~away
            counts.add(Fact.OUTSIDE_PERIOD, np.count_nonzero(readable & placed & ~inside))
        counts.add(Fact.AT_ZERO, np.count_nonzero(zero))
        kind = None if kinds is None else kind_numbers(block.columns[kinds.column], kinds)
        value = None
        if values is not None:
            value = numbers(block.columns[values.column], values.column, notation)
        unit = None if how.unit is None else texts(block.columns[how.unit], how.unit)
        for fact, has_it in (
            (Fact.NO_KIND, None if kind is None else kind >= 0),
            # The same limit as in SQL engines; NaN fails it.
            (Fact.NO_VALUE, None if value is None else np.abs(value) <= float(LARGEST)),
            (Fact.NO_UNIT, None if unit is None else arrow.number_array(unit.is_valid())),
        ):
            if has_it is not None:
                counts.add(fact, np.count_nonzero(inside & ~has_it))
                inside &= has_it
        if time is not None and domain.time is None:
            lost = inside & np.isnan(time)
            count_unreadable(counts, Fact.NO_TIME, lost, block.columns, [str(how.time)])
            inside &= ~lost
        if not inside.all():
            rows = np.flatnonzero(inside)
            points = points[rows]
            unit = None if unit is None else unit.take(rows)
            time = None if time is None else time[rows]
            kind = None if kind is None else kind[rows]
            value = None if value is None else value[rows]
        yield _ClippedBlock(points, unit, time, kind, value)


def read_records(source: Any, chosen: Selection, counts: Tally | None = None) -> Records:
    """Read records and keep those inside the domain.

    A file without any record inside gives empty records. Of public data a suspected swap of the
    axes is reported. ``counts`` receives the outcome of every record.

    Raises DataError: one line that names the thing and the remedy, and quotes no record.
    """
    opened = open_table(source, chosen.table)
    how, domain = layout(opened, chosen), chosen.box(opened.name)
    counts = Tally() if counts is None else counts
    blocks = list(clipped_blocks(opened, how, domain, counts))
    if chosen.public:
        _suspect_places(opened, how, domain, counts)
    points = [np.empty((0, domain.dims)), *(part.points for part in blocks)]
    number, ids = number_ids([part.unit for part in blocks]) if how.unit else (None, None)
    when = [np.empty(0), *(part.time for part in blocks if part.time is not None)]
    value = [np.empty(0), *(part.value for part in blocks if part.value is not None)]
    return Records(
        np.concatenate(points),
        number,
        ids,
        np.concatenate(when) if how.time else None,
        np.concatenate(value) if how.values else None,
        counts,
        how.words,
    )


def read_layers(
    table: Table, how: Layout, chosen: Selection, counts: Tally | None = None
) -> Layers:
    """Read records into one index per kind, in blocks to save memory.

    With units of time, all of what follows holds for each unit's records of each unit of time: a
    record is in or out of the period by its own time, before anything else.

    Stability, from parse to index: one record more or less moves the indexes, all kinds together,
    by at most 1; with a unit, one unit more or less moves them by at most its bound, whatever the
    records of other units, and one record more or less of a unit by at most 2. A record of an
    unlisted kind, or without a readable value, is dropped by itself before the bound of its unit,
    like one outside the domain. The bound holds for a unit's records of all kinds together, and
    splitting them by kind puts each record into one index. The sums move by at most
    :attr:`Values.reach` steps for each record that the counts move by, as a value is clipped and
    rounded by itself.

    ``chosen``: the domain, and max contributions per unit. For public data the choice of records is
    repeatable, and a file whose places do not fit the domain is refused.
    """
    counts, domain = Tally() if counts is None else counts, chosen.box(table.name)
    charged, units = chosen.charged, [np.empty(0, dtype=np.int64)]
    codes, ids = [np.empty(0, dtype=np.uint64)], []
    kinds, values = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for part in clipped_blocks(table, how, domain, counts):
        codes.append(encoded(domain, part.points))
        if how.unit is not None:
            ids.append(part.unit)
        kinds += [] if part.kind is None else [part.kind]
        if how.values is not None and part.value is not None:
            values.append(how.values.steps(part.value))
        if charged is not None and part.time is not None:
            units.append(charged.units.of_moments(part.time))
    if chosen.public:
        _suspect_places(table, how, domain, counts)
    every = np.concatenate(codes)
    del codes
    kind = None if how.kinds is None else np.concatenate(kinds)
    persons = None
    value = None if how.values is None else np.concatenate(values)
    if how.unit is not None:
        unit, distinct = number_ids(ids)
        if charged is not None:
            unit, distinct = per_time(unit, distinct, np.concatenate(units))
        if chosen.most > 1:
            short = unit.astype(np.min_scalar_type(len(distinct)))
            which = None if kind is None else kind.astype(np.uint8)
            persons = Persons(short, distinct, every, which, bool(chosen.public))
        slots = [each for each in (every.view(np.int64), kind, value) if each is not None]
        rows = bounded(
            unit,
            distinct,
            chosen.most,
            lambda over: [each[over] for each in slots],
            public=bool(chosen.public),
        )
        del slots
        counts.add(Fact.OVER, len(every) - len(rows))
        every = every[rows]
        kind, value = (None if each is None else each[rows] for each in (kind, value))
    counts.add(Fact.LOADED, len(every))
    return _layers(domain, every, kind, value)._replace(persons=persons)


def at_zero(places: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mask (n,) of records with an end at 0, 0, in columns of x and y in turn."""
    ends = zip(places.T[::2], places.T[1::2], strict=False)
    zero: NDArray[np.bool_] = np.any([(x == 0) & (y == 0) for x, y in ends], axis=0)
    return zero


def off_earth(points: NDArray[np.float64], domain: Domain) -> NDArray[np.bool_]:
    """Mask (n,) of records of a domain's CRS with an end that is nowhere on the Earth."""
    places = points[:, : domain.without_time.dims]
    beyond = np.abs(places) > np.resize(earth_limits(domain.crs), places.shape[1])
    away: NDArray[np.bool_] = ~finite_rows(places) | beyond.any(axis=1)
    return away


def encoded(domain: Domain, points: NDArray[np.float64]) -> Codes:
    """Morton codes of points inside the domain, uint64 (n,), in cache-sized strips."""
    codes = np.empty(len(points), dtype=np.uint64)
    for start in range(0, len(points), STRIP_ROWS):
        strip = slice(start, start + STRIP_ROWS)
        codes[strip] = morton(domain.cells(points[strip]))
    return codes


def _layers(
    domain: Domain, codes: Codes, kind: NDArray[np.int64] | None, value: NDArray[np.int64] | None
) -> Layers:
    """Build one index per kind of records; ``codes`` may be overwritten."""
    plain = domain.counts_only
    of_each: list[Any] = [slice(None)]
    if kind is not None and domain.kinds is not None:
        of_each = [kind == number for number in range(len(domain.kinds.names))]
    sums = (
        () if value is None else (PointIndex.of_sums(plain, codes[at], value[at]) for at in of_each)
    )
    values = tuple(sums)  # before from_codes sorts the codes
    return Layers(tuple(PointIndex.from_codes(plain, codes[at]) for at in of_each), values)


def _suspect_places(table: Table, how: Layout, domain: Domain, counts: Tally) -> None:
    """Refuse public data if no place is readable, or if most fit with swapped axes."""
    unread = sum(counts[each] for each in (Fact.BROKEN, Fact.RAGGED, Fact.QUOTED))
    placed = counts[Fact.READ] - unread
    if counts.without_place == placed > 0:
        raise (DataError if how.columns else ShapesError)(
            f"{table.name}: no record has a readable place: give numbers such as 52.5 and 13.4, "
            "or points; for numbers such as 52,5 give decimal=… (--decimal)"
        )
    outside = counts[Fact.OUTSIDE] + counts[Fact.OFF_EARTH] + counts.without_place
    if domain.dims != 2 or outside == 0 or placed - outside > 0.01 * placed:
        return
    turned = Domain(domain.lower[::-1], domain.upper[::-1], domain.columns[::-1], domain.crs)
    swapped = Tally()
    for _ in clipped_blocks(
        table, replace(how, unit=None, time=None, kinds=None, values=None), turned, swapped
    ):
        pass
    if swapped[Fact.OUTSIDE] + swapped[Fact.OFF_EARTH] + swapped.without_place < 0.5 * placed:
        first, second = domain.columns
        raise DataError(
            f"{table.name}: {first} and {second} look swapped; name the columns the other way round"
        )
