"""Form for a build: a method on the points of a source, or counts of public areas."""

from __future__ import annotations

from dataclasses import replace

from dpviz.ui.areas.areas_form import CELLS, METHOD, areas_choice, counted_form
from dpviz.ui.points.attributes_form import sum_share_form
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.method_form import Choice, method_form


def points_choice(
    prefix: str,
    source: PointSource,
    *,
    start: str | None,
    saved: dict[str, str],
    more: bool,
) -> Choice | None:
    """Ask for the method or areas, and their parameters; None while the areas are missing.

    Args:
        prefix: of the widgets' keys.
        source: of the points.
        start: the method shown first.
        saved: parameters from a permalink, as text.
        more: True to offer counts of areas instead of cells.
    """
    domain = source.data.domain
    counted = counted_form(prefix, domain) if more else CELLS
    of_areas = start == METHOD  # saved parameters belong to the method in the address
    if counted != CELLS:
        saved = saved if of_areas else {}
        return areas_choice(prefix, domain, counted, saved)
    choice = method_form(
        prefix,
        domain.dims,
        public=source.public,
        start="privtree" if start is None or of_areas else start,
        saved={} if of_areas else saved,
    )
    if domain.values is None:
        return choice
    return replace(choice, sum_share=sum_share_form(prefix, domain.values.column))
