"""Choice of sequences: the built-in city's, uploaded places in time, or symbols."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dpviz.datasets import DATASETS
from dpviz.datasets.geography import CITY
from dpviz.domain import Domain
from dpviz.private.load.data import load
from dpviz.private.load.names import person_columns
from dpviz.private.load.sequences import has_header
from dpviz.private.load.survey import public_extent
from dpviz.private.sequences import SequenceData
from dpviz.releases.sequences.cells import Cells, cells_of
from dpviz.render.projection import to_degrees
from dpviz.sequences.alphabet import alphabet_of
from dpviz.ui.points.columns_form import columns_form, time_format_form
from dpviz.ui.sequences.cells_form import SequenceRules, cutting_form
from dpviz.ui.shared.area_form import checked_area, public_box
from dpviz.ui.shared.panels import ErrorsShown
from dpviz.ui.shared.releases import Opened
from dpviz.ui.shared.sources import DataSource, NoRecords
from dpviz.ui.shared.unit_form import protection_note
from dpviz.ui.shared.upload_form import Upload, data_choice, public_switch, read_cached, upload_form
from dpviz.ui.shared.uploads import upload_columns

PLACES, SYMBOLS = "places", "symbols"
TITLES = {
    CITY: "Synthetic city, 5,000 people",
    PLACES: "Your own places in time",
    SYMBOLS: "Your own lists of symbols",
}
COLUMN = "Column of sequences"
WHEN = ("time", "date", "when", "start")
"""Words in names of columns that suggest a time."""

PERSONS = ("number", "text", "string", "binary")
TIMES = ("number", "text", "string", "time", "instant")
"""Kinds of columns that can name a person, or hold a time."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SequenceSource(DataSource):
    """Sequences behind a handle.

    ``places`` are the boxes of the symbols in degrees, (|I|, 4); None where they are no places.
    """

    places: NDArray[np.float64] | None = None


def opened_sequences(opened: Opened) -> SequenceSource:
    """Source of a release that was opened."""
    cells = cells_of(opened.release.header)
    places = None if cells is None else _boxes(cells)
    title = opened.title
    return SequenceSource(data=NoRecords(), key=opened.key, title=title, places=places)


@st.cache_resource(show_spinner="Following the people of the built-in city …", max_entries=8)
def built_in(cutting: SequenceRules) -> SequenceData:
    """Built-in synthetic sequences: public, and shared by all visitors."""
    return _read(cutting, public=True)


def _read(cutting: SequenceRules, *, public: bool) -> SequenceData:
    return load(
        CITY,
        kind="sequences",
        side=cutting.side,
        gap=cutting.gap,
        neighbours=cutting.neighbours,
        max_per_unit=cutting.bound,
        public=public,
    )


def sequence_source(prefix: str) -> SequenceSource | None:
    """Selectors of data; None while an uploaded file is not fully described."""
    chosen = data_choice(prefix, "Sequences", TITLES)
    if chosen == CITY:
        return _city(prefix)
    if chosen == PLACES:
        return upload_form(
            prefix,
            _places,
            label="A file of points",
            help="One place per row, with columns for the person and the time.",
        )
    return upload_form(
        prefix,
        _symbols,
        label="Text with a sequence a line, CSV, or Parquet",
        help="Symbols between spaces or commas; in CSV, a column of them; in Parquet, of lists.",
        place="symbols",
    )


def _city(prefix: str) -> SequenceSource | None:
    st.caption("Invented people at home, at work and at leisure (synthetic: no real places).")
    public = public_switch(prefix, "built-in")
    cutting = cutting_form(prefix, public)
    key = f"{CITY}|{cutting}|{public}"
    with ErrorsShown():
        data = (
            built_in(cutting)
            if public
            else read_cached(f"{prefix}.rehearsal", key, lambda: _read(cutting, public=False))
        )
        places = _boxes(Cells(DATASETS["persons"].domain, cutting.side))
        title = TITLES[CITY]
        return SequenceSource(
            data=data, key=key, title=title, link=cutting.link(), places=places, backdrop=True
        )
    return None


