"""Two configurations, A and B."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.method_form import EPSILONS, Choice, linked_epsilon, method_form
from dpviz.ui.shared.skeleton import method_link

STARTS = {"a": "privtree", "b": "ugrid"}


def _first_epsilon(side: str, explored: Mapping[str, Any]) -> float:
    """The ε of the address, otherwise the ε of page Explore."""
    before = permalink.numbers(explored.get("epsilon"), 1)
    if before is None or permalink.parameter(f"{side}.epsilon"):
        return linked_epsilon(f"{side}.epsilon")
    return min(max(before[0], EPSILONS[0]), EPSILONS[-1])


def sides_form(prefix: str, source: PointSource, explored: Mapping[str, Any]) -> list[Choice]:
    """Method, ε and parameters of A and of B.

    Args:
        prefix: of the widgets' keys.
        source: what both are built from.
        explored: last settings of page Explore; A starts with them.
    """
    choices: list[Choice] = []
    for side, start in STARTS.items():
        if f"{prefix}.{side}.epsilon" not in st.session_state:  # first run only
            st.session_state[f"{prefix}.{side}.epsilon"] = _first_epsilon(side, explored)
        wanted = explored.get("method") if side == "a" else None
        with st.container(horizontal=True, vertical_alignment="center", key=f"dpviz-{side}"):
            st.markdown(f"**{side.upper()}**", width="content")
            choices.append(
                method_form(
                    f"{prefix}.{side}",
                    source.data.domain.dims,
                    public=source.public,
                    start=permalink.parameter(f"{side}.method") or wanted or start,
                    saved=permalink.pairs(f"{side}.set"),
                )
            )
    return choices


def sides_link(choices: list[Choice]) -> dict[str, str | None]:
    """Address parameters of both sides."""
    return {
        f"{side}.{name}": value
        for side, choice in zip(STARTS, choices, strict=True)
        for name, value in {**method_link(choice), "epsilon": f"{choice.epsilon:g}"}.items()
    }
