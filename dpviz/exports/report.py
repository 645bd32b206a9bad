"""Printable page about one or two releases: opens offline, without scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dpviz.exports.charts import error_svg, timeline_svg
from dpviz.exports.data_use import data_use
from dpviz.exports.facts import label_of
from dpviz.exports.html import points_of
from dpviz.exports.pack import base64_of
from dpviz.exports.page import page
from dpviz.exports.presentation import PLAIN, Presentation
from dpviz.exports.stills import flat_maps, report_pictures
from dpviz.exports.tables import MAX_ROWS, step_table
from dpviz.exports.words import words_of_page
from dpviz.releases.counts import is_points
from dpviz.releases.release import Release
from dpviz.releases.series import Series
from dpviz.releases.series_days import day_windows
from dpviz.render.projection import degree_boxes
from dpviz.render.scene import Bounds

EXPECTED = (
    "Chart of the error to expect against the size of a rectangle",
    "The error to expect: medians over 100 rectangles of each size anywhere in the domain, from "
    "the release alone.",
)
TIMELINE = (
    "Chart of noisy counts by step of time",
    "Noisy count of the whole area in each step; the band is its ±.",
)
"""Description and caption of each chart."""


def report_page(
    releases: Sequence[Release],
    *,
    labels: Sequence[str] = (),
    rects: Sequence[Bounds] = (),
    presentation: Presentation = PLAIN,
    series: Series | None = None,
) -> str:
    """A printable HTML page: pictures, guarantee, answers, errors to expect, method, budget.

    Args:
        releases: one of any kind, or two of points of the same domain; 2-D. Of one with kinds
            there is a picture of all records and of each kind, on one colour scale; of one with
            time the map of the whole period and a chart of its steps.
        labels: one each; by default method and ε.
        rects: rectangles (west, south, east, north in degrees) whose answers it shows.
        presentation: title, subtitle, noun and notes of the page.
        series: series of which the release is the map of all days; the page lists the latest.

    Raises:
        ReleaseError: not one or two releases, not 2-D, or not of one domain.
        DomainError: a rectangle outside the domain.
    """
    rects = degree_boxes(rects)
    maps, names = flat_maps(releases, labels)
    points = points_of(maps)
    whole = releases[0] if len(releases) == 1 and list(releases) != maps else None
    pictures = report_pictures(releases, names, rects[0] if rects else None, presentation)
    shown_pictures = [(title, base64_of(picture)) for title, picture in pictures]
    main, first = max(len(maps), 1), releases[0]
    charts = []
    if is_points(first) and first.domain.time is not None and len(releases) == 1 and maps:
        charts.append((timeline_svg(first, presentation.noun), *TIMELINE))
    if points:
        charts.append((error_svg(points, names), *EXPECTED))
    shown: Sequence[Release] = maps or releases
    values = words_of_page(shown, names or [label_of(first)], rects, presentation, whole)
    if series is not None:
        values["tables"].insert(0, step_table(*day_windows(series, MAX_ROWS)))
    return page(
        "report.html",
        pictures=shown_pictures[:main],
        categories=shown_pictures[main:],
        statements=[_statement(each) for each in releases],
        charts=[(base64_of(chart), *words) for chart, *words in charts],
        **values,
    )


def _statement(release: Release) -> str:
    """Data-use statement without the data set's name, which a report must not show."""
    entry = data_use(release)
    entry["url_slug"] = entry["deployment"]["basic"]["name"] = None
    return json.dumps(entry, indent=2, ensure_ascii=False)