def _boxes(cells: Cells) -> NDArray[np.float64]:
    return to_degrees(cells.boxes, cells.domain.crs)


def _places(upload: Upload) -> SequenceSource | None:
    coordinates = columns_form(upload, 2)
    if coordinates is None:
        return None
    (how, names), prefix = coordinates, upload.prefix
    crs, columns = how["crs"], how["columns"] or ()
    free = [each for each in upload_columns(upload.path, upload.table) if each.name not in columns]
    times = [each.name for each in free if each.kind in TIMES]
    dated = [each.name for each in free if each.kind in ("time", "instant")]
    like = [name for word in WHEN for name in times if word in name.lower()]
    when = _column("Time", times, [*dated, *like], f"{prefix}.time.{upload.key}")
    people = [each.name for each in free if each.kind in PERSONS and each.name != when]
    person = _column("Person", people, person_columns(people), f"{prefix}.person.{upload.key}")
    if when is None or person is None:
        st.info("Choose the columns of the time and of the person.", icon=":material/rule:")
        return None
    form = time_format_form(upload, when)
    extent = partial(public_extent, upload.path, **how)
    bounds = public_box(prefix, crs, extent if upload.public else None)
    cutting = cutting_form(prefix, upload.public)
    if not upload.public:
        protection_note(person, cutting.bound, "sequence")
    name = upload.name(names, person, "sequences")
    if bounds is None or form is None or name is None:
        return None
    domain = Domain(bounds[:2], bounds[2:], columns if len(columns) == 2 else ("lon", "lat"), crs)
    checked_area(domain)
    how |= {"unit": person, "max_per_unit": cutting.bound, "time": when, "gap": cutting.gap, **form}
    rules: dict[str, Any] = {
        "kind": "sequences",
        "side": cutting.side,
        "neighbours": cutting.neighbours,
    }
    fields = upload.source(domain, how, name, **rules)
    boxes = _boxes(Cells(domain, cutting.side))
    return SequenceSource(**fields, places=boxes)


def _symbols(upload: Upload) -> SequenceSource | None:
    prefix, path = upload.prefix, upload.path
    text = st.text_area(
        "Public alphabet",
        key=f"{prefix}.alphabet",
        placeholder="1..17, or home, work, shop",
        help="Every symbol that may occur, chosen without looking at the sequences: a range of "
        "whole numbers, or words between commas.",
    )
    drop = st.checkbox("Skip symbols that are not in the alphabet", key=f"{prefix}.drop")
    column = None
    packed = upload.table is not None or path.suffix == ".parquet" or has_header(path)
    names = [each.name for each in upload_columns(path, upload.table)] if packed else []
    if has_header(path) and not {"sequence", "symbol"} <= set(names):
        key = f"{prefix}.column.{upload.file.file_id}"
        column = st.selectbox(COLUMN, names, index=None, key=key, placeholder="Choose")
        if column is None:
            st.info("Choose the column that holds the symbols.", icon=":material/table:")
            return None
    unit, name = upload.unit_and_name(names, "sequences", start=5, without=(column,))
    words = text.strip()
    if not words:
        st.info("Name the public symbols, for instance 1..17.", icon=":material/abc:")
    if not words or name is None:
        return None
    if not re.fullmatch(r"-?\d{1,9}\.\.-?\d{1,9}", words):
        # Without a comma a word would be taken for the name of a file on this server.
        words = words.replace("\n", ",") + ","
    how = {**unit, "drop_unknown": drop, "columns": column and [column]}
    fields = upload.source(alphabet_of(words), how, name, key=words)
    return SequenceSource(**fields)


def _column(label: str, able: list[str], likely: list[str], key: str) -> str | None:
    """Ask for one of the columns that can hold something; it starts with a likely one."""
    start = able.index(likely[0]) if likely else None
    return st.selectbox(label, able, index=start, placeholder="Choose a column", key=key)
