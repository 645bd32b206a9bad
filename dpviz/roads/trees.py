"""Trees over sub-domains, chosen for a public workload. No record is involved."""

from __future__ import annotations

import math

import numpy as np

from dpviz.roads.decompose import Subdomains
from dpviz.roads.forest import Forest, Levels, path_trees
from dpviz.roads.graph import Float, Int
from dpviz.roads.paths import Paths

FANOUTS = (2, 3, 4, 6, 8, 12, 16, 24)


def qardaji_fanout(k: int) -> int:
    """The fanout for k edges under equally likely ranges.

    Least (b − 1)h³ − ⅔(b + 1)h², h = log_b k, from W. Qardaji, W. Yang, N. Li: Understanding
    Hierarchical Methods for Differentially Private Histograms, VLDB 2013.

    >>> qardaji_fanout(1000), qardaji_fanout(3)
    (32, 3)
    """
    if k < 3:
        return 2

    def variance(b: int) -> float:
        h = math.ceil(math.log(k, b) - 1e-9)
        return (b - 1) * h**3 - 2 / 3 * (b + 1) * h**2

    return min(range(2, min(k, 64) + 1), key=variance)


def boost(domains: Subdomains) -> Forest:
    """Uniform trees with the fanout of Qardaji et al., whatever the workload."""
    return path_trees(domains, [_levels(k, qardaji_fanout(k)) for k in np.diff(domains.start)])


def optimised(domains: Subdomains, workload: Paths) -> Forest:
    """Uniform trees regrouped for the workload (the paper's algorithm 3)."""
    from dpviz.roads.search import optimise, uniform_tree

    trees: list[Levels] = []
    runs = _runs_by_path(domains, workload)
    for k, (low, high, weight) in zip(np.diff(domains.start).tolist(), runs, strict=True):
        bounds, size = uniform_tree(k, qardaji_fanout(k))
        if len(low) and len(size) > 2:
            optimise(bounds, size, low, high, weight)
        trees.append(_rows(bounds, size))
    return path_trees(domains, trees)


def best(domains: Subdomains, workload: Paths) -> Forest:
    """For every path the tree of least exact workload variance, the flat one included.

    An extension of the paper: each tree pays for its own height, so the choice is free, and flat
    wins on most short paths.
    """
    from dpviz.roads.search import best_tree

    trees: list[Levels] = []
    runs = _runs_by_path(domains, workload)
    sizes = np.diff(domains.start)
    for k, (low, high, weight) in zip(sizes.tolist(), runs, strict=True):
        if not len(low) or k < 2:
            trees.append([np.arange(k + 1)])
            continue
        fanouts = np.array(sorted({*FANOUTS, k}))
        bounds, size, measured = best_tree(k, fanouts, low, high, weight)
        trees.append(
            [level for level, some in zip(_rows(bounds, size), measured, strict=True) if some]
        )
    return path_trees(domains, trees)


def weighted_binary(domains: Subdomains, workload: Paths) -> Forest:
    """Binary trees whose levels share the budget by how the workload uses them (HM, GreedyH).

    With u_h uses of nodes of level h, Σ u_h / w_h² is least for w_h ∝ u_h^{1/3}; a level without
    uses is dropped, and the leaves are always measured. After C. Li, M. Hay, G. Miklau, Y. Wang:
    A Data- and Workload-Aware Algorithm for Range Queries under Differential Privacy, VLDB 2014.
    """
    trees, weights = [], []
    runs = _runs_by_path(domains, workload)
    for k, (low, high, weight) in zip(np.diff(domains.start).tolist(), runs, strict=True):
        levels = _levels(k, 2)
        uses = level_uses(levels, low, high, weight)
        uses[-1] += 0.05 * uses.sum() + 1.0
        crossed = np.flatnonzero(uses > 0)
        share = np.cbrt(uses[crossed])
        trees.append([levels[h] for h in crossed.tolist()])
        weights.append(share / share.sum())
    return path_trees(domains, trees, weights)


def level_uses(levels: Levels, low: Int, high: Int, weight: Float) -> Float:
    """Weighted number of nodes per level that top-down answers to the runs use."""
    uses = np.zeros(len(levels))
    done_low, done_high = high.copy(), high.copy()  # nothing is covered yet
    for row, bounds in enumerate(levels):
        a = np.searchsorted(bounds, low)
        b = np.maximum(np.searchsorted(bounds, high, side="right") - 1, a)
        inner_a = np.minimum(np.searchsorted(bounds, done_low), b)
        inner_b = np.maximum(np.searchsorted(bounds, done_high), a)
        covered = np.where(done_low < done_high, np.maximum(inner_b - inner_a, 0), 0)
        uses[row] = float(((b - a) - covered) @ weight)
        wider = b > a
        done_low = np.where(wider, bounds[a], done_low)
        done_high = np.where(wider, bounds[b], done_high)
    return uses


def workload_variance(forest: Forest, workload: Paths) -> float:
    """Mean variance of the answers of a workload, in units of the variance of a flat edge.

    A query's variance is the exact sum over its runs. Runs of one query within one tree count as
    independent; least squares only makes them better.
    """
    from dpviz.roads.search import run_variance

    if (forest.parent < 0).all():
        low, high, _ = forest.domains.runs(workload)
        return float((high - low).sum()) / len(workload)
    total = 0.0
    rows_of = forest.by_path()
    runs = _runs_by_path(forest.domains, workload)
    for path, (rows, (low, high, weight)) in enumerate(zip(rows_of, runs, strict=True)):
        if not len(low):
            continue
        # Breadth-first rows: a level begins with the interval at the path's start.
        lo, hi = forest.lo[rows], forest.hi[rows]
        begin = np.flatnonzero(lo == forest.domains.start[path])
        size = np.diff(np.append(begin, len(rows)))
        bounds = np.zeros((len(begin), size[-1] + 1), dtype=np.int64)
        for h, (at, n) in enumerate(zip(begin, size, strict=True)):
            bounds[h, : n + 1] = np.append(lo[at : at + n], hi[at + n - 1]) - lo[0]
        share = 1.0 / forest.relative_scale[rows[begin]]
        total += run_variance(bounds, size, share, low, high, weight)
    return total / len(workload)


def _levels(k: int, fanout: int) -> Levels:
    """Levels of a uniform tree over k edges."""
    from dpviz.roads.search import uniform_tree

    return _rows(*uniform_tree(k, fanout))


def _rows(bounds: Int, size: Int) -> Levels:
    """Levels of a table of boundaries."""
    return [row[: n + 1] for row, n in zip(bounds, size, strict=True)]


def _runs_by_path(domains: Subdomains, workload: Paths) -> list[tuple[Int, Int, Float]]:
    """Distinct sub-queries of each path, relative to its start, with how many queries have them."""
    low, high, _ = domains.runs(workload)
    pairs = np.column_stack([low, high])
    runs, times = np.unique(pairs, axis=0, return_counts=True)
    path = domains.path[runs[:, 0]]
    at = np.searchsorted(path, np.arange(len(domains.start)))
    pieces = []
    for row in range(len(domains.start) - 1):
        part = slice(at[row], at[row + 1])
        low, high = np.ascontiguousarray(runs[part].T) - domains.start[row]
        pieces.append((low, high, times[part].astype(np.float64)))
    return pieces
