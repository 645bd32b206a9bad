"""Two configurations, A and B, in the sidebar: at one ε until they are parted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.method_form import EPSILONS, Choice, linked_epsilon, method_form
from dpviz.ui.shared.skeleton import method_link

STARTS = {"a": "privtree", "b": "ugrid"}


def _restore(prefix: str, explored: Mapping[str, Any]) -> None:
    """Restore the ε of both sides from the address, else from page Explore."""
    asked = {side: permalink.number_list(f"{side}.epsilon", 1) for side in STARTS}
    named = permalink.parameter("a.epsilon")
    first = None if named else permalink.numbers(explored.get("epsilon"), 1)
    for side in STARTS:
        st.session_state[f"{prefix}.{side}.epsilon"] = (
            min(max(first[0], EPSILONS[0]), EPSILONS[-1])
            if first
            else linked_epsilon(f"{side}.epsilon")
        )
    st.session_state[f"{prefix}.linked"] = asked["a"] == asked["b"]


def _part(prefix: str) -> None:
    """Set the ε of B to that of A."""
    st.session_state[f"{prefix}.b.epsilon"] = st.session_state[f"{prefix}.a.epsilon"]


def sides_form(prefix: str, source: PointSource, explored: Mapping[str, Any]) -> list[Choice]:
    """Method, ε and parameters of A and of B.

    Args:
        prefix: of the widgets' keys.
        source: what both are built from.
        explored: what Explore held last; A begins with it.
    """
    if f"{prefix}.a.epsilon" not in st.session_state:  # in the run that shows them
        _restore(prefix, explored)
    choices: list[Choice] = []
    for side, start in STARTS.items():
        st.divider()
        st.markdown(f"**{side.upper()}**")
        wanted = explored.get("method") if side == "a" else None
        linked = side == "b" and st.toggle(
            "One ε for both", key=f"{prefix}.linked", on_change=_part, args=(prefix,)
        )
        choices.append(
            method_form(
                f"{prefix}.{side}",
                source.data.domain.dims,
                public=source.public,
                start=permalink.parameter(f"{side}.method") or wanted or start,
                saved=permalink.pairs(f"{side}.set"),
                linked=choices[0].epsilon if linked else None,
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
