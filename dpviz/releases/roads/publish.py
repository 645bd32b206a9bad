"""The driver of the network engine: trips, a method and a budget in; a release out."""

from __future__ import annotations

from typing import Any

from dpviz.crs import known_crs
from dpviz.methods.roads import RoadMethod, find
from dpviz.methods.roads.base import RoadTask
from dpviz.private.budget import Budget, per_record, positive_epsilon
from dpviz.private.driver import NEIGHBOURS, header_of, noise_for, relation
from dpviz.private.ledger import Ledger
from dpviz.private.payment import USER_LEDGER, payment
from dpviz.private.roads import RoadData
from dpviz.progress import Progress
from dpviz.releases.roads.release import RoadRelease
from dpviz.roads.paths import Paths, require_paths, require_workload

__all__ = ["NEIGHBOURS", "publish"]


def publish(
    data: RoadData,
    workload: Paths,
    method: str | RoadMethod = "event-histogram",
    epsilon: float = 1.0,
    *,
    neighbours: str = "add-remove",
    simulate: bool = False,
    seed: int | None = None,
    ledger: Ledger | None = USER_LEDGER,
    purpose: str = "",
    declare_public: bool = False,
    progress: Progress | None = None,
    **parameters: Any,
) -> RoadRelease:
    """Spend epsilon on one release.

    Args:
        data: the trips.
        workload: public sample queries that decomposition, trees and truncation are chosen for;
            never drawn from the trips.
        method: a name, a combination such as ``min+opt+tru``, or an instance.
        epsilon: the whole price for one privacy unit.
        neighbours: "add-remove" of a trip, or "replace" one, for twice the noise.
        simulate: fast NumPy noise, NOT PRIVATE; accepted only for public data.
        seed: makes a simulation repeatable; implies ``simulate``.
        ledger: pays for a release of sensitive trips under the data's name, on disk before any
            noise is drawn; this user's by default. With None the caller keeps the account, and the
            release says so. Public trips cost nothing.
        purpose: what the release is for, in the ledger's words.
        declare_public: insist that data are public that the ledger knows as sensitive.
        progress: called with (fraction, what); may raise to cancel. What is paid stays paid.
        **parameters: knobs of the method.

    Raises:
        ParameterError: an unknown method, parameter or relation, a value out of range, or an empty
            workload.
        DataError: a query of the workload that is not a path.
        PrivacyError: simulated noise on sensitive data.
        BudgetError: the ledger has not enough left. Nothing was spent.
        LedgerError: the ledger cannot be read or written. Nothing was spent.
    """
    chosen = find(method, **parameters) if isinstance(method, str) else method
    epsilon = positive_epsilon(epsilon)
    neighbouring = relation(neighbours, data.unit)
    require_workload(workload)
    require_paths(data.graph, workload)
    if data.graph.crs:
        known_crs(data.graph.crs)
    noise = noise_for(data, chosen, simulate=simulate, seed=seed, progress=progress)
    # Group privacy: at ε/k for one trip, k trips of one unit cost ε wherever they run.
    group = data.max_per_unit
    budget = Budget(per_record(epsilon, group))
    task = RoadTask(
        data.graph, data._trips, workload, budget, noise, NEIGHBOURS[neighbours], progress
    )
    with payment(
        ledger,
        data,
        chosen.name,
        epsilon,
        purpose=purpose,
        neighbours=neighbours,
        declare_public=declare_public,
    ) as receipt:
        measured = chosen.build(task)
        header = header_of(
            data,
            chosen,
            noise,
            budget,
            epsilon=epsilon,
            neighbouring=neighbouring,
            steps=group,
            extra=measured.extra | receipt,
        )
        return RoadRelease(data.graph, measured.domains, measured.nodes, measured.variance, header)
