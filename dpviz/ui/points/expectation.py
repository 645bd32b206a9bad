"""Expected errors of a release, shown before it is paid for."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from dpviz.domain import Domain, calendar
from dpviz.evaluation.synthetic_proxy import (
    Bound,
    Expectation,
    expectation,
    expected_by_bound,
    proxy_size_note,
    retained_share,
)
from dpviz.private.slots import PersonNoise
from dpviz.render import half_width_words, rounded, short
from dpviz.render.cells import domain_bounds
from dpviz.render.numbers import percent, with_noise
from dpviz.render.projection import areas
from dpviz.trees.prior import Prior
from dpviz.ui.areas.expectation import areas_expectation
from dpviz.ui.shared.charts import bounds_chart
from dpviz.ui.shared.method_form import Choice
from dpviz.ui.shared.panels import table_panel, worded_numbers

SHOWN = {"small": "0.01–0.1 % of {whole}", "medium": "0.1–1 %", "large": "1–10 %"}

AT_BEST = "with the prior, at best"
"""Column of errors with a prior that the records follow exactly."""

MIDDLE = {"small": 0.0003, "medium": 0.003, "large": 0.03}
"""The middle of each size."""

REMEDIES = {
    "records left out": "Allow more records of each person in step Data, or correct the guess of "
    "{mean:g} records of one person.",
    "noise": "Choose {useful}.",
    "cut cells": "Choose a method with smaller cells, or {useful}.",
}
"""What makes an error smaller, by its largest part."""

MAX_MEAN = 1_000.0
"""Largest guess of the mean records of one person."""

Setting = tuple[dict[str, Any], str, dict[str, Any]]
"""Domain, method and its parameters, as a cache takes them."""


@st.cache_data(show_spinner=False, max_entries=64)
def _errors(
    asked: Setting,
    epsilon: float,
    n: int,
    bound: int,
    mean: float | None,
    prior: str | None,
    _prior: Prior | None,
) -> Expectation:
    """Expected errors from public facts alone, so that all visitors may share the cache.

    ``prior`` is the hash of ``_prior``.
    """
    domain, name, chosen = asked
    chosen = {**chosen, "max_per_unit": bound, "per_unit": mean, "prior": _prior}
    return expectation(Domain.from_dict(domain), name, epsilon, n, **chosen)


@st.cache_data(show_spinner=False, max_entries=64)
def _bounds(asked: Setting, epsilon: float, n: int, mean: float) -> list[Bound]:
    domain, name, chosen = asked
    return expected_by_bound(Domain.from_dict(domain), name, epsilon, n, mean, **chosen)


def expectation_panel(
    prefix: str,
    domain: Domain,
    choice: Choice,
    max_per_unit: int,
    offered: PersonNoise | None,
    *,
    people: bool,
    shown: bool,
) -> None:
    """Expected errors for the chosen method and price.

    Args:
        prefix: prefix of the widgets' keys.
        domain: public.
        choice: choice of the method and its price.
        max_per_unit: max contributions per unit.
        offered: noise at (ε, δ), to show beside that of pure ε; None if it is not on offer.
        people: whether a unit may have more, so that some are left out.
        shown: False on a hidden step, whose inputs keep their values and nothing is computed.
    """
    st.header("What to expect, before paying", anchor=False)
    if choice.areas is not None:
        if shown:
            areas_expectation(choice, max_per_unit, domain, offered)
        return
    kinds, epsilon = domain.kinds, choice.epsilon
    gain = 1.0 if offered is None else offered.gain
    if choice.slots is not None:
        epsilon, gain = epsilon * gain, 1.0 / gain  # pure noise of that ε is as large
    if domain.values is not None and choice.sum_share is not None:
        epsilon *= 1.0 - choice.sum_share
        st.caption(
            f"Accuracy of the counts at their share, ε = {epsilon:g}; the rest is spent on sums."
        )
    domain = domain.counts_only
    total = st.number_input(
        "Your guess: how many records?",
        1,
        100_000_000,
        100_000,
        step=10_000,
        key=f"{prefix}.guess",
        help="A round number from public knowledge, NOT read from the file. It is used for the "
        "expected errors below only: a made-up city of so many records is published as a trial. "
        "Your map stays the same.",
    )
    parts = 1 if kinds is None else len(kinds.names)
    records = max(round(total / parts), 1)
    mean = min(_records_of_one(prefix, max_per_unit), float(records)) if people else None
    if not shown:
        return
    each = "" if kinds is None else f" in each of {parts} categories"
    of_one = "" if mean is None else f", {mean:g} of one person,"
    st.caption(f"For {records:,} records{each}{of_one} by your guess, not from your file.")
    asked: Setting = (domain.to_dict(), choice.name, dict(sorted(choice.parameters.items())))
    prior = None if choice.prior is None else choice.prior.data
    key = None if choice.prior is None else repr(choice.prior)
    with st.spinner("Trying the method on synthetic records …"):
        expected = _errors(asked, epsilon, int(records), max_per_unit, mean, key, prior)
    counted = 1.0 if mean is None else retained_share(max_per_unit, mean)
    if more := proxy_size_note(round(records * counted)):
        st.info(more)
    whole = "the area" if domain.time is None else "area × period"
    rows = [row for row in expected.rows if row.size in SHOWN]
    other = "with persons counted ±" if choice.slots is None else "with records counted ±"
    middles = _middles(domain)
    st.info(
        f"**At ε = {choice.epsilon:g}:** {_look(domain, expected, middles['medium'], parts)}.",
        icon=":material/visibility:",
    )
    st.dataframe(
        [
            {
                "rectangles": SHOWN[row.size].format(whole=whole),
                "such as": middles[row.size],
                "count": rounded(row.count, row.error),
                "noise ±": half_width_words(row.interval),
                **({} if offered is None else {other: half_width_words(row.interval / gain)}),
                **({"left out": rounded(row.left_out, row.error)} if people else {}),
                "mean error": rounded(row.error, row.error),
                **({} if row.at_best is None else {AT_BEST: rounded(row.at_best, row.at_best)}),
            }
            for row in rows
        ],
        hide_index=True,
        column_config=worded_numbers("count", "noise ±", other, "left out", "mean error", AT_BEST),
    )
    if noisy := [row for row in rows if row.error >= row.count / 2]:
        choices = ["a larger ε", *(["fewer categories"] if kinds else [])]
        choices += ["no time"] if domain.time else []
        part = noisy[-1].largest_part
        remedy = REMEDIES[part].format(mean=mean, useful=" or ".join(choices))
        st.warning(
            f"With these choices a count of {middles[noisy[-1].size]} tells little: the mean error "
            "is at least half the count in rectangles of "
            f"{' and '.join(SHOWN[row.size].format(whole=whole) for row in noisy)}. Most of the "
            f"error comes from {part}. {remedy}",
            icon=":material/blur_on:",
        )
    city = "a synthetic city scaled to your area"
    best = "synthetic records that lie exactly as the prior says, the best case"
    more = ", the records left out" if people else ""
    st.caption(
        f"Measured on {city if prior is None else best}, not on your records: it costs nothing and "
        "reveals nothing about them, and your error may be smaller or larger. Each ± is that of "
        "95 %: in the table of the noise alone, above it of noise and cut cells, as the map will "
        f"show it. The mean error is from noise{more} and cells that the rectangle cuts."
    )
    if kinds is not None:
        st.caption(
            "Each category has its own noise: in k categories together the noise is larger by the "
            "square root of k, and what cut cells add by up to k."
        )
    if mean is not None:
        _bound_panel(asked, epsilon, int(records), mean, max_per_unit)


def _look(domain: Domain, expected: Expectation, medium: str, parts: int) -> str:
    """Words on the map and its timeline, of one category of ``parts`` and of all together."""
    words = []
    if expected.cell is not None:
        side = math.sqrt(expected.cell)
        size = f"{short(side)} km" if side >= 1 else f"{short(1000 * side)} m"
        words.append(f"a map with cells of about {size} where most records are")
    (row,) = (row for row in expected.rows if row.size == "medium")
    of_one = "" if parts == 1 else " of one category"
    words.append(f"{with_noise(row.count, row.total_error)} records{of_one} in {medium}")
    if expected.windows is not None:
        start, end = domain.period
        days = (end - start) / len(expected.windows) / calendar.SECONDS["d"]
        each = (
            "month" if 28 <= days <= 31 else f"window of {calendar.rounded_duration(86_400 * days)}"
        )
        count = float(expected.windows.count.mean())
        of_all = f", {with_noise(parts * count, expected.window_error(parts))} of all together"
        words.append(
            f"{with_noise(count, expected.window_error())}{of_one} in each {each} of the whole "
            f"area{of_all if of_one else ''}"
        )
    return "; ".join(words)


def _middles(domain: Domain) -> dict[str, str]:
    """Typical area in km² of each query size; with time, its duration too."""
    square = float(areas([domain_bounds(domain)])[0])
    words = {}
    for size, share in MIDDLE.items():
        side = share ** (1 / domain.dims)
        words[size] = f"{short(square * side**2)} km²"
        if domain.time is not None:
            start, end = domain.period
            words[size] += f" over {calendar.rounded_duration((end - start) * side)}"
    return words


def _records_of_one(prefix: str, max_per_unit: int) -> float:
    """Ask for the data owner's guess of the mean number of records per unit.

    It begins at the max contributions, a public choice, and follows them until it is changed.
    """
    place, begun = f"{prefix}.mean", f"{prefix}.mean.begun"
    before = st.session_state.get(begun)
    if st.session_state.get(place, before) == before:
        st.session_state[place] = st.session_state[begun] = min(float(max_per_unit), MAX_MEAN)
    mean = st.number_input(
        "Your guess: how many records has one person?",
        1.0,
        MAX_MEAN,
        key=place,
        help="Your guess of the mean. Synthetic persons have 1, 2, 3 … records with falling "
        "probability.",
    )
    return float(mean)


def _bound_panel(
    asked: Setting, epsilon: float, records: int, mean: float, max_per_unit: int
) -> None:
    """Noise against records left out, for several bounds at the same price per unit."""
    with st.spinner("Comparing bounds on synthetic records …"):
        rows = _bounds(asked, epsilon, records, mean)
    st.altair_chart(bounds_chart({row.max_per_unit: row.error for row in rows}, max_per_unit))
    best = min(rows, key=lambda row: row.error)
    st.caption(
        "To count few records of each person leaves others out, to count many needs more noise. "
        "On synthetic records the mean error of a medium rectangle (0.1–1 %), with what is left "
        f"out, is least at {best.max_per_unit} of each person; the dashed line is your choice."
    )
    table_panel(
        "The chart as a table",
        {
            "most records of each person": [row.max_per_unit for row in rows],
            "of all records": [percent(row.kept) for row in rows],
            "mean error of a medium rectangle": [rounded(row.error, row.error) for row in rows],
        },
    )
