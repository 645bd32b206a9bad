"""Records that are sequences: the items of each in order, with its privacy unit.

The items are in a column of lists, one record per row; or in rows, one per item, that are grouped
by (unit, id): two units that use the same id have two records. The rows of a record and their order
depend on the rows of its unit alone: stability 1 in records, and in units. A row without the id of
a unit or of a record is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpviz.errors import DataError
from dpviz.private.load.bounding import bounded, number_ids, slots_of
from dpviz.private.load.notation import Notation
from dpviz.private.load.tables.base import Table
from dpviz.private.load.tally import Fact, Tally
from dpviz.private.load.values import empty_cells, times
from dpviz.private.load.words import listed_places, lists, texts
from dpviz.trees.lattice import Float, Int
from dpviz.trees.ragged import Ragged


@dataclass(frozen=True)
class Form:
    """The columns that hold items, decided by the schema alone.

    Attributes:
        item: the column of items, or of lists of them.
        group: the column of record ids, where each row is one item; None for lists.
    """

    item: str
    group: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Items(Ragged):
    """Records as consecutive items, −1 for items without a public name: private.

    Attributes:
        unit: number of each record's privacy unit (n,); None if a record is the unit.
        ids: ids of the units by number.
        when: moment of each record (n,), in seconds since 1970 UTC or NaN; None without time.
    """

    unit: Int | None = None
    ids: Any = None
    when: Float | None = None

    def __repr__(self) -> str:
        return "<private items>"

    def take(self, rows: Int) -> Items:
        """The records in these rows, in the order of ``rows``."""
        unit = None if self.unit is None else self.unit[rows]
        when = None if self.when is None else self.when[rows]
        return replace(super().take(rows), unit=unit, when=when)


def read_items(
    table: Table,
    form: Form,
    names: Sequence[str],
    unit: str | None,
    counts: Tally,
    time: tuple[str, str, Notation] | None = None,
) -> Items:
    """Read items, convert them to ids, and group them by (unit, id).

    A record's moment is that of its row; of a record in several rows, that of the first alone. It
    is NaN if it cannot be read, infinite if its cell is empty.

    Args:
        names: the public names of all items, without repeats.
        time: column of the moment, the zone of those that state none, and their notation.
    """
    columns = (form.item, form.group, unit, time and time[0])
    wanted = [each for each in columns if each is not None]
    lengths, items, groups, units = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [], []
    moments = [np.empty(0, np.float64)]
    for block in table.blocks([*dict.fromkeys(wanted)]):
        counts.read(block)
        if form.group is None:
            start, cells = lists(block.columns[form.item], form.item)
            lengths.append(np.diff(start))
        else:
            cells = texts(block.columns[form.item], form.item)
            groups.append(texts(block.columns[form.group], form.group))
        items.append(listed_places(cells, names))
        if unit is not None:
            units.append(texts(block.columns[unit], unit))
        if time is not None:
            moments.append(np.array(times(block.columns[time[0]], *time)))
            unread = np.flatnonzero(np.isnan(moments[-1]))
            empty = empty_cells(block.columns, [time[0]], unread)
            moments[-1][unread[empty]] = np.inf
    item, when = np.concatenate(items), None if time is None else np.concatenate(moments)
    number, ids = number_ids(units) if unit is not None else (None, None)
    if number is not None:
        counts.add(Fact.NO_UNIT, np.count_nonzero(number < 0))
    if form.group is None:
        start = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
        read = Items(start, item, number, ids, when)
        return read if number is None else read.take(np.flatnonzero(number >= 0))
    return _grouped(Items(np.arange(len(item) + 1), item, number, ids, when), groups, counts)


def known_items(items: Items, drop_unknown: bool, counts: Tally, refusal: str) -> Items:
    """Records whose items all have public names.

    Raises DataError: ``refusal``, if it is not empty and a record holds an unknown item.

    Args:
        items: the records, with −1 for items without a public name.
        drop_unknown: drop unknown items instead of the records that hold them.
        refusal: for public data, the error if a record holds an unknown item; ``{}`` is replaced by
            the number of the first such record. Empty for sensitive data.
    """
    unknown = items.item < 0
    if drop_unknown:
        counts.add(Fact.STEPS, np.count_nonzero(unknown))
        return items.only(~unknown)
    incomplete = np.bincount(items.owner, unknown, minlength=len(items)) > 0
    if refusal and incomplete.any():
        raise DataError(refusal.format(int(np.argmax(incomplete))))
    counts.add(Fact.UNKNOWN, np.count_nonzero(incomplete))
    return items.take(np.flatnonzero(~incomplete))


def bounded_items(items: Items, k: int, counts: Tally, *, public: bool = False) -> Items:
    """Drop empty records, then keep at most `k` records of each unit.

    Stability: with one unit more or less, at most k records differ; with one record, at most 2.
    """
    filled = np.flatnonzero(np.diff(items.start) > 0)
    counts.add(Fact.EMPTY, len(items) - len(filled))
    items = items.take(filled)
    if items.unit is not None:
        slots = slots_of(items, items.when)
        rows = bounded(items.unit, items.ids, k, slots, public=public)
        counts.add(Fact.OVER, len(items) - len(rows))
        items = items.take(rows)
    counts.add(Fact.LOADED, len(items))
    return items


def _grouped(rows_read: Items, groups: Sequence[Any], counts: Tally) -> Items:
    """Group rows into records by id; rows without an id are dropped."""
    unit = rows_read.unit
    group, _ = number_ids(groups)
    owner = np.zeros(len(group), dtype=np.int64) if unit is None else unit
    counts.add(Fact.NO_ID, np.count_nonzero((group < 0) & (owner >= 0)))
    rows = np.flatnonzero((group >= 0) & (owner >= 0))
    rows = rows[np.lexsort([group[rows], owner[rows]])]  # stable: rows of a record stay in order
    key = np.column_stack([owner[rows], group[rows]])
    first = np.flatnonzero(np.append(True, (key[1:] != key[:-1]).any(axis=1)))[: len(rows)]
    # Order a unit's records by its own first rows, since id numbers depend on all units.
    begin = np.zeros(len(group), dtype=np.int64)
    begin[rows] = np.repeat(rows[first], np.diff(np.append(first, len(rows))))
    rows = rows[np.lexsort([begin[rows], owner[rows]])]
    first = np.flatnonzero(begin[rows] == rows)
    start = np.append(first, len(rows))
    number = None if unit is None else unit[rows[first]]
    when = None if rows_read.when is None else rows_read.when[rows[first]]
    return Items(start, rows_read.item[rows], number, rows_read.ids, when)
