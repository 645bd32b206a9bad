"""Compiled loops of the tree search: regrouping by dynamic programming, and exact variances.

A tree is a table of boundaries: row h holds ``size[h] + 1`` boundaries of level h, coarse to fine.
Sub-queries (runs) are [low, high) with a weight. Imported lazily: numba costs 1.6 s at import; the
compiled code is cached on disk.
"""

from __future__ import annotations

import numpy as np

from dpviz.trees.compiled import compiled


@compiled()
def uniform_tree(k, fanout):  # type: ignore[no-untyped-def]
    """Levels of a uniform tree over k edges: boundaries (H, k + 1) and sizes (H,)."""
    height, n = 1, k
    while n > 1:
        n = (n + fanout - 1) // fanout
        height += 1
    bounds = np.zeros((height, k + 1), dtype=np.int64)
    size = np.zeros(height, dtype=np.int64)
    step = 1
    for up in range(height):
        row = height - 1 - up
        n = (k + step - 1) // step
        for i in range(n):
            bounds[row, i] = i * step
        bounds[row, n] = k
        size[row] = n
        step *= fanout
    return bounds, size


@compiled()
def regroup(fine, groups, low, high, weight):  # type: ignore[no-untyped-def]
    """The best partition of the intervals between boundaries ``fine`` into ``groups`` runs.

    Maximises Σ (intervals in a group − 1) · (queries that cover the group), equation (3) of the
    paper; that minimises how often nodes are used.

    Returns places in ``fine`` of the group boundaries, int64 (groups + 1,).
    """
    n = len(fine) - 1
    cover = np.zeros((n + 2, n + 2))
    for run in range(len(low)):
        a = np.searchsorted(fine, low[run])
        b = np.searchsorted(fine, high[run], side="right") - 1
        if a < b:
            cover[a, b] += weight[run]
    for a in range(n + 1):  # cover[a, b]: runs that start at or before a and end at or after b
        for b in range(n, -1, -1):
            total = cover[a, b]
            if a > 0:
                total += cover[a - 1, b]
            if b < n:
                total += cover[a, b + 1]
            if a > 0 and b < n:
                total -= cover[a - 1, b + 1]
            cover[a, b] = total
    best = np.full((groups + 1, n + 1), -1.0)
    back = np.zeros((groups + 1, n + 1), dtype=np.int64)
    best[0, 0] = 0.0
    for g in range(1, groups + 1):
        for b in range(g, n - (groups - g) + 1):
            for a in range(g - 1, b):
                if best[g - 1, a] >= 0:
                    value = best[g - 1, a] + (b - a - 1) * cover[a, b]
                    if value > best[g, b]:
                        best[g, b] = value
                        back[g, b] = a
    places = np.zeros(groups + 1, dtype=np.int64)
    places[groups] = n
    for g in range(groups, 0, -1):
        places[g - 1] = back[g, places[g]]
    return places


@compiled()
def _regroup_level(bounds, size, row, low, high, weight):  # type: ignore[no-untyped-def]
    """Choose level ``row + 1`` anew within every node of level ``row``; true if it changed."""
    changed = False
    for node in range(size[row]):
        left, right = bounds[row, node], bounds[row, node + 1]
        middle, fine = bounds[row + 1], bounds[row + 2]
        m0 = np.searchsorted(middle[: size[row + 1] + 1], left)
        m1 = np.searchsorted(middle[: size[row + 1] + 1], right)
        f0 = np.searchsorted(fine[: size[row + 2] + 1], left)
        f1 = np.searchsorted(fine[: size[row + 2] + 1], right)
        groups = m1 - m0
        if groups < 2 or groups == f1 - f0:
            continue
        part = fine[f0 : f1 + 1].copy()
        touched = 0
        for run in range(len(low)):
            if low[run] < right and high[run] > left:
                touched += 1
        clipped_low = np.empty(touched, dtype=np.int64)
        clipped_high = np.empty(touched, dtype=np.int64)
        clipped_weight = np.empty(touched)
        touched = 0
        for run in range(len(low)):
            if low[run] < right and high[run] > left:
                clipped_low[touched] = max(low[run], left)
                clipped_high[touched] = min(high[run], right)
                clipped_weight[touched] = weight[run]
                touched += 1
        places = regroup(part, groups, clipped_low, clipped_high, clipped_weight)
        for g in range(1, groups):
            if bounds[row + 1, m0 + g] != part[places[g]]:
                bounds[row + 1, m0 + g] = part[places[g]]
                changed = True
    return changed


