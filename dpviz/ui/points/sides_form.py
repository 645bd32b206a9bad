"""Configurations beside each other, A, B and C, and presets that choose them at a touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.method_form import EPSILONS, Choice, linked_epsilon, method_form
from dpviz.ui.shared.releases import newest_flat
from dpviz.ui.shared.skeleton import method_link

STARTS = {"a": "privtree", "b": "ugrid", "c": "ladder_tree"}
"""Sides, with the methods that they start with."""

STEPS = (0.1, 1.0, 10.0)
"""The ε of the first preset."""


def side_numbers(prefix: str) -> str:
    """The sides that are shown: two, or three after a preset or from the address."""
    return str(
        st.session_state.setdefault(
            f"{prefix}.sides", "abc" if permalink.parameter("c.method") else "ab"
        )
    )


def preset_buttons(prefix: str) -> None:
    """Buttons that choose what is compared, in one touch each."""
    choices = {
        "ε 0.1 | 1 | 10": partial(_several_epsilons, prefix),
        "PrivTree | grid | ladder": partial(_several_methods, prefix),
        "My releases": partial(_two_releases, prefix),
    }
    with st.container(horizontal=True, gap="small", key="dpviz-presets"):
        for number, (label, choose) in enumerate(choices.items()):
            st.button(label, key=f"{prefix}.preset.{number}", on_click=choose)


def _several_epsilons(prefix: str) -> None:
    """Compare the method of A at three ε."""
    method = st.session_state.get(f"{prefix}.a.method", STARTS["a"])
    _choose(prefix, [method] * len(STEPS), STEPS)


def _several_methods(prefix: str) -> None:
    """Compare three methods at the ε of A, or at 1 if the methods had several."""
    before = {st.session_state.get(f"{prefix}.{side}.epsilon") for side in side_numbers(prefix)}
    epsilon = before.pop() if len(before) == 1 else None
    _choose(prefix, list(STARTS.values()), [epsilon or 1.0] * len(STARTS))


def _choose(prefix: str, methods: Sequence[str], epsilons: Sequence[float]) -> None:
    st.session_state[f"{prefix}.releases"] = False
    st.session_state[f"{prefix}.sides"] = "".join(STARTS)
    st.session_state[f"{prefix}.maps"] = None
    for side, method, epsilon in zip(STARTS, methods, epsilons, strict=True):
        st.session_state[f"{prefix}.{side}.method"] = method
        st.session_state[f"{prefix}.{side}.epsilon"] = epsilon


def _two_releases(prefix: str) -> None:
    """Compare two releases: the visitor's newest ones, where there are any and none was chosen."""
    st.session_state[f"{prefix}.releases"] = True
    st.session_state[f"{prefix}.maps"] = None
    for side, newest in zip("ab", newest_flat(2), strict=False):
        if not st.session_state.get(f"{prefix}.{side}.release"):
            st.session_state[f"{prefix}.{side}.release"] = newest
            st.session_state[f"{prefix}.{side}.release.stored"] = newest


def _first_epsilon(side: str, explored: Mapping[str, Any]) -> float:
    """The ε of the address, otherwise the ε of page Explore."""
    before = permalink.numbers(explored.get("epsilon"), 1)
    if before is None or permalink.parameter(f"{side}.epsilon"):
        return linked_epsilon(f"{side}.epsilon")
    return min(max(before[0], EPSILONS[0]), EPSILONS[-1])


def sides_form(prefix: str, source: PointSource, explored: Mapping[str, Any]) -> list[Choice]:
    """Method, ε and parameters of each side.

    Args:
        prefix: prefix of the widgets' keys.
        source: source of the records that all are built from.
        explored: last settings of page Explore; A starts with them.
    """
    choices: list[Choice] = []
    for side in side_numbers(prefix):
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
                    start=permalink.parameter(f"{side}.method") or wanted or STARTS[side],
                    saved=permalink.pairs(f"{side}.set"),
                    reasons=False,
                )
            )
    return choices


def sides_link(choices: Sequence[Choice]) -> dict[str, str | None]:
    """Address parameters of every side; those of a side that is not shown are removed."""
    link: dict[str, str | None] = dict.fromkeys(
        f"{side}.{name}" for side in STARTS for name in ("method", "set", "epsilon")
    )
    for side, choice in zip(STARTS, choices, strict=False):
        values = {**method_link(choice), "epsilon": f"{choice.epsilon:g}"}
        link |= {f"{side}.{name}": value for name, value in values.items()}
    return link


def distinct_methods(choices: Sequence[Choice]) -> dict[str, Choice]:
    """One choice per method and parameters, by its title without ε."""
    return {choice.title.replace(f", ε = {choice.epsilon:g}", ""): choice for choice in choices}
