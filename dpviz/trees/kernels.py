"""The two compiled loops: range counts over a decomposition and over sorted points.

Both walk a tree per query, which NumPy can only do level by level through large temporary arrays.
Loops stand where NumPy has a word: the compiler takes a fifth longer for the words.
Imported lazily: numba costs 1.6 s at import; the compiled code is cached on disk.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

from dpviz.trees.compiled import compiled

Int = NDArray[np.int64]
Float = NDArray[np.float64]

MAX_SCANNED = 24
"""Below this many unique points a cell is scanned instead of divided."""


@compiled(parallel=True)
def count_boxes(codes, cells, cumulative, lo, hi, bits):  # type: ignore[no-untyped-def]
    """Exact counts of boxes [lo, hi) (q, d) over points in Morton order.

    Each query descends the 2^d-ary tree of the code ranges: a cell inside the box adds its
    cumulative weight, a cell outside adds nothing, a small one is scanned.
    """
    n_queries, dims = lo.shape
    answers = np.empty(n_queries, dtype=np.int64)
    fanout = 1 << dims
    for query in nb.prange(n_queries):
        stack = np.empty((bits * (fanout - 1) + fanout, 3 + dims), dtype=np.int64)
        stack[0, 0] = 0
        stack[0, 1] = len(codes)
        stack[0, 2] = 0
        for axis in range(dims):
            stack[0, 3 + axis] = 0
        top = 1
        total = 0
        corner = np.empty(dims, dtype=np.int64)
        while top > 0:
            top -= 1
            start, stop, depth = stack[top, 0], stack[top, 1], stack[top, 2]
            for axis in range(dims):
                corner[axis] = stack[top, 3 + axis]
            if start == stop:
                continue
            size = np.int64(1) << (bits - depth)
            inside, outside = True, False
            for axis in range(dims):
                a, b = corner[axis], corner[axis] + size
                if b <= lo[query, axis] or a >= hi[query, axis]:
                    outside = True
                    break
                if a < lo[query, axis] or b > hi[query, axis]:
                    inside = False
            if outside:
                continue
            if inside:
                total += cumulative[stop] - cumulative[start]
            elif stop - start <= MAX_SCANNED or depth == bits:
                for point in range(start, stop):
                    hit = True
                    for axis in range(dims):
                        x = cells[point, axis]
                        if x < lo[query, axis] or x >= hi[query, axis]:
                            hit = False
                            break
                    if hit:
                        total += cumulative[point + 1] - cumulative[point]
            else:
                shift = np.uint64(dims * (bits - depth - 1))
                first = (codes[start] >> (shift + np.uint64(dims))) << np.uint64(dims)
                left = start
                for child in range(fanout):
                    right = stop
                    if child < fanout - 1:
                        limit = (first + np.uint64(child + 1)) << shift
                        a, b = left, stop
                        while a < b:
                            middle = (a + b) // 2
                            if codes[middle] < limit:
                                a = middle + 1
                            else:
                                b = middle
                        right = a
                    if right > left:
                        stack[top, 0] = left
                        stack[top, 1] = right
                        stack[top, 2] = depth + 1
                        for axis in range(dims):
                            bit = (child >> (dims - 1 - axis)) & 1
                            stack[top, 3 + axis] = corner[axis] + bit * (size >> 1)
                        top += 1
                    left = right
        answers[query] = total
    return answers


@compiled(parallel=True)
def walk_tree(  # type: ignore[no-untyped-def]
    node_lo,
    node_hi,
    first_child,
    n_children,
    count,
    variance,
    roots,
    lo,
    hi,
    coherence,
    assumed,
    nonnegative,
):
    """Range counts of boxes (q, d) over a decomposition of n nodes.

    A node inside the box gives its count, a leaf cut by it the share of its volume, any other node
    sends the question to its children. Returns per query: count, noise variance, variance of the
    uniformity model, number of nodes used. ``assumed`` and ``nonnegative`` are of each node, or of
    none: see ``sums_of`` of :mod:`dpviz.releases.points.range_count`.
    """
    n_queries, dims = lo.shape
    answers = np.empty((n_queries, 4))
    for query in nb.prange(n_queries):
        stack = np.empty(256, dtype=np.int64)
        total, noise, uniformity, together, hidden, nodes = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for root in range(roots):
            stack[0] = root
            top = 1
            while top > 0:
                top -= 1
                node = stack[top]
                inside, outside, fraction = True, False, 1.0
                for axis in range(dims):
                    a, b = node_lo[node, axis], node_hi[node, axis]
                    p, q = lo[query, axis], hi[query, axis]
                    if b <= p or a >= q:
                        outside = True
                        break
                    if a < p or b > q:
                        inside = False
                        fraction *= (min(b, q) - max(a, p)) / (b - a)
                if outside:
                    continue
                if inside:
                    total += count[node]
                    noise += variance[node]
                    nodes += 1
                    if len(assumed) > 0:
                        uniformity += assumed[node]
                        together += np.sqrt(assumed[node])
                elif n_children[node] == 0:
                    total += count[node] * fraction
                    noise += variance[node] * fraction * fraction
                    records = nonnegative[node] if len(nonnegative) > 0 else count[node]
                    spread = fraction * (1.0 - fraction)
                    error = max(records, 0.0) ** 2 * spread
                    if len(assumed) > 0:
                        error += fraction * assumed[node]
                    together += np.sqrt(error) - max(-records, 0.0) * np.sqrt(spread)
                    if len(nonnegative) > 0:
                        hidden += (variance[node] * spread) ** 2
                    else:
                        error += variance[node] * spread
                    uniformity += error
                    nodes += 1
                else:
                    first, children = first_child[node], n_children[node]
                    if top + children > len(stack):
                        grown = np.empty(2 * (top + children), dtype=np.int64)
                        for place in range(top):
                            grown[place] = stack[place]
                        stack = grown
                    for child in range(children):
                        stack[top] = first + child
                        top += 1
        answers[query, 0] = total
        answers[query, 1] = noise
        common = coherence * max(together, 0.0)
        answers[query, 2] = uniformity + common**2 + np.sqrt(2.0 * hidden)
        answers[query, 3] = nodes
    return answers
