"""Sequences of cells as marks: visits, curved arrows, frequent paths, moving trips."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.render.basemap import outlines
from dpviz.render.colors import ACCENT, HALO, LAND, Themed
from dpviz.render.detail import NOISE_SDS, Mask
from dpviz.render.flowlines import arrows, cell_side, centres, head, path_line
from dpviz.render.marks import boxes, paths, points, polygons, trips
from dpviz.render.numbers import interval_words, rounded, with_noise
from dpviz.render.projection import rings_of
from dpviz.render.scale import Scale, between, line_colors, lines_scale
from dpviz.render.scene import Bounds, Camera, Mark, Row, Scene
from dpviz.sequences.moves import Strings
from dpviz.trees.lattice import Float, Int

FIRST = 40
"""Number of the largest counts of a map that are compared with the noise."""


def above_noise(count: Float, sd: Float, among: float | Float) -> Mask:
    """True where the largest of many counts exceed what noise alone would reach among them.

    Among n Laplace variables of standard deviation 1, half a one is expected above ln(n)/√2: a
    count chosen for its size from 20,000 has to be 7 standard deviations of its noise. For sums of
    many draws, which are nearer to normal, the bound is stricter than needed.
    """
    least = np.maximum(NOISE_SDS, np.log(np.maximum(among, 1)) / math.sqrt(2))
    return np.asarray(count > least * sd)


def mostly_noise(count: Float, above: Mask) -> bool:
    """Return whether fewer than a quarter of the :data:`FIRST` largest counts are above the noise.

    ``above``: those that are.
    """
    first = np.argsort(-count)[:FIRST]
    return len(first) > 0 and bool(above[first].mean() < 0.25)


AWAY = re.compile(r"(\S+ km [NESW]{1,2}) of (.+)")
"""Name of a cell by the place that is nearest to it."""

VISITED_ALPHA = 110
"""Opacity (0–255) of visited cells behind arrows and lines."""

MIN_CHANCE = 0.005
"""Smallest probability of a next place that is drawn as an arrow."""

MAX_NEXT = 12
"""Most arrows to next places."""

MIN_SHAFT, MAX_SHAFT = 0.018, 0.085
"""Width of an arrow's shaft, in sides of a cell."""


def visit_marks(
    places: Float, names: Sequence[str], count: Float | None, sd: Float | None
) -> tuple[Mark, ...]:
    """Cells in classes of visits; blank within the noise.

    Args:
        places: west, south, east, north of each cell in degrees, (n, 4).
        count: noisy visits, (n,); None where they were not released.
        sd: standard deviation of the noise in them, (n,), if it is known.
    """
    grid = boxes("grid", places, themed=30, width=1.0)
    rows = [Row("cell", "cell")]
    extra: dict[str, Any] = {"cell": np.array(names)}
    color: Any = (0, 0, 0, 0)
    if count is not None:
        scale = visit_scale(float(count.max()))
        color = scale.paint(count, scale.colors(), VISITED_ALPHA)
        blank = count < scale.bounds[0]
        rows.append(Row("visits (noisy)", "count", noise_sd="" if sd is None else "sd"))
        extra["count"] = count
        if sd is not None:
            blank |= count < NOISE_SDS * sd
            extra["sd"] = sd
        for theme in (color.light, color.dark):
            theme[blank, 3] = 0
    cells = polygons(
        "visits", list(rings_of(places)), color=color, title="Cell", rows=rows, extra=extra
    )
    return cells, grid


def around(places: Float) -> Bounds:
    """The box around all cells."""
    west, south = places[:, :2].min(axis=0).tolist()
    east, north = places[:, 2:].max(axis=0).tolist()
    return west, south, east, north


def places_scene(
    release: SequenceRelease,
    places: Float,
    names: Sequence[str],
    visits: tuple[Float | None, Float | None],
    marks: Iterable[Mark],
    **options: Any,
) -> Scene:
    """Marks of a release on its cells and the ground around them.

    ``names`` and ``visits`` (counts and the noise in them) are as of :func:`visit_marks`;
    ``options`` are further fields of the scene.
    """
    area = around(places)
    cells = visit_marks(places, names, *visits)
    return Scene(
        marks=[*cells, *outlines(area), *marks],
        camera=Camera(bounds=area),
        domain=area,
        description=f"Movements between places: {release.header.privacy_status[1]}",
        **options,
    )


def visit_scale(most: float) -> Scale:
    """Classes of visits up to those of the most visited cell."""
    return between(max(most, 1.0) / 100, max(most, 1.0))


