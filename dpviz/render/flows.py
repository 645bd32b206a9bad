"""Sequences of cells as marks: visits, curved arrows, frequent paths, moving trips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpviz.releases.points.range_count import INTERVAL_SDS
from dpviz.render.colors import ACCENT
from dpviz.render.flowlines import Float, Int, arrows, cell_side, centres, head, path_line
from dpviz.render.marks import boxes, paths, points, polygons, trips
from dpviz.render.numbers import rounded, with_noise
from dpviz.render.scene import Mark, Row

if TYPE_CHECKING:
    from dpviz.sequences.moves import Strings

NOISE_SDS = 2.0
"""A count under this many standard deviations of its noise is drawn grey."""

VISITED = (38, 105, 160)
MOVING = ((250, 190, 110), (243, 144, 40), (222, 92, 10))
"""Visits are blue and moves are orange: apart for every eye, on light and dark pages alike."""

TRIP = (253, 141, 60)
GREY = (140, 146, 154, 90)
FAINT, FULL = 18, 190
"""Opacity of the least and the most visited cell."""

LEAST = 0.005
"""Chance of the faintest arrow that is drawn."""

THIN, WIDE = 0.018, 0.17
"""Width of an arrow's shaft, in sides of a cell."""


def visit_marks(
    places: Float, names: Sequence[str], count: Float | None, sd: Float | None
) -> tuple[Mark, ...]:
    """Cells, the more opaque the more visited (∝ √count); grey within the noise.

    Args:
        places: west, south, east, north of each cell in degrees, (n, 4).
        names: of the cells.
        count: noisy visits, (n,); None where they were not released.
        sd: of the noise in them, (n,), if it is known.
    """
    grid = boxes("grid", places, themed=38, width=0.7)
    colors = np.tile((*VISITED, 0), (len(places), 1))
    rows = [Row("cell", "cell")]
    extra: dict[str, Any] = {"cell": np.array(names)}
    if count is not None:
        share = np.sqrt(np.clip(count / max(float(count.max()), 1e-9), 0, 1))
        colors[:, 3] = np.round(FAINT + (FULL - FAINT) * share)
        rows.append(Row("visits (noisy)", "count", noise_sd="" if sd is None else "sd"))
        extra["count"] = count
        if sd is not None:
            colors[count < NOISE_SDS * sd] = (*GREY[:3], 22)
            extra["sd"] = sd
    rings = list(places[:, [0, 1, 2, 1, 2, 3, 0, 3, 0, 1]].reshape(-1, 5, 2))
    cells = polygons("visits", rings, color=colors, title="Cell", rows=rows, extra=extra)
    return cells, grid


def move_marks(
    places: Float, names: Sequence[str], moves: Strings, *, faded: bool = False
) -> tuple[Mark, ...]:
    """Arrows between cells, as wide as √count: within the noise first, the busiest last.

    Args:
        places: of the cells, (n, 4).
        names: of the cells.
        moves: strings of two cells; where only their order is known, the first is the widest.
        faded: thin them out behind something else.
    """
    pairs = np.array(moves.symbols, dtype=np.int64).reshape(-1, 2)
    share, clear = shares(moves), np.ones(len(moves), dtype=np.bool_)
    if moves.count is not None and moves.sd is not None:
        clear = moves.count > NOISE_SDS * moves.sd
    label = np.array(names)
    marks = []
    for name, chosen in (("noise", ~clear), ("moves", clear)):
        rows = np.flatnonzero(chosen & (pairs[:, 0] != pairs[:, 1]))[::-1]
        if not len(rows):
            continue
        color = np.column_stack([ramp(share[rows]), np.full(len(rows), 70 if faded else 230)])
        marks.append(
            polygons(
                name,
                arrows(places, pairs[rows, 0], pairs[rows, 1], THIN + (WIDE - THIN) * share[rows]),
                color=(*GREY[:3], 45 if faded else GREY[3]) if name == "noise" else color,
                title="Moves" if name == "moves" else "Moves: within the noise",
                rows=(Row("from", "from"), Row("to", "to"), *_count_row("moves", moves)),
                extra={
                    "from": label[pairs[rows, 0]],
                    "to": label[pairs[rows, 1]],
                    **_count_columns(moves, rows),
                },
            )
        )
    return tuple(marks)


def shares(strings: Strings) -> Float:
    """√(count / largest count), 0–1; by rank where there are no counts."""
    n = len(strings)
    if strings.count is None:
        return np.asarray(1.0 - np.arange(n) / max(n, 1))
    return np.asarray(np.sqrt(np.clip(strings.count / max(top_count(strings), 1e-9), 0, 1)))


