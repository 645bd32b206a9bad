"""The driver of the network engine: trips, a method and a budget in; a release out."""

from __future__ import annotations

import dataclasses
from typing import Any

from dpviz.errors import ParameterError, PrivacyError
from dpviz.network.data import RoadData
from dpviz.network.methods import NetworkMethod, find
from dpviz.network.methods.base import Task
from dpviz.network.paths import Paths, require_paths, require_workload
from dpviz.network.release import RoadRelease
from dpviz.private.budget import Budget, positive_epsilon
from dpviz.private.mechanisms import Noise, SecureNoise, SimulatedNoise
from dpviz.progress import Progress
from dpviz.release import Header

NEIGHBOURS = {"add-remove": 1, "replace": 2}
"""Neighbouring relations, and the factor that each puts on every sensitivity."""


def publish(
    data: RoadData,
    workload: Paths,
    method: str | NetworkMethod = "event-histogram",
    epsilon: float = 1.0,
    *,
    neighbours: str = "add-remove",
    simulate: bool = False,
    seed: int | None = None,
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
        progress: called with (fraction, what); may raise to cancel.
        **parameters: knobs of the method.

    Raises:
        ParameterError: an unknown method, parameter or relation, a value out of range, or an empty
            workload.
        DataError: a query of the workload that is not a path.
        PrivacyError: simulated noise on sensitive data.
    """
    chosen = find(method, **parameters) if isinstance(method, str) else method
    epsilon = positive_epsilon(epsilon)
    if neighbours not in NEIGHBOURS:
        raise ParameterError(f"neighbours={neighbours!r}: choose one of {', '.join(NEIGHBOURS)}")
    require_workload(workload)
    require_paths(data.graph, workload)
    simulate = simulate or seed is not None
    if simulate and not data.public:
        raise PrivacyError("simulated noise is NOT PRIVATE: only for data declared public")
    noise: Noise = SimulatedNoise(seed) if simulate else SecureNoise(progress)
    # Group privacy: at ε/k for one trip, k trips of one unit cost ε wherever they run.
    group = data.max_per_unit
    budget = Budget(epsilon / group)
    task = Task(data.graph, data._trips, workload, budget, noise, NEIGHBOURS[neighbours], progress)
    measured = chosen.build(task)
    relation = f"{'replace' if neighbours == 'replace' else 'add or remove'} {data.unit}"
    claim = f"differentially private, ε = {epsilon:g}, {relation}"
    if not noise.private:
        claim = f"NOT PRIVATE: simulated noise, as large as for ε = {epsilon:g}"
    rows = ({**dataclasses.asdict(row), "epsilon": row.epsilon * group} for row in budget.rows)
    header = Header(
        method=chosen.name,
        parameters=chosen.parameters(),
        private=noise.private,
        guarantee=claim,
        epsilon=epsilon,
        neighbouring=relation,
        unit=data.unit,
        budget=tuple(rows),
        source=data.name,
        extra=measured.extra,
    )
    return RoadRelease(data.graph, measured.domains, measured.nodes, measured.variance, header)
