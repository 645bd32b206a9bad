"""Lesson on protections: one city published in five ways at equal error, and who gives way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import streamlit as st

from dpviz.build import build, from_points
from dpviz.evaluation import disclosure
from dpviz.evaluation.disclosure import (
    ATTACKS,
    BEST,
    BLOCKS,
    DISTRICTS,
    LOOK,
    NOISE,
    PUBLICATIONS,
    SUBTRACT,
    Publication,
)
from dpviz.evaluation.events import clopper_pearson
from dpviz.evaluation.lesson import NOISELESS_EPSILON
from dpviz.exports.facts import strength
from dpviz.releases.counts import PointRelease
from dpviz.render import density_scale
from dpviz.ui.lessons.room import DASHED, LIMIT, Room, axis, layer, of_100, rule
from dpviz.ui.points.source_form import built_in
from dpviz.ui.shared.charts import BLUE, ORANGE

TITLE, ORDER = "Who leaks at equal error?", 10
QUESTION = (
    "One city is published in five ways, with the same average error in its districts. An attacker "
    "tries three attacks on each of them. Which one puts a limit on every attack?"
)
CHOICES = tuple(way.name for way in PUBLICATIONS)
ANSWER = len(CHOICES) - 1
REVEAL = "It limits every attack, as far as ε says; the other four put no limit on the best one."
DO = "Find the best attack on each publication. Then lower ε: all errors grow. Does privacy?"
TAKEAWAY = (
    "Equal error is not equal privacy: only noise scaled to the influence of one person limits "
    "every attack, and ε sets this limit."
)
FORMULA = (
    "An attack on noise is right with probability at most "
    "$e^{\\varepsilon}/(1+e^{\\varepsilon})$; guessing is right half of the time."
)
SOURCE = (
    "Reconstruction from tables: I. Dinur, K. Nissim, PODS 2003; limits of k-anonymity: A. "
    "Machanavajjhala et al., ICDE 2006; S. Ganta et al., KDD 2008."
)
TRIES = 100
EXACT = "Exact counts"
REASONS = {
    LOOK: "The attacker knows everybody else in the block. Suppression resists if "
    "the block's count is hidden, rounding if one person does not change the rounded count, jitter "
    "because dots of neighbouring blocks are mixed.",
    SUBTRACT: "The attacker asks for the whole city, and for the city without the "
    "person's block, and subtracts. Both counts are too large to be hidden, so suppression fails. "
    "Rounding and jitter resist this attack.",
    BEST: "Suppression and rounding: the attacker grows an area until one more "
    "person would change its published count. Jitter: the attacker counts all dots, because each "
    "person has one. k-anonymity and noise: the attacker looks at the block.",
}
SERVED = (
    "Suppression and rounding are attacked as a server that answers a count for any area; jitter, "
    "k-anonymity and noise as one published table."
)


def limit_on_noise(epsilon: float) -> float:
    """Largest expected number of right guesses among all, by any attack on noise."""
    return TRIES / (1 + math.exp(-epsilon))


def body(room: Room) -> None:
    """Show the chapter: a publication on the map, and the worst of three attacks on each."""
    with room.map_side, st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        names = [EXACT, *CHOICES]
        shown = room.choose(
            st.selectbox,
            "On the map",
            "map_of",
            names,
            NOISE.name,
            format_func="On the map: {}".format,
            label_visibility="collapsed",
            width=260,
        )
        parameters = _parameters(room.data, room.epsilon)
        if room.revealed:
            _how([error for _, error in parameters.values()])
    _map(room, shown if room.revealed else EXACT, parameters)
    if not room.revealed:
        return
    right = _successes(room.data, room.epsilon, room.seed)
    rows = [_row(way, parameters[way.name], right[way.name]) for way in PUBLICATIONS]
    _chart(room, rows)
    _each_attack(rows)
    _leaks(room, rows)


def _how(errors: list[float]) -> None:
    """Explain the attacks, and that the five publications err equally, if a reader asks."""
    with st.popover("The attacks", icon=":material/help:"):
        st.markdown("\n\n".join(f"**{name}**: {why}" for name, why in REASONS.items()))
        st.markdown(
            f"{SERVED} Thin lines are 95 % intervals. The mean error in {DISTRICTS} × {DISTRICTS} "
            f"districts is {min(errors):.2g} to {max(errors):.2g} people in all five."
        )


def _map(room: Room, shown: str, parameters: dict[str, tuple[float, float]]) -> None:
    """Show one publication's counts by block, in the classes of the exact ones."""
    exact = _published(room.data, EXACT, 0.0, room.seed)
    if shown == EXACT:
        words, release = "exact counts, as must never be published", exact
    else:
        (way,) = (each for each in PUBLICATIONS if each.name == shown)
        parameter, _ = parameters[shown]
        words = f"{shown}, {way.unit.format(parameter)}"
        release = _published(room.data, shown, parameter, room.seed)
    scene = room.scene(
        release=release,
        scale=density_scale(exact),
        raw=shown == NOISE.name,
        description=f"The city in {BLOCKS} by {BLOCKS} blocks: {words}",
    )
    if room.revealed:
        room.show(scene, "", above=48)
    else:
        room.show(scene, f"{BLOCKS} by {BLOCKS} blocks: {words}.")


