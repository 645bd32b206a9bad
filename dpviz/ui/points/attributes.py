"""Kinds and values of a release: choice of the map's kind, and rows of an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dpviz.evaluation.truth import records_of_kind
from dpviz.exports.facts import TOO_FEW, quotient_words
from dpviz.releases.answers import RangeAnswers
from dpviz.releases.counts import CountRelease, F, PointRelease
from dpviz.releases.points.quotient import Quotients
from dpviz.releases.points.region_count import Regions
from dpviz.render import Scene, with_noise
from dpviz.render.kinds import overlay_scene, share_scene
from dpviz.render.numbers import count_words
from dpviz.render.view import prior_scene
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.method_form import ChosenPrior
from dpviz.ui.shared.panels import worded_numbers
from dpviz.ui.shared.text import plain

ALL, LEADING = "All categories", "Leading category"
LEADING_WORD = "leading"
"""Word in an address for the leading kind, instead of a kind's name."""

CLIPPED = (
    "± of a sum and the interval of a mean are for 95 %: the noise, and the error from cut cells, "
    "together. Values are as clipped to {low:g} to "
    "{high:g}: what lies beyond is missing from both, a bias that no interval shows."
)


@dataclass(frozen=True)
class Look:
    """Alternative to the density map of a release in 2-D.

    Attributes:
        kind: the map shows the share of this kind; None: the leading kind of each cell.
        prior: the map shows this public prior instead.
    """

    kind: str | None = None
    prior: ChosenPrior | None = None

    def of(self, release: PointRelease) -> Scene:
        """The map of a release; without a prior, of one with kinds."""
        if self.prior is not None:
            return prior_scene(self.prior.data, release, self.prior.name)
        if self.kind is None:
            return overlay_scene(release)
        return share_scene(release, self.kind)


def kinds_view(
    prefix: str, release: CountRelease[F], source: PointSource, *, looks: bool = True
) -> tuple[CountRelease[F], PointSource, Look | None]:
    """Ask for all kinds, one kind, the leading kind, or the share of one.

    Without ``looks``, for all kinds or one.

    Returns:
        The release to query, its records, and the look of its map (None: density).
    """
    names = release.kinds
    if not names:
        return release, source, None
    titles: dict[tuple[str | None, str | None], str] = {(None, None): ALL}  # by (kind, kind of map)
    titles |= {(name, None): name for name in names}
    if looks and len(names) > 1:
        titles |= {(None, LEADING_WORD): LEADING}
        titles |= {(None, name): f"Share of {name}" for name in names}
    asked = permalink.parameter("kind"), permalink.parameter("kinds")
    views = list(titles)
    if asked not in titles:
        permalink.refused("the category", asked[0] or asked[1])
    at = st.selectbox(
        "Categories",
        range(len(views)),
        index=views.index(asked) if asked in titles else 0,
        format_func=lambda at: titles[views[at]],
        key=f"{prefix}.kind.{'|'.join(names)}",
        label_visibility="collapsed",
        width=240,
    )
    kind, share = views[at]
    permalink.write({"kind": kind, "kinds": share})
    if share is not None:
        return release, source, Look(None if share == LEADING_WORD else share)
    if kind is None:
        return release, source, None
    data = records_of_kind(source.data, kind) if source.public else source.data
    return release.of(kind), replace(source, data=data), None


def attribute_answers(release: CountRelease[Any], rect: Any, period: Any) -> None:
    """Show sum and mean of the values, and a row for each kind, below an answer.

    Args:
        release: the queried release.
        rect: in its domain's CRS.
        period: period of one with time.
    """
    values = release.domain.values
    if values is not None:
        about = CLIPPED.format(low=values.low, high=values.high)
        for label, text in _sum_words(release, rect, period).items():
            st.metric(f"{label} of {plain(values.column)}", text, help=about)
    if not release.kinds:
        return
    rows = [
        _kind_row(name, release.count(rect, period, name), release.share(rect, name, period=period))
        | _sum_words(release, rect, period, name)
        for name in release.kinds
    ]
    kinds_table(rows)


def region_kinds(release: PointRelease, regions: Regions) -> None:
    """Show a row for each kind below the answer to a polygon."""
    if release.kinds:
        every = release.regions_by_kind(regions)
        kinds_table([_kind_row(name, *answers) for name, answers in every.items()])


def _kind_row(name: str, answer: RangeAnswers, share: Quotients) -> dict[str, str]:
    """Count and share of a kind in one place."""
    count, part = count_words(answer), quotient_words(share, shares=True)
    return {"category": name, "noisy count": count, "share": part}


def kinds_table(rows: list[dict[str, str]]) -> None:
    """A row for each kind, and what its share means."""
    kind = st.column_config.TextColumn(width="small")  # a long name must leave room for counts
    looks = {"category": kind, **worded_numbers(*(set().union(*rows) - {"category"}))}
    st.dataframe(rows, hide_index=True, column_config=looks)
    st.caption(
        "Share of all categories, with its 95 % interval for the noise and for cut cells; "
        f"“{TOO_FEW}”: their number cannot be distinguished from zero."
    )


def _sum_words(
    release: CountRelease[Any], rect: Any, period: Any, kind: str | None = None
) -> dict[str, str]:
    """Sum and mean with their intervals; nothing without values."""
    if release.domain.values is None:
        return {}
    total = release.sum(rect, period, kind)
    mean = quotient_words(release.mean(rect, period, kind))
    return {"Sum": with_noise(float(total.sum[0]), float(total.total_error[0])), "Mean": mean}
