"""Printed kinds, shares, sums and means, beside the counts of a release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpviz.cli.root import COUNT, answer_rows, escaped_line
from dpviz.lists import join_list

if TYPE_CHECKING:
    from dpviz.domain import Domain
    from dpviz.releases.counts import AreaRelease, PointRelease
    from dpviz.releases.points.quotient import Quotients
    from dpviz.releases.points.region_count import Regions


OF_KIND = (*COUNT, "uniformity_sd")
"""Printed fields of the count of one kind."""


def attribute_rows(
    release: PointRelease, rects: Sequence[Sequence[float]], period: str | None
) -> list[dict[str, Any]]:
    """JSON fields of kinds and values for each rectangle; empty dictionaries without them."""
    rows = sum_rows(release, rects, period)
    if release.kinds:
        every = {name: _kind_rows(release, rects, period, name) for name in release.kinds}
        for at, row in enumerate(rows):
            row["kinds"] = {name: each[at] for name, each in every.items()}
    return rows


def region_rows(release: PointRelease, regions: Regions) -> list[dict[str, Any]]:
    """JSON fields of kinds for each region; empty dictionaries without kinds."""
    rows: list[dict[str, Any]] = [{} for _ in regions.names]
    if not release.kinds:
        return rows
    for name, (counts, shares) in release.regions_by_kind(regions).items():
        columns = answer_rows(counts, OF_KIND), quotient_rows(shares)
        for row, count, share in zip(rows, *columns, strict=True):
            row.setdefault("kinds", {})[name] = count | {"share": share}
    return rows


def _kind_rows(
    release: PointRelease, rects: Sequence[Sequence[float]], period: str | None, name: str
) -> list[dict[str, Any]]:
    """Answer for one kind in each rectangle: count, share, and sum if there are values."""
    counts = answer_rows(release.count(rects, period, name), OF_KIND)
    shares = quotient_rows(release.share(rects, name, period=period))
    sums = sum_rows(release, rects, period, name)
    return [
        count | {"share": share} | more
        for count, share, more in zip(counts, shares, sums, strict=True)
    ]


def sum_rows(
    release: PointRelease | AreaRelease,
    rects: Sequence[Sequence[float]],
    period: str | None = None,
    kind: str | None = None,
) -> list[dict[str, Any]]:
    """Sum and mean for each rectangle; empty dictionaries for a release without values."""
    if release.domain.values is None:
        return [{} for _ in rects]
    sums = release.sum(rects, period, kind)
    noise = answer_rows(sums, ("noise_sd", "low", "high", "uniformity_sd"))
    means = quotient_rows(release.mean(rects, period, kind))
    return [
        {"sum": {"value": value} | more, "mean": mean}
        for value, more, mean in zip(sums.sum.tolist(), noise, means, strict=True)
    ]


def area_sum_rows(release: AreaRelease) -> list[dict[str, Any]]:
    """Sum for each area; empty dictionaries for a release without values."""
    from dpviz.releases.areas.table import area_sums

    sums = area_sums(release)
    if sums is None:
        return [{} for _ in release.frame.names]
    noise = answer_rows(sums, ("noise_sd", "low", "high", "uniformity_sd"))
    pairs = zip(sums.sum.tolist(), noise, strict=True)
    return [{"sum": {"value": value} | more} for value, more in pairs]


def quotient_rows(answers: Quotients) -> list[dict[str, Any]]:
    """One dictionary per quotient; its value is null where there are not enough records."""
    rows = answer_rows(answers, ("value", "low", "high", "enough"))
    return [row | {"value": None if math.isnan(row["value"]) else row["value"]} for row in rows]


def attribute_lines(row: dict[str, Any]) -> list[str]:
    """Text lines for one row: sum and mean, then one line per kind."""
    lines = [
        f"  {escaped_line(name)}: {each['count']:,.1f} ({each['low']:,.0f} to {each['high']:,.0f})"
        f"{cut_words(each)}; share {_percent(each['share'])}"
        + "".join(f"; {words}" for words in sum_words(each))
        for name, each in row.get("kinds", {}).items()
    ]
    return [*(f"  {words}" for words in sum_words(row)), *lines]


def sum_words(row: dict[str, Any]) -> list[str]:
    """Sum and mean of the clipped values in words; empty without values."""
    if "sum" not in row:
        return []
    total, mean = row["sum"], row.get("mean")
    words = f"sum {_with_interval(total)}"
    words += cut_words(total, least=0.0)  # all values may be small
    if mean is None:
        return [words]
    if not mean["enough"]:
        return [words, "mean unknown: too few records"]
    return [words, f"mean {_with_interval(mean)}"]


def _with_interval(row: dict[str, Any]) -> str:
    from dpviz.render.numbers import MINUS, with_interval

    return with_interval(row["value"], row["low"], row["high"]).replace(MINUS, "-")


def cut_words(row: dict[str, Any], noun: str = "cells", least: float = 0.05) -> str:
    """Words for the error of a count with that from uneven records inside cut cells or areas.

    Empty where the latter is at most ``least``.
    """
    from dpviz.releases.answers import INTERVAL_SDS
    from dpviz.render.numbers import half_width_words

    error = INTERVAL_SDS * row.get("uniformity_sd", 0.0)
    if error <= least:
        return ""
    both = math.hypot((row["high"] - row["low"]) / 2, error)
    return f", about ± {half_width_words(both)} with cut {noun}"


def _percent(share: dict[str, Any]) -> str:
    if not share["enough"]:
        return "unknown: too few records"
    from dpviz.render.numbers import NO_BREAK, percent_interval

    words = percent_interval(share["value"], share["low"], share["high"])
    return words.replace(NO_BREAK, " ")


def attribute_facts(domain: Domain) -> list[str]:
    """Lines of ``dpviz info`` on the kinds and values of a domain."""
    facts, values = [], domain.values
    if domain.kinds is not None:
        facts.append(f"kinds by {domain.kinds.column}: {join_list(domain.kinds.names)}")
    if values is not None:
        facts.append(
            f"sums of {values.column}, each value clipped to {values.low:g} to {values.high:g} and "
            f"rounded to {values.grid:g}: what was clipped is missing from sums and means"
        )
    return [escaped_line(each) for each in facts]
