"""True matches of two public data sets that a matching keeps, and its true reduction ratio."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.errors import ParameterError
from dpviz.evaluation.truth import public_index
from dpviz.lazy import scipy
from dpviz.private.handle import DataHandle
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.matching import Matching, compared, lattice_steps
from dpviz.trees.boxpairs import near_pairs
from dpviz.trees.lattice import Float, Int, unmorton

MAX_MATCHES = 20_000_000
"""Most pairs of places within the distance: each pair is checked by itself."""

ROWS = 20_000


@dataclass(frozen=True)
class MatchTruth:
    """Exact measures of a matching.

    Attributes:
        matches: pairs of records within the distance.
        recall: share of them that are compared, on average over which records are suppressed.
        reduction_ratio: reduction ratio by the exact sizes of the leaves, without dummies.
    """

    matches: int
    recall: float
    reduction_ratio: float


def match_truth(
    matching: Matching,
    release_a: PointRelease,
    release_b: PointRelease,
    data_a: DataHandle,
    data_b: DataHandle,
) -> MatchTruth:
    """Count the true matches of two public data sets, and those that a matching keeps.

    Raises:
        PrivacyError: a data set is not declared public.
        ParameterError: leaves overlap; data of another domain; or more matches than are looked at.
    """
    place_a, weight_a, leaf_a = _in_leaves(release_a, matching.leaves_a, data_a)
    place_b, weight_b, leaf_b = _in_leaves(release_b, matching.leaves_b, data_b)
    exact_a = np.bincount(leaf_a, weight_a, minlength=len(matching.leaves_a))
    exact_b = np.bincount(leaf_b, weight_b, minlength=len(matching.leaves_b))
    # Suppressed records are drawn at random within a leaf: each stays with the same probability.
    stays_a = np.minimum(1, matching.padded_a / np.maximum(exact_a, 1))
    stays_b = np.minimum(1, matching.padded_b / np.maximum(exact_b, 1))
    keys = np.sort(matching.first.astype(np.int64) * len(matching.leaves_b) + matching.second)
    matches, compared_matches = 0.0, 0.0
    steps = lattice_steps(release_a.domain, matching.within)
    for a, b in _matches(place_a, place_b, steps, matching.metric):
        many = weight_a[a] * weight_b[b]
        key = leaf_a[a] * len(matching.leaves_b) + leaf_b[b]
        at = np.minimum(np.searchsorted(keys, key), max(len(keys) - 1, 0))
        left = keys[at] == key if len(keys) else np.zeros(len(key), dtype=np.bool_)
        matches += float(many.sum())
        compared_matches += float((many * left * stays_a[leaf_a[a]] * stays_b[leaf_b[b]]).sum())
    everything = float(exact_a.sum() * exact_b.sum())
    return MatchTruth(
        round(matches),
        compared_matches / matches if matches else 1.0,
        1 - compared(matching, exact_a, exact_b) / everything if everything else 0.0,
    )


def _in_leaves(release: PointRelease, leaves: Int, data: DataHandle) -> tuple[Int, Float, Int]:
    """Places of the records, how many stand at each, and the leaf that holds it."""
    records, nodes = public_index(data), release.nodes
    if data.domain.bounds != release.domain.bounds:
        raise ParameterError(
            f"{data.name}: its domain differs from that of the release: use the same bounds"
        )
    if nodes.volume[leaves].sum() > nodes.volume[nodes.parent < 0].sum():
        raise ParameterError(
            f"{release.header.method}: its leaves overlap, so a record has no single leaf: "
            "measure recall on releases of another method"
        )
    cells = unmorton(records.codes, data.domain.dims)
    leaf = np.full(len(cells), -1, dtype=np.int64)
    still = np.zeros(data.domain.dims)
    for place, holder in near_pairs(cells, cells + 1, nodes.lo[leaves], nodes.hi[leaves], still):
        leaf[place] = holder
    inside = leaf >= 0  # a tree that drops empty areas has no leaf there
    return cells[inside], records.weights[inside].astype(np.float64), leaf[inside]


def _matches(a: Int, b: Int, steps: Float, metric: str) -> Iterator[tuple[Int, Int]]:
    """Rows of both sides within the distance of each other, piece by piece."""
    if not (len(a) and len(b)):
        return
    scale = np.where(steps > 0, 1 / np.where(steps > 0, steps, 1), 4.0)  # at 0 steps are too large
    power = np.inf if metric == "max" else 2.0
    tree = scipy.spatial.cKDTree(b * scale)
    if scipy.spatial.cKDTree(a * scale).count_neighbors(tree, 1.0, power) > MAX_MATCHES:
        raise ParameterError(
            f"more than {MAX_MATCHES:,} matches within the distance: give a smaller distance"
        )
    for start in range(0, len(a), ROWS):
        part = scipy.spatial.cKDTree(a[start : start + ROWS] * scale)
        near = part.sparse_distance_matrix(tree, 1.0, power, output_type="ndarray")
        yield near["i"].astype(np.int64) + start, near["j"].astype(np.int64)
