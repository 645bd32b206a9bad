"""Audits: a lower bound on the real epsilon of a method, from repeated runs on neighbours.

A bound above the claim, at this confidence, refutes the claim; a bound below proves nothing. An
audit makes its own tiny data sets: it never sees a record of anyone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpviz.domain import Domain, default_columns
from dpviz.evaluation.events import feature_names, features
from dpviz.evaluation.exact import structure_loss, whole_loss
from dpviz.evaluation.neighbours import Neighbours, neighbours
from dpviz.evaluation.search import Finding, finding
from dpviz.methods import method as find_method
from dpviz.methods.points.base import PointMethod
from dpviz.methods.registry import Method
from dpviz.methods.structure import SharedThreshold, Structure
from dpviz.private.budget import Budget, positive_epsilon
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, SecureNoise, SimulatedNoise
from dpviz.progress import Progress
from dpviz.trees.lattice import Float

CONFIDENCE = 0.9999
"""The false-positive rate is at most 1e-4."""


@dataclass(frozen=True, kw_only=True)
class Audit(Finding):
    """What an audit found, and of what.

    Attributes:
        epsilon: the claim, or for a method without a guarantee what its paper claims.
        confidence: of the bound.
        trials: runs on each input, search included.
        structure_epsilon: exact loss of the tree's structure, where it can be computed; it alone
            refutes a claim that it exceeds.
        exact_epsilon: exact loss of the whole release, where it can be computed: the same.
    """

    method: str
    epsilon: float
    delta: float
    confidence: float
    trials: int
    secure: bool
    structure_epsilon: float | None = None
    exact_epsilon: float | None = None

    @classmethod
    def of(
        cls,
        method: Method,
        epsilon: float,
        result: Finding,
        structure: Structure | SharedThreshold | None,
        confidence: float,
        trials: int,
        secure: bool,
    ) -> Self:
        """A result of so many trials, with the exact losses of the structure."""
        return cls(
            **vars(result),
            method=method.name,
            epsilon=epsilon,
            delta=method.delta,
            confidence=confidence,
            trials=trials,
            secure=secure,
            structure_epsilon=structure_loss(structure),
            exact_epsilon=whole_loss(structure),
        )

    @property
    def violates(self) -> bool:
        """Whether the claim is refuted."""
        exact = self.structure_epsilon or 0.0, self.exact_epsilon or 0.0
        return max(self.epsilon_lower_bound, *exact) > self.epsilon


def audit(
    method: PointMethod,
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
    dims = 2 if 2 in method.dims else method.dims[0]
    domain = Domain((0.0,) * dims, (1.0,) * dims, default_columns(dims))
    noise: Noise = SecureNoise() if secure else SimulatedNoise(seed)
    bench = PointBench(method, epsilon, domain, noise, trials, progress)
    cases = list(neighbours(method, epsilon, domain))
    result = finding(bench, cases, feature_names(dims), confidence)
    structure = method.structure(epsilon, dims)
    return Audit.of(method, epsilon, result, structure, confidence, trials, secure)


def tiny(name: str, **parameters: Any) -> PointMethod:
    """A method with the parameters that make its builds small, where ``parameters`` allow it."""
    plain = find_method(name, "points", **parameters)
    preset = type(plain).preset(name) or {}
    method: PointMethod = type(plain)(**{**type(plain).tiny, **preset, **parameters})
    return method


class PointBench:
    """Runs a spatial method on two neighbours and keeps the features of what comes out."""

    def __init__(
        self,
        method: PointMethod,
        epsilon: float,
        domain: Domain,
        noise: Noise,
        trials: int,
        progress: Progress | None,
    ) -> None:
        self.method, self.epsilon, self.domain, self.noise = method, epsilon, domain, noise
        self.delta, self.trials, self.done, self.progress = method.delta, trials, 0, progress

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
