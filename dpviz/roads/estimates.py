"""RoadEstimates: noisy visits of trees over a public road graph, and of its edges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.errors import ReleaseError
from dpviz.roads.decompose import Subdomains
from dpviz.roads.forest import TINY, Forest, covering
from dpviz.roads.graph import Float, Int, RoadGraph
from dpviz.trees.consistency import least_squares
from dpviz.trees.decomposition import Decomposition


@dataclass(frozen=True, eq=False, repr=False)
class RoadEstimates:
    """Estimates over a road graph.

    Attributes:
        graph: the public road graph.
        domains: its decomposition into paths, which gives every edge a position.
        nodes: intervals of positions as 1-D boxes, with estimates after least squares.
        measured: variance of the noise that each node was measured with, float64 (nodes,). What
            the variance of a root without children is above it is of an error that all such share,
            as that of a correction by a noisy factor.
    """

    graph: RoadGraph
    domains: Subdomains
    nodes: Decomposition
    measured: Float

    def __post_init__(self) -> None:
        m, measured = len(self.graph), np.array(self.measured, dtype=np.float64)
        measured.flags.writeable = False
        object.__setattr__(self, "measured", measured)
        order, start = self.domains.order, self.domains.start
        if not np.array_equal(np.sort(order), np.arange(m)):
            raise ReleaseError("the sub-domains do not hold every edge once")
        if len(start) < 2 or start[0] != 0 or start[-1] != m or (np.diff(start) < 1).any():
            raise ReleaseError("the sub-domains do not follow one another")
        if self.nodes.dims != 1 or self.nodes.lo.min() < 0 or self.nodes.hi.max() > m:
            raise ReleaseError("nodes outside the positions of the edges")
        if measured.shape != (len(self.nodes),) or not (measured >= 0).all():
            raise ReleaseError("measured must hold one variance per node")
        filled = np.zeros(m + 1, dtype=np.int64)
        leaf = self.nodes.leaf
        np.add.at(filled, self.nodes.lo[leaf, 0], 1)
        np.add.at(filled, self.nodes.hi[leaf, 0], -1)
        if not (np.cumsum(filled)[:m] == 1).all() or not self.nodes.is_partition():
            raise ReleaseError("the leaves do not cover every edge once")

    @property
    def addends(self) -> tuple[RoadEstimates, ...]:
        """Estimates with independent noise of which these are the sum; by default these alone."""
        return (self,)

    @cached_property
    def leaf_at(self) -> Int:
        """The leaf that covers each position, int64 (m,)."""
        return covering(self.nodes.leaf, self.nodes.lo[:, 0], self.nodes.hi[:, 0])

    @cached_property
    def edge_leaf(self) -> Int:
        """The leaf of each edge row, int64 (m,)."""
        return self.leaf_at[self.domains.position]

    @property
    def edge_share(self) -> Float:
        """The part of its leaf that an edge stands for: 1, or 1/g in a group of g."""
        return 1.0 / self.nodes.volume[self.edge_leaf]

    @property
    def edge_count(self) -> Float:
        """Estimated trips per edge row, float64 (m,)."""
        return np.asarray(self.nodes.count[self.edge_leaf] * self.edge_share)

    @property
    def edge_noise_sd(self) -> Float:
        """Standard deviation of the noise in ``edge_count``, float64 (m,)."""
        return np.asarray(np.sqrt(self.nodes.variance[self.edge_leaf]) * self.edge_share)


def consistent(forest: Forest, noisy: Int | Float, variance: Float) -> Decomposition:
    """Least-squares estimates of a forest's nodes (exact for any fanouts and variances)."""
    count, after = least_squares(forest.parent, noisy, np.maximum(variance, TINY))
    return Decomposition(forest.lo[:, None], forest.hi[:, None], forest.parent, count, after)
