"""PrivTree on sequences: a private prediction suffix tree of any depth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.methods.sequences.base import PRIVTREE, SequenceMethod, SequenceTask, parameter, register
from dpviz.methods.structure import Structure, biased_splits, no_split, split_scale
from dpviz.private.budget import Share
from dpviz.private.events import Events, events_of
from dpviz.private.mechanisms.noise import Noise, bernoulli, biased_laplace, geometric
from dpviz.sequences.model import (
    MAX_CELLS,
    ContextTree,
    Mask,
    allowed_after,
    leaves_below,
    projected,
)
from dpviz.trees.lattice import Float, Int

THEOREM = "PrivTree, theorem 4.1"
LARGE_ALPHABET = 32
"""Number of symbols from which the root is always split, and measured, and shares are mixed."""

TINY = 1e-300
"""Replaces a divisor of 0."""

# Constants of large alphabets: assets/docs/results/sequences.md, "Large alphabets".
ROOT_SHARE = 0.2
"""Share of the counts' ε for single symbols."""

PRIOR_SCALES = 3.0
"""Weight of the shares of the next shorter context, in noise scales."""

SINGLE = "each event has one next symbol, so sensitivity l_top"

LEAVES = "PrivTree, theorem 4.2: each event in one leaf, so sensitivity l_top"


