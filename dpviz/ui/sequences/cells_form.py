"""How places become sequences of cells: grid or leaves of a release, gap, rule and cap."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dpviz.build import Cells, leaf_cells
from dpviz.errors import ReleaseError
from dpviz.releases.store import kind_in
from dpviz.releases.store import read as read_release
from dpviz.ui.shared import permalink
from dpviz.ui.shared.memory import remembered
from dpviz.ui.shared.panels import RELEASE, ErrorsShown, read_upload
from dpviz.ui.shared.text import plain

LEAVES = 200
"""Most cells that are taken from a release."""


@dataclass(frozen=True)
class Cutting:
    """How places become sequences, all of it public: see :func:`dpviz.load`.

    ``leaves`` names the uploaded release whose leaves are the cells; empty for a grid.
    """

    side: int
    gap: float
    neighbours: bool
    bound: int
    leaves: str = ""

    def link(self) -> dict[str, str | None]:
        """For an address."""
        return {
            "side": str(self.side),
            "gap": f"{self.gap:g}",
            "steps": "near" if self.neighbours else None,
            "cap": str(self.bound),
        }


def cutting_form(prefix: str, public: bool) -> tuple[Cutting, Cells | None] | None:
    """Cells, gap, cap: public parameters, chosen without looking at the data.

    None while what was given in place of the grid cannot be it: nobody pays for a grid then.
    """

    def saved(name: str, what: str, start: float, ends: tuple[float, float], **how: bool) -> float:
        return float(permalink.number(what, permalink.parameter(name), start, *ends, **how))

    with st.expander("Cells and sequences", icon=":material/grid_on:"):
        side = st.number_input(
            "Cells per side of the public grid",
            2,
            32,
            int(saved("side", "cells per side", 12, (2, 32), whole=True)),
            key=f"{prefix}.side",
            help="Fewer cells, less noise in each: 6 to 16 suit most data.",
        )
        gap = st.number_input(
            "Session gap (hours)",
            0.1,
            1000.0,
            saved("gap", "a session gap in hours of", 12.0, (0.1, 1000.0)),
            key=f"{prefix}.gap",
            format="%g",
        )
        neighbours = st.checkbox(
            "Only steps to one of the eight cells around",
            permalink.parameter("steps") == "near",
            key=f"{prefix}.steps",
            help="A public rule: a sequence is cut at its first step that breaks it, and what it "
            "forbids gets no noise.",
        )
        bound = int(saved("cap", "max contributions", 2, (1, 1000), whole=True))
        if not public:
            bound = st.number_input(
                "Max contributions per unit (sequences)",
                1,
                1000,
                bound,
                key=f"{prefix}.cap",
                help="The guarantee hides a person; noise grows with what each may add.",
            )
        chosen = _leaves_form(prefix)
    if chosen is None:
        return None
    leaves, cells = chosen
    return Cutting(int(side), float(gap), bool(neighbours), int(bound), leaves), cells


def _leaves_form(prefix: str) -> tuple[str, Cells | None] | None:
    """Leaves of a release in place of the grid: its name and the cells, both empty for the grid;
    None where the file is refused.
    """
    file = st.file_uploader(
        "In place of the grid: a release of places",
        key=f"{prefix}.leaves",
        help="Its smallest cells are taken: small where many people are. It must be of the same "
        "rectangle; page Explore makes such a release.",
    )
    if file is None:
        return "", None
    with ErrorsShown(RELEASE):
        place = f"{prefix}.leaves.cells"
        cells = remembered(place, file.file_id, lambda: read_upload(file, _leaves))
        st.caption(
            f"{len(cells)} cells of a release that says: {plain(cells.origin['guarantee'])}. Where "
            "both are about the same people, their ε add up."
        )
        return str(file.file_id), cells
    return None


def _leaves(path: Path) -> Cells:
    """The cells of a release of places.

    Raises:
        DpvizError: the file is none, or a release of anything else.
    """
    if kind_in(path) not in (None, "points"):
        raise ReleaseError(
            f"{path.name} is a release of {kind_in(path)}: give one of places, which page Explore "
            "makes"
        )
    return leaf_cells(read_release(path, "points"), LEAVES)
