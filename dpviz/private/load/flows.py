"""Read records that begin in one public area and end in another.

The ends are named by two columns of area names, or by four columns of coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpviz.errors import DataError
from dpviz.files import arrow
from dpviz.private.flows import FlowData
from dpviz.private.handle import unit_in_words
from dpviz.private.load.bounding import bounded, number_ids
from dpviz.private.load.notation import PLAIN, Notation
from dpviz.private.load.projection import finite_rows, in_crs
from dpviz.private.load.selection import checked_bound
from dpviz.private.load.source import source_of
from dpviz.private.load.tables.base import Block, pick
from dpviz.private.load.tables.opening import open_table
from dpviz.private.load.tally import Fact, Tally
from dpviz.private.load.values import count_unreadable, numbers, times
from dpviz.private.load.words import kind_numbers, listed_places, texts
from dpviz.releases.areas.partition import Areas
from dpviz.releases.axis import Axis
from dpviz.releases.flows.frame import Flows
from dpviz.roads.steps import Steps
from dpviz.trees.lattice import Int


def read_flows(
    source: Any,
    flows: Flows,
    *,
    columns: Sequence[str] | None = None,
    crs: str | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
    public: bool = False,
    name: str | None = None,
    table: str | None = None,
    steps: Steps | None = None,
    notation: Notation = PLAIN,
    counts: Tally | None = None,
) -> FlowData:
    """Read records of flows into a handle.

    Stability, from parse to handle: one record more or less in the source is at most one more or
    less here; with a unit, one unit more or less changes at most ``max_per_unit`` records. Whether
    a record is dropped before that bound depends on its own values only: one of its ends is in none
    of the areas, its time is in none of the steps, its kind is unlisted, or its unit has no id.

    Arguments are those of :func:`dpviz.load`, with ``steps`` of time. ``columns`` are four, x and y
    of the start, then of the end; or two, the names of the finest areas. The kinds are those of the
    areas' domain. ``counts`` receives the outcome of every record.
    """
    most = checked_bound(unit, max_per_unit)
    counts = Tally() if counts is None else counts
    source = source_of(source, table)
    opened, kinds = open_table(source), flows.domain.kinds
    names = _checked_columns(columns, flows, crs, opened.name)
    crs = opened.crs_of(names, crs)
    wanted = [*names, *(each.column for each in (kinds, steps) if each is not None)]
    wanted += [] if unit is None else [unit]
    if opened.declares:
        pick(opened.columns, wanted, opened.name, first_line=opened.first_line)
    cells, ids = [np.empty((0, 3), dtype=np.int64)], []
    for block in opened.blocks([*dict.fromkeys(wanted)]):
        counts.read(block)
        part, listed = np.zeros(block.rows, dtype=np.int64), np.ones(block.rows, dtype=np.bool_)
        ends = _ends(block, names, flows, crs, notation, counts)
        listed &= (ends >= 0).all(axis=1)
        if kinds is not None:
            kind = kind_numbers(block.columns[kinds.column], kinds)
            part = kind * (1 if steps is None else len(steps))
            _drop(listed, kind >= 0, Fact.NO_KIND, counts)
        if steps is not None:
            moment = times(block.columns[steps.column], steps.column, steps.zone, notation)
            step = steps.of_moments(moment)
            lost = listed & np.isnan(moment)
            count_unreadable(counts, Fact.NO_TIME, lost, block.columns, [steps.column])
            listed &= ~lost
            _drop(listed, step >= 0, Fact.OUTSIDE_PERIOD, counts)
            part = part + step
        if unit is not None:
            written = texts(block.columns[unit], unit)
            _drop(listed, arrow.number_array(written.is_valid()), Fact.NO_UNIT, counts)
            ids.append(written.take(np.flatnonzero(listed)))
        cells.append(np.column_stack([part, ends])[listed])
    every = np.concatenate(cells)
    if kinds is not None:  # the release states the categories as its axis
        plain = replace(flows.origins, domain=flows.domain.without_time.counts_only)
        flows = replace(flows, origins=plain)
    if unit is not None:
        number, distinct = number_ids(ids)
        rows = bounded(number, distinct, most, lambda at: list(every[at].T), public=public)
        counts.add(Fact.OVER, len(every) - len(rows))
        every = every[rows]
    counts.add(Fact.LOADED, len(every))
    by = Axis(kinds, steps)
    data = FlowData(
        source.name if name is None else name,
        flows,
        every,
        by=None if by == Axis() else by,
        public=public,
        unit=unit_in_words(unit, most, "records"),
        max_per_unit=most,
    )
    data.facts["columns"] = list(names)
    return data


def _checked_columns(
    columns: Sequence[str] | None, flows: Flows, crs: str | None, source: str
) -> list[str]:
    """The columns of the ends: two or four.

    Raises DataError: another number of columns, areas that share a name, or a CRS of names.
    """
    names = list(columns or ())
    if len(names) not in (2, 4):
        raise DataError(
            f"{source}: flows need columns of both ends (--from, --to): x and y of the start and "
            "of the end, or one column of area names for each"
        )
    if len(names) == 2:
        if crs is not None:
            raise DataError(f"crs={crs!r} is for coordinates, not for names of areas: leave it out")
        for areas in (flows.origins, flows.destinations):
            finest = areas.names[areas.first_leaf :]
            if len(set(finest)) < len(finest):
                twice = next(each for each in finest if finest.count(each) > 1)
                raise DataError(
                    f"several areas are called {twice!r}, so their names do not say where a record "
                    "is: name them by a unique column"
                )
    return names


def _ends(
    block: Block,
    names: list[str],
    flows: Flows,
    crs: str | None,
    notation: Notation,
    counts: Tally,
) -> Int:
    """Numbers of the finest areas of both ends of each record, int64 (n, 2); −1 for none."""
    ends: Int = np.full((block.rows, 2), -1, dtype=np.int64)
    readable = np.ones(block.rows, dtype=np.bool_)
    half = len(names) // 2
    for end, areas in enumerate((flows.origins, flows.destinations)):
        chosen = names[end * half : (end + 1) * half]
        if half == 1:
            written = texts(block.columns[chosen[0]], chosen[0])
            ends[:, end] = listed_places(written, areas.names[areas.first_leaf :])
            readable &= arrow.number_array(written.is_valid())
        else:
            axes = [numbers(block.columns[name], name, notation) for name in chosen]
            ends[:, end] = _located(np.stack(axes).T, areas, crs)
            readable &= finite_rows(np.stack(axes).T)
    count_unreadable(counts, Fact.NO_PLACE, ~readable, block.columns, names)
    counts.add(Fact.OUTSIDE, np.count_nonzero(readable & (ends < 0).any(axis=1)))
    return ends


def _located(points: Any, areas: Areas, crs: str | None) -> Int:
    """Number of the finest area of each point, int64 (n,); −1 for none."""
    domain = areas.domain.without_time.counts_only
    moved = in_crs(points, crs or domain.crs, domain.crs)
    inside = np.flatnonzero(domain.contains(moved))
    number: Int = np.full(len(points), -1, dtype=np.int64)
    number[inside] = areas.located(moved[inside])
    return number


def _drop(listed: Any, passing: Any, why: Fact, counts: Tally) -> None:
    """Drop records that do not pass, in place, and count them."""
    counts.add(why, np.count_nonzero(listed & ~passing))
    listed &= passing
