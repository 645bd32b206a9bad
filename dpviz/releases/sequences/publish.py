"""The driver of the sequence engine: sequences, a method and a budget in; a release out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpviz.methods.sequences import SequenceMethod, find
from dpviz.methods.sequences.base import SequenceTask
from dpviz.private.budget import Budget, per_record, positive_epsilon
from dpviz.private.driver import NEIGHBOURS, header_of, noise_for, relation
from dpviz.private.ledger import Ledger
from dpviz.private.payment import USER_LEDGER, payment
from dpviz.private.sequences import SequenceData
from dpviz.progress import Progress
from dpviz.releases.header import Header
from dpviz.sequences.alphabet import Alphabet
from dpviz.sequences.grams import Model


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
    ledger: Ledger | None = USER_LEDGER,
    purpose: str = "",
    declare_public: bool = False,
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
        ledger: pays for sensitive sequences under the data's names, before any noise is drawn; this
            user's by default. With None the caller keeps the account, and the release says so.
        purpose: what the release is for, in the ledger's words.
        declare_public: insist that data are public that the ledger knows as sensitive.
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
    neighbouring = relation(neighbours, data.unit)
    noise = noise_for(data, chosen, simulate=simulate, seed=seed, progress=progress)
    # Group privacy: at ε/k for one sequence, k sequences cost ε; to replace one is two steps.
    steps = data.max_per_unit * NEIGHBOURS[neighbours]
    budget = Budget(per_record(epsilon, steps))
    with payment(
        ledger,
        data,
        chosen.name,
        epsilon,
        purpose=purpose,
        neighbours=neighbours,
        declare_public=declare_public,
    ) as receipt:
        model = chosen.build(SequenceTask(data._sequences, data.alphabet, budget, noise))
        header = header_of(
            data,
            chosen,
            noise,
            budget,
            epsilon=epsilon,
            neighbouring=neighbouring,
            steps=steps,
            extra=data.facts | receipt,
        )
        return SequenceRelease(data.alphabet, model, header)
