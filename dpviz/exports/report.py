"""Printable page about one or two releases: opens offline, without scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dpviz.exports.charts import error_svg
from dpviz.exports.data_use import data_use
from dpviz.exports.facts import Mapped
from dpviz.exports.html import PLAIN, labels_of, page, points_of, words_of_page
from dpviz.exports.pack import base64_of
from dpviz.exports.presentation import Presentation
from dpviz.exports.views import maps_of
from dpviz.render.picture import comparison_png
from dpviz.render.projection import degree_boxes
from dpviz.render.scene import Bounds
from dpviz.render.view import check


def report_page(
    releases: Sequence[Mapped],
    *,
    labels: Sequence[str] = (),
    rects: Sequence[Bounds] = (),
    presentation: Presentation = PLAIN,
) -> str:
    """A printable HTML page: pictures, guarantee, answers, errors to expect, method, budget.

    Args:
        releases: one, or two of the same domain; 2-D. Or one of areas. Of one with kinds there is
            a picture of all records and of each kind, on one colour scale.
        labels: one each; by default method and ε.
        rects: rectangles (west, south, east, north in degrees) whose answers it shows.
        presentation: title, subtitle, noun and notes of the page.

    Raises:
        ReleaseError: not one or two releases, not 2-D, or not of one domain.
        DomainError: a rectangle outside the domain.
    """
    names, rects = labels_of(releases, labels), degree_boxes(rects)
    check(releases, 2)
    points = points_of(releases)
    maps, titles = maps_of(points, names) if points else (releases, names)
    pictures = [
        comparison_png(
            [each],
            [title],
            rects[0] if rects else None,
            noun=presentation.noun,
            pins=presentation.pins,
            scaled_as=points_of(maps),
            size="report",
        )
        for each, title in zip(maps, titles, strict=True)
    ]
    return page(
        "report.html",
        pictures=[*zip(titles, map(base64_of, pictures), strict=True)],
        statements=[_statement(each) for each in releases],
        chart=base64_of(error_svg(points, names) if points else b""),
        **words_of_page(releases, names, rects, presentation),
    )


def _statement(release: Mapped) -> str:
    """Data-use statement without the data set's name, which a report must not show."""
    entry = data_use(release)
    entry["url_slug"] = entry["deployment"]["basic"]["name"] = None
    return json.dumps(entry, indent=2, ensure_ascii=False)
