"""The driver of the sequence engine: sequences, a method and a budget in; a release out."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from dpviz.errors import ParameterError, PrivacyError
from dpviz.private.budget import Budget, positive_epsilon
from dpviz.private.ledger import Ledger
from dpviz.private.mechanisms import Noise, SecureNoise, SimulatedNoise
from dpviz.private.payment import payment
from dpviz.progress import Progress
from dpviz.release import Header
from dpviz.sequences.data import Alphabet, SequenceData
from dpviz.sequences.methods import SequenceMethod, find
from dpviz.sequences.methods.base import Model, Task

NEIGHBOURS = {"add-remove": 1, "replace": 2}
"""Neighbouring relations, and how many times their price one step of add or remove has."""


@dataclass(frozen=True, eq=False)
class SequenceRelease:
    """A model of sequences, its public alphabet and its header."""

    alphabet: Alphabet
    model: Model
    header: Header


def publish(
    data: SequenceData,
    method: str | SequenceMethod = "markov",
    epsilon: float = 1.0,
    *,
    neighbours: str = "add-remove",
    simulate: bool = False,
    seed: int | None = None,
    ledger: Ledger | None = None,
    purpose: str = "",
    progress: Progress | None = None,
    **parameters: Any,
) -> SequenceRelease:
    """Spend epsilon on one release.

    Args:
        data: the sequences.
        method: a name or an instance.
        epsilon: the whole price for one privacy unit.
        neighbours: "add-remove" of a sequence, or "replace" one: at half the ε, since replacing is
            removing and adding.
        simulate: fast NumPy noise, NOT PRIVATE; accepted only for public data.
        seed: makes a simulation repeatable; implies ``simulate``.
        ledger: pays for sensitive sequences under the data's name, before any noise is drawn.
        purpose: what the release is for, in the ledger's words.
        progress: called with (fraction, what); may raise to cancel. What is paid stays paid.
        **parameters: knobs of the method.

    Raises:
        ParameterError: an unknown method, parameter or relation, or a value out of range.
        PrivacyError: simulated noise, or a method without a guarantee, on sensitive data.
        BudgetError: the ledger has not enough left. Nothing was spent.
        LedgerError: the ledger cannot be read or written. Nothing was spent.
    """
    chosen = find(method, **parameters) if isinstance(method, str) else method
    epsilon = positive_epsilon(epsilon)
    if neighbours not in NEIGHBOURS:
        raise ParameterError(f"neighbours={neighbours!r}: choose one of {', '.join(NEIGHBOURS)}")
    simulate = simulate or seed is not None
    if not data.public:
        if simulate:
            raise PrivacyError("simulated noise is NOT PRIVATE: only for data declared public")
        if not chosen.private:
            raise PrivacyError(
                f"method {chosen.name} has NO PRIVACY GUARANTEE: only for data declared public"
            )
    noise: Noise = SimulatedNoise(seed) if simulate else SecureNoise(progress)
    # Group privacy: at ε/k for one sequence, k sequences cost ε; to replace one is two steps.
    steps = data.max_per_unit * NEIGHBOURS[neighbours]
    budget = Budget(epsilon / steps)
    relation = f"{'replace' if neighbours == 'replace' else 'add or remove'} {data.unit}"
    with payment(ledger, data, chosen.name, epsilon, purpose=purpose) as receipt:
        model = chosen.build(Task(data._sequences, data.alphabet, budget, noise))
        header = Header(
            method=chosen.name,
            parameters=chosen.parameters(),
            private=chosen.private and noise.private,
            guarantee=_guarantee(chosen, epsilon, relation, noise),
            epsilon=epsilon,
            neighbouring=relation,
            unit=data.unit,
            budget=tuple(
                {**dataclasses.asdict(row), "epsilon": row.epsilon * steps} for row in budget.rows
            ),
            source=data.name,
            extra=receipt,
        )
        return SequenceRelease(data.alphabet, model, header)


def _guarantee(method: SequenceMethod, epsilon: float, relation: str, noise: Noise) -> str:
    if not method.private:
        return f"NOT PRIVATE: {method.title} has no privacy guarantee"
    if not noise.private:
        return f"NOT PRIVATE: simulated noise, as large as for ε = {epsilon:g}"
    return f"differentially private, ε = {epsilon:g}, {relation}"
