"""Lesson on reading an answer: two kinds of error, and what an interval covers."""

from __future__ import annotations

import streamlit as st

from dpviz.build import build
from dpviz.evaluation.lesson import Rect, align
from dpviz.evaluation.truth import exact_counts
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.counts import PointRelease
from dpviz.render import boxes, half_width_words, with_noise
from dpviz.render.numbers import percent
from dpviz.ui.lessons.room import LIMIT, SQUARE, Room, axis, layer, middle, rule
from dpviz.ui.points.source_form import built_in
from dpviz.ui.shared.charts import BLUE, GREY, ORANGE

TITLE, ORDER = "Reading an answer", 8
QUESTION = (
    "An answer for a rectangle has a 95 % interval. When is the exact count outside this interval "
    "more often than one time in twenty?"
)
CHOICES = (
    "Never: that is what 95 % means",
    "At a small ε: more noise, more misses",
    "Where its edge cuts through cells",
)
ANSWER = 2
REVEAL = "It covers the noise, not how people are spread in cut cells."
DO = "Look at 200 possible releases. Then snap the rectangle to the cells: what disappears?"
TAKEAWAY = (
    "The interval covers the noise, whose distribution is known exactly; the error from cut cells "
    "can only be estimated, and no ε makes it smaller."
)
FORMULA = (
    r"Answer = exact count + noise + uniformity error; the interval: answer ± 2.12 "
    r"$\sigma_{\text{noise}}$."
)
SOURCE = (
    "Noise error and uniformity error: W. Qardaji, W. Yang, N. Li, ICDE 2013, §3; least squares on "
    "trees: G. Cormode et al., ICDE 2012, §5."
)
METHOD, HEIGHT = "quadtree", 5
RESAMPLES = 200
SMALL = {"symbolType": "square", "symbolSize": 120, "symbolStrokeWidth": 0, "rowPadding": 2}
"""Entries of the legend, which would be as high as a band's own symbols."""


def body(room: Room) -> None:
    """Show the chapter: an answer with both errors, for a rectangle that can be moved."""
    snap = room.choose(st.toggle, "Snap the rectangle to the cells", "snap", (True, False), False)
    release = room.release(METHOD, height=HEIGHT, prune=0.0)
    place = st.session_state.get(f"{room.key}.rect") or middle(room.bounds)
    marks = [boxes("snapped", [align(release, place, 1 << HEIGHT)], color=SQUARE, width=3)]
    drawn = room.show_rect(
        *(marks if snap else []),
        release=release,
        raw=True,
        description="A quadtree's cells and a rectangle",
        words="The cells of a quadtree, and the rectangle of the query: draw another one.",
    )
    if not room.revealed:
        return
    rect = align(release, drawn, 1 << HEIGHT) if snap else drawn
    exact = int(exact_counts(room.handle, rect)[0])
    _coverage(room, rect, exact, *_answer(release, rect, exact))


def _answer(release: PointRelease, rect: Rect, exact: int) -> tuple[float, float]:
    """Show an answer with both errors; return it and its error from cut cells."""
    answer = release.count(rect)
    half = float(answer.high[0] - answer.low[0]) / 2
    with st.container(horizontal=True, gap="medium"):
        st.metric("Noisy count", with_noise(float(answer.count[0]), half), width="content")
        st.metric("Exact count (public data)", f"{exact:,}", width="content")
        spread = INTERVAL_SDS * float(answer.uniformity_sd[0])
        st.metric(
            "Uncertainty from cut cells",
            f"± {half_width_words(spread)}",
            help="An ESTIMATE (uniformity error), from the records in cells that the edge cuts.",
            width="content",
        )
    return float(answer.count[0]), spread


def _coverage(room: Room, rect: Rect, exact: int, count: float, spread: float) -> None:
    answers = [each.count(rect) for each in _resamples(room.data, room.epsilon, room.seed)]
    middles = sorted(
        (float(each.count[0]), float(each.low[0]), float(each.high[0])) for each in answers
    )
    hits = [low <= exact <= high for _, low, high in middles]
    names = {True: "holds it", False: "misses it"}
    cut = f"± {half_width_words(spread)} from cut cells"
    band = {"low": count - spread, "high": count + spread, "interval": cut}
    rows = [
        {"release": at, "low": low, "answer": round(count, 1), "high": high, "interval": names[hit]}
        for at, ((count, low, high), hit) in enumerate(zip(middles, hits, strict=True), 1)
    ]
    y = axis("low", "Count", scale={"zero": False}, axis={"tickCount": 3})
    x = axis(
        "release",
        f"{RESAMPLES} releases, in order of their answer",
        axis={"grid": False, "tickCount": 5},
    )
    colour = room.named("interval", {names[True]: BLUE, names[False]: ORANGE, cut: GREY}, **SMALL)
    intervals = layer("rule", {"strokeWidth": 1.5}, x=x, y=y, y2={"field": "high"}, color=colour)
    share = sum(hits) / len(hits)
    caption = f"{percent(share)} of {RESAMPLES} intervals hold the exact count (dashed)"
    around = layer("rect", {"opacity": 0.25}, y=y, y2={"field": "high"}, color=colour)
    around["data"] = {"values": [band]}
    room.chart(caption, rows, 228, around, intervals, rule(LIMIT, [{"low": exact}], y=y))
    if share < 0.9:
        st.markdown(
            "All of them have nearly the same error from cut cells, which no interval covers."
        )


@st.cache_resource(max_entries=6, show_spinner="Drawing the noise 200 times …")
def _resamples(data: str, epsilon: float, seed: int) -> list[PointRelease]:
    seeds = range(seed * RESAMPLES, (seed + 1) * RESAMPLES)
    city = built_in(data)
    return [build(city, METHOD, epsilon, seed=each, height=HEIGHT, prune=0.0) for each in seeds]