def standing(moves: Strings, size: int) -> tuple[Strings, int]:
    """Moves to another place that stand out of their noise, and how many do not.

    Args:
        moves: strings of two symbols; all stand out where the noise is unknown.
        size: number of symbols.
    """
    pairs = np.array(moves.symbols, dtype=np.int64).reshape(-1, 2)
    leads = pairs[:, 0] != pairs[:, 1]
    clear = leads
    if moves.count is not None and moves.sd is not None:
        clear = leads & above_noise(moves.count, moves.sd, size**2)
    return moves.at(np.flatnonzero(clear)), int((leads & ~clear).sum())


def move_marks(
    places: Float,
    names: Sequence[str],
    moves: Strings,
    *,
    faded: bool = False,
    among: Strings | None = None,
    noun: str = "moves",
) -> tuple[Mark, ...]:
    """Arrows between cells in five classes, the busiest last.

    Args:
        moves: as of :func:`standing`; where only their order is known, the first is the widest.
        faded: thin them out behind something else.
        among: more moves, in whose classes these are drawn; by default in their own.
        noun: name of the moves in their tooltips.
    """
    among = among or moves
    rows = np.arange(len(moves))[::-1]
    if not len(rows):
        return ()
    source, target = np.array(moves.symbols, dtype=np.int64)[rows].T
    share, label = shares(moves, among)[rows], np.array(names)
    rings = arrows(places, source, target, MIN_SHAFT + (MAX_SHAFT - MIN_SHAFT) * share)
    halo = () if faded else (paths("moves.halo", rings, color=LAND, width=2.5),)
    mark = polygons(
        "moves",
        rings,
        color=by_class(moves, rows, 70 if faded else 240, among),
        title=noun.capitalize(),
        rows=(Row("from", "from"), Row("to", "to"), *_count_row(noun, moves)),
        extra={"from": label[source], "to": label[target], **_count_columns(moves, rows)},
    )
    return *halo, mark


def shares(strings: Strings, among: Strings) -> Float:
    """√(count / largest count among strings), 0–1; by rank where there are no counts."""
    n = len(strings)
    if strings.count is None or among.count is None:
        return np.asarray(1.0 - np.arange(n) / max(n, 1))
    return np.asarray(np.sqrt(np.clip(strings.count / among.count.max(initial=1e-9), 0, 1)))


def _count_row(what: str, strings: Strings) -> tuple[Row, ...]:
    if strings.count is None:
        return ()
    return (Row(f"{what} (noisy)", "count", noise_sd="" if strings.sd is None else "sd"),)


def _count_columns(strings: Strings, rows: Int) -> dict[str, Any]:
    known = {"count": strings.count, "sd": strings.sd}
    return {name: values[rows] for name, values in known.items() if values is not None}


def next_marks(
    places: Float,
    names: Sequence[str],
    cell: int,
    chance: Float,
    sd: Float | None = None,
) -> list[Mark]:
    """A chosen cell and arrows to where it goes next, as wide as they are likely.

    Args:
        chance: P(next), (n + 1,) with the end last.
        sd: standard deviation of the noise in it; what is within the noise is not drawn.
    """
    targets = np.argsort(-chance[:-1], kind="stable")[:MAX_NEXT]
    targets = targets[(chance[targets] >= MIN_CHANCE) & (targets != cell)][::-1]
    if sd is not None:
        targets = targets[above_noise(chance[targets], sd[targets], len(names))]
    ring = boxes("chosen", places[[cell]], color=ACCENT, width=2.5)
    if not len(targets):
        return [ring]
    width = MIN_SHAFT + 0.008 + (0.24 - MIN_SHAFT) * np.sqrt(chance[targets])
    arrow = polygons(
        "next",
        arrows(places, np.full(len(targets), cell), targets, width),
        color=ACCENT.faint(235),
        title="Next place",
        rows=(Row("from", text=names[cell]), Row("to", "to"), Row("chance (noisy)", "chance")),
        extra={
            "to": np.array(names)[targets],
            "chance": np.array(chance_words(chance, sd))[targets],
        },
    )
    return [ring, arrow]


def chance_words(chance: Float, sd: Float | None) -> list[str]:
    """Probabilities in percent, with half-widths of 95 % intervals where the noise is known.

    An interval ends at 0 and 100 %; one that holds both says nothing.

    >>> chance_words(np.array([0.351, 0.3, 0.9, 0.3]), np.array([0.0149, 0.2, 0.1, np.inf]))
    ['35 ± 4 %', 'at most 80 %', 'at least 68 %', 'not known at this ε']
    """
    if sd is None:
        return [f"{rounded(100 * value, 0.1)} %" for value in chance.tolist()]
    percents = zip((100 * chance).tolist(), (100 * INTERVAL_SDS * sd).tolist(), strict=True)
    return [_percent_words(value, half) for value, half in percents]


