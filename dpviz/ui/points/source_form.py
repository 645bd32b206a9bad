"""Choose a data set: a built-in one, or one's own file with its columns and its area."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.build import (
    DataHandle,
    check_points,
    load,
    public_extent,
    recognised_columns,
)
from dpviz.crs import doubt, known_crs, require_area
from dpviz.datasets import DATASETS
from dpviz.domain import Domain
from dpviz.errors import DataError, DpvizError
from dpviz.ui.points.areas import areas, box_of
from dpviz.ui.shared import permalink
from dpviz.ui.shared.account import dataset_name
from dpviz.ui.shared.owners_facts import owners_facts
from dpviz.ui.shared.releases import release_instead
from dpviz.ui.shared.sources import read_once
from dpviz.ui.shared.tables import offered as offered_tables
from dpviz.ui.shared.tables import table_handle
from dpviz.ui.shared.text import plain
from dpviz.ui.shared.unit_form import unit_form
from dpviz.ui.shared.uploads import upload_columns, upload_path

UPLOAD = "Your own file"
TYPES = [
    "csv", "tsv", "txt", "gz", "zip", "parquet", "geoparquet", "geojson", "json", "jsonl", "gpkg",
    "xlsx",
]  # fmt: skip
TABLES = ["csv", "tsv", "txt", "gz", "zip", "jsonl", "xlsx", "parquet"]
"""Endings of files of trips."""
PLAIN = {".csv", ".tsv", ".txt", ".gz", ".jsonl", ".xlsx"}
"""Endings of files that have no geometry."""
SIDES = ("west", "south", "east", "north")
AXES = range(4)
AXES_LABELS = {
    2: ("Longitude / x", "Latitude / y"),
    4: ("Pickup longitude", "Pickup latitude", "Drop-off longitude", "Drop-off latitude"),
}


@dataclass(frozen=True)
class Source:
    """A chosen data set: an opaque handle, and a key that changes whenever the choice does."""

    handle: Any
    """None where a release was opened, of whose records nothing is known here."""
    title: str
    key: str
    backdrop: bool = False
    name: str | None = None
    """Of a built-in data set, for a permalink."""
    unit: str | None = None
    """The column of the privacy unit; None where each record is one."""

    @property
    def public(self) -> bool:
        """Whether its owner declares every record public."""
        return self.handle is not None and bool(self.handle.public)

    @property
    def data(self) -> Any:
        """The handle, by the name that sources of every kind have for it."""
        return self.handle

    @property
    def account(self) -> str:
        """The name of its account in the ledger."""
        return str(self.handle.names[0])


@st.cache_resource(show_spinner="Making the built-in city …", max_entries=8)
def built_in(name: str, public: bool = True) -> Any:
    """The handle of a built-in data set; synthetic, so that all visitors share it."""
    return load(name, public=public)


def source_form(
    prefix: str,
    dims: int,
    start: str | None,
    *,
    sensitive: bool = False,
    owner: bool = False,
    pane: Any = None,
    timed: bool = False,
) -> Source | None:
    """Selectors in the sidebar; None while a file of one's own is not described yet.

    Args:
        prefix: of the widgets' keys.
        dims: of the data sets on offer.
        start: the data set shown first.
        sensitive: whether a built-in data set is treated as sensitive at first.
        owner: all records are confidential.
        pane: of the area's form; beside the others by default.
        timed: whether data may have a time beside their place.
    """
    domains = {name: each.domain for name, each in DATASETS.items()}
    offered = [
        name for name, each in domains.items() if (each.place if timed else each).dims == dims
    ]
    tables = offered_tables(dims, sensitive=owner)
    options = [*offered, *tables, UPLOAD]
    permalink.missing("data", start, options, DATASETS[options[0]].title)
    chosen = st.selectbox(
        "Data",
        options,
        index=options.index(start) if start in options else 0,
        format_func=lambda name: (
            DATASETS[name].title if name in DATASETS else tables.get(name, name)
        ),
        key=f"{prefix}.data",
    )
    if chosen in DATASETS:
        st.caption(DATASETS[chosen].description)
        if owner:
            return _rehearsal(prefix, chosen)
        public = public_switch(prefix, "built-in", not sensitive)
        key = chosen if public else f"{chosen}|sensitive"
        handle = built_in(chosen, public)
        return Source(handle, DATASETS[chosen].title, key, backdrop=True, name=chosen)
    if chosen in tables:
        return _table(chosen, tables[chosen])
    return _upload(prefix, dims, owner, pane, timed)


def _table(name: str, title: str) -> Source | None:
    """A table that the owner of this server offers; its owner has chosen all there is to choose."""
    try:
        handle = table_handle(name)
    except DpvizError:  # its words are for the owner, who gets them from dpviz build
        st.error("This table cannot be read at the moment.", icon=":material/error:")
        return None
    kind = "already public" if handle.public else "confidential"
    st.caption(f"A table of this server’s owner, {kind}. Privacy unit: {plain(handle.unit)}.")
    return Source(handle, title, f"table|{name}")


def _rehearsal(prefix: str, name: str) -> Source:
    """A built-in data set, treated as an owner treats sensitive records."""
    data_set = DATASETS[name]
    unit, bound = unit_form(prefix, [data_set.unit] if data_set.unit else [])
    key = f"{name}|{unit}|{bound}"

    def read() -> DataHandle:
        return load(name, unit=unit, max_per_unit=bound, public=False)

    handle = read_once(f"{prefix}.rehearsal", key, read)
    return Source(handle, data_set.title, key, True, name, unit)


def public_switch(prefix: str, kind: str, public: bool) -> bool:
    """Whether the visitor declares the records public; a file is sensitive until they do."""
    words = {"sensitive": "confidential", "public": "already public"}
    answer = st.segmented_control(
        "These records are",
        list(words),
        default=list(words)[public],
        format_func=words.__getitem__,
        required=True,
        key=f"{prefix}.public.{kind}",
        help="Confidential: secure noise, every release is paid for, no exact number is shown. "
        "Already public: exact answers, errors and ε at will; nothing that is shown is private.",
    )
    return bool(answer == "public")


def _upload(prefix: str, dims: int, owner: bool, pane: Any, timed: bool) -> Source | None:
    file = st.file_uploader(
        "CSV (also .gz or .zip), Excel, JSON lines, Parquet, GeoParquet, GeoJSON, GeoPackage or "
        "zipped Shapefile",
        TYPES,
        key=f"{prefix}.file",
        help="Points, one record per row. The file stays in the memory of this server's process.",
    )
    public = False if owner else public_switch(prefix, "upload", False)
    if file is None:
        st.info("Choose a file to begin.", icon=":material/upload_file:")
        return None
    path = upload_path(f"{prefix}.file", file)
    try:
        return _described(prefix, path, file, public, dims, pane, timed)
    except DpvizError as error:
        st.error(plain(str(error).replace(path.name, "the file")), icon=":material/error:")
        return None


def _described(
    prefix: str, path: Path, file: Any, public: bool, dims: int, pane: Any, timed: bool
) -> Source | None:
    if release_instead(prefix, path, file):
        return None
    crs, chosen, names = columns_form(prefix, path, file.file_id, dims)
    unit, bound = (None, 1) if public else unit_form(prefix, names)
    name = dataset_name(prefix, Path(file.name).stem, public=public)
    with pane or nullcontext():
        bounds = public_box(prefix, path, chosen if dims == 2 else None, crs, public and dims == 2)
    clock = period_form(prefix, names, file.file_id) if timed else {}
    if bounds is None or clock is None:
        return None
    ends = dims // 2  # a trip has the same rectangle at both ends
    both = (*bounds[:2] * ends, *bounds[2:] * ends)
    domain = Domain.from_bounds(both, chosen or ("lon", "lat"), crs, **clock)
    checked_area(domain)
    key = f"{file.file_id}|{chosen}|{bounds}|{clock}|{crs}|{public}|{name}|{unit}|{bound}"

    def read() -> DataHandle:
        return load(
            path,
            domain,
            columns=chosen,
            crs=crs,
            unit=unit,
            max_per_unit=bound,
            public=public,
            name=name,
        )

    handle = read_once(prefix, key, read)
    owners_facts(
        prefix,
        lambda: check_points(path, domain, columns=chosen, crs=crs, unit=unit, max_per_unit=bound),
    )
    return Source(handle, Path(file.name).name, key, unit=unit)


def columns_form(
    prefix: str, path: Path, file_id: str, dims: int
) -> tuple[str, tuple[str, ...] | None, list[str]]:
    """Which columns of a file hold the coordinates.

    Returns:
        The CRS of plain columns, the chosen columns (None: the geometry of the file), and the names
        of all columns.

    Raises:
        DataError: the file has no columns.
    """
    columns = upload_columns(path)
    names = [column.name for column in columns]
    crs = st.text_input(
        "CRS of the coordinates",
        "EPSG:4326",
        key=f"{prefix}.crs",
        help="For plain columns. A file with geometry states its own.",
    )
    known_crs(crs)
    guess = recognised_columns(columns, Domain((0,) * dims, (1,) * dims, crs=crs))
    geometry = "(geometry of the file)"
    placed = dims == 2 and path.suffix not in PLAIN
    options = [geometry, *names] if placed else names
    if not options:
        raise DataError("the file has no columns: give a header row, then one record per row")
    place = {name: row for row, name in enumerate(options)}
    start = [place[name] for name in guess] if guess else [min(i, len(options) - 1) for i in AXES]
    sides = st.columns(2)
    picked = tuple(
        str(sides[axis % 2].selectbox(label, options, index=first, key=key))
        for axis, (label, first, key) in enumerate(
            (label, start[axis], f"{prefix}.{axis}.{file_id}")
            for axis, label in enumerate(AXES_LABELS[dims])
        )
    )
    return crs, None if geometry in picked else picked, names


def period_form(prefix: str, names: list[str], file_id: str) -> dict[str, Any] | None:
    """The column of the time and its public period; none, or None while it is missing."""
    with st.expander("Time", icon=":material/schedule:"):
        column = st.selectbox(
            "Column of the time",
            names,
            index=None,
            placeholder="None: places alone",
            key=f"{prefix}.time.{file_id}",
            help="ISO 8601 (UTC unless it says otherwise), dates, or seconds since 1970.",
        )
        if column is None:
            return {}
        st.caption(
            "The period is PUBLIC: choose it from what everybody knows (the year, the quarter), "
            "never from the records. Those outside are left out; so are those at its very end."
        )
        first, last = st.columns(2)
        start = first.text_input("From", key=f"{prefix}.from", placeholder="2024-01-01")
        end = last.text_input("To", key=f"{prefix}.to", placeholder="2025-01-01")
        every = st.segmented_control(
            "Move times to steps of", ["15min", "1h", "1d"], key=f"{prefix}.step"
        )
    if not start.strip() or not end.strip():
        st.info("Give the period: from, and to.", icon=":material/schedule:")
        return None
    found = {"time": str(column), "period": (start, end)}
    return found if every is None else {**found, "every": str(every)}


def public_box(
    prefix: str, path: Path, columns: tuple[str, ...] | None, crs: str, public: bool
) -> tuple[float, float, float, float] | None:
    """The public area, typed, or taken from public data; None while it is missing."""
    bounds = bounds_form(prefix)
    if public:
        st.caption("These records are already public, so the area may be taken from them.")
        if st.button("Use data extent", key=f"{prefix}.extent"):
            extent = public_extent(path, columns=columns, crs=crs)
            st.session_state[f"{prefix}.bounds.next"] = extent
            st.rerun()
    else:
        st.caption(
            "The area is PUBLIC: choose it from what everybody knows (the city, the country), "
            "never from the records. Those outside are left out."
        )
    if bounds is None:
        st.info(
            "Choose the area: type it, paste it, or draw it on the map.",
            icon=":material/crop_free:",
        )
        return None
    return bounds


def checked_area(domain: Domain) -> None:
    """Refuse an area outside its CRS's own, and warn of one that looks like a slip.

    Raises:
        DomainError: it does not touch the area of use.
    """
    require_area(domain)
    line = doubt(domain)
    if line:
        st.warning(plain(f"Is this the area? {line}"), icon=":material/wrong_location:")


def bounds_form(prefix: str) -> tuple[float, float, float, float] | None:
    """The area by name, as pasted text, or by its four sides; None while one is missing."""
    st.markdown("**Area** (public)")
    st.selectbox(
        "Search a country, state or city",
        list(areas()),
        index=None,
        placeholder="Type a name",
        key=f"{prefix}.area",
        on_change=_named_area,
        args=(prefix,),
    )
    st.text_input(
        "Or paste a bounding box",
        key=f"{prefix}.pasted",
        placeholder="west, south, east, north",
        on_change=_pasted_area,
        args=(prefix,),
    )
    wrong = st.session_state.pop(f"{prefix}.pasted.wrong", None)
    if wrong:
        st.error(plain(wrong), icon=":material/error:")
    drawn = st.session_state.pop(f"{prefix}.bounds.next", None)
    if drawn is not None:
        for side, value in zip(SIDES, drawn, strict=True):
            st.session_state[f"{prefix}.bounds.{side}"] = round(float(value), 6)
    values = [
        st.number_input(side, value=None, format="%.6f", key=f"{prefix}.bounds.{side}")
        for side in SIDES
    ]
    if any(value is None for value in values):
        return None
    west, south, east, north = (float(value or 0.0) for value in values)
    return west, south, east, north


def _named_area(prefix: str) -> None:
    chosen = st.session_state[f"{prefix}.area"]
    if chosen is not None:
        set_area(prefix, areas()[chosen])


def _pasted_area(prefix: str) -> None:
    text = st.session_state[f"{prefix}.pasted"]
    if text.strip():
        try:
            set_area(prefix, box_of(text))
        except DpvizError as error:
            st.session_state[f"{prefix}.pasted.wrong"] = str(error)


def set_area(prefix: str, bounds: tuple[float, float, float, float]) -> None:
    """Fill the form in the next run, and let the map of the area go there."""
    st.session_state[f"{prefix}.bounds.next"] = bounds
    st.session_state[f"{prefix}.bounds.seen"] = bounds
