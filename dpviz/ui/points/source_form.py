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
from dpviz.private.handle import unit_named
from dpviz.private.load.check import check_source
from dpviz.private.load.data import load
from dpviz.private.load.survey import public_extent, survey, time_forms
from dpviz.ui.points.attributes_form import attributes_form
from dpviz.ui.points.columns_form import columns_form, period_form, time_choice
from dpviz.ui.shared.account import dataset_name
from dpviz.ui.shared.area_form import checked_area, public_box, sides_of
from dpviz.ui.shared.method_form import ChosenPrior
from dpviz.ui.shared.panels import ErrorsShown
from dpviz.ui.shared.preflight import show_survey
from dpviz.ui.shared.sources import DataSource
from dpviz.ui.shared.unit_form import unit_form
from dpviz.ui.shared.upload_form import (
    UPLOAD,
    data_choice,
    public_switch,
    read_cached,
    upload_form,
)
from dpviz.ui.shared.uploads import chosen_table


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
        beside: container of the map of the records' extent; None: in the form.
        complete: True if everything except the area is known; False for a refused file.
    """

    pane: Any
    beside: Any = None
    complete: bool = False


def source_form(
    prefix: str,
    dims: int,
    start: str | None,
    *,
    sensitive: bool = False,
    owner: InSteps | None = None,
    more: bool = False,
) -> PointSource | None:
    """Selectors of data; None while a file of one's own is not described yet.

    Args:
        prefix: prefix of the widgets' keys.
        dims: dims of the data sets on offer.
        start: the data set shown first.
        sensitive: True if a built-in data set is treated as sensitive by default.
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
        if not public_switch(prefix, "built-in", not sensitive):
            return _paid_demo(prefix, chosen)
        handle, title = built_in(chosen), DATASETS[chosen].title
        return PointSource(data=handle, title=title, key=chosen, backdrop=True, name=chosen)
    return upload_form(
        prefix,
        partial(_described, prefix, dims, more, owner),
        label="CSV (also .gz or .zip), Excel, JSON, Parquet, GeoJSON, GeoPackage, zipped "
        "Shapefile, FlatGeobuf, GPX or KML",
        help="Points, one record per row. The file stays in the memory of this server's process.",
        owner=owner is not None,
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


def _described(
    prefix: str,
    dims: int,
    more: bool,
    owner: InSteps | None,
    path: Path,
    file: Any,
    public: bool,
) -> PointSource | None:
    table = chosen_table(prefix, path, file)
    file_key = f"{file.file_id}{table or ''}"
    coordinates = columns_form(prefix, path, table, file_key, dims)
    if coordinates is None:
        return None
    how, names = coordinates
    crs, chosen = how["crs"], how["columns"]
    look = partial(survey, path, table=table, **how)
    panes = [st.container() for _ in range(3)]  # panels below stay open when one of these changes
    # Once the sides are typed, the facts of the area show the survey.
    when = time_choice(prefix, file_key, names) if more else {}
    if not public and (owner is not None or sides_of(prefix) is None):
        with panes[0]:
            show_survey(
                prefix,
                (f"{file_key}|{how}|{when}", crs),
                partial(look, **when),
                owner and owner.beside,
            )
    without = (*(chosen or ()), when.get("time"))
    with panes[1]:
        unit, bound = (None, 1) if public else unit_form(prefix, names, without=without)
    name = None
    with panes[2], ErrorsShown(path.name):  # the form below keeps its input if the name is refused
        name = dataset_name(prefix, file, names, unit_named(unit, "records"), public=public)
    pane = nullcontext() if owner is None else owner.pane
    with pane, st.container():
        extent = partial(public_extent, path, table=table, **how)
        free = public and dims == 2 and name is not None
        bounds = public_box(prefix, crs, extent if free else None)
    with st.container():  # keeps panels below it open when the period is missing
        written = partial(time_forms, path, table=table)
        clock = period_form(prefix, names, file_key, written) if more else {}
    beside = attributes_form(prefix, names, file_key) if more else {}
    if owner is not None:
        owner.complete = name is not None and clock is not None and beside is not None
    if name is None or bounds is None or clock is None or beside is None:
        return None
    ends = dims // 2  # a trip has the same rectangle at both ends
    both = (*bounds[:2] * ends, *bounds[2:] * ends)
    with pane, ErrorsShown(path.name):
        how |= {"time_format": clock.pop("time_format")} if "time_format" in clock else {}
        axes = chosen if chosen and len(chosen) == dims else ("lon", "lat")
        domain = Domain.from_bounds(both, axes, crs, **clock, **beside)
        checked_area(domain)
        how |= {"table": table, "unit": unit, "max_per_unit": bound}
        key = f"{file.file_id}|{bounds}|{clock}|{beside}|{how}|{public}|{name}"
        handle = read_cached(
            prefix,
            key,
            lambda: load(path, domain, public=public, name=name, **how),
            lambda _data: check_source(path, domain, **how)[0],
        )
        title = Path(file.name).name
        return PointSource(data=handle, title=title, key=key, unit=unit, table=table, path=path)
    return None
