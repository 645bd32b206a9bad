"""Exact answers, inside the wall and for public data only, and the errors against them.

Every function that takes a handle raises PrivacyError where its data set is not declared public.
"""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dpviz.errors import ParameterError
from dpviz.lazy import shapely
from dpviz.private.areas import AreaData
from dpviz.private.areas import exact_areas as exact_areas
from dpviz.private.events import events_of, frequent
from dpviz.private.handle import DataHandle
from dpviz.private.index import PointIndex
from dpviz.private.roads import exact_visits as exact_visits
from dpviz.private.sequences import SequenceData
from dpviz.queries.workloads import Workload
from dpviz.releases.areas.partition import Areas
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.region_count import Regions
from dpviz.trees.lattice import Float, Int

SANITY = 0.001
"""The sanity bound as a share of the number of records (PrivTree, §6.1: 0.1 %)."""


def exact_counts(handle: DataHandle, rects: ArrayLike) -> Int:
    """Exact records in rectangles (snapped as queries are), int64 of shape (q,)."""
    handle.require_public()
    return handle._index.box_counts(*handle.domain.boxes(rects))


def records_of_kind(handle: DataHandle, kind: str) -> DataHandle:
    """The public records of one kind, for exact answers on them."""
    handle.require_public()
    domain = handle.domain
    at = 0 if domain.kinds is None else domain.kinds.number(kind)
    index = handle._layers.counts[at]
    return DataHandle(handle.name, replace(domain.without_kinds, values=None), index, public=True)


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


def public_index(handle: DataHandle) -> PointIndex:
    """The index of all public records, whatever their kind."""
    handle.require_public()
    return PointIndex.of_all(handle._layers.counts)


def nonempty_queries(handle: DataHandle, load: Workload, queries: int) -> Workload:
    """The first ``queries`` range queries of a workload whose exact answer is not zero."""
    hit = np.flatnonzero(exact_counts(handle, load.rects))[:queries]
    if len(hit) < queries:
        raise ParameterError(
            f"{len(hit)} of {len(load)} {load.size} queries hold a record, {queries} are asked "
            "for: ask for fewer, or larger, queries"
        )
    return Workload(load.size, load.rects[hit])


SQUARE_SIDES = {"hot": (0.002, 0.008), "hot-0": (0.002, 0.00275)}
"""Sides of the squares around records, as shares of the domain's: all, and the smallest model of
S. Zeighami, R. Ahuja, G. Ghinita, C. Shahabi: A Neural Database for Differentially Private Spatial
Range Queries. PVLDB 15(5), 2022 (SNH)."""


def squares_at_records(
    handle: DataHandle, size: str, queries: int = 10_000, seed: int = 0
) -> Workload:
    """Squares around records drawn at random, each with a side uniform in a band.

    A square that would leave the domain is moved inside.
    """
    handle.require_public()
    index, domain = handle._index, handle.domain
    if queries < 1 or not index.total:
        raise ParameterError(f"size {size}: no query or no record: give at least one of each")
    random = np.random.default_rng([seed, zlib.crc32(size.encode())])
    centre = _random_places(index, queries, random)
    low, high = np.array(domain.lower), np.array(domain.upper)
    sides = random.uniform(*SQUARE_SIDES[size], size=(queries, 1)) * (high - low)
    corner = np.clip(centre - sides / 2, low, high - sides)
    return Workload(size, np.concatenate([corner, np.minimum(corner + sides, high)], axis=1))


def places_of_records(handle: DataHandle, n: int, seed: int = 0) -> Float:
    """Places of records drawn at random, with replacement, float64 (n, dims)."""
    handle.require_public()
    if not handle._index.total:
        raise ParameterError("no record lies in the domain: choose other data, or another box")
    return _random_places(handle._index, n, np.random.default_rng(seed))


def _random_places(index: PointIndex, n: int, random: np.random.Generator) -> Float:
    """Places of n records of an index that is not empty."""
    rows = np.searchsorted(index.cumulative, random.integers(index.total, size=n), "right")
    return index.domain.to_coordinates(index.cells[rows - 1] + 0.5)


def exact_top(data: SequenceData, k: int) -> list[tuple[tuple[int, ...], int]]:
    """The k most frequent strings of whole, untruncated sequences, with exact counts."""
    if k < 1:
        raise ParameterError(f"k={k}: give at least 1")
    data.require_public()
    longest = int(data._sequences.length.max(initial=0))
    whole = events_of(data._sequences, len(data.alphabet), longest + 1)
    return [(string, count) for string, count, _ in frequent(whole, len(data.alphabet), k)]


def exact_lengths(data: SequenceData) -> Int:
    """Exact number of symbols of each sequence, int64 (n,)."""
    data.require_public()
    return data._sequences.length


def relative_errors(answers: ArrayLike, exact: ArrayLike, bound: float) -> Float:
    """|answer − exact| / max(exact, bound), float64 of the shape of the answers.

    ``bound``: the sanity bound in records, above 0: it keeps empty queries from deciding a mean.

    >>> relative_errors([12, 3], [10, 0], bound=5).tolist()
    [0.2, 0.6]
    """
    exact = np.asarray(exact, dtype=np.float64)
    return np.asarray(np.abs(np.asarray(answers) - exact) / np.maximum(exact, bound))


def sanity_bound(total: int, share: float = SANITY) -> float:
    """The sanity bound in records: a share of all records, one record where there is none."""
    return share * total if total else 1.0
