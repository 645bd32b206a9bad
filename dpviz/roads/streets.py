"""Error of a street between crossings as one count, and as one count per edge. Public only.

One count of k edges has the noise of one edge where k counts have k times as much; it hides how the
edges differ, by the trips that begin or end at the nodes within.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpviz.roads.decompose import Subdomains
from dpviz.roads.forest import Forest, divided
from dpviz.roads.graph import Float, Int
from dpviz.roads.paths import Paths

SINGLE_EDGE_WEIGHT = 1e-3
"""Weight of a query of each single edge, added to those of the workload: so streets without queries
are judged too, and differences between edges always count."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class StreetCosts:
    """Sums over the queries of a workload, by sub-domain: float64 (paths,).

    Attributes:
        noise_per_edge: noise in the answers if every edge has a count, in variances of one count.
        noise_per_street: the same if the street has one count, spread evenly over its edges.
        spreading_error: squared error of the answers from spreading the count evenly, if the step
            from each edge to the next has variance 1.
    """

    noise_per_edge: Float
    noise_per_street: Float
    spreading_error: Float

    def worth_merging(self, noise: float, step: float) -> Mask:
        """Mask of the streets for which one count saves more noise than it adds error.

        ``noise``: variance of one count; ``step``: guess of the mean square of the step between
        edges.
        """
        return np.asarray(
            noise * (self.noise_per_edge - self.noise_per_street) > step * self.spreading_error
        )


def street_costs(domains: Subdomains, workload: Paths) -> StreetCosts:
    """Costs of each sub-domain for a workload, and a little for its single edges.

    A query that passes c of the k edges of a street is w − c/k at each edge beside its mean count,
    w 1 or 0; of that, the suffix sums from each edge on weigh the steps.
    """
    size = np.diff(domains.start)
    low, high, _ = domains.runs(workload)
    edge = np.arange(len(domains.order))
    weight = np.concatenate([np.ones(len(low)), np.full(len(edge), SINGLE_EDGE_WEIGHT)])
    low, high = np.concatenate([low, edge]), np.concatenate([high, edge + 1])
    path = domains.path[low]
    k, first = size[path], low - domains.start[path]
    last = first + high - low
    hidden = np.zeros(len(low))
    for at in range(1, int(size.max())):
        inner = np.flatnonzero(k > at)
        covered, length = (last - first)[inner], k[inner]
        after = np.maximum(last[inner] - np.maximum(first[inner], at), 0)
        hidden[inner] += (after - covered * (length - at) / length) ** 2
    covered = last - first
    return StreetCosts(
        *(
            np.bincount(path, weight * each, minlength=len(size)).astype(np.float64)
            for each in (covered, (covered / k) ** 2, hidden)
        )
    )


def streets(domains: Subdomains, together: Mask) -> Forest:
    """One node for each sub-domain of ``together``, and for each edge of the others."""
    first = ~together[domains.path]
    first[domains.start[:-1]] = True
    return divided(domains, np.flatnonzero(first))


def use_classes(workload: Paths, edges: int, classes: int) -> Int:
    """Classes of edges, each with about as many uses by the workload, most used first: (edges,)."""
    uses = np.bincount(workload.edge, minlength=edges)
    order = np.argsort(-uses, kind="stable")
    share = np.cumsum(uses[order]) / max(int(uses.sum()), 1)
    of_edge = np.empty(edges, dtype=np.int64)
    of_edge[order] = np.searchsorted(np.arange(1, classes) / classes, share - 1e-9)
    return of_edge
