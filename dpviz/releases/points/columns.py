"""Columns of a release of points: GeoParquet, a row per node; and as a GeoDataFrame."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.domain.crs import known_crs
from dpviz.errors import ReleaseError
from dpviz.files import arrow
from dpviz.lazy import geopandas, pa, shapely
from dpviz.releases.files import geo_metadata, identifiers, numbers, with_header
from dpviz.releases.header import Header
from dpviz.releases.points.sums import Sums
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int

NEEDED = ("lo", "hi", "parent", "count", "variance", "assumed", "kind", "sum", "sum_variance")
"""Columns that reading needs where they are; the others follow from them."""


class Columns(NamedTuple):
    """What a file says of each node.

    Attributes:
        nodes: of all kinds.
        kind: its place in the domain's list; None where there are no kinds.
        sums: of its values; None where there are none.
    """

    nodes: Decomposition
    kind: Int | None = None
    sums: Sums | None = None


def to_columns(domain: Domain, content: Columns, header: Header) -> pa.Table:
    """A row per node, breadth-first; in 2-D GeoParquet 1.1 with one rectangle per node."""
    nodes = content.nodes
    columns: dict[str, Any] = {}
    metadata = {}
    if domain.place.dims == 2:
        columns["geometry"] = _rectangles_wkb(domain, nodes)
        metadata["geo"] = geo_metadata(["Polygon"], domain.crs, domain.place.bounds)
    columns |= {name: pa.array(each) for name, each in times(domain, nodes).items()}
    for name, each in named_kinds(domain, content.kind).items():
        columns[name] = pa.array(each.tolist(), pa.string())
    for name in ("lo", "hi"):
        flat = arrow.numbers(getattr(nodes, name).ravel())
        columns[name] = pa.FixedSizeListArray.from_arrays(flat, domain.dims)
    for name in ("level", "parent", "first_child", "n_children", "leaf", "count", "variance"):
        columns[name] = arrow.numbers(getattr(nodes, name))
    if nodes.assumed is not None:
        columns["assumed"] = arrow.numbers(nodes.assumed)
    if content.sums is not None:
        columns["sum"] = arrow.numbers(content.sums.sum)
        columns["sum_variance"] = arrow.numbers(content.sums.variance)
    return with_header(columns, "points", header, {"domain": domain.to_dict()}, **metadata)


def from_columns(table: pa.Table, stated: dict[str, Any]) -> tuple[Domain, Columns]:
    """The inverse of :func:`to_columns`; what the header says of it is taken out of ``stated``.

    Raises:
        ReleaseError: a column that is missing, of another type, or no tree.
    """
    domain = Domain.from_dict(stated.pop("domain"))
    boxes = {name: numbers(table, name, domain.dims) for name in ("lo", "hi")}
    rest = {name: numbers(table, name) for name in ("parent", "count", "variance")}
    if "assumed" in table.column_names:
        rest["assumed"] = numbers(table, "assumed")
    sums = None
    if domain.values is not None:
        sums = Sums(*(numbers(table, name).astype(np.float64) for name in ("sum", "sum_variance")))
    return domain, Columns(Decomposition(**boxes, **rest), _kinds(table, domain), sums)


def _kinds(table: pa.Table, domain: Domain) -> Int | None:
    """The kind of each node, as a place in the domain's list; None without kinds."""
    if domain.kinds is None:
        return None
    place = {name: number for number, name in enumerate(domain.kinds.names)}
    named = identifiers(table, "kind").tolist()
    unknown = set(named) - set(place)
    if unknown:
        raise ReleaseError(f"kind {min(map(repr, unknown))} is not in the header's list")
    return np.array([place[name] for name in named], dtype=np.int64)


def named_kinds(domain: Domain, kind: Int | None) -> dict[str, NDArray[Any]]:
    """The column ``kind`` of nodes by name; none without kinds."""
    if domain.kinds is None or kind is None:
        return {}
    return {"kind": np.array(domain.kinds.names, dtype=object)[kind]}


def to_geopandas(domain: Domain, content: Columns) -> geopandas.GeoDataFrame:
    """One row per node: rectangle, level, parent, leaf, count, variance, noise sd; kind, sum.

    Raises:
        ReleaseError: the release is not 2-D.
    """
    if domain.place.dims != 2:
        raise ReleaseError(
            f"a {domain.dims}-D release has no rectangles on a map: export it as .csv"
        )
    nodes = content.nodes
    low = domain.to_coordinates(nodes.lo)
    high = domain.to_coordinates(nodes.hi)
    columns: dict[str, NDArray[Any]] = {
        name: getattr(nodes, name) for name in ("level", "parent", "leaf", "count", "variance")
    }
    return geopandas.GeoDataFrame(
        columns
        | {"noise_sd": np.asarray(np.sqrt(nodes.variance))}
        | times(domain, nodes)
        | named_kinds(domain, content.kind)
        | sum_columns(content.sums),
        geometry=shapely.box(low[:, 0], low[:, 1], high[:, 0], high[:, 1]),
        crs=known_crs(domain.crs),
    )


def sum_columns(sums: Sums | None) -> dict[str, NDArray[Any]]:
    """The columns ``sum`` and ``sum_sd`` of nodes; none without values."""
    return {} if sums is None else {"sum": sums.sum, "sum_sd": np.sqrt(sums.variance)}


def times(domain: Domain, nodes: Decomposition) -> dict[str, NDArray[Any]]:
    """Start ``t0`` and end ``t1`` of each node to the millisecond, UTC; none without time.

    Of a cycle they are hours since its beginning.
    """
    if domain.time is None:
        return {}
    ends = {"t0": domain.to_coordinates(nodes.lo), "t1": domain.to_coordinates(nodes.hi)}
    return {name: on_axis(each[:, -1], domain.cycle) for name, each in ends.items()}


def on_axis(seconds: Float, cycle: str | None) -> NDArray[Any]:
    """Places on the axis of time as files hold them: to the millisecond, or hours of a cycle."""
    return np.rint(seconds * 1e3).astype("datetime64[ms]") if cycle is None else seconds / 3_600


def _rectangles_wkb(domain: Domain, nodes: Decomposition) -> pa.BinaryArray:
    """Well-known binary of the node rectangles, counter-clockwise, without importing shapely.

    At most 8 million nodes of 93 bytes: offsets of 32 bits suffice.
    """
    low = domain.to_coordinates(nodes.lo)
    high = domain.to_coordinates(nodes.hi)
    ring = np.dtype(
        [
            ("order", "u1"),
            ("kind", "<u4"),
            ("rings", "<u4"),
            ("points", "<u4"),
            ("xy", "<f8", (5, 2)),
        ]
    )
    rows = np.zeros(len(low), dtype=ring)
    rows["order"], rows["kind"], rows["rings"], rows["points"] = 1, 3, 1, 5
    west, south, east, north = low[:, 0], low[:, 1], high[:, 0], high[:, 1]
    for corner, (x, y) in enumerate(
        [(west, south), (east, south), (east, north), (west, north), (west, south)]
    ):
        rows["xy"][:, corner, 0], rows["xy"][:, corner, 1] = x, y
    # All of one length, so that the bytes stay where they are.
    ends = np.arange(len(rows) + 1, dtype=np.int64) * ring.itemsize
    packed = pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(rows)
    return pa.Array.from_buffers(pa.binary(), len(rows), [None, *packed])
