"""Counts of a release in words, by category, time, area and street."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpviz.domain.periods import steps_words
from dpviz.errors import DpvizError
from dpviz.exports.export import csv_bytes
from dpviz.exports.facts import Mapped, quotient_words
from dpviz.exports.levels import pair_titles
from dpviz.exports.pack import base64_of
from dpviz.exports.presentation import Presentation
from dpviz.releases.answers import RangeAnswers
from dpviz.releases.areas.hexagons import level_titles
from dpviz.releases.areas.table import part_counts
from dpviz.releases.counts import (
    AreaRelease,
    PointRelease,
    RoadRelease,
    is_areas,
    is_points,
    is_roads,
)
from dpviz.releases.flows.release import FlowRelease, is_flows
from dpviz.releases.points.marginal import marginal
from dpviz.releases.points.window import window_cuts
from dpviz.releases.release import Release
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.render.flows import path_words
from dpviz.render.nearby import area_labels, cell_names, is_mostly_from_cut_cells, place_rows
from dpviz.render.numbers import count_words, with_noise
from dpviz.sequences.moves import frequent, visit_sd, visits
from dpviz.trees.lattice import Float, Int

MAX_ROWS = 30
"""Most rows of a table: those with the highest counts."""

MAX_ENDS = 6
"""Most origins and destinations of a matrix in a file."""

MAX_STEPS = 12
"""Most steps of time that are columns of a table."""

MAX_COUNTS = 10_000
"""Most counts of a release whose CSV file is inside its page: about a megabyte."""

COUNT = "Noisy count"


FROM_CUT_CELLS = "around named places most of it is not noise but from cut cells, an estimate"
"""Words on ± of shapes that are small beside the cells."""


@dataclass(frozen=True)
class Table:
    """Counts in words.

    Attributes:
        title: what the rows are, such as "Streets".
        head: names of the columns; the first names each row.
        rows: texts.
        of: number of rows of the whole release; ``rows`` are those with the highest counts.
        sums: number of rows of sums, which stand first in ``rows`` and are not in ``of``.
        note: words on ±, to follow those of all tables.
    """

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    of: int
    sums: int = 0
    note: str = ""

    @property
    def summary(self) -> str:
        """Title and number of rows."""
        listed = len(self.rows) - self.sums
        if self.of > listed:
            return f"{self.title}: {listed} of {self.of:,}, those with the most records"
        return f"{self.title}: {self.of:,}"


def tables_of(
    release: Release, maps: Sequence[Mapped] = (), names: Sequence[str] = ()
) -> list[Table]:
    """Tables of a release of any kind; none where there is nothing to list.

    Args:
        release: a release of any kind.
        maps: the release itself and maps of its steps, of a series.
        names: of the maps.
    """
    if maps:
        return [step_table(maps, names), *tables_of(release)]
    if is_roads(release):
        return [_streets(release)]
    if isinstance(release, SequenceRelease):
        return _places(release)
    if is_areas(release):
        return [*_categories(release), *_steps(release), *_areas(release)]
    if is_flows(release):
        return [flow_matrix(release, level) for level in release.frame.levels[::-1]]
    if is_points(release):
        return [*_categories(release), *_steps(release), *_named_places(release)]
    return []


def csv_link(release: Release, presentation: Presentation) -> tuple[str, str] | None:
    """Name and address of a CSV file of areas or flows, which is in the address itself.

    It has a line for each area, step of time and category; None for more than :data:`MAX_COUNTS`.
    """
    if not (is_areas(release) or is_flows(release)):
        return None
    if sum(len(part.nodes) for part in release.parts) > MAX_COUNTS:
        return None
    name = presentation.file_name(".csv", "counts.csv")
    return name, f"data:text/csv;base64,{base64_of(csv_bytes(release))}"


def _categories(release: Mapped) -> Iterator[Table]:
    """Noisy total and share of each category."""
    if len(release.kinds) > 1:
        box = release.domain.without_time.bounds
        rows = [
            (
                name,
                count_words(release.count(box, kind=name)),
                quotient_words(release.share(box, name), shares=True),
            )
            for name in release.kinds
        ]
        yield Table("Categories", ("Category", COUNT, "Share (95 %)"), rows, len(rows))


def _steps(release: Mapped) -> Iterator[Table]:
    """Noisy total of each step of time; a release without steps is cut into at most twelve."""
    if release.steps is not None:
        axis, periods = release.steps.calendar, list(pairwise(release.steps.edges.tolist()))
    elif is_points(release) and release.domain.time is not None:
        axis, periods = release.domain.calendar, list(pairwise(window_cuts(release.domain)))
    else:
        return
    box = release.domain.without_time.bounds
    shown = zip(steps_words(axis, periods), periods[:MAX_ROWS], strict=False)
    rows = [(words, count_words(release.count(box, period))) for words, period in shown]
    yield Table("Steps of time", ("Time", COUNT), rows, len(periods))


def step_table(maps: Sequence[Mapped], names: Sequence[str]) -> Table:
    """Noisy total of each step of time, from maps of the whole period and of each step."""
    totals = (count_words(each.count(each.domain.bounds)) for each in maps[1:])
    rows = [*zip(names[1:], totals, strict=True)]
    return Table("Steps of time", ("Time", COUNT), rows, len(rows))


def _named_places(release: PointRelease) -> Iterator[Table]:
    """Noisy counts in squares around named places; for trips, counts of starts and of ends."""
    maps = {"Named places": release}
    if release.domain.without_time.dims == 4:
        maps = {"Starts": marginal(release, (0, 1)), "Ends": marginal(release, (2, 3))}
    elif release.domain.without_time.dims != 2:
        return
    for title, each in maps.items():
        if rows := place_rows(each):
            head = tuple(name.capitalize() for name in rows[0])
            texts = [tuple(row.values()) for row in rows]
            note = FROM_CUT_CELLS if is_mostly_from_cut_cells(each) else ""
            title = f"{title}, densest first"
            yield Table(title, head, texts, len(rows), note=note)


def _areas(release: AreaRelease) -> list[Table]:
    """Areas level by level, the finest first; a few steps of time are further columns."""
    areas, count = release.frame, release.answers.count
    names, above = areas.names, areas.parent_names
    if areas.resolution is not None:
        names = tuple(area_labels(areas, release.header.source))
    half = release.header.interval_sds * release.answers.noise_sd
    steps, by_step = _by_step(release)
    tables = []
    for level, part in zip(level_titles(areas.levels), areas.slices, strict=True):
        order = part.start + np.argsort(-count[part], kind="stable")
        rows: list[tuple[str, ...]] = [
            (names[row], above[row] or "", with_noise(count[row], half[row]), *by_step[:, row])
            for row in order[:MAX_ROWS].tolist()
        ]
        head: tuple[str, ...] = (level, "In", COUNT, *steps)
        if not part.start or areas.resolution is not None:
            rows, head = [(name, *words) for name, _, *words in rows], (level, COUNT, *steps)
        tables.append(Table(level, head, rows, len(order)))
    return tables[::-1]


def _by_step(release: AreaRelease) -> tuple[list[str], NDArray[np.object_]]:
    """Steps of time in words, and the counts of all areas in each, (steps, n); few steps only."""
    if release.steps is None or len(release.steps) > MAX_STEPS:
        return [], np.empty((0, len(release.frame)), dtype=object)
    counts = part_counts(release)
    half = release.header.interval_sds * np.sqrt(len(counts) * release.parts[0].nodes.variance)
    words = [[*map(with_noise, step, half)] for step in counts.sum(axis=0)]
    names = steps_words(release.steps.calendar, pairwise(release.steps.edges.tolist()))
    return names, np.array(words, dtype=object)


def flow_matrix(release: FlowRelease, level: str, most: int = MAX_ENDS) -> Table:
    """Counts from origins (rows) to destinations (columns) of a level, and their sums.

    Args:
        release: a release of flows.
        level: name of a level of pairs.
        most: most origins, and most destinations: those with the largest sums.
    """
    flows = release.frame
    source = release.header.source
    labels = [area_labels(areas, source) for areas in (flows.origins, flows.destinations)]
    ends = [_ends(release, level, end) for end in (0, 1)]
    ranks = [answers.count for _, answers in ends]
    if flows.to is None:
        ranks = [ranks[0] + ranks[1]] * 2
    order = [np.argsort(-rank, kind="stable")[:most] for rank in ranks]
    one, two = (rows[each] for (rows, _), each in zip(ends, order, strict=True))
    pairs = flows.boxes(np.repeat(one, len(two)), np.tile(two, len(one)))
    words = _words(release.count_boxes(*pairs)).reshape(len(one), len(two))
    outs, ins = (_words(answers)[each] for (_, answers), each in zip(ends, order, strict=True))
    rows = [
        (labels[0][row], out, *each)
        for row, out, each in zip(one.tolist(), outs, words, strict=True)
    ]
    total = ("All origins", count_words(release.count([flows.everything])), *ins)
    names = [labels[1][row] for row in two.tolist()]
    head = ("From (row) to (column)", "All destinations", *names)
    title = f"Flows, {pair_titles(flows)[flows.levels.index(level)]}"
    return Table(title, head, [total, *rows], len(ranks[0]), sums=1)


def _ends(release: FlowRelease, level: str, end: int) -> tuple[Int, RangeAnswers]:
    """Areas of one end of a level of pairs, and the sums over all areas of the other end."""
    flows = release.frame
    areas = (flows.origins, flows.destinations)[end]
    part = areas.slices[flows.depths[flows.levels.index(level)][end]]
    rows = np.arange(part.start, part.stop)
    low, high = np.zeros((len(rows), 2), dtype=np.int64), np.tile(flows.shape, (len(rows), 1))
    low[:, end], high[:, end] = (side[rows, 0] for side in areas.intervals)
    return rows, release.count_boxes(low, high)


def _words(answers: RangeAnswers) -> NDArray[np.object_]:
    """Counts with their errors, (q,)."""
    words = map(with_noise, answers.count.tolist(), answers.total_error.tolist())
    return np.array([*words], dtype=object)


def _streets(release: RoadRelease) -> Table:
    """Streets with the largest counts."""
    names = list(map(str, release.frame.graph.edge_id.tolist()))
    half = release.header.interval_sds * release.answers.noise_sd
    return _ranked("Streets", "Street", names, release.answers.count, half)


def _places(release: SequenceRelease) -> list[Table]:
    """Most visited places and most frequent moves; a model that only ranks moves has no counts."""
    names, model = cell_names(release), release.model
    moves = frequent(model, MAX_ROWS, 2, 2)
    words = [path_words(each, names) for each in moves.symbols]
    if moves.count is None:
        return [Table("Moves", ("Move",), [(each,) for each in words], len(words))]
    sds = release.header.interval_sds
    half = np.zeros(len(moves)) if moves.sd is None else sds * moves.sd
    tables = [_ranked("Most frequent moves", "Move", words, moves.count, half)]
    try:
        count, sd = visits(model), visit_sd(model)
    except DpvizError:  # a model without counts of single places
        return tables
    half = np.zeros(len(count)) if sd is None else sds * sd
    return [_ranked("Places", "Place", list(names), count, half), *tables]


def _ranked(title: str, what: str, names: list[str], count: Float, half: Float) -> Table:
    order = np.argsort(-count, kind="stable")
    rows: list[tuple[str, ...]] = [
        (names[row], with_noise(count[row], half[row])) for row in order[:MAX_ROWS].tolist()
    ]
    return Table(title, (what, COUNT), rows, len(order))
