"""The columns of a table to read, decided by its schema and declared options alone: public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpviz.domain import Domain, default_columns
from dpviz.domain.attributes import Kinds, Values
from dpviz.domain.crs import DEGREES
from dpviz.errors import DataError
from dpviz.private.load.cell_points import grid_of
from dpviz.private.load.columns import shown
from dpviz.private.load.names import WKT, recognised_columns, wkt_column
from dpviz.private.load.notation import PLAIN, Notation
from dpviz.private.load.projection import transformer
from dpviz.private.load.selection import Selection
from dpviz.private.load.tables.base import TEXTS, Table, column_list, pick


@dataclass(frozen=True)
class Layout:
    """The columns to read and how to read them: decided by the schema alone, so public.

    ``columns``: coordinate columns in the domain's order; or one column of points; empty if the
    geometry holds the points.
    """

    columns: tuple[str, ...]
    crs: str
    unit: str | None = None
    time: str | None = None
    kinds: Kinds | None = None
    values: Values | None = None
    notation: Notation = PLAIN

    @property
    def extra(self) -> tuple[str, ...]:
        """Columns beside the coordinates."""
        attributes = (each.column for each in (self.kinds, self.values) if each is not None)
        return (*(each for each in (self.unit, self.time) if each is not None), *attributes)

    @property
    def words(self) -> str:
        """Names of the coordinate columns, or "the geometry", for messages."""
        return ", ".join(self.columns) or "the geometry"


def layout(table: Table, chosen: Selection) -> Layout:
    """Choose the columns to read from a table's schema.

    Raises DataError: no domain, a missing column, no coordinates among the columns, an unknown CRS,
    or a notation for a column that is not read.
    """
    domain, notation, columns = chosen.box(table.name), chosen.notation, chosen.columns
    domain, time = domain.without_time, domain.time or chosen.time
    names = (
        tuple(columns)
        if columns is not None
        else _coordinate_names(table, domain, bool(chosen.public))
    )
    alone = domain.dims == 2 and len(names) == 1
    if len(names) not in (0, domain.dims) and not alone:
        raise DataError(f"{len(names)} columns for {domain.dims} dimensions: name one for each")
    geometry = [each.name for each in table.columns if each.kind == "geometry"]
    if alone and names[0] in (*geometry, *([] if table.declares else ["geometry"])):
        names = ()
    alone = domain.dims == 2 and len(names) == 1
    if notation.order is not None and not alone:
        raise DataError(
            f"order={notation.order!r} requires a single column of points: name only that one "
            f"(--columns)"
        )
    if notation.time_format is not None and time is None:
        raise DataError(
            f"time_format={notation.time_format!r} requires a column of times: name it too (time)"
        )
    how = Layout(names, "", chosen.unit, time, domain.kinds, domain.values, notation)
    if table.declares and table.columns:
        wanted = [*names, *how.extra]
        pick(table.columns, wanted, table.name, first_line=table.first_line)
        _refuse_other_kinds(table, names, how, alone)
    cells = alone and notation.order is None and grid_of(names[0]) is not None
    if alone and notation.order is None and not (cells or _holds_wkt(table, names[0])):
        raise DataError(
            f"column {shown(names[0])} holds both coordinates: give their order with order=… "
            f"(--order), lon,lat or lat,lon, or name two columns"
        )
    source_crs = table.crs_of(names, chosen.crs or (domain.crs if names else None))
    source_crs = DEGREES if cells else source_crs
    if source_crs is None:
        raise DataError(
            f"{table.name} does not state its CRS: name it with crs=… (--crs), such as EPSG:4326"
        )
    if transformer(source_crs, domain.crs) is not None and domain.dims % 2:
        raise DataError(f"{domain.dims} dimensions cannot change their CRS: project them first")
    return replace(how, crs=source_crs, notation=replace(notation, semicolons=table.semicolons))


def _holds_wkt(table: Table, name: str) -> bool:
    """True if the type or the name of a column marks it as WKB or WKT."""
    kinds = {each.name: each.kind for each in table.columns}
    return kinds.get(name) == "binary" or name.strip().casefold() in WKT


def _refuse_other_kinds(table: Table, names: Sequence[str], how: Layout, alone: bool) -> None:
    """Raise if a column is declared as another type than the one needed, and cannot be parsed."""
    kinds = {each.name: each.kind for each in table.columns}
    if alone:
        held = TEXTS if grid_of(names[0]) is None else (*TEXTS, "number")
        if kinds[names[0]] not in held:
            raise DataError(
                f"column {shown(names[0])} of {table.name} holds no points: name two columns of "
                "numbers, or one of WKT, WKB, H3 cells or geohashes"
            )
        names = ()
    value = () if how.values is None else (how.values.column,)
    others = {"binary": "bytes", "time": "times"}
    if not how.notation.declared:
        others["string"] = "text"
    for name in (*names, *value):
        if declared := others.get(kinds[name]):
            raise DataError(
                f"column {shown(name)} of {table.name} is declared as {declared}, not as numbers: "
                "choose another, or write it as numbers"
            )


def _coordinate_names(table: Table, domain: Domain, public: bool) -> tuple[str, ...]:
    """Names of the coordinate columns; empty if the geometry holds the points.

    For public data only, the first record shows whether lines of JSON are features.
    """
    existing = table.columns
    stated = public or table.declares or table.holds_features
    if domain.dims == 2 and stated and any(column.kind == "geometry" for column in existing):
        return ()
    if not table.declares:  # records must not decide the columns
        if domain.columns == default_columns(domain.dims):  # neither declared nor to be guessed
            raise DataError(
                f"{table.name} does not declare its columns: name those of the "
                f"coordinates with columns=… (--columns), such as {', '.join(domain.columns)}, or "
                "geometry, if it holds features"
            )
        return domain.columns
    names = recognised_columns(existing, domain)
    if names is not None:
        return names
    wkt = wkt_column(existing) if domain.dims == 2 else None
    if wkt is not None:
        return (wkt,)
    cells = [column.name for column in existing if grid_of(column.name) is not None]
    if domain.dims == 2 and len(cells) == 1:
        return (cells[0],)
    if not existing:  # an empty file is an empty data set
        return domain.columns
    remedy = f"name {domain.dims} of {column_list(existing)}"
    whole = ", or one that holds whole points with order=… (--order)" if domain.dims == 2 else ""
    if table.first_line:  # the first line may be a record: not shown
        remedy = (
            f"name {domain.dims} of those in its first line with columns=… (--columns){whole}, or "
            "add a header line"
        )
    raise DataError(
        f"{table.name} has no columns called {', '.join(domain.columns)} or the like: {remedy}"
    )