@compiled()
def optimise(bounds, size, low, high, weight):  # type: ignore[no-untyped-def]
    """The paper's local search (algorithm 3): bottom-up, then top-down where a parent changed."""
    height = len(size)
    for row in range(height - 3, -1, -1):
        _regroup_level(bounds, size, row, low, high, weight)
    changed = True
    for row in range(height - 2):
        if changed:
            changed = _regroup_level(bounds, size, row, low, high, weight)


@compiled()
def run_variance(bounds, size, share, low, high, weight):  # type: ignore[no-untyped-def]
    """Σ weight · qᵀ(MᵀWM)⁻¹q over the runs: the exact variance after least squares.

    Level h has noise of variance 1/share[h]², in units of that of a flat histogram; a share of 0
    means that the level is not measured (never the last).
    """
    rows = np.flatnonzero(share > 0)
    height = len(rows)
    offset = np.zeros(height + 1, dtype=np.int64)
    for h in range(height):
        offset[h + 1] = offset[h] + size[rows[h]]
    nodes = offset[height]
    leaf = offset[height - 1]
    parent = np.full(nodes, -1, dtype=np.int64)
    precision = np.empty(nodes)
    for h in range(height):
        precision[offset[h] : offset[h + 1]] = share[rows[h]] ** 2
        above = 0
        for i in range(size[rows[h]] if h > 0 else 0):
            while bounds[rows[h - 1], above + 1] <= bounds[rows[h], i]:
                above += 1
            parent[offset[h] + i] = offset[h - 1] + above
    spread = np.empty(nodes)  # variance of a node's estimate from its subtree
    below = np.zeros(nodes)  # sum of its children's variances
    for v in range(nodes - 1, -1, -1):
        if v >= leaf:
            spread[v] = 1.0 / precision[v]
        else:
            spread[v] = below[v] / (1.0 + precision[v] * below[v])
        if parent[v] >= 0:
            below[parent[v]] += spread[v]
    total = 0.0
    up, sums, down = np.zeros(nodes), np.zeros(nodes), np.zeros(nodes)
    for run in range(len(low)):
        up[:] = 0.0
        sums[:] = 0.0
        for i in range(low[run], high[run]):
            up[leaf + i] = spread[leaf + i]
        for v in range(nodes - 1, -1, -1):
            if v < leaf:
                up[v] = sums[v] / (1.0 + precision[v] * below[v])
            if parent[v] >= 0:
                sums[parent[v]] += up[v]
        for v in range(nodes):
            p = parent[v]
            down[v] = up[v] if p < 0 else up[v] + spread[v] / below[p] * (down[p] - sums[p])
        for i in range(low[run], high[run]):
            total += weight[run] * down[leaf + i]
    return total


@compiled()
def best_tree(k, fanouts, low, high, weight):  # type: ignore[no-untyped-def]
    """The cheapest tree over k edges for the runs: fanout, plain or optimised, levels kept.

    Returns boundaries, sizes and kept levels; the flat tree where nothing beats it.
    """
    best_bounds, best_size = uniform_tree(k, max(k, 2))
    best_kept = np.zeros(len(best_size), dtype=np.bool_)
    best_kept[-1] = True
    best_cost = 0.0
    for run in range(len(low)):
        best_cost += weight[run] * (high[run] - low[run])
    if k < 2:
        return best_bounds, best_size, best_kept
    for fanout in fanouts:
        if fanout > k:
            continue
        for optimised in range(2):
            bounds, size = uniform_tree(k, fanout)
            if optimised == 1:
                if len(size) < 3:
                    continue
                optimise(bounds, size, low, high, weight)
            inner = len(size) - 1
            masks = 1 << min(inner, 4)
            for mask in range(1, masks):
                measured = np.zeros(len(size), dtype=np.bool_)
                measured[-1] = True
                height = 1
                for bit in range(min(inner, 4)):
                    # The four levels above the leaves; higher levels only help very long paths.
                    measured[inner - 1 - bit] = (mask >> bit) & 1 == 1
                    height += (mask >> bit) & 1
                cost = run_variance(bounds, size, measured / height, low, high, weight)
                if cost < best_cost * (1.0 - 1e-9):
                    best_bounds, best_size, best_kept, best_cost = bounds, size, measured, cost
    return best_bounds, best_size, best_kept
