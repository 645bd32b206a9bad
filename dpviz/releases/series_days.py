"""Maps of a series: of all its days, and of each of the latest; post-processing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpviz.domain.calendar import Calendar
from dpviz.domain.periods import span_words, whole_words
from dpviz.releases.axis import Axis
from dpviz.releases.counts import AreaRelease
from dpviz.releases.header import WEAKER, Header, price_words
from dpviz.releases.points.sums import Sums
from dpviz.releases.series import KEY, Series, day_text, prices, weights
from dpviz.releases.split import count_release
from dpviz.trees.lattice import Float, Int

LENGTHS = {1: "each day", 7: "each week", 28: "each four weeks"}
"""Words for the nodes of a series, by their number of days."""

LONGER = f"{WEAKER}a person's week or month costs the sum of its days"


def day_windows(series: Series, most: int = 12) -> tuple[list[AreaRelease], list[str]]:
    """Maps of all days and of each of the latest ``most``, and the days of each in words.

    A day that no release answers is left out; then the map of all days begins after those days.
    """
    first, variance = int(series.nodes[:, 0].min()), series.variance[:, -1]
    days: Int = np.arange(first, series.until)[:, None] + np.array([0, 1])
    days = days[~np.isnan(weights(series.nodes, variance, days)).any(axis=0)]
    last = int(days[-1, 1]) if len(days) else series.until
    spans = (np.array([[day, last]]) for day in range(max(first, series.start), last))
    answered = (one for one in spans if not np.isnan(weights(series.nodes, variance, one)).any())
    windows = np.concatenate([next(answered), days[-most:]])
    weight, header = weights(series.nodes, variance, windows), _header(series, windows[0])
    axis, texts = Calendar(), [[*map(day_text, ends)] for ends in windows.tolist()]
    words = [span_words(axis, *axis.period(ends)) for ends in texts]
    words[0] = whole_words(axis, *axis.period(texts[0]))
    headers = [
        replace(header, extra={**header.extra, "days": words[0], "period": ends}) for ends in texts
    ]
    return [_map(series, *each) for each in zip(weight.T, headers, strict=True)], words


def _map(series: Series, weight: Float, header: Header) -> AreaRelease:
    """Map of the days that these weights of the nodes add up to."""
    counts, variance = np.tensordot(weight, series.counts, 1), weight**2 @ series.variance
    sums: list[Sums | None] = [None] * len(counts)
    if series.sums is not None:
        values, spread = series.sums
        sums = [Sums(each, weight**2 @ spread) for each in np.tensordot(weight, values, 1)]
    trees = [
        (series.areas, series.areas.nodes(each, variance), one)
        for each, one in zip(counts, sums, strict=True)
    ]
    kinds = series.first.by.kinds if series.first.by and series.kinds else None
    return count_release(Axis(kinds=kinds) if kinds else None, trees, header)


def _header(series: Series, period: Int) -> Header:
    """Header of all releases of a series together, with the ε of a day that they all charge."""
    first, planned = series.first.header, float(series.facts["epsilon"])
    epsilon = max(planned, series.charged)
    claim = f"differentially private, {price_words(epsilon)}, {first.neighbouring}"
    rows = [
        {
            **row,
            "purpose": f"{LENGTHS[length]}, {row['purpose']}",
            "epsilon": row["epsilon"] * price / first.epsilon,
        }
        for length, price in prices(planned).items()
        for row in first.budget
    ]
    if epsilon > planned:
        rows.append(
            {
                **rows[0],
                "purpose": "the day before, by clocks that go back",
                "epsilon": epsilon - planned,
            }
        )
    extra = {name: value for name, value in first.extra.items() if name != KEY}
    calendar = {name: value for name, value in extra["calendar"].items() if name != "longer"}
    extra["calendar"] = calendar | {"days": [*map(day_text, period.tolist())]}
    return replace(
        first,
        guarantee=f"{claim}; {LONGER}",
        epsilon=epsilon,
        budget=tuple(rows),
        extra=extra,
    )
