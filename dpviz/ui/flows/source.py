"""Choose records of flows: data set or file, columns of both ends, public areas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.datasets import DATASETS
from dpviz.domain import Domain
from dpviz.domain.attributes import Kinds
from dpviz.domain.crs import DEGREES
from dpviz.lazy import pa
from dpviz.private.flows import FlowData
from dpviz.private.load.data import load
from dpviz.releases.areas.partition import Areas
from dpviz.releases.flows.frame import Flows
from dpviz.render.pairs import frame_scene
from dpviz.ui.areas.areas_form import frame_areas
from dpviz.ui.map import map_view
from dpviz.ui.points.attributes_form import kinds_form
from dpviz.ui.points.columns_form import columns_form, period_form, time_choice
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.sources import DataSource
from dpviz.ui.shared.upload_form import (
    UPLOAD,
    Upload,
    data_choice,
    public_switch,
    read_cached,
    upload_form,
)
from dpviz.ui.shared.uploads import upload_columns

COORDINATES, NAMES = "Coordinates", "Names of areas"
DIMS = 4
"""Coordinates of both ends."""


def flow_source(prefix: str) -> DataSource | None:
    """Selectors of data and areas; None while they are incomplete."""
    offered = {name: each.title for name, each in DATASETS.items() if each.domain.dims == DIMS}
    chosen = data_choice(prefix, "Data", {**offered, UPLOAD: UPLOAD})
    if chosen in offered:
        return _built_in(prefix, chosen, public_switch(prefix, "built-in"))
    return upload_form(
        prefix,
        _described,
        label="CSV (also .gz or .zip), Excel, JSON or Parquet",
        help="One record per row, with columns of both ends. The file stays in the memory of this "
        "server's process.",
    )


def _built_in(prefix: str, name: str, public: bool) -> DataSource | None:
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
    return DataSource(
        data=read_cached(prefix, key, read),
        key=key,
        title=DATASETS[name].title,
        backdrop=public and not areas.uploaded,
        link={"areas": None if areas.uploaded else areas.source},
    )


def _described(upload: Upload) -> DataSource | None:
    """Records of an upload."""
    described = _ends(upload)
    if described is None:
        return None
    (how, names), prefix = described, upload.prefix
    without = (*(how.get("columns") or ()), time_choice(upload, names).get("time"))
    unit, name = upload.unit_and_name(names, record="trip", without=without)
    areas = frame_areas(prefix, how.get("crs", DEGREES))
    clock = period_form(upload, names, trips=True)
    stated = kinds_form(prefix, names, upload.key)
    if name is None or areas is None or clock is None or stated is None:
        return None
    flows = Flows(_with_kinds(areas.areas, **stated))
    fields = upload.source(flows, how | unit, name, clock, key=(areas, flows.domain))
    return DataSource(**fields, link={"areas": None if areas.uploaded else areas.source})


def _with_kinds(areas: Areas, kind: str | None = None, kinds: Any = None) -> Areas:
    return replace(areas, domain=replace(areas.domain, kinds=Kinds.of(kind, kinds)))


def _ends(upload: Upload) -> tuple[dict[str, Any], list[str]] | None:
    """Ask for the columns of both ends; arguments of :func:`dpviz.load`, and all columns."""
    given = st.segmented_control(
        "Both ends are given by",
        (COORDINATES, NAMES),
        default=COORDINATES,
        required=True,
        key=f"{upload.prefix}.ends",
        help="Four columns of coordinates, or two that name the finest areas of a file.",
    )
    if given == COORDINATES:
        return columns_form(upload, DIMS)
    names = [column.name for column in upload_columns(upload.path, upload.table)]
    chosen = [
        place.selectbox(
            label,
            names,
            index=None,
            placeholder="Choose a column",
            key=f"{upload.prefix}.end.{label}.{upload.key}",
        )
        for place, label in zip(st.columns(2), ("Origin", "Destination"), strict=True)
    ]
    if None in chosen:
        st.info("Choose the columns of origin and destination.", icon=":material/rule:")
        return None
    return {"columns": tuple(map(str, chosen))}, names


def show_frame(prefix: str, source: DataSource) -> None:
    """Show the public areas, before a release exists."""
    flows = source.data.flows

    def draw() -> Any:
        return frame_scene(flows)

    map_view(cached(f"{prefix}.frame", source.key, draw), key=f"{prefix}.frame.map")
