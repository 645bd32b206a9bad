"""One release of several disjoint kinds of records: a method at work on each by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpviz.domain import Domain
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.sources import Noise
from dpviz.releases.header import Header
from dpviz.releases.points.kinds import KindsRelease
from dpviz.releases.points.release import PointRelease

DISJOINT_KINDS = "kinds are disjoint: a record is in one tree"
"""Why the tree of each kind may cost the whole of epsilon."""


def measure_points(
    domain: Domain, layers: Sequence[PointIndex], method: Any, budget: Budget, noise: Noise
) -> tuple[Callable[[Header], PointRelease], dict[str, Any]]:
    """Spend the budget on a tree of each kind.

    A record is of one kind, so a record more or less changes what one of the trees is built from,
    and the trees together cost what one of them costs (parallel composition; F. McSherry, SIGMOD
    2009, theorem 4; with δ too, as the others' probabilities do not move).

    Args:
        domain: public.
        layers: the records of each kind of the domain; of all where it lists none.
        method: of points.
        budget: of one record.
        noise: its source.

    Returns:
        What makes the release with its header, and what the header says of its noise.
    """
    if domain.kinds is None:
        nodes = method.build(layers[0], budget, noise)
        facts = {"noise": method.noise_model(nodes)}
        return lambda header: PointRelease(domain, nodes, header), facts
    budgets = [Budget(budget.left, budget.left_delta) for _ in layers]
    trees = [method.build(index, each, noise) for index, each in zip(layers, budgets, strict=True)]
    _spend(budget, budgets)
    # The law of the noise follows from the parameters alone, so it is that of every tree.
    facts = {"noise": method.noise_model(trees[0])}
    return lambda header: KindsRelease(domain, trees, header), facts


def _spend(budget: Budget, budgets: Sequence[Budget]) -> None:
    """Take the price of the trees from the budget of the release: that of any one of them."""
    rows = budgets[0].rows
    if any(each.rows != rows for each in budgets):  # a method may choose shares by what it saw
        purpose = "the tree of each kind"
        budget.spend(budget.left, purpose, delta=budget.left_delta, theorem=DISJOINT_KINDS)
        return
    for row in rows:
        why = f"{row.theorem}; {DISJOINT_KINDS}" if row.theorem else DISJOINT_KINDS
        budget.spend(
            row.epsilon, row.purpose, delta=row.delta, mechanism=row.mechanism, theorem=why
        )
