"""Choose records of flows: data set or file, columns of both ends, public areas."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.datasets import DATASETS
from dpviz.domain import Domain
from dpviz.domain.attributes import Kinds
from dpviz.domain.crs import DEGREES
from dpviz.lazy import pa
from dpviz.private.flows import FlowData
from dpviz.private.handle import unit_named
from dpviz.private.load.check import check_source
from dpviz.private.load.data import load
from dpviz.private.load.survey import time_forms
from dpviz.private.load.tally import Tally
from dpviz.releases.areas.partition import Areas
from dpviz.releases.flows.frame import Flows
from dpviz.render import Camera
from dpviz.render.cells import domain_bounds
from dpviz.render.pairs import frame_scene
from dpviz.ui.areas.areas_form import frame_areas
from dpviz.ui.map import map_view
from dpviz.ui.points.attributes_form import kinds_form
from dpviz.ui.points.columns_form import columns_form, period_form, time_choice
from dpviz.ui.shared.account import dataset_name
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import ErrorsShown
from dpviz.ui.shared.sources import DataSource
from dpviz.ui.shared.unit_form import unit_form
from dpviz.ui.shared.upload_form import (
    UPLOAD,
    data_choice,
    public_switch,
    read_cached,
    upload_form,
)
from dpviz.ui.shared.uploads import chosen_table, upload_columns

COORDINATES, NAMES = "Coordinates", "Names of areas"
DIMS = 4
"""Coordinates of both ends."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FlowSource(DataSource):
    """Records between areas behind a handle; ``link``: parameters of the data in an address."""

    link: dict[str, str | None]


def flow_source(prefix: str, start: str | None, *, sensitive: bool = False) -> FlowSource | None:
    """Selectors of data and areas; None while they are incomplete.

    Args:
        prefix: prefix of the widgets' keys.
        start: the data set shown first.
        sensitive: True if a built-in data set is treated as sensitive by default.
    """
    offered = {name: each.title for name, each in DATASETS.items() if each.domain.dims == DIMS}
    chosen = data_choice(prefix, "Data", {**offered, UPLOAD: UPLOAD}, start)
    if chosen in offered:
        return _built_in(prefix, chosen, public_switch(prefix, "built-in", not sensitive))
    return upload_form(
        prefix,
        partial(_described, prefix),
        label="CSV (also .gz or .zip), Excel, JSON or Parquet",
        help="One record per row, with columns of both ends. The file stays in the memory of this "
        "server's process.",
    )


def _built_in(prefix: str, name: str, public: bool) -> FlowSource | None:
    """A built-in data set between areas of its box."""
    domain = DATASETS[name].domain
    areas = frame_areas(prefix, domain.crs, Domain(domain.lower[:2], domain.upper[:2]))
    if areas is None:
        return None

    def read() -> FlowData:
        table, how = pa.table(dict(DATASETS[name].table())), {"columns": domain.columns}
        data: FlowData = load(table, Flows(areas.areas), public=public, name=name, **how)
        data.synthetic = public
        return data

    key = f"{name}|{areas!r}|{public}"
    return FlowSource(
        data=read_cached(prefix, key, read),
        key=key,
        title=DATASETS[name].title,
        backdrop=public and not areas.uploaded,
        link={"data": name, "areas": None if areas.uploaded else areas.source},
    )


def _described(prefix: str, path: Path, file: Any, public: bool) -> FlowSource | None:
    """Records of an upload."""
    table = chosen_table(prefix, path, file)
    file_key = f"{file.file_id}{table or ''}"
    described = _ends(prefix, path, table, file_key)
    if described is None:
        return None
    how, names = described
    when = time_choice(prefix, file_key, names)
    without = (*(how.get("columns") or ()), when.get("time"))
    unit, bound = None, 1
    with st.container():  # keeps panels below it open when its fields change
        if not public:
            unit, bound = unit_form(prefix, names, record="trip", without=without)
    name = None
    with ErrorsShown(path.name):  # the form below keeps its input if the name is refused
        name = dataset_name(prefix, file, names, unit_named(unit, "records"), public=public)
    areas = frame_areas(prefix, how.get("crs", DEGREES))
    clock = period_form(prefix, names, file_key, partial(time_forms, path, table=table), trips=True)
    stated = kinds_form(prefix, names, file_key)
    if name is None or areas is None or clock is None or stated is None:
        return None
    form = {"time_format": clock.pop("time_format")} if "time_format" in clock else {}
    how |= {"table": table, "unit": unit, "max_per_unit": bound, **form}
    flows = Flows(_with_kinds(areas.areas, **stated))

    def read() -> FlowData:
        return load(path, flows, public=public, name=name, **how, **clock)

    def check(data: FlowData) -> Tally:
        steps = None if data.by is None else data.by.steps
        return check_source(path, flows, steps=steps, **how)[0]

    key = f"{file.file_id}|{areas!r}|{areas.areas.domain}|{how, clock, stated}|{public}|{name}"
    data = read_cached(prefix, key, read, check)
    link = {"data": UPLOAD, "areas": None if areas.uploaded else areas.source}
    return FlowSource(data=data, key=key, title=Path(file.name).name, link=link)


def _with_kinds(areas: Areas, kind: str | None = None, kinds: Any = None) -> Areas:
    return replace(areas, domain=replace(areas.domain, kinds=Kinds.of(kind, kinds)))


def _ends(
    prefix: str, path: Path, table: str | None, file_id: str
) -> tuple[dict[str, Any], list[str]] | None:
    """Ask for the columns of both ends; arguments of :func:`dpviz.load`, and all columns."""
    given = st.segmented_control(
        "Both ends are given by",
        (COORDINATES, NAMES),
        default=COORDINATES,
        required=True,
        key=f"{prefix}.ends",
        help="Four columns of coordinates, or two that name the finest areas of a file.",
    )
    if given == COORDINATES:
        return columns_form(prefix, path, table, file_id, DIMS)
    names = [column.name for column in upload_columns(path, table)]
    chosen = [
        place.selectbox(
            label,
            names,
            index=None,
            placeholder="Choose a column",
            key=f"{prefix}.end.{label}.{file_id}",
        )
        for place, label in zip(st.columns(2), ("Origin", "Destination"), strict=True)
    ]
    if None in chosen:
        st.info("Choose the columns of origin and destination.", icon=":material/rule:")
        return None
    return {"columns": tuple(map(str, chosen))}, names


def show_frame(prefix: str, source: FlowSource) -> None:
    """Show the public areas, before a release exists."""
    flows = source.data.flows

    def draw() -> Any:
        return frame_scene(flows, Camera(bounds=domain_bounds(flows.domain), key=source.key))

    map_view(cached(f"{prefix}.frame", source.key, draw), key=f"{prefix}.frame.map")
