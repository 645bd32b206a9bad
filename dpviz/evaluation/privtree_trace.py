"""PrivTree watched at work along one path, and the same random bits at another ε.

PUBLIC data only. Nothing is computed twice: the bits are those that the method itself drew, and a
decision is made by the method's own probability and the one function that draws every split.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpviz.methods.points.privtree import PrivTree
from dpviz.private.budget import Budget
from dpviz.private.handle import DataHandle
from dpviz.private.mechanisms.noise import SimulatedNoise, Words, bernoulli
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int


@dataclass(frozen=True, eq=False)
class Path:
    """The cells around one place, root first, with what decides about them.

    Attributes:
        lo, hi: lattice boxes down to the lattice's last level, int64 (k, 2).
        counts: exact counts, int64 (k,).
        words: the uniform 64-bit integer of each cell's decision, (k,); those below the tree's own
            leaf come from another stream.
    """

    method: PrivTree
    lo: Int
    hi: Int
    counts: Int
    words: Words


@dataclass(frozen=True)
class Step:
    """One decision: split iff ``biased + noise > threshold``.

    Attributes:
        bias: depth·δ, taken off before the comparison.
        biased: max(θ − δ, exact − bias).
        noise: the Laplace draw that the cell's random bits stand for.
        loss: log ratio of this outcome's probability with the last record of the cell and without.
    """

    depth: int
    exact: int
    bias: float
    biased: float
    noise: float
    threshold: float
    split: bool
    loss: float


class RecordingNoise(SimulatedNoise):
    """Simulated noise that remembers its words, one column per level of decisions."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.levels: list[Words] = []

    def words(self, n: int) -> Words:
        """See :class:`~dpviz.private.mechanisms.noise.Noise`."""
        self.levels.append(super().words(n))
        return self.levels[-1]


class ReplayedNoise(SimulatedNoise):
    """Words that were drawn before."""

    def __init__(self, words: Words) -> None:
        super().__init__(0)
        self._given = words

    def words(self, n: int) -> Words:
        """See :class:`~dpviz.private.mechanisms.noise.Noise`."""
        return self._given[:n]


def trace(
    handle: DataHandle, place: ArrayLike, epsilon: float, seed: int
) -> tuple[Path, Decomposition]:
    """Build the tree as the method does, and follow it to one place.

    Returns the path, and the decomposition that the same seed gives in :func:`dpviz.build`.

    Args:
        handle: public 2-D data.
        place: coordinates, inside the domain.
    """
    handle.require_public()
    method, domain, noise = PrivTree(), handle.domain, RecordingNoise(seed)
    nodes = method.build(handle._index, Budget(epsilon), noise)
    target = domain.to_lattice(np.atleast_2d(place))[0][0]
    depths = np.arange(min(method.max_depth, domain.bits) + 1)
    side = (1 << (domain.bits - depths))[:, None]
    lo = target // side * side
    words = np.random.default_rng([seed, 1]).integers(0, 2**64, len(depths), dtype=np.uint64)
    inside = ((nodes.lo <= target) & (target < nodes.hi)).all(axis=1)
    for depth, node in enumerate(np.flatnonzero(inside).tolist()):
        if depth < len(noise.levels):  # at the depth limit nothing is drawn
            words[depth] = noise.levels[depth][node - nodes.levels[depth].start]
    counts = handle._index.box_counts(lo, lo + side)
    return Path(method, lo, lo + side, counts, words), nodes


def steps(path: Path, epsilon: float) -> list[Step]:
    """The decisions along the path at a price, with the path's random bits: up to the leaf's."""
    method = path.method
    share = Budget(epsilon).spend(method.tree_share * epsilon, "trace", theorem="PrivTree, 3.1")
    scale = method.scale(share.epsilon, 4)
    bias = scale * math.log(4)

    def no_split(counts: Int) -> Float:
        levels = enumerate(np.asarray(counts).tolist())
        return np.array([float(method.no_split(count, d, scale, bias)) for d, count in levels])

    stop = no_split(path.counts)
    fewer = no_split(np.maximum(path.counts - 1, 0))
    splits = bernoulli(ReplayedNoise(path.words), share, stop)
    path_steps = []
    for depth, split in enumerate(splits.tolist()):
        exact = int(path.counts[depth])
        ratio = (
            math.log((1 - stop[depth]) / (1 - fewer[depth]))
            if split
            else math.log(stop[depth] / fewer[depth])
        )
        path_steps.append(
            Step(
                depth=depth,
                exact=exact,
                bias=depth * bias,
                biased=max(method.threshold - bias, exact - depth * bias),
                noise=scale * _laplace_quantile(int(path.words[depth])),
                threshold=method.threshold,
                split=bool(split),
                loss=ratio,
            )
        )
        if not split:
            break
    return path_steps


def _laplace_quantile(word: int) -> float:
    """The Laplace number of scale 1 that a uniform 64-bit integer stands for."""
    share = (word + 0.5) / 2.0**64
    return math.log(2 * share) if share < 0.5 else -math.log(2 * (1 - share))
