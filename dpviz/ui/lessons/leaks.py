"""Lesson on leaks: exact counts, a rectangle moved by one metre, one person found."""

from __future__ import annotations

import math

import streamlit as st

from dpviz.evaluation.lesson import records
from dpviz.render import Legend, Swatch, boxes, density_legend, density_scale, points, with_noise
from dpviz.ui.lessons.room import PERSON, SQUARE, SUSPECT, Room, around, axis, layer
from dpviz.ui.shared.charts import BLUE, ORANGE

TITLE, ORDER = "What leaks", 1
QUESTION = (
    "A square moves over a city, one metre at a time. Only the exact number of people in it is "
    "published: no names, no dots. Can these numbers reveal the orange person?"
)
CHOICES = (
    "No: a count without names describes nobody",
    "Only if a single person is in the square",
    "Yes: two counts can differ by one person",
)
ANSWER = 2
REVEAL = "Neighbouring squares differ by a thin strip: the two counts differ by the people in it."
DO = "Move the square east, one metre at a time; then switch to the private release."
TAKEAWAY = (
    "Two exact counts can differ by one person, so counts without names can be personal data; a "
    "private release limits what they reveal."
)
FORMULA = (
    "Exact: count after − count before = 1, the person. Private: "
    "$P(\\text{release with them}) \\le e^{\\varepsilon} P(\\text{without})$."
)
SOURCE = (
    "Differencing attacks on counts: D. Denning, P. Denning, M. Schwartz, The Tracker: A Threat to "
    "Statistical Database Security, ACM TODS 1979."
)
METHOD = "privtree"
AROUND = 60.0
"""Metres beyond the square that the map shows."""
ANSWERERS = ("exact counts", "a private release")


def body(room: Room) -> None:
    """Show the chapter: two exact answers that reveal one person."""
    isolated = room.isolated
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        answerer = room.choose(
            st.segmented_control, "Who answers?", "who", ANSWERERS, ANSWERERS[0], required=True
        )
        steps = range(len(isolated.counts))
        metres = room.choose(
            st.slider, "Move the square east (metres)", "move", steps, 0, width=210
        )
    private = answerer != ANSWERERS[0]
    _map(room, metres, private)
    if not room.revealed:
        return
    answers = room.release(METHOD).count([isolated.moved(step) for step in steps])
    now, then = isolated.counts[metres], isolated.counts[max(metres - 1, 0)]
    if private:
        half = float(answers.high[metres] - answers.low[metres]) / 2
        answer = with_noise(float(answers.count[metres]), half)
        st.markdown(
            f"Private answer: **{answer}**. A release knows cells, not people: one metre more adds "
            "a share of a cell's count, whether a person is there or not."
        )
    else:
        if metres == isolated.metres:
            words = (
                f":red-badge[:material/person_alert: One person found] {then} before, {now} now: "
                "they are in the new strip, which is one metre wide."
            )
        elif now == isolated.counts[0]:
            words = "No change yet: move the square further."
        else:
            words = f"One more than at the start: the step to {isolated.metres} metres added it."
        st.markdown(f"Exact count: **{now:,}**. {words}")
    _chart(room, answers.count.tolist(), metres)


def _map(room: Room, metres: int, private: bool) -> None:
    """Show the square among people, which must never be shown for sensitive data, or on cells."""
    isolated = room.isolated
    square, before = isolated.moved(metres), isolated.moved(max(metres - 1, 0))
    marks = [boxes("square", [square], color=SQUARE, width=3)]
    release = room.release(METHOD) if private else None
    if release is not None:
        words = "The same square on the cells of a private release."
        legend = density_legend(density_scale(release), [release]).counting("people")
    else:
        people = records(room.handle, around(isolated, AROUND))
        marks.insert(0, points("people", people, color=PERSON, radius=5))
        words = "Invented people, and a square of 200 metres."
        legend = Legend(title="One dot per person", swatches=[Swatch("to be found", SUSPECT)])
        if metres:
            strip = (before[2], square[1], square[2], square[3])
            marks.append(boxes("strip", [strip], color=SUSPECT, width=2))
        marks.append(points("person", [isolated.person], color=SUSPECT, radius=9))
    scene = room.scene(
        *marks,
        release=release,
        legend=legend,  # on both maps, so that the square keeps its place
        camera=around(isolated, AROUND),
        plane=True,  # no degrees: the square says how long 200 metres are
        description="A square of 200 metres among the people of a quarter",
    )
    room.show(scene, words)


def _chart(room: Room, noisy: list[float], metres: int) -> None:
    """Chart of both answers up to the square's current position."""
    counts = room.isolated.counts
    rows = [
        {"metres": at, "answer": round(float(value), 2), "from": name}
        for name, values in (("exact", counts), ("private release", noisy))
        for at, value in enumerate(values[: metres + 1])
    ]
    ends = (*counts, *noisy)
    span = [math.floor(min(ends)) - 1, math.ceil(max(ends)) + 1]
    line = layer(
        "line",
        {"interpolate": "step", "point": True},
        x=axis(
            "metres",
            "Metres moved",
            scale={"domain": [0, len(counts) - 1]},
            axis={"tickMinStep": 1, "grid": False},
        ),
        y=axis("answer", "Count", scale={"domain": span}, axis={"tickMinStep": 1, "tickCount": 3}),
        color=room.named("from", {"exact": ORANGE, "private release": BLUE}),
    )
    room.chart("Count against the move", rows, 230, line)