@st.cache_data(max_entries=32, show_spinner="Making all five err equally …")
def _parameters(data: str, epsilon: float) -> dict[str, tuple[float, float]]:
    return disclosure.equal_error(_town(data), epsilon, seed=0)


@st.cache_data(max_entries=64, show_spinner="1,500 attackers are at work …")
def _successes(data: str, epsilon: float, seed: int) -> dict[str, dict[str, int]]:
    """Count right attackers by publication and attack."""
    town, parameters = _town(data), _parameters(data, epsilon)
    return {
        way.name: {
            attack: disclosure.successes(way, town, parameters[way.name][0], attack, TRIES, seed)
            for attack in ATTACKS
        }
        for way in PUBLICATIONS
    }


@st.cache_resource(max_entries=4, show_spinner=False)
def _town(data: str) -> disclosure.People:
    return disclosure.people(built_in(data))


@st.cache_resource(max_entries=32, show_spinner=False)
def _published(data: str, name: str, parameter: float, seed: int) -> PointRelease:
    """A picture of one publication: a record at the middle of a block for each that it counts."""
    town, domain = _town(data), built_in(data).domain
    counts = town.counts
    for way in PUBLICATIONS:
        if way.name == name:
            table = way.table(town, parameter, np.random.default_rng(seed))
            counts = way.protect(table, parameter)
    rows, columns = np.divmod(np.arange(BLOCKS**2), BLOCKS)
    middles = np.column_stack([columns, rows]) + 0.5
    low, high = np.array(domain.lower), np.array(domain.upper)
    places = low + middles / BLOCKS * (high - low)
    shown = np.maximum(np.rint(counts.ravel()), 0).astype(np.int64)
    records = from_points(np.repeat(places, shown, axis=0), domain, public=True)
    return build(records, "ugrid", NOISELESS_EPSILON, seed=0, ledger=None, cells=BLOCKS)


def _row(way: Publication, chosen: tuple[float, float], right: dict[str, int]) -> dict[str, Any]:
    """Row of the chart: successes of the worst attack on a publication, and of each attack."""
    parameter, error = chosen
    worst = max(right.values())
    low, high = clopper_pearson(worst, TRIES, 0.025)
    return {
        "publication": f"{way.name}: {way.unit.format(parameter)}",
        "error of a district": round(error, 2),
        "right": worst,
        "low": round(low * TRIES, 1),
        "high": round(high * TRIES, 1),
        **right,
    }


def _chart(room: Room, rows: list[dict[str, Any]]) -> None:
    look = {"title": None, "labelLimit": 360, "labelOverlap": False}
    y = {"field": "publication", "type": "nominal", "sort": None, "axis": look}
    words = (
        f"Right of {TRIES}; thin line: 95 % interval",
        f"Dashed: chance ({TRIES // 2}), and the limit at this ε",
    )
    x = axis(
        "right",
        "",
        axis={"title": words, "titleAnchor": "end", "tickCount": 5},
        scale={"domain": [0, TRIES]},
    )
    limit = limit_on_noise(room.epsilon)
    noise = {"test": f"datum.publication == '{rows[-1]['publication']}'", "value": BLUE}
    room.chart(
        f"The worst attack: of {TRIES} guesses who is in the data, how many are right?",
        rows,
        218,
        layer("bar", {"height": 16}, x=x, y=y, color={"condition": noise, "value": ORANGE}),
        layer(
            "rule",
            {"strokeWidth": 2, "color": room.ink},
            x={**x, "field": "low"},
            x2={"field": "high"},
            y=y,
        ),
        rule(DASHED, [{"right": TRIES / 2}], x=x),
        rule(LIMIT, [{"right": limit}], x=x),
        bars=len(rows),
    )


def _each_attack(rows: list[dict[str, Any]]) -> None:
    """Table of all attacks by publication; the worst of each is in bold."""
    head = ["Attack", *CHOICES]
    lines = [head, ["---", *["--:"] * len(CHOICES)]]
    for attack in ATTACKS:
        figures = [(row[attack], row["right"]) for row in rows]
        lines.append(
            [attack, *(f"**{each}**" if each == worst else f"{each}" for each, worst in figures)]
        )
    with st.container(key="learn.attacks"):
        st.markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))


def _leaks(room: Room, rows: list[dict[str, Any]]) -> None:
    """Name the publications that leak more than noise can, as far as these attacks show it."""
    limit = limit_on_noise(room.epsilon)
    leaks = [row["publication"].partition(":")[0] for row in rows[:-1] if row["low"] > limit]
    if not leaks:
        words = "None clearly exceeds"
    elif len(leaks) == len(rows) - 1:
        words = "The other four exceed"
    else:
        words = f"{', '.join(leaks)} exceed{'s' if len(leaks) == 1 else ''}"
    most = f"{limit:.3g}" if limit <= 99 else of_100(limit)
    st.markdown(
        f"**{words}** the limit of noise: {most} of {TRIES} (dashed), {strength(room.epsilon)}."
    )
