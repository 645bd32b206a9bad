"""Slots shared by pages on points: data set, method, and their address parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dpviz.releases.flows.release import is_flows
from dpviz.render.cells import domain_bounds
from dpviz.ui.areas.areas_form import areas_link
from dpviz.ui.flows.map_answer import pair_error
from dpviz.ui.points.accuracy import BOXES, typical_error
from dpviz.ui.points.attributes_form import sums_link
from dpviz.ui.points.choice_form import points_choice
from dpviz.ui.points.prior_form import with_prior
from dpviz.ui.points.source_form import PointSource, source_form
from dpviz.ui.shared import permalink
from dpviz.ui.shared.domain_map import choose_domain
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.presentation import counted_noun
from dpviz.ui.shared.skeleton import Slots, build_choice
from dpviz.ui.shared.sources import NoRecords


def point_slots(
    key: str,
    dims: int,
    records: str,
    *,
    fields: Sequence[permalink.Field],
    before: Callable[[PointSource], None],
    show: Callable[[Any, PointSource, Any], None],
    more: bool = False,
) -> Slots:
    """Slots of a page on points with this many dimensions; see :class:`Slots`.

    With ``more``, records may also have time, kinds and values, and areas may be counted.
    """
    return Slots(
        key=key,
        records=records,
        fields=fields,
        source=lambda: with_prior(key, source_form(key, dims, more=more)),
        choose=lambda source: points_choice(key, source, more=more),
        build=build_choice,
        adopt=lambda opened: PointSource(data=NoRecords(), title=opened.title, key=opened.key),
        empty=partial(choose_domain, key),
        before=before,
        error=lambda release, *_: _error(key, release, records),
        show=partial(_show_on_map, show),
        link=lambda choice: {**areas_link(choice), **sums_link(choice.sum_share)},
    )


def _error(key: str, release: Any, records: str) -> tuple[str, str] | None:
    """Typical error of a release in words, and a note on it; None where there is no map.

    ``records`` is the page's noun, where the release has none of its own.
    """
    if is_flows(release):
        return pair_error(release)
    if release.domain.without_time.dims not in BOXES:
        return None
    error = cached(f"{key}.error", release, lambda: typical_error(release))
    noun = counted_noun(key, release)
    words = error.words(records if noun == "records" else noun)
    return f"Typical error {words}", error.about


def _show_on_map(show: Callable[[Any, PointSource, Any], None], release: Any, *others: Any) -> None:
    """Show a release; refuse one whose area cannot be mapped, before any fragment runs."""
    if release.domain.without_time.dims % 2 == 0:
        domain_bounds(release.domain)
    show(release, *others)