@register
@dataclass(frozen=True, kw_only=True)
class Markov(SequenceMethod):
    """A tree of contexts that PrivTree grows to the left, with noisy counts of what follows.

    J. Zhang, X. Xiao, X. Xie, SIGMOD 2016, §4. A context's score is how many of its events are not
    its most frequent next symbol; it is split into |I| + 1 longer contexts if its score less
    depth · δ, but at least θ − δ, with Laplace noise of scale λ₁ exceeds θ.

    Privacy: a sequence has at most l_top events, and appending one symbol moves the score of the
    contexts of one path by 0 or 1 (0 where the symbol is, or ties with, the most frequent one);
    scores never fall. By the paper's theorem 4.1 the splits are ε₁-DP for
    λ₁ = (2β−1)/(β−1) · l_top/ε₁, β = |I| + 1, δ = λ₁ ln β; its proof needs steps of at least one
    in δ, so δ is at least 1 here. Each event is counted in exactly one leaf, so the leaves' counts
    have L1 sensitivity l_top (theorem 4.2) and get noise of scale l_top/ε₂. Inner counts are sums
    of leaves before any clipping; all that follows sees noisy numbers only. Where the
    alphabet has a rule, or 32 symbols or more, the root is split by rule and not by its score:
    every context knows its last symbol. (Of a large alphabet λ₁ exceeds any score, and the paper's
    root stays whole by chance, in up to half of the releases.)
    At a public cap on the counts the tree grows no further: it is the drawn tree with subtrees left
    out by its noisy splits alone, so nothing more is paid. Do not use it for alphabets above a few
    hundred symbols.

    Over 32 symbols or more, the root's counts are measured beside the leaves, with ``ROOT_SHARE``
    of ε₂: every event is in one of them, so their sensitivity is l_top too, and the rates add up to
    ε₂. The sum of |I| + 1 leaves or more alone would have all their noise in it. By weighted least
    squares both are one estimate, and the leaves share the difference. There, last, a context's
    shares are mixed with those of the context without its oldest symbol, which weigh as much as
    ``PRIOR_SCALES`` noise scales (times the root of the leaves below it): otherwise a context of
    few records keeps the one symbol whose noise was highest, and if that is its own last one, runs
    of it without end come before all real strings.

    >>> Markov(l_top=5).tree_share is None
    True
    """

    name: ClassVar[str] = "markov"
    title: ClassVar[str] = "PrivTree Markov model"
    paper: ClassVar[str] = f"{PRIVTREE}, §4"
    advice: ClassVar[str] = "Alphabets above a few hundred symbols: most contexts then hold noise."
    tiny: ClassVar[dict[str, object]] = {"l_top": 3, "max_depth": 2, "projection": "clip"}

    l_top: int = parameter(
        20, "Public bound on the events of a sequence; longer ones are cut", 1, 10_000
    )
    tree_share: float | None = parameter(
        None,
        "Share of ε for the splits; 1/β by default, as in the paper",
        0.001,
        0.9,
        optional=True,
    )
    threshold: float = parameter(0.0, "θ: a score that deserves a split", -1e6, 1e6)
    max_depth: int = parameter(50, "Public cap on the symbols of a context", 1, 200)
    projection: str = parameter(
        "simplex",
        "Negative counts: spread over the rest of the context, or cut off as in the paper",
        choices=("simplex", "clip"),
    )
    mask: bool = parameter(True, "Steps that the alphabet forbids get no count (post-processing)")

    def build(self, task: SequenceTask) -> ContextTree:
        """Build the release as the class docstring describes."""
        size = len(task.alphabet)
        width = size + 1
        share = self.tree_share or 1.0 / width
        first = task.budget.spend(
            share * task.budget.epsilon, "contexts", mechanism="split decisions", theorem=THEOREM
        )
        scale = self.scale(first.epsilon, width)
        bias = self.bias(scale, width)

        follows = task.alphabet.follows if self.mask else None

        def split(scores: Int, depth: int) -> NDArray[np.bool_]:
            if depth == 0 and (follows is not None or size >= LARGE_ALPHABET):
                return np.ones(len(scores), dtype=np.bool_)  # a public rule, so it costs nothing
            no = no_split(scores, depth, scale, bias, self.threshold)
            exact = biased_laplace(scores, depth, self.threshold, bias, scale)
            return bernoulli(task.noise, first, no, exact)

        events = events_of(task.sequences, size, self.l_top)
        first_child, exact = grow_contexts(events, size, split, self.max_depth)
        single = None
        if size >= LARGE_ALPHABET:
            root = task.budget.spend(
                ROOT_SHARE * task.budget.left,
                "single symbols",
                mechanism="geometric",
                theorem=SINGLE,
            )
            noisy, of_root = geometric(task.noise, root, exact[0], sensitivity=self.l_top)
            single = noisy.astype(np.float64), float(of_root.flat[0])
        second = task.budget.spend(
            task.budget.left, "next symbols", mechanism="geometric", theorem=LEAVES
        )
        spread = self.projection == "simplex"
        counts, variance = noisy_contexts(
            task.noise, second, first_child, exact, self.l_top, follows, spread, single
        )
        if size >= LARGE_ALPHABET:
            allowed = allowed_after(follows, first_child, size)
            weight = PRIOR_SCALES * self.l_top / second.epsilon
            counts = shrink_to_shorter(counts, first_child, allowed, weight)
        beside = None if single is None else single[1]
        return ContextTree(first_child, counts, variance, follows, beside)

    def structure(self, epsilon: float, size: int) -> Structure:
        """A sequence moves the scores of a path by l_top at most, where all its events are."""
        width = size + 1
        price = (self.tree_share or 1.0 / width) * epsilon
        scale = self.scale(price, width)
        bias = self.bias(scale, width)
        return biased_splits(
            scale,
            bias,
            self.threshold,
            self.max_depth,
            price=price,
            other_epsilon=epsilon - price,
            records=self.l_top,
        )

    def bias(self, scale: float, fanout: int) -> float:
        """δ, at least one event: the proof needs it."""
        return max(scale * math.log(fanout), 1.0)

    def scale(self, epsilon: float, fanout: int) -> float:
        """λ₁, the scale of the noise in a split decision."""
        return split_scale(fanout, self.l_top, epsilon)


