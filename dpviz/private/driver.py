"""What the drivers of all engines share: the noise that data allow, what a release may claim."""

from __future__ import annotations

import dataclasses
from typing import Any

from dpviz.errors import ParameterError, PrivacyError
from dpviz.methods.registry import Method
from dpviz.private.budget import Budget
from dpviz.private.handle import Handle
from dpviz.private.mechanisms.noise import Noise, SecureNoise, SimulatedNoise
from dpviz.progress import Progress
from dpviz.releases.header import Header

DECLARED = "declared public by the owner"
SYNTHETIC = "synthetic: nobody's"
"""Who says that the records of a release need no protection; empty where they are sensitive."""

NEIGHBOURS = {"add-remove": 1, "replace": 2}
"""Neighbouring relations, and how many steps of add or remove lead from one to the other."""


def relation(neighbours: str, unit: str) -> str:
    """A neighbouring relation in words.

    >>> relation("replace", "one trip")
    'replace one trip'
    """
    if neighbours not in NEIGHBOURS:
        raise ParameterError(f"neighbours={neighbours!r}: choose one of {', '.join(NEIGHBOURS)}")
    return f"{'replace' if neighbours == 'replace' else 'add or remove'} {unit}"


def noise_for(
    data: Handle,
    method: Method,
    *,
    simulate: bool,
    seed: int | None,
    progress: Progress | None,
) -> Noise:
    """The source of noise for a release: the secure one, unless a simulation is asked for.

    Raises:
        PrivacyError: simulated noise, or a method without a guarantee, on sensitive data.
    """
    simulate = simulate or seed is not None
    if not data.public:
        if simulate:
            raise PrivacyError("simulated noise is NOT PRIVATE: only for data declared public")
        if not method.private:
            raise PrivacyError(
                f"method {method.name} has NO PRIVACY GUARANTEE: only for data declared public"
            )
    return SimulatedNoise(seed) if simulate else SecureNoise(progress)


def header_of(
    data: Handle,
    method: Method,
    source: Noise,
    budget: Budget,
    *,
    epsilon: float,
    neighbouring: str,
    steps: int,
    delta: float = 0.0,
    growth: float = 1.0,
    **said: Any,
) -> Header:
    """The header of a release.

    Args:
        data: what it is of.
        method: that made it.
        source: of the noise in it.
        budget: of one step, as the method spent it.
        epsilon: the whole price for one privacy unit.
        neighbouring: relation in words.
        steps: from a data set to its neighbour, each at the budget's ε: group privacy.
        delta: the whole delta.
        growth: how many times the budget's delta so many steps cost.
        **said: other fields of the header.
    """
    claim = f"ε = {epsilon:g}" + (f", δ = {delta:g}" if delta else "")
    if not method.private:
        guarantee = f"NOT PRIVATE: {method.title} has no privacy guarantee"
    elif not source.private:
        guarantee = f"NOT PRIVATE: simulated noise, as large as for {claim}"
    else:
        guarantee = f"differentially private, {claim}, {neighbouring}"
        if data.public and not data.synthetic:
            guarantee += f"; records {DECLARED}"
    rows = (
        {
            **dataclasses.asdict(row),
            "epsilon": row.epsilon * steps,
            "delta": row.delta * growth if row.delta else 0.0,
        }
        for row in budget.rows
    )
    extra: dict[str, Any] = said.pop("extra", {})
    if data.public:
        extra = {**extra, "records": SYNTHETIC if data.synthetic else DECLARED}
    return Header(
        method=method.name,
        parameters=method.parameters(),
        private=method.private and source.private,
        guarantee=guarantee,
        epsilon=epsilon,
        delta=delta,
        neighbouring=neighbouring,
        unit=data.unit,
        budget=tuple(rows),
        source=data.name,
        extra=extra,
        **said,
    )
