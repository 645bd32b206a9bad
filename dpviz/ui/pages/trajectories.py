"""Trajectories: movements between places; where people go next, frequent paths, synthetic trips."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dpviz.build import Ledger
from dpviz.errors import DpvizError
from dpviz.lattice import Float
from dpviz.progress import Progress
from dpviz.render import Camera, Scene
from dpviz.render.basemap import outlines, river
from dpviz.render.flows import move_legend, move_marks, next_marks, visit_marks
from dpviz.sequences.methods import METHODS, names
from dpviz.sequences.moves import Moves, moves, visit_sd, visits
from dpviz.sequences.publish import SequenceRelease, publish
from dpviz.ui import permalink
from dpviz.ui.account import paid_build
from dpviz.ui.map import map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.method_form import Choice, nearest_epsilon, recipe_form
from dpviz.ui.prices import price_list
from dpviz.ui.sequence_source import SequenceSource, sequence_source
from dpviz.ui.text import badge, plain

TITLE, ICON, ORDER = "Trajectories", ":material/timeline:", 5
KEY = "trajectories"
MAP = f"{KEY}.map"
START = "markov"
ARROWS = 80


@dataclass(frozen=True, eq=False)
class View:
    """A release and what the page shows of it; kept until the release changes."""

    key: tuple[Any, ...]
    release: SequenceRelease
    visits: Float
    sd: float | None
    moves: Moves

    @classmethod
    def of(cls, key: tuple[Any, ...], release: SequenceRelease) -> View:
        """All that is worked out once."""
        model = release.model
        return cls(key, release, visits(model), visit_sd(model), moves(model))


def page() -> None:
    """The page."""
    permalink.bring_back(KEY)
    _restore()
    st.markdown("#### Where people go next")
    with st.sidebar:
        source = sequence_source(KEY)
        choice = None
        if source is not None:
            st.divider()
            choice = _method_form(source)
    if source is None or choice is None:
        return
    try:
        view = _public(source, choice) if source.data.public else _sensitive(source, choice)
    except DpvizError as error:
        st.error(plain(error), icon=":material/error:")
        return
    if view is None:
        return
    st.markdown(badge(view.release.header))
    _map_and_answer(view, source)
    with st.expander("Where ε goes", icon=":material/payments:"):
        price_list(view.release.header)
    _remember(source, choice)


def _restore() -> None:
    """When the page is entered, take the choices from the address."""
    if f"{KEY}.epsilon" in st.session_state:
        return
    st.session_state[f"{KEY}.epsilon"] = nearest_epsilon(permalink.number("epsilon"))
    st.session_state[f"{KEY}.cell"] = permalink.parameter("cell")
    st.session_state[f"{KEY}.seed"] = permalink.seed()


def _method_form(source: SequenceSource) -> Choice:
    able = {
        alias: name
        for alias, (name, _) in names().items()
        if source.data.public or METHODS[name].guarantee != "none"
    }
    return recipe_form(
        KEY,
        METHODS,
        names(),
        able,
        start=permalink.parameter("method") or START,
        instead=START,
        saved=permalink.pairs("set"),
        reason="not private",
    )


def _public(source: SequenceSource, choice: Choice) -> View:
    """Simulated noise, rebuilt at once whenever something changes."""
    with st.sidebar:
        if st.button(
            "Roll the noise again",
            icon=":material/casino:",
            key=f"{KEY}.reroll",
            help="The same data and ε with fresh noise. The data are public: nothing is spent.",
        ):
            st.session_state[f"{KEY}.seed"] += 1
    seed = st.session_state[f"{KEY}.seed"]
    key = (source.key, choice.name, tuple(choice.parameters.items()), choice.epsilon, seed)
    shown: View | None = st.session_state.get(f"{KEY}.view")
    if shown is None or shown.key != key:
        release = publish(source.data, choice.name, choice.epsilon, seed=seed, **choice.parameters)
        shown = st.session_state[f"{KEY}.view"] = View.of(key, release)
    return shown


def _sensitive(source: SequenceSource, choice: Choice) -> View | None:
    """Secure noise: one release per press of the button; what is shown stays until the next."""

    def make(ledger: Ledger, progress: Progress) -> SequenceRelease:
        return publish(
            source.data,
            choice.name,
            choice.epsilon,
            ledger=ledger,
            purpose="page Trajectories",
            progress=progress,
            **choice.parameters,
        )

    release = paid_build(KEY, source.data.name, choice.epsilon, make, subject=source.key)
    if release is not None:
        key = (source.key, release.header.extra["release_id"])
        st.session_state[f"{KEY}.view"] = View.of(key, release)
    shown: View | None = st.session_state.get(f"{KEY}.view")
    if shown is None or shown.key[0] != source.key:
        st.info(
            "The sequences are sensitive, so nothing is shown yet. Choose a method and ε, then "
            "press **Build** in the sidebar.",
            icon=":material/lock:",
        )
        return None
    return shown


@st.fragment
def _map_and_answer(view: View, source: SequenceSource) -> None:
    """The map and its answer: a click reruns this part only."""
    alphabet = view.release.alphabet
    assert source.places is not None
    cell = st.session_state.get(f"{KEY}.cell")
    number = alphabet.names.index(cell) if cell in alphabet.names else None
    left, right = st.columns([7, 3], gap="medium")
    with left:
        map_view(
            _scene(view, source, source.places, faded=number is not None),
            key=MAP,
            on_pick=partial(_picked, source, alphabet.names),
        )
    marks = []
    with right:
        if number is None:
            st.markdown("**Choose a place**")
            st.caption("Click a cell on the map to see where people go next from there.")
        else:
            chance = view.release.model.following([number])
            st.markdown(f"**From cell {plain(cell)}**")
            order = np.argsort(-chance, kind="stable")[:12]
            labels = [*alphabet.names, "(the end)"]
            st.dataframe(
                {
                    "next": [labels[row] for row in order.tolist()],
                    "chance": chance[order].tolist(),
                },
                hide_index=True,
                width="stretch",
                column_config={
                    "chance": st.column_config.ProgressColumn(
                        format="percent", min_value=0, max_value=1
                    )
                },
            )
            marks = next_marks(source.places, alphabet.names, number, chance)
    map_overlay(MAP, marks=marks)
    permalink.write({"cell": cell if number is not None else None})
    permalink.keep(KEY)


def _picked(source: SequenceSource, names: tuple[str, ...]) -> None:
    """A click chooses the cell around it; on the chosen one, it lets go."""
    pick = events(MAP).pick
    if not pick or source.places is None:
        return
    low, high = source.places[:, :2], source.places[:, 2:]
    at = np.array([pick["lon"], pick["lat"]])
    inside = np.flatnonzero(((low <= at) & (at < high)).all(axis=1))
    if len(inside):
        chosen = names[int(inside[0])]
        same = st.session_state.get(f"{KEY}.cell") == chosen
        st.session_state[f"{KEY}.cell"] = None if same else chosen


def _scene(view: View, source: SequenceSource, places: Float, *, faded: bool) -> Scene:
    names = view.release.alphabet.names
    top = max(float(view.moves.count.max(initial=0.0)), 1.0)
    bounds = (*places[:, :2].min(axis=0).tolist(), *places[:, 2:].max(axis=0).tolist())
    backdrop = [river()] if source.backdrop else []
    return Scene(
        marks=[
            *visit_marks(places, names, view.visits, view.sd),
            *outlines(bounds),
            *backdrop,
            *move_marks(places, names, view.moves.first(ARROWS), top, faded=faded),
        ],
        camera=Camera(bounds=bounds, key=source.key),
        legend=move_legend(top, max(float(view.visits.max()), 1.0)),
        picks=True,
        domain=bounds,
        description=f"Moves between cells: {view.release.header.guarantee}",
    )


def _remember(source: SequenceSource, choice: Choice) -> None:
    permalink.write(
        {
            "method": choice.name,
            "epsilon": f"{choice.epsilon:g}",
            "set": ";".join(f"{name}:{value}" for name, value in choice.parameters.items()),
            "seed": str(st.session_state[f"{KEY}.seed"]) if source.data.public else None,
        }
    )
    permalink.keep(KEY)
