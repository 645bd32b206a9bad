"""Totals of paths from a release, with the exact variance of the noise that is in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.releases.points.range_count import INTERVAL_SDS
from dpviz.releases.roads.release import RoadRelease
from dpviz.roads.forest import answer_variance
from dpviz.roads.graph import Float, Int
from dpviz.roads.paths import Paths, require_paths, require_workload


@dataclass(frozen=True)
class PathAnswers:
    """Answers to q paths, as columns of length q.

    Attributes:
        count: estimated sum over the edges of the trips that contain each.
        noise_sd: standard deviation of the noise in it, exact.
        low, high: 95 % interval for the noise alone; what truncation lost is not in it.
        edges: edges of the path.
        subdomains: sub-domains it runs through.
        nodes: tree nodes of the shortest top-down answer.
    """

    count: Float
    noise_sd: Float
    low: Float
    high: Float
    edges: Int
    subdomains: Int
    nodes: Int

    def __len__(self) -> int:
        return len(self.count)


def path_count(release: RoadRelease, paths: Paths) -> PathAnswers:
    """Totals of paths.

    Args:
        release: any release.
        paths: edge rows of its graph; an edge used twice counts twice.

    Raises:
        ParameterError: no paths.
        DataError: a sequence that is empty or not a path.
    """
    require_workload(paths)
    require_paths(release.graph, paths)
    count = paths.sum(release.count)
    variance = path_variance(release, paths)
    half = INTERVAL_SDS * np.sqrt(variance)
    covers = [cover(release, paths[row]) for row in range(len(paths))]
    place = release.domains.path[release.domains.position]
    return PathAnswers(
        count=count,
        noise_sd=np.sqrt(variance),
        low=np.floor(count - half),
        high=np.ceil(count + half),
        edges=paths.length,
        subdomains=np.array([len(np.unique(place[paths[row]])) for row in range(len(paths))]),
        nodes=np.array([len(each) for each in covers]),
    )


def path_variance(release: RoadRelease, paths: Paths) -> Float:
    """Exact variance of the noise in the total of each path, float64 (q,)."""
    nodes = release.nodes
    leaf, share = release.edge_leaf[paths.edge], release.edge_share[paths.edge]
    key, where = np.unique(paths.owner * len(nodes) + leaf, return_inverse=True)
    weight = np.bincount(where, weights=share, minlength=len(key))
    owner, leaf = key // len(nodes), key % len(nodes)
    single = nodes.parent[leaf] < 0
    variance = np.zeros(len(paths))
    np.add.at(variance, owner[single], weight[single] ** 2 * release.measured[leaf[single]])
    deep = np.flatnonzero(~single)
    if len(deep):
        root = _roots(release)
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
            variance[owner[deep[part[0]]]] += answer_variance(parent, release.measured[rows], q)
    return variance


def cover(release: RoadRelease, edges: Int) -> Int:
    """Nodes of the shortest top-down answer: within the path, or a leaf that it cuts."""
    nodes = release.nodes
    inside = np.zeros(len(release.graph) + 1, dtype=np.int64)
    inside[release.domains.position[edges] + 1] = 1
    running = np.cumsum(inside)
    filled = running[nodes.hi[:, 0]] - running[nodes.lo[:, 0]]
    whole = filled == nodes.volume
    answered = whole | (nodes.leaf & (filled > 0))
    below = nodes.parent >= 0
    answered[below] &= ~whole[nodes.parent[below]]
    return np.flatnonzero(answered)


def beats_zero(release: RoadRelease, workload: Paths) -> bool:
    """Whether the noise of a workload's answers is smaller than the answers themselves.

    The mean square of the true answers is estimated by that of the noisy ones minus their noise
    variance; below the noise variance, answering zero is as good. Post-processing: free.
    """
    require_workload(workload)
    variance = path_variance(release, workload)
    square = workload.sum(release.count) ** 2
    return bool(np.mean(square - variance) > np.mean(variance))


def _roots(release: RoadRelease) -> Int:
    """The root above each node."""
    root = np.arange(len(release.nodes))
    for part in release.nodes.levels[1:]:
        root[part] = root[release.nodes.parent[part]]
    return root


def _trees(root: Int) -> dict[int, Int]:
    """The nodes of each tree, ascending, by its root."""
    order = np.argsort(root, kind="stable")
    names, first = np.unique(root[order], return_index=True)
    return dict(zip(names.tolist(), np.split(order, first[1:]), strict=True))
