"""Noise to expect in the counts of areas, from public facts alone."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

import numpy as np
import streamlit as st

from dpviz.build import build, from_points
from dpviz.domain import Domain
from dpviz.domain.calendar import step_words
from dpviz.releases.answers import GAUSSIAN_SDS, INTERVAL_SDS
from dpviz.releases.areas.hexagons import finest_words, level_titles
from dpviz.releases.areas.source import ChosenAreas
from dpviz.releases.areas.table_steps import table_steps
from dpviz.render import half_width_words
from dpviz.trees.lattice import Float
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.method_form import Choice

FINE = 0.01
"""An ε of one record at which steps of 1 hardly matter to the noise of a count."""


def areas_expectation(
    choice: Choice, max_per_unit: int, domain: Domain, offered: Any = None
) -> None:
    """Show the noise of each level, before payment.

    Args:
        choice: choice of a release of areas.
        max_per_unit: most records of one privacy unit.
        domain: of the records: their time, categories and values.
        offered: noise of one finest area at (ε, δ), whose larger areas are sums; None without δ.
    """
    chosen = choice.areas
    assert chosen is not None
    each, share = choice.epsilon / max_per_unit, choice.sum_share or 0.0
    values = domain.values
    noise = {f"{'noise' if offered is None else 'pure ε'} ± (95 %)": (each * (1.0 - share), 1.0)}
    if values is not None:  # its noise is as continuous as that of counts at FINE
        steps = values.reach * FINE / (each * share)
        noise[f"sum of {values.column} ± (95 %)"] = FINE, steps * values.grid

    def computed() -> dict[str, list[float]]:
        return {
            name: (step * _noise(choice, chosen, epsilon)).tolist()
            for name, (epsilon, step) in noise.items()
        }

    half = cached("areas.expected", (repr(choice), chosen.areas.domain, noise), computed)
    if offered is not None:
        low, high = chosen.areas.intervals
        leaves = [np.median((high - low)[part]) for part in chosen.areas.slices]
        with_delta = GAUSSIAN_SDS * offered.sd * np.sqrt(leaves)
        half = {**half, "ε and δ ± (95 %)": with_delta.tolist()}
    columns = {
        "level": level_titles(chosen.areas.levels),
        "areas": [part.stop - part.start for part in chosen.areas.slices],
    }
    words = {name: list(map(half_width_words, each)) for name, each in half.items()}
    finest = list(half.values())[-1 if choice.slots is not None else 0][-1]
    of_one, of_all = _counted(domain, chosen.every, finest)
    st.info(
        f"**At ε = {choice.epsilon:g}:** ± {half_width_words(finest)}{of_one} in one of the "
        f"{finest_words(chosen.areas)}: with fewer than "
        f"{half_width_words(2 * finest)} records it looks like noise{of_all}.",
        icon=":material/visibility:",
    )
    st.dataframe(columns | words, hide_index=True)
    st.caption(
        "For a typical area of each level, before anything is paid: the noise of areas "
        "depends on ε, their levels and the most records of each person, and on no record."
    )


def _counted(domain: Domain, every: str | None, half: float) -> tuple[str, str]:
    """Words for one count of an area, and for all of them together, each with its own noise."""
    each, together, numbers = [], [], []
    if domain.kinds is not None:
        each.append(" of one category")
        together.append("all categories")
        numbers.append(len(domain.kinds.names))
    if (steps := table_steps(domain, every if domain.time else None)) is not None:
        each.append(f" in each {step_words(steps.every).removeprefix('1 ')},")
        together.append("the whole period")
        numbers.append(len(steps))
    whole = half_width_words(half * sqrt(prod(numbers)))
    return "".join(each), f"; ± {whole} for {' and '.join(together)} together" if together else ""


def _noise(choice: Choice, chosen: ChosenAreas, epsilon: float) -> Float:
    """Half width of the 95 % interval of each level's middle area, from an empty release."""
    nothing = from_points(np.empty((0, 2)), chosen.areas.domain, public=True, name="nothing")
    how: dict[str, Any] = {"areas": chosen.areas, "seed": 0, **choice.parameters}
    variance = build(nothing, choice.name, epsilon, **how).nodes.variance
    return INTERVAL_SDS * np.sqrt([np.median(variance[part]) for part in chosen.areas.slices])
