"""Choose sequences: the built-in city's, one's own places with a person and a time, or symbols."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dpviz.datasets import DATASETS
from dpviz.render.projection import to_degrees
from dpviz.sequences.cells import cell_boxes
from dpviz.sequences.data import SequenceData
from dpviz.sequences.reading import CITY, HOUR, city_sequences

PLACES = "places"
SYMBOLS = "symbols"
TITLES = {
    CITY: "Synthetic city, a week of 5,000 people",
    PLACES: "Your own places with a person and a time",
    SYMBOLS: "Your own lists of symbols",
}
SIDES = (6, 8, 10, 12, 16, 20)


@dataclass(frozen=True, eq=False)
class SequenceSource:
    """Sequences behind an opaque handle, and a key that changes with the choice.

    ``places`` are the boxes of the symbols in degrees, (|I|, 4); None where they are no places.
    """

    data: SequenceData
    key: str
    places: NDArray[np.float64] | None = None
    backdrop: bool = False


@st.cache_resource(show_spinner="Following the people of the built-in city …", max_entries=8)
def built_in(side: int, gap: float, neighbours: bool, bound: int, public: bool) -> SequenceData:
    """Synthetic, so that all visitors share it."""
    return city_sequences(
        side, gap * HOUR, neighbours=neighbours, max_per_unit=bound, public=public
    )


def sequence_source(prefix: str) -> SequenceSource | None:
    """Selectors in the sidebar; None while a file of one's own is not described yet."""
    side, gap = 12, 12.0
    data = built_in(side, gap, False, 5, True)
    domain = DATASETS["persons"].domain
    return SequenceSource(
        data, f"{CITY}|{side}|{gap:g}", to_degrees(cell_boxes(domain, side), domain.crs), True
    )
