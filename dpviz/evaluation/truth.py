"""Exact answers, inside the wall and for public data only.

Every function that takes a handle raises PrivacyError where its data set is not declared public.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.domain import Domain
from dpviz.errors import ParameterError
from dpviz.lazy import shapely
from dpviz.private.areas import AreaData
from dpviz.private.areas import exact_areas as exact_areas
from dpviz.private.handle import DataHandle
from dpviz.private.index import Layers, PointIndex
from dpviz.private.roads import RoadData
from dpviz.private.roads import exact_visits as exact_visits
from dpviz.queries.workloads import Workload
from dpviz.releases.areas.partition import Areas
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.region_count import Regions
from dpviz.trees.lattice import Codes, Float, Int

LABELS = ("columns", "crs")
"""Fields of a domain that change no record's place in it."""


def exact_counts(handle: DataHandle, rects: ArrayLike) -> Int:
    """Exact records in rectangles (snapped as queries are), int64 of shape (q,)."""
    handle.require_public()
    return handle._index.box_counts(*handle.domain.boxes(rects))


def of_one_kind(handle: DataHandle, kind: str) -> DataHandle:
    """The public records of one kind, for exact answers on them.

    Raises:
        DomainError: it is not listed.
    """
    handle.require_public()
    domain = handle.domain
    at = 0 if domain.kinds is None else domain.kinds.number(kind)
    index = handle._layers.counts[at]
    return DataHandle(handle.name, replace(domain.of_one_kind, values=None), index, public=True)


def without_noise(handle: DataHandle, release: PointRelease) -> PointRelease:
    """The cells of a release with the exact counts of public records in place of its estimates."""
    handle.require_public()
    nodes = release.nodes
    counts = handle._index.box_counts(nodes.lo, nodes.hi).astype(np.float64)
    return replace(release, nodes=nodes.replace(count=counts))


def exact_by_area(handle: DataHandle, areas: Areas) -> Int:
    """Exact records in every area of a partition of the handle's box, int64 (n,)."""
    return exact_areas(AreaData(handle, areas))


def exact_in_regions(handle: DataHandle, regions: Regions) -> Int:
    """Exact records in regions of any shape, int64 of shape (len(regions),)."""
    handle.require_public()
    index = handle._index
    x, y = handle.domain.to_coordinates(index.cells + 0.5).T
    shapely.prepare(regions.shapes)
    inside = (shapely.contains_xy(shape, x, y) for shape in regions.shapes)
    return np.array([index.weights[each].sum() for each in inside], dtype=np.int64)


def exact_total(handle: DataHandle) -> int:
    """The exact number of records inside the domain."""
    handle.require_public()
    return handle._index.total


def records_digest(handle: DataHandle) -> str:
    """A digest of public records as builds see them, without the names of columns and CRS.

    Two handles with the same one have the same exact answers.
    """
    handle.require_public()
    frame = {key: value for key, value in handle.domain.to_dict().items() if key not in LABELS}
    frame["cells"] = [[len(index.codes) for index in each] for each in handle._layers]
    indexes = itertools.chain(*handle._layers)
    return digest(frame, (each for index in indexes for each in (index.codes, index.weights)))


def trips_digest(data: RoadData) -> str:
    """A digest of public trips, with the step of time that each is in."""
    data.require_public()
    trips = [data._trips, *data._by_step]
    facts = {"edges": len(data.graph), "trips": [len(each) for each in trips]}
    return digest(facts, (each for paths in trips for each in (paths.start, paths.edge)))


def digest(facts: object, arrays: Iterable[NDArray[Any]]) -> str:
    """A digest of plain values and of arrays in their order."""
    made = hashlib.blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=8)
    for array in arrays:
        made.update(np.ascontiguousarray(array).data)
    return made.hexdigest()


@dataclass(frozen=True, eq=False)
class PublicRecords:
    """A public data set as plain columns, to be sent to a worker process."""

    name: str
    domain: Domain
    layers: Layers
    unit: str = "one record"
    max_per_unit: int = 1

    @property
    def codes(self) -> Codes:
        """Morton codes of the places that have records, of all kinds."""
        return PointIndex.of_all(self.layers.counts).codes

    @property
    def weights(self) -> Int:
        """Records at each of them."""
        return PointIndex.of_all(self.layers.counts).weights

    def handle(self) -> DataHandle:
        """A handle on the same records."""
        handle = DataHandle(self.name, self.domain, self.layers, public=True, unit=self.unit)
        handle.max_per_unit = self.max_per_unit
        return handle


def public_records(handle: DataHandle) -> PublicRecords:
    """The records behind a handle, as columns."""
    handle.require_public()
    how = handle.unit, handle.max_per_unit
    return PublicRecords(handle.name, handle.domain, handle._layers, *how)


def nonempty(handle: DataHandle, load: Workload, queries: int) -> Workload:
    """The first ``queries`` range queries of a workload whose exact answer is not zero.

    Raises:
        ParameterError: there are not as many.
    """
    hit = np.flatnonzero(exact_counts(handle, load.rects))[:queries]
    if len(hit) < queries:
        raise ParameterError(
            f"{len(hit)} of {len(load)} {load.size} queries hold a record, {queries} are asked "
            "for: ask for fewer, or larger, queries"
        )
    return Workload(load.size, load.rects[hit])


HOT = {"hot": (0.002, 0.008), "hot-0": (0.002, 0.00275)}
"""Sides of the squares around records, as shares of the domain's: all, and the smallest model of
S. Zeighami, R. Ahuja, G. Ghinita, C. Shahabi: A Neural Database for Differentially Private Spatial
Range Queries. PVLDB 15(5), 2022 (SNH)."""


def hot(handle: DataHandle, size: str, queries: int = 10_000, seed: int = 0) -> Workload:
    """Squares where people are: each around a record drawn at random, its side uniform in a band.

    A square that would leave the domain is moved inside.

    Raises:
        ParameterError: no records, or fewer than one query.
    """
    handle.require_public()
    index, domain = handle._index, handle.domain
    if queries < 1 or not index.total:
        raise ParameterError(f"size {size}: needs at least one query and one record")
    random = np.random.default_rng([seed, zlib.crc32(size.encode())])
    centre = _drawn(index, queries, random)
    low, high = np.array(domain.lower), np.array(domain.upper)
    sides = random.uniform(*HOT[size], size=(queries, 1)) * (high - low)
    corner = np.clip(centre - sides / 2, low, high - sides)
    return Workload(size, np.concatenate([corner, np.minimum(corner + sides, high)], axis=1))


def places_of_records(handle: DataHandle, n: int, seed: int = 0) -> Float:
    """Places of records drawn at random, with replacement, float64 (n, dims).

    Raises:
        ParameterError: no records.
    """
    handle.require_public()
    if not handle._index.total:
        raise ParameterError("no record lies in the domain: choose other data, or another box")
    return _drawn(handle._index, n, np.random.default_rng(seed))


def _drawn(index: PointIndex, n: int, random: np.random.Generator) -> Float:
    """Places of n records of an index that is not empty."""
    rows = np.searchsorted(index.cumulative, random.integers(index.total, size=n), "right")
    return index.domain.to_coordinates(index.cells[rows - 1] + 0.5)
