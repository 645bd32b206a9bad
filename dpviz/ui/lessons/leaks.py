"""What leaks: exact counts, a rectangle moved by one metre, one person found."""

from __future__ import annotations

import streamlit as st

from dpviz.evaluation.lesson import METRES, Spot, lone_record, records
from dpviz.render import Mark, boxes, points, rounded
from dpviz.ui.lessons.parts import BLUE, ORANGE, Rect, Room, axis, named
from dpviz.ui.source_form import built_in

TITLE, ORDER = "What leaks", 1
DO = (
    "Move the rectangle east, one metre at a time, and watch the exact count. Then switch to the "
    "private release."
)
TAKEAWAY = (
    "Counts without names are still personal data: the difference of two exact counts is one "
    "person, and with noise on every answer that difference means nothing."
)
SOURCE = (
    "Differencing attacks on counts: I. Dinur, K. Nissim, Revealing Information while Preserving "
    "Privacy, PODS 2003."
)
METHOD = "privtree"


def body(room: Room) -> None:
    """See the page."""
    spot = _spot(room.data)
    left, right = st.columns([6, 5], gap="medium")
    with right:
        noisy = st.segmented_control(
            "Who answers?",
            ("exact counts", "a private release"),
            default="exact counts",
            required=True,
            key=f"{room.key}.who",
        )
        metres = st.slider(
            "Move the rectangle east (metres)", 0, len(spot.counts) - 1, 0, key=f"{room.key}.move"
        )
    release = room.release(METHOD)
    answers = release.count([spot.moved(step) for step in range(len(spot.counts))])
    private = noisy != "exact counts"
    rect = spot.moved(metres)
    before = spot.moved(max(metres - 1, 0))
    strip = (before[2], rect[1], rect[2], rect[3])
    with left:
        marks = [boxes("rect", [rect], color=(213, 94, 0), width=3)]
        if not private:
            marks = [*_people(room, spot), *marks]
            if metres:
                marks.append(boxes("strip", [strip], color=(0, 114, 178), width=2))
        room.show(
            room.scene(
                *marks,
                release=release if private else None,
                camera=_around(spot),
                description="A rectangle of 200 metres among the people of a quarter",
            )
        )
    with right:
        now, then = spot.counts[metres], spot.counts[max(metres - 1, 0)]
        if private:
            half = float(answers.high[metres] - answers.low[metres]) / 2
            shown = rounded(float(answers.count[metres]), half)
            st.metric("Private answer", f"{shown} ± {rounded(half, half)}")
            st.markdown(
                "The noise is many times larger than one person, so a step of one metre changes "
                "nothing that anybody could read as a person."
            )
        else:
            st.metric("Exact count", f"{now:,}", delta=now - then if metres else None)
            if metres == spot.found:
                st.markdown(
                    f":red-badge[:material/person_alert: One person found] The strip that was "
                    f"added is one metre wide. Two counts without a name, {then} and {now}, say "
                    "that somebody is in it: with a second cut from north to south, on one square "
                    "metre."
                )
            else:
                st.markdown("No change so far." if now == spot.counts[0] else "One more than at 0.")
        _chart(room, spot, answers.count.tolist())


def _people(room: Room, spot: Spot) -> list[Mark]:
    """The records of the neighbourhood: this is what must never be shown of sensitive data."""
    return [points("people", records(room.handle, _around(spot)), color=(90, 100, 110), radius=4)]


def _around(spot: Spot, metres: float = 160.0) -> Rect:
    west, south, east, north = spot.rect
    x, y = (west + east) / 2, (south + north) / 2
    return (
        x - metres * spot.step,
        y - metres / METRES,
        x + metres * spot.step,
        y + metres / METRES,
    )


def _chart(room: Room, spot: Spot, noisy: list[float]) -> None:
    rows = [
        {"metres": at, "answer": round(float(value), 2), "from": name}
        for name, values in (("exact", spot.counts), ("private release", noisy))
        for at, value in enumerate(values)
    ]
    colours = {"exact": ORANGE, "private release": BLUE}
    encoding = {
        "x": axis("metres", "Metres moved", axis={"tickMinStep": 1, "grid": False}),
        "y": axis("answer", "Count", scale={"zero": False}),
        "color": named("from", colours),
    }
    mark = {"type": "line", "interpolate": "step", "point": True}
    room.chart("Count against the move", rows, {"mark": mark, "encoding": encoding}, 240)


@st.cache_data(max_entries=8, show_spinner=False)
def _spot(data: str) -> Spot:
    return lone_record(built_in(data))
