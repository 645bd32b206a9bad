"""Sequences of cells as marks: visits, curved arrows, frequent paths, moving trips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpviz.render.colors import ACCENT
from dpviz.render.legend import Legend, Swatch
from dpviz.render.marks import boxes, paths, points, polygons, trips
from dpviz.render.numbers import short
from dpviz.render.scene import Mark, Row

if TYPE_CHECKING:
    from dpviz.sequences.moves import Moves

Float = NDArray[np.float64]
Int = NDArray[np.int64]

NOISE_SDS = 2.0
"""A count under this many standard deviations of its noise is drawn grey."""

VISITED = (38, 105, 160)
MOVING = ((250, 190, 110), (243, 144, 40), (222, 92, 10))
"""Visits are blue and moves are orange: apart for every eye, on light and dark pages alike."""

GREY = (140, 146, 154, 90)
FAINT, FULL = 18, 190
"""Opacity of the least and the most visited cell."""

THIN, WIDE = 0.018, 0.17
"""Width of an arrow's shaft, in sides of a cell."""

GAP, BEND, BENDS = 0.2, 0.16, 14
"""How far an arrow stays away from the centres, in sides of a cell; how far it leans to its right,
so that the way back has room, as a share of its length; points along it."""


def visit_marks(
    places: Float, names: Sequence[str], count: Float, sd: float | None
) -> tuple[Mark, ...]:
    """Cells, the more opaque the more visited (∝ √count); grey within the noise.

    Args:
        places: west, south, east, north of each cell in degrees, (n, 4).
        names: of the cells.
        count: noisy visits, (n,).
        sd: of the noise in them, if it is known.
    """
    share = np.sqrt(np.clip(count / max(float(count.max()), 1e-9), 0, 1))
    opacity = np.round(FAINT + (FULL - FAINT) * share)
    colors = np.column_stack([np.tile(VISITED, (len(count), 1)), opacity])
    if sd is not None:
        colors[count < NOISE_SDS * sd] = (*GREY[:3], 22)
    rows = (Row("visits (noisy)", "count", noise_sd="" if sd is None else "sd"),)
    extra: dict[str, object] = {"cell": np.array(names), "count": count}
    if sd is not None:
        extra["sd"] = np.full(len(count), sd)
    rings = places[:, [0, 1, 2, 1, 2, 3, 0, 3, 0, 1]].reshape(-1, 5, 2)
    return (
        polygons(
            "visits",
            list(rings),
            color=colors,
            title="Cell",
            rows=(Row("cell", "cell"), *rows),
            extra=extra,
        ),
        boxes("grid", places, themed=38, width=0.7),
    )


def move_marks(
    places: Float, names: Sequence[str], moves: Moves, top: float, *, faded: bool = False
) -> tuple[Mark, ...]:
    """Arrows between cells, as wide as √count of ``top``: within the noise first, the busiest last.

    Args:
        places: of the cells, (n, 4).
        names: of the cells.
        moves: with noisy counts.
        top: the count of the widest arrow.
        faded: thin them out behind something else.
    """
    share = np.sqrt(np.clip(moves.count / top, 0, 1))
    clear = np.ones(len(moves), dtype=np.bool_)
    if moves.sd is not None:
        clear = moves.count > NOISE_SDS * moves.sd
    label = np.array(names)
    marks = []
    for name, chosen in (("noise", ~clear), ("moves", clear)):
        rows = np.flatnonzero(chosen)[::-1]
        if not len(rows):
            continue
        width = THIN + (WIDE - THIN) * share[rows]
        color = np.column_stack([ramp(share[rows]), np.full(len(rows), 60 if faded else 225)])
        extra = {
            "from": label[moves.source[rows]],
            "to": label[moves.target[rows]],
            "count": moves.count[rows],
        }
        if moves.sd is not None:
            extra["sd"] = moves.sd[rows]
        marks.append(
            polygons(
                name,
                arrows(places, moves.source[rows], moves.target[rows], width),
                color=GREY if name == "noise" else color,
                title="Moves" if name == "moves" else "Moves: within the noise",
                rows=(
                    Row("from", "from"),
                    Row("to", "to"),
                    Row("moves (noisy)", "count", noise_sd="" if moves.sd is None else "sd"),
                ),
                extra=extra,
            )
        )
    return tuple(marks)


def next_marks(
    places: Float, names: Sequence[str], cell: int, chance: Float, most: int = 12
) -> list[Mark]:
    """A chosen cell and arrows to where it goes next, as wide as they are likely.

    Args:
        places: of the cells, (n, 4).
        names: of the cells.
        cell: the chosen one.
        chance: P(next), (n + 1,) with the end last.
        most: arrows at most.
    """
    targets = np.argsort(-chance[:-1], kind="stable")[:most]
    targets = targets[(chance[targets] > 0) & (targets != cell)][::-1]
    ring = boxes("chosen", places[[cell]], color=ACCENT, width=2.5)
    if not len(targets):
        return [ring]
    width = THIN + (0.22 - THIN) * chance[targets]
    arrow = polygons(
        "next",
        arrows(places, np.full(len(targets), cell), targets, width),
        color=(*ACCENT, 235),
        title="Next place",
        rows=(Row("from", text=names[cell]), Row("to", "to"), Row("chance (noisy)", "chance")),
        extra={
            "to": np.array(names)[targets],
            "chance": np.array([f"{value:.1%}" for value in chance[targets]]),
        },
    )
    return [ring, arrow]


