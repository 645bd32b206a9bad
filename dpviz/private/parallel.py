"""Parallel composition: disjoint parts of the records, each measured with the whole budget.

A record lies in one part, decided by its own row and the public list of parts. With one record more
or less the records of all other parts are the same, and so is the distribution of what is measured
on
them: noise of one part is independent of that of the others, and no measurement reads what another
saw. So the probability of all outputs together changes by the factor of the one part, and all parts
cost what one costs (F. McSherry, SIGMOD 2009, theorem 4; with δ too).

Of a unit that has up to k records in all parts together, k records change, wherever they lie: at
the budget ε/k of one record, k steps from neighbour to neighbour cost ε. So records of a unit are
bounded over all parts, before or after they are separated, and never part by part: that would be
k records in each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from dpviz.private.budget import Budget, BudgetRow

P = TypeVar("P")
R = TypeVar("R")


def in_parallel(
    budget: Budget,
    partition: Iterable[P],
    measure: Callable[[P, Budget], R],
    *,
    purpose: str,
    why: str,
) -> list[R]:
    """Measure each of several disjoint parts; the budget pays for one of them.

    Args:
        measure: spends a budget of its own on one part.
        purpose: purpose of the whole, where parts spent it in different ways.
    """
    results, rows = [], []
    for part in partition:
        part_budget = budget.for_part()
        results.append(measure(part, part_budget))
        rows.append(part_budget.rows)
    spend_once(budget, rows, purpose, why)
    return results


def spend_once(
    budget: Budget, rows: Sequence[tuple[BudgetRow, ...]], purpose: str, why: str
) -> None:
    """Spend the price of one part from the budget of all parts.

    Args:
        purpose: purpose of the whole, where parts spent it in different ways.
        why: parts are disjoint, in words; empty where there is one part only.
    """
    shares = [
        [(row.purpose, row.epsilon, row.delta, row.mechanism) for row in each] for each in rows
    ]
    if any(each != shares[0] for each in shares):  # shares may depend on the data
        budget.spend(budget.left, purpose, delta=budget.left_delta, theorem=why)
        return
    for same in zip(*rows, strict=True):
        row, theorems = same[0], dict.fromkeys(each.theorem for each in same)
        theorem = row.theorem if len(theorems) == 1 else ""  # theorems may quote numbers of a part
        reason = "; ".join(each for each in (theorem, why) if each)
        budget.spend(
            row.epsilon, row.purpose, delta=row.delta, mechanism=row.mechanism, theorem=reason
        )
