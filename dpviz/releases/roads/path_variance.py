"""Noise variance of path totals: sums over leaves of trees after least squares."""

from __future__ import annotations

import numpy as np

from dpviz.releases.points.range_count import Cover
from dpviz.roads.forest import answer_variance
from dpviz.roads.graph import Float, Int
from dpviz.trees.decomposition import Decomposition

ROUNDING = 1e-9
"""Relative excess over the measured variance that counts as rounding after least squares."""


def path_variance(nodes: Decomposition, cover: Cover) -> Float:
    """Variance of the noise in the sum over the leaves of each query, float64 (q,)."""
    assert nodes.measured is not None
    measured_with = nodes.measured
    key, where = np.unique(cover.query * len(nodes) + cover.node, return_inverse=True)
    weight = np.bincount(where, weights=cover.share, minlength=len(key))
    owner, leaf = key // len(nodes), key % len(nodes)
    single = nodes.parent[leaf] < 0
    variance = np.zeros(cover.queries)
    measured = measured_with[leaf[single]]
    np.add.at(variance, owner[single], weight[single] ** 2 * measured)
    common = common_sd(nodes, measured_with)[leaf[single]]
    variance += np.bincount(owner[single], weight[single] * common, minlength=cover.queries) ** 2
    deep = np.flatnonzero(~single)
    if len(deep):
        root = _roots(nodes)
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
            variance[asked] += answer_variance(parent, measured_with[rows], q)
    return variance


def common_sd(nodes: Decomposition, measured: Float) -> Float:
    """Standard deviation of the error that all roots without children share, float64 (n,).

    It is that of a correction by a noisy factor; 0 for other nodes.
    """
    single = nodes.leaf & (nodes.parent < 0)
    excess = np.maximum(nodes.variance - measured * (1 + ROUNDING), 0.0)
    return np.where(single, np.sqrt(excess), 0.0)


def _roots(nodes: Decomposition) -> Int:
    """Root node above each node."""
    root = np.arange(len(nodes))
    for part in nodes.levels[1:]:
        root[part] = root[nodes.parent[part]]
    return root


def _trees(root: Int) -> dict[int, Int]:
    """Nodes of each tree, ascending, by root."""
    order = np.argsort(root, kind="stable")
    names, first = np.unique(root[order], return_index=True)
    return dict(zip(names.tolist(), np.split(order, first[1:]), strict=True))
