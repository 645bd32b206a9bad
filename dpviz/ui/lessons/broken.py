"""Lesson on broken methods: two published methods, and the attacks that refute them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from dpviz.build import build, from_points
from dpviz.evaluation.audit import Audit, audit, small_builds
from dpviz.evaluation.exact import structure_loss
from dpviz.evaluation.search import FINAL_SHARE
from dpviz.methods import method
from dpviz.releases.counts import PointRelease
from dpviz.render import Camera
from dpviz.render.numbers import odds, percent
from dpviz.render.view import release_scene
from dpviz.ui.lessons.room import Room
from dpviz.ui.points.source_form import built_in
from dpviz.ui.shared.text import cells_in_words

TITLE, ORDER = "Published and broken", 9
QUESTION = (
    "A published method splits a cell only if its exact count is above 100. It adds noise to every "
    "count that it prints. Is its map private?"
)
CHOICES = (
    "Yes: every number in it is noisy",
    "Yes, if ε is small enough",
    "No: the cells themselves reveal people",
)
ANSWER = 2
REVEAL = "The method decides without noise whether to split a cell, so its cells are exact answers."
DO = "Put people at one place: which map has one person more? At 100, everybody can see it."
TAKEAWAY = (
    "A guarantee is a theorem about the whole algorithm: one exact comparison breaks it, and so "
    "does one noisy threshold that is used again and again."
)
FORMULA = (
    r"Private means: for every event $P(\text{more}) \le e^{\varepsilon} P(\text{fewer})$. Here an "
    r"event has $P(\text{more}) = 1$ and $P(\text{fewer}) = 0$."
)
SOURCE = (
    "X. Li et al., ADMA 2019 (InLN_DPSD); J. Lee, C. Clifton, KDD 2014, refuted in J. Zhang, X. "
    "Xiao, X. Xie: PrivTree, SIGMOD 2016, lemma 5.1 (binary SVT)."
)
EXACT_SPLITS, SHARED_THRESHOLD, SOUND = "inln_dpsd", "binary_svt_tree", "privtree"
LEVELS = 10
BEFORE = 95
"""People in the maps before the prediction: neither of the two cells is split."""
GUESSES, TRIALS = 20, 400
LABELS = 25
"""Pixels of the labels above the maps."""


def body(room: Room) -> None:
    """Show the chapter: attack both methods, and compare with what a guarantee allows."""
    people = room.choose(st.slider, "People at one place", "people", range(90, 111), 100)
    if not room.revealed:
        people = BEFORE
    _maps(room, people, _pair(room.data, people, room.epsilon, room.seed))
    if not room.revealed:
        return
    _attack(room, people)
    svt, sound = (_loss(each, room.epsilon, room.data) for each in (SHARED_THRESHOLD, SOUND))
    st.markdown(
        f"**{method(SHARED_THRESHOLD).title}.** All cells share one noisy threshold. Over "
        f"{LEVELS} levels one event gets **{odds(svt)}** times as likely; the ε/2 that was paid "
        f"allows {odds(0.5 * room.epsilon)} times. PrivTree keeps to **{odds(sound)}** times."
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def _pair(data: str, people: int, epsilon: float, seed: int) -> tuple[PointRelease, PointRelease]:
    """Releases of two neighbouring data sets: ``people`` records at one place, and one more."""
    domain = built_in(data).domain
    place = np.array(domain.lower) * 0.6 + np.array(domain.upper) * 0.4
    made = [
        build(
            from_points(np.repeat(place[None], people + more, axis=0), domain, public=True),
            EXACT_SPLITS,
            epsilon,
            seed=seed,
            ledger=None,
        )
        for more in (0, 1)
    ]
    return made[0], made[1]


def _maps(room: Room, people: int, releases: tuple[PointRelease, PointRelease]) -> None:
    labels = [
        f"{people + more} people: {cells_in_words(int(each.nodes.leaf.sum()))}"
        for more, each in enumerate(releases)
    ]
    camera = Camera(bounds=room.bounds, key=f"{room.key}.{room.data}")
    description = f"{method(EXACT_SPLITS).title} on {labels[0]} and on {labels[1]}"
    scene = release_scene(releases, labels, mode="side", camera=camera)
    scene = replace(scene, tools=(), raw=True, description=description)
    room.show(scene, "One method on two cities that differ by one person.", above=LABELS)


def _attack(room: Room, people: int) -> None:
    """Explain one attack: count the nodes and guess the data set."""
    right = sum(
        len(fewer.nodes) == 1 and len(more.nodes) > 1
        for fewer, more in (
            _pair(room.data, people, room.epsilon, room.seed + trial) for trial in range(GUESSES)
        )
    )
    st.markdown(
        f"**{method(EXACT_SPLITS).title}.** It splits a cell if its *exact* count is above 100. "
        "The attack only counts the cells of the map."
    )
    if right == GUESSES:
        st.markdown(
            f":red-badge[:material/warning: Told apart in {right} of {GUESSES} tries] One cell "
            f"means {people} people; more cells mean {people + 1}. The ratio of the probabilities "
            "is 1 ÷ 0 for every ε."
        )
    else:
        st.markdown(f"Told apart in {right} of {GUESSES} tries: try another number of people.")
    audits = _audited(room.epsilon)
    more, fewer = audits.probabilities
    st.markdown(
        f"An audit of the claim ε = {room.epsilon:g}: one event occurred in **{percent(more)}** of "
        f"{int(FINAL_SHARE * TRIALS)} new runs, and in **{percent(fewer)}** with one person more "
        f"or fewer. So ε is **at least {audits.epsilon_lower_bound:.2f}** with "
        f"{percent(audits.confidence, 2)} confidence. "
        + ("The claim is refuted." if audits.violates else "These runs are too few to refute it.")
    )


@st.cache_data(max_entries=64, show_spinner="Auditing …")
def _audited(epsilon: float) -> Audit:
    return audit(small_builds(EXACT_SPLITS), epsilon, trials=TRIALS)


@st.cache_data(max_entries=64, show_spinner="Calculating losses …")
def _loss(name: str, epsilon: float, data: str) -> float:
    chosen, domain = method(name, max_depth=LEVELS), built_in(data).domain
    return structure_loss(chosen.structure(epsilon, domain.dims)) or 0.0
