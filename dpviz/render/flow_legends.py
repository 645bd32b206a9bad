"""Legends of movement: widths by noisy count, and the cells behind them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpviz.render.colors import ACCENT
from dpviz.render.flows import FAINT, FULL, GREY, MOVING, TRIP, VISITED, top_count
from dpviz.render.legend import Legend, Swatch
from dpviz.render.numbers import short

if TYPE_CHECKING:
    from dpviz.sequences.moves import Strings


def move_legend(moves: Strings, visited: float | None) -> Legend:
    """Widths of arrows by noisy count, and the cells behind them."""
    noise = () if moves.sd is None else (Swatch("within the noise (under 2 sd)", GREY),)
    return Legend(
        title=f"Moves between cells {_scale(moves)}",
        stops=MOVING,
        ticks=_ticks(moves),
        swatches=(*_visit_swatches(visited), *noise),
    )


def path_legend(strings: Strings, visited: float | None) -> Legend:
    """Widths of paths by noisy count."""
    return Legend(
        title=f"Frequent paths {_scale(strings)}",
        stops=MOVING,
        ticks=_ticks(strings),
        swatches=(Swatch("the chosen path", ACCENT), *_visit_swatches(visited)),
    )


def trip_legend(visited: float | None) -> Legend:
    """What moves on the map."""
    return Legend(
        title="Synthetic trips, drawn from the release",
        swatches=(Swatch("one trip, nobody's own", TRIP), *_visit_swatches(visited)),
    )


def _scale(strings: Strings) -> str:
    return "(order only, no counts)" if strings.count is None else "(noisy; width ∝ √)"


def _ticks(strings: Strings) -> list[tuple[float, str]]:
    top = top_count(strings)
    if top <= 0:
        return [(0.0, "last"), (1.0, "first")]
    return [(k / 3, short(top * (k / 3) ** 2)) for k in range(4)]


def _visit_swatches(visited: float | None) -> tuple[Swatch, ...]:
    """The most visited cell, and one with a twentieth of its visits."""
    if visited is None:
        return ()
    lower = round(FAINT + (FULL - FAINT) * math.sqrt(0.05))
    return (
        Swatch(f"cell with {short(visited)} visits", (*VISITED, FULL)),
        Swatch(f"cell with {short(visited / 20)} visits", (*VISITED, lower)),
    )
