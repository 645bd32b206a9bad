"""Printable page about one or two releases: opens offline, without scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dpviz.exports.charts import error_svg
from dpviz.exports.data_use import data_use
from dpviz.exports.facts import Mapped
from dpviz.exports.html import labels_of, page, points_of, words_of_page
from dpviz.exports.pack import base64_of
from dpviz.exports.views import maps_of
from dpviz.render.picture import comparison_png
from dpviz.render.projection import degree_boxes
from dpviz.render.scene import Bounds
from dpviz.render.view import check

PANELS = 4
"""Most maps in one picture: for kinds, the total and the first three kinds."""


def report_page(
    releases: Sequence[Mapped],
    *,
    labels: Sequence[str] = (),
    rects: Sequence[Bounds] = (),
    title: str = "",
) -> str:
    """A printable HTML page: guarantee, picture, answers, errors to expect, method, price.

    Args:
        releases: one, or two of the same domain; 2-D. Or one of areas.
        labels: one each; by default method and ε.
        rects: rectangles (west, south, east, north in degrees) whose answers it shows.
        title: of the page.

    Raises:
        ReleaseError: not one or two releases, not 2-D, or not of one domain.
        DomainError: a rectangle outside the domain.
    """
    names, rects = labels_of(releases, labels), degree_boxes(rects)
    check(releases, 2)
    words = words_of_page(releases, names, rects, title)
    points = points_of(releases)
    shown, titles = maps_of(points, names) if points else (releases, names)
    picture = comparison_png(
        shown[:PANELS],
        titles[:PANELS],
        rects[0] if rects else None,
        size="report" if len(shown) == 1 else "screen",
    )
    chart = error_svg(points, names) if points else b""
    return page(
        "report.html",
        picture=base64_of(picture),
        chart=base64_of(chart),
        domain=releases[0].domain,
        statements=[_entry(each) for each in releases],
        **words,
    )


def _entry(release: Mapped) -> str:
    """Data-use statement without the data set's name, which a report must not show."""
    entry = data_use(release)
    entry["url_slug"] = entry["deployment"]["basic"]["name"] = None
    return json.dumps(entry, indent=2, ensure_ascii=False)
