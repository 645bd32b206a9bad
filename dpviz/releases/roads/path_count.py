"""Totals of paths from a release, with the variance of the noise that is in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.releases.answers import Answers, interval
from dpviz.roads.estimates import RoadEstimates
from dpviz.roads.forest import answer_variance
from dpviz.roads.graph import Float, Int
from dpviz.roads.paths import Paths, require_paths, require_workload

ROUNDING = 1e-9
"""Of a variance after least squares: what is less above the measured one is none."""


@dataclass(frozen=True)
class PathAnswers(Answers):
    """Answers to q paths, as columns of length q; what truncation lost is in no interval.

    Attributes:
        count: estimated sum over the edges of the trips that contain each.
        noise_sd: standard deviation of the noise in it: exact, but where a method corrects counts
            by noisy factors (``flows``), how far these may be off is an ESTIMATE, common to all
            edges. Smoothing by neighbours, in methods that do, is in none: see ``beyond_noise``.
        edges: edges of the path.
        subdomains: sub-domains it runs through.
        nodes: tree nodes of the shortest top-down answer, of all steps of time together.
    """

    edges: Int
    subdomains: Int
    nodes: Int


def path_count(estimates: RoadEstimates, paths: Paths) -> PathAnswers:
    """Totals of paths.

    Args:
        estimates: of any release.
        paths: edge rows of its graph; an edge used twice counts twice.

    Raises:
        ParameterError: no paths.
        DataError: a sequence that is empty or not a path.
    """
    require_workload(paths)
    require_paths(estimates.graph, paths)
    count = paths.sum(estimates.edge_count)
    variance = path_variance(estimates, paths)
    nodes = [
        sum(len(cover(each, paths[row])) for each in estimates.addends) for row in range(len(paths))
    ]
    place = estimates.domains.path[estimates.domains.position]
    return PathAnswers(
        **interval(count, np.sqrt(variance)),
        edges=paths.length,
        subdomains=np.array([len(np.unique(place[paths[row]])) for row in range(len(paths))]),
        nodes=np.array(nodes),
    )


def path_variance(estimates: RoadEstimates, paths: Paths) -> Float:
    """Variance of the noise in the total of each path, float64 (q,): see :class:`PathAnswers`."""
    if len(estimates.addends) > 1:
        return np.asarray(sum(path_variance(each, paths) for each in estimates.addends))
    nodes = estimates.nodes
    leaf, share = estimates.edge_leaf[paths.edge], estimates.edge_share[paths.edge]
    key, where = np.unique(paths.owner * len(nodes) + leaf, return_inverse=True)
    weight = np.bincount(where, weights=share, minlength=len(key))
    owner, leaf = key // len(nodes), key % len(nodes)
    single = nodes.parent[leaf] < 0
    variance = np.zeros(len(paths))
    measured = estimates.measured[leaf[single]]
    np.add.at(variance, owner[single], weight[single] ** 2 * measured)
    common = np.sqrt(np.maximum(nodes.variance[leaf[single]] - measured * (1 + ROUNDING), 0.0))
    variance += np.bincount(owner[single], weight[single] * common, minlength=len(paths)) ** 2
    deep = np.flatnonzero(~single)
    if len(deep):
        root = _roots(estimates)
        tree = root[leaf[deep]]
        order = np.lexsort([tree, owner[deep]])
        deep, tree = deep[order], tree[order]
        rows_of = _trees(root)
        cuts = np.flatnonzero((np.diff(tree) != 0) | (np.diff(owner[deep]) != 0)) + 1
        for part in np.split(np.arange(len(deep)), cuts):
            rows = rows_of[int(tree[part[0]])]
            q = np.zeros(len(rows))
            q[np.searchsorted(rows, leaf[deep[part]])] = weight[deep[part]]
            above = nodes.parent[rows]
            parent = np.where(above < 0, -1, np.searchsorted(rows, above))
            asked = owner[deep[part[0]]]
            variance[asked] += answer_variance(parent, estimates.measured[rows], q)
    return variance


def cover(estimates: RoadEstimates, edges: Int) -> Int:
    """Nodes of the shortest top-down answer: within the path, or a leaf that it cuts."""
    nodes = estimates.nodes
    inside = np.zeros(len(estimates.graph) + 1, dtype=np.int64)
    inside[estimates.domains.position[edges] + 1] = 1
    running = np.cumsum(inside)
    filled = running[nodes.hi[:, 0]] - running[nodes.lo[:, 0]]
    whole = filled == nodes.volume
    answered = whole | (nodes.leaf & (filled > 0))
    below = nodes.parent >= 0
    answered[below] &= ~whole[nodes.parent[below]]
    return np.flatnonzero(answered)


def beats_zero(estimates: RoadEstimates, workload: Paths) -> bool:
    """Whether the noise of a workload's answers is smaller than the answers themselves.

    The mean square of the true answers is estimated by that of the noisy ones minus their noise
    variance; below the noise variance, answering zero is as good. Post-processing: free.
    """
    require_workload(workload)
    variance = path_variance(estimates, workload)
    square = workload.sum(estimates.edge_count) ** 2
    return bool(np.mean(square - variance) > np.mean(variance))


def _roots(estimates: RoadEstimates) -> Int:
    """The root above each node."""
    root = np.arange(len(estimates.nodes))
    for part in estimates.nodes.levels[1:]:
        root[part] = root[estimates.nodes.parent[part]]
    return root


def _trees(root: Int) -> dict[int, Int]:
    """The nodes of each tree, ascending, by its root."""
    order = np.argsort(root, kind="stable")
    names, first = np.unique(root[order], return_index=True)
    return dict(zip(names.tolist(), np.split(order, first[1:]), strict=True))
