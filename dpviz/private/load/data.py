"""The entry point of the loading room: from any source to a handle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from itertools import chain
from typing import Any, Literal, cast, overload

import numpy as np

from dpviz.checks import NUMPY_ERRORS, flag, require, texts
from dpviz.datasets.geography import CITY
from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.private.flows import FlowData
from dpviz.private.handle import DataHandle, Handle
from dpviz.private.ledger.names import checked_name
from dpviz.private.load.flows import read_flows
from dpviz.private.load.notation import OPTIONS, with_notation
from dpviz.private.load.roads import city_paths, city_trips, read_trips, synthetic
from dpviz.private.load.selection import Selection
from dpviz.private.load.sequences import city_sequences, read_places, read_sequences
from dpviz.private.load.source import source_of
from dpviz.private.load.sources import read_points
from dpviz.private.load.tally import Tally
from dpviz.private.roads import RoadData
from dpviz.private.sequences import SequenceData
from dpviz.progress import Progress
from dpviz.releases.flows.frame import Flows
from dpviz.releases.roads.graph_file import city
from dpviz.roads.graph import RoadGraph
from dpviz.roads.steps import Steps
from dpviz.sequences.alphabet import Alphabet

TIMES = ("period", "every", "zone", "cycle")
"""Options that define steps of time, besides their column."""

ARGUMENTS = {
    "points": ("columns", "crs", "bits", "progress", "per", *OPTIONS),
    "places in time": ("columns", "crs", "time", "side", "gap", "neighbours", *OPTIONS),
    "sequences of symbols": ("columns", "drop_unknown"),
    "trips": ("columns", "crs", "drop_unknown", "time", *TIMES, *OPTIONS),
    "flows": ("columns", "crs", "time", *TIMES, *OPTIONS),
}
"""Forms of a source's records, and the arguments of each that not all forms take."""

PARTICULAR = frozenset(chain(*ARGUMENTS.values()))

BUILT_IN = {
    "places in time": ("side", "gap", "neighbours"),
    "trips": ("steps",),
}
"""Arguments that the built-in data sets take."""

_NEEDED = {"places in time": "the box or an Alphabet", "trips": "the RoadGraph"}


