"""Configurations beside each other, A, B and C, and presets that choose them at a touch."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.domain.periods import steps_words, whole_words
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.window import during, window_cuts
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.method_form import EPSILONS as SLIDER
from dpviz.ui.shared.method_form import Choice, linked_epsilon, method_form
from dpviz.ui.shared.releases import Opened, newest_comparable, release_choice
from dpviz.ui.shared.skeleton import method_link
from dpviz.ui.shared.timeline import Window

STARTS = {"a": "ladder_tree", "b": "privtree", "c": "ugrid"}
"""Sides, with the methods that they start with."""

STEPS = (0.1, 1.0, 10.0)
"""The ε of the first preset; the nearest gives way to the ε of A."""

EPSILONS, METHODS, RELEASES = "Three ε", "Three methods", "My releases"
"""Presets."""


def side_numbers(prefix: str) -> str:
    """The sides that are shown: two, or three after a preset or from the address."""
    return str(
        st.session_state.setdefault(
            f"{prefix}.sides", "abc" if permalink.parameter("c.method") else "ab"
        )
    )


def presets(prefix: str, choices: Sequence[Choice]) -> None:
    """Offer what to compare in one touch, with what is compared now."""
    place = f"{prefix}.preset"
    different = [len({each.described for each in choices}), len({each.epsilon for each in choices})]
    now = EPSILONS if different == [1, 3] else METHODS if different == [3, 1] else None
    st.session_state[place] = RELEASES if st.session_state[f"{prefix}.releases"] else now

    def choose() -> None:
        if (chosen := st.session_state[place]) is not None:
            {EPSILONS: _three_epsilons, METHODS: _three_methods, RELEASES: _two_releases}[chosen](
                prefix
            )

    st.segmented_control(
        "Compare",
        (EPSILONS, METHODS, RELEASES),
        key=place,
        on_change=choose,
        label_visibility="collapsed",
    )


def start(prefix: str, explored: Mapping[str, Any]) -> None:
    """Compare what page Explore showed at three ε, unless the address names a side."""
    if f"{prefix}.a.epsilon" in st.session_state or any(
        permalink.parameter(f"{side}.{name}") for side in STARTS for name in ("method", "epsilon")
    ):
        return
    st.session_state[f"{prefix}.a.method"] = explored.get("method", STARTS["a"])
    before = permalink.numbers(explored.get("epsilon"), 1)
    if before is not None:
        st.session_state[f"{prefix}.a.epsilon"] = min(max(before[0], SLIDER[0]), SLIDER[-1])
    mode = st.session_state[f"{prefix}.mode"]
    _three_epsilons(prefix)
    if permalink.parameter("mode"):
        st.session_state[f"{prefix}.mode"] = mode


def _three_epsilons(prefix: str) -> None:
    """Compare the method of A at three ε, its own among them, by their errors."""
    method = st.session_state.get(f"{prefix}.a.method", STARTS["a"])
    epsilon = st.session_state.get(f"{prefix}.a.epsilon", 1.0)
    nearest = min(STEPS, key=lambda step: abs(math.log(step / epsilon)))
    st.session_state[f"{prefix}.mode"] = "difference"
    _choose(
        prefix,
        [method] * len(STEPS),
        [epsilon if step == nearest else step for step in STEPS],
    )


def _three_methods(prefix: str) -> None:
    """Compare the method of A with two others at its ε, or at 1 if there were several."""
    before = {st.session_state.get(f"{prefix}.{side}.epsilon") for side in side_numbers(prefix)}
    epsilon = before.pop() if len(before) == 1 else None
    method = st.session_state.get(f"{prefix}.a.method", STARTS["a"])
    others = [each for each in STARTS.values() if each != method]
    st.session_state[f"{prefix}.mode"] = "side"
    _choose(prefix, [method, *others[:2]], [epsilon or 1.0] * len(STARTS))


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
    for side, newest in zip("ab", newest_comparable(2), strict=False):
        if not st.session_state.get(f"{prefix}.{side}.release"):
            st.session_state[f"{prefix}.{side}.release"] = newest
            st.session_state[f"{prefix}.{side}.release.stored"] = newest


def sides_form(prefix: str, source: PointSource) -> list[Choice]:
    """Method, ε and parameters of each side.

    Args:
        prefix: prefix of the widgets' keys.
        source: source of the records that all are built from.
    """
    choices: list[Choice] = []
    for side in side_numbers(prefix):
        if f"{prefix}.{side}.epsilon" not in st.session_state:  # first run only
            st.session_state[f"{prefix}.{side}.epsilon"] = linked_epsilon(f"{side}.epsilon")
        with st.container(horizontal=True, vertical_alignment="center", key=f"dpviz-{side}"):
            st.markdown(f"**{side.upper()}**", width="content")
            choices.append(
                method_form(
                    f"{prefix}.{side}",
                    source.data.domain.dims,
                    public=source.public,
                    start=permalink.parameter(f"{side}.method") or STARTS[side],
                    saved=permalink.pairs(f"{side}.set"),
                    reasons=False,
                )
            )
    return choices


@dataclass(frozen=True, eq=False)
class ReleaseSide(Opened):
    """A release of a side, with the period that it shows, and its map."""

    map: PointRelease
    period: Window | None = None


def release_side(prefix: str, side: str) -> ReleaseSide | None:
    """Ask for the release of a side and, of one with time, for a period."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"dpviz-{side}"):
        st.markdown(f"**{side.upper()}**", width="content")
        chosen = release_choice(prefix, side)
        if chosen is None:
            return None
        if chosen.release.domain.time is None:
            return ReleaseSide(**vars(chosen), map=chosen.release)
        release, place = chosen.release, f"{prefix}.{side}.period"
        calendar, whole = release.domain.calendar, release.domain.period
        steps = list(itertools.pairwise(window_cuts(release.domain)))
        periods = {whole_words(calendar, *whole): whole}
        periods |= zip(steps_words(calendar, steps), steps, strict=True)
        words = st.session_state.get(place)
        if permalink.came_from_address(place):
            words = permalink.one_of(f"{side}.period", words, periods, next(iter(periods)))
        key = f"{place}.{chosen.key}"
        st.session_state.setdefault(key, words if words in periods else next(iter(periods)))
        label = f"Period of {side.upper()}"
        words = st.selectbox(label, periods, key=key, label_visibility="collapsed")
    st.session_state[place] = words
    flat = cached(f"{place}.map", (release, words), lambda: during(release, periods[words]))
    title = f"{chosen.title}, {words}"
    return ReleaseSide(chosen.key, title, release, map=flat, period=periods[words])


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
