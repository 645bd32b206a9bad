"""One release of several disjoint kinds of records and of their values.

A record is of one kind, so a record more or less changes what one of the trees and its sums are
made from, and all kinds together cost what one of them costs (parallel composition; F. McSherry,
SIGMOD 2009, theorem 4; with δ too, as the others' probabilities do not move).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpviz.domain import Domain
from dpviz.domain.attributes import Values
from dpviz.errors import ParameterError
from dpviz.private.budget import SUMS, Budget, Share, clip_words
from dpviz.private.index import Layers, PointIndex
from dpviz.private.mechanisms.counts import MIN_RATE, geometric
from dpviz.private.mechanisms.sources import Noise
from dpviz.private.parallel import spend_once
from dpviz.releases.axis import Axis
from dpviz.releases.counts import CountRelease, PointRelease
from dpviz.releases.header import Header
from dpviz.releases.points.box import Box
from dpviz.releases.points.sums import Sums
from dpviz.releases.split import count_release
from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import Decomposition

DISJOINT_KINDS = "categories are disjoint: a record is in one tree"
"""Reason why the tree of each kind may cost the whole of epsilon."""

SUM_SHARE = 0.5
"""The usual share of epsilon that the sums of values cost; the rest is for counts."""

MIN_SHARE = 0.01
"""Smallest share of epsilon for sums, and for counts."""


def measure_points(
    domain: Domain,
    layers: Layers,
    method: Any,
    budget: Budget,
    noise: Noise,
    sum_share: float | None = None,
) -> tuple[Callable[[Header], PointRelease], dict[str, Any]]:
    """Spend the budget on one tree per kind, and on the sums of values in its leaves.

    Returns a function from a header to the release, and the header fields of its noise.

    Args:
        layers: the records of each kind of the domain; of all where it lists none.
        method: a method on points.
        sum_share: share of the budget for sums, from :func:`checked_share`.
    """
    if domain.kinds is None and domain.values is None:
        nodes = method.build(layers.counts[0], budget, noise)
        facts = {"noise": method.noise_model(nodes), "extra": method.findings([nodes])}
        return lambda header: CountRelease(Box(domain), nodes, header), facts
    trees, rows = [], []
    for kind, index in enumerate(layers.counts):
        whole = budget.for_part()
        share = None
        if domain.values is not None and sum_share is not None:
            share = _sum_share(whole, domain.values, sum_share)
        for_counts = whole.for_part()
        nodes = method.build(index, for_counts, noise)
        sums = None
        if share is not None and domain.values is not None:
            sums = _noisy_sums(domain.values, layers.sums[kind], nodes, share, noise)
        trees.append((nodes, sums))
        rows.append((*for_counts.rows, *whole.rows))
    why = DISJOINT_KINDS if domain.kinds is not None else ""
    spend_once(budget, rows, "the tree of each category", why)
    # The noise distribution depends on the parameters only, so all trees share it.
    built = [nodes for nodes, _ in trees]
    facts = {"noise": method.noise_model(built[0]), "extra": method.findings(built)}
    by = None if domain.kinds is None else Axis(kinds=domain.kinds)
    framed = [(Box(domain.without_kinds), nodes, sums) for nodes, sums in trees]
    return lambda header: count_release(by, framed, header), facts


def checked_share(
    domain: Domain, method: Any, epsilon: float, share: float | None, least: float = 1.0
) -> float | None:
    """Check the share of epsilon for sums before payment; None means the default share.

    Raises ParameterError: out of range, without values, or with a method whose cells overlap; or an
    epsilon so small that sums would say nothing.

    Args:
        epsilon: ε of one record.
        least: the smallest part of it that one draw gets.
    """
    values = domain.values
    if values is None:
        if share is not None:
            raise ParameterError(f"sum_share={share!r} without values: leave it out")
        return None
    if method.overlapping:
        raise ParameterError(
            f"method {method.name} has cells that overlap, so a value would be in several sums: "
            "choose another method"
        )
    share = SUM_SHARE if share is None else share
    if not MIN_SHARE <= share <= 1.0 - MIN_SHARE:
        raise ParameterError(
            f"sum_share={share!r}: give a number from {MIN_SHARE:g} to {1 - MIN_SHARE:g}"
        )
    if epsilon * share * least / values.reach < 2.0 * MIN_RATE:
        raise ParameterError(
            f"epsilon={epsilon:g} of one record: sums of values of up to {values.reach:,} steps "
            "would be all noise, choose a larger epsilon or grid"
        )
    return share


def _sum_share(budget: Budget, values: Values, share: float) -> Share:
    return budget.spend(
        share * budget.epsilon,
        SUMS,
        mechanism="geometric",
        why=clip_words(values),
    )


def _noisy_sums(
    values: Values, index: PointIndex, nodes: Decomposition, share: Share, noise: Noise
) -> Sums:
    """Noisy sums of values in the leaves, added up for the inner nodes.

    The noise is two-sided geometric, on the grid of the values.

    Leaves are disjoint and were chosen by what the counts' share paid for, so a record more or less
    moves one of the exact integers by at most the reach of the clip.
    """
    leaf = np.flatnonzero(nodes.leaf)
    exact = index.box_counts(nodes.lo[leaf], nodes.hi[leaf])
    noisy, variance = geometric(noise, share, exact, values.reach)
    columns = np.zeros((2, len(nodes)))
    columns[:, leaf] = noisy * values.grid, variance * values.grid**2
    total, variances = (sum_up(nodes.parent, column) for column in columns)
    return Sums(total, variances)
