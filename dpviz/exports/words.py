"""Words that every page of releases has in common, as values of its template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpviz.domain.periods import whole_words
from dpviz.exports.facts import are_views_of_one, facts, guarantee_sentence, joint_cost, replies
from dpviz.exports.presentation import PLAIN, Presentation
from dpviz.exports.sharing import sharing
from dpviz.exports.tables import csv_link, tables_of
from dpviz.releases.counts import domain_of, is_areas, is_points
from dpviz.releases.release import Release
from dpviz.render.nearby import around
from dpviz.render.scene import Bounds


def words_of_page(
    releases: Sequence[Release],
    names: Sequence[str],
    rects: Sequence[Bounds] = (),
    presentation: Presentation = PLAIN,
    whole: Release | None = None,
) -> dict[str, Any]:
    """Template values that every page of releases has in common.

    ``whole`` is a release, and ``releases`` are maps of its parts; of a series, the first of them.
    """
    one = [whole] if whole else releases[:1] if are_views_of_one(releases) else releases
    maps: list[Any] = list(releases)
    steps = (maps, names) if whole is maps[0] else ()
    kind, sentence = guarantee_sentence(releases, names, presentation.noun)
    period = _whole_period(whole or releases[0])
    described = [facts(each, name) for each, name in zip(one, names, strict=False)]
    return {
        "title": presentation.title or default_title(one),
        "subtitle": presentation.subtitle,
        "notes": presentation.notes,
        "published": presentation.published,
        "records": presentation.noun or getattr(maps[0], "records", "records"),
        "kind": kind,
        "sentence": sentence,
        "totals": [each.total for each in described if each.total],
        "repeated": one[0].header.repeated,
        "period": period,
        "facts": described,
        "together": joint_cost(releases),
        "sharing": sharing(one, presentation.noun, timed=bool(period)),
        "answers": [(rect, replies(maps, names, rect, whole)) for rect in rects],
        "noun": "area" if is_areas(releases[0]) else "cell",
        "drawn": releases[0].kind,
        "quotients": _quotients(one[0]),
        "clipped": (is_points(one[0]) or is_areas(one[0])) and bool(one[0].domain.values),
        "tables": tables_of(whole or releases[0], *steps) if len(one) == 1 else [],
        "csv": csv_link(one[0], presentation) if len(one) == 1 else None,
    }


def _quotients(release: Release) -> list[str]:
    """Quotients that a release has: shares of categories, means of values."""
    if not is_points(release):
        return []
    has = {"share": bool(release.kinds), "mean": release.domain.values is not None}
    return [name for name in has if has[name]]


def _whole_period(release: Release) -> str:
    """The whole period of a release with time, or the days of a series, in words; else empty."""
    if is_areas(release) and release.steps is not None:
        return whole_words(release.steps.calendar, *release.steps.period)
    if is_points(release) and release.domain.time is not None:
        return whole_words(release.domain.calendar, *release.domain.period)
    return str(release.header.extra.get("days", ""))


def default_title(releases: Sequence[Release]) -> str:
    """Title of the file, with its largest town; says NOT PRIVATE if any release is not private."""
    noun = "map" if len(releases) == 1 else "maps"
    first = {1: "A", 2: "Two"}.get(len(releases), str(len(releases)))
    if not all(each.header.private for each in releases):
        return f"{first} {noun}, NOT PRIVATE"
    return f"{first} private {noun}{around(domain_of(releases[0]))}"