# The signature at the end lists the options of all kinds of data.
@overload
def load(source: Any, domain: RoadGraph, **options: Any) -> RoadData: ...
@overload
def load(source: Any, domain: Flows, **options: Any) -> FlowData: ...
@overload
def load(source: Any, domain: Alphabet, **options: Any) -> SequenceData: ...
@overload
def load(
    source: Any, domain: RoadGraph | None = None, *, kind: Literal["roads"], **options: Any
) -> RoadData: ...
@overload
def load(
    source: Any,
    domain: Domain | Alphabet | None = None,
    *,
    kind: Literal["sequences"],
    **options: Any,
) -> SequenceData: ...
@overload
def load(
    source: Any, domain: Domain | None = None, *, kind: Literal["points"] = ..., **options: Any
) -> DataHandle: ...
@np.errstate(**NUMPY_ERRORS)  # type: ignore[misc]
def load(
    source: Any,
    domain: Domain | Alphabet | RoadGraph | Flows | None = None,
    *,
    kind: str | None = None,
    columns: Sequence[str] | None = None,
    crs: str | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
    per: str | None = None,
    public: bool | None = None,
    name: str | None = None,
    table: str | None = None,
    bits: int | None = None,
    time: str | None = None,
    side: int | None = None,
    gap: float | None = None,
    neighbours: bool | None = None,
    drop_unknown: bool | None = None,
    period: Any = None,
    every: str | None = None,
    zone: str | tzinfo | None = None,
    cycle: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    time_format: str | None = None,
    order: str | None = None,
    progress: Progress | None = None,
) -> Handle[Any]:
    """Read points, flows, sequences or trips into a handle.

    Args:
        source: a path (CSV, also .gz, .xz, .zst or .zip; Parquet, Feather, GeoJSON, GeoPackage,
            Shapefile, also zipped; FlatGeobuf, GPX, KML; workbooks, .xlsx, .xlsm, .xls and .ods;
            JSON, an array of objects, or one object or feature per line), a table in memory
            (pandas, geopandas, polars, pyarrow), the URL of a database (with ``table``), or the
            name of a built-in data set: ``city`` for
            sequences and trips. Points also come from a folder of Parquet, and from a file or a
            folder of (cell, count) rows, the result of :func:`cell_sql`.
        domain: the public domain, chosen without looking at the records: a :class:`Domain`, the box
            of points or places; an :class:`Alphabet` for sequences of symbols; a :class:`RoadGraph`
            for trips; :class:`Flows`, pairs of areas, for flows. A built-in data set has its own.
            Records outside are dropped.
        kind: kind of data, "points", "sequences" or "roads"; by default the domain decides. With
            "sequences" and a box, each unit's places in time become sequences of cells.
        columns: coordinate columns in the domain's order, or in 2-D one column of points; by
            default the geometry, or columns recognised by their names (see ``handle.columns``).
            JSON declares no columns: name them here, or in the domain. For symbols, the column of
            lists; by default the only one, or one row per symbol with the columns ``sequence`` and
            ``symbol``, or text with one sequence per line. Trips have the columns ``trip`` and
            ``edge``, or a list column ``edges`` or ``nodes``; or records are events at places, like
            points, each counted on the nearest street. Flows have four columns, x and y of
            the start and of the end, or two, the names of its areas.
        crs: CRS of plain coordinate columns, and of geometry whose file does not state one; the
            domain's by default for columns, the graph's for events. It is an error if the file
            states another CRS.
        unit: column that names the privacy unit (a person), and records without an id in it are
            dropped; by default a record is the unit.
        max_per_unit: with ``unit``, the largest number of records kept per unit, chosen at random.
        per: ``day``, ``week`` or ``month``, for points with a unit, a time and a period: the bound
            holds for each unit's records of each such time on the clocks of the zone, and the times
            of the period are charged; see :meth:`Ledger.begin_calendar`.
        public: True if the owner declares every record public; false for files by default.
        name: public name of the data set, of letters, digits, spaces and ``. _ -``; by default the
            file's name without its ending, or the table's, with ``_`` for other characters.
        table: name of a table of a database (``postgresql://…``, ``duckdb:///FILE``,
            ``spark://…``), a layer of a GeoPackage, or a sheet of a workbook.
        bits: points are moved to a public grid of 2^bits steps per axis. Folders and tables always
            are: 16 in 2-D, 10 in 4-D by default. Other sources keep the domain's own lattice.
        time: column of the time of a place, or of the start of a trip. For trips give ``every``
            and ``period`` or ``cycle``: each trip is counted in the step in which it starts.
        side: for places, number of cells along each axis of the public grid; 8 by default.
        gap: for places, the session gap in hours; a longer gap begins a new sequence. Default: 12.
        neighbours: for places, allow only steps to a touching cell; cut sequences at other steps.
        drop_unknown: drop symbols that the alphabet lacks, or edges that the graph lacks, instead
            of the whole record. Without it, such a record is an error if the data are public.
        period: for trips with time, the public start and end (exclusive).
        every: the public step, such as ``1h``.
        zone: zone of times that state none, such as ``Europe/Berlin``; UTC by default.
        cycle: ``day`` or ``week``: steps divide the time since its last beginning.
        decimal: the decimal mark of numbers in text, ``.`` or ``,``; a point by default, and in
            text whose fields semicolons divide a point or a comma.
        thousands: the mark between groups of three digits, such as ``,``; none by default, so that
            ``1,250`` is no number.
        time_format: notation of times: ``iso``, ``us`` (03/31/2024, perhaps with 10:00 PM or
            22:00), ``eu`` (31/03/2024), ``seconds`` or ``milliseconds`` since 1970 UTC, ``excel``
            (days since 1899-12-30 in the zone), or a pattern of strptime. By default text is
            ISO 8601, and a number in a column of numbers is seconds.
        order: order of the coordinates in one column of text, ``lat,lon`` or ``lon,lat``.
        progress: called while an engine counts points; raise an exception to cancel.

    Raises:
        DataError: the source cannot be read as this kind, or an argument is for another kind.
        BudgetError: the name is invalid in the ledger.

    >>> import pyarrow as pa
    >>> walks = pa.table({"walk": [["home", "work"], ["home", "shop"]]})
    >>> load(walks, Alphabet(("home", "work", "shop")), name="walks")
    SequenceData('walks', sensitive, 3 symbols)
    >>> load("city", kind="roads")
    RoadData('city', public, 11,105 edges)
    """
    columns = None if columns is None else texts(columns, "columns", DataError)
    words = {"unit": unit, "per": per, "crs": crs, "table": table, "time": time}
    for label, word in words.items():
        require(word, str | None, label, DataError)
    for label, yes in {"public": public, "drop_unknown": drop_unknown}.items():
        _ = yes is None or flag(yes, label, DataError)
    require(progress, Callable | None, "progress", DataError)
    given = dict(locals())  # the arguments by name
    require(domain, Domain | Alphabet | RoadGraph | Flows | None, "domain", DataError)
    form = _form(domain, kind)
    built_in = domain is None and isinstance(source, str) and source == CITY
    source = source_of(source, table, built_in=form == "points")
    if name is not None:
        name = checked_name(name)
    options: dict[str, Any] = {
        each: value for each, value in given.items() if each in PARTICULAR and value is not None
    }
    for each in options:
        if each not in ARGUMENTS[form]:
            able = ", or ".join(other for other, names in ARGUMENTS.items() if each in names)
            raise DataError(f"{each} goes with {able}, the data are {form}: leave it out")
    notation = {each: options[each] for each in OPTIONS if each in options}
    if form == "points" and "order" in notation:
        notation["columns"] = list(columns or ())
    options = with_notation(options)
    if form in ("trips", "flows"):
        frame = {each: options.pop(each, None) for each in ("time", *TIMES)}
        options["steps"] = Steps.of(**frame)
    if built_in and form in BUILT_IN:
        for each, value in {**options, "unit": unit, "name": name, "table": table}.items():
            if value is not None and each not in BUILT_IN[form]:
                raise DataError(f"{each}={value!r} is not for the built-in data: leave it out")
    if built_in and form == "places in time":
        return city_sequences(max_per_unit=max_per_unit, public=public is not False, **options)
    if built_in and form == "trips":
        steps = options["steps"]
        return synthetic(CITY, city(), city_paths(), steps) if steps is not None else city_trips()
    options |= {"unit": unit, "max_per_unit": max_per_unit, "name": name, "table": table}
    stated = {"notation": notation} if notation else {}
    if form == "points":
        data = read_points(source, Selection(cast(Domain, domain), public=public, **options))
        data.facts |= stated
        return data
    if domain is None:
        raise DataError(
            f"{form} need a domain: give {_NEEDED[form]}, chosen without looking at the records"
        )
    readers = {"places in time": read_places, "trips": read_trips, "flows": read_flows}
    read: Any = readers.get(form, read_sequences)
    tally = Tally()
    handle: Handle[Any] = read(source, domain, public=bool(public), counts=tally, **options)
    handle.tally = tally if handle.public else None
    handle.facts |= stated
    return handle


def _form(domain: Domain | Alphabet | RoadGraph | Flows | None, kind: str | None) -> str:
    """The form of the source's records: a key of `ARGUMENTS`."""
    stated = {RoadGraph: "roads", Alphabet: "sequences", Flows: "flows"}.get(type(domain))
    if kind not in ("points", "sequences", "roads", None):
        raise DataError(f"no data of kind {kind!r}: give points, sequences or roads")
    if stated is not None and kind not in (stated, None):
        raise DataError(f"a domain of {stated}, and kind={kind!r}: leave out the kind")
    if isinstance(domain, Domain) and kind == "roads":
        raise DataError("trips need a road graph, not a box: give domain=dpviz.read_graph(…)")
    if stated == "sequences":
        return "sequences of symbols"
    if stated == "flows":
        return stated
    return {"sequences": "places in time", "roads": "trips"}.get(kind or stated or "", "points")