def _percent_words(value: float, half: float) -> str:
    low, _, high = interval_words(value, half).partition(" to ")
    if value <= half:
        return "not known at this ε" if value + half >= 100 else f"at most {high} %"
    return f"at least {low} %" if value + half >= 100 else f"{with_noise(value, half)} %"


def path_marks(
    places: Float, names: Sequence[str], strings: Strings, chosen: int = 0
) -> list[Mark]:
    """Strings of cells as faint curved lines beside each other, one of them highlighted.

    Args:
        strings: strings of two cells or more.
        chosen: row drawn in the accent colour with its beginning and its end; none if past all.
    """
    share, lines = (
        shares(strings, strings),
        [path_line(places, row, at) for at, row in enumerate(strings.symbols)],
    )
    marks = []
    others = path_order(len(lines), chosen)
    if len(others):
        marks.append(
            paths(
                "paths",
                [lines[row] for row in others.tolist()],
                color=by_class(strings, others, 80, strings),
                width=1.0 + 2.0 * share[others],
                title="Frequent path",
                rows=(
                    Row("rank", "rank"),
                    Row("path", "path-names"),
                    *_count_row("times", strings),
                ),
                extra={
                    "rank": np.array([str(row + 1) for row in others.tolist()]),
                    "path-names": np.array(
                        [path_words(strings.symbols[row], names) for row in others.tolist()]
                    ),
                    **_count_columns(strings, others),
                },
            )
        )
    if chosen < len(lines):
        line = lines[chosen]
        marks += [
            paths("path.rim", [line], color=HALO.faint(200), width=6.5),
            paths("path", [line], color=ACCENT, width=4.0, pickable=True),
            polygons("path.end", [head(line[-3], line[-1], cell_side(places))], color=ACCENT),
            points("path.start.rim", line[:1], color=HALO, radius=6.5),
            points("path.start", line[:1], color=ACCENT, radius=5.0),
        ]
    return marks


def path_order(n: int, chosen: int) -> Int:
    """Ranks of the lines of :func:`path_marks` in the order in which they are drawn."""
    return np.array([row for row in range(n) if row != chosen][::-1], dtype=np.int64)


def path_words(string: Sequence[int], names: Sequence[str]) -> str:
    """A string of cells in words; while it stays around a place, that is named once.

    >>> path_words((0, 1), ("home", "work"))
    'home → work'
    >>> path_words((0, 1, 2), ("4 km S of Rome", "Rome", "3 km N of Ostia"))
    'Rome: 4 km S → centre → 3 km N of Ostia'
    """
    steps = [names[symbol] if symbol < len(names) else "start" for symbol in string]
    matches = [AWAY.fullmatch(step) or (step, "", step) for step in steps]
    words = []
    for _, around in groupby(matches, itemgetter(2)):
        run = [(each[0], each[1], each[2]) for each in around]
        if len(run) > 1 and any(side for _, side, _ in run):
            words.append(f"{run[0][2]}: {' → '.join(side or 'centre' for _, side, _ in run)}")
        else:
            words += [step for step, _, _ in run]
    return " → ".join(words)


def trip_marks(places: Float, sequences: Sequence[Int], seconds: float) -> tuple[Mark, ...]:
    """Synthetic trips: a step per unit of time, each set out at a random time.

    Args:
        sequences: sequences of cells; those that never move are left out.
        seconds: the length of the clock, in steps.
    """
    random = np.random.default_rng(0)  # random positions and times, for display only
    middle, side = centres(places), cell_side(places)
    lines, times = [], []
    for sequence in sequences:
        if len(sequence) < 2:
            continue
        shift = random.uniform(-0.34, 0.34, 2) * side
        lines.append(middle[sequence] + shift)
        times.append(random.uniform(-len(sequence) / 2, seconds) + np.arange(len(sequence)))
    return (trips("trips", lines, times, color=ACCENT, width=2.8, trail=1.6),)


def by_class(strings: Strings, rows: Int, alpha: int, among: Strings) -> Themed:
    """Colours of rows in the classes of the legend, by rank where there are no counts; (n, 4)."""
    scale, values = Scale((0.0, 0.2, 0.4, 0.6, 0.8)), shares(strings, among)
    if strings.count is not None and among.count is not None:
        scale, values = lines_scale(among.count), strings.count
    return scale.paint(values[rows], line_colors(), alpha)
