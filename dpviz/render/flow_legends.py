"""Legends of movement: widths by noisy count, and the cells behind them."""

from __future__ import annotations

from dpviz.render.colors import ACCENT, Themed
from dpviz.render.flows import VISITED_ALPHA, visit_scale
from dpviz.render.legend import Legend, Swatch, compact, line_labels
from dpviz.render.scale import LINE_WIDTHS, line_colors, lines_scale
from dpviz.sequences.moves import Strings


def move_legend(
    moves: Strings, hidden: int, visited: float | None = None, title: str = "Moves between cells"
) -> Legend:
    """Widths of arrows by noisy count, how many are not drawn, and the cells behind them."""
    note = f" · {hidden:,} more within their noise" if hidden else ""
    return _lines(f"{title}{note}", moves, _visits(visited))


def path_legend(strings: Strings, visited: float | None) -> Legend:
    """Widths of paths by noisy count."""
    return _lines("Frequent paths", strings, _visits(visited)).choosing("the chosen path")


def trip_legend(visited: float | None) -> Legend:
    """Legend of the synthetic trips that move on the map."""
    return Legend(
        title="Synthetic trips, drawn from the release",
        swatches=(Swatch("one synthetic trip", ACCENT), *_visits(visited)),
    )


def _lines(title: str, strings: Strings, swatches: tuple[Swatch, ...]) -> Legend:
    if strings.count is None:
        title, labels = f"{title} (order only, no counts)", ["last", "", "", "", "first"]
    else:
        labels = line_labels(lines_scale(strings.count))
    return Legend(
        title=title,
        colors=line_colors(),
        labels=labels,
        widths=LINE_WIDTHS,
        swatches=swatches,
    )


def _visits(visited: float | None) -> tuple[Swatch, ...]:
    """Cells by visits, each class in the colour that it has behind the lines."""
    if visited is None:
        return ()
    scale = visit_scale(visited)
    first, *others = map(compact, scale.bounds)
    colors = scale.colors()
    labels = (f"from {first} visits", *others)
    return tuple(
        Swatch(label, Themed(*both).faint(VISITED_ALPHA))
        for label, *both in zip(labels, colors.light, colors.dark, strict=True)
    )