def top_count(strings: Strings) -> float:
    """The largest count; 0 where there are none."""
    return 0.0 if strings.count is None else float(strings.count.max(initial=0.0))


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
    most: int = 12,
) -> list[Mark]:
    """A chosen cell and arrows to where it goes next, as wide as they are likely.

    Args:
        places: of the cells, (n, 4).
        names: of the cells.
        cell: the chosen one.
        chance: P(next), (n + 1,) with the end last.
        sd: of the noise in it; what is within the noise is grey.
        most: arrows at most.
    """
    targets = np.argsort(-chance[:-1], kind="stable")[:most]
    targets = targets[(chance[targets] >= LEAST) & (targets != cell)][::-1]
    ring = boxes("chosen", places[[cell]], color=ACCENT, width=2.5)
    if not len(targets):
        return [ring]
    clear = np.ones(len(targets), dtype=np.bool_)
    if sd is not None:
        clear = chance[targets] > NOISE_SDS * sd[targets]
    color = np.where(clear[:, None], (*ACCENT, 235), (*GREY[:3], 170))
    width = THIN + 0.008 + (0.24 - THIN) * np.sqrt(chance[targets])
    arrow = polygons(
        "next",
        arrows(places, np.full(len(targets), cell), targets, width),
        color=color,
        title="Next place",
        rows=(Row("from", text=names[cell]), Row("to", "to"), Row("chance (noisy)", "chance")),
        extra={
            "to": np.array(names)[targets],
            "chance": np.array(chance_words(chance, sd))[targets],
        },
    )
    return [ring, arrow]


def chance_words(chance: Float, sd: Float | None) -> list[str]:
    """Probabilities in percent with the half-widths of their 95 % intervals, where noise is known.

    >>> chance_words(np.array([0.351, 0.2]), np.array([0.0149, np.inf]))
    ['35 ± 3 %', 'noise']
    """
    if sd is None:
        return [f"{rounded(100 * value, 0.1)} %" for value in chance.tolist()]
    half = 100 * INTERVAL_SDS * sd
    return [
        f"{with_noise(100 * value, wide)} %" if np.isfinite(wide) else "noise"
        for value, wide in zip(chance.tolist(), half.tolist(), strict=True)
    ]


def path_marks(
    places: Float, names: Sequence[str], strings: Strings, chosen: int | None = None
) -> list[Mark]:
    """Strings of cells as curved lines beside each other, the most frequent on top.

    Args:
        places: of the cells, (n, 4).
        names: of the cells.
        strings: of two cells or more.
        chosen: the row that is drawn in the accent colour with its beginning and its end.
    """
    share, lines = (
        shares(strings),
        [path_line(places, row, at) for at, row in enumerate(strings.symbols)],
    )
    marks = []
    others = path_order(len(lines), chosen)
    if len(others):
        opacity = np.full(len(others), 60 if chosen is not None else 215)
        marks.append(
            paths(
                "paths",
                [lines[row] for row in others.tolist()],
                color=np.column_stack([ramp(share[others]), opacity]),
                width=1.2 + 4.3 * share[others],
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
    if chosen is not None and chosen < len(lines):
        line = lines[chosen]
        marks += [
            paths("path.rim", [line], color=(255, 255, 255, 170), width=6.5),
            paths("path", [line], color=ACCENT, width=4.0, pickable=True),
            polygons("path.end", [head(line, cell_side(places))], color=ACCENT),
            points("path.start.rim", line[:1], color=(255, 255, 255), radius=6.5),
            points("path.start", line[:1], color=ACCENT, radius=5.0),
        ]
    return marks


def path_order(n: int, chosen: int | None) -> Int:
    """Ranks of the lines of :func:`path_marks` in the order in which they are drawn."""
    return np.array([row for row in range(n) if row != chosen][::-1], dtype=np.int64)


def path_words(string: Sequence[int], names: Sequence[str]) -> str:
    """A string of cells in words.

    >>> path_words((0, 1), ("home", "work"))
    'home → work'
    """
    return " → ".join(names[symbol] if symbol < len(names) else "start" for symbol in string)


def trip_marks(
    places: Float, sequences: Sequence[Int], seconds: float, seed: int = 0
) -> tuple[Mark, ...]:
    """Synthetic trips: a step per unit of time, each set out at a random time.

    Args:
        places: of the cells, (n, 4).
        sequences: of cells; those that never move are left out.
        seconds: the length of the clock, in steps.
        seed: of the places within cells and the times; they tell nothing.
    """
    random = np.random.default_rng(seed)
    middle, side = centres(places), cell_side(places)
    lines, times = [], []
    for sequence in sequences:
        if len(sequence) < 2:
            continue
        shift = random.uniform(-0.34, 0.34, 2) * side
        lines.append(middle[sequence] + shift)
        times.append(random.uniform(-len(sequence) / 2, seconds) + np.arange(len(sequence)))
    return (trips("trips", lines, times, color=TRIP, width=2.8, trail=1.6),)


def ramp(share: Float) -> NDArray[np.uint8]:
    """Colours of moves at shares of the ramp's length: uint8 (n, 3)."""
    stops = np.array(MOVING, dtype=np.float64)
    at = np.linspace(0, 1, len(stops))
    return np.column_stack([np.interp(share, at, stops[:, k]) for k in range(3)]).astype(np.uint8)
