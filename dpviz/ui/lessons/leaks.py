"""Lesson on leaks: exact counts, a rectangle moved by one metre, one person found."""

from __future__ import annotations

import math

import streamlit as st

from dpviz.evaluation.lesson import IsolatedRecord, records
from dpviz.render import Mark, boxes, points, with_noise
from dpviz.render.numbers import odds
from dpviz.ui.lessons.room import PERSON, Room, around, axis, layer, named
from dpviz.ui.shared.charts import BLUE, ORANGE

TITLE, ORDER = "What leaks", 1
DO = (
    "Move the rectangle east, one metre at a time, and watch the exact count. Then switch to the "
    "private release."
)
TAKEAWAY = (
    "Counts without names are still personal data: two exact counts can differ by one person, and "
    "a private release is at most $e^{\\varepsilon}$ times as likely with that person as without, "
    "which promises much at a small ε and little at a large one."
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
    left, right = st.columns([6, 5], gap="medium")
    with right:
        noisy = room.choose(
            st.segmented_control, "Who answers?", "who", ANSWERERS, ANSWERERS[0], required=True
        )
        steps = range(len(isolated.counts))
        metres = room.choose(st.slider, "Move the rectangle east (metres)", "move", steps, 0)
    release = room.release(METHOD)
    answers = release.count([isolated.moved(step) for step in steps])
    private = noisy != ANSWERERS[0]
    rect = isolated.moved(metres)
    before = isolated.moved(max(metres - 1, 0))
    strip = (before[2], rect[1], rect[2], rect[3])
    with left:
        marks = [boxes("rect", [rect], color=(213, 94, 0), width=3)]
        if not private:
            marks = [*_people(room, isolated), *marks]
            if metres:
                marks.append(boxes("strip", [strip], color=(0, 114, 178), width=2))
        room.show(
            room.scene(
                *marks,
                release=release if private else None,
                camera=around(isolated, AROUND),
                description="A rectangle of 200 metres among the people of a quarter",
            )
        )
        with room.aside():
            st.caption(
                "The cells of a private release, and the same square."
                if private
                else "A square of 200 metres. Dots: people, whom the exact counts are about."
            )
    with right:
        now, then = isolated.counts[metres], isolated.counts[max(metres - 1, 0)]
        if private:
            half = float(answers.high[metres] - answers.low[metres]) / 2
            st.metric("Private answer", with_noise(float(answers.count[metres]), half))
            st.markdown(
                "A release knows cells, not people: a step of one metre adds a strip of their "
                "area, whoever stands in it. And had that person not been there, it would be as "
                f"likely up to a factor of $e^{{\\varepsilon}}$ = {odds(room.epsilon)}."
            )
        else:
            st.metric("Exact count", f"{now:,}", delta=now - then if metres else None)
            if metres == isolated.metres:
                st.markdown(
                    ":red-badge[:material/person_alert: One person found] The strip that was added "
                    f"is one metre wide, and two counts without a name, {then} and {now}, say that "
                    "a person is in it. A move to the north finds the square metre."
                )
            else:
                st.markdown(
                    "No change so far: move on."
                    if now == isolated.counts[0]
                    else f"One more than at the start, since the step to {isolated.metres} metres."
                )
        _chart(room, isolated, answers.count.tolist(), metres)


def _people(room: Room, isolated: IsolatedRecord) -> list[Mark]:
    """Records of the neighbourhood, as must never be shown for sensitive data."""
    people = records(room.handle, around(isolated, AROUND))
    return [points("people", people, color=PERSON, radius=4)]


def _chart(room: Room, isolated: IsolatedRecord, noisy: list[float], metres: int) -> None:
    """Chart of both answers up to the rectangle's current position."""
    rows = [
        {"metres": at, "answer": round(float(value), 2), "from": name}
        for name, values in (("exact", isolated.counts), ("private release", noisy))
        for at, value in enumerate(values[: metres + 1])
    ]
    ends = (*isolated.counts, *noisy)
    span = [math.floor(min(ends)) - 1, math.ceil(max(ends)) + 1]
    colours = {"exact": ORANGE, "private release": BLUE}
    line = layer(
        "line",
        {"interpolate": "step", "point": True},
        x=axis(
            "metres",
            "Metres moved",
            scale={"domain": [0, len(isolated.counts) - 1]},
            axis={"tickMinStep": 1, "grid": False},
        ),
        y=axis("answer", "Count", scale={"domain": span}, axis={"tickMinStep": 1}),
        color=named("from", colours),
    )
    room.chart("Count against the move", rows, 200, line)
