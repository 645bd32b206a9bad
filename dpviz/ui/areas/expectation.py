"""Noise to expect in the counts of areas, from public facts alone."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpviz.build import build, from_points
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.areas.hexagons import level_words
from dpviz.releases.areas.source import ChosenAreas
from dpviz.render import half_width_words
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.method_form import Choice


def areas_expectation(choice: Choice, max_per_unit: int) -> None:
    """Show the noise of each level, before payment.

    Args:
        choice: choice of a release of areas.
        max_per_unit: most records of one privacy unit.
    """
    chosen = choice.areas
    assert chosen is not None
    asked = (repr(choice), chosen.areas.domain, max_per_unit)
    noise = cached("areas.expected", asked, lambda: _noise(choice, chosen, max_per_unit))
    columns = {
        "level": list(map(level_words, chosen.areas.levels)),
        "areas": [part.stop - part.start for part in chosen.areas.slices],
        "noise ± (95 %)": list(map(half_width_words, noise)),
    }
    st.dataframe(columns, hide_index=True)
    st.caption(
        "For a typical area of each level, before anything is paid: the noise of areas "
        "depends on ε, their levels and the most records of each person, and on no record."
    )


def _noise(choice: Choice, chosen: ChosenAreas, max_per_unit: int) -> list[float]:
    """Half width of the 95 % interval of each level's middle area, from an empty release."""
    nothing = from_points(np.empty((0, 2)), chosen.areas.domain, public=True, name="nothing")
    release = build(
        nothing,
        choice.name,
        choice.epsilon / max_per_unit,
        areas=chosen.areas,
        seed=0,
        **choice.parameters,
    )
    return [
        INTERVAL_SDS * float(np.sqrt(np.median(release.nodes.variance[part])))
        for part in chosen.areas.slices
    ]