def path_marks(
    places: Float, strings: Sequence[Sequence[int]], chosen: int | None = None
) -> list[Mark]:
    """Strings of cells as lines, beside each other; the chosen one in the accent colour, on top."""
    middle = centres(places)
    side = cell_side(places)
    lines, ranks = [], []
    for rank, string in enumerate(strings):
        if len(string) < 2:
            continue
        turn = rank * 2.399963  # the golden angle: neighbours in the ranking lie apart
        shift = 0.18 * side * np.array([np.cos(turn), np.sin(turn)])
        lines.append(middle[list(string)] + shift)
        ranks.append(rank)
    marks = []
    others = [row for row, rank in enumerate(ranks) if rank != chosen]
    if others:
        share = 1 - np.array([ranks[row] for row in others]) / max(len(strings), 1)
        color = np.column_stack(
            [ramp(share), np.full(len(others), 90 if chosen is not None else 200)]
        )
        marks.append(
            paths("paths", [lines[row] for row in others], color=color, width=1.5 + 3.0 * share)
        )
    if chosen in ranks:
        line = lines[ranks.index(chosen)]
        marks.append(paths("path", [line], color=ACCENT, width=5.0))
        marks.append(points("path.start", line[:1], color=(255, 255, 255), radius=7.0))
        marks.append(points("path.begin", line[:1], color=ACCENT, radius=5.0))
    return marks


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
    return (trips("trips", lines, times, color=(253, 141, 60), width=2.6, trail=1.6),)


def arrows(places: Float, source: Int, target: Int, width: Float) -> list[Float]:
    """Curved arrows between centres of cells as closed rings, each (k, 2) in degrees.

    Args:
        places: of the cells, (n, 4).
        source: rows of ``places``, (m,).
        target: rows of ``places``, (m,).
        width: of the shafts in sides of a cell, (m,).
    """
    side = cell_side(places)
    middle = centres(places) / side  # in cells, so that arrows look alike in every direction
    found = []
    for one, other, wide in zip(source.tolist(), target.tolist(), width.tolist(), strict=True):
        found.append(_arrow(middle[one], middle[other], wide) * side)
    return found


def _arrow(start: Float, stop: Float, width: float) -> Float:
    across = stop - start
    length = max(float(np.hypot(*across)), 1e-9)
    along = across / length
    right = np.array([along[1], -along[0]])
    head = min(0.12 + 1.5 * width, 0.5 * length)
    aside = 0.07 * right
    control = (start + stop) / 2 + BEND * length * right
    share = np.linspace(0.0, 1.0, BENDS)[:, None]
    curve = (1 - share) ** 2 * start + 2 * share * (1 - share) * control + share**2 * stop + aside
    run = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(curve, axis=0).T))])
    gap = min(GAP, 0.2 * length)
    wanted = np.linspace(gap, run[-1] - gap - head, BENDS)
    shaft = np.column_stack([np.interp(wanted, run, curve[:, axis]) for axis in range(2)])
    tip = np.array([np.interp(run[-1] - gap, run, curve[:, axis]) for axis in range(2)])
    way = np.gradient(shaft, axis=0)
    way /= np.maximum(np.hypot(*way.T)[:, None], 1e-12)
    normal = np.column_stack([way[:, 1], -way[:, 0]])
    # A shaft that swells towards its head tells the direction even where the head is tiny.
    half = (width / 2 * np.linspace(0.45, 1.0, BENDS))[:, None]
    wing = (0.05 + 1.1 * width) * normal[-1]
    return np.vstack(
        [
            shaft + half * normal,
            shaft[-1] + wing,
            tip,
            shaft[-1] - wing,
            (shaft - half * normal)[::-1],
            shaft[0] + half[0] * normal[0],
        ]
    )


def centres(places: Float) -> Float:
    """Middles of boxes, (n, 2)."""
    return np.asarray((places[:, :2] + places[:, 2:]) / 2)


def cell_side(places: Float) -> Float:
    """Width and height of the cells in degrees, (2,): the median, where they differ."""
    return np.asarray(np.median(places[:, 2:] - places[:, :2], axis=0))


def ramp(share: Float) -> NDArray[np.uint8]:
    """Colours of moves at shares of the ramp's length: uint8 (n, 3)."""
    stops = np.array(MOVING, dtype=np.float64)
    at = np.linspace(0, 1, len(stops))
    return np.column_stack([np.interp(share, at, stops[:, k]) for k in range(3)]).astype(np.uint8)


def move_legend(top: float, visited: float) -> Legend:
    """Widths of arrows by noisy count, and the cells behind them."""
    ticks = [(k / 3, short(top * (k / 3) ** 2)) for k in range(4)]
    return Legend(
        title="Moves between cells (noisy; width ∝ √)",
        stops=MOVING,
        ticks=ticks,
        swatches=(
            Swatch(f"cell with {short(visited)} visits", (*VISITED, FULL)),
            Swatch(f"cell with {short(visited / 100)} visits", (*VISITED, FAINT + 17)),
            Swatch("within the noise (under 2 sd)", GREY),
        ),
    )
