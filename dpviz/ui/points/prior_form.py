"""Form for public data about the same place, which a map may follow at no price."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.errors import ShapesError
from dpviz.private.load.priors import prior, refuse_own_records
from dpviz.releases.areas.area_file import area_columns
from dpviz.releases.counts import PointRelease
from dpviz.releases.store import stated_kind
from dpviz.ui.points.attributes import Look
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.method_form import ChosenPrior
from dpviz.ui.shared.panels import ErrorsShown
from dpviz.ui.shared.uploads import upload_columns, upload_path

TITLE = "Something public about this place?"
MUST_BE_PUBLIC = (
    "Last year's published records, addresses, a population grid, districts with inhabitants, or "
    "an earlier release. It must be PUBLIC: not made from the confidential records, and not chosen "
    "by looking at them. Choose it once, before the build. It costs no ε, and is followed only "
    "where noisy counts agree with it."
)


def with_prior(prefix: str, source: PointSource | None) -> PointSource | None:
    """Offer a public prior for a source; None while a file that was given for it is refused.

    Methods follow one for records of two coordinates alone, without time and values.
    """
    if source is None or source.data.domain.without_time.dims != 2:
        return source
    domain, place = source.data.domain, f"{prefix}.prior"
    more = "time" if domain.time is not None else "values" if domain.values is not None else ""
    if more:
        st.button(TITLE, key=f"{place}.no", icon=":material/public:", disabled=True)
        st.caption(f"Not for records with {more}: a public prior helps counts of places only.")
        return source
    given = st.session_state.get(f"{place}.file") is not None
    with st.expander(TITLE, expanded=given, icon=":material/public:"):
        st.caption(MUST_BE_PUBLIC)
        label = "Points, cells or polygons, in their CRS or that of the area; or a release"
        file = st.file_uploader(label, key=f"{place}.file")
        if file is None:
            return source
        path = upload_path(place, file)
        with ErrorsShown(path.name):
            return replace(source, prior=_chosen(place, path, file, source))
    return None


def _chosen(place: str, path: Path, file: Any, source: PointSource) -> ChosenPrior:
    """Prior of an uploaded file, by the visitor's column of weights."""
    weight, domain = None, source.data.domain
    if source.path is not None:
        refuse_own_records(path, source.path)
    if not stated_kind(path):
        weight = st.selectbox(
            "Column of weights",
            _columns(path),
            index=None,
            placeholder="None: each row weighs 1",
            key=f"{place}.weight.{file.file_id}",
            help="Such as inhabitants or addresses, from 0.",
        )
    with st.spinner("Reading the prior …"):
        asked = file.file_id, weight, domain
        data = cached(f"{place}.read", asked, lambda: prior(path, domain, weight))
    st.caption(f"Read as {data.facts['kind']}. “Show the prior” above the map draws it.")
    return ChosenPrior(file.name, data)


def _columns(path: Path) -> list[str]:
    """Columns of a table, or of a file of polygons."""
    try:
        return [each.name for each in upload_columns(path) if each.kind != "geometry"]
    except ShapesError:
        return list(area_columns(path))


def prior_look(prefix: str, release: PointRelease, source: PointSource) -> Look | None:
    """Map of the source's prior in place of the release's, where the visitor asks for it."""
    chosen, stated = source.prior, release.header.extra.get("prior")
    if chosen is None or stated is None:
        return None
    fits = [fit[0] > 0 for tree in stated["fits"] for fit in tree]
    where = f"on {sum(fits)} of {len(fits)} levels" if any(fits) else "nowhere"
    how = f"The map follows it {where}: as far as noisy counts agree with it."
    asked = st.toggle("Show the prior", key=f"{prefix}.prior.shown", help=how)
    return Look(prior=chosen) if asked else None
