"""Titles of the levels of areas and of pairs of areas, also in the rows of a budget."""

from __future__ import annotations

from typing import Any

from dpviz.releases.areas.hexagons import level_titles
from dpviz.releases.counts import is_areas
from dpviz.releases.flows.frame import Flows
from dpviz.releases.flows.release import is_flows
from dpviz.releases.release import Release


def budget_rows(release: Release) -> list[dict[str, Any]]:
    """Rows of the budget; their purposes name levels of areas by their titles."""
    titles: dict[str, str] = {}
    if is_areas(release):
        levels = release.frame.levels
        titles = dict(zip(levels, level_titles(levels), strict=True))
    elif is_flows(release):
        titles = dict(zip(release.frame.levels, pair_titles(release.frame), strict=True))
    rows = [{**row} for row in release.header.budget]
    for row in rows:
        before, _, level = str(row["purpose"]).partition("level ")
        if titles.get(level, level) != level:
            row["purpose"] = f"{before}{titles[level]}"
    return rows


def pair_titles(flows: Flows) -> list[str]:
    """Titles of the levels of pairs, coarsest first, such as "areas" or "district to ward"."""
    one, two = (level_titles(areas.levels) for areas in (flows.origins, flows.destinations))
    return [" to ".join(dict.fromkeys((one[a], two[b]))) for a, b in flows.depths]