def noisy_contexts(
    noise: Noise,
    share: Share,
    first_child: Int,
    exact: Int,
    l_top: int,
    follows: Mask | None,
    spread: bool,
    single: tuple[Float, float] | None,
) -> tuple[Float, float]:
    """Counts of what follows each context from noisy ones of the leaves, and their variance.

    Args:
        first_child: first child of each context, −1 for a leaf, int64 (n,).
        exact: counts of what follows, int64 (n, |I| + 1): private.
        l_top: events of a sequence, each in one leaf: the sensitivity.
        follows: the alphabet's rule, if it is kept.
        spread: negative counts over the rest of their context, or cut off.
        single: noisy counts of the root that were measured beside, (|I| + 1,), and their variance.
    """
    leaf, width = first_child < 0, exact.shape[1]
    noisy, variance = geometric(noise, share, exact[leaf], sensitivity=l_top)
    allowed = allowed_after(follows, first_child, width - 1)
    counts = np.zeros(exact.shape)
    # Impossible symbols become 0 before the sum: only noise is lost.
    counts[leaf] = noisy if allowed is None else np.where(allowed[leaf], noisy, 0)
    for node in np.flatnonzero(~leaf)[::-1]:
        child = first_child[node]
        counts[node] = counts[child : child + width].sum(axis=0)
    if single is not None:
        leaves = leaves_below(first_child, width)[:, None] * np.ones(width)
        leaves = leaves if allowed is None else leaves * allowed
        if first_child[0] >= 0:
            leaves[0] = leaves[1 : width + 1].sum(axis=0)
        of_sum = variance.flat[0] * leaves[0]
        trust = of_sum / np.maximum(of_sum + single[1], TINY)
        counts += leaves * (trust * (single[0] - counts[0]) / leaves[0])
    if spread:
        final = projected(counts, allowed)
    else:
        final = np.maximum(counts, 0.0)
        final = final if allowed is None else np.where(allowed, final, 0.0)
    return final, float(variance.flat[0])


Split = Callable[[Int, int], NDArray[np.bool_]]


def grow_contexts(events: Events, size: int, split: Split, max_depth: int) -> tuple[Int, Int]:
    """Grow contexts level by level.

    Returns ``first_child`` (n,), and exact counts of what follows (n, |I| + 1): private.
    """
    width = size + 1
    place, node = events.place, np.zeros(len(events.place), dtype=np.int64)
    after = events.text[place]
    begins = np.zeros(1, dtype=np.bool_)  # whether a node's context begins with $
    first_child: list[Int] = []
    counts: list[Int] = []
    nodes = 1
    for depth in range(max_depth + 1):
        here = len(begins)
        exact = np.bincount(node * width + after, minlength=here * width).reshape(here, width)
        counts.append(exact)
        chosen = np.zeros(here, dtype=np.bool_)
        if depth < max_depth:
            open_rows = np.flatnonzero(~begins)
            scores = exact[open_rows].sum(axis=1) - exact[open_rows].max(axis=1)
            chosen[open_rows] = split(scores, depth)
        # Keep the first splits, in order, up to the public limit: they were drawn already, so this
        # is post-processing.
        rows = np.flatnonzero(chosen)[: max(MAX_CELLS // width - nodes, 0) // width]
        chosen = np.isin(np.arange(here), rows)
        child = np.full(here, -1, dtype=np.int64)
        child[rows] = nodes + width * np.arange(len(rows))
        first_child.append(child)
        if not len(rows):
            break
        continuing = chosen[node]
        place, after, node = place[continuing], after[continuing], node[continuing]
        rank = np.cumsum(chosen) - 1
        node = rank[node] * width + events.text[place - depth - 1]
        nodes += width * len(rows)
        begins = np.tile(np.arange(width) == size, len(rows))
    return np.concatenate(first_child), np.concatenate(counts)


def shrink_to_shorter(
    counts: Float, first_child: Int, allowed: Mask | None, weight: float
) -> Float:
    """Counts whose shares are mixed with those of the context without its oldest symbol.

    Totals stay. From the shortest contexts to the longest, so that each is mixed with a mixture.

    Args:
        counts: non-negative, (n, |I| + 1).
        first_child: first child of each context, −1 for a leaf, int64 (n,).
        allowed: symbols that may follow each context, bool (n, |I| + 1), or None.
        weight: weight of a leaf's shorter context, in records; √k times that above k leaves.
    """
    mixed, width = counts.copy(), counts.shape[1]
    leaves = leaves_below(first_child, width)
    for node in np.flatnonzero(first_child >= 0).tolist():  # parents come before children
        below = slice(first_child[node], first_child[node] + width)
        shorter = np.broadcast_to(mixed[node], (width, width))
        shorter = shorter if allowed is None else np.where(allowed[below], shorter, 0.0)
        whole, total = shorter.sum(axis=1), mixed[below].sum(axis=1)
        trust = np.where((whole > 0) & (total > 0), weight * np.sqrt(leaves[below]), 0.0)
        prior = shorter / np.maximum(whole, TINY)[:, None]
        share = total / np.maximum(total + trust, TINY)
        mixed[below] = (mixed[below] + trust[:, None] * prior) * share[:, None]
    return mixed
