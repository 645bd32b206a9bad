"""Smooth sensitivity of medians, compiled; imported lazily, since numba takes 1.6 s."""

from __future__ import annotations

import numba as nb
import numpy as np

from dpviz.trees.compiled import compiled


@compiled(parallel=True)
def medians_and_sensitivities(values, cumulative, starts, lo, hi, xi):  # type: ignore[no-untyped-def]
    """Median and smooth sensitivity of each cell.

    σ = max over i ≤ m ≤ j, i < j, of (x_j − x_i)·e^{−ξ(j−i−1)}, m = ⌈n/2⌉, with x_i = lo for i < 1
    and x_j = hi for j > n. ln(x_j − x_i) has increasing differences, so the best j grows with i and
    divide and conquer finds the maximum in O(n log n).

    Args:
        values: distinct values, sorted inside each cell.
        cumulative: records up to each over all cells, one longer than ``values``.
        starts: first row of each cell, one longer than the cells.
        lo: limits of the cells.
        hi: exclusive.
        xi: the smoothing rate ξ.
    """
    k = len(lo)
    medians, sigmas = np.empty(k), np.empty(k)
    for cell in nb.prange(k):
        first, last = starts[cell], starts[cell + 1]
        base = cumulative[first]
        n = cumulative[last] - base
        m = (n + 1) // 2
        # Candidates for either end: (value, rank). Among equal values the one nearest to m is best.
        left_value, left_rank = np.empty(last - first + 1), np.empty(last - first + 1)
        right_value, right_rank = np.empty(last - first + 1), np.empty(last - first + 1)
        left_value[0], left_rank[0] = lo[cell], 0
        lefts, rights = 1, 0
        median = float(lo[cell])
        for row in range(first, last):
            low, high = cumulative[row] - base + 1, cumulative[row + 1] - base
            if low > high:
                continue
            if low <= m:
                left_value[lefts], left_rank[lefts] = values[row], min(high, m)
                lefts += 1
            if high >= m:
                if rights == 0:
                    median = float(values[row])
                right_value[rights], right_rank[rights] = values[row], max(low, m)
                rights += 1
        right_value[rights], right_rank[rights] = hi[cell], n + 1
        rights += 1
        best = -np.inf
        stack = np.empty((128, 4), dtype=np.int64)
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, lefts, 0, rights
        top = 1
        while top > 0:
            top -= 1
            a, b, c, d = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
            if a >= b:
                continue
            i = (a + b) // 2
            here, at = -np.inf, c
            for j in range(c, d):
                span = right_value[j] - left_value[i]
                if span > 0:
                    score = np.log(span) - xi * (right_rank[j] - left_rank[i] - 1)
                    if score > here:
                        here, at = score, j
            best = max(best, here)
            stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = a, i, c, at + 1
            stack[top + 1, 0], stack[top + 1, 1] = i + 1, b
            stack[top + 1, 2], stack[top + 1, 3] = at, d
            top += 2
        medians[cell], sigmas[cell] = median, np.exp(best)
    return medians, sigmas
