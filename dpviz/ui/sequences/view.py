"""View of a release on page Sequences: cached values, and three scenes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import uuid4

import numpy as np

from dpviz.errors import ParameterError
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.render import Animation, Camera, Mark, Scene
from dpviz.render.basemap import outlines
from dpviz.render.flow_legends import move_legend, path_legend, trip_legend
from dpviz.render.flows import (
    FIRST,
    above_noise,
    around,
    mostly_noise,
    move_marks,
    path_marks,
    places_scene,
    standing,
    trip_marks,
)
from dpviz.render.marks import boxes
from dpviz.render.nearby import cell_names
from dpviz.sequences.moves import Strings, frequent, visit_sd, visits
from dpviz.trees.lattice import Float, Int
from dpviz.ui.sequences.source import SequenceSource
from dpviz.ui.shared.method_form import title_of

MOVES, PATHS, TRIPS = "Moves", "Frequent paths", "Synthetic trips"
VIEWS = (MOVES, PATHS, TRIPS)

PAIRS = 400
SAMPLED = 5_000
"""Synthetic sequences whose lengths are shown."""

STEPS = 40.0
"""Steps of the animation's clock."""

SECONDS = 40.0


@dataclass(frozen=True, eq=False)
class MoveView:
    """Values of a release that the page shows, cached until the release changes.

    Attributes:
        visits: noisy counts of the symbols; None where the release holds none.
        sd: standard deviation of the noise in them, if the model states it.
        moves: the most frequent strings of two symbols.
        refusal: why the release answers no counts; empty if it does.
        key: key of what belongs to this release alone, such as a chosen row of a table.
    """

    release: SequenceRelease
    visits: Float | None
    sd: Float | None
    moves: Strings
    refusal: str = ""
    key: str = field(default_factory=lambda: uuid4().hex)

    @classmethod
    def of(cls, release: SequenceRelease) -> MoveView:
        """Compute the view of a release; without counts if its method has none."""
        model = release.model
        moves = frequent(model, PAIRS, 2, 2)
        try:
            return cls(release, visits(model), visit_sd(model), moves)
        except ParameterError as error:
            return cls(release, None, None, moves, str(error))

    @property
    def symbols(self) -> tuple[str, ...]:
        """Symbols as of the release, for addresses and files."""
        return self.release.alphabet.names

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the symbols: of cells those of the places near them."""
        return cell_names(self.release)

    @cached_property
    def standing(self) -> tuple[Strings, int]:
        """Moves that stand out of their noise, and how many of the most frequent ones do not."""
        return standing(self.moves, len(self.names))

    @property
    def most_visited(self) -> float | None:
        """Largest count of a symbol."""
        return None if self.visits is None else max(float(self.visits.max()), 1.0)

    @property
    def typical_error(self) -> float | None:
        """Half of the 95 % interval of a frequent move; None where the model states no noise."""
        sd = self.moves.first(FIRST).sd
        return None if sd is None or not len(sd) else INTERVAL_SDS * float(np.median(sd))

    @property
    def below_noise(self) -> bool:
        """Return whether fewer than a quarter of the first moves are above the noise."""
        moves = self.moves.first(FIRST)
        if moves.count is None or moves.sd is None:
            return False
        return mostly_noise(moves.count, above_noise(moves.count, moves.sd, len(self.names) ** 2))

    @cached_property
    def synthetic(self) -> list[Int]:
        """Synthetic sequences; they are post-processing and cost no ε.

        Raises:
            ParameterError: the release cannot draw any.
        """
        return self.release.model.sample(SAMPLED, seed=0)


def grid_scene(source: SequenceSource) -> Scene:
    """Scene of the public cells, before a release exists."""
    assert source.places is not None
    bounds = around(source.places)
    grid = boxes("grid", source.places, themed=60, width=0.8)
    return Scene(
        marks=[grid, *outlines(bounds)],
        camera=Camera(bounds=bounds),
        domain=bounds,
        description="The public cells; no release has been built yet",
    )


def move_scene(view: MoveView, source: SequenceSource, *, faded: bool) -> Scene:
    """Cells and the moves between them that stand out of their noise; ``faded`` behind a choice."""
    assert source.places is not None
    moves, hidden = view.standing
    marks = move_marks(source.places, view.names, moves, faded=faded)
    legend = move_legend(moves, hidden, view.most_visited)
    if faded:
        legend = legend.choosing("chosen place and its next moves")
    return _scene(view, source, marks, legend=legend, picks=True)


def path_scene(view: MoveView, source: SequenceSource, strings: Strings, chosen: int) -> Scene:
    """Cells and the most frequent paths."""
    assert source.places is not None
    marks = path_marks(source.places, view.names, strings, chosen)
    legend = path_legend(strings, view.most_visited)
    return _scene(view, source, tuple(marks), legend=legend, picks=True)


def trip_scene(view: MoveView, source: SequenceSource, number: int) -> Scene:
    """Cells and synthetic trips that move."""
    assert source.places is not None
    marks = trip_marks(source.places, view.synthetic[:number], STEPS)
    clock = Animation(0.0, STEPS, SECONDS)
    return _scene(view, source, marks, legend=trip_legend(view.most_visited), clock=clock)


def _scene(
    view: MoveView, source: SequenceSource, marks: tuple[Mark, ...], **options: Any
) -> Scene:
    assert source.places is not None
    title = f"Movements between places · {title_of(view.release.header.method)}"
    seen = view.visits, view.sd
    return places_scene(
        view.release, source.places, view.names, seen, marks, title=title, **options
    )


def cell_at(places: Float, lon: float, lat: float) -> int | None:
    """Row of the box around a point; None outside all boxes."""
    at = np.array([lon, lat])
    inside = np.flatnonzero(((places[:, :2] <= at) & (at < places[:, 2:])).all(axis=1))
    return int(inside[0]) if len(inside) else None
