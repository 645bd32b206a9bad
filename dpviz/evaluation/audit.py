"""Audits: a lower bound on the real epsilon of a method, from repeated runs on neighbours.

A bound above the claim, at this confidence, refutes the claim; a bound below proves nothing. An
audit makes its own tiny data sets: it never sees a record of anyone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.domain import Domain, default_columns
from dpviz.errors import ParameterError
from dpviz.evaluation.events import (
    Event,
    best_event,
    epsilon_bound,
    feature_names,
    features,
)
from dpviz.evaluation.exact import structure_loss
from dpviz.evaluation.neighbours import Neighbours, neighbours
from dpviz.lattice import Float
from dpviz.methods import Method, names
from dpviz.methods import method as find_method
from dpviz.private.budget import Budget, positive_epsilon
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms import Noise, SecureNoise, SimulatedNoise
from dpviz.progress import Progress

CONFIDENCE = 0.9999
"""A sound method is accused with probability at most 1e-4."""

FINAL = 0.6
"""Share of the trials that bound the chosen event; the others look for it."""

SHORT_LIST = 3
"""Inputs that get a second look before one is chosen."""


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Attributes:
        epsilon: the claim, or for a method without a guarantee what its paper claims.
        epsilon_lower_bound: the real ε is at least this, at this confidence.
        event: what tells the neighbours apart.
        neighbours: the two inputs.
        more_likely: "with" or "without" the record.
        probabilities: estimates of the event's probability, more and less likely input.
        trials: runs on each input, search included.
        structure_epsilon: exact loss of the tree's structure, where it can be computed; it alone
            refutes a claim that it exceeds.
    """

    method: str
    epsilon: float
    delta: float
    epsilon_lower_bound: float
    confidence: float
    event: str
    neighbours: str
    more_likely: str
    probabilities: tuple[float, float]
    trials: int
    secure: bool
    structure_epsilon: float | None = None

    @property
    def violates(self) -> bool:
        """Whether the claim is refuted."""
        structure = self.structure_epsilon or 0.0
        return max(self.epsilon_lower_bound, structure) > self.epsilon


def audit(
    method: Method,
    epsilon: float = 1.0,
    *,
    trials: int = 40_000,
    confidence: float = CONFIDENCE,
    seed: int | None = 0,
    secure: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Try to refute a method's claim.

    Args:
        method: with its parameters; :func:`tiny` chooses some that make builds fast.
        epsilon: the claim to test.
        trials: runs on each of the two inputs, search included.
        confidence: of the bound, for all events and inputs together.
        seed: of the simulated noise, whose distributions are those of the secure noise.
        secure: draw the noise of releases instead: slower, not repeatable.
        progress: called with the share of the trials that are done.

    Raises:
        ParameterError: fewer than 100 trials, or a confidence outside (0, 1).
    """
    epsilon = positive_epsilon(epsilon)
    if trials < 100:
        raise ParameterError(f"trials={trials}: give at least 100")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence={confidence:g}: give a number between 0 and 1")
    dims = 2 if 2 in method.dims else method.dims[0]
    domain = Domain((0.0,) * dims, (1.0,) * dims, default_columns(dims))
    noise: Noise = SecureNoise() if secure else SimulatedNoise(seed)
    bench = Bench(method, epsilon, domain, noise, trials, progress)
    last = int(FINAL * trials)
    case, more_with, event = _search(
        bench, list(neighbours(method, epsilon, domain)), trials - last
    )
    with_record, without = bench.run(case, last)
    hits = [int(event.holds(table).sum()) for table in (with_record, without)]
    more, fewer = hits if more_with else hits[::-1]
    return Audit(
        method=method.name,
        epsilon=epsilon,
        delta=method.delta,
        epsilon_lower_bound=epsilon_bound(more, fewer, last, 1 - confidence, method.delta),
        confidence=confidence,
        event=event.described(feature_names(dims)),
        neighbours=case.name,
        more_likely="with" if more_with else "without",
        probabilities=(more / last, fewer / last),
        trials=trials,
        secure=secure,
        structure_epsilon=structure_loss(method, epsilon, domain),
    )


def tiny(name: str, **parameters: Any) -> Method:
    """A method with the parameters that make its builds small, where ``parameters`` allow it."""
    plain = find_method(name, **parameters)
    preset = names()[next(word for word in names() if word.lower() == name.lower())][1]
    return find_method(plain.name, **{**type(plain).tiny, **preset, **parameters})


class Bench:
    """Runs a method on two neighbours and keeps the features of what comes out."""

    def __init__(
        self,
        method: Method,
        epsilon: float,
        domain: Domain,
        noise: Noise,
        trials: int,
        progress: Progress | None,
    ) -> None:
        self.method, self.epsilon, self.domain, self.noise = method, epsilon, domain, noise
        self.trials, self.done, self.progress = trials, 0, progress

    def run(self, case: Neighbours, n: int) -> tuple[Float, Float]:
        """Features of n releases with the record and n without, shape (n, features) each."""
        smaller = PointIndex.from_cells(self.domain, case.cells, case.weights)
        larger = PointIndex.from_cells(
            self.domain,
            np.concatenate([case.cells, case.target[None]]),
            np.append(case.weights, 1),
        )
        tables: tuple[list[list[float]], list[list[float]]] = ([], [])
        for _ in range(n):
            for index, table in zip((larger, smaller), tables, strict=True):
                budget = Budget(self.epsilon, self.method.delta)
                nodes = self.method.build(index, budget, self.noise)
                table.append(features(nodes, case.target, self.domain.side))
            self.done += 1
            if self.progress is not None and self.done % 100 == 0:
                self.progress(min(self.done / self.trials, 1.0), "auditing")
        return np.array(tables[0]), np.array(tables[1])


def _search(bench: Bench, cases: list[Neighbours], trials: int) -> tuple[Neighbours, bool, Event]:
    """The inputs, the likelier side and the event that look most damaging."""
    each = max(10, trials // 2 // len(cases))
    seen = [bench.run(case, each) for case in cases]
    ranked = sorted(range(len(cases)), key=lambda at: -_best(*seen[at], bench.method.delta)[0])
    short = ranked[:SHORT_LIST]
    again = max(10, (trials - each * len(cases)) // len(short))
    found = []
    for at in short:
        second = bench.run(cases[at], again)
        tables = [np.concatenate(pair) for pair in zip(seen[at], second, strict=True)]
        found.append((*_best(tables[0], tables[1], bench.method.delta), cases[at]))
    _, more_with, event, case = max(found, key=lambda entry: entry[0])
    return case, more_with, event


def _best(with_record: Float, without: Float, delta: float) -> tuple[float, bool, Event]:
    """Both directions."""
    adding = best_event(with_record, without, 3.0, delta)
    removing = best_event(without, with_record, 3.0, delta)
    score, event = max(adding, removing, key=lambda entry: entry[0])
    return score, event is adding[1], event
