"""Choose a data set: a built-in one, or one's own file with its columns and its area."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.datasets import DATASETS
from dpviz.domain import Domain
from dpviz.private.load.data import load
from dpviz.private.load.survey import public_extent, survey
from dpviz.private.load.tally import Fact
from dpviz.ui.points.attributes_form import attributes_form
from dpviz.ui.points.columns_form import columns_form, period_form, time_choice
from dpviz.ui.shared.area_form import checked_area, public_box, sides_of
from dpviz.ui.shared.method_form import ChosenPrior
from dpviz.ui.shared.panels import ErrorsShown
from dpviz.ui.shared.preflight import show_survey
from dpviz.ui.shared.sources import DataSource
from dpviz.ui.shared.unit_form import unit_form
from dpviz.ui.shared.upload_form import (
    UPLOAD,
    Upload,
    data_choice,
    public_switch,
    read_cached,
    upload_form,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class PointSource(DataSource):
    """Points behind a handle, with their name and unit for a page."""

    name: str | None = None
    """Name of a built-in data set, for a permalink."""
    unit: str | None = None
    """Column of the privacy unit; None if each record is its own unit."""
    table: str | None = None
    """Layer or sheet, if the file has several."""
    path: Path | None = None
    """Upload of the records, to refuse it as a prior of itself."""
    prior: ChosenPrior | None = None


@st.cache_resource(show_spinner="Making the built-in city …", max_entries=8)
def built_in(name: str) -> Any:
    """Handle of a built-in data set; synthetic and public, so that all visitors share it."""
    return load(name, public=True)


@dataclass
class InSteps:
    """Form in steps, for a data owner who describes records that are all confidential.

    Attributes:
        pane: container of the area's form, which is a step of its own.
        beside: container of the facts about the file; None: in the form.
        complete: True if everything except the area is known; False for a refused file.
    """

    pane: Any
    beside: Any = None
    complete: bool = False


def source_form(
    prefix: str,
    dims: int,
    start: str | None = None,
    *,
    owner: InSteps | None = None,
    more: bool = False,
) -> PointSource | None:
    """Selectors of data; None while a file of one's own is not described yet.

    Args:
        prefix: prefix of the widgets' keys.
        dims: dims of the data sets on offer.
        start: the data set shown first; that of the address by default.
        owner: the form in steps for confidential records; this function updates ``complete``.
        more: True if records may have a time, kinds and values besides their place.
    """
    domains = {name: each.domain for name, each in DATASETS.items()}
    offered = [
        name
        for name, each in domains.items()
        if (each.without_time if more else each).dims == dims and (more or each == each.counts_only)
    ]
    titles = {**{name: DATASETS[name].title for name in offered}, UPLOAD: UPLOAD}
    chosen = data_choice(prefix, "Data", titles, start)
    if chosen in DATASETS:
        st.caption(DATASETS[chosen].description)
        if owner:
            column = DATASETS[chosen].unit
            return _paid_demo(prefix, chosen, *unit_form(prefix, [column] if column else []))
        if not public_switch(prefix, "built-in"):
            return _paid_demo(prefix, chosen)
        handle, title = built_in(chosen), DATASETS[chosen].title
        return PointSource(data=handle, title=title, key=chosen, backdrop=True, name=chosen)
    return upload_form(
        prefix,
        partial(_described, dims, more, owner),
        label="CSV (also .gz or .zip), Excel, JSON, Parquet, GeoJSON, GeoPackage, zipped "
        "Shapefile, FlatGeobuf, GPX or KML",
        help="Points, one record per row. The file stays in the memory of this server's process.",
        owner=owner is not None,
        beside=owner and owner.beside,
    )


def _paid_demo(prefix: str, name: str, unit: str | None = None, bound: int = 1) -> PointSource:
    """A built-in data set, treated as an owner treats sensitive records: the visitor pays."""
    key = f"{name}|{unit}|{bound}"
    handle = read_cached(
        f"{prefix}.rehearsal",
        key,
        lambda: load(name, unit=unit, max_per_unit=bound, public=False),
    )
    title = DATASETS[name].title
    return PointSource(data=handle, title=title, key=key, backdrop=True, name=name, unit=unit)


def _described(dims: int, more: bool, owner: InSteps | None, upload: Upload) -> PointSource | None:
    prefix, public = upload.prefix, upload.public
    coordinates = columns_form(upload, dims)
    if coordinates is None:
        return None
    how, names = coordinates
    crs, chosen = how["crs"], how["columns"]
    when = time_choice(upload, names) if more else {}
    facts = st.container()  # keeps panels below it open when the survey changes
    without = (*(chosen or ()), when.get("time"))
    unit, name = upload.unit_and_name(names, without=without)
    pane = nullcontext() if owner is None else owner.pane
    with pane:
        area = st.container()
    losses: dict[Fact, Any] = {}
    clock: dict[str, Any] | None = None
    beside: dict[str, Any] | None = None
    # After their errors the area is still drawn, so that it keeps its sides.
    with ErrorsShown(), st.container():  # keeps panels below it open when the period is missing
        clock = period_form(upload, names, losses) if more else {}
    with ErrorsShown():
        beside = attributes_form(prefix, names, upload.key, losses) if more else {}
    with area:  # its refusal is the last, as its step is after this one
        free = public and dims == 2 and name is not None
        extent = partial(public_extent, upload.path, **how)
        bounds = public_box(prefix, crs, extent if free else None)
    # Once the sides are typed, the facts of the area show the survey.
    if not public and (owner is not None or sides_of(prefix) is None):
        read = {**how, **(when if clock is None else clock), **(beside or {}), **unit}
        with facts:
            asked, look = (f"{upload.key}|{read}", crs), partial(survey, upload.path, **read)
            show_survey(prefix, asked, look, owner and owner.beside, losses)
    if owner is not None:
        owner.complete = name is not None and clock is not None and beside is not None
    if name is None or bounds is None or clock is None or beside is None:
        return None
    ends = dims // 2  # a trip has the same rectangle at both ends
    both = (*bounds[:2] * ends, *bounds[2:] * ends)
    with pane, ErrorsShown(upload.path.name):
        how |= {**unit, "time_format": clock.pop("time_format", None)}
        axes = chosen if chosen and len(chosen) == dims else ("lon", "lat")
        domain = Domain.from_bounds(both, axes, crs, **clock, **beside)
        checked_area(domain)
        fields = upload.source(domain, how, name)
        return PointSource(**fields, unit=unit["unit"], table=upload.table, path=upload.path)
    return None
